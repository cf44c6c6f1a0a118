//! What a suggestion minimises, as a function of mean and deviation.

use super::process::Posterior;

/// `ln(sqrt(2 pi))`.
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// From here on the tail is a continued fraction.
const TAIL: f64 = 1.2;
/// Its terms: the error at [`TAIL`] is about `exp(-2 TAIL sqrt(2 TERMS))`, below 1e-17.
const TERMS: u32 = 160;

/// What a suggestion minimises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acquisition {
    /// `-ln EI`, the expected improvement `EI = sigma h(z)` on the smallest posterior mean at a measured row, `h(z) = phi(z) + z Phi(z)`,
    /// `z = (best - mu)/sigma`. The logarithm has slopes where EI itself is 0 in floating point.
    LogExpectedImprovement,
    /// `mu - kappa sigma`.
    LowerBound {
        /// Weight of the deviation, at least 0.
        kappa: f64,
    },
}

/// A value and its slopes in mean and deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slopes {
    pub(super) value: f64,
    pub(super) by_mean: f64,
    pub(super) by_deviation: f64,
}

impl Acquisition {
    /// In the words of the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::LogExpectedImprovement => "expected improvement",
            Self::LowerBound { .. } => "lower bound",
        }
    }

    /// The value at a posterior; `best` is the smallest posterior mean at a measured row.
    pub fn value(&self, at: Posterior, best: f64) -> f64 {
        self.slopes(at, best).value
    }

    pub(super) fn slopes(&self, at: Posterior, best: f64) -> Slopes {
        let sigma = at.deviation();
        match *self {
            Self::LowerBound { kappa } => {
                Slopes { value: at.mean - kappa * sigma, by_mean: 1.0, by_deviation: -kappa }
            }
            Self::LogExpectedImprovement => {
                let improvement = Improvement::new((best - at.mean) / sigma);
                Slopes {
                    value: -(sigma.ln() + improvement.ln_h),
                    by_mean: improvement.distribution / sigma,
                    by_deviation: -improvement.density / sigma,
                }
            }
        }
    }
}

/// `ln Phi(z)` and its slope `phi(z)/Phi(z)`, for any `z`.
pub(super) fn log_probability(z: f64) -> (f64, f64) {
    let at = Improvement::new(z);
    (at.ln_h + at.distribution.ln(), at.density / at.distribution)
}

/// `ln h(z)` and the ratios `Phi/h` and `phi/h`, which are its slopes: `(ln h)' = Phi/h`, `1 - z Phi/h = phi/h`.
#[derive(Clone, Copy, Debug)]
struct Improvement {
    ln_h: f64,
    distribution: f64,
    density: f64,
}

impl Improvement {
    fn new(z: f64) -> Self {
        if z < -TAIL {
            // Mills' ratio is Phi(z)/phi(z) = 1/(t + C), t = -z, with C = 1/(t + 2/(t + 3/(t + ...))): then h/phi = 1 - t/(t + C) without cancellation.
            let t = (-z).min(1e150);
            let c = fraction(t);
            return Self {
                ln_h: -0.5 * t * t - LN_SQRT_2PI + (c / (t + c)).ln(),
                distribution: 1.0 / c,
                density: (t + c) / c,
            };
        }
        let z = z.min(1e150);
        let density = (-0.5 * z * z - LN_SQRT_2PI).exp();
        let distribution =
            if z > TAIL { 1.0 - density / (z + fraction(z)) } else { 0.5 + density * odd_series(z) };
        let h = density + z * distribution;
        Self { ln_h: h.ln(), distribution: distribution / h, density: density / h }
    }
}

/// `1/(t + 2/(t + 3/(t + ...)))`.
fn fraction(t: f64) -> f64 {
    let mut tail = 0.0;
    for k in (1..=TERMS).rev() {
        tail = f64::from(k) / (t + tail);
    }
    tail
}

