//! The one-hot leaf vectors of the training points, stored as leaf numbers.

use leafgp_solver::{Forest, Node};
use rayon::prelude::*;

use super::GpError;
use crate::Table;

/// Fewer rows than this are not worth waking another thread.
const ROWS_A_TASK: usize = 2048;

/// The leaves in which the training points end: row `i` of the 0/1 matrix `Z` has a one in column `offsets[t] + leaf[i][t]` for each tree
/// `t`. Trees with a single leaf say nothing about where points differ and are left out.
///
/// Points with equal rows of `Z` are one *group*: the kernel cannot tell them apart.
#[derive(Clone, Debug)]
pub(super) struct LeafMatrix {
    /// Number of training points.
    pub(super) n_rows: usize,
    /// First column of each tree that counts, and the number of columns at the end; shape `[n_trees + 1]`.
    pub(super) offsets: Vec<usize>,
    /// For each column the leaf's number in the forest, shape `[n_columns]`.
    pub(super) forest_leaf: Vec<usize>,
    /// Leaf number within the tree of each group, row-major `[n_groups, n_trees]`.
    pub(super) leaves: Vec<u32>,
    /// Number of points of each group, shape `[n_groups]`.
    pub(super) counts: Vec<u32>,
    /// Group of each point, shape `[n_rows]`.
    pub(super) group_of: Vec<u32>,
}

impl LeafMatrix {
    /// Sends every point down every tree and gathers the groups.
    ///
    /// # Errors
    /// A coordinate that is not finite, or a split on a column the points do not have.
    pub(super) fn new(forest: &Forest, x: &Table) -> Result<Self, GpError> {
        check_points(forest, x)?;
        let kept: Vec<usize> = (0..forest.n_trees()).filter(|&t| n_leaves(forest, t) > 1).collect();
        let mut offsets = vec![0];
        let mut forest_leaf = Vec::new();
        for &tree in &kept {
            let first = forest.leaf_offset(tree);
            forest_leaf.extend(first..first + n_leaves(forest, tree));
            offsets.push(forest_leaf.len());
        }
        let n_trees = kept.len();
        let n_rows = x.n_rows();
        let mut of_point = vec![0u32; n_rows * n_trees];
        if n_trees > 0 {
            let send = |(i, leaves): (usize, &mut [u32])| {
                let point = x.row(i);
                for (slot, &tree) in leaves.iter_mut().zip(&kept) {
                    *slot = forest.trees()[tree].leaf_of(point).0 as u32;
                }
            };
            // One task needs no pool, whose threads would be started for it.
            if n_rows <= ROWS_A_TASK {
                of_point.chunks_mut(n_trees).enumerate().for_each(send);
            } else {
                of_point.par_chunks_mut(n_trees).with_min_len(ROWS_A_TASK).enumerate().for_each(send);
            }
        }
        let (group_of, counts, leaves) = group_rows(n_rows, n_trees, &of_point);
        Ok(Self { n_rows, offsets, forest_leaf, leaves, counts, group_of })
    }

    /// Number of trees that count, `T`.
    pub(super) fn n_trees(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns of `Z`: the leaves of the trees that count.
    pub(super) fn n_columns(&self) -> usize {
        self.forest_leaf.len()
    }

    /// Number of groups, the distinct rows of `Z`.
    pub(super) fn n_groups(&self) -> usize {
        self.counts.len()
    }

    /// Leaf numbers of group `g`, shape `[n_trees]`.
    pub(super) fn group(&self, g: usize) -> &[u32] {
        &self.leaves[g * self.n_trees()..(g + 1) * self.n_trees()]
    }

    /// The columns in which the row of group `g` has its ones.
    pub(super) fn columns(&self, g: usize) -> impl Iterator<Item = usize> + '_ {
        self.group(g).iter().zip(&self.offsets).map(|(&leaf, offset)| offset + leaf as usize)
    }

    /// Number of points in each leaf, shape `[n_columns]`.
    pub(super) fn points_per_column(&self) -> Vec<u32> {
        let mut points = vec![0; self.n_columns()];
        for g in 0..self.n_groups() {
            for column in self.columns(g) {
                points[column] += self.counts[g];
            }
        }
        points
    }

    /// Sums a quantity of the points over each group, shape `[n_groups]`.
    pub(super) fn group_sums(&self, of_point: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_groups()];
        for (&g, value) in self.group_of.iter().zip(of_point) {
            sums[g as usize] += value;
        }
        sums
    }
}

