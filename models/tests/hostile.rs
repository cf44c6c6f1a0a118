//! Damaged and malicious files: an error with its place or a model, never a panic, never much memory.

mod support;

use leafgp_models::{Ensemble, MAX_BYTES, ReadOptions};
use proptest::prelude::*;
use support::golden;

fn read(bytes: &[u8]) -> Result<Ensemble, String> {
    Ensemble::read(bytes, &ReadOptions::default()).map_err(|error| error.to_string())
}

/// All golden models as bytes.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(golden())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.to_str().unwrap().ends_with("points.json") && path.extension().unwrap() != "md")
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() >= 40);
    // And some of them as our own file.
    for name in ["cat-onehot.json", "lgb-zero.txt", "onnx-boosting.onnx", "xgb-partition.json"] {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).unwrap();
        files.push((format!("{name}.own.json"), read(bytes).unwrap().write()));
    }
    files
}

/// A model that was read can be asked anything.
fn try_to_use(bytes: &[u8]) {
    for options in [ReadOptions::default(), ReadOptions::default().with_class(1)] {
        if let Ok(model) = Ensemble::read(bytes, &options) {
            // A damaged number of features may be large.
            let n = model.features().len();
            for value in [f64::NAN, 0.0, -1.0, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
                model.predict(&vec![value; n]);
            }
        }
    }
}

