//! Rounding up.

use super::univariate::{Line, Univariate};
use crate::interval::{self, Interval};

/// The smallest whole number `>= x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ceil;

impl Univariate for Ceil {
    fn names(&self) -> &'static [&'static str] {
        &["ceil"]
    }

    fn value(&self, x: f64) -> f64 {
        x.ceil()
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
        if x.is_empty() { x } else { Interval::new(interval::ceil(x.lo), interval::ceil(x.hi)) }
    }

    fn inverse(&self, _x: Interval, y: Interval, _real: Interval) -> Interval {
        Interval::new((y.lo.ceil() - 1.0).next_up(), y.hi.floor())
    }

    fn is_whole(&self, _whole_argument: bool) -> bool {
        true
    }

    fn attained(&self, low: f64, high: f64) -> Option<[f64; 2]> {
        Some([low.ceil(), high.ceil()])
    }

    /// `x <= ceil(x) <= x + 1`.
    fn estimator(&self, _x: Interval, _y: Interval, _at: f64, below: bool) -> Option<Line> {
        Some(Line { slope: 1.0, constant: if below { 0.0 } else { 1.0 }, error: 0.0 })
    }
}
