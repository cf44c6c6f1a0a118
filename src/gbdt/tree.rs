//! Decision trees as the trainer grows and LightGBM saves them: with gains, counts and a direction for missing values.

use leafgp_solver::{LevelSet, Node, Rule, Tree};
use smallvec::{SmallVec, smallvec};

/// Values of at most this magnitude count as zero (LightGBM's constant, part of its file format).
pub(super) const ZERO_THRESHOLD: f64 = 1e-35_f32 as f64;

/// Which values of a feature count as missing at a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingType {
    /// None; a NaN is read as zero.
    None,
    /// Zero and NaN.
    Zero,
    /// NaN.
    Nan,
}

/// The question a split asks.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitRule {
    /// `x <= threshold` goes left.
    Threshold {
        /// The largest value that goes left.
        threshold: f64,
        /// Which values are missing.
        missing: MissingType,
        /// Whether missing values go left.
        default_left: bool,
    },
    /// Levels in the set go left; other levels, negative numbers and NaN go right.
    Levels(LevelSet),
}

impl SplitRule {
    /// Whether the value (or level index) goes left.
    pub fn goes_left(&self, x: f64) -> bool {
        match self {
            Self::Threshold { threshold, missing, default_left } => {
                let x = if x.is_nan() && *missing != MissingType::Nan { 0.0 } else { x };
                let is_missing = match missing {
                    MissingType::None => false,
                    MissingType::Zero => x.abs() <= ZERO_THRESHOLD,
                    MissingType::Nan => x.is_nan(),
                };
                if is_missing { *default_left } else { x <= *threshold }
            }
            // A number is truncated towards zero, as LightGBM does; NaN becomes 0 under `as` and is excluded first.
            Self::Levels(set) => !x.is_nan() && x > -1.0 && set.contains(x as usize),
        }
    }
}

/// Where a branch leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Index into [`DecisionTree::splits`].
    Split(usize),
    /// Index into [`DecisionTree::leaves`].
    Leaf(usize),
}

/// An inner node.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitNode {
    /// Index of the feature asked.
    pub feature: usize,
    /// Which values go left.
    pub rule: SplitRule,
    /// The left branch.
    pub left: Child,
    /// The right branch.
    pub right: Child,
    /// Loss reduction of the split (twice the loss's units).
    pub gain: f64,
    /// The value the node would have as a leaf.
    pub value: f64,
    /// Sum of second derivatives in the node.
    pub weight: f64,
    /// Number of training rows in the node.
    pub count: usize,
}

/// An end node.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafNode {
    /// The tree's prediction there, learning rate included.
    pub value: f64,
    /// Sum of second derivatives in the leaf.
    pub weight: f64,
    /// Number of training rows in the leaf.
    pub count: usize,
}

/// One tree. Split 0 is the root unless the tree is a single leaf; children of a split come after it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTree {
    /// Inner nodes in the order in which they were made.
    pub splits: Vec<SplitNode>,
    /// Leaves; one more than splits. The left child of a split inherits its parent's leaf number, the right one gets the next.
    pub leaves: Vec<LeafNode>,
    /// Factor that was applied to the leaf values (LightGBM writes 1 for a first tree that carries the initial score).
    pub shrinkage: f64,
}

impl DecisionTree {
    /// A tree of one leaf.
    pub(super) fn constant(value: f64, count: usize, weight: f64) -> Self {
        Self { splits: Vec::new(), leaves: vec![LeafNode { value, weight, count }], shrinkage: 1.0 }
    }

    /// What is wrong with the shape of the tree, if anything: every split but the root and every leaf must be the child of exactly one
    /// earlier split, and every number finite.
    pub(super) fn problem(&self, n_features: usize) -> Option<String> {
        if self.leaves.len() != self.splits.len() + 1 {
            return Some(format!("{} leaves do not fit {} splits", self.leaves.len(), self.splits.len()));
        }
        let mut split_seen = vec![false; self.splits.len()];
        let mut leaf_seen = vec![self.splits.is_empty(); self.leaves.len()];
        for (index, split) in self.splits.iter().enumerate() {
            if split.feature >= n_features {
                return Some(format!("split {index} asks feature {}; there are {n_features}", split.feature));
            }
            if let SplitRule::Threshold { threshold, .. } = split.rule
                && threshold.is_nan()
            {
                return Some(format!("split {index} has a NaN threshold"));
            }
            for child in [split.left, split.right] {
                let slot = match child {
                    Child::Split(at) if at > index => split_seen.get_mut(at),
                    Child::Split(_) => None,
                    Child::Leaf(at) => leaf_seen.get_mut(at),
                };
                match slot {
                    Some(seen) if !*seen => *seen = true,
                    _ => {
                        return Some(format!(
                            "split {index} has the child {child:?}, missing or used before"
                        ));
                    }
                }
            }
        }
        let bad = self.leaves.iter().position(|leaf| !leaf.value.is_finite());
        bad.map(|leaf| format!("leaf {leaf} has the value {}", self.leaves[leaf].value))
    }

