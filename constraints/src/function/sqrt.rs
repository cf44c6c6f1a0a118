//! Square root.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// The square root of `x >= 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sqrt;

impl Univariate for Sqrt {
    fn names(&self) -> &'static [&'static str] {
        &["sqrt"]
    }

    fn value(&self, x: f64) -> f64 {
        x.sqrt()
    }

    fn size(&self, argument: f64, _magnitude: f64) -> f64 {
        argument.sqrt()
    }

    fn derivative(&self, x: f64) -> f64 {
        0.5 / x.max(0.0).sqrt()
    }

    fn chain(&self, adjoint: f64, _x: f64, y: f64) -> f64 {
        adjoint * 0.5 / y.max(1e-150)
    }

    fn chain_over(&self, adjoint: Interval, _x: Interval, y: Interval) -> Interval {
        adjoint * 0.5 / y
    }

    /// The f64 root is correctly rounded.
    fn image(&self, x: Interval) -> Interval {
        if x.is_empty() || x.hi < 0.0 {
            return Interval::EMPTY;
        }
        let lo = if x.lo <= 0.0 { 0.0 } else { x.lo.sqrt().next_down() };
        Interval::new(lo, if x.hi == 0.0 { 0.0 } else { x.hi.sqrt().next_up() })
    }

    fn inverse(&self, _x: Interval, _y: Interval, real: Interval) -> Interval {
        real.intersect(Interval::new(0.0, f64::INFINITY)).sqr()
    }

    fn is_total(&self) -> bool {
        false
    }

    fn is_defined_over(&self, x: Interval) -> bool {
        x.lo >= 0.0
    }

    fn attained(&self, low: f64, high: f64) -> Option<[f64; 2]> {
        Some([low.sqrt(), high.sqrt()])
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        self.tangent_or_secant(x, y, at, below)
    }
}

impl Curve for Sqrt {
    fn stationary(&self, slope: f64) -> [f64; 2] {
        [0.25 / (slope * slope), f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(false)
    }
}
