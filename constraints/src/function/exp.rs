//! Exponential.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// `e ^ x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exp;

impl Univariate for Exp {
    fn names(&self) -> &'static [&'static str] {
        &["exp"]
    }

    fn value(&self, x: f64) -> f64 {
        x.exp()
    }

    fn derivative(&self, x: f64) -> f64 {
        x.exp()
    }

    fn chain(&self, adjoint: f64, _x: f64, y: f64) -> f64 {
        adjoint * y
    }

    fn chain_over(&self, adjoint: Interval, _x: Interval, y: Interval) -> Interval {
        adjoint * y
    }

    fn image(&self, x: Interval) -> Interval {
        x.exp()
    }

    fn inverse(&self, _x: Interval, _y: Interval, real: Interval) -> Interval {
        real.underflown().ln().loosened()
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        self.tangent_or_secant(x, y, at, below)
    }
}

impl Curve for Exp {
    fn stationary(&self, slope: f64) -> [f64; 2] {
        [slope.ln(), f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(true)
    }
}
