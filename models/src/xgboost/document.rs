//! The parts of XGBoost's document that a prediction needs; the rest is skipped while reading.

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

#[derive(Debug, Deserialize)]
pub(crate) struct Learner {
    #[serde(default)]
    pub(super) feature_names: Vec<String>,
    #[serde(default)]
    pub(super) feature_types: Vec<String>,
    pub(super) gradient_booster: Booster,
    pub(super) learner_model_param: LearnerParam,
    pub(super) objective: Objective,
}

#[derive(Debug, Deserialize)]
pub(super) struct LearnerParam {
    pub(super) base_score: Option<String>,
    pub(super) num_class: Option<String>,
    pub(super) num_feature: Option<String>,
    pub(super) num_target: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Objective {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Booster {
    pub(super) name: String,
    pub(super) model: Option<TreeModel>,
    /// Dart keeps its trees one level deeper.
    pub(super) gbtree: Option<DartTrees>,
    pub(super) weight_drop: Option<Vec<f32>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct DartTrees {
    pub(super) model: Option<TreeModel>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TreeModel {
    pub(super) trees: Option<Vec<XgTree>>,
    #[serde(default)]
    pub(super) tree_info: Vec<i64>,
    #[serde(default)]
    pub(super) iteration_indptr: Vec<i64>,
    pub(super) gbtree_model_param: Option<TreeModelParam>,
    pub(super) cats: Option<Categories>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TreeModelParam {
    pub(super) num_trees: Option<String>,
}

/// Labels of the categories.
#[derive(Debug, Deserialize)]
pub(super) struct Categories {
    #[serde(default)]
    pub(super) enc: Vec<Encoding>,
}

/// Texts as `offsets` into bytes, or numbers without `offsets`.
#[derive(Debug, Deserialize)]
pub(super) struct Encoding {
    pub(super) offsets: Option<Vec<i64>>,
    pub(super) values: Vec<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct XgTree {
    pub(super) id: Option<i64>,
    pub(super) tree_param: Option<TreeParam>,
    pub(super) left_children: Vec<i64>,
    pub(super) right_children: Vec<i64>,
    pub(super) split_indices: Vec<i64>,
    /// The threshold of a split, the value of a leaf.
    pub(super) split_conditions: Vec<Single>,
    pub(super) default_left: Vec<Flag>,
    /// What the training gained by each split.
    #[serde(default)]
    pub(super) loss_changes: Vec<Single>,
    /// 0 number, 1 category; absent in old files.
    #[serde(default)]
    pub(super) split_type: Vec<u8>,
    #[serde(default)]
    pub(super) categories: Vec<i64>,
    #[serde(default)]
    pub(super) categories_nodes: Vec<i64>,
    #[serde(default)]
    pub(super) categories_segments: Vec<i64>,
    #[serde(default)]
    pub(super) categories_sizes: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TreeParam {
    pub(super) size_leaf_vector: Option<String>,
}

impl XgTree {
    /// Each leaf holds several numbers.
    pub(super) fn has_vector_leaves(&self) -> bool {
        let size = self.tree_param.as_ref().and_then(|param| param.size_leaf_vector.as_deref());
        !matches!(size, None | Some("0" | "1"))
    }
}

/// A f32; `null`, which stands for the `NaN` of JSON files, is NaN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single(pub(super) f32);

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or(f32::NAN)))
    }
}

/// `true` or 1: versions differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false, 0 or 1")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Flag, E> {
                Ok(Flag(value != 0))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Flag, E> {
                Ok(Flag(value != 0))
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}
