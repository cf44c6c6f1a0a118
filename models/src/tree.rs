//! One tree with the exact questions of its library.

use std::sync::Arc;

use leafgp_constraints::LevelSet;

/// Which values go left. Values are f64 as the user gives them: the library's own rounding is part of the numbers below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    /// `x <= threshold` goes left.
    Threshold(f64),
    /// The pieces between the cuts, strictly ascending, go to alternate sides: piece `k` is `(cuts[k - 1], cuts[k]]`.
    Pieces { cuts: Vec<f64>, first_left: bool },
    /// A category's code (cut to a whole number) in the list goes to one side, every other code to the other.
    Codes { listed: Arc<LevelSet>, listed_left: bool },
}

/// The code that a number stands for: its whole part; `None` below zero.
pub(crate) fn code_of(x: f64) -> Option<usize> {
    let whole = x.trunc();
    // Codes beyond every set: the cast saturates.
    (whole >= 0.0).then_some(whole as usize)
}

impl Rule {
    /// Left or right, for a value that is not missing.
    pub(crate) fn goes_left(&self, x: f64) -> bool {
        match self {
            Self::Threshold(threshold) => x <= *threshold,
            Self::Pieces { cuts, first_left } => {
                let piece = cuts.partition_point(|&cut| cut < x);
                piece.is_multiple_of(2) == *first_left
            }
            Self::Codes { listed, listed_left } => {
                code_of(x).is_some_and(|code| listed.contains(code)) == *listed_left
            }
        }
    }

    /// What is wrong with the numbers, if anything.
    fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Threshold(t) => t.is_nan().then_some("has a NaN threshold"),
            Self::Pieces { cuts, .. } => (!cuts.windows(2).all(|w| w[0] < w[1])
                || cuts.iter().any(|cut| cut.is_nan()))
            .then_some("has thresholds that are NaN or not ascending"),
            Self::Codes { .. } => None,
        }
    }

    pub(crate) fn is_categorical(&self) -> bool {
        matches!(self, Self::Codes { .. })
    }
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// `gain` is what the training gained by the split, where the file says so; else 0.
    Split {
        feature: usize,
        rule: Rule,
        missing_left: bool,
        left: usize,
        right: usize,
        gain: f64,
    },
    Leaf(f64),
}

/// A checked tree: every node that the root reaches exists and is reached once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Factor of the tree's values in the sum (dart's weights); 1 for most.
    weight: f64,
}

/// What to make of nodes that the root does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreached {
    /// They are a mistake.
    Refused,
    /// Pruning left them behind.
    Ignored,
}

/// The nodes that the root reaches, numbered anew: the others were not checked, and may hold anything.
fn reached(nodes: Vec<Node>, seen: &[bool]) -> Vec<Node> {
    let mut next = 0;
    let number: Vec<usize> = seen
        .iter()
        .map(|&seen| {
            next += usize::from(seen);
            next - usize::from(seen)
        })
        .collect();
    let mut kept: Vec<Node> =
        nodes.into_iter().zip(seen).filter(|(_, seen)| **seen).map(|(node, _)| node).collect();
    for node in &mut kept {
        if let Node::Split { left, right, .. } = node {
            (*left, *right) = (number[*left], number[*right]);
        }
    }
    kept
}

