//! Fitted tree ensembles as plain data, checked once on entry.

use leafgp_constraints::{Domain, LevelSet, Range, Region};

/// The question a split asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `x <= threshold` goes left.
    Threshold(f64),
    /// Levels in the set go left; a level beyond it goes right.
    Levels(LevelSet),
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An inner node.
    Split {
        /// Index of the variable asked.
        feature: usize,
        /// Which values go left.
        rule: Rule,
        /// Node index of the left child.
        left: usize,
        /// Node index of the right child.
        right: usize,
    },
    /// An end node.
    Leaf {
        /// Number of the leaf within its tree, `0..n_leaves`.
        leaf: usize,
        /// The tree's own prediction there.
        value: f64,
    },
}

/// One tree; node 0 is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes, in any order after the root.
    pub nodes: Vec<Node>,
}

/// Why a forest was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestError {
    /// A node is malformed.
    #[error("tree {tree}, node {node}: {problem}")]
    Node {
        /// Tree index, from 0.
        tree: usize,
        /// Node index within the tree, from 0.
        node: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A tree as a whole is malformed.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// Tree index, from 0.
        tree: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
}

impl Tree {
    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::Leaf { .. })).count()
    }

    /// The number (within the tree) and value of the leaf in which `x` ends.
    pub fn leaf_of(&self, x: &[f64]) -> (usize, f64) {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Leaf { leaf, value } => return (*leaf, *value),
                Node::Split { feature, rule, left, right } => {
                    at = if rule.goes_left(x[*feature]) { *left } else { *right };
                }
            }
        }
    }
}

impl Tree {
    /// Checks that every split fits the domains; says what does not.
    pub(crate) fn check_domains(&self, domains: &[Domain]) -> Result<(), String> {
        for (index, node) in self.nodes.iter().enumerate() {
            if let Node::Split { feature, rule, .. } = node {
                let fits = match (rule, domains.get(*feature)) {
                    (_, None) => false,
                    (Rule::Threshold(_), Some(domain)) => !domain.is_categorical(),
                    (Rule::Levels(set), Some(domain)) => domain.levels() == Some(set.capacity()),
                };
                if !fits {
                    return Err(format!("node {index} does not fit variable {feature}"));
                }
            }
        }
        Ok(())
    }
}

impl Rule {
    /// Whether the value (or level index) goes left.
    pub fn goes_left(&self, x: f64) -> bool {
        match self {
            Self::Threshold(threshold) => x <= *threshold,
            Self::Levels(set) => x >= 0.0 && set.contains(x as usize),
        }
    }
}

/// An ensemble of checked trees: every tree is a proper binary tree whose splits fit the variables' domains.
///
/// ```
/// use leafgp_solver::{Domain, Forest, Node, Rule, Tree};
///
/// let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
/// let split = Node::Split { feature: 0, rule: Rule::Threshold(0.5), left: 1, right: 2 };
/// let nodes = vec![split, Node::Leaf { leaf: 0, value: -1.0 }, Node::Leaf { leaf: 1, value: 2.0 }];
/// let forest = Forest::new(vec![Tree { nodes }], &domains)?;
/// assert_eq!((forest.predict(&[0.5]), forest.predict(&[0.7])), (-1.0, 2.0));
/// assert_eq!(forest.active_leaves(&[0.7]), [1]);
/// // The cell of a point: the largest box with its leaves.
/// assert!(forest.cell(&domains, &[0.7]).contains(&[1.0]) && !forest.cell(&domains, &[0.7]).contains(&[0.5]));
/// # Ok::<(), leafgp_solver::ForestError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    trees: Vec<Tree>,
    leaf_offsets: Vec<usize>,
}

impl Forest {
    /// Checks the trees against the domains.
    ///
    /// # Errors
    /// A missing child, a cycle or a node reached twice, an unreachable node, a feature index too large, a NaN threshold, a threshold on a
    /// category or levels on a number, leaf numbers that are not `0..n_leaves` in some order, a value that is not finite.
    pub fn new(trees: Vec<Tree>, domains: &[Domain]) -> Result<Self, ForestError> {
        let mut leaf_offsets = Vec::with_capacity(trees.len() + 1);
        leaf_offsets.push(0);
        for (index, tree) in trees.iter().enumerate() {
            let n_leaves = check_tree(index, tree, domains)?;
            leaf_offsets.push(leaf_offsets[index] + n_leaves);
        }
        Ok(Self { trees, leaf_offsets })
    }

