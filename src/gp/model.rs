//! The fitted process: hyperparameters, posterior, and the posterior as a function of leaves.

use leafgp_solver::{Forest, LeafObjective, Quadratic};

use super::leaf_matrix::LeafMatrix;
use super::likelihood::{self, Evidence};
use super::spectrum::Spectrum;
use super::{GpError, GpSettings, Hyperparameters, MeanKind, VarianceKind};
use crate::Table;

/// A Gaussian process whose kernel is the share of trees in which two points end in the same leaf (Eq. 1), conditioned on data (Eq. 2).
///
/// Without a split in the forest, or without data, nothing can be learned: the posterior is the prior everywhere.
#[derive(Clone, Debug)]
pub struct TreeGp {
    forest: Forest,
    hyperparameters: Hyperparameters,
    variance: VarianceKind,
    log_marginal_likelihood: f64,
    /// `c`, shape `[n_leaves]` in the forest's numbering.
    weights: Vec<f64>,
    /// Length of the vectors `v_l`.
    dim: usize,
    /// `v_l`, row-major `[n_leaves, dim]`.
    factor: Vec<f64>,
}

/// Mean and variance at a point, in the units of the standardised targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// Expected value.
    pub mean: f64,
    /// Variance of the function, or of a further measurement ([`VarianceKind`]); not below 0.
    pub variance: f64,
}

impl Posterior {
    /// Square root of the variance.
    pub fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }
}

impl TreeGp {
    /// Fits the hyperparameters to data and conditions on them. `x` has shape `[n_rows, n_cols]`, `y` holds the standardised targets, to
    /// be minimised.
    ///
    /// With one row or none, or a forest without a split, there is nothing to fit: the signal variance is 1 (that of standardised targets,
    /// moved into its interval), the noise variance the middle of its interval, and a constant mean is the mean of the targets.
    ///
    /// # Errors
    /// Settings outside their ranges; `y` of another length than `x`; a NaN or infinite value; a split on a column `x` does not have.
    pub fn fit(forest: &Forest, x: &Table, y: &[f64], settings: &GpSettings) -> Result<Self, GpError> {
        settings.validate()?;
        check_targets(x, y)?;
        let z = LeafMatrix::new(forest, x)?;
        if z.n_trees() == 0 || z.n_rows < 2 {
            let prior = uninformed(y, settings);
            let spectrum = spectrum_of(&z, y)?;
            return Ok(Self::condition(forest, &z, spectrum.as_ref(), y, prior, settings.variance));
        }
        let spectrum = Spectrum::new(&z, y)?;
        let fitted = likelihood::maximise(&spectrum, settings);
        Ok(Self::condition(forest, &z, Some(&spectrum), y, fitted, settings.variance))
    }

    /// Conditions on data with given hyperparameters; the variance predicted is the latent one.
    ///
    /// # Errors
    /// As [`TreeGp::fit`]; hyperparameters outside their ranges.
    pub fn with_hyperparameters(
        forest: &Forest,
        x: &Table,
        y: &[f64],
        hyperparameters: Hyperparameters,
    ) -> Result<Self, GpError> {
        hyperparameters.validate()?;
        check_targets(x, y)?;
        let z = LeafMatrix::new(forest, x)?;
        let spectrum = spectrum_of(&z, y)?;
        Ok(Self::condition(forest, &z, spectrum.as_ref(), y, hyperparameters, VarianceKind::Latent))
    }

    /// The same process with another kind of variance predicted.
    #[must_use]
    pub fn predicting(mut self, variance: VarianceKind) -> Self {
        self.variance = variance;
        self
    }

    /// Which variance is predicted.
    pub fn variance_kind(&self) -> VarianceKind {
        self.variance
    }

    /// Without a spectrum: nothing to condition on.
    fn condition(
        forest: &Forest,
        z: &LeafMatrix,
        spectrum: Option<&Spectrum>,
        y: &[f64],
        hyperparameters: Hyperparameters,
        variance: VarianceKind,
    ) -> Self {
        let n_leaves = forest.n_leaves();
        let dim = spectrum.map_or(0, Spectrum::rank);
        let mut weights = vec![0.0; n_leaves];
        let mut factor = vec![0.0; n_leaves * dim];
        let log_marginal_likelihood = match spectrum {
            None => white_likelihood(y, &hyperparameters),
            Some(spectrum) => {
                let scale = hyperparameters.signal_variance / spectrum.n_trees as f64;
                let spread: Vec<f64> =
                    spectrum.eigenvalues.iter().map(|e| scale * e + hyperparameters.noise_variance).collect();
                let to_mean: Vec<f64> = (0..dim)
                    .map(|k| {
                        scale * (spectrum.targets[k] - hyperparameters.mean * spectrum.ones[k]) / spread[k]
                    })
                    .collect();
                let to_factor: Vec<f64> = spread.iter().map(|d| scale / d.sqrt()).collect();
                for (column, &leaf) in z.forest_leaf.iter().enumerate() {
                    let loading = &spectrum.loadings[column * dim..(column + 1) * dim];
                    weights[leaf] = loading.iter().zip(&to_mean).map(|(b, w)| b * w).sum();
                    for (k, slot) in factor[leaf * dim..(leaf + 1) * dim].iter_mut().enumerate() {
                        *slot = loading[k] * to_factor[k];
                    }
                }
                Evidence::new(spectrum, &hyperparameters).value
            }
        };
        let forest = forest.clone();
        Self { forest, hyperparameters, variance, log_marginal_likelihood, weights, dim, factor }
    }