impl Tree {
    /// Checks the nodes; node 0 is the root.
    ///
    /// # Errors
    /// Says which node is wrong: a child out of range, a cycle or a shared child, a feature out of range, a NaN threshold, a value that is not
    /// finite.
    pub(crate) fn new(
        nodes: Vec<Node>,
        weight: f64,
        n_features: usize,
        unreached: Unreached,
    ) -> Result<Self, String> {
        if nodes.is_empty() {
            return Err("has no nodes".into());
        }
        if !weight.is_finite() {
            return Err(format!("has the weight {weight}; expected a finite number"));
        }
        let mut seen = vec![false; nodes.len()];
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut seen[at], true) {
                return Err(format!("node {at} is reached twice: the nodes form a cycle or share a child"));
            }
            match &nodes[at] {
                Node::Leaf(value) if !value.is_finite() => {
                    return Err(format!("node {at} has the value {value}; expected a finite number"));
                }
                Node::Leaf(_) => {}
                Node::Split { feature, rule, left, right, .. } => {
                    if *feature >= n_features {
                        return Err(format!("node {at} asks feature {feature}; the model has {n_features}"));
                    }
                    if let Some(problem) = rule.problem() {
                        return Err(format!("node {at} {problem}"));
                    }
                    for child in [*left, *right] {
                        if child >= nodes.len() {
                            return Err(format!(
                                "node {at} has the child {child}; the tree has {} nodes",
                                nodes.len()
                            ));
                        }
                        stack.push(child);
                    }
                }
            }
        }
        match seen.iter().position(|reached| !reached) {
            Some(node) if unreached == Unreached::Refused => {
                Err(format!("node {node} cannot be reached from the root"))
            }
            Some(_) => Ok(Self { nodes: reached(nodes, &seen), weight }),
            None => Ok(Self { nodes, weight }),
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// The value of the leaf in which the point ends, without the weight. NaN is a missing value.
    pub(crate) fn leaf_value(&self, x: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Leaf(value) => return *value,
                Node::Split { feature, rule, missing_left, left, right, .. } => {
                    let x = x[*feature];
                    let goes_left = if x.is_nan() { *missing_left } else { rule.goes_left(x) };
                    at = if goes_left { *left } else { *right };
                }
            }
        }
    }

    /// Feature and gain of each split that the root reaches.
    pub(crate) fn gains(&self) -> Vec<(usize, f64)> {
        let (mut gains, mut stack) = (Vec::new(), vec![0]);
        while let Some(at) = stack.pop() {
            if let Node::Split { feature, left, right, gain, .. } = &self.nodes[at] {
                gains.push((*feature, *gain));
                stack.extend([*left, *right]);
            }
        }
        gains
    }

    /// Largest size of a leaf's share in the sum.
    pub(crate) fn largest_share(&self) -> f64 {
        let size = |node: &Node| match node {
            Node::Leaf(value) => (value * self.weight).abs(),
            Node::Split { .. } => 0.0,
        };
        self.nodes.iter().map(size).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Rule, Tree, Unreached};
    use leafgp_constraints::LevelSet;

    /// What pruning left behind may ask features that do not exist, and is no part of the tree.
    #[test]
    fn nodes_that_nothing_reaches_are_left_out() {
        let split = |feature, left, right| Node::Split {
            feature,
            rule: Rule::Threshold(0.5),
            missing_left: true,
            left,
            right,
            gain: 0.0,
        };
        let nodes =
            vec![split(0, 2, 4), split(11_008, 3, 3), Node::Leaf(1.0), Node::Leaf(f64::NAN), Node::Leaf(2.0)];
        let tree = Tree::new(nodes, 1.0, 1, Unreached::Ignored).unwrap();
        assert_eq!(tree.nodes(), [split(0, 1, 2), Node::Leaf(1.0), Node::Leaf(2.0)]);
        assert_eq!((tree.leaf_value(&[0.0]), tree.leaf_value(&[1.0])), (1.0, 2.0));
    }

    #[test]
    fn pieces_alternate_and_their_upper_ends_belong_to_them() {
        let rule = Rule::Pieces { cuts: vec![-1.0, 1.0, 5.0], first_left: true };
        let sides: Vec<bool> =
            [-2.0, -1.0, -0.9, 1.0, 1.1, 5.0, 5.1].into_iter().map(|x| rule.goes_left(x)).collect();
        assert_eq!(sides, [true, true, false, false, true, true, false]);
    }

    #[test]
    fn codes_are_cut_to_whole_numbers_and_negative_ones_are_unlisted() {
        let rule = Rule::Codes { listed: LevelSet::from_indices(4, [1, 3]).into(), listed_left: false };
        let sides: Vec<bool> =
            [0.0, 1.0, 1.9, 3.0, 4.0, 1e300, -1.0].into_iter().map(|x| rule.goes_left(x)).collect();
        assert_eq!(sides, [true, false, false, false, true, true, true]);
    }

    #[test]
    fn a_damaged_tree_is_refused_with_its_node() {
        let split = |threshold, left, right| Node::Split {
            feature: 0,
            rule: Rule::Threshold(threshold),
            missing_left: true,
            left,
            right,
            gain: 0.0,
        };
        let cases = [
            (vec![], "no nodes"),
            (vec![split(0.5, 1, 7), Node::Leaf(0.0)], "child 7"),
            (vec![split(0.5, 1, 0), Node::Leaf(0.0)], "reached twice"),
            (vec![split(0.5, 1, 1), Node::Leaf(0.0)], "reached twice"),
            (vec![split(f64::NAN, 1, 2), Node::Leaf(0.0), Node::Leaf(1.0)], "NaN threshold"),
            (vec![Node::Leaf(f64::NAN)], "the value NaN"),
            (vec![Node::Leaf(0.0), Node::Leaf(0.0)], "cannot be reached"),
        ];
        for (nodes, expected) in cases {
            let problem = Tree::new(nodes, 1.0, 1, Unreached::Refused).unwrap_err();
            assert!(problem.contains(expected), "{problem:?} should contain {expected:?}");
        }
        let one_feature =
            Tree::new(vec![split(0.5, 1, 2), Node::Leaf(0.0), Node::Leaf(1.0)], 1.0, 0, Unreached::Refused);
        assert!(one_feature.unwrap_err().contains("asks feature 0"));
        assert!(Tree::new(vec![Node::Leaf(0.0); 2], 1.0, 0, Unreached::Ignored).is_ok());
    }
}