    /// The trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of leaves over all trees.
    pub fn n_leaves(&self) -> usize {
        self.leaf_offsets[self.trees.len()]
    }

    /// Number of leaves before tree `tree`: its leaf `l` is leaf `leaf_offset(tree) + l` of the forest.
    pub fn leaf_offset(&self, tree: usize) -> usize {
        self.leaf_offsets[tree]
    }

    /// The active leaf of each tree at `x`, in the forest's numbering, shape `[n_trees]`.
    pub fn active_leaves(&self, x: &[f64]) -> Vec<usize> {
        self.trees.iter().zip(&self.leaf_offsets).map(|(tree, offset)| offset + tree.leaf_of(x).0).collect()
    }

    /// The cell of `x`: the largest box around it in which every tree keeps its leaf, within the domains. Points outside the domains have the
    /// cell that their leaves span, which may be empty.
    pub fn cell(&self, domains: &[Domain], x: &[f64]) -> Region {
        self.cell_of_first(self.trees.len(), domains, x)
    }

    /// The same of the first `n_trees` trees.
    pub(crate) fn cell_of_first(&self, n_trees: usize, domains: &[Domain], x: &[f64]) -> Region {
        let mut cell = Region::full(domains);
        for tree in &self.trees[..n_trees] {
            let mut at = 0;
            while let Node::Split { feature, rule, left, right } = &tree.nodes[at] {
                let goes_left = rule.goes_left(x[*feature]);
                match (&mut cell.0[*feature], rule) {
                    (Range::Interval { upper, .. }, Rule::Threshold(t)) if goes_left => {
                        *upper = upper.min(*t);
                    }
                    (Range::Interval { lower, .. }, Rule::Threshold(t)) => *lower = lower.max(t.next_up()),
                    (Range::Levels(levels), Rule::Levels(set)) => {
                        levels.intersect_with(&if goes_left { set.clone() } else { set.complement() });
                    }
                    (Range::Interval { .. }, Rule::Levels(_)) | (Range::Levels(_), Rule::Threshold(_)) => {
                        unreachable!("Forest::new refuses rules that do not fit the domain")
                    }
                }
                at = if goes_left { *left } else { *right };
            }
        }
        cell
    }

    /// Sum of the trees' own values at `x`.
    pub fn predict(&self, x: &[f64]) -> f64 {
        self.trees.iter().map(|tree| tree.leaf_of(x).1).sum()
    }
}

