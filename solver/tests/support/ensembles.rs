//! Public ensembles (Kim, Richard, Tawarmalani 2024) as problems of the search: sums of trees to maximise, no bounds on the variables.

use std::path::Path;

use leafgp_solver::{Domain, Forest, LeafObjective, Node, Rule, Tree};
use serde_json::Value;

/// A sum (or mean) of trees as a minimisation: the objective is the negative prediction without its intercept.
#[derive(Debug)]
pub struct PublicEnsemble {
    pub domains: Vec<Domain>,
    pub forest: Forest,
    pub objective: LeafObjective,
}

/// The first `n_trees` trees of an ensemble of `shared/models/ensembles`.
pub fn read_public_ensemble(path: &Path, n_trees: usize) -> PublicEnsemble {
    let json = super::read_json(path);
    let mut bounds: Vec<(f64, f64)> = Vec::new();
    let mut trees: Vec<Tree> = Vec::new();
    for nodes in json["trees"].as_array().unwrap().iter().take(n_trees) {
        let mut n_leaves = 0;
        let mut node = |node: &Value| {
            let entries: Vec<f64> = node.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            if let [value] = entries[..] {
                n_leaves += 1;
                return Node::Leaf { leaf: n_leaves - 1, value };
            }
            let (feature, threshold) = (entries[0] as usize, entries[1]);
            bounds.resize(bounds.len().max(feature + 1), (threshold, threshold));
            let (lower, upper) = &mut bounds[feature];
            (*lower, *upper) = (lower.min(threshold - 1.0), upper.max(threshold + 1.0));
            Node::Split {
                feature,
                rule: Rule::Threshold(threshold),
                left: entries[2] as usize,
                right: entries[3] as usize,
            }
        };
        trees.push(Tree { nodes: nodes.as_array().unwrap().iter().map(&mut node).collect() });
    }
    let domains: Vec<Domain> =
        bounds.iter().map(|&(lower, upper)| Domain::Continuous { lower, upper }).collect();
    let forest = Forest::new(trees, &domains).unwrap();
    let scale = if json["combine"] == "mean" { -1.0 / n_trees as f64 } else { -1.0 };
    let mut linear = vec![0.0; forest.n_leaves()];
    for (t, tree) in forest.trees().iter().enumerate() {
        for node in &tree.nodes {
            if let Node::Leaf { leaf, value } = node {
                linear[forest.leaf_offset(t) + leaf] = scale * value;
            }
        }
    }
    PublicEnsemble { domains, forest, objective: LeafObjective { constant: 0.0, linear, quadratic: None } }
}
