//! Natural logarithm.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// The natural logarithm of `x > 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Log;

impl Univariate for Log {
    fn names(&self) -> &'static [&'static str] {
        &["log", "ln"]
    }

    fn value(&self, x: f64) -> f64 {
        if x > 0.0 { x.ln() } else { f64::NAN }
    }

    fn limit(&self, x: f64) -> f64 {
        x.ln()
    }

    /// The argument's unit moves the value by a number of the order of one.
    fn size(&self, _argument: f64, magnitude: f64) -> f64 {
        magnitude.max(1.0)
    }

    fn derivative(&self, x: f64) -> f64 {
        1.0 / x
    }

    fn chain(&self, adjoint: f64, x: f64, _y: f64) -> f64 {
        adjoint / x
    }

    fn chain_over(&self, adjoint: Interval, x: Interval, _y: Interval) -> Interval {
        adjoint / x
    }

    fn image(&self, x: Interval) -> Interval {
        x.ln()
    }

    fn inverse(&self, _x: Interval, _y: Interval, real: Interval) -> Interval {
        real.exp()
    }

    fn is_total(&self) -> bool {
        false
    }

    fn is_defined_over(&self, x: Interval) -> bool {
        x.lo > 0.0
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        self.tangent_or_secant(x, y, at, below)
    }
}

impl Curve for Log {
    fn stationary(&self, slope: f64) -> [f64; 2] {
        [1.0 / slope, f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(false)
    }
}
