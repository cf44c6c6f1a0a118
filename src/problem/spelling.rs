//! "Did you mean": the nearest of a few known words.

/// The candidate nearest to `word`, when it is near enough to be a slip: equal up to case, or at most a third of the letters (at least
/// one) inserted, deleted, replaced or swapped with a neighbour.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded: Vec<char> = word.to_lowercase().chars().collect();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.to_lowercase().chars().collect();
            let allowed = (folded.len().max(other.len()) / 3).max(1);
            let distance = edit_distance(&folded, &other);
            // A replacement of the only letter is no slip, it is another word.
            (distance <= allowed && distance < other.len()).then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// " (did you mean `x`?)" or nothing, to append to a message.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |found| format!(" (did you mean `{found}`?)"))
}

/// Damerau-Levenshtein distance with adjacent swaps.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut cost = vec![0_usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = |i: usize, j: usize| cost[i * width + j];
            let best = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replace = at(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]);
                    let mut best = replace.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(at(i - 2, j - 2) + 1);
                    }
                    best
                }
            };
            cost[i * width + j] = best;
        }
    }
    cost[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest};

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let keys = ["bounds", "levels", "values", "scale", "step", "unit", "type"];
        assert_eq!(nearest("bound", keys), Some("bounds"));
        assert_eq!(nearest("Levels", keys), Some("levels"));
        assert_eq!(nearest("tpye", keys), Some("type"));
        assert_eq!(nearest("steps", keys), Some("step"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("y", ["x", "z"]), None);
    }

    #[test]
    fn distances_by_hand() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
