//! What an equation over discrete variables can come to: sums of whole multiples of rational steps.
//!
//! `0.3 n + 0.25 m == 1` asks for a multiple of 1/20 among others: coefficients, grids and lists are read as the fractions they were
//! written as, with a bound on the difference to the f64 at hand, so that the test is a proof for the values as printed.

use crate::domain::Domain;
use crate::interval::Interval;

/// Denominators and numerators beyond this are no longer what somebody wrote.
const LARGEST: i128 = 1 << 50;
/// A fraction this close to a number, relative to it, is the number.
const CLOSE: f64 = 4.0 * f64::EPSILON;

/// `numerator / denominator`, `denominator > 0`, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    const ZERO: Self = Self { numerator: 0, denominator: 1 };

    fn new(numerator: i128, denominator: i128) -> Self {
        let divisor = gcd(numerator, denominator).max(1);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// The simplest fraction within a few ulps of `x`, by its continued fraction; `None` when it is not simple.
    fn near(x: f64) -> Option<Self> {
        if x.is_nan() || x.abs() >= 2f64.powi(53) {
            return None;
        }
        if x.fract() == 0.0 {
            return Some(Self { numerator: x as i128, denominator: 1 });
        }
        let (mut before, mut now) = ((0_i128, 1_i128), (1_i128, 0_i128));
        let mut rest = x.abs();
        for _ in 0..40 {
            let whole = rest.floor();
            if whole >= LARGEST as f64 {
                return None;
            }
            let next = (whole as i128 * now.0 + before.0, whole as i128 * now.1 + before.1);
            if next.0 > LARGEST || next.1 > LARGEST {
                return None;
            }
            (before, now) = (now, next);
            let value = now.0 as f64 / now.1 as f64;
            if (value - x.abs()).abs() <= CLOSE * x.abs() {
                let sign = if x < 0.0 { -1 } else { 1 };
                return Some(Self::new(sign * now.0, now.1));
            }
            rest = 1.0 / (rest - whole);
            if !rest.is_finite() {
                return None;
            }
        }
        None
    }

    fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    fn times(self, other: Self) -> Option<Self> {
        Some(Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        ))
    }

    fn minus(self, other: Self) -> Option<Self> {
        let a = self.numerator.checked_mul(other.denominator)?;
        let b = other.numerator.checked_mul(self.denominator)?;
        Some(Self::new(a.checked_sub(b)?, self.denominator.checked_mul(other.denominator)?))
    }

    /// The largest fraction that divides both a whole number of times.
    fn common_step(self, other: Self) -> Option<Self> {
        let denominator = lcm(self.denominator, other.denominator)?;
        let a = self.numerator.checked_mul(denominator / self.denominator)?;
        let b = other.numerator.checked_mul(denominator / other.denominator)?;
        Some(Self::new(gcd(a, b), denominator))
    }

    /// The numerator over a multiple of the denominator.
    fn over(self, denominator: i128) -> Option<i128> {
        self.numerator.checked_mul(denominator / self.denominator)
    }
}

/// The allowed values of a node: `first + k * step` with whole `k` (not all of them need be allowed).
#[derive(Clone, Copy, Debug)]
pub(super) struct Progression {
    first: Fraction,
    step: Fraction,
    /// The f64 values may differ from the fractions.
    rounded: bool,
}

impl Progression {
    /// Whole numbers.
    pub(super) const WHOLE: Self =
        Self { first: Fraction::ZERO, step: Fraction { numerator: 1, denominator: 1 }, rounded: false };

    /// The values of a grid or a list; `None` for other domains and for numbers that are no simple fractions.
    pub(super) fn of(domain: &Domain) -> Option<Self> {
        match domain {
            Domain::Grid(grid) => {
                let (first, step, digits) = grid.numerators();
                let denominator = 10_i128.pow(digits);
                let fraction = |n: i64| Fraction::new(i128::from(n), denominator);
                Some(Self { first: fraction(first), step: fraction(step), rounded: true })
            }
            Domain::Discrete(values) => {
                let first = Fraction::near(*values.first()?)?;
                let mut step = Fraction::ZERO;
                for &value in &values[1..] {
                    step = step.common_step(Fraction::near(value)?.minus(first)?)?;
                }
                Some(Self { first, step, rounded: true })
            }
            _ => None,
        }
    }
}

/// One term over the common denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LatticeTerm {
    /// Numerator of the term at `k = 0`, and of a step.
    first: i128,
    step: i128,
    /// `k = (value - base) / width`.
    base: f64,
    width: f64,
    /// Bound on the difference to the f64 term, relative to the node's magnitude.
    error: f64,
}

impl LatticeTerm {
    /// Which of the values this is; `None` where rounding could name its neighbour.
    fn position(&self, value: f64) -> Option<i128> {
        if self.width == 0.0 {
            return Some(0);
        }
        let is_whole = self.base == 0.0 && self.width == 1.0;
        if !is_whole && (value.abs() + self.base.abs()) / self.width > 1e12 {
            return None;
        }
        Some(((value - self.base) / self.width).round() as i128)
    }
}

