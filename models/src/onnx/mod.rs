//! ONNX: `TreeEnsembleRegressor` as skl2onnx and onnxmltools write it for scikit-learn, LightGBM and XGBoost, and `TreeEnsemble` of
//! ai.onnx.ml 5.
//!
//! Inputs are f32 (or f64), so a split asks the rounded value; the f64 where the answer changes are computed. Trees are added in f32.

mod graph;
mod message;
mod regressor;
mod tree_ensemble;
mod wire;

use prost::Message;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::Feature;
use crate::link::Link;
use crate::options::ReadOptions;
use crate::rounding::{last_at_most, last_below};
use crate::tree::{Rule, Tree};

use message::{AttributeProto, ModelProto, NodeProto};

/// What a tree operator holds, whatever its version.
#[derive(Debug)]
struct Parts {
    trees: Vec<Vec<crate::tree::Node>>,
    base: f64,
    is_average: bool,
    link: Link,
}

/// Reads a model.
pub(crate) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Ensemble, ModelError> {
    if !wire::is_bounded(bytes) {
        return Err(ModelError::format("the file", "holds too many messages"));
    }
    let model = ModelProto::decode(bytes)
        .map_err(|error| ModelError::format("the file", format!("no ONNX model: {error}")))?;
    let graph =
        model.graph.ok_or_else(|| ModelError::format("the file", "no known model: ONNX without a graph"))?;
    let setting = graph::find(&graph)?;
    let precision = if setting.is_double { Precision::Double } else { Precision::Single };
    let parts = match setting.node.op_type.as_str() {
        "TreeEnsemble" => tree_ensemble::read(setting.node, precision, options)?,
        _ => regressor::read(setting.node, precision, options)?,
    };
    let ((Link::Identity, link) | (link, Link::Identity)) = (parts.link, setting.link) else {
        return Err(ModelError::unsupported("an ONNX graph", "the sum is transformed twice"));
    };
    let asked = parts.trees.iter().flatten().filter_map(|node| match node {
        crate::tree::Node::Split { feature, .. } => Some(feature + 1),
        crate::tree::Node::Leaf(_) => None,
    });
    let features = match setting.features {
        Some(features) => features,
        None => (0..asked.max().unwrap_or(0)).map(|i| Feature::numeric(format!("{i}"))).collect(),
    };
    let n_trees = parts.trees.len();
    let mut trees = Vec::with_capacity(n_trees);
    for (t, nodes) in parts.trees.into_iter().enumerate() {
        let tree = Tree::new(nodes, 1.0, features.len(), crate::tree::Unreached::Refused);
        trees.push(tree.map_err(|problem| ModelError::format(format!("tree {t}"), problem))?);
    }
    let arithmetic = match precision {
        Precision::Single => Arithmetic::SingleThenBase,
        Precision::Double => Arithmetic::DoubleRounded,
    };
    let ensemble = Ensemble::new(features, trees, parts.base, link, arithmetic)?;
    Ok(if parts.is_average { ensemble.averaged_over(n_trees) } else { ensemble })
}

/// Precision of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Single,
    Double,
}

/// A comparison of a node; true goes left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    Unequal,
    Leaf,
}

impl Mode {
    /// The rule of a comparison with `value`, which is not NaN.
    fn rule(self, value: f64, precision: Precision) -> Rule {
        let (below, at_most) = match precision {
            Precision::Single => (last_below(value as f32), last_at_most(value as f32)),
            Precision::Double => (value.next_down(), value),
        };
        let pieces = |cuts: Vec<f64>, first_left| Rule::Pieces { cuts, first_left };
        match self {
            Self::AtMost | Self::Leaf => Rule::Threshold(at_most),
            Self::Below => Rule::Threshold(below),
            Self::AtLeast => pieces(vec![below], false),
            Self::Above => pieces(vec![at_most], false),
            Self::Equal => pieces(vec![below, at_most], false),
            Self::Unequal => pieces(vec![below, at_most], true),
        }
    }
}

fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|attribute| attribute.name == name)
}

fn ints<'a>(node: &'a NodeProto, name: &str) -> &'a [i64] {
    attribute(node, name).map_or(&[], |attribute| &attribute.ints)
}

/// Numbers as a list of f32 or as a tensor named `NAME_as_tensor` (or `NAME` itself).
fn numbers(node: &NodeProto, name: &str) -> Result<Vec<f64>, ModelError> {
    let plain = attribute(node, name);
    if let Some(tensor) = attribute(node, &format!("{name}_as_tensor")).or(plain).and_then(|a| a.t.as_ref()) {
        let raw = &tensor.raw_data;
        return match tensor.data_type {
            1 if !tensor.float_data.is_empty() => {
                Ok(tensor.float_data.iter().map(|&v| f64::from(v)).collect())
            }
            11 if !tensor.double_data.is_empty() => Ok(tensor.double_data.clone()),
            2 if !tensor.int32_data.is_empty() => {
                Ok(tensor.int32_data.iter().map(|&v| f64::from(v)).collect())
            }
            1 if raw.len().is_multiple_of(4) => {
                let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                Ok(raw.chunks_exact(4).map(number).collect())
            }
            11 if raw.len().is_multiple_of(8) => {
                let number = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
                Ok(raw.chunks_exact(8).map(number).collect())
            }
            2 => Ok(raw.iter().map(|&v| f64::from(v)).collect()),
            kind => {
                Err(ModelError::format(name, format!("is a tensor of the unread type {kind} or a cut one")))
            }
        };
    }
    Ok(plain.map_or_else(Vec::new, |attribute| attribute.floats.iter().map(|&v| f64::from(v)).collect()))
}

fn index(place: &str, value: i64) -> Result<usize, ModelError> {
    usize::try_from(value).map_err(|_| ModelError::format(place, format!("holds {value}; expected an index")))
}

/// Checks that a list is as long as the nodes (or absent, where that is allowed).
fn check_length(place: &str, found: usize, expected: usize) -> Result<(), ModelError> {
    if found == expected {
        return Ok(());
    }
    Err(ModelError::format(place, format!("has {found} entries; expected {expected}")))
}

/// The base value of a target: one, or one a target.
fn base_value(values: &[f64], target: usize, n_targets: usize) -> Result<f64, ModelError> {
    match values {
        [] => Ok(0.0),
        [one] => Ok(*one),
        list if list.len() == n_targets => Ok(list[target]),
        list => Err(ModelError::format(
            "base_values",
            format!("has {} entries for {n_targets} targets", list.len()),
        )),
    }
}
