//! Small forests for unit tests.

use crate::{Domain, Forest, Node, Rule, Tree};

/// Trees of four leaves on `[0, 1]^n`, whose thresholds lie 0.44 of a step above its multiples, each tree on its own variables.
pub(crate) fn crossing_trees(n_trees: usize, n_variables: usize, steps: usize) -> (Vec<Domain>, Forest) {
    let domains = vec![Domain::Continuous { lower: 0.0, upper: 1.0 }; n_variables];
    let tree = |t: usize| {
        let split = |k: usize, left, right| Node::Split {
            feature: (t + k) % n_variables,
            rule: Rule::Threshold((((t * 5 + k * 3) % steps) as f64 + 0.44) / steps as f64),
            left,
            right,
        };
        let leaf = |leaf| Node::Leaf { leaf, value: 0.0 };
        Tree {
            nodes: vec![split(0, 1, 4), split(1, 2, 3), leaf(0), leaf(1), split(2, 5, 6), leaf(2), leaf(3)],
        }
    };
    let forest = Forest::new((0..n_trees).map(tree).collect(), &domains).unwrap();
    (domains, forest)
}

/// Numbers in `[-0.5, 0.5)` without a pattern that matters.
pub(crate) fn wave(k: usize) -> f64 {
    ((k * 7919) % 1013) as f64 / 1013.0 - 0.5
}