    /// Index of the leaf in which `x` ends; NaN follows the splits' missing directions.
    pub fn leaf_of(&self, x: &[f64]) -> usize {
        let mut at = if self.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return leaf,
                Child::Split(index) => {
                    let split = &self.splits[index];
                    at = if split.rule.goes_left(x[split.feature]) { split.left } else { split.right };
                }
            }
        }
    }

    /// The tree's prediction at `x`.
    pub fn predict(&self, x: &[f64]) -> f64 {
        self.leaves[self.leaf_of(x)].value
    }

    /// Whether every split treats every value by its rule alone.
    pub fn is_free_of_missing(&self) -> bool {
        self.splits.iter().all(|split| match split.rule {
            SplitRule::Threshold { missing, .. } => missing == MissingType::None,
            SplitRule::Levels(_) => true,
        })
    }

    /// The same tree for the solver: nodes depth first with the left branch first, leaf numbers unchanged, level sets
    /// widened or cut to the numbers of levels (`None` for a numeric feature). Missing directions are lost.
    pub(super) fn to_solver(&self, levels: &[Option<usize>]) -> Tree {
        let mut nodes = Vec::with_capacity(self.splits.len() + self.leaves.len());
        self.push_solver(
            if self.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) },
            levels,
            &mut nodes,
        );
        Tree { nodes }
    }

    fn push_solver(&self, root: Child, levels: &[Option<usize>], nodes: &mut Vec<Node>) {
        // Explicit stack: an unlimited depth must not overflow the thread's.
        let mut stack: SmallVec<[_; 16]> = smallvec![(root, None::<usize>)];
        while let Some((at, right_of)) = stack.pop() {
            let here = nodes.len();
            if let Some(parent) = right_of
                && let Node::Split { right, .. } = &mut nodes[parent]
            {
                *right = here;
            }
            match at {
                Child::Leaf(leaf) => nodes.push(Node::Leaf { leaf, value: self.leaves[leaf].value }),
                Child::Split(index) => {
                    let split = &self.splits[index];
                    let rule = match &split.rule {
                        SplitRule::Threshold { threshold, .. } => Rule::Threshold(*threshold),
                        SplitRule::Levels(set) => {
                            let capacity =
                                levels.get(split.feature).copied().flatten().unwrap_or(set.capacity());
                            Rule::Levels(LevelSet::from_indices(
                                capacity,
                                set.iter().filter(|&l| l < capacity),
                            ))
                        }
                    };
                    nodes.push(Node::Split { feature: split.feature, rule, left: here + 1, right: 0 });
                    stack.push((split.right, Some(here)));
                    stack.push((split.left, None));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Child, DecisionTree, LeafNode, MissingType, SplitNode, SplitRule};
    use leafgp_solver::{Domain, Forest, LevelSet};

    fn threshold(threshold: f64, missing: MissingType, default_left: bool) -> SplitRule {
        SplitRule::Threshold { threshold, missing, default_left }
    }

    #[test]
    fn missing_values_follow_their_own_direction() {
        let none = threshold(-1.0, MissingType::None, true);
        assert!(!none.goes_left(f64::NAN), "a NaN is read as 0 > -1");
        let nan = threshold(-1.0, MissingType::Nan, true);
        assert!(nan.goes_left(f64::NAN) && !nan.goes_left(0.0) && nan.goes_left(-1.0));
        let zero = threshold(-1.0, MissingType::Zero, true);
        assert!(
            zero.goes_left(0.0) && zero.goes_left(f64::NAN) && !zero.goes_left(0.5) && zero.goes_left(-2.0)
        );
        let levels = SplitRule::Levels(LevelSet::from_indices(4, [0, 2]));
        assert!(levels.goes_left(0.0) && levels.goes_left(2.0) && !levels.goes_left(1.0));
        assert!(!levels.goes_left(f64::NAN) && !levels.goes_left(-1.0) && !levels.goes_left(9.0));
    }

    #[test]
    fn the_solver_sees_the_same_leaves() {
        let leaf = |value| LeafNode { value, weight: 1.0, count: 1 };
        let split = |feature, rule, left, right| SplitNode {
            feature,
            rule,
            left,
            right,
            gain: 1.0,
            value: 0.0,
            weight: 2.0,
            count: 2,
        };
        let tree = DecisionTree {
            splits: vec![
                split(0, threshold(0.5, MissingType::None, true), Child::Split(1), Child::Split(2)),
                split(1, SplitRule::Levels(LevelSet::from_indices(2, [1])), Child::Leaf(0), Child::Leaf(2)),
                split(0, threshold(0.75, MissingType::None, true), Child::Leaf(1), Child::Leaf(3)),
            ],
            leaves: vec![leaf(1.0), leaf(2.0), leaf(3.0), leaf(4.0)],
            shrinkage: 1.0,
        };
        let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
        let forest = Forest::new(vec![tree.to_solver(&[None, Some(3)])], &domains).unwrap();
        for x0 in [0.0, 0.5, 0.6, 0.75, 0.9] {
            for x1 in [0.0, 1.0, 2.0] {
                let x = [x0, x1];
                assert_eq!(forest.active_leaves(&x), [tree.leaf_of(&x)]);
                assert_eq!(forest.predict(&x), tree.predict(&x));
            }
        }
        assert!(tree.is_free_of_missing());
    }
}
