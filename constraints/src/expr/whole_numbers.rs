//! Whole numbers, decided exactly: comparisons of expressions that yield whole numbers of whole coordinates.
//!
//! Below 2^53 f64 evaluation is exact and only the tolerance has to go; beyond it the operations are done in `i128`.

use super::program::{Number, NumberId, Program};
use crate::domain::Domain;
use crate::function::{Extreme, Function};

/// Every whole number up to here is an f64.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;
/// Larger magnitudes are left to f64: well inside `i128`, whose roundings in the bounds below are covered.
const LARGEST: f64 = 1e36;

/// The largest magnitude of a domain of whole numbers.
pub(super) fn largest_whole(domain: &Domain) -> Option<f64> {
    let is_whole = match domain {
        Domain::Integer { .. } => true,
        Domain::Grid(grid) => grid.numerators().2 == 0,
        Domain::Discrete(values) => values.iter().all(|v| v.fract() == 0.0),
        Domain::Continuous { .. } | Domain::Categorical { .. } => false,
    };
    let (lower, upper) = domain.bounds();
    let largest = upper.max(-lower);
    (is_whole && largest <= EXACT).then_some(largest)
}

/// The exponent of a power that keeps whole numbers whole.
fn exponent(function: Function) -> Option<u32> {
    let p = function.exponent()?;
    ((0.0..=128.0).contains(&p) && p.fract() == 0.0).then_some(p as u32)
}

fn is_named(function: Function, names: &[&str]) -> bool {
    function.names().first().is_some_and(|name| names.contains(name))
}

impl Program {
    /// A bound on the magnitudes that an operation on whole numbers meets; `None` when it may yield others.
    pub(super) fn whole_magnitude(&self, number: &Number) -> Option<f64> {
        let bound = match *number {
            Number::Constant(value) => (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value.abs()),
            Number::Variable(v) => self.whole_domain(v),
            Number::Add(a, b) | Number::Subtract(a, b) => Some(self.whole(a)? + self.whole(b)?),
            Number::Multiply(a, b) => {
                let (a, b) = (self.whole(a)?, self.whole(b)?);
                Some((a * b).max(a).max(b))
            }
            Number::Extreme(_, a, b) | Number::If(_, a, b) => Some(self.whole(a)?.max(self.whole(b)?)),
            Number::Negate(a) | Number::Whole(a) => self.whole(a),
            Number::Apply(function, a) if is_named(function, &["abs", "floor", "ceil"]) => self.whole(a),
            Number::Apply(function, a) => {
                let p = exponent(function)?;
                let a = self.whole(a)?;
                Some(a.max(1.0).powi(p as i32).max(a))
            }
            Number::Divide(..) => None,
        };
        bound.filter(|&bound| bound <= LARGEST)
    }

    /// The value of a whole-number operation at a point: from its operands' values, a variable's coordinate, and the alternative that an `if` takes. `None`
    /// where a coordinate is not whole (a user's row).
    pub(super) fn whole_value(
        &self,
        number: &Number,
        of: impl Fn(NumberId) -> Option<i128>,
        coordinate: impl Fn(usize) -> f64,
        taken: impl Fn() -> Option<NumberId>,
    ) -> Option<i128> {
        let whole = |x: f64| (x.fract() == 0.0 && x.abs() <= EXACT).then_some(x as i128);
        match *number {
            Number::Constant(value) => whole(value),
            Number::Variable(v) => whole(coordinate(v)),
            Number::Add(a, b) => of(a)?.checked_add(of(b)?),
            Number::Subtract(a, b) => of(a)?.checked_sub(of(b)?),
            Number::Multiply(a, b) => of(a)?.checked_mul(of(b)?),
            Number::Extreme(Extreme::Min, a, b) => Some(of(a)?.min(of(b)?)),
            Number::Extreme(Extreme::Max, a, b) => Some(of(a)?.max(of(b)?)),
            Number::If(..) => of(taken()?),
            Number::Negate(a) => of(a)?.checked_neg(),
            Number::Whole(a) => of(a),
            Number::Apply(function, a) => match exponent(function) {
                Some(p) => of(a)?.checked_pow(p),
                None if is_named(function, &["abs"]) => of(a)?.checked_abs(),
                None if is_named(function, &["floor", "ceil"]) => of(a),
                None => None,
            },
            Number::Divide(..) => None,
        }
    }
}