/// A sum `constant + sum coefficient * node` over discrete nodes as a set of fractions with a common denominator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lattice {
    denominator: i128,
    constant: i128,
    constant_error: f64,
    terms: Vec<LatticeTerm>,
}

impl Lattice {
    /// The lattice of a sum of a constant and of terms, each with its coefficient; `None` when a number is no simple fraction.
    pub(super) fn new(sum_constant: f64, sum_terms: &[(Progression, f64)]) -> Option<Self> {
        let constant = Fraction::near(sum_constant)?;
        let mut parts = Vec::with_capacity(sum_terms.len());
        let mut denominator = constant.denominator;
        for &(progression, factor) in sum_terms {
            let coefficient = Fraction::near(factor)?;
            let (first, step) = (coefficient.times(progression.first)?, coefficient.times(progression.step)?);
            denominator = lcm(lcm(denominator, first.denominator)?, step.denominator)?;
            parts.push((progression, coefficient, first, step));
        }
        let terms = parts
            .iter()
            .zip(sum_terms)
            .map(|((progression, coefficient, first, step), &(_, factor))| {
                let mut error = distance(*coefficient, factor);
                if progression.rounded {
                    error += 2.0 * CLOSE * factor.abs();
                }
                Some(LatticeTerm {
                    first: first.over(denominator)?,
                    step: step.over(denominator)?,
                    base: progression.first.value(),
                    width: progression.step.value(),
                    error,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let constant_error = distance(constant, sum_constant);
        Some(Self { denominator, constant: constant.over(denominator)?, constant_error, terms })
    }

    /// True unless it is proved that no choice of the terms' `values` makes the sum, as written, differ from a multiple of `modulus` (from
    /// zero, if that is 0) by at most `slack`, which includes the sum's own rounding. `modulus` is whole.
    pub(crate) fn can_reach(
        &self,
        values: impl Iterator<Item = Interval>,
        slack: f64,
        modulus: i128,
    ) -> bool {
        let Some(mut step) = modulus.checked_mul(self.denominator) else { return true };
        let mut rest = self.constant;
        let mut slack = slack + self.constant_error;
        for (part, value) in self.terms.iter().zip(values) {
            slack += part.error * value.magnitude();
            let mut sum = part.first;
            if value.is_point() {
                let Some(k) = part.position(value.lo) else { return true };
                let Some(moved) = part.step.checked_mul(k) else { return true };
                let Some(moved) = sum.checked_add(moved) else { return true };
                sum = moved;
            } else {
                step = gcd(step, part.step);
            }
            let Some(total) = rest.checked_add(sum) else { return true };
            rest = total;
        }
        let away =
            if step == 0 { rest.abs() } else { rest.rem_euclid(step).min(step - rest.rem_euclid(step)) };
        // The quotient of two rounded integers, and the slack, are off by a few ulps.
        let away = away as f64 / self.denominator as f64;
        slack.is_nan() || away <= slack * (1.0 + 1e-12)
    }
}

/// Bound on the difference between a fraction and the f64 it stands for.
fn distance(fraction: Fraction, x: f64) -> f64 {
    if x.fract() == 0.0 { 0.0 } else { (fraction.value() - x).abs() + 2.0 * f64::EPSILON * x.abs() }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    let lcm = (a / gcd(a, b)).checked_mul(b)?;
    (lcm <= LARGEST).then_some(lcm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_fractions_they_were_written_as() {
        let near = |x: f64| Fraction::near(x).map(|f| (f.numerator, f.denominator));
        assert_eq!(near(0.3), Some((3, 10)));
        assert_eq!(near(-0.0625), Some((-1, 16)));
        assert_eq!(near(1.0 / 3.0), Some((1, 3)));
        assert_eq!(near(0.1 + 0.2), Some((3, 10)), "one ulp beside 0.3");
        assert_eq!(near(1e6), Some((1_000_000, 1)));
        assert_eq!(near(12.345_678), Some((6_172_839, 500_000)));
        assert_eq!(near(f64::NAN), None);
        assert_eq!(near(1e300), None);
        assert_eq!(near(1e-300), None);
        // Not simple, but some fraction is within a few ulps, and its error is known.
        let pi = Fraction::near(std::f64::consts::PI).unwrap();
        assert!(distance(pi, std::f64::consts::PI) < 1e-14 && pi.denominator > 1_000_000);
    }

    #[test]
    fn common_steps_of_fractions() {
        let (quarter, third) = (Fraction::new(1, 4), Fraction::new(1, 3));
        assert_eq!(quarter.common_step(third), Some(Fraction::new(1, 12)));
        assert_eq!(Fraction::ZERO.common_step(Fraction::new(-3, 10)), Some(Fraction::new(3, 10)));
        assert_eq!(quarter.minus(third), Some(Fraction::new(-1, 12)));
        assert_eq!((gcd(12, -18), gcd(0, 5), gcd(0, 0)), (6, 5, 0));
        assert_eq!(lcm(LARGEST, 3), None);
    }
}
