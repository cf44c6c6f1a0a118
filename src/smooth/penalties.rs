//! Acquisitions that keep away from experiments that are still running.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::acquisition::{Acquisition, log_probability};
use super::descent::{AcquisitionSurface, Surface};
use super::process::{Evaluator, SmoothProcess};

/// Random points, besides the rows, at which the slope of the mean is looked at.
const SLOPE_POINTS: usize = 500;
/// Less slope than this says nothing: the surface is flat where it was looked at.
const LEAST_SLOPE: f64 = 1e-7;
/// What is taken instead (Gonzalez et al.'s own code).
const FLAT_SLOPE: f64 = 10.0;

/// An acquisition with a local penalty for each running experiment (Gonzalez et al. 2016, Eq. 6 and 7, as costs):
///
/// ```text
/// -ln g(a(u)) - sum_j ln Phi((L |u - u_j| - (mu_j - best)) / sigma_j)
/// ```
///
/// with the largest slope `L` of the mean, and `g` what makes the acquisition positive: the expected improvement is, and a lower bound `b` becomes `ln(1 + exp(-b))`.
/// Without running experiments the optimum is the acquisition's own.
#[derive(Debug)]
pub(super) struct PenalisedSurface<'a> {
    inner: AcquisitionSurface<'a>,
    /// Whether the acquisition is its own logarithm already.
    is_logarithm: bool,
    balls: Vec<Ball>,
    slope: f64,
    /// Which coordinates are a category's.
    category: Vec<bool>,
}

/// Around a running experiment.
#[derive(Debug)]
struct Ball {
    u: Vec<f64>,
    /// `mu_j - best`.
    lead: f64,
    deviation: f64,
}

impl<'a> PenalisedSurface<'a> {
    /// Penalties around the points `pending`, in variable order; the acquisition and the process are the same as those of `inner`.
    pub(super) fn new(
        inner: AcquisitionSurface<'a>,
        process: &SmoothProcess,
        acquisition: Acquisition,
        pending: &[Vec<f64>],
    ) -> Self {
        let ball = |x: &Vec<f64>| {
            let at = process.posterior(x);
            Ball { u: process.coordinates().of(x), lead: at.mean - process.best(), deviation: at.deviation() }
        };
        Self {
            inner,
            is_logarithm: acquisition == Acquisition::LogExpectedImprovement,
            balls: pending.iter().map(ball).collect(),
            slope: largest_slope(process),
            category: process.columns().category.clone(),
        }
    }

    /// The inner value made a cost whose negative exponential is positive, and its slope.
    fn logarithm(&self, value: f64) -> (f64, f64) {
        if self.is_logarithm {
            return (value, 1.0);
        }
        // s = ln(1 + exp(-b)), without overflow: -ln s, and d(-ln s)/db = 1/((1 + exp(b)) s).
        let tail = (-value.abs()).exp();
        let softplus = (-value).max(0.0) + tail.ln_1p();
        if softplus == 0.0 {
            return (value, 1.0);
        }
        let share = if value > 0.0 { tail / (1.0 + tail) } else { 1.0 / (1.0 + tail) };
        (-softplus.ln(), share / softplus)
    }

    fn distance(&self, ball: &Ball, u: &[f64]) -> f64 {
        let square = |j: usize| match self.category[j] {
            true => f64::from(u8::from(u[j] != ball.u[j])),
            false => (u[j] - ball.u[j]).powi(2),
        };
        (0..u.len()).map(square).sum::<f64>().sqrt()
    }

    /// The penalties at a point, and their slopes added.
    fn penalties(&self, u: &[f64], mut slopes: Option<&mut [f64]>) -> f64 {
        let mut sum = 0.0;
        for ball in &self.balls {
            let distance = self.distance(ball, u);
            let (value, by_z) = log_probability((self.slope * distance - ball.lead) / ball.deviation);
            sum -= value;
            if let Some(slopes) = slopes.as_deref_mut()
                && distance > 0.0
            {
                let factor = by_z * self.slope / (ball.deviation * distance);
                for j in (0..u.len()).filter(|&j| !self.category[j]) {
                    slopes[j] -= factor * (u[j] - ball.u[j]);
                }
            }
        }
        sum
    }
}

