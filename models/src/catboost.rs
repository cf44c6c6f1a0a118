//! CatBoost's JSON models (`save_model(file, format="json", pool=...)`): numbers and one-hot categories, symmetric and other trees.
//!
//! A numeric split sends `(x as f32) > border` right, a one-hot split its value. The sum is formed in f64.

use std::sync::Arc;

use leafgp_constraints::LevelSet;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind, MAX_FEATURES};
use crate::link::Link;
use crate::options::ReadOptions;
use crate::rounding::last_at_most;
use crate::tree::{Node, Rule, Tree, Unreached};

/// Largest number of labels, every category with all of them.
const MAX_LABELS: usize = 50_000_000;
/// Deepest symmetric tree; CatBoost's own limit is 16.
const MAX_DEPTH: usize = 24;

#[derive(Debug, Deserialize)]
pub(crate) struct FeaturesInfo {
    #[serde(default, deserialize_with = "list")]
    float_features: Vec<FeatureInfo>,
    #[serde(default, deserialize_with = "list")]
    categorical_features: Vec<FeatureInfo>,
    #[serde(default, deserialize_with = "list")]
    cat_features_hash: Vec<HashedLabel>,
    text_features: Option<Vec<IgnoredAny>>,
    embedding_features: Option<Vec<IgnoredAny>>,
}

/// A list, for which CatBoost also writes null.
fn list<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Debug, Deserialize)]
struct FeatureInfo {
    feature_index: usize,
    flat_feature_index: usize,
    feature_id: Option<String>,
    feature_name: Option<String>,
    nan_value_treatment: Option<String>,
}

#[derive(Debug, Deserialize)]
struct HashedLabel {
    hash: i64,
    value: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ModelInfo {
    params: Option<Params>,
}

#[derive(Debug, Deserialize)]
struct Params {
    loss_function: Option<Loss>,
}

#[derive(Debug, Deserialize)]
struct Loss {
    #[serde(rename = "type")]
    name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ObliviousTree {
    leaf_values: Vec<f64>,
    #[serde(default, deserialize_with = "list")]
    splits: Vec<Split>,
}

/// A node of a tree that is not symmetric. An empty one is refused while reading, so that many small ones take no memory.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawNode")]
pub(crate) enum TreeNode {
    Split { left: Box<TreeNode>, right: Box<TreeNode>, split: Split },
    Leaf(Values),
}

#[derive(Debug, Deserialize)]
struct RawNode {
    left: Option<Box<TreeNode>>,
    right: Option<Box<TreeNode>>,
    split: Option<Split>,
    value: Option<Values>,
}

impl TryFrom<RawNode> for TreeNode {
    type Error = &'static str;

