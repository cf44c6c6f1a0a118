//! A constant positive base raised to the argument.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// `base ^ x` for a base above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exponential(pub(super) f64);

impl Univariate for Exponential {
    fn names(&self) -> &'static [&'static str] {
        &[]
    }

    fn parameter(&self) -> Option<f64> {
        Some(self.0)
    }

    fn value(&self, x: f64) -> f64 {
        self.0.powf(x)
    }

    fn derivative(&self, x: f64) -> f64 {
        self.0.ln() * self.0.powf(x)
    }

    fn chain(&self, adjoint: f64, _x: f64, y: f64) -> f64 {
        adjoint * y * self.0.ln()
    }

    fn chain_over(&self, adjoint: Interval, _x: Interval, y: Interval) -> Interval {
        adjoint * (y * self.0.ln())
    }

    fn image(&self, x: Interval) -> Interval {
        if x.is_empty() {
            return x;
        }
        let (a, b) = (self.0.powf(x.lo), self.0.powf(x.hi));
        let hull = Interval::new(a.min(b), a.max(b)).loosened();
        Interval::new(hull.lo.max(0.0), hull.hi)
    }

    fn inverse(&self, _x: Interval, _y: Interval, real: Interval) -> Interval {
        if self.0 == 1.0 {
            return Interval::ENTIRE;
        }
        (real.underflown().ln() / Interval::point(self.0.ln())).loosened()
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        // The interval extension says all about a constant.
        if self.0 == 1.0 { None } else { self.tangent_or_secant(x, y, at, below) }
    }
}

impl Curve for Exponential {
    fn stationary(&self, slope: f64) -> [f64; 2] {
        let rate = self.0.ln();
        [(slope / rate).ln() / rate, f64::NAN]
    }

    fn is_convex(&self, _l: f64, _u: f64) -> Option<bool> {
        Some(true)
    }
}
