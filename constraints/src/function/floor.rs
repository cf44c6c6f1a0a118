//! Rounding down.

use super::univariate::{Line, Univariate};
use crate::interval::{self, Interval};

/// The largest whole number `<= x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Floor;

impl Univariate for Floor {
    fn names(&self) -> &'static [&'static str] {
        &["floor"]
    }

    fn value(&self, x: f64) -> f64 {
        x.floor()
    }

    /// Steps have no slope; the trend is what a search direction can use.
    fn derivative(&self, _x: f64) -> f64 {
        1.0
    }

    /// A staircase lies within one of its argument: its trend, a little blurred.
    fn chain_over(&self, adjoint: Interval, _x: Interval, _y: Interval) -> Interval {
        adjoint * Interval::new(0.5, 1.5)
    }

    fn image(&self, x: Interval) -> Interval {
        if x.is_empty() { x } else { Interval::new(interval::floor(x.lo), interval::floor(x.hi)) }
    }

    fn inverse(&self, _x: Interval, y: Interval, _real: Interval) -> Interval {
        Interval::new(y.lo.ceil(), (y.hi.floor() + 1.0).next_down())
    }

    fn is_whole(&self, _whole_argument: bool) -> bool {
        true
    }

    fn attained(&self, low: f64, high: f64) -> Option<[f64; 2]> {
        Some([low.floor(), high.floor()])
    }

    /// `x - 1 <= floor(x) <= x`.
    fn estimator(&self, _x: Interval, _y: Interval, _at: f64, below: bool) -> Option<Line> {
        Some(Line { slope: 1.0, constant: if below { -1.0 } else { 0.0 }, error: 0.0 })
    }
}
