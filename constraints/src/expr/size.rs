//! The size of a number: what the tolerance of a comparison is relative to.
//!
//! A comparison holds within a tolerance times the *size of its terms*, the larger of its two sides' sizes, as though every product of sums were multiplied out:
//!
//! | number | size |
//! |---|---|
//! | a number | its magnitude |
//! | a variable | its magnitude, at least [`RESOLUTION`] of its largest bound when its range includes zero |
//! | `a + b`, `a - b`, `min(a, b)`, `max(a, b)` | the larger of the two sizes |
//! | `-a`, `abs(a)`, a whole-valued define | the size of `a` |
//! | `a * b` | the product of the sizes |
//! | `a ^ p` with `p > 0`, `sqrt(a)` | the power of the size |
//! | `a / c` by a number `c` | the quotient of the size |
//! | `if(c, a, b)` | the size of the alternative that is taken |
//! | `log(a)`, `log10(a)` | the magnitude of the value, at least 1 |
//! | all else: `a / b`, negative powers, `exp(a)`, `floor(a)`, `ceil(a)` | the magnitude of the value |
//!
//! So a row holds or not whatever units its variables have: sums that cancel are judged by what cancels, not by what is left. This is the one definition; what
//! the compiled model says of sizes over boxes (`model/size.rs`) is a bound on it, and `leafgp-solver`'s certificates state it on their own.

use super::program::{Number, NumberId, Program};
use crate::domain::Domain;

/// Values of a range that includes zero are not told apart below this share of its larger bound: in a measured row 5.6e-17, a spreadsheet's 0.1 + 0.2 - 0.3,
/// is zero.
const RESOLUTION: f64 = 1e-9;

/// Least size of a variable.
pub(crate) fn least_size(domain: &Domain) -> f64 {
    let (lower, upper) = domain.bounds();
    if lower <= 0.0 && upper >= 0.0 { RESOLUTION * upper.max(-lower) } else { 0.0 }
}

/// The product of two sizes; nothing times anything is nothing.
pub(crate) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Program {
    /// The size of an operation whose value is `value`, from its operands' sizes; `taken` is the alternative that an `if` takes.
    pub(super) fn size(
        &self,
        number: &Number,
        value: f64,
        of: impl Fn(NumberId) -> f64,
        taken: impl Fn() -> Option<NumberId>,
    ) -> f64 {
        match *number {
            Number::Constant(_) => value.abs(),
            Number::Variable(v) => value.abs().max(self.least_size_of(v)),
            Number::Add(a, b) | Number::Subtract(a, b) | Number::Extreme(_, a, b) => of(a).max(of(b)),
            Number::Negate(a) | Number::Whole(a) => of(a),
            Number::Multiply(a, b) => times(of(a), of(b)),
            Number::Divide(a, b) => match self.constant(b) {
                Some(divisor) => of(a) / divisor.abs(),
                None => value.abs(),
            },
            Number::Apply(function, a) => function.size(of(a), value.abs()),
            Number::If(..) => taken().map_or(0.0, of),
        }
    }
}
