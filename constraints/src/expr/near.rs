//! Suggestions for misspelt names.

/// Names that differ from `name` by case, a prefix or a couple of typing errors, nearest first.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<(usize, String)> = candidates
        .filter_map(|candidate| {
            let distance = edit_distance(&lower, &candidate.to_lowercase());
            let prefix = lower.len() >= 3 && candidate.to_lowercase().starts_with(&lower);
            (distance <= limit || prefix).then(|| (distance, format!("`{candidate}`")))
        })
        .collect();
    found.sort();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest};

    #[test]
    fn edit_distance_counts_changes() {
        assert_eq!(edit_distance("radius", "raduis"), 2);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn the_nearest_names_come_first() {
        let names = ["radius", "radius2", "length", "Radiux"];
        assert_eq!(nearest("radios", names.into_iter()), ["`radius`", "`Radiux`", "`radius2`"]);
        assert!(nearest("volume", names.into_iter()).is_empty());
    }
}
