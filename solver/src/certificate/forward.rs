//! Constraints over a box by forward evaluation alone: what each operation can yield, and whether a constraint fails at every point.

use crate::constraints::Statement;
use crate::expr::{Comparison, Condition, ConditionId, GridRow, Number, NumberId};
use crate::region::{Range, Region};

use super::form::{Curve, Form};
use super::values::{Values, power};

/// Slack of `==`, relative to `max(1, |lhs|, |rhs|)`: that of points which are returned.
const EQUALITY: f64 = 1e-9;
/// How far a whole-valued define may be from whole, relative above 1.
const WHOLE: f64 = 1e-9;

/// A comparison that every feasible point satisfies.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    condition: ConditionId,
    a: NumberId,
    b: NumberId,
    /// `None` for `a <= b` and `a < b`; else the relative slack of `a == b`.
    equality: Option<f64>,
}

/// The left side of a row less its right side, and how far above zero (and, for an equality, below) it may be.
#[derive(Clone, Debug)]
pub(crate) struct RowForm {
    pub(crate) difference: Form,
    pub(crate) slack: f64,
    pub(crate) equality: bool,
}

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
    statement: Statement<'a>,
    roots: Vec<Root>,
    rows: Vec<Row>,
    /// The operations that rows need, ascending.
    row_numbers: Vec<u32>,
}

impl<'a> Forward<'a> {
    pub(crate) fn new(statement: Statement<'a>) -> Self {
        let mut forward = Self { statement, roots: Vec::new(), rows: Vec::new(), row_numbers: Vec::new() };
        for &condition in statement.roots {
            let mut need = Need::of(&statement);
            need.condition(condition);
            let (numbers, variables) = need.lists();
            forward.roots.push(Root { condition, numbers, variables });
            forward.collect(condition, false, EQUALITY);
        }
        let mut need = Need::of(&statement);
        for row in &forward.rows {
            need.number(row.a);
            need.number(row.b);
        }
        forward.row_numbers = need.lists().0;
        forward
    }

