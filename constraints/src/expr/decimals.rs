//! Comparisons in the decimals that numbers are written as, where f64 cannot tell: `0.3 - 0.2 >= 0.1` holds on paper, and for who reads the point, but not in f64.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Number, NumberId, Program};
use crate::function::Extreme;
use crate::rational::Rational;

/// Sides that differ by more than this, relative to 1 and to themselves, do so in decimals too.
const NEAR: f64 = 1e-9;
/// Operations beyond which f64 decides.
const MOST_OPERATIONS: usize = 1_000;
/// Powers up to this one are multiplied out.
const LARGEST_POWER: f64 = 8.0;

/// Smallest and largest value.
type Ends = (Rational, Rational);

/// Whether decimals may say something else than f64 about sides that differ by so much, none of them larger than `size`.
pub(super) fn is_near(difference: f64, size: f64) -> bool {
    difference.abs() <= NEAR * size.max(1.0)
}

impl Program {
    /// Least and largest value of `a - b` when each variable is between two numbers, each number the shortest decimal that reads as it: exact at points, from ends
    /// of operands elsewhere. `None` where that is no fraction of moderate size.
    pub(super) fn decimal_difference(
        &self,
        a: NumberId,
        b: NumberId,
        variable: impl Fn(usize) -> Option<(f64, f64)>,
    ) -> Option<Ends> {
        let mut values: BTreeMap<NumberId, Ends> = BTreeMap::new();
        for id in self.exact_operations(a, b)? {
            let of = |id: NumberId| values.get(&id).copied();
            let ends = match *self.get(id) {
                Number::Constant(value) => point(Rational::decimal(value)?),
                Number::Variable(v) => {
                    let (lower, upper) = variable(v)?;
                    (Rational::decimal(lower)?, Rational::decimal(upper)?)
                }
                Number::Add(a, b) => sum(of(a)?, of(b)?)?,
                Number::Subtract(a, b) => sum(of(a)?, negated(of(b)?))?,
                Number::Multiply(a, b) => product(of(a)?, of(b)?)?,
                Number::Divide(a, b) => {
                    let divisor = Rational::ONE.over(Rational::decimal(self.constant(b)?)?)?;
                    product(of(a)?, point(divisor))?
                }
                Number::Negate(a) => negated(of(a)?),
                Number::Apply(function, a) => power(of(a)?, function.exponent()? as u32)?,
                Number::Extreme(extreme, a, b) => {
                    let ((a, c), (b, d)) = (of(a)?, of(b)?);
                    let of_two = |a: Rational, b: Rational| {
                        Some(if (extreme == Extreme::Min) == a.is_less(b)? { a } else { b })
                    };
                    (of_two(a, b)?, of_two(c, d)?)
                }
                Number::If(..) | Number::Whole(_) => return None,
            };
            values.insert(id, ends);
        }
        sum(*values.get(&a)?, negated(*values.get(&b)?))
    }

    /// Whether [`Self::decimal_difference`] may have an answer.
    pub(super) fn is_decided_in_decimals(&self, a: NumberId, b: NumberId) -> bool {
        self.exact_operations(a, b).is_some()
    }

    /// The operations that two numbers need, operands first; `None` when one of them is none of fractions, when there are many, and when there are only variables and
    /// constants, which f64 compares as decimals do.
    fn exact_operations(&self, a: NumberId, b: NumberId) -> Option<BTreeSet<NumberId>> {
        let is_leaf = |id| matches!(self.get(id), Number::Constant(_) | Number::Variable(_));
        if is_leaf(a) && is_leaf(b) {
            return None;
        }
        let mut found = BTreeSet::new();
        let mut pending = vec![a, b];
        while let Some(id) = pending.pop() {
            let is_exact = match *self.get(id) {
                Number::If(..) | Number::Whole(_) => false,
                Number::Divide(_, b) => self.constant(b).is_some(),
                Number::Apply(function, _) => function
                    .exponent()
                    .is_some_and(|n| n.fract() == 0.0 && (1.0..=LARGEST_POWER).contains(&n)),
                _ => true,
            };
            if !is_exact || found.len() == MOST_OPERATIONS {
                return None;
            }
            if found.insert(id) {
                self.operands(id, |operand| pending.push(operand));
            }
        }
        Some(found)
    }
}

