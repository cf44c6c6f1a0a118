//! Constraints over a box by forward evaluation alone: what each operation can yield, and whether a constraint fails at every point.

use std::cell::Cell;
use std::collections::BTreeSet;

use leafgp_constraints::statement::{
    Comparison, Condition, ConditionId, GridRow, Number, NumberId, Statement,
};
use leafgp_constraints::{Range, Region};

use super::need::{Need, operands};
use super::row::Row;
use super::values::Values;

/// Slack of `==`, relative to `max(1, |lhs|, |rhs|)`: that of points which are returned.
const EQUALITY: f64 = 1e-9;
/// How far a whole-valued define may be from whole, relative above 1.
const WHOLE: f64 = 1e-9;

/// What one constraint needs.
#[derive(Clone, Debug)]
struct Root {
    condition: ConditionId,
    /// Operations, ascending.
    numbers: Vec<u32>,
    /// Variables it reads, ascending.
    variables: Vec<usize>,
}

/// A set of constraints, made ready for evaluation over boxes.
#[derive(Clone, Debug)]
pub(crate) struct Forward<'a> {
    pub(super) statement: Statement<'a>,
    roots: Vec<Root>,
    pub(super) rows: Vec<Row>,
    /// The operations that rows need, ascending.
    pub(super) row_numbers: Vec<u32>,
    /// Of each condition that several conditions share, its place among them.
    places: Vec<Option<usize>>,
    n_shared: usize,
}

/// What is known over a box of the conditions that others share: each, and its negation, with tolerances and without. Walking a shared condition once for
/// each of its users would take time exponential in the depth.
pub(super) type Shared = Vec<[Cell<Option<bool>>; 4]>;

impl<'a> Forward<'a> {
    pub(crate) fn new(statement: Statement<'a>) -> Self {
        let places = places_of_shared(statement.conditions);
        let n_shared = places.iter().flatten().count();
        let (roots, rows, row_numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut forward = Self { statement, roots, rows, row_numbers, places, n_shared };
        let mut seen = BTreeSet::new();
        for &condition in statement.roots {
            let mut need = Need::of(&statement);
            need.condition(condition);
            let (numbers, variables) = need.lists();
            forward.roots.push(Root { condition, numbers, variables });
            forward.collect(condition, false, EQUALITY, &mut seen);
            seen.clear();
        }
        let mut need = Need::of(&statement);
        for row in &forward.rows {
            need.number(row.a);
            need.number(row.b);
        }
        forward.row_numbers = need.lists().0;
        forward
    }

    /// The comparisons that hold wherever the condition (or its negation) does, in order. A part that the same constraint has shown before is left out.
    fn collect(
        &mut self,
        id: ConditionId,
        negated: bool,
        equality: f64,
        seen: &mut BTreeSet<(ConditionId, bool, bool)>,
    ) {
        if !seen.insert((id, negated, equality == 0.0)) {
            return;
        }
        match &self.statement.conditions[id.0 as usize] {
            Condition::Not(inner) => self.collect(*inner, !negated, equality, seen),
            Condition::Exact(inner) => self.collect(*inner, negated, 0.0, seen),
            Condition::And(parts) if !negated => {
                parts.iter().for_each(|&p| self.collect(p, false, equality, seen));
            }
            Condition::Or(parts) if negated => {
                parts.iter().for_each(|&p| self.collect(p, true, equality, seen));
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                let (a, b) = if swapped { (*b, *a) } else { (*a, *b) };
                let equality = match op {
                    Comparison::LessEqual | Comparison::Less => None,
                    Comparison::Equal => Some(equality),
                    Comparison::NotEqual => return,
                };
                self.rows.push(Row { condition: id, a, b, equality });
            }
            Condition::Constant(_)
            | Condition::Level(..)
            | Condition::IsWhole(_)
            | Condition::And(_)
            | Condition::Or(_) => {}
        }
    }

    pub(crate) fn statement(&self) -> &Statement<'a> {
        &self.statement
    }

    pub(crate) fn n_roots(&self) -> usize {
        self.roots.len()
    }

    /// The variables that a constraint reads, ascending.
    pub(crate) fn variables(&self, root: usize) -> &[usize] {
        &self.roots[root].variables
    }