impl Surface for PenalisedSurface<'_> {
    fn value(&mut self, u: &[f64]) -> f64 {
        let value = self.inner.value(u);
        self.logarithm(value).0 + self.penalties(u, None)
    }

    fn value_and_slopes(&mut self, u: &[f64], slopes: &mut [f64]) -> f64 {
        let value = self.inner.value_and_slopes(u, slopes);
        let (value, by_value) = self.logarithm(value);
        slopes.iter_mut().for_each(|slope| *slope *= by_value);
        value + self.penalties(u, Some(slopes))
    }

    fn scales(&self) -> Vec<f64> {
        self.inner.scales()
    }
}

/// The largest slope of the mean over the rows and random points of the unit cube, the same ones each time.
fn largest_slope(process: &SmoothProcess) -> f64 {
    let columns = process.columns();
    let d = columns.values.len();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let rows = (0..columns.n_rows).map(|i| columns.values.iter().map(|column| column[i]).collect());
    let mut points: Vec<Vec<f64>> = rows.collect();
    for k in 0..SLOPE_POINTS {
        let point = (0..d).map(|j| match columns.category[j] {
            // A level that occurs.
            true => columns.values[j][k % columns.n_rows],
            false => rng.random(),
        });
        points.push(point.collect());
    }
    let mut evaluator = Evaluator::new(process);
    let (mut by_mean, mut by_variance) = (vec![0.0; d], vec![0.0; d]);
    let mut largest = 0.0f64;
    for u in points {
        evaluator.posterior(&u);
        evaluator.slopes(&u, &mut by_mean, &mut by_variance);
        largest = largest.max(by_mean.iter().map(|s| s * s).sum::<f64>().sqrt());
    }
    if largest < LEAST_SLOPE { FLAT_SLOPE } else { largest }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slopes_equal_finite_differences, coordinates, table};
    use super::{AcquisitionSurface, PenalisedSurface, Surface};
    use crate::smooth::process::Evaluator;
    use crate::smooth::{Acquisition, SmoothProcess, SmoothSettings};

    const KINDS: [Acquisition; 2] =
        [Acquisition::LogExpectedImprovement, Acquisition::LowerBound { kappa: 2.0 }];

    fn process() -> SmoothProcess {
        let (x, y) = table(21, 25);
        SmoothProcess::fit(&coordinates(), &x, &y, &SmoothSettings::default()).unwrap()
    }

    fn penalised(
        process: &SmoothProcess,
        acquisition: Acquisition,
        pending: Vec<Vec<f64>>,
    ) -> PenalisedSurface<'_> {
        let inner = AcquisitionSurface::new(Evaluator::new(process), acquisition);
        PenalisedSurface::new(inner, process, acquisition, &pending)
    }

    #[test]
    fn slopes_equal_finite_differences() {
        let process = process();
        for acquisition in KINDS {
            let pending = vec![vec![0.3, 0.1, 2.0, 1.0], vec![1.7, 5.0, 0.0, 0.0]];
            let mut surface = penalised(&process, acquisition, pending);
            assert_slopes_equal_finite_differences(&mut surface, &process, &acquisition);
        }
    }

    #[test]
    fn a_penalty_is_largest_at_the_running_experiment_and_vanishes_far_away() {
        let process = process();
        let pending = vec![0.3, 0.1, 2.0, 1.0];
        for acquisition in KINDS {
            let mut plain = penalised(&process, acquisition, Vec::new());
            let mut surface = penalised(&process, acquisition, vec![pending.clone()]);
            let at = process.coordinates().of(&pending);
            let mut penalty = |by: f64| {
                let mut u = at.clone();
                u[0] += by;
                surface.value(&u) - plain.value(&u)
            };
            let (here, near, far) = (penalty(0.0), penalty(0.05), penalty(1e3));
            assert!(here > near && near > far && far.abs() < 1e-9, "{here} {near} {far}");
        }
    }

    #[test]
    fn without_running_experiments_points_are_ordered_as_by_the_acquisition() {
        let process = process();
        for acquisition in KINDS {
            let mut surface = penalised(&process, acquisition, Vec::new());
            let mut inner = AcquisitionSurface::new(Evaluator::new(&process), acquisition);
            let points: Vec<Vec<f64>> =
                table(23, 30).0.rows().map(|point| process.coordinates().of(point)).collect();
            for pair in points.windows(2) {
                let plain = inner.value(&pair[0]).total_cmp(&inner.value(&pair[1]));
                assert_eq!(surface.value(&pair[0]).total_cmp(&surface.value(&pair[1])), plain);
            }
        }
    }
}
