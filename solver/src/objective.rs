//! What is minimised: a linear plus concave-quadratic function of the active leaves.

use crate::forest::{Forest, Node};

/// The objective `constant + sum_l c_l z_l - kappa * sqrt(s2 - |sum_l z_l v_l|^2)` of a one-hot leaf vector `z` (one leaf a tree), to be
/// minimised. Leaves are numbered over the whole forest: see [`Forest::leaf_offset`](crate::Forest::leaf_offset).
///
/// ```
/// use leafgp_solver::{LeafObjective, Quadratic};
///
/// // Two trees of two leaves; vectors of one dimension.
/// let quadratic = Quadratic { kappa: 2.0, prior_variance: 1.0, dim: 1, factor: vec![0.6, 0.0, 0.2, 0.0] };
/// let objective = LeafObjective { constant: 0.0, linear: vec![0.5, -0.5, 0.25, 0.0], quadratic: Some(quadratic) };
/// // Leaves 0 and 2: mean 0.75, deviation sqrt(1 - 0.8^2).
/// assert!((objective.value(&[0, 2]) - (0.75 - 2.0 * 0.6)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct LeafObjective {
    /// Added to every value.
    pub constant: f64,
    /// `c`, shape `[n_leaves]`.
    pub linear: Vec<f64>,
    /// The deviation term; `None` for a plain ensemble sum.
    pub quadratic: Option<Quadratic>,
}

/// The deviation term `sigma = sqrt(s2 - |sum_l z_l v_l|^2)` and its weight.
#[derive(Clone, Debug)]
pub struct Quadratic {
    /// Weight of the deviation: above 0 larger explores more, below 0 the deviation is minimised.
    pub kappa: f64,
    /// `s2`, the prior variance: an upper bound of `|sum z_l v_l|^2`.
    pub prior_variance: f64,
    /// Length of the vectors `v_l`.
    pub dim: usize,
    /// The vectors `v_l`, row-major `[n_leaves, dim]`.
    pub factor: Vec<f64>,
}

impl Quadratic {
    /// The vector `v_l` of leaf `leaf`, length `dim`.
    pub fn row(&self, leaf: usize) -> &[f64] {
        &self.factor[leaf * self.dim..(leaf + 1) * self.dim]
    }

    /// `sqrt(max(0, s2 - |sum v_l|^2))` over the given active leaves.
    pub fn deviation(&self, leaves: &[usize]) -> f64 {
        let mut sum = vec![0.0; self.dim];
        for &leaf in leaves {
            sum.iter_mut().zip(self.row(leaf)).for_each(|(u, v)| *u += v);
        }
        let sum_sq: f64 = sum.iter().map(|u| u * u).sum();
        (self.prior_variance - sum_sq).max(0.0).sqrt()
    }
}

impl LeafObjective {
    /// The sum of the trees' own values, to be minimised; negate `linear` for the largest.
    ///
    /// ```
    /// use leafgp_solver::{Domain, Forest, LeafObjective, Node, Rule, Tree};
    ///
    /// let split = Node::Split { feature: 0, rule: Rule::Threshold(0.5), left: 1, right: 2 };
    /// let nodes = vec![split, Node::Leaf { leaf: 1, value: -1.0 }, Node::Leaf { leaf: 0, value: 2.0 }];
    /// let forest = Forest::new(vec![Tree { nodes }], &[Domain::Continuous { lower: 0.0, upper: 1.0 }])?;
    /// assert_eq!(LeafObjective::prediction(&forest).linear, [2.0, -1.0]);
    /// # Ok::<(), leafgp_solver::ForestError>(())
    /// ```
    pub fn prediction(forest: &Forest) -> Self {
        let mut linear = vec![0.0; forest.n_leaves()];
        for (t, tree) in forest.trees().iter().enumerate() {
            for node in &tree.nodes {
                if let Node::Leaf { leaf, value } = node {
                    linear[forest.leaf_offset(t) + leaf] = *value;
                }
            }
        }
        Self { constant: 0.0, linear, quadratic: None }
    }

    /// `constant + sum c_l` over the given active leaves.
    pub fn mean(&self, leaves: &[usize]) -> f64 {
        self.constant + leaves.iter().map(|&leaf| self.linear[leaf]).sum::<f64>()
    }

    /// The deviation at the given active leaves; 0 without a quadratic part.
    pub fn deviation(&self, leaves: &[usize]) -> f64 {
        self.quadratic.as_ref().map_or(0.0, |q| q.deviation(leaves))
    }

    /// The value to be minimised, `mean - kappa * deviation`, at the given active leaves (one a tree).
    pub fn value(&self, leaves: &[usize]) -> f64 {
        self.mean(leaves) - self.quadratic.as_ref().map_or(0.0, |q| q.kappa * q.deviation(leaves))
    }
}

/// `(objective - bound) / max(|objective|, 1e-9)`, never negative; infinite without an incumbent or a bound.
pub fn relative_gap(objective: f64, bound: f64) -> f64 {
    if objective.is_finite() {
        ((objective - bound) / objective.abs().max(1e-9)).max(0.0)
    } else {
        f64::INFINITY
    }
}
