//! Decimal logarithm.

use std::f64::consts::LN_10;

use super::curve::Curve;
use super::exponential::Exponential;
use super::univariate::{Line, Univariate};
use crate::interval::{Interval, down4, up4};

/// The logarithm to base 10 of `x > 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Log10;

impl Univariate for Log10 {
    fn names(&self) -> &'static [&'static str] {
        &["log10"]
    }

    fn value(&self, x: f64) -> f64 {
        if x > 0.0 { x.log10() } else { f64::NAN }
    }

    fn limit(&self, x: f64) -> f64 {
        x.log10()
    }

    /// The argument's unit moves the value by a number of the order of one.
    fn size(&self, _argument: f64, magnitude: f64) -> f64 {
        magnitude.max(1.0)
    }

    fn derivative(&self, x: f64) -> f64 {
        1.0 / (x * LN_10)
    }

    fn chain_over(&self, adjoint: Interval, x: Interval, _y: Interval) -> Interval {
        adjoint / (x * LN_10)
    }

    fn image(&self, x: Interval) -> Interval {
        if x.is_empty() || x.hi <= 0.0 {
            return Interval::EMPTY;
        }
        let lo = if x.lo <= 0.0 { f64::NEG_INFINITY } else { down4(x.lo.log10()) };
        Interval::new(lo, up4(x.hi.log10()))
    }

    fn inverse(&self, _x: Interval, _y: Interval, real: Interval) -> Interval {
        Exponential(10.0).image(real)
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

impl Curve for Log10 {
    fn stationary(&self, slope: f64) -> [f64; 2] {
        [1.0 / (slope * LN_10), f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(false)
    }
}
