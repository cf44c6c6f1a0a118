//! `TreeEnsembleRegressor` (ai.onnx.ml 1 and 3).

use std::collections::BTreeMap;

use crate::error::ModelError;
use crate::link::Link;
use crate::options::ReadOptions;
use crate::tree::Node;

use super::message::NodeProto;
use super::{Mode, Parts, Precision, attribute, base_value, check_length, index, ints, numbers};

fn text(node: &NodeProto, name: &str) -> Option<String> {
    attribute(node, name).map(|attribute| String::from_utf8_lossy(&attribute.s).into_owned())
}

fn mode(text: &[u8]) -> Option<Mode> {
    Some(match text {
        b"BRANCH_LEQ" => Mode::AtMost,
        b"BRANCH_LT" => Mode::Below,
        b"BRANCH_GTE" => Mode::AtLeast,
        b"BRANCH_GT" => Mode::Above,
        b"BRANCH_EQ" => Mode::Equal,
        b"BRANCH_NEQ" => Mode::Unequal,
        b"LEAF" => Mode::Leaf,
        _ => return None,
    })
}

/// Reads the operator.
pub(super) fn read(
    node: &NodeProto,
    precision: Precision,
    options: &ReadOptions,
) -> Result<Parts, ModelError> {
    let is_average = match text(node, "aggregate_function").as_deref() {
        None | Some("SUM") => false,
        Some("AVERAGE") => true,
        Some(other) => {
            let reason = "it is not the sum of its trees";
            return Err(ModelError::unsupported(
                format!("an ensemble with aggregate_function {other}"),
                reason,
            ));
        }
    };
    let link = match text(node, "post_transform").as_deref() {
        None | Some("NONE") => Link::Identity,
        Some("LOGISTIC") => Link::Logistic { scale: 1.0 },
        Some(other) => {
            let reason = "it is no rising function of one sum";
            return Err(ModelError::unsupported(format!("an ensemble with post_transform {other}"), reason));
        }
    };
    let n_targets = attribute(node, "n_targets").map_or(Ok(1), |a| index("n_targets", a.i))?.max(1);
    let target = options.class_of(n_targets)?;
    let base = base_value(&numbers(node, "base_values")?, target, n_targets)?;

    let tree_ids = ints(node, "nodes_treeids");
    let n = tree_ids.len();
    let (node_ids, features) = (ints(node, "nodes_nodeids"), ints(node, "nodes_featureids"));
    let (truths, falses) = (ints(node, "nodes_truenodeids"), ints(node, "nodes_falsenodeids"));
    let values = numbers(node, "nodes_values")?;
    let modes = attribute(node, "nodes_modes").map_or(&[][..], |attribute| &attribute.strings);
    let missing = ints(node, "nodes_missing_value_tracks_true");
    check_length("nodes_nodeids", node_ids.len(), n)?;
    check_length("nodes_featureids", features.len(), n)?;
    check_length("nodes_truenodeids", truths.len(), n)?;
    check_length("nodes_falsenodeids", falses.len(), n)?;
    check_length("nodes_values", values.len(), n)?;
    check_length("nodes_modes", modes.len(), n)?;
    if !missing.is_empty() {
        check_length("nodes_missing_value_tracks_true", missing.len(), n)?;
    }

    // Where each node stands: its tree, in order of appearance, and its number within; the first of a tree is its root.
    let mut tree_of: BTreeMap<i64, usize> = BTreeMap::new();
    let mut place: BTreeMap<(i64, i64), (usize, usize)> = BTreeMap::new();
    let mut sizes: Vec<usize> = Vec::new();
    for (&tree, &id) in tree_ids.iter().zip(node_ids) {
        let t = *tree_of.entry(tree).or_insert(sizes.len());
        if t == sizes.len() {
            sizes.push(0);
        }
        if place.insert((tree, id), (t, sizes[t])).is_some() {
            return Err(ModelError::format(
                "nodes_nodeids",
                format!("node {id} of tree {tree} is listed twice"),
            ));
        }
        sizes[t] += 1;
    }
    let weights = leaf_values(node, target, n_targets, &place)?;
    let mut trees: Vec<Vec<Node>> = sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
    for i in 0..n {
        let tree = tree_ids[i];
        let wrong =
            |problem: String| ModelError::format(format!("tree {tree}, node {}", node_ids[i]), problem);
        let name = String::from_utf8_lossy(&modes[i]);
        let mode = mode(&modes[i]).ok_or_else(|| wrong(format!("has the unknown mode {name:?}")))?;
        let t = tree_of[&tree];
        if mode == Mode::Leaf {
            let at = (tree, node_ids[i]);
            trees[t].push(Node::Leaf(weights.get(&at).copied().unwrap_or(0.0)));
            continue;
        }
        if values[i].is_nan() {
            return Err(wrong("has a NaN threshold".into()));
        }
        let child = |id: i64| {
            let found = place.get(&(tree, id)).map(|&(_, at)| at);
            found.ok_or_else(|| wrong(format!("has the child {id}, which does not exist")))
        };
        trees[t].push(Node::Split {
            feature: index("nodes_featureids", features[i])?,
            rule: mode.rule(values[i], precision),
            missing_left: mode == Mode::Unequal || missing.get(i).is_some_and(|&tracks| tracks != 0),
            left: child(truths[i])?,
            right: child(falses[i])?,
            gain: 0.0,
        });
    }
    Ok(Parts { trees, base, is_average, link })
}

/// What each leaf adds to the target.
fn leaf_values(
    node: &NodeProto,
    target: usize,
    n_targets: usize,
    place: &BTreeMap<(i64, i64), (usize, usize)>,
) -> Result<BTreeMap<(i64, i64), f64>, ModelError> {
    let (tree_ids, node_ids) = (ints(node, "target_treeids"), ints(node, "target_nodeids"));
    let (targets, weights) = (ints(node, "target_ids"), numbers(node, "target_weights")?);
    check_length("target_nodeids", node_ids.len(), tree_ids.len())?;
    check_length("target_ids", targets.len(), tree_ids.len())?;
    check_length("target_weights", weights.len(), tree_ids.len())?;
    let mut values = BTreeMap::new();
    for i in 0..tree_ids.len() {
        let at = (tree_ids[i], node_ids[i]);
        if !place.contains_key(&at) || index("target_ids", targets[i])? >= n_targets {
            let problem = format!("entry {i} names tree {}, node {} and target {}", at.0, at.1, targets[i]);
            return Err(ModelError::format("target_ids", problem));
        }
        if targets[i] as usize == target {
            *values.entry(at).or_insert(0.0) += weights[i];
        }
    }
    Ok(values)
}
