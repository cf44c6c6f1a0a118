//! The fitted process: hyperparameters, posterior, and the posterior as a function of leaves.

use leafgp_solver::constraints::Limits;
use leafgp_solver::{Forest, LeafObjective, Quadratic};

use super::leaf_matrix::LeafMatrix;
use super::likelihood;
use super::remainder::remainder;
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
    /// The deviation predicted, its weight 1.
    quadratic: Quadratic,
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
        Self::fit_within(forest, x, y, settings, &Limits::default())
    }

    /// As [`TreeGp::fit`], within limits of time; their nodes mean nothing here.
    ///
    /// # Errors
    /// As [`TreeGp::fit`], and [`GpError::Stopped`] when the limits end the fit.
    pub fn fit_within(
        forest: &Forest,
        x: &Table,
        y: &[f64],
        settings: &GpSettings,
        limits: &Limits,
    ) -> Result<Self, GpError> {
        settings.validate()?;
        check_targets(x, y)?;
        let z = LeafMatrix::new(forest, x)?;
        if z.n_trees() == 0 || z.n_rows < 2 {
            let prior = uninformed(y, settings);
            let spectrum = spectrum_of(&z, y, limits)?;
            return Ok(Self::condition(forest, &z, spectrum.as_ref(), y, prior, settings.variance));
        }
        let spectrum = Spectrum::new(&z, y, limits)?;
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
        Self::conditioned_within(forest, x, y, hyperparameters, &Limits::default())
    }

    fn conditioned_within(
        forest: &Forest,
        x: &Table,
        y: &[f64],
        hyperparameters: Hyperparameters,
        limits: &Limits,
    ) -> Result<Self, GpError> {
        hyperparameters.validate()?;
        check_targets(x, y)?;
        let z = LeafMatrix::new(forest, x)?;
        let spectrum = spectrum_of(&z, y, limits)?;
        Ok(Self::condition(forest, &z, spectrum.as_ref(), y, hyperparameters, VarianceKind::Latent))
    }

    /// The same process with another kind of variance predicted.
    #[must_use]
    pub fn predicting(mut self, variance: VarianceKind) -> Self {
        let Hyperparameters { signal_variance, noise_variance, .. } = self.hyperparameters;
        let noise = match variance {
            VarianceKind::Latent => 0.0,
            VarianceKind::Observed => noise_variance,
        };
        self.variance = variance;
        self.quadratic.prior_variance = signal_variance + noise;
        if let Some(remainder) = &mut self.quadratic.remainder {
            remainder.constant = noise;
        }
        self
    }

    /// The process on more points, each believed at its predicted mean (kriging believer): the mean stays as it is, the deviation shrinks around them. `x`
    /// and `y` are the data that this process was conditioned on.
    ///
    /// # Errors
    /// As [`TreeGp::with_hyperparameters`].
    pub fn believing<'a>(
        &self,
        x: &Table,
        y: &[f64],
        pending: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<Self, GpError> {
        self.believing_within(x, y, pending, &Limits::default())
    }

    /// As [`TreeGp::believing`], within limits of time.
    ///
    /// # Errors
    /// As [`TreeGp::believing`], and [`GpError::Stopped`] when the limits end it.
    pub fn believing_within<'a>(
        &self,
        x: &Table,
        y: &[f64],
        pending: impl IntoIterator<Item = &'a [f64]>,
        limits: &Limits,
    ) -> Result<Self, GpError> {
        let (mut x, mut y) = (x.clone(), y.to_vec());
        for point in pending {
            x.push(point);
            y.push(self.posterior(point).mean);
        }
        let believing = Self::conditioned_within(&self.forest, &x, &y, self.hyperparameters, limits)?;
        Ok(believing.predicting(self.variance))
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
        let mut left = None;
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
                left = remainder(z, spectrum, &hyperparameters, n_leaves);
                likelihood::log_likelihood(spectrum, &hyperparameters)
            }
        };
        let forest = forest.clone();
        let prior_variance = hyperparameters.signal_variance;
        let latent = Quadratic { kappa: 1.0, prior_variance, dim, factor, remainder: left };
        Self { forest, hyperparameters, variance, log_marginal_likelihood, weights, quadratic: latent }
            .predicting(variance)
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
        Posterior { mean, variance: self.quadratic.variance(leaves) }
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
            quadratic: Some(Quadratic { kappa, ..self.quadratic.clone() }),
        }
    }
}

