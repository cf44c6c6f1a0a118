//! Sizes over a box: what the tolerance of an equality is relative to. The definition is that of `docs/certificate-format.md`.

use leafgp_constraints::Domain;
use leafgp_constraints::statement::{Number, NumberId, Statement};

use super::values::Values;

/// Share of its largest bound that a variable whose range includes zero counts as, at least.
const RESOLUTION: f64 = 1e-9;

/// No less than the size of an operation at any point of a box, from its values there and its operands' sizes; `taken` says which alternatives of an `if` are
/// possible.
pub(super) fn size(
    statement: &Statement<'_>,
    number: &Number,
    value: Values,
    of: impl Fn(NumberId) -> f64,
    taken: impl Fn() -> (bool, bool),
) -> f64 {
    match *number {
        Number::Variable(v) => value.magnitude().max(least(&statement.domains[v])),
        Number::Add(a, b) | Number::Subtract(a, b) | Number::Min(a, b) | Number::Max(a, b) => {
            of(a).max(of(b))
        }
        Number::Negate(a) | Number::Abs(a) | Number::Whole(a) => of(a),
        Number::Multiply(a, b) => times(of(a), of(b)),
        Number::Divide(a, b) => match statement.numbers[b.0 as usize] {
            Number::Constant(divisor) => of(a) / divisor.abs(),
            _ => value.magnitude(),
        },
        Number::Power(a, 2.0) => of(a) * of(a),
        Number::Power(a, exponent) if exponent > 0.0 => {
            // The library's power, rounded up.
            (0..4).fold(of(a).powf(exponent), |size, _| size.next_up())
        }
        Number::Sqrt(a) => of(a).sqrt(),
        Number::Log(_) | Number::Log10(_) => value.magnitude().max(1.0),
        Number::If(_, a, b) => {
            let (yes, no) = taken();
            let a = if yes { of(a) } else { 0.0 };
            if no { a.max(of(b)) } else { a }
        }
        Number::Constant(_)
        | Number::Power(..)
        | Number::Exponential(..)
        | Number::Exp(_)
        | Number::Floor(_)
        | Number::Ceil(_) => value.magnitude(),
    }
}

/// The least size of a variable.
fn least(domain: &Domain) -> f64 {
    let (lower, upper) = domain.bounds();
    if lower <= 0.0 && upper >= 0.0 { RESOLUTION * upper.max(-lower) } else { 0.0 }
}

/// Nothing times anything is nothing.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