/// Walks one tree from the root; returns its number of leaves.
fn check_tree(index: usize, tree: &Tree, domains: &[Domain]) -> Result<usize, ForestError> {
    let n_nodes = tree.nodes.len();
    let whole = |problem: String| ForestError::Tree { tree: index, problem };
    if n_nodes == 0 {
        return Err(whole("has no nodes; expected at least a leaf".into()));
    }
    let mut seen = vec![false; n_nodes];
    let mut leaf_seen = vec![false; tree.n_leaves()];
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        let wrong = |problem: String| ForestError::Node { tree: index, node: at, problem };
        if std::mem::replace(&mut seen[at], true) {
            return Err(wrong("is reached twice: the nodes form a cycle or share a child".into()));
        }
        match &tree.nodes[at] {
            Node::Leaf { leaf, value } => {
                if !value.is_finite() {
                    return Err(wrong(format!("has the value {value}; expected a finite number")));
                }
                match leaf_seen.get_mut(*leaf) {
                    None => {
                        return Err(wrong(format!(
                            "has leaf number {leaf}; the tree has {} leaves",
                            leaf_seen.len()
                        )));
                    }
                    Some(true) => return Err(wrong(format!("repeats leaf number {leaf}"))),
                    Some(slot) => *slot = true,
                }
            }
            Node::Split { feature, rule, left, right } => {
                let Some(domain) = domains.get(*feature) else {
                    return Err(wrong(format!(
                        "asks feature {feature}; there are {} variables",
                        domains.len()
                    )));
                };
                match (rule, domain) {
                    (Rule::Threshold(t), _) if t.is_nan() => return Err(wrong("has a NaN threshold".into())),
                    (Rule::Threshold(_), Domain::Categorical { .. }) => {
                        return Err(wrong(format!(
                            "puts a threshold on feature {feature}, which is categorical"
                        )));
                    }
                    (Rule::Levels(set), Domain::Categorical { levels }) if set.capacity() != *levels => {
                        return Err(wrong(format!(
                            "has a set of {} levels; feature {feature} has {levels}",
                            set.capacity()
                        )));
                    }
                    (Rule::Levels(_), d) if !d.is_categorical() => {
                        return Err(wrong(format!(
                            "lists categories of feature {feature}, which is a number"
                        )));
                    }
                    _ => {}
                }
                for child in [*left, *right] {
                    if child >= n_nodes {
                        return Err(wrong(format!("has the child {child}; the tree has {n_nodes} nodes")));
                    }
                    stack.push(child);
                }
            }
        }
    }
    match seen.iter().position(|reached| !reached) {
        Some(node) => {
            Err(ForestError::Node { tree: index, node, problem: "cannot be reached from the root".into() })
        }
        None => Ok(leaf_seen.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Forest, Node, Rule, Tree};
    use crate::{Domain, LevelSet, Range};

    fn split(feature: usize, rule: Rule, left: usize, right: usize) -> Node {
        Node::Split { feature, rule, left, right }
    }

    fn leaf(leaf: usize, value: f64) -> Node {
        Node::Leaf { leaf, value }
    }

    fn domains() -> Vec<Domain> {
        vec![Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }]
    }

    #[test]
    fn a_tie_with_the_threshold_goes_left_and_unlisted_levels_go_right() {
        let tree = Tree {
            nodes: vec![
                split(0, Rule::Threshold(0.5), 1, 2),
                leaf(0, 1.0),
                split(1, Rule::Levels(LevelSet::from_indices(3, [1])), 3, 4),
                leaf(1, 2.0),
                leaf(2, 4.0),
            ],
        };
        let forest = Forest::new(vec![tree.clone(), tree], &domains()).unwrap();
        assert_eq!(forest.active_leaves(&[0.5, 0.0]), [0, 3]);
        assert_eq!(forest.active_leaves(&[0.5f64.next_up(), 1.0]), [1, 4]);
        assert_eq!(forest.predict(&[0.9, 2.0]), 8.0);
        let cell = forest.cell(&domains(), &[0.9, 2.0]);
        assert_eq!(cell.0[0], Range::Interval { lower: 0.5f64.next_up(), upper: 1.0 });
        assert_eq!(cell.0[1], Range::Levels(LevelSet::from_indices(3, [0, 2])));
        assert_eq!((forest.n_leaves(), forest.leaf_offset(1)), (6, 3));
    }

    #[test]
    fn each_malformed_tree_is_refused_with_its_reason() {
        let threshold = || Rule::Threshold(0.5);
        let cases: Vec<(Vec<Node>, &str)> = vec![
            (vec![], "no nodes"),
            (vec![split(0, threshold(), 1, 5), leaf(0, 0.0)], "has the child 5"),
            (vec![split(0, threshold(), 1, 0), leaf(0, 0.0)], "reached twice"),
            (vec![split(7, threshold(), 1, 2), leaf(0, 0.0), leaf(1, 0.0)], "asks feature 7"),
            (vec![split(0, Rule::Threshold(f64::NAN), 1, 2), leaf(0, 0.0), leaf(1, 0.0)], "NaN threshold"),
            (vec![split(1, threshold(), 1, 2), leaf(0, 0.0), leaf(1, 0.0)], "is categorical"),
            (
                vec![split(0, Rule::Levels(LevelSet::empty(3)), 1, 2), leaf(0, 0.0), leaf(1, 0.0)],
                "is a number",
            ),
            (vec![split(0, threshold(), 1, 2), leaf(0, 0.0), leaf(2, 0.0)], "leaf number 2"),
            (vec![split(0, threshold(), 1, 2), leaf(0, 0.0), leaf(0, 0.0)], "repeats leaf number 0"),
            (vec![leaf(0, f64::INFINITY)], "finite"),
            (vec![leaf(0, 0.0), leaf(1, 0.0)], "cannot be reached"),
        ];
        for (nodes, expected) in cases {
            let error = Forest::new(vec![Tree { nodes }], &domains()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} should mention {expected:?}");
        }
    }
}
