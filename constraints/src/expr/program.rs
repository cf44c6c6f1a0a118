//! Checked expressions as shared, flat lists of operations: every distinct subexpression exists once.

use std::collections::BTreeMap;

use super::settings::Settings;
use crate::domain::Domain;
use crate::function::{Extreme, Function, whole};
use crate::level_set::LevelSet;

/// Index of a numeric operation; operands come before their users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberId(pub u32);

/// Index of a condition; operands come before their users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConditionId(pub u32);

/// A numeric operation, as written: evaluation follows the order of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A number.
    Constant(f64),
    /// The variable's coordinate; a category's level index.
    Variable(usize),
    /// `a + b`.
    Add(NumberId, NumberId),
    /// `a - b`.
    Subtract(NumberId, NumberId),
    /// `a * b`.
    Multiply(NumberId, NumberId),
    /// Undefined where the divisor is zero.
    Divide(NumberId, NumberId),
    /// `-a`.
    Negate(NumberId),
    /// A function of one argument.
    Apply(Function, NumberId),
    /// The smaller or the larger; undefined when one is.
    Extreme(Extreme, NumberId, NumberId),
    /// The second where the condition (without tolerances) holds, the third where its negation does, else undefined.
    If(ConditionId, NumberId, NumberId),
    /// A whole-valued define: the nearest integer within the tolerance, the value itself otherwise.
    Whole(NumberId),
}

/// Comparison after `>` and `>=` were turned round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// `<=`
    LessEqual,
    /// `<`
    Less,
    /// `==`, within the tolerance.
    Equal,
    /// `!=`
    NotEqual,
}

/// A truth value.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Always or never.
    Constant(bool),
    /// Two numbers; false where one is undefined.
    Compare(Comparison, NumberId, NumberId),
    /// A category's level is in the set.
    Level(usize, LevelSet),
    /// A whole-valued define is whole.
    IsWhole(NumberId),
    /// All of them.
    And(Vec<ConditionId>),
    /// One of them.
    Or(Vec<ConditionId>),
    /// The negation, pushed down to the comparisons before it is judged.
    Not(ConditionId),
    /// The same without tolerances: conditions that switch something must agree with what is printed.
    Exact(ConditionId),
}

/// A comparison of sums of grid variables with coefficients ±1, decided in steps of the finest grid:
/// `sum coefficient * round(x * 10^digits) compared with bound`, all integers.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// Variable, its decimals' scale `10^d`, and the coefficient that brings it to the common scale.
    pub terms: Vec<(usize, f64, i64)>,
    /// What the sum is compared with.
    pub bound: i64,
}

impl Number {
    /// Calls `f` for the operands that are needed for the value: not the alternatives of an `if`.
    pub(crate) fn operands(&self, mut f: impl FnMut(NumberId)) {
        match *self {
            Self::Constant(_) | Self::Variable(_) | Self::If(..) => {}
            Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b)
            | Self::Extreme(_, a, b) => {
                f(a);
                f(b);
            }
            Self::Negate(a) | Self::Apply(_, a) | Self::Whole(a) => f(a),
        }
    }

    /// The value of one operation from its operands' values. Undefined is NaN.
    pub(super) fn operate(
        &self,
        settings: Settings,
        value: impl Fn(NumberId) -> f64,
        decided: impl Fn(ConditionId) -> Option<bool>,
    ) -> f64 {
        match *self {
            Self::Constant(v) => v,
            Self::Variable(_) => f64::NAN,
            Self::Add(a, b) => value(a) + value(b),
            Self::Subtract(a, b) => value(a) - value(b),
            Self::Multiply(a, b) => value(a) * value(b),
            Self::Divide(a, b) => {
                let divisor = value(b);
                if divisor == 0.0 { f64::NAN } else { value(a) / divisor }
            }
            Self::Negate(a) => -value(a),
            Self::Apply(function, a) => function.value(value(a)),
            Self::Extreme(extreme, a, b) => extreme.value(value(a), value(b)),
            Self::If(c, a, b) => match decided(c) {
                Some(true) => value(a),
                Some(false) => value(b),
                None => f64::NAN,
            },
            Self::Whole(a) => whole::value(value(a), settings.whole),
        }
    }
}