fn point(x: Rational) -> Ends {
    (x, x)
}

fn negated((lower, upper): Ends) -> Ends {
    (upper.negate(), lower.negate())
}

fn sum(a: Ends, b: Ends) -> Option<Ends> {
    Some((a.0.plus(b.0)?, a.1.plus(b.1)?))
}

fn product(a: Ends, b: Ends) -> Option<Ends> {
    let first = a.0.times(b.0)?;
    if a.0 == a.1 && b.0 == b.1 {
        return Some(point(first));
    }
    let mut ends = point(first);
    for corner in [a.0.times(b.1)?, a.1.times(b.0)?, a.1.times(b.1)?] {
        if corner.is_less(ends.0)? {
            ends.0 = corner;
        }
        if ends.1.is_less(corner)? {
            ends.1 = corner;
        }
    }
    Some(ends)
}

fn power(base: Ends, exponent: u32) -> Option<Ends> {
    let of = |x: Rational| (1..exponent).try_fold(x, |product, _| product.times(x));
    let (a, b) = (of(base.0)?, of(base.1)?);
    if !exponent.is_multiple_of(2) || !base.0.is_negative() {
        return Some((a, b));
    }
    let larger = if a.is_less(b)? { b } else { a };
    Some(if base.1.is_negative() { (b, a) } else { (Rational::ZERO, larger) })
}

#[cfg(test)]
mod tests {
    use super::{Number, Program, Rational};
    use crate::function::Function;

    fn decimal(x: f64) -> Rational {
        Rational::decimal(x).unwrap()
    }

    #[test]
    fn what_f64_rounds_is_exact_at_points_and_enclosed_over_boxes() {
        let mut program = Program::default();
        let [x, y] = [0, 1].map(|v| program.number(Number::Variable(v)));
        let gap = program.number(Number::Subtract(x, y));
        let tenth = program.number(Number::Constant(0.1));
        // In f64, 0.3 - 0.2 is a rounding below 0.1.
        let at = |a: (f64, f64), b: (f64, f64)| move |v| Some(if v == 0 { a } else { b });
        let zero = program.decimal_difference(gap, tenth, at((0.3, 0.3), (0.2, 0.2))).unwrap();
        assert_eq!(zero, (Rational::ZERO, Rational::ZERO));
        let square = program.number(Number::Apply(Function::power(2.0), gap));
        let ends = program.decimal_difference(square, tenth, at((0.1, 0.5), (0.2, 0.3))).unwrap();
        assert_eq!(ends, (decimal(-0.1), decimal(-0.01)), "[-0.2, 0.3]^2 - 0.1");
        let product = program.number(Number::Multiply(gap, x));
        let ends = program.decimal_difference(product, tenth, at((-0.5, 0.5), (0.0, 0.1))).unwrap();
        assert_eq!(ends, (decimal(-0.4), decimal(0.2)), "[-0.6, 0.5] * [-0.5, 0.5] - 0.1");
    }

    #[test]
    fn logarithms_and_plain_variables_are_left_to_f64() {
        let mut program = Program::default();
        let [x, y] = [0, 1].map(|v| program.number(Number::Variable(v)));
        let log = program.number(Number::Apply(Function::named("log").unwrap(), x));
        assert!(!program.is_decided_in_decimals(x, y));
        assert!(!program.is_decided_in_decimals(log, y));
        let sum = program.number(Number::Add(x, y));
        assert!(program.is_decided_in_decimals(sum, y));
        assert_eq!(program.decimal_difference(sum, y, |_| Some((1e40, 1e40))), None);
    }
}
