//! One symmetric eigendecomposition from which likelihood, gradient and posterior follow for every choice of hyperparameters.

use faer::Mat;
use leafgp_solver::constraints::Limits;
use rayon::prelude::*;

use super::GpError;
use super::eigen::{Eigen, eigen};
use super::leaf_matrix::LeafMatrix;

/// The spectrum of `Z Z'` (`Z` the `[n_rows, n_columns]` leaf matrix) in the basis `u_k` of its eigenvectors with eigenvalue above 0, and
/// the data in that basis.
///
/// The rank is at most the number of distinct rows of `Z`, and at most leaves - trees + 1, because each tree's columns add up to ones.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// Eigenvalues above 0, descending, shape `[rank]`.
    pub(super) eigenvalues: Vec<f64>,
    /// `u_k' Z` for each column (leaf), row-major `[n_columns, rank]`.
    pub(super) loadings: Vec<f64>,
    /// `u_k' y`, shape `[rank]`.
    pub(super) targets: Vec<f64>,
    /// `u_k' 1`, shape `[rank]`. The vector of ones lies in the range of `Z`: nothing of it is left over.
    pub(super) ones: Vec<f64>,
    /// Squared length of the part of `y` outside the range of `Z`.
    pub(super) rest: f64,
    /// Number of training points.
    pub(super) n_rows: usize,
    /// Number of trees, above 0.
    pub(super) n_trees: usize,
}

impl Spectrum {
    /// The spectrum, from the smaller of the two matrices `Z Z'` (equal points gathered) and `Z' Z` (equal leaves gathered). The forest has
    /// a split and there is at least one point.
    pub(super) fn new(z: &LeafMatrix, y: &[f64], limits: &Limits) -> Result<Self, GpError> {
        let n_reached = z.points_per_column().iter().filter(|&&points| points > 0).count();
        if z.n_groups() <= n_reached {
            Self::from_points(z, y, limits)
        } else {
            Self::from_leaves(z, y, limits)
        }
    }

    /// From the kernel's Gram matrix over the groups of equal points: with `N` their sizes and `Z_d` their rows, `Z Z'` has the
    /// eigenvalues of `N^1/2 Z_d Z_d' N^1/2`.
    pub(super) fn from_points(z: &LeafMatrix, y: &[f64], limits: &Limits) -> Result<Self, GpError> {
        let n = z.n_groups();
        let root_count: Vec<f64> = z.counts.iter().map(|&c| f64::from(c).sqrt()).collect();
        let mut gram = Mat::<f64>::zeros(n, n);
        for j in 0..n {
            let leaves = z.group(j);
            let column = gram.col_as_slice_mut(j);
            for i in j..n {
                let shared: u32 = z.group(i).iter().zip(leaves).map(|(a, b)| u32::from(a == b)).sum();
                column[i] = f64::from(shared) * root_count[i] * root_count[j];
            }
        }
        let Eigen { values, vectors, rank } = eigen(gram, limits)?;

        let sums = z.group_sums(y);
        let mut targets = vec![0.0; n];
        let mut ones = vec![0.0; rank];
        for k in 0..n {
            let vector = vectors.col(n - 1 - k);
            for g in 0..n {
                targets[k] += vector[g] * sums[g] / root_count[g];
                if k < rank {
                    ones[k] += vector[g] * root_count[g];
                }
            }
        }
        let rest = within_groups(z, y, &sums) + targets[rank..].iter().map(|t| t * t).sum::<f64>();
        targets.truncate(rank);

        let mut loadings = vec![0.0; z.n_columns() * rank];
        let mut row = vec![0.0; rank];
        for g in 0..n {
            for (k, slot) in row.iter_mut().enumerate() {
                *slot = root_count[g] * vectors[(g, n - 1 - k)];
            }
            for column in z.columns(g) {
                let loading = &mut loadings[column * rank..(column + 1) * rank];
                for (slot, value) in loading.iter_mut().zip(&row) {
                    *slot += value;
                }
            }
        }
        let eigenvalues = values[..rank].to_vec();
        Ok(Self { eigenvalues, loadings, targets, ones, rest, n_rows: z.n_rows, n_trees: z.n_trees() })
    }