    /// The comparisons that hold wherever the condition (or its negation) does, in order.
    fn collect(&mut self, id: ConditionId, negated: bool, equality: f64) {
        match &self.statement.conditions[id.0 as usize] {
            Condition::Not(inner) => self.collect(*inner, !negated, equality),
            Condition::Exact(inner) => self.collect(*inner, negated, 0.0),
            Condition::And(parts) if !negated => parts.iter().for_each(|&p| self.collect(p, false, equality)),
            Condition::Or(parts) if negated => parts.iter().for_each(|&p| self.collect(p, true, equality)),
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
        for &k in &root.numbers {
            values[k as usize] = self.values(k, region, &values);
        }
        !self.possible(root.condition, false, EQUALITY, region, &values)
    }

    fn values(&self, k: u32, region: &Region, known: &[Values]) -> Values {
        let of = |id: NumberId| known[id.0 as usize];
        let number = &self.statement.numbers[k as usize];
        match *number {
            Number::Constant(value) => Values::point(value),
            Number::Variable(v) => coordinate(&region.0[v]),
            // 0^0 and 1^x are numbers whatever the operand is.
            Number::Power(a, exponent) if !of(a).is_none() || exponent == 0.0 => of(a).power(exponent),
            Number::Exponential(base, a) if !of(a).is_none() || base == 1.0 => of(a).exponential(base),
            Number::If(c, a, b) => {
                let yes = self.possible(c, false, 0.0, region, known);
                let no = self.possible(c, true, 0.0, region, known);
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
            Number::Log(a) => of(a).log(),
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
    ) -> bool {
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

    /// The rows as linear forms over the box; `None` where that fails.
    pub(crate) fn row_forms(&self, region: &Region) -> Vec<Option<RowForm>> {
        let n_numbers = self.statement.numbers.len();
        let (mut values, mut forms) = (vec![Values::ANY; n_numbers], vec![None; n_numbers]);
        for &k in &self.row_numbers {
            let natural = self.values(k, region, &values);
            let form = if natural.is_none() { None } else { self.form(k, region, natural, &values, &forms) };
            values[k as usize] = natural;
            if let Some(form) = form {
                // Both hold, and so does what they have in common.
                let linear: Values = form.values();
                let both = Values { low: natural.low.max(linear.low), high: natural.high.min(linear.high) };
                if !both.is_none() {
                    values[k as usize] = both;
                }
                forms[k as usize] = Some(form);
            }
        }
        let row_form = |row: &Row| {
            let (a, b) = (row.a.0 as usize, row.b.0 as usize);
            let difference = match self.statement.grid_rows.get(&row.condition) {
                Some(grid) => {
                    let form = grid_form(grid, region)?;
                    // The steps are those of the comparison as it stands; a negation turns its sides.
                    let swapped = match &self.statement.conditions[row.condition.0 as usize] {
                        Condition::Compare(_, first, _) => *first != row.a,
                        _ => false,
                    };
                    if swapped { form.negate() } else { form }
                }
                None => forms[a].as_ref()?.subtract(forms[b].as_ref()?)?,
            };
            let slack = match row.equality {
                Some(equality) if equality > 0.0 => 1.01 * equality * scale(values[a], values[b]),
                _ => 0.0,
            };
            slack.is_finite().then(|| RowForm { difference, slack, equality: row.equality.is_some() })
        };
        self.rows.iter().map(row_form).collect()
    }

    fn form(
        &self,
        k: u32,
        region: &Region,
        natural: Values,
        values: &[Values],
        forms: &[Option<Form>],
    ) -> Option<Form> {
        let n = region.0.len();
        let of = |id: NumberId| forms[id.0 as usize].as_ref();
        let range = |id: NumberId| values[id.0 as usize];
        let constant = || Form::constant(n, natural);
        let power_form = |a: NumberId, exponent: f64| {
            let range = range(a);
            let second = exponent * (exponent - 1.0);
            let even = exponent > 0.0 && exponent % 2.0 == 0.0;
            let smooth = even || range.low > 0.0 || range.high < 0.0 || (exponent > 1.0 && range.low >= 0.0);
            let odd_below = range.low < 0.0 && exponent % 2.0 != 0.0;
            if !smooth || (range.low < 0.0 && exponent.fract() != 0.0) {
                return None;
            }
            let curve = Curve {
                value: &|x| power(x, exponent),
                slope: &|x| exponent * power(x, exponent - 1.0),
                convex: (second >= 0.0) != odd_below,
            };
            of(a)?.bent(range, &curve)
        };
        let form = match self.statement.numbers[k as usize] {
            Number::Constant(_) | Number::Whole(_) | Number::If(..) => None,
            Number::Variable(v) => match region.0[v] {
                Range::Interval { .. } => Form::variable(n, v, natural),
                Range::Levels(_) => None,
            },
            Number::Add(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.add(b)),
            Number::Subtract(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.subtract(b)),
            Number::Multiply(a, b) if a == b => of(a).and_then(Form::square),
            Number::Power(a, 2.0) => of(a).and_then(Form::square),
            Number::Multiply(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.multiply(b)),
            Number::Divide(a, b) => of(a).and_then(|a| a.multiply(&self.reciprocal(b, values, forms)?)),
            Number::Negate(a) => of(a).map(Form::negate),
            Number::Power(a, exponent) => power_form(a, exponent),
            Number::Exponential(base, a) => of(a).and_then(|form| {
                let slope = |x| base.ln() * base.powf(x);
                form.bent(range(a), &Curve { value: &|x| base.powf(x), slope: &slope, convex: true })
            }),
            Number::Exp(a) => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::exp, slope: &f64::exp, convex: true })
            }),
            Number::Log(a) if range(a).low > 0.0 => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::ln, slope: &f64::recip, convex: false })
            }),
            Number::Sqrt(a) if range(a).low >= 0.0 && range(a).high > 0.0 => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::sqrt, slope: &|x| 0.5 / x.sqrt(), convex: false })
            }),
            Number::Log(_) | Number::Sqrt(_) => None,
            Number::Min(a, b) | Number::Max(a, b) => {
                let is_max = matches!(self.statement.numbers[k as usize], Number::Max(..));
                let (low, high) = if range(a).high <= range(b).low {
                    (a, b)
                } else if range(b).high <= range(a).low {
                    (b, a)
                } else {
                    return constant();
                };
                of(if is_max { high } else { low }).cloned()
            }
            Number::Abs(a) if range(a).low >= 0.0 => of(a).cloned(),
            Number::Abs(a) if range(a).high <= 0.0 => of(a).map(Form::negate),
            Number::Abs(_) => None,
            Number::Floor(a) => of(a).and_then(|form| form.shifted(-1.0, 0.0)),
            Number::Ceil(a) => of(a).and_then(|form| form.shifted(0.0, 1.0)),
        };
        form.or_else(constant)
    }

    fn reciprocal(&self, b: NumberId, values: &[Values], forms: &[Option<Form>]) -> Option<Form> {
        let range = values[b.0 as usize];
        if range.low <= 0.0 && range.high >= 0.0 {
            return None;
        }
        let curve = Curve { value: &f64::recip, slope: &|x| -1.0 / (x * x), convex: range.low > 0.0 };
        forms[b.0 as usize].as_ref()?.bent(range, &curve)
    }

    /// True when the rows, added up with these multipliers, fail at every point of the box. A multiplier below zero asks an equality from below; an inequality has none.
    pub(crate) fn contradicts(&self, forms: &[Option<RowForm>], multipliers: &[(u16, f32)]) -> bool {
        let n = self.statement.domains.len();
        let (mut sum, mut slopes) = (0.0, vec![0.0; n]);
        let (mut allowed, mut magnitude) = (0.0, 0.0);
        for &(row, multiplier) in multipliers {
            let Some(Some(form)) = forms.get(row as usize) else { return false };
            let factor = f64::from(multiplier);
            if !factor.is_finite() || (factor < 0.0 && !form.equality) {
                return false;
            }
            sum += factor * form.difference.centre;
            slopes.iter_mut().zip(&form.difference.slopes).for_each(|(sum, s)| *sum += factor * s);
            allowed += factor.abs() * (form.difference.error + form.slack);
            magnitude += factor.abs() * (form.difference.centre.abs() + form.difference.reach());
        }
        let reach: f64 = slopes.iter().map(|s| s.abs()).sum();
        let terms = (multipliers.len() + n) as f64 + 8.0;
        // Each of the sums above is off by at most `terms` roundings of its terms' sizes.
        let margin = 2.0 * terms * f64::EPSILON * (magnitude + allowed) + f64::MIN_POSITIVE;
        sum - reach - allowed - margin > 0.0
    }
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
            let mut levels = (0..kept.capacity()).filter(|&level| kept.contains(level));
            let first = levels.next();
            let last = levels.last().or(first);
            match (first, last) {
                (Some(first), Some(last)) => Values { low: first as f64, high: last as f64 },
                _ => Values::NONE,
            }
        }
    }
}

