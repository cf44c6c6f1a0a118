//! The log marginal likelihood, its gradient, and the fit of the hyperparameters.

use serde::{Deserialize, Serialize};

use super::adam::{Adam, Logit};
use super::spectrum::Spectrum;
use super::{GpError, GpSettings, MeanKind};

/// What the kernel leaves open: `k(x, x') = signal_variance / T * #{t : leaf_t(x) = leaf_t(x')}`, targets `y = f + noise`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hyperparameters {
    /// Prior variance of the function, `s2 > 0`.
    pub signal_variance: f64,
    /// Variance of the noise, `nz > 0`.
    pub noise_variance: f64,
    /// Prior mean of the function.
    pub mean: f64,
}

/// Smallest noise variance, as a share of the signal variance: the deviation at the data is right to some nine digits there, and to none at 1e-30.
pub(super) const LEAST_NOISE: f64 = 1e-12;

/// Variances whose reciprocals, too, the solver takes, and whose sums and products keep their digits.
const VARIANCES: std::ops::RangeInclusive<f64> = 1e-90..=1e90;

impl Hyperparameters {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`GpError::Setting`]: a variance that is not a number from 1e-90 to 1e90, a noise variance below 1e-12 of the signal variance (f64 cannot tell the deviation
    /// from 0 there), or a mean that is not finite.
    pub fn validate(&self) -> Result<(), GpError> {
        let variance = |value: &f64| VARIANCES.contains(value);
        let fields = [
            ("signal_variance", self.signal_variance, variance(&self.signal_variance), "from 1e-90 to 1e90"),
            ("noise_variance", self.noise_variance, variance(&self.noise_variance), "from 1e-90 to 1e90"),
            ("mean", self.mean, self.mean.is_finite(), "a finite number"),
        ];
        for (name, value, in_range, expected) in fields {
            if !in_range {
                return Err(GpError::Setting { name, value: format!("{value:?}"), expected });
            }
        }
        if self.noise_variance < LEAST_NOISE * self.signal_variance {
            let (name, value) = ("noise_variance", format!("{:?}", self.noise_variance));
            return Err(GpError::Setting { name, value, expected: "at least 1e-12 of signal_variance" });
        }
        Ok(())
    }
}

/// Log marginal likelihood. With `a = s2/T`, eigenvalues `e_k` of `Z Z'`, `d_k = a e_k + nz` and `r = y - mean` in the basis of the
/// spectrum, in O(rank),
///
/// ```text
/// -2 L = sum r_k^2/d_k + rest/nz + sum log d_k + (m - rank) log nz + m log(2 pi)
/// ```
pub(super) fn log_likelihood(spectrum: &Spectrum, at: &Hyperparameters) -> f64 {
    let scale = at.signal_variance / spectrum.n_trees as f64;
    let noise = at.noise_variance;
    let mut square = spectrum.rest / noise;
    let mut log_det = (spectrum.n_rows - spectrum.rank()) as f64 * noise.ln();
    for (k, &eigenvalue) in spectrum.eigenvalues.iter().enumerate() {
        let d = scale * eigenvalue + noise;
        square += (spectrum.targets[k] - at.mean * spectrum.ones[k]).powi(2) / d;
        log_det += d.ln();
    }
    -0.5 * (square + log_det + spectrum.n_rows as f64 * std::f64::consts::TAU.ln())
}

/// Derivatives of [`log_likelihood`] by signal variance, noise variance and mean, in O(rank).
pub(super) fn gradient(spectrum: &Spectrum, at: &Hyperparameters) -> [f64; 3] {
    let scale = at.signal_variance / spectrum.n_trees as f64;
    let noise = at.noise_variance;
    let n_outside = (spectrum.n_rows - spectrum.rank()) as f64;
    let mut by_scale = 0.0;
    let mut by_noise = spectrum.rest / (noise * noise) - n_outside / noise;
    let mut by_mean = 0.0;
    for (k, &eigenvalue) in spectrum.eigenvalues.iter().enumerate() {
        let precision = 1.0 / (scale * eigenvalue + noise);
        let whitened = (spectrum.targets[k] - at.mean * spectrum.ones[k]) * precision;
        let slope = whitened * whitened - precision;
        by_scale += eigenvalue * slope;
        by_noise += slope;
        by_mean += spectrum.ones[k] * whitened;
    }
    [0.5 * by_scale / spectrum.n_trees as f64, 0.5 * by_noise, by_mean]
}

