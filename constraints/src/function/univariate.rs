//! What the engine asks of a function of one argument.

use crate::interval::Interval;

/// A function of one argument, possibly with a constant parameter.
pub(crate) trait Univariate {
    /// What calls it, the usual name first; nothing for what is written with `^`.
    fn names(&self) -> &'static [&'static str];

    /// The constant exponent or base.
    fn parameter(&self) -> Option<f64> {
        None
    }

    /// The value that answers are checked with; NaN where the function is undefined.
    fn value(&self, x: f64) -> f64;

    /// The value, or the limit at an end of the domain: what local methods compute with.
    fn limit(&self, x: f64) -> f64 {
        self.value(x)
    }

    /// The slope at `x`; of a staircase, its trend.
    fn derivative(&self, x: f64) -> f64;

    /// `adjoint` times the derivative at `x`, where the value is `y`; finite for the ends of the domain where it can be.
    fn chain(&self, adjoint: f64, x: f64, _y: f64) -> f64 {
        adjoint * self.derivative(x)
    }

    /// `adjoint` times the derivatives over `x`, where the values are `y`.
    fn chain_over(&self, adjoint: Interval, x: Interval, y: Interval) -> Interval;

    /// Holds the value, real and in f64, of every `x` where it is defined; empty when there is none.
    fn image(&self, x: Interval) -> Interval;

    /// Holds every element of `x` whose value in f64 is in `y` (its real value is then in `real`).
    fn inverse(&self, x: Interval, y: Interval, real: Interval) -> Interval;

    /// Whether it is defined everywhere.
    fn is_total(&self) -> bool {
        true
    }

    /// Whether it is defined for every element of `x`.
    fn is_defined_over(&self, _x: Interval) -> bool {
        true
    }

    /// Whether the argument is a divisor: anything but zero.
    fn divides(&self) -> bool {
        false
    }

    /// Whether all values are whole, of whole arguments or of any.
    fn is_whole(&self, _whole_argument: bool) -> bool {
        false
    }

    /// Smallest and largest value that f64 evaluation yields for arguments from `low` to `high`, attained at the ends or not; `None` when
    /// that is not known to the last digit.
    fn attained(&self, _low: f64, _high: f64) -> Option<[f64; 2]> {
        None
    }

    /// The size of the value (see `expr/size.rs`) from its argument's and its magnitude; never falls in either.
    fn size(&self, _argument: f64, magnitude: f64) -> f64 {
        magnitude
    }

    /// A line below (or above) the function for every element of `x`, close at `at`; the values over `x` are `y`.
    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line>;
}

/// A line `slope * x + constant`, and how far rounding may have moved it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) constant: f64,
    pub(crate) error: f64,
}