    /// Operations of [`Forward::fails`].
    pub(super) fn work_of_root(&self, root: usize) -> usize {
        self.roots[root].numbers.len() + self.statement.conditions.len()
    }

    /// Operations of [`Forward::contradicts`].
    pub(super) fn work_of_rows(&self) -> usize {
        (self.row_numbers.len() + self.rows.len()) * (self.statement.domains.len() + 1)
    }

    /// True when the constraint fails at every point of the box, whose ends are allowed values.
    pub(crate) fn fails(&self, root: usize, region: &Region) -> bool {
        let root = &self.roots[root];
        let mut values = vec![Values::ANY; self.statement.numbers.len()];
        let shared = self.shared();
        for &k in &root.numbers {
            values[k as usize] = self.values(k, region, &values, &shared);
        }
        !self.possible(root.condition, false, EQUALITY, region, &values, &shared)
    }

    /// Nothing known yet.
    pub(super) fn shared(&self) -> Shared {
        vec![<[Cell<Option<bool>>; 4]>::default(); self.n_shared]
    }

    pub(super) fn values(&self, k: u32, region: &Region, known: &[Values], shared: &Shared) -> Values {
        let of = |id: NumberId| known[id.0 as usize];
        let number = &self.statement.numbers[k as usize];
        match *number {
            Number::Constant(value) => Values::point(value),
            Number::Variable(v) => coordinate(&region.0[v]),
            // 0^0 and 1^x are numbers whatever the operand is.
            Number::Power(a, exponent) if !of(a).is_none() || exponent == 0.0 => of(a).power(exponent),
            Number::Exponential(base, a) if !of(a).is_none() || base == 1.0 => of(a).exponential(base),
            Number::If(c, a, b) => {
                let yes = self.possible(c, false, 0.0, region, known, shared);
                let no = self.possible(c, true, 0.0, region, known, shared);
                let a = if yes { of(a) } else { Values::NONE };
                if no { a.hull(of(b)) } else { a }
            }
            _ if self.any_operand(number, |id| of(id).is_none()) => Values::NONE,
            Number::Add(a, b) => of(a).add(of(b)),
            Number::Subtract(a, b) => of(a).subtract(of(b)),
            Number::Multiply(a, b) if a == b => of(a).square(),
            Number::Multiply(a, b) => of(a).multiply(of(b)),
            Number::Divide(a, b) => of(a).divide(of(b)),
            Number::Negate(a) => of(a).negate(),
            Number::Power(..) | Number::Exponential(..) => Values::NONE,
            Number::Min(a, b) => of(a).min(of(b)),
            Number::Max(a, b) => of(a).max(of(b)),
            Number::Abs(a) => of(a).abs(),
            Number::Sqrt(a) => of(a).sqrt(),
            Number::Exp(a) => of(a).exp(),
            Number::Log(a) => of(a).logarithm(f64::ln),
            Number::Log10(a) => of(a).logarithm(f64::log10),
            Number::Floor(a) => of(a).rounded(f64::floor),
            Number::Ceil(a) => of(a).rounded(f64::ceil),
            Number::Whole(a) => of(a).whole(WHOLE),
        }
    }

    fn any_operand(&self, number: &Number, test: impl Fn(NumberId) -> bool) -> bool {
        let mut any = false;
        operands(number, |id| any |= test(id));
        any
    }

    /// False when the condition (or its negation) is known not to hold at any point of the box.
    fn possible(
        &self,
        id: ConditionId,
        negated: bool,
        equality: f64,
        region: &Region,
        known: &[Values],
        shared: &Shared,
    ) -> bool {
        let state = usize::from(negated) + 2 * usize::from(equality == 0.0);
        let memory = self.places[id.0 as usize].map(|place| &shared[place][state]);
        if let Some(said) = memory.and_then(Cell::get) {
            return said;
        }
        let possible = self.judge(id, negated, equality, region, known, shared);
        if let Some(memory) = memory {
            memory.set(Some(possible));
        }
        possible
    }