    /// From the co-occurrence matrix of the leaves, `G = Z' Z`, without any `[n_rows, n_rows]` matrix. Leaves that hold the same points
    /// are gathered: with `C` their numbers, the eigenvalues are those of `C^1/2 G_d C^1/2`.
    pub(super) fn from_leaves(z: &LeafMatrix, y: &[f64], limits: &Limits) -> Result<Self, GpError> {
        let n_columns = z.n_columns();
        let g = co_occurrence(z);
        let (class_of, first) = equal_leaves(&g, n_columns);
        let n = first.len();
        let mut multiplicity = vec![0.0f64; n];
        for class in class_of.iter().flatten() {
            multiplicity[*class] += 1.0;
        }
        let root: Vec<f64> = multiplicity.iter().map(|c| c.sqrt()).collect();
        let scaled = Mat::from_fn(n, n, |i, j| {
            if i < j { 0.0 } else { f64::from(g[first[j] * n_columns + first[i]]) * root[i] * root[j] }
        });
        drop(g);
        let Eigen { values, vectors, rank } = eigen(scaled, limits)?;

        let sums = z.group_sums(y);
        let mut sum_in = vec![0.0; n_columns];
        for (g, sum) in sums.iter().enumerate() {
            for column in z.columns(g) {
                sum_in[column] += sum;
            }
        }
        let points_in = z.points_per_column();
        let mut targets = vec![0.0; rank];
        let mut ones = vec![0.0; rank];
        for k in 0..rank {
            let vector = vectors.col(n - 1 - k);
            for (class, &column) in first.iter().enumerate() {
                let weight = vector[class] * root[class];
                targets[k] += weight * sum_in[column];
                ones[k] += weight * f64::from(points_in[column]);
            }
            targets[k] /= values[k].sqrt();
            ones[k] /= values[k].sqrt();
        }
        let mut loadings = vec![0.0; n_columns * rank];
        for (column, class) in class_of.iter().enumerate() {
            let Some(class) = *class else { continue };
            for k in 0..rank {
                loadings[column * rank + k] = values[k].sqrt() * vectors[(class, n - 1 - k)] / root[class];
            }
        }
        // The part of y inside the range of Z, as a sum over each point's leaves: its distance from y has no cancellation.
        let share: Vec<f64> = loadings
            .chunks_exact(rank)
            .map(|loading| (0..rank).map(|k| loading[k] * targets[k] / values[k]).sum())
            .collect();
        let mut rest = within_groups(z, y, &sums);
        for (g, sum) in sums.iter().enumerate() {
            let count = f64::from(z.counts[g]);
            let inside: f64 = z.columns(g).map(|column| share[column]).sum();
            rest += count * (sum / count - inside).powi(2);
        }
        let eigenvalues = values[..rank].to_vec();
        Ok(Self { eigenvalues, loadings, targets, ones, rest, n_rows: z.n_rows, n_trees: z.n_trees() })
    }

    /// Number of eigenvalues above 0.
    pub(super) fn rank(&self) -> usize {
        self.eigenvalues.len()
    }
}

/// Sum of squared distances of the targets from their group's mean.
fn within_groups(z: &LeafMatrix, y: &[f64], sums: &[f64]) -> f64 {
    z.group_of
        .iter()
        .zip(y)
        .map(|(&g, y)| (y - sums[g as usize] / f64::from(z.counts[g as usize])).powi(2))
        .sum()
}

/// Counts (pairs of trees times groups) from which the blocks of `Z' Z` are made in parallel.
const PARALLEL_COUNTS: usize = 1 << 21;

/// `Z' Z`: the number of points that each pair of leaves shares, shape `[n_columns, n_columns]`. Whole numbers, so the order of the sum
/// does not matter.
fn co_occurrence(z: &LeafMatrix) -> Vec<u32> {
    let (n_trees, n_groups, n_columns) = (z.n_trees(), z.n_groups(), z.n_columns());
    let mut by_tree = vec![0u32; n_trees * n_groups];
    for g in 0..n_groups {
        for (tree, &leaf) in z.group(g).iter().enumerate() {
            by_tree[tree * n_groups + g] = leaf;
        }
    }
    let leaves_in = |tree: usize| &by_tree[tree * n_groups..(tree + 1) * n_groups];
    let width = |tree: usize| z.offsets[tree + 1] - z.offsets[tree];
    // One block of rows a tree; the blocks right of the diagonal are copied below it at the end.
    let block = |s: usize| {
        let tail = n_columns - z.offsets[s];
        let mut block = vec![0u32; width(s) * tail];
        for t in s..n_trees {
            let n = width(t);
            let mut counts = vec![0u32; width(s) * n];
            for ((&a, &b), &count) in leaves_in(s).iter().zip(leaves_in(t)).zip(&z.counts) {
                counts[a as usize * n + b as usize] += count;
            }
            let at = z.offsets[t] - z.offsets[s];
            for (row, values) in counts.chunks_exact(n).enumerate() {
                block[row * tail + at..row * tail + at + n].copy_from_slice(values);
            }
        }
        block
    };
    // Small ones are done before a pool's threads have started.
    let blocks: Vec<Vec<u32>> = if n_trees * n_trees * n_groups < PARALLEL_COUNTS {
        (0..n_trees).map(block).collect()
    } else {
        (0..n_trees).into_par_iter().map(block).collect()
    };
    let mut g = vec![0u32; n_columns * n_columns];
    for (s, block) in blocks.iter().enumerate() {
        let at = z.offsets[s];
        let tail = n_columns - at;
        for (row, values) in block.chunks_exact(tail).enumerate() {
            for (column, &value) in values.iter().enumerate() {
                g[(at + row) * n_columns + at + column] = value;
                g[(at + column) * n_columns + at + row] = value;
            }
        }
    }
    g
}