/// All operations of a set of expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) numbers: Vec<Number>,
    pub(crate) conditions: Vec<Condition>,
    /// Rows decided in steps, by their condition.
    pub(crate) grid_rows: BTreeMap<ConditionId, GridRow>,
    /// Texts of the divisors.
    pub(crate) divisors: BTreeMap<NumberId, String>,
    known: BTreeMap<[u64; 4], NumberId>,
}

impl Program {
    /// Adds an operation, or finds the same one. Constant operands are folded.
    pub(crate) fn number(&mut self, number: Number) -> NumberId {
        let number = self.folded(number);
        let key = key(&number);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = NumberId(u32::try_from(self.numbers.len()).expect("fewer than 2^32 operations"));
        self.numbers.push(number);
        self.known.insert(key, id);
        id
    }

    /// Adds a condition.
    pub(crate) fn condition(&mut self, condition: Condition) -> ConditionId {
        if let Some(i) = self.conditions.iter().position(|c| *c == condition) {
            return ConditionId(i as u32);
        }
        let id = ConditionId(u32::try_from(self.conditions.len()).expect("fewer than 2^32 conditions"));
        self.conditions.push(condition);
        id
    }

    /// A comparison; remembers the integer form of a row over grid variables.
    pub(crate) fn compare(
        &mut self,
        op: Comparison,
        a: NumberId,
        b: NumberId,
        domains: &[Domain],
    ) -> ConditionId {
        let row = self.grid_row(a, b, domains);
        let id = self.condition(Condition::Compare(op, a, b));
        if let Some(row) = row {
            self.grid_rows.insert(id, row);
        }
        id
    }

    pub(crate) fn get(&self, id: NumberId) -> &Number {
        &self.numbers[id.0 as usize]
    }

    pub(crate) fn get_condition(&self, id: ConditionId) -> &Condition {
        &self.conditions[id.0 as usize]
    }

    /// The value when the operation is a constant.
    pub(crate) fn constant(&self, id: NumberId) -> Option<f64> {
        match self.get(id) {
            Number::Constant(v) => Some(*v),
            _ => None,
        }
    }

    /// Calls `f` for the operands that are needed for the value: not the alternatives of an `if`.
    pub(crate) fn operands(&self, id: NumberId, f: impl FnMut(NumberId)) {
        self.get(id).operands(f);
    }

    fn folded(&self, number: Number) -> Number {
        let (mut operands, mut constants) = (0, 0);
        number.operands(|id| {
            operands += 1;
            constants += u32::from(self.constant(id).is_some());
        });
        if operands == 0 || constants < operands {
            return number;
        }
        let value = number.operate(Settings::PRODUCE, |id| self.constant(id).unwrap_or(f64::NAN), |_| None);
        Number::Constant(value)
    }

