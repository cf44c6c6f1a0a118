//! Absolute value.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// `|x|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Abs;

impl Univariate for Abs {
    fn names(&self) -> &'static [&'static str] {
        &["abs"]
    }

    fn value(&self, x: f64) -> f64 {
        x.abs()
    }

    fn size(&self, argument: f64, _magnitude: f64) -> f64 {
        argument
    }

    fn derivative(&self, x: f64) -> f64 {
        if x < 0.0 { -1.0 } else { 1.0 }
    }

    fn chain_over(&self, adjoint: Interval, x: Interval, _y: Interval) -> Interval {
        let sign = Interval::new(if x.lo < 0.0 { -1.0 } else { 1.0 }, if x.hi > 0.0 { 1.0 } else { -1.0 });
        adjoint * sign
    }

    fn image(&self, x: Interval) -> Interval {
        x.abs()
    }

    /// Nothing is rounded.
    fn inverse(&self, x: Interval, y: Interval, _real: Interval) -> Interval {
        x.intersect(y).hull(x.intersect(-y))
    }

    fn is_whole(&self, whole_argument: bool) -> bool {
        whole_argument
    }

    fn attained(&self, low: f64, high: f64) -> Option<[f64; 2]> {
        let most = low.abs().max(high.abs());
        let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        Some([least, most])
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        self.tangent_or_secant(x, y, at, below)
    }
}

impl Curve for Abs {
    fn stationary(&self, _slope: f64) -> [f64; 2] {
        [0.0, f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(true)
    }
}
