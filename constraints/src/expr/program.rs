//! Checked expressions as shared, flat lists of operations: every distinct subexpression exists once.

use std::collections::{BTreeMap, BTreeSet};

use super::settings::Settings;
use super::size::least_size;
use super::whole_numbers::largest_whole;
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// A comparison of sums of grids, whole numbers and lists with short decimals as coefficients, decided in whole numbers:
/// `sum coefficient * round(x * 10^digits)` compared with `bound`.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// Variable, its decimals' scale `10^d`, and the coefficient that brings it to the common scale.
    pub terms: Vec<(usize, f64, i64)>,
    /// What the sum is compared with.
    pub bound: i64,
    /// What one step is worth in the constraint's own unit.
    pub step: f64,
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
    /// Comparisons of whole numbers, which are decided exactly.
    pub(crate) whole_rows: BTreeSet<ConditionId>,
    /// By variable: its domain's least size, and the largest magnitude of a domain of whole numbers.
    least_sizes: Vec<f64>,
    whole_domains: Vec<Option<f64>>,
    /// Of each operation that yields whole numbers of whole coordinates, a bound on the magnitude of every operand and of the result.
    wholes: Vec<Option<f64>>,
    /// Texts of the divisors.
    pub(crate) divisors: BTreeMap<NumberId, String>,
    known: BTreeMap<[u64; 4], NumberId>,
    known_conditions: BTreeMap<Condition, ConditionId>,
    /// How many operations lie within each other, by number and by condition.
    depths: Vec<u32>,
    condition_depths: Vec<u32>,
    named: BTreeSet<NumberId>,
    /// Of each condition made of others, how many conditions it is a part of.
    uses: Vec<u32>,
    /// Of each condition made of others that several conditions share, its place among them: it is judged once a point.
    places: Vec<Option<u32>>,
    n_shared: u32,
}

impl Program {
    /// Nothing yet, about these variables.
    pub(crate) fn about(domains: &[Domain]) -> Self {
        Self {
            least_sizes: domains.iter().map(least_size).collect(),
            whole_domains: domains.iter().map(largest_whole).collect(),
            ..Self::default()
        }
    }

    /// The least size of a variable.
    pub(crate) fn least_size_of(&self, variable: usize) -> f64 {
        self.least_sizes.get(variable).copied().unwrap_or(0.0)
    }

    /// A bound on the magnitudes that an operation on whole numbers meets; `None` when it may yield others.
    pub(crate) fn whole(&self, id: NumberId) -> Option<f64> {
        self.wholes[id.0 as usize]
    }

    /// The largest magnitude of a variable of whole numbers.
    pub(super) fn whole_domain(&self, variable: usize) -> Option<f64> {
        self.whole_domains.get(variable).copied().flatten()
    }

    /// Adds an operation, or finds the same one. Constant operands are folded.
    pub(crate) fn number(&mut self, number: Number) -> NumberId {
        let number = self.folded(number);
        let key = key(&number);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = NumberId(u32::try_from(self.numbers.len()).expect("fewer than 2^32 operations"));
        let depth = self.depth_of(&number);
        self.depths.push(depth);
        self.wholes.push(self.whole_magnitude(&number));
        self.numbers.push(number);
        self.known.insert(key, id);
        id
    }

    /// Sums are walked in loops, so that they do not nest, except where one has a name.
    fn depth_of(&self, number: &Number) -> u32 {
        let mut deepest = 0;
        number.operands(|id| deepest = deepest.max(self.depth(id)));
        match *number {
            Number::Constant(_) | Number::Variable(_) => 0,
            Number::Add(..) | Number::Subtract(..) | Number::Negate(_) => deepest,
            Number::If(c, a, b) => 1 + self.depth_of_condition(c).max(self.depth(a)).max(self.depth(b)),
            _ => deepest + 1,
        }
    }

    /// Notes that other expressions may refer to a number.
    pub(crate) fn mark_named(&mut self, id: NumberId) {
        let is_sum = matches!(self.get(id), Number::Add(..) | Number::Subtract(..) | Number::Negate(_));
        if is_sum && self.named.insert(id) {
            self.depths[id.0 as usize] += 1;
        }
    }

    /// How many operations lie within each other in a number.
    pub(crate) fn depth(&self, id: NumberId) -> u32 {
        self.depths[id.0 as usize]
    }

