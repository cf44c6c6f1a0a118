//! What is minimised: a linear plus concave-quadratic function of the active leaves.

use crate::forest::{Forest, Node};

/// The objective `constant + sum_l c_l z_l - kappa * sqrt(s2 - |sum_l z_l v_l|^2)` of a one-hot leaf vector `z` (one leaf a tree), to be
/// minimised. Leaves are numbered over the whole forest: see [`Forest::leaf_offset`](crate::Forest::leaf_offset).
///
/// ```
/// use leafgp_solver::{LeafObjective, Quadratic};
///
/// // Two trees of two leaves; vectors of one dimension.
/// let quadratic = Quadratic { kappa: 2.0, prior_variance: 1.0, dim: 1, factor: vec![0.6, 0.0, 0.2, 0.0], remainder: None };
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
    /// What is left of the variance as a sum without cancellation, for where the data explain nearly all of it; `None` where the difference will do.
    pub remainder: Option<Remainder>,
}

/// The variance as terms that are not negative: with `u = sum_l z_l v_l` and `y = z - A^-1 V (1 + r) u`
/// (`V` the vectors as rows, `A` the diagonal of `tree_variance`)
///
/// `s2 - |u|^2 = constant + sum_k r_k u_k^2 + sum_l A_l y_l^2`.
///
/// The first sum is what noise leaves of the directions that the data show, the second what lies outside them. Both are right to rounding errors of the *deviation*, where the
/// difference is right to those of the variance: at 1e-6 of the prior deviation ten digits instead of four.
#[derive(Clone, Debug)]
pub struct Remainder {
    /// `r_k >= 0`, shape `[dim]`: noise over signal in each direction.
    pub noise_shares: Vec<f64>,
    /// `A_l >= 0`, shape `[n_leaves]`: the prior variance of the leaf's tree; 0 for a tree that has no part in the deviation.
    pub tree_variance: Vec<f64>,
    /// Variance that no data explain, `>= 0`.
    pub constant: f64,
    /// How far the difference `s2 - |u|^2`, as computed, may lie from the variance. Bounds allow for it.
    pub rounding: f64,
}

impl Remainder {
    fn variance(&self, q: &Quadratic, leaves: &[usize], u: &[f64]) -> f64 {
        let of_noise: f64 = u.iter().zip(&self.noise_shares).map(|(u, r)| r * u * u).sum();
        let weights: Vec<f64> = u.iter().zip(&self.noise_shares).map(|(u, r)| u + r * u).collect();
        let mut active = vec![false; self.tree_variance.len()];
        leaves.iter().for_each(|&leaf| active[leaf] = true);
        let mut outside = 0.0;
        for (leaf, &variance) in self.tree_variance.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let shown: f64 = q.row(leaf).iter().zip(&weights).map(|(v, w)| v * w).sum();
            let rest = f64::from(u8::from(active[leaf])) - shown / variance;
            outside += variance * rest * rest;
        }
        self.constant + of_noise + outside
    }
}

/// Share of the prior variance below which the difference `s2 - |u|^2` has lost too many digits.
const CANCELS: f64 = 1e-6;

impl Quadratic {
    /// The vector `v_l` of leaf `leaf`, length `dim`.
    pub fn row(&self, leaf: usize) -> &[f64] {
        &self.factor[leaf * self.dim..(leaf + 1) * self.dim]
    }

    /// The variance `max(0, s2 - |sum v_l|^2)` over the given active leaves, by the [`Remainder`] where the difference cancels.
    pub fn variance(&self, leaves: &[usize]) -> f64 {
        let mut sum = vec![0.0; self.dim];
        for &leaf in leaves {
            sum.iter_mut().zip(self.row(leaf)).for_each(|(u, v)| *u += v);
        }
        let sum_sq: f64 = sum.iter().map(|u| u * u).sum();
        let difference = self.prior_variance - sum_sq;
        match &self.remainder {
            Some(remainder) if difference < CANCELS * self.prior_variance => {
                remainder.variance(self, leaves, &sum)
            }
            _ => difference.max(0.0),
        }
    }

    /// Square root of the [variance](Quadratic::variance).
    pub fn deviation(&self, leaves: &[usize]) -> f64 {
        self.variance(leaves).sqrt()
    }

    /// The `s2` of bounds: moved so far that `s2 - |u|^2` is on the safe side of the variance, whatever was rounded on the way to the vectors.
    pub(crate) fn bounding_prior(&self) -> f64 {
        match &self.remainder {
            None => self.prior_variance,
            Some(remainder) if self.kappa < 0.0 => (self.prior_variance - remainder.rounding).max(0.0),
            Some(remainder) => self.prior_variance + remainder.rounding,
        }
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