    /// The integer form of `a - b` compared with zero: coefficients ±1 over grid and integer variables, at least one grid.
    fn grid_row(&self, a: NumberId, b: NumberId, domains: &[Domain]) -> Option<GridRow> {
        let mut terms: Vec<(usize, i64)> = Vec::new();
        let mut constants = Vec::new();
        self.unit_terms(a, 1, &mut terms, &mut constants)?;
        self.unit_terms(b, -1, &mut terms, &mut constants)?;
        terms.sort_unstable();
        let distinct = terms.windows(2).all(|w| w[0].0 != w[1].0);
        let digits_of = |variable: usize| match &domains[variable] {
            Domain::Grid(grid) => Some(grid.numerators().2),
            Domain::Integer { .. } => Some(0),
            _ => None,
        };
        let mut digits = 0;
        let mut has_grid = false;
        for &(variable, _) in &terms {
            digits = digits.max(digits_of(variable)?);
            has_grid |= matches!(domains[variable], Domain::Grid(_));
        }
        for &(value, _) in &constants {
            digits = digits.max(decimals(value)?);
        }
        if !has_grid || !distinct || digits > 9 {
            return None;
        }
        let scale = |d: u32| 10_i64.pow(digits - d);
        let mut bound = 0_i64;
        for (value, sign) in constants {
            let d = decimals(value)?;
            let numerator = (value * 10f64.powi(d as i32)).round();
            (numerator.abs() < 9e8).then_some(())?;
            bound = bound.checked_sub((numerator as i64).checked_mul(scale(d))?.checked_mul(sign)?)?;
        }
        let mut row = Vec::with_capacity(terms.len());
        for (variable, sign) in terms {
            let d = digits_of(variable)?;
            let (lower, upper) = domains[variable].bounds();
            (lower.abs().max(upper.abs()) * 10f64.powi(digits as i32) < 1e15).then_some(())?;
            row.push((variable, 10f64.powi(d as i32), sign * scale(d)));
        }
        Some(GridRow { terms: row, bound })
    }

    fn unit_terms(
        &self,
        id: NumberId,
        sign: i64,
        terms: &mut Vec<(usize, i64)>,
        constants: &mut Vec<(f64, i64)>,
    ) -> Option<()> {
        let mut pending = vec![(id, sign)];
        while let Some((id, sign)) = pending.pop() {
            match *self.get(id) {
                Number::Constant(value) => constants.push((value, sign)),
                Number::Variable(v) => terms.push((v, sign)),
                Number::Negate(a) => pending.push((a, -sign)),
                Number::Add(a, b) => pending.extend([(a, sign), (b, sign)]),
                Number::Subtract(a, b) => pending.extend([(a, sign), (b, -sign)]),
                _ => return None,
            }
        }
        Some(())
    }
}

/// Number of decimals of the shortest text of a number, when at most 9.
fn decimals(value: f64) -> Option<u32> {
    (0..=9).find(|&d| {
        let scale = 10f64.powi(d as i32);
        (value * scale).round() / scale == value
    })
}

/// Numbers that no other operation has.
fn key(number: &Number) -> [u64; 4] {
    let id = |id: &NumberId| u64::from(id.0);
    match number {
        Number::Constant(v) => [0, v.to_bits(), 0, 0],
        Number::Variable(v) => [1, *v as u64, 0, 0],
        Number::Add(a, b) => [2, id(a), id(b), 0],
        Number::Subtract(a, b) => [3, id(a), id(b), 0],
        Number::Multiply(a, b) => [4, id(a), id(b), 0],
        Number::Divide(a, b) => [5, id(a), id(b), 0],
        Number::Negate(a) => [6, id(a), 0, 0],
        Number::Apply(function, a) => {
            let [kind, parameter] = function.key();
            [7, id(a), kind, parameter]
        }
        Number::Extreme(extreme, a, b) => [8, id(a), id(b), *extreme as u64],
        Number::If(c, a, b) => [9, u64::from(c.0), id(a), id(b)],
        Number::Whole(a) => [10, id(a), 0, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, Program, decimals};

    #[test]
    fn equal_operations_are_shared_and_constants_folded() {
        let mut program = Program::default();
        let x = program.number(Number::Variable(0));
        let two = program.number(Number::Constant(2.0));
        let a = program.number(Number::Multiply(x, two));
        assert_eq!(a, program.number(Number::Multiply(x, two)));
        let four = program.number(Number::Add(two, two));
        assert_eq!(program.constant(four), Some(4.0));
    }

    #[test]
    fn decimals_of_short_numbers() {
        assert_eq!(decimals(0.1), Some(1));
        assert_eq!(decimals(12.0), Some(0));
        assert_eq!(decimals(-0.0625), Some(4));
        assert_eq!(decimals(1.0 / 3.0), None);
    }
}