/// `(Phi(z) - 1/2)/phi(z) = z + z^3/3 + z^5/(3 5) + ...` for `|z| <= 2`.
fn odd_series(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    for k in 1..40 {
        term *= z * z / f64::from(2 * k + 1);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{Acquisition, Improvement, log_probability};
    use crate::smooth::Posterior;

    /// `z`, `ln h(z)`, `Phi(z)/h(z)` from arithmetic of 60 digits, rounded (erfc; below -50 numerical integration).
    const EXACT: [(f64, f64, f64); 25] = [
        (9.0, 2.1972245773362196, 0.1111111111111111),
        (5.0, 1.6094379231264313, 0.19999994053122006),
        (3.0, 1.0987396653277077, 0.3328409684517952),
        (2.5, 0.9170920655921645, 0.39719771838373846),
        (2.0, 0.6973835457882284, 0.48655931878528386),
        (1.0, 0.08002621884930694, 0.7766387252017393),
        (0.5, -0.3598276837450638, 0.9909227180041099),
        (0.0, -0.9189385332046728, 1.2533141373155003),
        (-0.5, -1.6205162643873199, 1.5598731483480797),
        (-1.0, -2.4851210257126413, 1.9042712333296918),
        (-1.999, -4.766104517240974, 2.6785964810460032),
        (-2.0, -4.768783523917114, 2.679416883955586),
        (-2.001, -4.771463351034321, 2.680237363173457),
        (-3.0, -7.869686059603029, 3.5323375176251606),
        (-4.999, -16.738939816412742, 5.360876258267303),
        (-5.0, -16.74430116266099, 5.361816241288088),
        (-5.001, -16.749663448901437, 5.362756242662516),
        (-8.0, -37.12236426169263, 8.239396506840066),
        (-12.0, -77.90910054500735, 12.16335257158574),
        (-20.0, -206.9178385094251, 20.099262811101283),
        (-30.0, -457.724653760598, 30.06644615416242),
        (-38.0, -730.1961834021138, 38.05252276004133),
        (-40.0, -808.29856835662, 40.04990665764852),
        (-100.0, -5010.12957880025, 100.01999400419587),
        (-1000000.0, -500000000028.55, 1000000.000002),
    ];

    #[test]
    fn the_improvement_agrees_with_forty_digits() {
        for (z, ln_h, distribution) in EXACT {
            let found = Improvement::new(z);
            assert!((found.ln_h - ln_h).abs() <= 4e-15 * ln_h.abs().max(1.0), "{z}: {} {ln_h}", found.ln_h);
            assert!(
                (found.distribution / distribution - 1.0).abs() < 4e-14,
                "{z}: {} {distribution}",
                found.distribution
            );
            let density = 1.0 - z * distribution;
            assert!(
                (found.density - density).abs() <= 1e-12 * density.abs() + 1e-15 * (z * distribution).abs(),
                "{z}"
            );
        }
    }

    #[test]
    fn the_probability_agrees_with_forty_digits_and_has_the_slope_stated() {
        // Phi(z) = (Phi/h) h.
        for (z, ln_h, distribution) in EXACT {
            let (value, slope) = log_probability(z);
            let expected = ln_h + distribution.ln();
            assert!((value - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{z}: {value} {expected}");
            if z.abs() < 50.0 {
                let h = 1e-4;
                let difference = (log_probability(z + h).0 - log_probability(z - h).0) / (2.0 * h);
                assert!((slope - difference).abs() < 1e-6 * slope.max(1.0), "{z}: {slope} {difference}");
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_value() {
        for acquisition in [Acquisition::LogExpectedImprovement, Acquisition::LowerBound { kappa: 2.0 }] {
            for (mean, sigma) in [(0.3, 0.5), (-1.0, 0.4), (1.5, 0.3), (4.0, 0.1), (-0.2, 1e-3), (2.3, 0.9)] {
                let value = |mean: f64, sigma: f64| {
                    acquisition.value(Posterior { mean, variance: sigma * sigma }, 0.1)
                };
                let slopes = acquisition.slopes(Posterior { mean, variance: sigma * sigma }, 0.1);
                let h = 1e-5 * sigma;
                let by_mean = (value(mean + h, sigma) - value(mean - h, sigma)) / (2.0 * h);
                let by_deviation = (value(mean, sigma + h) - value(mean, sigma - h)) / (2.0 * h);
                assert!((slopes.by_mean - by_mean).abs() < 1e-6 * by_mean.abs().max(1.0), "{mean} {sigma}");
                assert!(
                    (slopes.by_deviation - by_deviation).abs() < 1e-6 * by_deviation.abs().max(1.0),
                    "{mean} {sigma}"
                );
            }
        }
    }

    #[test]
    fn the_far_tails_are_finite_and_ordered() {
        let value = |z: f64| Improvement::new(z).ln_h;
        let mut previous = f64::INFINITY;
        for k in 0..200 {
            let z = 10.0 - 1.3f64.powi(k);
            let here = value(z);
            assert!(here < previous, "{z}");
            previous = here;
        }
        for z in [-1e9, -1e100, -1e200, f64::NEG_INFINITY, 1e200, f64::INFINITY] {
            let found = Improvement::new(z);
            assert!(
                !found.ln_h.is_nan() && found.distribution.is_finite() && found.density.is_finite(),
                "{z} {found:?}"
            );
        }
    }
}