/// Maximises the likelihood as GPyTorch users do: Adam on `-L/m`, variances in logit coordinates of their intervals from the midpoint, a
/// constant mean from 0.
pub(super) fn maximise(spectrum: &Spectrum, settings: &GpSettings) -> Hyperparameters {
    let signal = Logit::new(settings.signal_interval);
    let noise = Logit::new(settings.noise_interval);
    let read = |raw: &[f64; 3]| Hyperparameters {
        signal_variance: signal.value(raw[0]).0,
        noise_variance: noise.value(raw[1]).0,
        mean: raw[2],
    };
    let mut raw = [0.0; 3];
    let mut adam = Adam::new(settings.learning_rate);
    for _ in 0..settings.epochs {
        let [by_signal, by_noise, by_mean] = gradient(spectrum, &read(&raw));
        let by_mean = if settings.mean == MeanKind::Constant { by_mean } else { 0.0 };
        let uphill = [by_signal * signal.value(raw[0]).1, by_noise * noise.value(raw[1]).1, by_mean];
        adam.step(&mut raw, &uphill.map(|g| -g / spectrum.n_rows as f64));
    }
    read(&raw)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::constraints::Limits;

    use super::super::leaf_matrix::LeafMatrix;
    use super::super::testing::{Explicit, sample};
    use super::{Hyperparameters, Spectrum, gradient, log_likelihood, maximise};
    use crate::gp::{GpError, GpSettings, MeanKind};

    const CASES: [(u64, usize, usize, usize); 4] =
        [(1, 20, 3, 6), (2, 6, 2, 60), (3, 12, 3, 25), (9, 4, 4, 1)];

    #[test]
    fn value_equals_the_explicit_inverse_and_determinant() {
        for (seed, n_trees, depth, n_rows) in CASES {
            let sample = sample(seed, n_trees, depth, n_rows);
            let z = LeafMatrix::new(&sample.forest, &sample.x).unwrap();
            for (signal, noise, mean) in [(0.7, 0.05, 0.0), (3.0, 5e-4, 0.3), (0.05, 0.2, -1.0)] {
                let at = Hyperparameters { signal_variance: signal, noise_variance: noise, mean };
                let explicit = Explicit::new(&sample, signal, noise, mean).log_likelihood;
                let no_limits = Limits::default();
                for spectrum in [
                    Spectrum::from_points(&z, &sample.y, &no_limits),
                    Spectrum::from_leaves(&z, &sample.y, &no_limits),
                ] {
                    let value = log_likelihood(&spectrum.unwrap(), &at);
                    assert!((value - explicit).abs() <= 1e-9 * explicit.abs().max(1.0), "{value} {explicit}");
                }
            }
        }
    }

    #[test]
    fn gradient_equals_finite_differences() {
        for (seed, n_trees, depth, n_rows) in CASES {
            let sample = sample(seed, n_trees, depth, n_rows);
            let z = LeafMatrix::new(&sample.forest, &sample.x).unwrap();
            let spectrum = Spectrum::new(&z, &sample.y, &Limits::default()).unwrap();
            for at in [[0.7, 0.05, 0.0], [3.0, 5e-3, 0.3], [0.05, 0.2, -1.0]] {
                let read =
                    |p: [f64; 3]| Hyperparameters { signal_variance: p[0], noise_variance: p[1], mean: p[2] };
                let slopes = gradient(&spectrum, &read(at));
                for i in 0..3 {
                    let h = 1e-5 * at[i].abs().max(1e-3);
                    let moved = |by: f64| {
                        let mut p = at;
                        p[i] += by;
                        log_likelihood(&spectrum, &read(p))
                    };
                    // Fourth order, so that truncation stays below the tolerance at the smallest noise.
                    let difference =
                        (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
                    let error = (slopes[i] - difference).abs() / difference.abs().max(1.0);
                    assert!(error < 1e-6, "parameter {i}: {} {difference}", slopes[i]);
                }
            }
        }
    }

    #[test]
    fn the_fit_climbs_and_stays_inside_its_intervals() {
        let sample = sample(3, 12, 3, 25);
        let z = LeafMatrix::new(&sample.forest, &sample.x).unwrap();
        let spectrum = Spectrum::new(&z, &sample.y, &Limits::default()).unwrap();
        let mut settings = GpSettings { epochs: 0, ..GpSettings::default() };
        let start = maximise(&spectrum, &settings);
        assert_eq!((start.signal_variance, start.noise_variance, start.mean), (10.025, 0.10025, 0.0));
        let mut previous = log_likelihood(&spectrum, &start);
        for epochs in [20, 200, 2000] {
            settings.epochs = epochs;
            let fitted = maximise(&spectrum, &settings);
            assert_eq!(fitted.mean, 0.0);
            assert!(fitted.signal_variance > 0.05 && fitted.noise_variance < 0.2);
            let value = log_likelihood(&spectrum, &fitted);
            assert!(value >= previous, "{epochs} epochs: {value} < {previous}");
            previous = value;
        }
        settings.mean = MeanKind::Constant;
        let fitted = maximise(&spectrum, &settings);
        assert!(fitted.mean != 0.0 && log_likelihood(&spectrum, &fitted) > previous);
        // At the best constant the slope is 0; Adam's steps have not died out completely.
        assert!(gradient(&spectrum, &fitted)[2].abs() < 2e-3);
    }

    #[test]
    fn hyperparameters_out_of_range_are_named() {
        let good = Hyperparameters { signal_variance: 1.0, noise_variance: 0.1, mean: 0.0 };
        good.validate().unwrap();
        for (bad, field) in [
            (Hyperparameters { signal_variance: 0.0, ..good }, "signal_variance"),
            (Hyperparameters { signal_variance: 5e-324, ..good }, "signal_variance"),
            (Hyperparameters { noise_variance: 1e91, ..good }, "noise_variance"),
            (Hyperparameters { noise_variance: f64::NAN, ..good }, "noise_variance"),
            (Hyperparameters { noise_variance: f64::INFINITY, ..good }, "noise_variance"),
            (Hyperparameters { mean: f64::NAN, ..good }, "mean"),
        ] {
            assert!(matches!(bad.validate(), Err(GpError::Setting { name, .. }) if name == field));
        }
    }
}