    fn judge(
        &self,
        id: ConditionId,
        negated: bool,
        equality: f64,
        region: &Region,
        known: &[Values],
        shared: &Shared,
    ) -> bool {
        let part = |&p: &ConditionId| self.possible(p, negated, equality, region, known, shared);
        match &self.statement.conditions[id.0 as usize] {
            Condition::Constant(value) => *value != negated,
            Condition::Not(inner) => self.possible(*inner, !negated, equality, region, known, shared),
            Condition::Exact(inner) => self.possible(*inner, negated, 0.0, region, known, shared),
            Condition::Level(variable, set) => match &region.0[*variable] {
                Range::Levels(kept) => {
                    (0..kept.capacity()).any(|level| kept.contains(level) && set.contains(level) != negated)
                }
                Range::Interval { .. } => true,
            },
            Condition::IsWhole(a) => {
                let a = known[a.0 as usize];
                let whole = a.low.ceil() <= a.high;
                if negated { !(a.is_none() || whole && a.is_point()) } else { whole }
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                if let Some(row) = self.statement.grid_rows.get(&id)
                    && let Some((low, high)) = steps(row, region)
                {
                    let (low, high) = if swapped { (-high, -low) } else { (low, high) };
                    return match op {
                        Comparison::LessEqual => low <= 0,
                        Comparison::Less => low < 0,
                        Comparison::Equal => low <= 0 && high >= 0,
                        Comparison::NotEqual => low != 0 || high != 0,
                    };
                }
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let (a, b) = (known[a.0 as usize], known[b.0 as usize]);
                if a.is_none() || b.is_none() {
                    return false;
                }
                match op {
                    Comparison::LessEqual => a.low <= b.high,
                    Comparison::Less => a.low < b.high,
                    Comparison::Equal => {
                        let apart = (a.low - b.high).max(b.low - a.high);
                        apart.is_nan() || apart <= 0.0 || apart <= equality * scale(a, b)
                    }
                    Comparison::NotEqual => !(a.is_point() && b.is_point() && a.low == b.low),
                }
            }
            Condition::And(parts) if !negated => parts.iter().all(part),
            Condition::Or(parts) if negated => parts.iter().all(part),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().any(part),
        }
    }
}

/// Of each condition that several conditions have as a part, its place among them.
fn places_of_shared(conditions: &[Condition]) -> Vec<Option<usize>> {
    let mut uses = vec![0_u32; conditions.len()];
    for condition in conditions {
        match condition {
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|p| uses[p.0 as usize] += 1);
            }
            Condition::Not(part) | Condition::Exact(part) => uses[part.0 as usize] += 1,
            Condition::Constant(_)
            | Condition::Compare(..)
            | Condition::Level(..)
            | Condition::IsWhole(_) => {}
        }
    }
    let mut n = 0;
    let place = |&uses: &u32| {
        (uses > 1).then(|| {
            n += 1;
            n - 1
        })
    };
    uses.iter().map(place).collect()
}

/// The negated comparison, and whether its operands change sides.
fn negation(op: Comparison) -> (Comparison, bool) {
    match op {
        Comparison::LessEqual => (Comparison::Less, true),
        Comparison::Less => (Comparison::LessEqual, true),
        Comparison::Equal => (Comparison::NotEqual, false),
        Comparison::NotEqual => (Comparison::Equal, false),
    }
}

/// Coordinates of a box.
fn coordinate(range: &Range) -> Values {
    match range {
        Range::Interval { lower, upper } => Values { low: *lower, high: *upper },
        Range::Levels(kept) => {
            let first = kept.first();
            let last = kept.iter().fold(first, |_, level| Some(level));
            match (first, last) {
                (Some(first), Some(last)) => Values { low: first as f64, high: last as f64 },
                _ => Values::NONE,
            }
        }
    }
}

/// What the slack of an equality is relative to, at most.
pub(super) fn scale(a: Values, b: Values) -> f64 {
    a.magnitude().max(b.magnitude()).max(1.0)
}

/// `sum - bound` of a row decided in steps, least and largest.
fn steps(row: &GridRow, region: &Region) -> Option<(i128, i128)> {
    let (mut low, mut high) = (-i128::from(row.bound), -i128::from(row.bound));
    for &(variable, scale, coefficient) in &row.terms {
        let Range::Interval { lower, upper } = region.0[variable] else { return None };
        let ends = [lower, upper].map(|v| i128::from(coefficient) * (v * scale).round() as i128);
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    }
    Some((low, high))
}

#[cfg(test)]
mod tests;