    /// How many operations lie within each other in a condition.
    pub(crate) fn depth_of_condition(&self, id: ConditionId) -> u32 {
        self.condition_depths[id.0 as usize]
    }

    /// The place of a condition among those that several conditions share.
    pub(crate) fn place(&self, id: ConditionId) -> Option<usize> {
        self.places[id.0 as usize].map(|place| place as usize)
    }

    /// How many conditions are shared.
    pub(crate) fn n_shared(&self) -> usize {
        self.n_shared as usize
    }

    /// Adds a condition.
    pub(crate) fn condition(&mut self, condition: Condition) -> ConditionId {
        if let Some(&id) = self.known_conditions.get(&condition) {
            return id;
        }
        let id = ConditionId(u32::try_from(self.conditions.len()).expect("fewer than 2^32 conditions"));
        let parts: &[ConditionId] = match &condition {
            Condition::And(parts) | Condition::Or(parts) => parts,
            Condition::Not(part) | Condition::Exact(part) => std::slice::from_ref(part),
            Condition::Constant(_)
            | Condition::Level(..)
            | Condition::IsWhole(_)
            | Condition::Compare(..) => &[],
        };
        let mut depth = match condition {
            Condition::Compare(_, a, b) => self.depth(a).max(self.depth(b)),
            Condition::IsWhole(a) => self.depth(a),
            _ => 0,
        };
        for &part in parts {
            depth = depth.max(self.depth_of_condition(part));
            let at = part.0 as usize;
            let is_made_of_others = matches!(
                self.conditions[at],
                Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Exact(_)
            );
            self.uses[at] += u32::from(is_made_of_others);
            if self.uses[at] == 2 && self.places[at].is_none() {
                self.places[at] = Some(self.n_shared);
                self.n_shared += 1;
            }
        }
        self.condition_depths.push(depth + 1);
        self.uses.push(0);
        self.places.push(None);
        self.conditions.push(condition.clone());
        self.known_conditions.insert(condition, id);
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
        } else if self.whole(a).is_some() && self.whole(b).is_some() {
            self.whole_rows.insert(id);
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

    /// The variables that some numbers read, ascending, and the conditions that choose between alternatives in them.
    pub(crate) fn reads(&self, numbers: &[NumberId]) -> (BTreeSet<usize>, Vec<ConditionId>) {
        let (mut variables, mut conditions) = (BTreeSet::new(), Vec::new());
        let mut seen = BTreeSet::new();
        let mut pending = numbers.to_vec();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            match *self.get(id) {
                Number::Variable(v) => drop(variables.insert(v)),
                Number::If(condition, a, b) => {
                    conditions.push(condition);
                    pending.extend([a, b]);
                }
                _ => self.operands(id, |operand| pending.push(operand)),
            }
        }
        (variables, conditions)
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

    /// The integer form of `a - b` compared with zero: short decimals as coefficients of grids, whole numbers and lists of short decimals. Small rows of
    /// whole numbers have none: they are decided as such.
    fn grid_row(&self, a: NumberId, b: NumberId, domains: &[Domain]) -> Option<GridRow> {
        let (terms, constant) = self.decimal_terms(a, b)?;
        // Each term is a whole number of 10^-digits.
        let mut digits = ONE_DIGITS - trailing_zeros(constant);
        let mut parts = Vec::with_capacity(terms.len());
        for (variable, coefficient) in terms {
            let own = match &domains[variable] {
                Domain::Grid(grid) => grid.numerators().2,
                Domain::Integer { .. } => 0,
                Domain::Discrete(values) => {
                    values.iter().try_fold(0, |most, &value| Some(decimals(value)?.max(most)))?
                }
                Domain::Continuous { .. } | Domain::Categorical { .. } => return None,
            };
            digits = digits.max(own + ONE_DIGITS - trailing_zeros(coefficient));
            parts.push((variable, own, coefficient));
        }
        // Numerators of products over 10^(digits + 12), cut to 10^digits.
        let over = |value: i128, own: u32| Some(value.checked_mul(10_i128.checked_pow(digits - own)?)? / ONE);
        let bound = -over(constant, 0)?;
        let mut size = bound.checked_abs()?;
        let mut row = Vec::with_capacity(parts.len());
        for (variable, own, coefficient) in parts {
            let (lower, upper) = domains[variable].bounds();
            let scale = 10f64.powi(own as i32);
            let largest = lower.abs().max(upper.abs()) * scale;
            (largest < LARGEST_NUMERATOR).then_some(())?;
            let coefficient = over(coefficient, own)?;
            size = size.checked_add(coefficient.checked_abs()?.checked_mul(largest as i128 + 1)?)?;
            row.push((variable, scale, i64::try_from(coefficient).ok()?));
        }
        // Steps may have cancelled that f64 would round.
        let is_whole = self.whole(a).is_some() && self.whole(b).is_some();
        let is_needed = !is_whole || size >= SMALL;
        let is_constant = self.constant(a).is_some() && self.constant(b).is_some();
        (is_needed && !is_constant && size < i128::from(i64::MAX)).then_some(())?;
        Some(GridRow { terms: row, bound: i64::try_from(bound).ok()?, step: 10f64.powi(-(digits as i32)) })
    }

    /// Variables and constant of `a - b`, coefficients as numerators over [`ONE`], merged; `None` when another operation or a number that is no short
    /// decimal is in it.
    fn decimal_terms(&self, a: NumberId, b: NumberId) -> Option<(Vec<(usize, i128)>, i128)> {
        let (mut terms, mut constant) = (Vec::new(), 0_i128);
        // Operands come before their users: from the last to the first, each is complete when it is reached.
        let mut pending = BTreeMap::from([(a, ONE)]);
        add_to(&mut pending, b, -ONE)?;
        while let Some((id, factor)) = pending.pop_last() {
            match *self.get(id) {
                Number::Constant(value) => {
                    constant = constant.checked_add(times(factor, numerator(value)?)?)?;
                }
                Number::Variable(v) => terms.push((v, factor)),
                Number::Negate(a) => add_to(&mut pending, a, -factor)?,
                Number::Add(a, b) => {
                    add_to(&mut pending, a, factor)?;
                    add_to(&mut pending, b, factor)?;
                }
                Number::Subtract(a, b) => {
                    add_to(&mut pending, a, factor)?;
                    add_to(&mut pending, b, -factor)?;
                }
                Number::Multiply(a, b) => {
                    let (value, other) = match (self.constant(a), self.constant(b)) {
                        (Some(value), _) => (value, b),
                        (_, Some(value)) => (value, a),
                        _ => return None,
                    };
                    add_to(&mut pending, other, times(factor, numerator(value)?)?)?;
                }
                _ => return None,
            }
        }
        terms.retain(|&(_, factor)| factor != 0);
        terms.sort_unstable();
        Some((terms, constant))
    }
}

/// Coefficients are numerators over this.
const ONE: i128 = 10_i128.pow(ONE_DIGITS);
const ONE_DIGITS: u32 = 12;
/// Beyond this a coordinate's numerator is no exact f64.
const LARGEST_NUMERATOR: f64 = 1e15;
/// Rows of whole numbers smaller than this are decided by their operations.
const SMALL: i128 = 500_000;

/// Adds to a number's coefficient; `None` on overflow.
fn add_to(sum: &mut BTreeMap<NumberId, i128>, id: NumberId, factor: i128) -> Option<()> {
    let coefficient = sum.entry(id).or_insert(0);
    *coefficient =
        coefficient.checked_add(factor).filter(|c| c.checked_abs().is_some_and(|c| c < 1 << 100))?;
    Some(())
}

/// A short decimal as a numerator over [`ONE`].
fn numerator(value: f64) -> Option<i128> {
    let digits = decimals(value)?;
    let numerator = (value * 10f64.powi(digits as i32)).round();
    (numerator.abs() < LARGEST_NUMERATOR).then(|| numerator as i128 * 10_i128.pow(ONE_DIGITS - digits))
}

/// The product of two numerators, when it has no more digits.
fn times(a: i128, b: i128) -> Option<i128> {
    let product = a.checked_mul(b)?;
    (product % ONE == 0).then_some(product / ONE)
}

/// How many zeros end a numerator, at most those of [`ONE`].
fn trailing_zeros(value: i128) -> u32 {
    (1..=ONE_DIGITS).take_while(|&d| value % 10_i128.pow(d) == 0).count() as u32
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
