//! `TreeEnsemble` (ai.onnx.ml 5): splits and leaves in lists of their own.

use crate::error::ModelError;
use crate::link::Link;
use crate::options::ReadOptions;
use crate::tree::Node;

use super::message::NodeProto;
use super::{Mode, Parts, Precision, attribute, check_length, index, ints, numbers};

fn mode(number: f64) -> Option<Mode> {
    const MODES: [Mode; 6] =
        [Mode::AtMost, Mode::Below, Mode::AtLeast, Mode::Above, Mode::Equal, Mode::Unequal];
    MODES.get(number as usize).copied()
}

/// Reads the operator.
pub(super) fn read(
    node: &NodeProto,
    precision: Precision,
    options: &ReadOptions,
) -> Result<Parts, ModelError> {
    let number = |name: &str, absent: i64| attribute(node, name).map_or(absent, |attribute| attribute.i);
    let is_average = match number("aggregate_function", 1) {
        0 => true,
        1 => false,
        _ => {
            let reason = "it is not the sum of its trees";
            return Err(ModelError::unsupported("an ensemble with aggregate_function MIN or MAX", reason));
        }
    };
    let link = match number("post_transform", 0) {
        0 => Link::Identity,
        2 => Link::Logistic { scale: 1.0 },
        other => {
            let reason = "it is no rising function of one sum";
            return Err(ModelError::unsupported(format!("an ensemble with post_transform {other}"), reason));
        }
    };
    let n_targets = index("n_targets", number("n_targets", 1))?.max(1);
    let target = options.class_of(n_targets)?;

    let features = ints(node, "nodes_featureids");
    let n = features.len();
    let (splits, modes) = (numbers(node, "nodes_splits")?, numbers(node, "nodes_modes")?);
    let (truths, falses) = (ints(node, "nodes_truenodeids"), ints(node, "nodes_falsenodeids"));
    let (true_leafs, false_leafs) = (ints(node, "nodes_trueleafs"), ints(node, "nodes_falseleafs"));
    let missing = ints(node, "nodes_missing_value_tracks_true");
    let (targets, weights) = (ints(node, "leaf_targetids"), numbers(node, "leaf_weights")?);
    let lists = [splits.len(), modes.len(), truths.len(), falses.len(), true_leafs.len(), false_leafs.len()];
    for found in lists {
        check_length("the lists of nodes", found, n)?;
    }
    if !missing.is_empty() {
        check_length("nodes_missing_value_tracks_true", missing.len(), n)?;
    }
    check_length("leaf_weights", weights.len(), targets.len())?;
    let leaf = |i: usize| -> Result<Node, ModelError> {
        let problem = || ModelError::format("leaf_targetids", format!("leaf {i} does not exist"));
        let of = index("leaf_targetids", *targets.get(i).ok_or_else(problem)?)?;
        if of >= n_targets {
            return Err(ModelError::format("leaf_targetids", format!("leaf {i} belongs to target {of}")));
        }
        Ok(Node::Leaf(if of == target { weights[i] } else { 0.0 }))
    };

    let mut is_used = vec![false; n];
    let mut trees = Vec::new();
    for &root in ints(node, "tree_roots") {
        let mut nodes = vec![Node::Leaf(0.0)];
        let mut stack = vec![(index("tree_roots", root)?, false, 0)];
        // A single leaf is written as a node both of whose branches are that leaf.
        while let Some((i, is_leaf, at)) = stack.pop() {
            if is_leaf {
                nodes[at] = leaf(i)?;
                continue;
            }
            let wrong = |problem: &str| ModelError::format(format!("node {i}"), problem);
            let used = is_used.get_mut(i).ok_or_else(|| wrong("does not exist"))?;
            if std::mem::replace(used, true) {
                return Err(wrong("is reached twice: the nodes form a cycle or share a child"));
            }
            if modes[i] == 6.0 {
                let reason = "only comparisons are read";
                return Err(ModelError::unsupported("an ensemble with BRANCH_MEMBER splits", reason));
            }
            let mode = mode(modes[i]).ok_or_else(|| wrong("has an unknown mode"))?;
            if splits[i].is_nan() {
                return Err(wrong("has a NaN threshold"));
            }
            let first = nodes.len();
            nodes.extend([Node::Leaf(0.0), Node::Leaf(0.0)]);
            stack.push((index("nodes_truenodeids", truths[i])?, true_leafs[i] != 0, first));
            stack.push((index("nodes_falsenodeids", falses[i])?, false_leafs[i] != 0, first + 1));
            nodes[at] = Node::Split {
                feature: index("nodes_featureids", features[i])?,
                rule: mode.rule(splits[i], precision),
                missing_left: mode == Mode::Unequal || missing.get(i).is_some_and(|&tracks| tracks != 0),
                left: first,
                right: first + 1,
                gain: 0.0,
            };
        }
        trees.push(nodes);
    }
    Ok(Parts { trees, base: 0.0, is_average, link })
}
