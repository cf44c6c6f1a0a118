//! Numbers taken apart: a combination of predictions, functions of single variables, and a rest of which the range alone is used.

use std::collections::BTreeMap;

use leafgp_constraints::statement::{Number, NumberId};

use super::forward::Forward;
use super::known::Known;
use super::need::Need;
use super::values::Values;

/// At every point where the numbers are defined their sum, as f64 evaluation yields each, is at least
/// `constant + sum of coefficient * prediction + sum of coefficient * function of one variable`.
pub(super) struct Terms {
    pub(super) constant: f64,
    /// Prediction and coefficient.
    pub(super) predictions: Vec<(usize, f64)>,
    /// Variable, coefficient and number.
    pub(super) single: Vec<(usize, f64, NumberId)>,
}

/// A coefficient, and how far the exact one may lie from it.
#[derive(Clone, Copy, Default)]
struct Coefficient {
    value: f64,
    error: f64,
}

impl Coefficient {
    fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        Self { value, error: self.error + other.error + f64::EPSILON * value.abs() }
    }

    fn times(self, factor: f64) -> Self {
        self.scaled(self.value * factor, factor.abs())
    }

    fn over(self, divisor: f64) -> Self {
        self.scaled(self.value / divisor, 1.0 / divisor.abs())
    }

    fn scaled(self, value: f64, scale: f64) -> Self {
        Self { value, error: self.error * scale + f64::EPSILON * value.abs() + f64::MIN_POSITIVE }
    }

    fn negated(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

/// Covers the roundings of a sum of many small errors.
const WIDER: f64 = 1.0 + 1e-9;

impl Terms {
    /// Takes a sum of `sign * number` apart. `known` is what holds over the whole box, the first `n` of whose variables are those of points, the next `k`
    /// the predictions. `None` where it is unbounded below.
    pub(super) fn new(
        forward: &Forward<'_>,
        known: &Known,
        (n, k): (usize, usize),
        sum: &[(f64, NumberId)],
    ) -> Option<Self> {
        let mut terms = Self { constant: 0.0, predictions: Vec::new(), single: Vec::new() };
        let mut error = 0.0;
        // From the users to their operands, which have smaller numbers: what several users share is looked at once.
        let mut waiting: BTreeMap<u32, Coefficient> = BTreeMap::new();
        let add = |waiting: &mut BTreeMap<u32, Coefficient>, id: NumberId, coefficient: Coefficient| {
            let sum = waiting.entry(id.0).or_default();
            *sum = sum.plus(coefficient);
        };
        for &(sign, id) in sum {
            add(&mut waiting, id, Coefficient { value: sign, error: 0.0 });
        }
        let factor = |id: NumberId| {
            let values = known.values(id);
            (values.is_point() && values.low != 0.0).then_some(values.low)
        };
        while let Some((id, coefficient)) = waiting.pop_last() {
            let values = known.values(NumberId(id));
            // Defined nowhere: whatever contains it is so, too, and any bound holds.
            if values.is_none() {
                continue;
            }
            let size = values.magnitude();
            if !size.is_finite() {
                return None;
            }
            // What the coefficient lacks, and one rounding of this operation.
            let whole = coefficient.value.abs() + coefficient.error;
            error += coefficient.error * size + whole * (f64::EPSILON * size + f64::MIN_POSITIVE);
            let mut pass = |id: NumberId, coefficient: Coefficient| add(&mut waiting, id, coefficient);
            match forward.statement().numbers[id as usize] {
                _ if values.is_point() => terms.lower_by(least(coefficient.value, values)?),
                Number::Add(a, b) => [a, b].into_iter().for_each(|id| pass(id, coefficient)),
                Number::Subtract(a, b) => {
                    pass(a, coefficient);
                    pass(b, coefficient.negated());
                }
                Number::Negate(a) => pass(a, coefficient.negated()),
                Number::Multiply(a, b) => match (factor(a), factor(b)) {
                    (Some(c), _) => pass(b, coefficient.times(c)),
                    (None, Some(c)) => pass(a, coefficient.times(c)),
                    (None, None) => terms.add_term(forward, n, NumberId(id), coefficient.value, values)?,
                },
                Number::Divide(a, b) => match factor(b) {
                    Some(c) => pass(a, coefficient.over(c)),
                    None => terms.add_term(forward, n, NumberId(id), coefficient.value, values)?,
                },
                Number::Variable(v) if (n..n + k).contains(&v) => {
                    terms.predictions.push((v - n, coefficient.value));
                }
                _ => terms.add_term(forward, n, NumberId(id), coefficient.value, values)?,
            }
        }
        terms.lower_by(-(WIDER * error));
        terms.constant.is_finite().then_some(terms)
    }

    /// A number that is not taken apart.
    fn add_term(
        &mut self,
        forward: &Forward<'_>,
        n: usize,
        id: NumberId,
        coefficient: f64,
        values: Values,
    ) -> Option<()> {
        let mut need = Need::of(forward.statement());
        need.number(id);
        match need.lists().1[..] {
            [variable] if variable < n => self.single.push((variable, coefficient, id)),
            _ => self.lower_by(least(coefficient, values)?),
        }
        Some(())
    }

    /// Adds to the constant, rounded down.
    pub(super) fn lower_by(&mut self, x: f64) {
        self.constant = (self.constant + x).next_down();
    }
}

/// A lower bound of `coefficient * value`; `None` where there is none.
pub(super) fn least(coefficient: f64, values: Values) -> Option<f64> {
    let product = if coefficient >= 0.0 { coefficient * values.low } else { coefficient * values.high };
    product.is_finite().then(|| product.next_down())
}
