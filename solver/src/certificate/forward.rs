//! Constraints over a box by forward evaluation alone: what each operation can yield, and whether a constraint fails at every point.

use std::cell::Cell;
use std::collections::BTreeSet;

use leafgp_constraints::statement::{
    Comparison, Condition, ConditionId, GridRow, Number, NumberId, Statement,
};
use leafgp_constraints::{Domain, Range, Region};

use super::known::Known;
use super::need::{Need, operands};
use super::row::Row;
use super::values::Values;
use super::wholes::EXACT;

/// Slack of `==`, relative to the size of the terms: that of points which are returned.
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
    /// Where boxes lie: the domains, or what else is known to hold all that matters.
    domains: &'a [Domain],
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
        let domains = statement.domains;
        let mut forward = Self { statement, domains, roots, rows, row_numbers, places, n_shared };
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
        forward.find_exact_rows();
        forward
    }

    /// The same for boxes within `domains`.
    pub(crate) fn within(self, domains: &'a [Domain]) -> Self {
        Self { domains, ..self }
    }

    /// Marks the rows of whole numbers all of whose operations are exact in f64 over the domains: what is said of f64 evaluation holds for them too.
    fn find_exact_rows(&mut self) {
        let whole_rows = self.statement.whole_rows;
        if !self.rows.iter().any(|row| whole_rows.contains(&row.condition)) {
            return;
        }
        let known = self.known(&self.row_numbers, &Region::full(self.statement.domains));
        let small = |k: &u32| known.whole(*k).is_some_and(|(a, b)| a.max(-b).max(b).max(-a) <= EXACT as i128);
        let is_exact = |row: &Row| {
            if !whole_rows.contains(&row.condition) {
                return false;
            }
            let mut need = Need::of(&self.statement);
            need.number(row.a);
            need.number(row.b);
            need.lists().0.iter().all(small)
        };
        let exact: Vec<bool> = self.rows.iter().map(is_exact).collect();
        self.rows.iter_mut().zip(exact).for_each(|(row, exact)| row.exact = exact);
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
                self.rows.push(Row { condition: id, a, b, equality, exact: false });
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

    pub(crate) fn domains(&self) -> &'a [Domain] {
        self.domains
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
        !self.possible(root.condition, false, EQUALITY, region, &self.known(&root.numbers, region))
    }

    /// What is known of some operations over a box.
    pub(super) fn known(&self, numbers: &[u32], region: &Region) -> Known {
        let mut known = Known::nothing(&self.statement, self.shared());
        for &k in numbers {
            let values = self.values(k, region, &known);
            self.learn(k, values, region, &mut known);
        }
        known
    }

    /// Adds the values of an operation, and what follows from them.
    pub(super) fn learn(&self, k: u32, values: Values, region: &Region, known: &mut Known) {
        let taken = |known: &Known| match self.statement.numbers[k as usize] {
            Number::If(c, ..) => self.alternatives(c, region, known),
            _ => (false, false),
        };
        let taken = taken(known);
        known.learn(&self.statement, k, values, region, taken);
    }

    /// Whether a condition, without tolerance, and whether its negation may hold.
    fn alternatives(&self, c: ConditionId, region: &Region, known: &Known) -> (bool, bool) {
        (self.possible(c, false, 0.0, region, known), self.possible(c, true, 0.0, region, known))
    }

    /// Nothing known yet.
    fn shared(&self) -> Shared {
        vec![<[Cell<Option<bool>>; 4]>::default(); self.n_shared]
    }

    pub(super) fn values(&self, k: u32, region: &Region, known: &Known) -> Values {
        let of = |id: NumberId| known.values(id);
        let number = &self.statement.numbers[k as usize];
        match *number {
            Number::Constant(value) => Values::point(value),
            Number::Variable(v) => coordinate(&region.0[v]),
            // 0^0 and 1^x are numbers whatever the operand is.
            Number::Power(a, exponent) if !of(a).is_none() || exponent == 0.0 => of(a).power(exponent),
            Number::Exponential(base, a) if !of(a).is_none() || base == 1.0 => of(a).exponential(base),
            Number::If(c, a, b) => {
                let (yes, no) = self.alternatives(c, region, known);
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
        known: &Known,
    ) -> bool {
        let state = usize::from(negated) + 2 * usize::from(equality == 0.0);
        let memory = self.places[id.0 as usize].map(|place| &known.shared[place][state]);
        if let Some(said) = memory.and_then(Cell::get) {
            return said;
        }
        let possible = self.judge(id, negated, equality, region, known);
        if let Some(memory) = memory {
            memory.set(Some(possible));
        }
        possible
    }

    fn judge(&self, id: ConditionId, negated: bool, equality: f64, region: &Region, known: &Known) -> bool {
        let part = |&p: &ConditionId| self.possible(p, negated, equality, region, known);
        match &self.statement.conditions[id.0 as usize] {
            Condition::Constant(value) => *value != negated,
            Condition::Not(inner) => self.possible(*inner, !negated, equality, region, known),
            Condition::Exact(inner) => self.possible(*inner, negated, 0.0, region, known),
            Condition::Level(variable, set) => match &region.0[*variable] {
                Range::Levels(kept) => {
                    (0..kept.capacity()).any(|level| kept.contains(level) && set.contains(level) != negated)
                }
                Range::Interval { .. } => true,
            },
            Condition::IsWhole(a) => {
                let a = known.values(*a);
                let whole = a.low.ceil() <= a.high;
                if negated { !(a.is_none() || whole && a.is_point()) } else { whole }
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                if let Some(row) = self.statement.grid_rows.get(&id)
                    && let Some((low, high)) = steps(row, region)
                {
                    return in_steps(op, if swapped { (-high, -low) } else { (low, high) });
                }
                let (a, b) = if swapped { (*b, *a) } else { (*a, *b) };
                if known.values(a).is_none() || known.values(b).is_none() {
                    return false;
                }
                if self.statement.whole_rows.contains(&id) {
                    // Beyond `i128` nothing is claimed.
                    return known.whole_difference(a, b).is_none_or(|difference| in_steps(op, difference));
                }
                let allowed = equality * known.size(a).max(known.size(b));
                let (a, b) = (known.values(a), known.values(b));
                match op {
                    Comparison::LessEqual => a.low <= b.high,
                    Comparison::Less => a.low < b.high,
                    Comparison::Equal => {
                        let apart = (a.low - b.high).max(b.low - a.high);
                        apart.is_nan() || apart <= 0.0 || apart <= allowed
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

/// Whether a comparison with zero can hold, of what is between two whole numbers.
fn in_steps(op: Comparison, (low, high): (i128, i128)) -> bool {
    match op {
        Comparison::LessEqual => low <= 0,
        Comparison::Less => low < 0,
        Comparison::Equal => low <= 0 && high >= 0,
        Comparison::NotEqual => low != 0 || high != 0,
    }
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
