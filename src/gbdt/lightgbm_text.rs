//! Reading LightGBM's text models (`save_model`, version v4 and the compatible v2, v3).

use std::collections::BTreeMap;
use std::str::FromStr;

use leafgp_solver::LevelSet;

use super::error::GbdtError;
use super::model::{Ensemble, TrainingCurve};
use super::tree::{Child, DecisionTree, LeafNode, MissingType, SplitNode, SplitRule};

const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;

/// Objectives whose prediction is the plain sum of the trees.
const PLAIN_OBJECTIVES: [&str; 7] =
    ["regression", "regression_l1", "huber", "fair", "quantile", "mape", "custom"];

/// `key=value` lines up to an empty line, with the number of the first line.
struct Section<'a> {
    line: usize,
    values: BTreeMap<&'a str, (usize, &'a str)>,
}

impl<'a> Section<'a> {
    fn wrong(&self, line: usize, problem: String) -> GbdtError {
        GbdtError::Format { line: if line == 0 { self.line } else { line }, problem }
    }

    /// The numbers behind a key; empty when the key is absent.
    fn list<T: FromStr>(&self, key: &str) -> Result<Vec<T>, GbdtError> {
        let Some(&(line, text)) = self.values.get(key) else { return Ok(Vec::new()) };
        let parse = |word: &str| {
            word.parse().map_err(|_| self.wrong(line, format!("{key} holds {word:?}; expected a number")))
        };
        text.split_whitespace().map(parse).collect()
    }

    fn sized<T: FromStr>(&self, key: &str, expected: usize) -> Result<Vec<T>, GbdtError> {
        let list = self.list(key)?;
        if list.len() == expected {
            return Ok(list);
        }
        let line = self.values.get(key).map_or(0, |value| value.0);
        Err(self.wrong(line, format!("{key} has {} numbers; expected {expected}", list.len())))
    }

    /// As [`Section::sized`], with a default for a key that older versions do not write.
    fn sized_or<T: FromStr + Clone>(
        &self,
        key: &str,
        expected: usize,
        absent: T,
    ) -> Result<Vec<T>, GbdtError> {
        if self.values.contains_key(key) { self.sized(key, expected) } else { Ok(vec![absent; expected]) }
    }

    fn one<T: FromStr>(&self, key: &str) -> Result<T, GbdtError> {
        let mut list = self.sized(key, 1)?;
        list.pop().ok_or_else(|| self.wrong(0, format!("{key} is missing")))
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).map(|value| value.1)
    }
}

impl Ensemble {
    /// Reads a model as LightGBM saves it, for a single output without a transform. Thresholds stay as written.
    ///
    /// # Errors
    /// Names the line that cannot be read, is missing, or asks for something else (several classes, random forests, linear
    /// leaves, other objectives).
    pub fn from_lightgbm(text: &str) -> Result<Self, GbdtError> {
        let mut sections = sections(text).into_iter();
        let Some(head) = sections.next() else {
            return Err(GbdtError::Format { line: 0, problem: "the model is empty".into() });
        };
        if !head.values.contains_key("tree") {
            return Err(head.wrong(0, "a LightGBM model starts with the line \"tree\"".into()));
        }
        let n_features = head.one::<usize>("max_feature_idx")?.saturating_add(1);
        if head.one::<usize>("num_tree_per_iteration")? != 1 {
            return Err(head.wrong(0, "the model has several outputs; expected one".into()));
        }
        if head.values.contains_key("average_output") {
            return Err(head.wrong(0, "the model is a random forest, whose trees are averaged".into()));
        }
        if let Some(objective) = head.text("objective") {
            let mut words = objective.split_whitespace();
            let is_plain = words.next().is_none_or(|word| PLAIN_OBJECTIVES.contains(&word));
            if !is_plain || words.any(|word| word == "sqrt") {
                return Err(
                    head.wrong(0, format!("the objective {objective:?} transforms the sum of the trees"))
                );
            }
        }
        let mut trees = Vec::new();
        for section in sections.take_while(|section| !section.values.contains_key("end of trees")) {
            let Some(number) = section.text("Tree") else {
                return Err(section.wrong(0, "expected a section that starts with Tree=".into()));
            };
            let tree = read_tree(&section)?;
            if let Some(problem) = tree.problem(n_features) {
                return Err(section.wrong(0, format!("tree {number}: {problem}")));
            }
            trees.push(tree);
        }
        Ok(Self { trees, n_features, curve: TrainingCurve::default() })
    }
}

