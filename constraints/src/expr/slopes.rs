//! Slopes of what is violated at a point, by reverse differentiation of the text's own operations.

use super::program::{Comparison, Condition, ConditionId, Number, NumberId, Program};
use super::settings::Settings;
use super::values::{Evaluation, Verdict, negation};

/// The comparison by which a condition fails most: its amount is `sign * (left - right)`, or `sign * (left - nearest whole number)`.
struct Worst {
    left: NumberId,
    right: Option<NumberId>,
    sign: f64,
}

impl Evaluation {
    /// Writes the gradient of the amount by which a condition fails at the point of the last run, by variable. At a bend it is that of one side; where a slope is
    /// not defined, the number is not finite. `false`, and nothing is written, where the amount is that of no comparison: the condition holds, or is
    /// undefined or logical.
    pub(crate) fn gradient(
        &self,
        program: &Program,
        root: ConditionId,
        settings: Settings,
        adjoints: &mut Vec<f64>,
        gradient: &mut [f64],
    ) -> bool {
        let Some(worst) = self.worst(program, root, false, settings) else { return false };
        let last = worst.left.max(worst.right.unwrap_or(worst.left)).0 as usize;
        adjoints.clear();
        adjoints.resize(last + 1, 0.0);
        adjoints[worst.left.0 as usize] += worst.sign;
        if let Some(right) = worst.right {
            adjoints[right.0 as usize] -= worst.sign;
        }
        gradient.fill(0.0);
        for (k, number) in program.numbers[..=last].iter().enumerate().rev() {
            let adjoint = adjoints[k];
            if adjoint == 0.0 {
                continue;
            }
            let value = |id: NumberId| self.number(id);
            let mut add = |id: NumberId, by: f64| adjoints[id.0 as usize] += by;
            match *number {
                Number::Constant(_) => {}
                Number::Variable(v) => gradient[v] += adjoint,
                Number::Add(a, b) => {
                    add(a, adjoint);
                    add(b, adjoint);
                }
                Number::Subtract(a, b) => {
                    add(a, adjoint);
                    add(b, -adjoint);
                }
                Number::Multiply(a, b) => {
                    add(a, adjoint * value(b));
                    add(b, adjoint * value(a));
                }
                Number::Divide(a, b) => {
                    add(a, adjoint / value(b));
                    add(b, -adjoint * self.number(NumberId(k as u32)) / value(b));
                }
                Number::Negate(a) => add(a, -adjoint),
                Number::Apply(function, a) => {
                    add(a, function.chain(adjoint, value(a), self.number(NumberId(k as u32))));
                }
                Number::Extreme(extreme, a, b) => {
                    add(if extreme.takes_first(value(a), value(b)) { a } else { b }, adjoint);
                }
                Number::If(..) => {
                    if let Some(taken) = self.taken(program, number) {
                        add(taken, adjoint);
                    }
                }
                // Steps have no slope; the trend is what a search can use.
                Number::Whole(a) => add(a, adjoint),
            }
        }
        true
    }

    /// Follows [`Evaluation::verdict`] to the comparison that its amount comes from.
    fn worst(&self, program: &Program, id: ConditionId, negated: bool, settings: Settings) -> Option<Worst> {
        match program.get_condition(id) {
            Condition::Not(inner) => self.worst(program, *inner, !negated, settings),
            Condition::Exact(inner) => self.worst(program, *inner, negated, settings.exact()),
            Condition::IsWhole(a) => {
                let value = self.number(*a);
                let sign = if negated { 0.0 } else { (value - value.round()).signum() };
                Some(Worst { left: *a, right: None, sign })
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                let (a, b) = if swapped { (*b, *a) } else { (*a, *b) };
                let sign = match op {
                    Comparison::Equal if self.number(a) < self.number(b) => -1.0,
                    Comparison::NotEqual => return None,
                    _ => 1.0,
                };
                Some(Worst { left: a, right: Some(b), sign })
            }
            Condition::And(parts) | Condition::Or(parts)
                if negated == matches!(program.get_condition(id), Condition::Or(_)) =>
            {
                let amount = |&part: &ConditionId| match self.verdict(program, part, negated, settings) {
                    Verdict::Fails(amount) => amount,
                    Verdict::Holds => f64::NEG_INFINITY,
                };
                let part = parts.iter().max_by(|a, b| amount(a).total_cmp(&amount(b)))?;
                self.worst(program, *part, negated, settings)
            }
            Condition::Constant(_) | Condition::Level(..) | Condition::And(_) | Condition::Or(_) => None,
        }
    }
}