    fn try_from(raw: RawNode) -> Result<Self, Self::Error> {
        match (raw.left, raw.right, raw.split, raw.value) {
            (Some(left), Some(right), Some(split), _) => Ok(Self::Split { left, right, split }),
            (None, None, None, Some(value)) => Ok(Self::Leaf(value)),
            _ => Err("a node is neither a split with two children nor a leaf with a value"),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Values {
    One(f64),
    Many(Vec<f64>),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Split {
    split_type: String,
    border: Option<f32>,
    float_feature_index: Option<usize>,
    cat_feature_index: Option<usize>,
    value: Option<i64>,
}

/// `[scale, [bias of each class]]`.
#[derive(Debug, Deserialize)]
pub(crate) struct ScaleAndBias(f64, Bias);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Bias {
    One(f64),
    Many(Vec<f64>),
}

/// The parts of the document.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) features: FeaturesInfo,
    pub(crate) info: Option<ModelInfo>,
    pub(crate) oblivious: Option<Vec<ObliviousTree>>,
    pub(crate) trees: Option<Vec<TreeNode>>,
    pub(crate) scale_and_bias: Option<ScaleAndBias>,
}

/// Features by the numbers that splits use.
struct Space {
    features: Vec<Feature>,
    /// Flat number, and whether missing values go right, of each numeric feature.
    numeric: Vec<Option<(usize, bool)>>,
    categorical: Vec<Option<usize>>,
    /// Hashes of the labels, in the order of their codes.
    hashes: Vec<u32>,
}

/// Builds the ensemble from the parsed file.
pub(crate) fn decode(parts: Parts, options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let Parts { features, info, oblivious, trees, scale_and_bias } = parts;
    let loss = info.and_then(|info| info.params).and_then(|params| params.loss_function);
    let link = link(loss.as_ref().map_or("RMSE", |loss| loss.name.as_str()))?;
    let (scale, bias) = match scale_and_bias {
        None => (1.0, vec![0.0]),
        Some(ScaleAndBias(scale, Bias::One(bias))) => (scale, vec![bias]),
        Some(ScaleAndBias(scale, Bias::Many(bias))) => (scale, bias),
    };
    let n_classes = bias.len().max(1);
    let class = options.class_of(n_classes)?;
    let space = Space::new(features)?;
    let mut lists = Vec::new();
    match (oblivious, trees) {
        (Some(oblivious), None) => {
            for (t, tree) in oblivious.into_iter().enumerate() {
                lists.push(space.symmetric(t, &tree, n_classes, class)?);
            }
        }
        (None, Some(trees)) => {
            for (t, tree) in trees.iter().enumerate() {
                lists.push(space.nested(t, tree, n_classes, class)?);
            }
        }
        _ => return Err(ModelError::format("the file", "expected oblivious_trees or trees")),
    }
    let n_features = space.features.len();
    let checked = lists.into_iter().enumerate().map(|(t, nodes)| {
        let tree = Tree::new(nodes, scale, n_features, Unreached::Refused);
        tree.map_err(|problem| ModelError::format(format!("tree {t}"), problem))
    });
    let trees = checked.collect::<Result<Vec<Tree>, _>>()?;
    Ensemble::new(space.features, trees, bias.get(class).copied().unwrap_or(0.0), link, Arithmetic::Double)
}

fn link(loss: &str) -> Result<Link, ModelError> {
    match loss {
        "RMSE"
        | "MAE"
        | "Quantile"
        | "MultiQuantile"
        | "MAPE"
        | "Huber"
        | "LogCosh"
        | "Expectile"
        | "Lq"
        | "MultiRMSE"
        | "RMSEWithUncertainty"
        | "MultiClass" => Ok(Link::Identity),
        "Poisson" | "Tweedie" | "LogLinQuantile" => Ok(Link::Exp),
        "Logloss" | "CrossEntropy" | "Focal" | "MultiClassOneVsAll" => Ok(Link::Logistic { scale: 1.0 }),
        name if name.contains("Rank") || name.starts_with("Query") || name.starts_with("PairLogit") => {
            Err(ModelError::unsupported(
                format!("a ranking model ({name})"),
                "its scores only compare rows within a group, so there is no best input",
            ))
        }
        other => Err(ModelError::format("loss_function", format!("the loss {other:?} is not known"))),
    }
}

impl Space {
    fn new(info: FeaturesInfo) -> Result<Self, ModelError> {
        for (list, kind) in [(&info.text_features, "text"), (&info.embedding_features, "embedding")] {
            if list.as_ref().is_some_and(|list| !list.is_empty()) {
                let reason = "only numbers and one-hot categories are variables";
                return Err(ModelError::unsupported(
                    format!("a CatBoost model with {kind} features"),
                    reason,
                ));
            }
        }
        let all = || info.float_features.iter().chain(&info.categorical_features);
        let largest = all().map(|f| f.flat_feature_index.max(f.feature_index)).max();
        let n = largest.map_or(0, |largest| largest.saturating_add(1));
        if n > MAX_FEATURES {
            return Err(ModelError::format(
                "features_info",
                format!("{n} features; at most {MAX_FEATURES} are read"),
            ));
        }
        let mut features: Vec<Feature> = (0..n).map(|i| Feature::numeric(i.to_string())).collect();
        for feature in all() {
            if let Some(name) = feature.feature_name.as_ref().or(feature.feature_id.as_ref())
                && !name.is_empty()
            {
                features[feature.flat_feature_index].name.clone_from(name);
            }
        }
        let mut numeric = vec![None; n];
        for feature in &info.float_features {
            let missing_right = feature.nan_value_treatment.as_deref() == Some("AsTrue");
            numeric[feature.feature_index] = Some((feature.flat_feature_index, missing_right));
        }
        let labels: Vec<String> = info.cat_features_hash.iter().map(|label| label.value.clone()).collect();
        if labels.len().saturating_mul(info.categorical_features.len()) > MAX_LABELS {
            let problem = format!("more than {MAX_LABELS} labels of categories");
            return Err(ModelError::format("features_info", problem));
        }
        let mut categorical = vec![None; n];
        for feature in &info.categorical_features {
            categorical[feature.feature_index] = Some(feature.flat_feature_index);
            let labels = Some(labels.clone());
            features[feature.flat_feature_index].kind = FeatureKind::Categorical { labels };
        }
        let hashes = info.cat_features_hash.iter().map(|label| label.hash as u32).collect();
        Ok(Self { features, numeric, categorical, hashes })
    }

    /// The feature, rule and direction of missing values of a split; left is "no".
    fn rule(&self, t: usize, split: &Split) -> Result<(usize, Rule, bool), ModelError> {
        let wrong = |problem: &str| ModelError::format(format!("tree {t}"), problem);
        match split.split_type.as_str() {
            "FloatFeature" => {
                let border = split.border.filter(|border| !border.is_nan());
                let border =
                    border.ok_or_else(|| wrong("a numeric split needs a border that is a number"))?;
                let number = split.float_feature_index.and_then(|i| self.numeric.get(i).copied().flatten());
                let (feature, missing_right) =
                    number.ok_or_else(|| wrong("a split asks no known feature"))?;
                Ok((feature, Rule::Threshold(last_at_most(border)), !missing_right))
            }
            "OneHotFeature" => {
                let index = split.cat_feature_index.and_then(|i| self.categorical.get(i).copied().flatten());
                let feature = index.ok_or_else(|| wrong("a split asks no known category"))?;
                let value = split.value.ok_or_else(|| wrong("a one-hot split needs a value"))?;
                let code = self.hashes.iter().position(|&hash| hash == value as u32).ok_or_else(|| {
                    ModelError::unsupported(
                        "a CatBoost model without the labels of its categories",
                        "save it with save_model(file, format='json', pool=training_pool)",
                    )
                })?;
                let listed = Arc::new(LevelSet::from_indices(code + 1, [code]));
                Ok((feature, Rule::Codes { listed, listed_left: false }, true))
            }
            "OnlineCtr" => Err(ModelError::unsupported(
                "a CatBoost model with CTR features (target statistics of categories)",
                "train with one_hot_max_size of at least the number of categories",
            )),
            other => Err(wrong(&format!("the split type {other:?} is not known"))),
        }
    }

    /// A symmetric tree: split `i` gives bit `i` of the leaf's number.
    fn symmetric(
        &self,
        t: usize,
        tree: &ObliviousTree,
        n_classes: usize,
        class: usize,
    ) -> Result<Vec<Node>, ModelError> {
        let splits = &tree.splits;
        let depth = splits.len();
        let n_values = 1usize.checked_shl(depth as u32).and_then(|leaves| leaves.checked_mul(n_classes));
        if depth > MAX_DEPTH || n_values != Some(tree.leaf_values.len()) {
            let problem = format!(
                "{depth} splits (at most {MAX_DEPTH}) and {} leaf values for {n_classes} classes",
                tree.leaf_values.len()
            );
            return Err(ModelError::format(format!("tree {t}"), problem));
        }
        let mut nodes = Vec::with_capacity(2 << depth);
        for (level, split) in splits.iter().enumerate() {
            let (feature, rule, missing_left) = self.rule(t, split)?;
            let below = (2 << level) - 1;
            for bits in 0..1 << level {
                let (left, right) = (below + bits, below + (bits | 1 << level));
                nodes.push(Node::Split { feature, rule: rule.clone(), missing_left, left, right, gain: 0.0 });
            }
        }
        nodes.extend((0..1 << depth).map(|leaf| Node::Leaf(tree.leaf_values[leaf * n_classes + class])));
        Ok(nodes)
    }

    /// A tree of nested objects, without recursion.
    fn nested(
        &self,
        t: usize,
        root: &TreeNode,
        n_classes: usize,
        class: usize,
    ) -> Result<Vec<Node>, ModelError> {
        let mut nodes = vec![Node::Leaf(0.0)];
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.pop() {
            nodes[at] = match node {
                TreeNode::Split { left, right, split } => {
                    let (feature, rule, missing_left) = self.rule(t, split)?;
                    let first = nodes.len();
                    nodes.extend([Node::Leaf(0.0), Node::Leaf(0.0)]);
                    stack.push((left, first));
                    stack.push((right, first + 1));
                    Node::Split { feature, rule, missing_left, left: first, right: first + 1, gain: 0.0 }
                }
                TreeNode::Leaf(Values::One(value)) if n_classes == 1 => Node::Leaf(*value),
                TreeNode::Leaf(Values::Many(values)) if values.len() == n_classes => {
                    Node::Leaf(values[class])
                }
                TreeNode::Leaf(_) => {
                    let problem = format!("a leaf does not hold a number for each of {n_classes} classes");
                    return Err(ModelError::format(format!("tree {t}"), problem));
                }
            };
        }
        Ok(nodes)
    }
}