/// Splits the file at empty lines, up to the end of the trees.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() {
            is_open = false;
            continue;
        }
        // A tree always opens a section: the header of some versions has no empty line before it.
        if !is_open || line.starts_with("Tree=") {
            sections.push(Section { line: index + 1, values: BTreeMap::new() });
            is_open = true;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if let Some(section) = sections.last_mut() {
            section.values.insert(key, (index + 1, value));
        }
    }
    sections
}

fn read_tree(section: &Section<'_>) -> Result<DecisionTree, GbdtError> {
    let n_leaves: usize = section.one("num_leaves")?;
    if n_leaves == 0 {
        return Err(section.wrong(0, "a tree has at least one leaf".into()));
    }
    if section.sized_or::<u8>("is_linear", 1, 0)? != [0] {
        return Err(section.wrong(0, "the tree has linear leaves".into()));
    }
    let n_splits = n_leaves - 1;
    let features: Vec<usize> = section.sized("split_feature", n_splits)?;
    let thresholds: Vec<f64> = section.sized("threshold", n_splits)?;
    let decisions: Vec<u8> = section.sized("decision_type", n_splits)?;
    let left: Vec<i64> = section.sized("left_child", n_splits)?;
    let right: Vec<i64> = section.sized("right_child", n_splits)?;
    let gains: Vec<f64> = section.sized_or("split_gain", n_splits, 0.0)?;
    let values: Vec<f64> = section.sized_or("internal_value", n_splits, 0.0)?;
    let weights: Vec<f64> = section.sized_or("internal_weight", n_splits, 0.0)?;
    let counts: Vec<usize> = section.sized_or("internal_count", n_splits, 0)?;
    let boundaries: Vec<usize> = section.list("cat_boundaries")?;
    let words: Vec<u32> = section.list("cat_threshold")?;
    let child = |number: i64| {
        // Leaves are written as the bitwise complement of their number.
        if number >= 0 { Child::Split(number as usize) } else { Child::Leaf(!number as usize) }
    };
    let mut splits = Vec::with_capacity(n_splits);
    for i in 0..n_splits {
        let missing = match decisions[i] >> 2 & 3 {
            0 => MissingType::None,
            1 => MissingType::Zero,
            2 => MissingType::Nan,
            other => return Err(section.wrong(0, format!("split {i} has the unknown missing type {other}"))),
        };
        let rule = if decisions[i] & CATEGORICAL > 0 {
            SplitRule::Levels(
                level_set(&boundaries, &words, thresholds[i])
                    .ok_or_else(|| section.wrong(0, format!("split {i} has no list of categories")))?,
            )
        } else {
            let default_left = decisions[i] & DEFAULT_LEFT > 0;
            SplitRule::Threshold { threshold: thresholds[i], missing, default_left }
        };
        splits.push(SplitNode {
            feature: features[i],
            rule,
            left: child(left[i]),
            right: child(right[i]),
            gain: gains[i],
            value: values[i],
            weight: weights[i],
            count: counts[i],
        });
    }
    let leaf_values: Vec<f64> = section.sized("leaf_value", n_leaves)?;
    let leaf_weights: Vec<f64> = section
        .sized_or("leaf_weight", n_leaves, 0.0)
        .or_else(|error| if n_leaves == 1 { Ok(vec![0.0]) } else { Err(error) })?;
    let leaf_counts: Vec<usize> = section
        .sized_or("leaf_count", n_leaves, 0)
        .or_else(|error| if n_leaves == 1 { Ok(vec![0]) } else { Err(error) })?;
    let leaf = |i: usize| LeafNode { value: leaf_values[i], weight: leaf_weights[i], count: leaf_counts[i] };
    let shrinkage = section.sized_or("shrinkage", 1, 1.0)?[0];
    Ok(DecisionTree { splits, leaves: (0..n_leaves).map(leaf).collect(), shrinkage })
}