/// What the slack of an equality is relative to, at most.
fn scale(a: Values, b: Values) -> f64 {
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

/// The same as a linear form: a coordinate times its scale is its whole number of steps but for two roundings.
fn grid_form(row: &GridRow, region: &Region) -> Option<Form> {
    let n = region.0.len();
    let mut form = Form::constant(n, Values::point(-(row.bound as f64)))?;
    for &(variable, scale, coefficient) in &row.terms {
        let Range::Interval { lower, upper } = region.0[variable] else { return None };
        let factor = scale * coefficient as f64;
        let term = Form::variable(n, variable, Values { low: lower, high: upper })?;
        form = term.multiply(&Form::constant(n, Values::point(factor))?)?.add(&form)?;
    }
    Some(form)
}

/// Calls `f` for the operands; not the alternatives of an `if`.
fn operands(number: &Number, mut f: impl FnMut(NumberId)) {
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
        | Number::Floor(a)
        | Number::Ceil(a)
        | Number::Whole(a) => f(a),
    }
}

/// Collects what a condition needs.
struct Need<'a> {
    statement: &'a Statement<'a>,
    numbers: Vec<bool>,
    variables: Vec<bool>,
    conditions: Vec<bool>,
}

impl<'a> Need<'a> {
    fn of(statement: &'a Statement<'a>) -> Self {
        Self {
            statement,
            numbers: vec![false; statement.numbers.len()],
            variables: vec![false; statement.domains.len()],
            conditions: vec![false; statement.conditions.len()],
        }
    }

