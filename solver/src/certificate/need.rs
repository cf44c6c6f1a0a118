//! Which operations and variables a constraint needs.

use leafgp_constraints::statement::Statement;
use leafgp_constraints::statement::{Condition, ConditionId, Number, NumberId};

/// Calls `f` for the operands; not the alternatives of an `if`.
pub(super) fn operands(number: &Number, mut f: impl FnMut(NumberId)) {
    match *number {
        Number::Constant(_) | Number::Variable(_) | Number::If(..) => {}
        Number::Add(a, b)
        | Number::Subtract(a, b)
        | Number::Multiply(a, b)
        | Number::Divide(a, b)
        | Number::Min(a, b)
        | Number::Max(a, b) => {
            f(a);
            f(b);
        }
        Number::Negate(a)
        | Number::Power(a, _)
        | Number::Exponential(_, a)
        | Number::Abs(a)
        | Number::Sqrt(a)
        | Number::Exp(a)
        | Number::Log(a)
        | Number::Log10(a)
        | Number::Floor(a)
        | Number::Ceil(a)
        | Number::Whole(a) => f(a),
    }
}

/// Collects what a condition needs.
pub(super) struct Need<'a> {
    statement: &'a Statement<'a>,
    numbers: Vec<bool>,
    variables: Vec<bool>,
    conditions: Vec<bool>,
}

impl<'a> Need<'a> {
    pub(super) fn of(statement: &'a Statement<'a>) -> Self {
        Self {
            statement,
            numbers: vec![false; statement.numbers.len()],
            variables: vec![false; statement.domains.len()],
            conditions: vec![false; statement.conditions.len()],
        }
    }

    pub(super) fn condition(&mut self, id: ConditionId) {
        if std::mem::replace(&mut self.conditions[id.0 as usize], true) {
            return;
        }
        match &self.statement.conditions[id.0 as usize] {
            Condition::Constant(_) => {}
            Condition::Level(variable, _) => self.variables[*variable] = true,
            Condition::Compare(_, a, b) => {
                self.number(*a);
                self.number(*b);
            }
            Condition::IsWhole(a) => self.number(*a),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|&p| self.condition(p)),
            Condition::Not(inner) | Condition::Exact(inner) => self.condition(*inner),
        }
    }

    pub(super) fn number(&mut self, id: NumberId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut self.numbers[id.0 as usize], true) {
                continue;
            }
            let number = &self.statement.numbers[id.0 as usize];
            operands(number, |operand| pending.push(operand));
            match number {
                Number::Variable(v) => self.variables[*v] = true,
                Number::If(c, a, b) => {
                    pending.extend([*a, *b]);
                    self.condition(*c);
                }
                _ => {}
            }
        }
    }

    /// Operations and variables, ascending.
    pub(super) fn lists(self) -> (Vec<u32>, Vec<usize>) {
        let numbers = (0..self.numbers.len() as u32).filter(|&k| self.numbers[k as usize]).collect();
        (numbers, (0..self.variables.len()).filter(|&v| self.variables[v]).collect())
    }
}
