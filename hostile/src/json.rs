//! Changes of a JSON document that keep it JSON: most changes of its bytes end in the reader's first line.

use serde_json::Value;

/// Numbers and texts that break what takes them for granted.
const ODD: [&str; 16] = [
    "null",
    "-1",
    "0",
    "1",
    "2",
    "-0.0",
    "1e308",
    "-1e308",
    "5e-324",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "\"\"",
    "\"NaN\"",
    "[]",
    "{}",
];

/// The document with one of its values removed, doubled, replaced or moved, chosen by `seed`; `None` for bytes that are no JSON.
#[must_use]
pub fn changed(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let n = count(&document);
    let (target, how) = (seed as usize % n, seed as usize / n);
    change(&mut document, &mut { target }, how);
    serde_json::to_vec(&document).ok()
}

/// Values of a document, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// Goes to value number `left` and changes it; true when it was there.
fn change(value: &mut Value, left: &mut usize, how: usize) -> bool {
    if *left == 0 {
        change_here(value, how);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|value| change(value, left, how)),
        Value::Object(map) => map.values_mut().any(|value| change(value, left, how)),
        _ => false,
    }
}

fn change_here(value: &mut Value, how: usize) {
    let is_kept = !how.is_multiple_of(4);
    let odd = || serde_json::from_str(ODD[how / 4 % ODD.len()]).unwrap_or(Value::Null);
    match value {
        Value::Array(list) if !list.is_empty() && is_kept => {
            let at = how / 4 % list.len();
            match how % 4 {
                1 => drop(list.remove(at)),
                2 => list.insert(at, list[at].clone()),
                _ => list.swap(at, 0),
            }
        }
        Value::Object(map) if !map.is_empty() && is_kept => {
            let key = map.keys().nth(how / 4 % map.len()).cloned().unwrap_or_default();
            match how % 4 {
                1 => drop(map.shift_remove(&key)),
                2 => drop(map.insert(key + "x", Value::from(1))),
                _ => drop(map.insert(key, odd())),
            }
        }
        Value::Number(number) if how % 4 == 1 => {
            let nearby =
                number.as_f64().unwrap_or(0.0) + if (how / 4).is_multiple_of(2) { 1.0 } else { -0.5 };
            *value = if nearby.fract() == 0.0 && nearby.abs() < 9e15 {
                Value::from(nearby as i64)
            } else {
                Value::from(nearby)
            };
        }
        Value::String(text) if how % 4 == 1 => {
            let end = text.char_indices().nth(how / 4 % 8).map_or(text.len(), |(at, _)| at);
            text.truncate(end);
        }
        _ => *value = odd(),
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn every_change_is_json_and_values_of_every_depth_are_changed() {
        let text = br#"{"a": [1, {"b": "word"}], "c": 2.5}"#;
        let all: std::collections::BTreeSet<Vec<u8>> =
            (0..2000).map(|seed| changed(text, seed).unwrap()).collect();
        assert!(all.iter().all(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).is_ok()));
        for expected in
            [r#"{"a":[1,{"b":"wo"}],"c":2.5}"#, r#"{"c":2.5}"#, r#"{"a":[{"b":"word"}],"c":2.5}"#, "null"]
        {
            assert!(all.contains(expected.as_bytes()), "{expected}");
        }
        assert_eq!(changed(b"{", 3), None);
    }
}