    fn condition(&mut self, id: ConditionId) {
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

    fn number(&mut self, id: NumberId) {
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
    fn lists(self) -> (Vec<u32>, Vec<usize>) {
        let numbers = (0..self.numbers.len() as u32).filter(|&k| self.numbers[k as usize]).collect();
        (numbers, (0..self.variables.len()).filter(|&v| self.variables[v]).collect())
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::{Form, Forward, Values};
    use crate::constraints::{Constraints, ConstraintsBuilder, Tolerance, Variable};
    use crate::domain::{Domain, Grid};
    use crate::level_set::LevelSet;
    use crate::region::{Range, Region};

    /// Every operation and condition of the language, over two numbers, a grid, a whole number and a category.
    const TEXTS: [&str; 26] = [
        "x*y - 3*x <= y/4",
        "x^2 + y^2 == 1.5",
        "x^3 - y^3 < 0.7",
        "(x + y)^4 >= 2",
        "x^-2 <= y",
        "x^-3 + y >= 0",
        "(x + 2)^0.5 < y",
        "(y + 2)^1.7 <= 3*x",
        "2^x - 0.5^y >= 1",
        "exp(x) + log(y + 1.5) <= 2",
        "sqrt(x + 1) * sqrt(y + 1) > 1",
        "abs(x) + abs(y - 0.3) <= 0.9",
        "min(x, y) * max(x, y) >= 0.2",
        "floor(3*x) + ceil(2*y) == 2",
        "if(x > y, x*x, y - n) <= 0.4",
        "x / (y - 0.2) >= 3",
        "(x - y) / (x + y + 0.1) < 0.2",
        "g + n == 2.3",
        "g - n < 0.2",
        "not (x <= y and n > 1)",
        "x > 0.5 or c == 'a' or n == 0",
        "c in ['b', 'c'] implies y >= 0.4",
        "x != y",
        "count(x > 0, y > 0, n > 1) >= 2",
        "x in {0.5, 0.7..0.9}",
        "g*x + n*y <= whole",
    ];

    fn set(text: &str) -> Constraints {
        let number = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
        let continuous = || Domain::Continuous { lower: -2.0, upper: 2.0 };
        let names = ["a", "b", "c"].map(str::to_string).to_vec();
        let variables = vec![
            number("x", continuous()),
            number("y", continuous()),
            number("g", Domain::Grid(Grid::new(-10, 1, 1, 31).unwrap())),
            number("n", Domain::Integer { lower: -1.0, upper: 3.0 }),
            Variable { name: "c".into(), domain: Domain::Categorical { levels: 3 }, level_names: names },
        ];
        let mut builder = ConstraintsBuilder::new(variables).unwrap();
        if text.contains("whole") {
            builder.define("whole", "2*x + g", true).unwrap();
        }
        builder.constrain(text, text).unwrap();
        builder.build()
    }

    fn random_region(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Region {
        let width = [0.0, 1e-15, 0.01, 0.3, 4.0][rng.random_range(0..5)];
        let range = |domain: &Domain| match domain {
            Domain::Categorical { levels } => {
                let first = rng.random_range(0..*levels);
                Range::Levels(LevelSet::from_indices(*levels, (0..*levels).filter(|&l| l >= first)))
            }
            _ => {
                let (lower, upper) = domain.bounds();
                let at = domain.nearest(rng.random_range(lower..=upper), lower, upper).unwrap();
                let (lower, upper) = domain.within(at, at + width).unwrap();
                Range::Interval { lower, upper }
            }
        };
        Region(domains.iter().map(range).collect())
    }

    fn random_point(rng: &mut ChaCha8Rng, domains: &[Domain], region: &Region) -> Vec<f64> {
        let coordinate = |(range, domain): (&Range, &Domain)| match range {
            Range::Levels(kept) => {
                let levels: Vec<usize> = kept.iter().collect();
                levels[rng.random_range(0..levels.len())] as f64
            }
            Range::Interval { lower, upper } => {
                let x = match rng.random_range(0..4) {
                    0 => *lower,
                    1 => *upper,
                    _ => lower + rng.random::<f64>() * (upper - lower),
                };
                domain.nearest(x, *lower, *upper).unwrap()
            }
        };
        region.0.iter().zip(domains).map(coordinate).collect()
    }

    fn at(domains: &[Domain], x: &[f64]) -> Region {
        let range = |(domain, &x): (&Domain, &f64)| match domain {
            Domain::Categorical { levels } => Range::Levels(LevelSet::from_indices(*levels, [x as usize])),
            _ => Range::Interval { lower: x, upper: x },
        };
        Region(domains.iter().zip(x).map(range).collect())
    }

    /// Numbers of every operation of a root.
    fn numbers(forward: &Forward<'_>, region: &Region) -> Vec<Values> {
        let mut values = vec![Values::ANY; forward.statement.numbers.len()];
        for root in &forward.roots {
            for &k in &root.numbers {
                values[k as usize] = forward.values(k, region, &values);
            }
        }
        values
    }

    /// Boxes from single points to the whole space: at points inside, each operation's value lies within the box's and within its linear form, and a
    /// constraint that is said to fail does, by the evaluation that decides what is feasible.
    #[test]
    fn what_holds_for_a_box_holds_at_its_points() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut all_checked = 0;
        for text in TEXTS {
            let set = set(text);
            let domains = set.domains();
            let forward = Forward::new(set.statement());
            let (mut failures, mut checked) = (0, 0);
            for _ in 0..1500 {
                let region = random_region(&mut rng, domains);
                let over = numbers(&forward, &region);
                let fails = (0..forward.n_roots()).any(|root| forward.fails(root, &region));
                failures += u32::from(fails);
                let forms = forward.row_forms(&region);
                for _ in 0..6 {
                    let x = random_point(&mut rng, domains, &region);
                    let point = at(domains, &x);
                    let feasible = set.is_feasible(&x, Tolerance::Produce);
                    assert!(!(fails && feasible), "`{text}` at {x:?} in {region:?}");
                    // At a point the check is the evaluation.
                    let decided = (0..forward.n_roots()).any(|root| forward.fails(root, &point));
                    assert_eq!(decided, !feasible, "`{text}` at {x:?}");
                    let inside = numbers(&forward, &point);
                    for (value, over) in inside.iter().zip(&over).filter(|(value, _)| value.is_point()) {
                        assert!(
                            over.low <= value.low && value.high <= over.high,
                            "`{text}` at {x:?}: {value:?} outside {over:?}"
                        );
                    }
                    for (row, form) in forward.rows.iter().zip(&forms) {
                        let (a, b) = (inside[row.a.0 as usize], inside[row.b.0 as usize]);
                        let Some(form) = form else { continue };
                        if !(a.is_point() && b.is_point())
                            || set.statement().grid_rows.contains_key(&row.condition)
                        {
                            continue;
                        }
                        checked += 1;
                        assert_within(&form.difference, &region, &x, a.low - b.low, text);
                    }
                }
            }
            let least = if text.contains("!=") { 0 } else { 1 };
            assert!(failures >= least, "`{text}`: only {failures} boxes fail");
            all_checked += checked;
        }
        assert!(all_checked > 50_000, "{all_checked} forms");
    }

    fn assert_within(form: &Form, region: &Region, x: &[f64], value: f64, text: &str) {
        let mut linear = form.centre;
        for ((slope, range), x) in form.slopes.iter().zip(&region.0).zip(x) {
            if let Range::Interval { lower, upper } = range {
                let middle = 0.5 * lower + 0.5 * upper;
                let radius = (upper - middle).max(middle - lower).next_up();
                linear += if *slope == 0.0 { 0.0 } else { slope * ((x - middle) / radius) };
            }
        }
        let rounding = 1e-15 * (1.0 + form.centre.abs() + form.reach());
        assert!(
            (value - linear).abs() <= form.error + rounding,
            "`{text}` at {x:?}: {value} is {:e} off {linear}, error {:e}",
            value - linear,
            form.error
        );
    }

    /// Two half-planes that miss each other within the box, though each meets it.
    #[test]
    fn sums_of_rows_prove_what_no_row_does() {
        let set = {
            let mut builder = ConstraintsBuilder::new(
                ["x", "y"]
                    .map(|name| Variable {
                        name: name.into(),
                        domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
                        level_names: Vec::new(),
                    })
                    .to_vec(),
            )
            .unwrap();
            builder.constrain("a", "x + y <= 0.9").unwrap();
            builder.constrain("b", "2*x + 2*y == 2").unwrap();
            builder.build()
        };
        let forward = Forward::new(set.statement());
        let region = Region::full(set.domains());
        let forms = forward.row_forms(&region);
        assert!(!forward.fails(0, &region) && !forward.fails(1, &region));
        assert!(forward.contradicts(&forms, &[(0, 2.0), (1, -1.0)]));
        // Wrong signs, weights that do not cancel, rows that do not exist.
        for multipliers in [
            &[(0, 2.0), (1, 1.0)][..],
            &[(0, -2.0), (1, 1.0)],
            &[(0, 1.0), (1, -1.0)],
            &[(0, 2.0), (2, -1.0)],
            &[(0, f32::INFINITY), (1, -1.0)],
            &[],
        ] {
            assert!(!forward.contradicts(&forms, multipliers), "{multipliers:?}");
        }
    }
}