/// A change of a file: bytes replaced, inserted, removed, doubled, or the end cut.
#[derive(Clone, Debug)]
enum Change {
    Replace(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Double(usize, usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>();
    let word = prop::sample::select(vec![
        "-1",
        "nan",
        "NaN",
        "1e999",
        "99999999999",
        "18446744073709551616",
        "null",
        "\"x\"",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\n\n",
        "Tree=0\n",
        "0",
        "1",
        "-",
        "\u{ff}\u{ff}\u{ff}\u{7f}",
    ]);
    prop_oneof![
        (at, any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (at, word).prop_map(|(at, word)| Change::Insert(at, word.as_bytes().to_vec())),
        (at, 1..200usize).prop_map(|(at, n)| Change::Remove(at, n)),
        (at, 1..400usize).prop_map(|(at, n)| Change::Double(at, n)),
        at.prop_map(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let len = bytes.len().max(1);
    match change {
        Change::Replace(at, byte) => {
            if let Some(slot) = bytes.get_mut(at % len) {
                *slot = *byte;
            }
        }
        Change::Insert(at, word) => {
            let at = at % len;
            bytes.splice(at.min(bytes.len())..at.min(bytes.len()), word.iter().copied());
        }
        Change::Remove(at, n) => {
            let at = (at % len).min(bytes.len());
            bytes.drain(at..(at + n).min(bytes.len()));
        }
        Change::Double(at, n) => {
            let at = (at % len).min(bytes.len());
            let part = bytes[at..(at + n).min(bytes.len())].to_vec();
            bytes.splice(at..at, part);
        }
        Change::Cut(at) => bytes.truncate(at % len),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn changed_files_are_refused_or_read(file in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..4)) {
        let files = files();
        let mut bytes = files[file.index(files.len())].1.clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        try_to_use(&bytes);
    }

    #[test]
    fn any_bytes_are_refused_or_read(start in prop::sample::select(vec![
        "", "tree\n", "{", "{L", "{\"learner\":", "\u{8}\u{8}:", "{\"features_info\":",
    ]), rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = start.as_bytes().to_vec();
        bytes.extend(rest);
        try_to_use(&bytes);
    }
}

/// Every file is refused as long as its trees are not complete.
#[test]
fn a_file_that_was_cut_within_its_trees_is_refused() {
    for (name, bytes) in
        files().iter().filter(|(name, _)| !name.starts_with("refuse") && !name.contains("classes"))
    {
        let end = if name.ends_with(".txt") {
            let text = String::from_utf8(bytes.clone()).unwrap();
            text.find("\nend of trees").unwrap() - 3
        } else {
            // What follows the graph of an ONNX model may be missing.
            bytes.len() - if name.ends_with(".onnx") { 64 } else { 1 }
        };
        for cut in (0..end).step_by(7).chain([end - 1, end]) {
            assert!(read(&bytes[..cut]).is_err(), "{name} cut at {cut} of {}", bytes.len());
        }
    }
}

#[test]
fn lost_and_doubled_trees_are_refused() {
    let text = std::fs::read_to_string(golden().join("lgb-numbers.txt")).unwrap();
    let start = text.find("Tree=1").unwrap();
    let end = text.find("Tree=2").unwrap();
    let lost = format!("{}{}", &text[..start], &text[end..]);
    let doubled = format!("{}{}", &text[..end], &text[start..]);
    assert!(read(lost.as_bytes()).unwrap_err().contains("tree 2 where tree 1 was expected"));
    assert!(read(doubled.as_bytes()).unwrap_err().contains("tree 1 where tree 2 was expected"));
    let last = text.find("Tree=3").unwrap();
    let fewer = format!("{}{}", &text[..last], &text[text.find("end of trees").unwrap()..]);
    assert!(read(fewer.as_bytes()).unwrap_err().contains("tree_sizes names 4 trees; the file holds 3"));

    let json = std::fs::read_to_string(golden().join("xgb-numbers.json")).unwrap();
    let fewer = json.replacen("\"num_trees\":\"4\"", "\"num_trees\":\"5\"", 1);
    assert!(read(fewer.as_bytes()).unwrap_err().contains("num_trees: is 5; the file holds 4"));
    let renumbered = json.replacen("\"id\":2", "\"id\":3", 1);
    assert!(read(renumbered.as_bytes()).unwrap_err().contains("tree 2"));
}

#[test]
fn each_damage_is_named_with_its_place() {
    let json = std::fs::read_to_string(golden().join("xgb-numbers.json")).unwrap();
    let cases = [
        ("\"left_children\":[1,", "\"left_children\":[0,", "tree 0: node 0 is reached twice"),
        ("\"left_children\":[1,", "\"left_children\":[99,", "tree 0: node 0 has the child 99"),
        ("\"left_children\":[1,", "\"left_children\":[1,1,", "right_children has"),
        ("\"left_children\":[1,", "\"left_children\":[\"1\",", "invalid type: string"),
        ("\"split_indices\":[", "\"split_indices\":[1234567890123,", "split_indices has"),
        ("\"split_conditions\":[", "\"split_conditions\":[{},", "invalid type: map"),
        ("\"base_score\":\"[", "\"base_score\":\"[x", "base_score: is"),
        ("\"num_feature\":\"3\"", "\"num_feature\":\"999999999\"", "num_feature: is 999999999"),
        ("\"num_feature\":\"3\"", "\"num_feature\":\"2\"", "num_feature is 2"),
        ("reg:squarederror", "reg:unheard", "objective \"reg:unheard\""),
        ("\"name\":\"gbtree\"", "\"name\":\"gbforest\"", "booster \"gbforest\""),
    ];
    for (from, to, expected) in cases {
        assert!(json.contains(from), "{from}");
        let error = read(json.replace(from, to).as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    }
    // NaN as a threshold: only the binary format can say it.
    let mut ubj = std::fs::read(golden().join("xgb-numbers.ubj")).unwrap();
    let at = ubj.windows(16).position(|w| w == b"split_conditions").unwrap() + 16 + 5 + 8;
    ubj[at..at + 4].copy_from_slice(&f32::NAN.to_be_bytes());
    assert!(read(&ubj).unwrap_err().contains("NaN threshold"));
}

/// The library's own sum would be infinite, and below every bound.
#[test]
fn leaves_whose_sum_overflows_are_refused() {
    let json = std::fs::read_to_string(golden().join("xgb-numbers.json")).unwrap();
    let at = json.find("\"base_weights\":[").unwrap();
    let at = at + json[at..].find("\"split_conditions\":[").unwrap() + "\"split_conditions\":[".len();
    let end = at + json[at..].find(']').unwrap();
    let n = json[at..end].split(',').count();
    let large = vec!["-2e38"; n].join(",");
    let changed = format!("{}{large}{}", &json[..at], &json[end..]);
    assert!(read(changed.as_bytes()).unwrap_err().contains("the leaves"), "{:?}", read(changed.as_bytes()));
}

#[test]
fn deep_and_large_files_are_refused_without_much_memory() {
    let deep = "{\"trees\":[".to_string() + &"{\"left\":".repeat(1_000_000);
    assert!(read(deep.as_bytes()).unwrap_err().contains("recursion limit"));
    let lists = "{\"learner\":{\"attributes\":".to_string() + &"[".repeat(1_000_000);
    assert!(read(lists.as_bytes()).unwrap_err().contains("EOF"));
    let mut ubj = b"{L\0\0\0\0\0\0\0\x07learner".to_vec();
    ubj.extend([b'['; 1_000_000]);
    assert!(read(&ubj).is_err());
    let huge = vec![b' '; MAX_BYTES as usize + 1];
    assert!(read(&huge).unwrap_err().contains("larger than"));
    // Numbers that ask for memory.
    let text = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=18446744073709551615\n";
    assert!(read(text.as_bytes()).unwrap_err().contains("features; at most"));
    let text = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\n\nTree=0\nnum_leaves=99999999999\nleaf_value=1\n";
    assert!(read(text.as_bytes()).unwrap_err().contains("leaf_value has 1 numbers"));
}

#[test]
fn a_chain_of_a_million_splits_is_read_and_asked() {
    let n = 1_000_000;
    let join =
        |list: &mut dyn Iterator<Item = i64>| list.map(|v| v.to_string()).collect::<Vec<_>>().join(" ");
    let mut text = String::from(
        "tree\nversion=v3\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\ntree_sizes=9\n\n",
    );
    text += &format!("Tree=0\nnum_leaves={}\nsplit_feature={}\n", n + 1, join(&mut (0..n).map(|_| 0)));
    text += &format!("threshold={}\ndecision_type={}\n", join(&mut (0..n)), join(&mut (0..n).map(|_| 2)));
    text += &format!("left_child={}\n", join(&mut (0..n).map(|i| !i)));
    text += &format!("right_child={}\n", join(&mut (1..n).chain([!n])));
    text += &format!("leaf_value={}\n\nend of trees\n", join(&mut (0..n + 1)));
    let model = read(text.as_bytes()).unwrap();
    assert_eq!(
        (model.predict(&[0.5]), model.predict(&[999_998.5]), model.predict(&[1e9])),
        (1.0, 999_999.0, 1e6)
    );
}

#[test]
fn formats_that_only_look_like_models_are_named() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "empty"),
        (b"hello", "no known model"),
        (b"{\"a\": 1}", "no known JSON model"),
        (b"{\"tree_info\": []}", "dump_model"),
        (b"[{\"nodeid\": 0}]", "dump_model"),
        (b"binf\0\0", "old binary format"),
        (b"CBM1\0", "format='json'"),
        (b"\x80\x04\x95", "pickle"),
        (b"{\"learner\": 3}", "line 1, column 13"),
    ];
    for (bytes, expected) in cases {
        let error = read(bytes).unwrap_err();
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    }
}
