//! Whole numbers over a box, in `i128`: comparisons of whole numbers are decided exactly, and so they are checked.

use leafgp_constraints::Range;
use leafgp_constraints::statement::{Number, NumberId};

/// Least and largest value of an operation; `None` where it is not known to yield whole numbers that fit.
pub(super) type Whole = Option<(i128, i128)>;

/// Every whole number up to here is an f64.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(x: f64) -> Option<i128> {
    (x.fract() == 0.0 && x.abs() <= EXACT).then_some(x as i128)
}

/// The whole values of an operation over a box, from its operands'; `taken` says which alternatives of an `if` are possible.
pub(super) fn over(
    number: &Number,
    range: impl Fn(usize) -> Option<(f64, f64)>,
    of: impl Fn(NumberId) -> Whole,
    taken: impl Fn() -> (bool, bool),
) -> Whole {
    let corners = |a: NumberId, b: NumberId, operate: fn(i128, i128) -> Option<i128>| {
        let ((a, b), (c, d)) = (of(a)?, of(b)?);
        let at = [operate(a, c)?, operate(a, d)?, operate(b, c)?, operate(b, d)?];
        Some((at.into_iter().min()?, at.into_iter().max()?))
    };
    match *number {
        Number::Constant(value) => whole(value).map(|value| (value, value)),
        Number::Variable(v) => {
            let (lower, upper) = range(v)?;
            Some((whole(lower)?, whole(upper)?))
        }
        Number::Add(a, b) => corners(a, b, i128::checked_add),
        Number::Subtract(a, b) => corners(a, b, i128::checked_sub),
        Number::Multiply(a, b) => corners(a, b, i128::checked_mul),
        Number::Min(a, b) => corners(a, b, |a, b| Some(a.min(b))),
        Number::Max(a, b) => corners(a, b, |a, b| Some(a.max(b))),
        Number::Negate(a) => of(a).and_then(|(low, high)| Some((high.checked_neg()?, low.checked_neg()?))),
        Number::Abs(a) => {
            let (low, high) = of(a)?;
            let ends = [low.checked_abs()?, high.checked_abs()?];
            let least = if low <= 0 && high >= 0 { 0 } else { ends[0].min(ends[1]) };
            Some((least, ends[0].max(ends[1])))
        }
        Number::Power(a, exponent) if exponent.fract() == 0.0 && (0.0..=128.0).contains(&exponent) => {
            let (low, high) = of(a)?;
            let p = exponent as u32;
            let ends = [low.checked_pow(p)?, high.checked_pow(p)?];
            let turns = p > 0 && p.is_multiple_of(2) && low <= 0 && high >= 0;
            Some((if turns { 0 } else { ends[0].min(ends[1]) }, ends[0].max(ends[1])))
        }
        Number::If(_, a, b) => match taken() {
            (true, false) => of(a),
            (false, true) => of(b),
            _ => {
                let ((a, b), (c, d)) = (of(a)?, of(b)?);
                Some((a.min(c), b.max(d)))
            }
        },
        Number::Floor(a) | Number::Ceil(a) | Number::Whole(a) => of(a),
        Number::Power(..)
        | Number::Exponential(..)
        | Number::Divide(..)
        | Number::Sqrt(_)
        | Number::Exp(_)
        | Number::Log(_)
        | Number::Log10(_) => None,
    }
}

/// The ends of a range of numbers.
pub(super) fn ends(range: &Range) -> Option<(f64, f64)> {
    match range {
        Range::Interval { lower, upper } => Some((*lower, *upper)),
        Range::Levels(_) => None,
    }
}
