//! Our own file of an ensemble: whatever it was read from, exactly as it predicts.

use serde::{Deserialize, Serialize};

use leafgp_constraints::LevelSet;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind, MAX_FEATURES};
use crate::link::Link;
use crate::options::ReadOptions;
use crate::tree::{Node, Rule, Tree, Unreached};

/// The version of the format that is written and read.
const VERSION: u32 = 1;
/// The most trees that are averaged.
const MAX_DIVISOR: f64 = 1e9;
/// Most codes of a category: no library's sets reach it, and a set takes a bit for each code.
pub(crate) const MOST_CODES: usize = 1 << 24;

/// The file's only entry, by which it is known.
#[derive(Debug, Serialize)]
struct File {
    leafgp_ensemble: Written,
}

/// An ensemble as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    version: u32,
    features: Vec<WrittenFeature>,
    base: f64,
    /// The sum of the trees is divided by it.
    divisor: f64,
    link: WrittenLink,
    arithmetic: WrittenArithmetic,
    trees: Vec<WrittenTree>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFeature {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
}

/// A category: the label of each code, or `codes`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Category {
    Codes,
    Labels(Vec<String>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenLink {
    Identity,
    Logistic(f64),
    Exp,
    SignedSquare,
    Softplus,
    Step,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenArithmetic {
    Double,
    DoubleRounded,
    DoubleFromBase,
    SingleFromBase,
    SingleThenBase,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTree {
    weight: f64,
    nodes: Vec<WrittenNode>,
}

/// A leaf's value, or a split.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenNode {
    Leaf(f64),
    Split(Box<Split>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    feature: usize,
    rule: WrittenRule,
    missing_left: bool,
    left: usize,
    right: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    gain: f64,
}

/// See [`Rule`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum WrittenRule {
    Threshold(Number),
    Pieces { cuts: Vec<Number>, first_left: bool },
    Codes { listed: Vec<usize>, of: usize, listed_left: bool },
}

/// A number or an infinity, which JSON does not have.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Infinite(Infinity),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Infinity {
    #[serde(rename = "inf")]
    Positive,
    #[serde(rename = "-inf")]
    Negative,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl From<f64> for Number {
    fn from(x: f64) -> Self {
        match x {
            f64::INFINITY => Self::Infinite(Infinity::Positive),
            f64::NEG_INFINITY => Self::Infinite(Infinity::Negative),
            _ => Self::Finite(x),
        }
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Finite(x) => x,
            Number::Infinite(Infinity::Positive) => Self::INFINITY,
            Number::Infinite(Infinity::Negative) => Self::NEG_INFINITY,
        }
    }
}

impl Ensemble {
    /// The ensemble as a file that [`Ensemble::read`] reads: JSON with the single entry `leafgp_ensemble`. What is read of it predicts the same, bit for bit.
    ///
    /// ```
    /// use leafgp_models::{ArrayEnsemble, ArrayTree, Ensemble, Feature, Link, ReadOptions};
    ///
    /// let stump = ArrayTree {
    ///     left: vec![1, -1, -1], right: vec![2, -1, -1], feature: vec![0, -2, -2], threshold: vec![0.1, -2.0, -2.0],
    ///     missing_left: vec![false; 3], value: vec![0.0, 1.0, 3.0], ..ArrayTree::default()
    /// };
    /// let model = Ensemble::from_arrays(&ArrayEnsemble {
    ///     features: vec![Feature::numeric("x")], trees: vec![stump], base: 10.0, weight: 0.1, is_mean: true, is_single: true, link: Link::Identity,
    /// })?;
    /// assert_eq!(Ensemble::read(&model.write(), &ReadOptions::default())?, model);
    /// # Ok::<(), leafgp_models::ModelError>(())
    /// ```
    pub fn write(&self) -> Vec<u8> {
        let written = Written {
            version: VERSION,
            features: self.features().iter().map(WrittenFeature::from).collect(),
            base: self.base(),
            divisor: self.divisor(),
            link: match self.link() {
                Link::Identity => WrittenLink::Identity,
                Link::Logistic { scale } => WrittenLink::Logistic(scale),
                Link::Exp => WrittenLink::Exp,
                Link::SignedSquare => WrittenLink::SignedSquare,
                Link::Softplus => WrittenLink::Softplus,
                Link::Step => WrittenLink::Step,
            },
            arithmetic: match self.arithmetic() {
                Arithmetic::Double => WrittenArithmetic::Double,
                Arithmetic::DoubleRounded => WrittenArithmetic::DoubleRounded,
                Arithmetic::DoubleFromBase => WrittenArithmetic::DoubleFromBase,
                Arithmetic::SingleFromBase => WrittenArithmetic::SingleFromBase,
                Arithmetic::SingleThenBase => WrittenArithmetic::SingleThenBase,
            },
            trees: self.trees().iter().map(WrittenTree::from).collect(),
        };
        // Numbers, text and lists of them: nothing that JSON cannot hold.
        serde_json::to_vec(&File { leafgp_ensemble: written }).unwrap_or_default()
    }
}

impl From<&Feature> for WrittenFeature {
    fn from(feature: &Feature) -> Self {
        let category = match &feature.kind {
            FeatureKind::Numeric => None,
            FeatureKind::Categorical { labels: None } => Some(Category::Codes),
            FeatureKind::Categorical { labels: Some(labels) } => Some(Category::Labels(labels.clone())),
        };
        let range = feature.range.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
        Self { name: feature.name.clone(), category, range }
    }
}

impl From<&Tree> for WrittenTree {
    fn from(tree: &Tree) -> Self {
        let node = |node: &Node| match node {
            Node::Leaf(value) => WrittenNode::Leaf(*value),
            Node::Split { feature, rule, missing_left, left, right, gain } => {
                let rule = match rule {
                    Rule::Threshold(threshold) => WrittenRule::Threshold((*threshold).into()),
                    Rule::Pieces { cuts, first_left } => WrittenRule::Pieces {
                        cuts: cuts.iter().map(|&cut| cut.into()).collect(),
                        first_left: *first_left,
                    },
                    Rule::Codes { listed, listed_left } => WrittenRule::Codes {
                        listed: listed.iter().collect(),
                        of: listed.capacity(),
                        listed_left: *listed_left,
                    },
                };
                // A gain is for information only; what is no number says nothing.
                let gain = if gain.is_finite() { *gain } else { 0.0 };
                WrittenNode::Split(Box::new(Split {
                    feature: *feature,
                    rule,
                    missing_left: *missing_left,
                    left: *left,
                    right: *right,
                    gain,
                }))
            }
        };
        Self { weight: tree.weight(), nodes: tree.nodes().iter().map(node).collect() }
    }
}

/// The ensemble of a file of ours, everything in it checked.
pub(crate) fn decode(written: Written, options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let refuse = |place: &str, problem: String| Err(ModelError::format(place, problem));
    options.class_of(1)?;
    if written.version != VERSION {
        return refuse("version", format!("is {}; expected {VERSION}", written.version));
    }
    if written.features.len() > MAX_FEATURES {
        let problem = format!("are {}; expected at most {MAX_FEATURES}", written.features.len());
        return refuse("features", problem);
    }
    if !((1.0..=MAX_DIVISOR).contains(&written.divisor) && written.divisor.fract() == 0.0) {
        let problem = format!("is {}; expected a whole number from 1 to {MAX_DIVISOR}", written.divisor);
        return refuse("divisor", problem);
    }
    let link = match written.link {
        WrittenLink::Identity => Link::Identity,
        WrittenLink::Logistic(scale) if scale > 0.0 && scale.is_finite() => Link::Logistic { scale },
        WrittenLink::Logistic(scale) => {
            return refuse("link", format!("has the scale {scale}; expected a number above 0"));
        }
        WrittenLink::Exp => Link::Exp,
        WrittenLink::SignedSquare => Link::SignedSquare,
        WrittenLink::Softplus => Link::Softplus,
        WrittenLink::Step => Link::Step,
    };
    let arithmetic = match written.arithmetic {
        WrittenArithmetic::Double => Arithmetic::Double,
        WrittenArithmetic::DoubleRounded => Arithmetic::DoubleRounded,
        WrittenArithmetic::DoubleFromBase => Arithmetic::DoubleFromBase,
        WrittenArithmetic::SingleFromBase => Arithmetic::SingleFromBase,
        WrittenArithmetic::SingleThenBase => Arithmetic::SingleThenBase,
    };
    if written.divisor != 1.0 && arithmetic.begins_with_base() {
        let problem = format!("is {}; expected 1 for a sum that begins with the base", written.divisor);
        return refuse("divisor", problem);
    }
    let n_features = written.features.len();
    let feature = |feature: WrittenFeature| {
        let kind = match feature.category {
            None => FeatureKind::Numeric,
            Some(Category::Codes) => FeatureKind::Categorical { labels: None },
            Some(Category::Labels(labels)) => FeatureKind::Categorical { labels: Some(labels) },
        };
        Feature { name: feature.name, kind, range: feature.range }
    };
    let features: Vec<Feature> = written.features.into_iter().map(feature).collect();
    let mut trees = Vec::with_capacity(written.trees.len());
    for (i, tree) in written.trees.into_iter().enumerate() {
        let wrong = |problem: String| ModelError::format(format!("tree {i}"), problem);
        let nodes = tree.nodes.into_iter().enumerate().map(|(at, node)| read_node(at, node));
        let nodes = nodes.collect::<Result<Vec<_>, String>>().map_err(wrong)?;
        trees.push(Tree::new(nodes, tree.weight, n_features, Unreached::Refused).map_err(wrong)?);
    }
    let ensemble = Ensemble::new(features, trees, written.base, link, arithmetic)?;
    Ok(ensemble.divided_by(written.divisor))
}

fn read_node(at: usize, node: WrittenNode) -> Result<Node, String> {
    let split = match node {
        WrittenNode::Leaf(value) => return Ok(Node::Leaf(value)),
        WrittenNode::Split(split) => *split,
    };
    let Split { feature, rule, missing_left, left, right, gain } = split;
    let rule = match rule {
        WrittenRule::Threshold(threshold) => Rule::Threshold(threshold.into()),
        WrittenRule::Pieces { cuts, first_left } => {
            Rule::Pieces { cuts: cuts.into_iter().map(f64::from).collect(), first_left }
        }
        WrittenRule::Codes { listed, of, listed_left } => {
            if of > MOST_CODES || listed.iter().any(|&code| code >= of) {
                return Err(format!(
                    "node {at} lists categories of {of}; expected numbers below that, and at most {MOST_CODES}"
                ));
            }
            Rule::Codes { listed: LevelSet::from_indices(of, listed).into(), listed_left }
        }
    };
    Ok(Node::Split { feature, rule, missing_left, left, right, gain })
}