/// The categories of categorical split `index` (written where the threshold of a numeric one stands), a bitset of 32-bit words.
fn level_set(boundaries: &[usize], words: &[u32], index: f64) -> Option<LevelSet> {
    let index = (index >= 0.0 && index.fract() == 0.0).then_some(index as usize)?;
    let (&start, &end) = (boundaries.get(index)?, boundaries.get(index + 1)?);
    let words = words.get(start..end)?;
    let members = (0..32 * words.len()).filter(|i| words[i / 32] >> (i % 32) & 1 == 1);
    Some(LevelSet::from_indices(32 * words.len(), members))
}

#[cfg(test)]
mod tests {
    use super::super::model::Ensemble;

    const MODEL: &str = "tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=a b c
feature_infos=[0:1] -1:0:1:2 [0:1]
tree_sizes=1 2 3

Tree=0
num_leaves=4
num_cat=1
split_feature=0 1 2
split_gain=9 8 7
threshold=0.5 0 0.25
decision_type=10 1 6
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=1 2 4 8
leaf_weight=1 1 1 1
leaf_count=1 1 1 1
internal_value=0 0 0
internal_weight=4 2 2
internal_count=4 2 2
cat_boundaries=0 2
cat_threshold=5 2
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
leaf_value=100
shrinkage=1


end of trees

feature_importances:
a=1
";

    #[test]
    fn every_missing_type_and_category_set_predicts_as_written() {
        let model = Ensemble::from_lightgbm(MODEL).unwrap();
        assert_eq!((model.n_features, model.trees.len()), (3, 2));
        let nan = f64::NAN;
        // Split 0: NaN goes left (type NaN). Split 1: levels 0, 2 and 33 go left. Split 2: zero and NaN go left.
        let cases = [
            ([0.5, 0.0, 0.0], 1.0),
            ([nan, 2.0, 0.0], 1.0),
            ([0.0, 33.0, 0.0], 1.0),
            ([0.0, 1.0, 0.0], 4.0),
            ([0.0, nan, 0.0], 4.0),
            ([0.0, 99.0, 0.0], 4.0),
            ([0.9, 0.0, 0.25], 2.0),
            ([0.9, 0.0, 0.3], 8.0),
            ([0.9, 0.0, nan], 2.0),
        ];
        for (x, expected) in cases {
            assert_eq!(model.predict(&x), 100.0 + expected, "{x:?}");
        }
        assert_eq!(model.importances().gain, [9.0, 8.0, 7.0]);
    }

    #[test]
    fn a_damaged_model_is_refused_with_its_line() {
        let cases = [
            ("tree\n", "forest\n", "starts with"),
            ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "several outputs"),
            ("objective=regression", "objective=binary sigmoid:1", "transforms"),
            ("objective=regression", "objective=regression sqrt", "transforms"),
            ("is_linear=0", "is_linear=1", "linear leaves"),
            ("threshold=0.5 0 0.25", "threshold=0.5 0", "line 17: threshold has 2 numbers; expected 3"),
            ("leaf_value=1 2 4 8", "leaf_value=1 2 x 8", "line 21: leaf_value holds \"x\""),
            ("left_child=1 -1 -2", "left_child=1 -1 -1", "missing or used before"),
            ("left_child=1 -1 -2", "left_child=0 -1 -2", "missing or used before"),
            ("split_feature=0 1 2", "split_feature=0 1 7", "asks feature 7"),
            ("decision_type=10 1 6", "decision_type=14 1 6", "missing type 3"),
            ("cat_boundaries=0 2", "cat_boundaries=0 9", "no list of categories"),
            ("num_leaves=4", "num_leaves=0", "at least one leaf"),
        ];
        for (from, to, expected) in cases {
            let error = Ensemble::from_lightgbm(&MODEL.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} should contain {expected:?}");
        }
        assert!(Ensemble::from_lightgbm("").is_err());
    }
}
