//! Models as JSON, to keep and to read back.

use leafgp_solver::LevelSet;
use serde::{Deserialize, Serialize};

use super::error::GbdtError;
use super::model::{Ensemble, TrainingCurve};
use super::tree::{Child, DecisionTree, LeafNode, MissingType, SplitNode, SplitRule};

/// Version of the format; a reader refuses any other.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    n_features: usize,
    trees: Vec<TreeFile>,
    training_loss: Vec<f64>,
    validation_loss: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeFile {
    shrinkage: f64,
    splits: Vec<SplitFile>,
    leaves: Vec<LeafFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitFile {
    feature: usize,
    rule: RuleFile,
    left: ChildFile,
    right: ChildFile,
    gain: f64,
    value: f64,
    weight: f64,
    count: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RuleFile {
    Numeric { threshold: f64, missing: MissingFile, default_left: bool },
    Categorical { categories: Vec<usize>, levels: usize },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MissingFile {
    None,
    Zero,
    Nan,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChildFile {
    Split(usize),
    Leaf(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeafFile {
    value: f64,
    weight: f64,
    count: usize,
}

const FORMAT: &str = "leafgp gradient-boosted trees";
/// Features, and levels of all splits together, up to which a file is read: a short one must not ask for much memory (16 MB of importances, 256 MiB of sets).
const MAX_FEATURES: usize = 2_000_000;
const MAX_LEVELS: usize = 1 << 31;

impl Ensemble {
    /// Whether a text is a model as [`Ensemble::to_json`] writes it, whole or damaged.
    pub fn is_json(text: &str) -> bool {
        text.trim_start().starts_with('{') && text.contains(FORMAT)
    }

    /// The model as one JSON object; [`Ensemble::from_json`] reads the same model back, bit for bit.
    ///
    /// # Panics
    /// Never for a trained or imported model: all its numbers are finite.
    pub fn to_json(&self) -> String {
        let file = File {
            format: FORMAT.into(),
            version: VERSION,
            n_features: self.n_features,
            trees: self.trees.iter().map(tree_to_file).collect(),
            training_loss: self.curve.training.clone(),
            validation_loss: self.curve.validation.clone(),
        };
        serde_json::to_string(&file).expect("plain numbers and lists always serialise")
    }

    /// Reads a model written by [`Ensemble::to_json`].
    ///
    /// # Errors
    /// Malformed JSON, unknown fields, another format or version, and trees that are no trees.
    pub fn from_json(text: &str) -> Result<Self, GbdtError> {
        let whole = |problem: String| GbdtError::Format { line: 0, problem };
        let file: File = serde_json::from_str(text)
            .map_err(|error| GbdtError::Format { line: error.line(), problem: error.to_string() })?;
        if file.format != FORMAT || file.version != VERSION {
            let found = format!("{:?} version {}", file.format, file.version);
            return Err(whole(format!("the format is {found}; expected {FORMAT:?} version {VERSION}")));
        }
        if file.n_features > MAX_FEATURES {
            return Err(whole(format!("{} features; at most {MAX_FEATURES} are read", file.n_features)));
        }
        let levels = |split: &SplitFile| match split.rule {
            RuleFile::Categorical { levels, .. } => levels,
            RuleFile::Numeric { .. } => 0,
        };
        let all = file.trees.iter().flat_map(|tree| &tree.splits).map(levels);
        if all.fold(0, usize::saturating_add) > MAX_LEVELS {
            return Err(whole(format!("the levels of its splits are more than {MAX_LEVELS} in all")));
        }
        let mut trees = Vec::with_capacity(file.trees.len());
        for (index, tree) in file.trees.into_iter().enumerate() {
            let tree = tree_from_file(tree).map_err(|problem| whole(format!("tree {index}: {problem}")))?;
            if let Some(problem) = tree.problem(file.n_features) {
                return Err(whole(format!("tree {index}: {problem}")));
            }
            trees.push(tree);
        }
        let curve = TrainingCurve { training: file.training_loss, validation: file.validation_loss };
        Ok(Self { trees, n_features: file.n_features, curve })
    }
}

fn tree_to_file(tree: &DecisionTree) -> TreeFile {
    let child = |child: Child| match child {
        Child::Split(index) => ChildFile::Split(index),
        Child::Leaf(index) => ChildFile::Leaf(index),
    };
    let split = |split: &SplitNode| SplitFile {
        feature: split.feature,
        rule: match &split.rule {
            SplitRule::Threshold { threshold, missing, default_left } => RuleFile::Numeric {
                threshold: *threshold,
                missing: match missing {
                    MissingType::None => MissingFile::None,
                    MissingType::Zero => MissingFile::Zero,
                    MissingType::Nan => MissingFile::Nan,
                },
                default_left: *default_left,
            },
            SplitRule::Levels(set) => {
                RuleFile::Categorical { categories: set.iter().collect(), levels: set.capacity() }
            }
        },
        left: child(split.left),
        right: child(split.right),
        gain: split.gain,
        value: split.value,
        weight: split.weight,
        count: split.count,
    };
    let leaf = |leaf: &LeafNode| LeafFile { value: leaf.value, weight: leaf.weight, count: leaf.count };
    TreeFile {
        shrinkage: tree.shrinkage,
        splits: tree.splits.iter().map(split).collect(),
        leaves: tree.leaves.iter().map(leaf).collect(),
    }
}

fn tree_from_file(file: TreeFile) -> Result<DecisionTree, String> {
    let child = |child: ChildFile| match child {
        ChildFile::Split(index) => Child::Split(index),
        ChildFile::Leaf(index) => Child::Leaf(index),
    };
    let mut splits = Vec::with_capacity(file.splits.len());
    for (index, split) in file.splits.into_iter().enumerate() {
        let rule = match split.rule {
            RuleFile::Numeric { threshold, missing, default_left } => SplitRule::Threshold {
                threshold,
                missing: match missing {
                    MissingFile::None => MissingType::None,
                    MissingFile::Zero => MissingType::Zero,
                    MissingFile::Nan => MissingType::Nan,
                },
                default_left,
            },
            RuleFile::Categorical { categories, levels } => {
                if categories.iter().any(|&level| level >= levels) {
                    return Err(format!("split {index} lists categories outside 0..{levels}"));
                }
                SplitRule::Levels(LevelSet::from_indices(levels, categories))
            }
        };
        splits.push(SplitNode {
            feature: split.feature,
            rule,
            left: child(split.left),
            right: child(split.right),
            gain: split.gain,
            value: split.value,
            weight: split.weight,
            count: split.count,
        });
    }
    let leaf = |leaf: LeafFile| LeafNode { value: leaf.value, weight: leaf.weight, count: leaf.count };
    Ok(DecisionTree {
        splits,
        leaves: file.leaves.into_iter().map(leaf).collect(),
        shrinkage: file.shrinkage,
    })
}

#[cfg(test)]
mod tests {
    use crate::Table;
    use crate::gbdt::{Ensemble, GbdtSettings, train_ensemble};
    use leafgp_solver::Domain;

    fn model() -> Ensemble {
        let mut x = Table::new(2);
        let mut y = Vec::new();
        for i in 0..60 {
            let v = f64::from(i) * 0.37;
            x.push(&[if i % 9 == 0 { f64::NAN } else { v.sin() }, f64::from(i % 3)]);
            y.push(v.cos() + f64::from(i % 3));
        }
        let domains = [Domain::Continuous { lower: -1.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
        train_ensemble(&x, &domains, &y, None, &GbdtSettings::default(), 1).unwrap()
    }

    #[test]
    fn a_model_survives_the_round_trip_bit_for_bit() {
        let model = model();
        assert!(model.trees.iter().any(|tree| !tree.is_free_of_missing()));
        assert_eq!(Ensemble::from_json(&model.to_json()).unwrap(), model);
        // Missing types that the trainer does not write.
        for kind in ["zero", "none"] {
            let text = model.to_json().replace("\"missing\":\"nan\"", &format!("\"missing\":\"{kind}\""));
            assert!(text.contains(kind));
            let other = Ensemble::from_json(&text).unwrap();
            assert_eq!(other.to_json(), text);
            // A missing type of zero sends 0 where missing values go.
            assert_eq!(other.predict(&[f64::NAN, 1.0]), other.predict(&[0.0, 1.0]));
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let text = model().to_json();
        let cases = [
            ("\"version\":1", "\"version\":2", "expected"),
            ("\"n_features\":2", "\"n_features\":1", "asks feature 1"),
            ("\"n_features\":2", "\"extra\":0,\"n_features\":2", "unknown field"),
            ("\"left\":{\"split\":1}", "\"left\":{\"split\":0}", "missing or used before"),
            ("\"trees\":[", "\"trees\":[{},", "missing field"),
            ("\"n_features\":2", "\"n_features\":9007199254740993", "at most 2000000"),
            ("\"levels\":3", "\"levels\":9007199254740993", "the levels of its splits"),
        ];
        for (from, to, expected) in cases {
            assert!(text.contains(from), "{from}");
            let error = Ensemble::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} should contain {expected:?}");
        }
        assert!(Ensemble::from_json(&text[..text.len() / 2]).is_err());
    }
}