fn n_leaves(forest: &Forest, tree: usize) -> usize {
    forest.leaf_offset(tree + 1) - forest.leaf_offset(tree)
}

fn check_points(forest: &Forest, x: &Table) -> Result<(), GpError> {
    for (tree, t) in forest.trees().iter().enumerate() {
        for (node, n) in t.nodes.iter().enumerate() {
            match n {
                Node::Split { feature, .. } if *feature >= x.n_cols() => {
                    return Err(GpError::Columns { columns: x.n_cols(), tree, node, feature: *feature });
                }
                _ => {}
            }
        }
    }
    for (row, point) in x.rows().enumerate() {
        if let Some(column) = point.iter().position(|v| !v.is_finite()) {
            return Err(GpError::Point { row, column, value: point[column] });
        }
    }
    Ok(())
}

/// Group of each row, size of each group and its leaves; groups in lexicographic order of their leaves.
fn group_rows(n_rows: usize, n_trees: usize, leaves: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let row = |i: u32| &leaves[i as usize * n_trees..(i as usize + 1) * n_trees];
    let mut order: Vec<u32> = (0..n_rows as u32).collect();
    order.sort_unstable_by(|&i, &j| row(i).cmp(row(j)).then(i.cmp(&j)));
    let mut group_of = vec![0; n_rows];
    let mut counts: Vec<u32> = Vec::new();
    let mut distinct: Vec<u32> = Vec::new();
    let mut previous: Option<u32> = None;
    for &i in &order {
        match (previous, counts.last_mut()) {
            (Some(p), Some(count)) if row(p) == row(i) => *count += 1,
            _ => {
                counts.push(1);
                distinct.extend_from_slice(row(i));
            }
        }
        group_of[i as usize] = counts.len() as u32 - 1;
        previous = Some(i);
    }
    (group_of, counts, distinct)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::{Domain, Forest, Node, Rule, Tree};

    use super::LeafMatrix;
    use crate::Table;
    use crate::gp::GpError;

    fn stump(threshold: f64) -> Tree {
        Tree {
            nodes: vec![
                Node::Split { feature: 0, rule: Rule::Threshold(threshold), left: 1, right: 2 },
                Node::Leaf { leaf: 0, value: 0.0 },
                Node::Leaf { leaf: 1, value: 0.0 },
            ],
        }
    }

    fn forest() -> Forest {
        let single = Tree { nodes: vec![Node::Leaf { leaf: 0, value: 3.0 }] };
        let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
        Forest::new(vec![stump(0.5), single, stump(0.2)], &domains).unwrap()
    }

    #[test]
    fn single_leaf_trees_are_dropped_and_equal_rows_share_a_group() {
        let x = Table::from_rows(1, &[[0.9], [0.1], [0.3], [0.95]]);
        let z = LeafMatrix::new(&forest(), &x).unwrap();
        assert_eq!((z.n_trees(), z.n_columns(), z.n_groups()), (2, 4, 3));
        assert_eq!(z.forest_leaf, [0, 1, 3, 4]);
        assert_eq!(z.group_of, [2, 0, 1, 2]);
        assert_eq!(z.counts, [1, 1, 2]);
        assert_eq!(z.columns(1).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(z.points_per_column(), [2, 2, 1, 3]);
        assert_eq!(z.group_sums(&[1.0, 2.0, 4.0, 8.0]), [2.0, 4.0, 9.0]);
    }

    #[test]
    fn without_splits_all_points_are_one_group() {
        let forest = Forest::new(vec![], &[]).unwrap();
        let z = LeafMatrix::new(&forest, &Table::from_rows(2, &[[0.0, 1.0], [1.0, 0.0]])).unwrap();
        assert_eq!((z.n_trees(), z.n_columns(), z.n_groups()), (0, 0, 1));
        let none = LeafMatrix::new(&forest, &Table::new(2)).unwrap();
        assert_eq!(none.n_groups(), 0);
    }

    #[test]
    fn bad_points_are_named() {
        let nan = Table::from_rows(1, &[[0.1], [f64::NAN]]);
        assert!(matches!(LeafMatrix::new(&forest(), &nan), Err(GpError::Point { row: 1, column: 0, .. })));
        let narrow = LeafMatrix::new(&forest(), &Table::new(0)).unwrap_err();
        assert_eq!(narrow, GpError::Columns { columns: 0, tree: 0, node: 0, feature: 0 });
    }
}
