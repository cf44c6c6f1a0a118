//! Random forests and data for the tests of this folder.

use leafgp_solver::{Domain, Forest, LevelSet, Node, Rule, Tree};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::Table;

/// A forest, points and targets; the last domain is a category, the one before it an integer, so points repeat.
pub(super) struct Sample {
    pub(super) forest: Forest,
    pub(super) domains: Vec<Domain>,
    pub(super) x: Table,
    pub(super) y: Vec<f64>,
}

/// `n_trees` random trees (some with a single leaf) over 3 variables and `n_rows` points, of which about a third repeat earlier ones.
pub(super) fn sample(seed: u64, n_trees: usize, depth: usize, n_rows: usize) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let domains = vec![
        Domain::Continuous { lower: 0.0, upper: 1.0 },
        Domain::Integer { lower: 0.0, upper: 3.0 },
        Domain::Categorical { levels: 4 },
    ];
    let trees = (0..n_trees)
        .map(|t| {
            let mut tree = Tree { nodes: Vec::new() };
            let depth = if t % 5 == 4 { 0 } else { depth };
            grow(&mut tree, depth, &mut 0, &mut rng);
            tree
        })
        .collect();
    let forest = Forest::new(trees, &domains).unwrap();
    let mut x = Table::new(3);
    for i in 0..n_rows {
        let point = if i > 0 && rng.random::<f64>() < 0.3 {
            x.row(rng.random_range(0..i)).to_vec()
        } else {
            vec![rng.random(), rng.random_range(0..4) as f64, rng.random_range(0..4) as f64]
        };
        x.push(&point);
    }
    let y = (0..n_rows).map(|_| 2.0 * rng.random::<f64>() - 0.9).collect();
    Sample { forest, domains, x, y }
}

fn grow(tree: &mut Tree, depth: usize, n_leaves: &mut usize, rng: &mut ChaCha8Rng) -> usize {
    let at = tree.nodes.len();
    if depth == 0 || (at > 0 && rng.random::<f64>() < 0.15) {
        tree.nodes.push(Node::Leaf { leaf: *n_leaves, value: 0.0 });
        *n_leaves += 1;
        return at;
    }
    tree.nodes.push(Node::Leaf { leaf: 0, value: 0.0 });
    let feature = rng.random_range(0..3);
    let rule = match feature {
        0 => Rule::Threshold(rng.random()),
        1 => Rule::Threshold(rng.random_range(0..3) as f64 + 0.5),
        _ => Rule::Levels(LevelSet::from_indices(4, [rng.random_range(0..4), rng.random_range(0..4)])),
    };
    let left = grow(tree, depth - 1, n_leaves, rng);
    let right = grow(tree, depth - 1, n_leaves, rng);
    tree.nodes[at] = Node::Split { feature, rule, left, right };
    at
}

/// Log marginal likelihood and, at `x`, mean and variance, from the definitions alone: `K` by counting common leaves over the trees with a
/// split, `(K + nz I)^-1` by Gauss-Jordan elimination, whose pivots give the determinant.
pub(super) struct Explicit {
    inverse: Vec<Vec<f64>>,
    leaves: Vec<Vec<usize>>,
    alpha: Vec<f64>,
    signal: f64,
    mean: f64,
    pub(super) log_likelihood: f64,
}

impl Explicit {
    pub(super) fn new(sample: &Sample, signal: f64, noise: f64, mean: f64) -> Self {
        let leaves: Vec<Vec<usize>> = sample.x.rows().map(|x| active(&sample.forest, x)).collect();
        let m = leaves.len();
        let mut matrix: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                (0..m)
                    .map(|j| kernel(signal, &leaves[i], &leaves[j]) + if i == j { noise } else { 0.0 })
                    .collect()
            })
            .collect();
        let mut inverse: Vec<Vec<f64>> =
            (0..m).map(|i| (0..m).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
        let mut log_det = 0.0;
        for k in 0..m {
            let pivot = matrix[k][k];
            log_det += pivot.ln();
            for j in 0..m {
                matrix[k][j] /= pivot;
                inverse[k][j] /= pivot;
            }
            for i in (0..m).filter(|&i| i != k) {
                let by = matrix[i][k];
                for j in 0..m {
                    matrix[i][j] -= by * matrix[k][j];
                    inverse[i][j] -= by * inverse[k][j];
                }
            }
        }
        let residual: Vec<f64> = sample.y.iter().map(|y| y - mean).collect();
        let alpha: Vec<f64> = inverse.iter().map(|row| dot(row, &residual)).collect();
        let log_likelihood =
            -0.5 * (dot(&alpha, &residual) + log_det + m as f64 * std::f64::consts::TAU.ln());
        Self { inverse, leaves, alpha, signal, mean, log_likelihood }
    }

    pub(super) fn posterior(&self, forest: &Forest, x: &[f64]) -> (f64, f64) {
        let at = active(forest, x);
        let k: Vec<f64> = self.leaves.iter().map(|row| kernel(self.signal, row, &at)).collect();
        let solved: Vec<f64> = self.inverse.iter().map(|row| dot(row, &k)).collect();
        (self.mean + dot(&k, &self.alpha), self.signal - dot(&k, &solved))
    }
}

fn active(forest: &Forest, x: &[f64]) -> Vec<usize> {
    forest.trees().iter().filter(|tree| tree.nodes.len() > 1).map(|tree| tree.leaf_of(x).0).collect()
}

fn kernel(signal: f64, a: &[usize], b: &[usize]) -> f64 {
    signal * a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