    /// The fitted or given hyperparameters.
    pub fn hyperparameters(&self) -> Hyperparameters {
        self.hyperparameters
    }

    /// Logarithm of the density of the targets under the prior, noise included.
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_marginal_likelihood
    }

    /// The forest of the kernel.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Mean and variance at a point in variable order (Eq. 2 with the noise on the diagonal of the Gram matrix).
    pub fn posterior(&self, x: &[f64]) -> Posterior {
        self.posterior_of_leaves(&self.forest.active_leaves(x))
    }

    /// Mean and variance where the given leaves, one a tree in the forest's numbering, are active.
    pub fn posterior_of_leaves(&self, leaves: &[usize]) -> Posterior {
        let mean = self.hyperparameters.mean + leaves.iter().map(|&leaf| self.weights[leaf]).sum::<f64>();
        let mut sum = vec![0.0; self.dim];
        for &leaf in leaves {
            let row = &self.factor[leaf * self.dim..(leaf + 1) * self.dim];
            for (slot, value) in sum.iter_mut().zip(row) {
                *slot += value;
            }
        }
        let explained: f64 = sum.iter().map(|u| u * u).sum();
        Posterior { mean, variance: (self.prior_variance() - explained).max(0.0) }
    }

    /// Logarithm of the predictive density of a measurement `y` at `x`, noise included.
    pub fn log_predictive_density(&self, x: &[f64], y: f64) -> f64 {
        let Posterior { mean, variance } = self.posterior(x);
        let variance = match self.variance {
            VarianceKind::Latent => variance + self.hyperparameters.noise_variance,
            VarianceKind::Observed => variance,
        };
        -0.5 * ((y - mean).powi(2) / variance + variance.ln() + std::f64::consts::TAU.ln())
    }

    /// The lower confidence bound `mean - kappa * deviation` as a function of the active leaves, to be minimised: the paper's upper
    /// confidence bound of the negated targets. `kappa >= 0`.
    ///
    /// With the spectrum `e_k`, the loadings `b_l` of leaf `l`, `a = s2/T` and `d_k = a e_k + nz`:
    /// `c_l = a sum_k b_lk (u_k'(y - mean)) / d_k` and `v_lk = a b_lk / sqrt(d_k)`. Up to a rotation, which changes no length, these are
    /// the vectors `a L^-1 A[:, l]` of the Cholesky factor `K + nz I = L L'`, without the directions in which all of them are 0.
    pub fn leaf_objective(&self, kappa: f64) -> LeafObjective {
        LeafObjective {
            constant: self.hyperparameters.mean,
            linear: self.weights.clone(),
            quadratic: Some(Quadratic {
                kappa,
                prior_variance: self.prior_variance(),
                dim: self.dim,
                factor: self.factor.clone(),
            }),
        }
    }

    fn prior_variance(&self) -> f64 {
        let Hyperparameters { signal_variance, noise_variance, .. } = self.hyperparameters;
        match self.variance {
            VarianceKind::Latent => signal_variance,
            VarianceKind::Observed => signal_variance + noise_variance,
        }
    }
}

/// The spectrum, unless there is nothing to condition on.
fn spectrum_of(z: &LeafMatrix, y: &[f64]) -> Result<Option<Spectrum>, GpError> {
    if z.n_trees() == 0 || z.n_rows == 0 { Ok(None) } else { Spectrum::new(z, y).map(Some) }
}

fn check_targets(x: &Table, y: &[f64]) -> Result<(), GpError> {
    if x.n_rows() != y.len() {
        return Err(GpError::Length { rows: x.n_rows(), targets: y.len() });
    }
    match y.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(GpError::Target { row, value: y[row] }),
        None => Ok(()),
    }
}

fn uninformed(y: &[f64], settings: &GpSettings) -> Hyperparameters {
    let [lower, upper] = settings.signal_interval;
    let mean = match settings.mean {
        MeanKind::Constant if !y.is_empty() => y.iter().sum::<f64>() / y.len() as f64,
        _ => 0.0,
    };
    let noise_variance = 0.5 * (settings.noise_interval[0] + settings.noise_interval[1]);
    Hyperparameters { signal_variance: 1f64.clamp(lower, upper), noise_variance, mean }
}

/// Without a split, values at different points are independent: each target has variance `s2 + nz`.
fn white_likelihood(y: &[f64], at: &Hyperparameters) -> f64 {
    let variance = at.signal_variance + at.noise_variance;
    let square: f64 = y.iter().map(|y| (y - at.mean).powi(2)).sum();
    -0.5 * (square / variance + y.len() as f64 * (variance * std::f64::consts::TAU).ln())
}
