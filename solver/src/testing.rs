//! Small forests for unit tests.

use crate::{Domain, Forest, LeafObjective, Node, Quadratic, Rule, Tree};

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

/// An objective on `n` leaves whose deviation, with vectors of eight numbers, is maximised.
pub(crate) fn wavy_objective(n: usize) -> LeafObjective {
    let factor = (0..n * 8).map(|k| wave(k + 5) / 30.0).collect();
    let quadratic = Quadratic { kappa: 2.0, prior_variance: 1.0, dim: 8, factor, remainder: None };
    let linear = (0..n).map(|k| wave(3 * k)).collect();
    LeafObjective { constant: 0.0, linear, quadratic: Some(quadratic) }
}

/// Numbers in `[-0.5, 0.5)` without a pattern that matters.
pub(crate) fn wave(k: usize) -> f64 {
    ((k * 7919) % 1013) as f64 / 1013.0 - 0.5
}