/// The spectrum, unless there is nothing to condition on.
fn spectrum_of(z: &LeafMatrix, y: &[f64], limits: &Limits) -> Result<Option<Spectrum>, GpError> {
    if z.n_trees() == 0 || z.n_rows == 0 { Ok(None) } else { Spectrum::new(z, y, limits).map(Some) }
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

#[cfg(test)]
mod tests {
    use leafgp_solver::{Domain, Forest, Node, Tree};

    use super::super::testing::{Explicit, Sample, sample};
    use super::TreeGp;
    use crate::Table;
    use crate::gp::{GpError, GpSettings, Hyperparameters, MeanKind, VarianceKind};

    const AT: Hyperparameters = Hyperparameters { signal_variance: 0.8, noise_variance: 0.02, mean: 0.15 };

    fn grid_of_points() -> Vec<[f64; 3]> {
        let mut points = Vec::new();
        for i in 0..7 {
            for j in 0..4 {
                for k in 0..4 {
                    points.push([f64::from(i) / 6.0, f64::from(j), f64::from(k)]);
                }
            }
        }
        points
    }

    fn condition(sample: &Sample) -> TreeGp {
        TreeGp::with_hyperparameters(&sample.forest, &sample.x, &sample.y, AT).unwrap()
    }

    #[test]
    fn posterior_and_leaf_objective_equal_the_explicit_inverse() {
        for (seed, n_trees, depth, n_rows) in
            [(1, 20, 3, 6), (2, 6, 2, 60), (3, 12, 3, 25), (4, 3, 1, 200), (9, 4, 4, 1)]
        {
            let sample = sample(seed, n_trees, depth, n_rows);
            let explicit = Explicit::new(&sample, AT.signal_variance, AT.noise_variance, AT.mean);
            let gp = condition(&sample);
            assert!((gp.log_marginal_likelihood() - explicit.log_likelihood).abs() < 1e-8);
            let objective = gp.leaf_objective(1.96);
            for x in grid_of_points() {
                let (mean, variance) = explicit.posterior(&sample.forest, &x);
                let posterior = gp.posterior(&x);
                assert!((posterior.mean - mean).abs() < 1e-10, "{posterior:?} {mean}");
                assert!((posterior.variance - variance).abs() < 1e-10, "{posterior:?} {variance}");
                let leaves = sample.forest.active_leaves(&x);
                assert!((objective.mean(&leaves) - mean).abs() < 1e-10);
                assert!((objective.value(&leaves) - (mean - 1.96 * posterior.deviation())).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_variance_shrinks_with_every_point() {
        let sample = sample(3, 12, 3, 25);
        let mut previous = vec![f64::INFINITY; grid_of_points().len()];
        for n in 0..=sample.y.len() {
            let mut x = Table::new(3);
            (0..n).for_each(|i| x.push(sample.x.row(i)));
            let gp = TreeGp::with_hyperparameters(&sample.forest, &x, &sample.y[..n], AT).unwrap();
            for (previous, point) in previous.iter_mut().zip(grid_of_points()) {
                let variance = gp.posterior(&point).variance;
                assert!(variance >= 0.0 && variance <= *previous + 1e-12);
                *previous = variance;
            }
        }
    }

    #[test]
    fn order_and_replicates_of_the_rows_do_not_matter() {
        let sample = sample(2, 6, 2, 30);
        let mut reversed = Table::new(3);
        (0..30).rev().for_each(|i| reversed.push(sample.x.row(i)));
        let y: Vec<f64> = sample.y.iter().rev().copied().collect();
        let (a, b) =
            (condition(&sample), TreeGp::with_hyperparameters(&sample.forest, &reversed, &y, AT).unwrap());
        // Two equal measurements with noise nz are one with noise nz / 2 of the mean.
        let mut x = Table::new(3);
        let mut twice = Table::new(3);
        for i in 0..30 {
            x.push(sample.x.row(i));
            twice.push(sample.x.row(i));
            twice.push(sample.x.row(i));
        }
        let pairs: Vec<f64> = sample.y.iter().flat_map(|y| [y - 0.1, y + 0.1]).collect();
        let half = Hyperparameters { noise_variance: 0.5 * AT.noise_variance, ..AT };
        let c = TreeGp::with_hyperparameters(&sample.forest, &twice, &pairs, AT).unwrap();
        let d = TreeGp::with_hyperparameters(&sample.forest, &x, &sample.y, half).unwrap();
        for point in grid_of_points() {
            for (p, q) in
                [(a.posterior(&point), b.posterior(&point)), (c.posterior(&point), d.posterior(&point))]
            {
                assert!((p.mean - q.mean).abs() < 1e-10 && (p.variance - q.variance).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn without_splits_or_data_the_posterior_is_the_prior() {
        let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
        let single = Tree { nodes: vec![Node::Leaf { leaf: 0, value: 0.4 }] };
        let settings = GpSettings::default();
        for trees in [vec![], vec![single]] {
            let forest = Forest::new(trees, &domains).unwrap();
            for y in [vec![], vec![0.0], vec![-1.0, 0.5, 0.5]] {
                let mut x = Table::new(1);
                y.iter().for_each(|_| x.push(&[0.3]));
                let gp = TreeGp::fit(&forest, &x, &y, &settings).unwrap();
                assert_eq!(gp.hyperparameters().signal_variance, 1.0);
                let posterior = gp.posterior(&[0.7]);
                assert_eq!((posterior.mean, posterior.variance), (0.0, 1.0));
                let objective = gp.leaf_objective(2.0);
                let leaves = forest.active_leaves(&[0.7]);
                assert_eq!((objective.value(&leaves), objective.linear.len()), (-2.0, forest.n_leaves()));
                assert!(gp.log_marginal_likelihood().is_finite());
                // Independent values of variance s2 + nz.
                let v: f64 = 1.0 + 0.10025;
                let expected: f64 =
                    y.iter().map(|y| -0.5 * (y * y / v + (std::f64::consts::TAU * v).ln())).sum();
                assert!((gp.log_marginal_likelihood() - expected).abs() < 1e-12);
            }
        }
        let some = sample(1, 5, 2, 4);
        let gp = TreeGp::fit(&some.forest, &Table::new(3), &[], &settings).unwrap();
        assert_eq!(gp.posterior(&[0.5, 1.0, 2.0]).variance, 1.0);
        assert_eq!(gp.log_marginal_likelihood(), 0.0);
    }

    #[test]
    fn one_row_keeps_its_mean_and_narrows_around_itself() {
        let some = sample(1, 20, 3, 4);
        let x = Table::from_rows(3, &[[0.5, 1.0, 2.0]]);
        let gp = TreeGp::fit(&some.forest, &x, &[0.0], &GpSettings::default()).unwrap();
        let (here, far) = (gp.posterior(&[0.5, 1.0, 2.0]), gp.posterior(&[0.99, 3.0, 0.0]));
        assert_eq!((here.mean, far.mean), (0.0, 0.0));
        // s2 - s2^2 / (s2 + nz) with s2 = 1.
        assert!((here.variance - (1.0 - 1.0 / 1.10025)).abs() < 1e-12);
        assert!(far.variance > here.variance);
        let settings =
            GpSettings { mean: MeanKind::Constant, signal_interval: [2.0, 3.0], ..GpSettings::default() };
        let gp = TreeGp::fit(&some.forest, &x, &[0.25], &settings).unwrap();
        assert_eq!((gp.hyperparameters().mean, gp.hyperparameters().signal_variance), (0.25, 2.0));
    }

    #[test]
    fn observed_variance_adds_the_noise() {
        let sample = sample(3, 12, 3, 25);
        let latent = condition(&sample);
        let observed = latent.clone().predicting(VarianceKind::Observed);
        for x in grid_of_points() {
            let (a, b) = (latent.posterior(&x), observed.posterior(&x));
            assert!((b.variance - a.variance - AT.noise_variance).abs() < 1e-14);
            let leaves = sample.forest.active_leaves(&x);
            assert!((observed.leaf_objective(1.0).deviation(&leaves) - b.deviation()).abs() < 1e-12);
            let density = -0.5 * (0.25f64.powi(2) / b.variance + (std::f64::consts::TAU * b.variance).ln());
            for gp in [&latent, &observed] {
                assert!((gp.log_predictive_density(&x, a.mean + 0.25) - density).abs() < 1e-12);
            }
        }
        let settings = GpSettings { variance: VarianceKind::Observed, ..GpSettings::default() };
        let fitted = TreeGp::fit(&sample.forest, &sample.x, &sample.y, &settings).unwrap();
        assert!(fitted.posterior(sample.x.row(0)).variance > fitted.hyperparameters().noise_variance);
    }

    #[test]
    fn bad_input_is_refused() {
        let sample = sample(3, 12, 3, 5);
        let fit = |y: &[f64]| TreeGp::fit(&sample.forest, &sample.x, y, &GpSettings::default()).unwrap_err();
        assert_eq!(fit(&[1.0]), GpError::Length { rows: 5, targets: 1 });
        assert!(matches!(fit(&[1.0, f64::NAN, 0.0, 0.0, 0.0]), GpError::Target { row: 1, .. }));
        let zero = Hyperparameters { noise_variance: 0.0, ..AT };
        assert!(TreeGp::with_hyperparameters(&sample.forest, &sample.x, &sample.y, zero).is_err());
    }

    #[test]
    fn the_fit_does_not_depend_on_the_number_of_threads() {
        for sample in [sample(2, 20, 3, 400), sample(3, 12, 3, 25)] {
            let fit = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    TreeGp::fit(&sample.forest, &sample.x, &sample.y, &GpSettings::default()).unwrap()
                })
            };
            let (one, three) = (fit(1), fit(3));
            assert_eq!(one.hyperparameters(), three.hyperparameters());
            assert_eq!((one.weights, one.quadratic.factor), (three.weights, three.quadratic.factor));
        }
        assert_eq!(sample(1, 1, 1, 1).domains.len(), 3);
    }
}