/// Classes of leaves that hold the same points: the class of each column (`None` when it holds none), and each class's first column. Two
/// leaves hold the same points exactly when each holds as many as they share.
fn equal_leaves(g: &[u32], n_columns: usize) -> (Vec<Option<usize>>, Vec<usize>) {
    let at = |i: usize, j: usize| g[i * n_columns + j];
    let mut first: Vec<usize> = Vec::new();
    let class_of = (0..n_columns)
        .map(|l| {
            if at(l, l) == 0 {
                return None;
            }
            let known = first.iter().position(|&f| at(f, l) == at(l, l) && at(f, f) == at(l, l));
            Some(known.unwrap_or_else(|| {
                first.push(l);
                first.len() - 1
            }))
        })
        .collect();
    (class_of, first)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::constraints::Limits;

    use super::super::testing::sample;
    use super::{LeafMatrix, Spectrum, co_occurrence, equal_leaves};

    fn dense(spectrum: &Spectrum, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let rank = spectrum.rank();
        let n = spectrum.loadings.len() / rank;
        let row = |l: usize| &spectrum.loadings[l * rank..(l + 1) * rank];
        let mut out = Vec::with_capacity(n * n);
        for i in 0..n {
            for j in 0..n {
                out.push((0..rank).map(|k| row(i)[k] * row(j)[k] * weight(k)).sum());
            }
        }
        out
    }

    #[test]
    fn both_forms_give_the_same_spectrum() {
        // Few points and many leaves, many points and few leaves, and in between.
        for (seed, n_trees, depth, n_rows) in
            [(1, 20, 3, 6), (2, 6, 2, 80), (3, 12, 3, 40), (4, 3, 1, 200), (5, 9, 4, 1)]
        {
            let sample = sample(seed, n_trees, depth, n_rows);
            let z = LeafMatrix::new(&sample.forest, &sample.x).unwrap();
            let points = Spectrum::from_points(&z, &sample.y, &Limits::default()).unwrap();
            let leaves = Spectrum::from_leaves(&z, &sample.y, &Limits::default()).unwrap();
            assert_eq!(points.rank(), leaves.rank());
            assert!(points.rank() <= z.n_groups() && points.rank() <= z.n_columns() - z.n_trees() + 1);
            let close = |a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-10 * scale, "{a} {b}");
            let largest = points.eigenvalues[0];
            for k in 0..points.rank() {
                close(points.eigenvalues[k], leaves.eigenvalues[k], largest);
            }
            // Eigenvectors are free up to rotations, so compare what does not depend on them: Z' f(Z Z') Z.
            let both = |weight: &dyn Fn(&Spectrum, usize) -> f64| {
                let (a, b) = (dense(&points, |k| weight(&points, k)), dense(&leaves, |k| weight(&leaves, k)));
                a.iter().zip(&b).for_each(|(&a, &b)| close(a, b, largest));
                a
            };
            let plain = both(&|_, _| 1.0);
            both(&|s, k| 1.0 / (0.1 * s.eigenvalues[k] + 0.01));
            let exact = co_occurrence(&z);
            plain.iter().zip(&exact).for_each(|(&a, &b)| close(a, f64::from(b), largest));
            // Y and the ones, split into the part inside and outside the range of Z.
            let square: f64 = sample.y.iter().map(|y| y * y).sum();
            for s in [&points, &leaves] {
                close(s.targets.iter().map(|t| t * t).sum::<f64>() + s.rest, square, square);
                close(s.ones.iter().map(|o| o * o).sum(), n_rows as f64, n_rows as f64);
                let cross: f64 = s.ones.iter().zip(&s.targets).map(|(o, t)| o * t).sum();
                close(cross, sample.y.iter().sum(), square + 1.0);
            }
            close(points.rest, leaves.rest, square);
        }
    }

    #[test]
    fn the_smaller_matrix_is_chosen() {
        let few = sample(1, 20, 3, 6);
        let z = LeafMatrix::new(&few.forest, &few.x).unwrap();
        assert_eq!(
            Spectrum::new(&z, &few.y, &Limits::default()).unwrap().loadings,
            Spectrum::from_points(&z, &few.y, &Limits::default()).unwrap().loadings
        );
        let many = sample(4, 3, 2, 300);
        let z = LeafMatrix::new(&many.forest, &many.x).unwrap();
        assert_eq!(
            Spectrum::new(&z, &many.y, &Limits::default()).unwrap().loadings,
            Spectrum::from_leaves(&z, &many.y, &Limits::default()).unwrap().loadings
        );
    }

    #[test]
    fn co_occurrence_counts_points_and_equal_leaves_share_a_class() {
        let sample = sample(8, 7, 2, 50);
        let z = LeafMatrix::new(&sample.forest, &sample.x).unwrap();
        let n = z.n_columns();
        let g = co_occurrence(&z);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, &group) in z.group_of.iter().enumerate() {
            z.columns(group as usize).for_each(|column| members[column].push(i));
        }
        let (class_of, first) = equal_leaves(&g, n);
        for i in 0..n {
            for j in 0..n {
                let shared = members[i].iter().filter(|p| members[j].contains(p)).count();
                assert_eq!(g[i * n + j] as usize, shared);
                if !members[i].is_empty() {
                    assert_eq!(class_of[i] == class_of[j], members[i] == members[j]);
                }
            }
            assert_eq!(class_of[i].is_none(), members[i].is_empty());
        }
        assert!(first.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
