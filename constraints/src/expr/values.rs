//! Exact evaluation at a point: the true model that every answer is checked against.

use std::cell::{Cell, OnceCell};

use super::decimals::is_near;
use super::program::{Comparison, Condition, ConditionId, GridRow, Number, NumberId, Program};
use super::settings::Settings;

/// Whether a condition holds, and by how much it fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Holds,
    /// Excess of the worst failing comparison; infinite when undefined or logical.
    Fails(f64),
}

impl Verdict {
    fn of(holds: bool, amount: f64) -> Self {
        if holds {
            Self::Holds
        } else if amount > 0.0 {
            Self::Fails(amount)
        } else {
            // A strict comparison that fails by nothing, or an undefined operand.
            Self::Fails(if amount == 0.0 { 0.0 } else { f64::INFINITY })
        }
    }

    pub(crate) fn holds(self) -> bool {
        self == Self::Holds
    }
}

/// The values of all operations at one point; reusable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    numbers: Vec<f64>,
    point: Vec<f64>,
    /// Whole values, where comparisons are decided by them.
    wholes: Vec<Option<i128>>,
    /// Sizes of the operations, once a comparison asks.
    sizes: OnceCell<Vec<f64>>,
    /// The settings of the last run.
    settings: Option<Settings>,
    /// Verdicts about the conditions that others share, for each: itself and its negation, with the run's tolerances and without. Walking a shared
    /// condition once for each of its users would take time exponential in the depth.
    shared: Vec<[Cell<Option<Verdict>>; 4]>,
}

impl Evaluation {
    /// Evaluates every operation at a point in variable order. Undefined values are NaN.
    pub(crate) fn run(&mut self, program: &Program, x: &[f64], settings: Settings) {
        self.point.clear();
        self.point.extend_from_slice(x);
        self.settings = Some(settings);
        self.sizes.take();
        self.wholes.clear();
        self.shared.clear();
        self.shared.resize_with(program.n_shared(), Default::default);
        self.numbers.clear();
        self.numbers.reserve(program.numbers.len());
        for (k, number) in program.numbers.iter().enumerate() {
            let value = match number {
                Number::Variable(v) => x[*v],
                _ => number.operate(
                    settings,
                    |id| self.numbers[id.0 as usize],
                    |id| self.decided(program, id, settings),
                ),
            };
            self.numbers.push(value);
            if !program.whole_rows.is_empty() {
                let whole = self.whole(program, NumberId(k as u32), number);
                self.wholes.push(whole);
            }
        }
    }

    /// The value of an operation at the point of the last run.
    pub(crate) fn number(&self, id: super::program::NumberId) -> f64 {
        self.numbers[id.0 as usize]
    }

    /// The alternative that an `if` takes.
    pub(super) fn taken(&self, program: &Program, number: &Number) -> Option<NumberId> {
        let Number::If(condition, yes, no) = *number else { return None };
        let decided = self.decided(program, condition, self.settings?)?;
        Some(if decided { yes } else { no })
    }

    /// The size of a comparison's terms.
    fn size(&self, program: &Program, a: NumberId, b: NumberId) -> f64 {
        let sizes = self.sizes.get_or_init(|| {
            let mut sizes: Vec<f64> = Vec::with_capacity(program.numbers.len());
            for (number, &value) in program.numbers.iter().zip(&self.numbers) {
                let of = |id: NumberId| sizes[id.0 as usize];
                let size = program.size(number, value, of, || self.taken(program, number));
                sizes.push(size);
            }
            sizes
        });
        sizes[a.0 as usize].max(sizes[b.0 as usize])
    }

    /// The whole value of an operation.
    fn whole(&self, program: &Program, id: NumberId, number: &Number) -> Option<i128> {
        program.whole(id)?;
        let of = |id: NumberId| self.wholes[id.0 as usize];
        program.whole_value(number, of, |v| self.point[v], || self.taken(program, number))
    }

    /// `a - b` of whole numbers; `None` where a coordinate is not whole (a user's row).
    fn whole_difference(&self, a: NumberId, b: NumberId) -> Option<i128> {
        self.wholes[a.0 as usize]?.checked_sub(self.wholes[b.0 as usize]?)
    }

    /// True or false without tolerances, or `None` where the condition is undefined.
    pub(crate) fn decided(&self, program: &Program, id: ConditionId, settings: Settings) -> Option<bool> {
        let settings = settings.exact();
        if self.verdict(program, id, false, settings).holds() {
            Some(true)
        } else if self.verdict(program, id, true, settings).holds() {
            Some(false)
        } else {
            None
        }
    }

    /// The verdict about a condition, or about its negation. Negations are pushed down to the comparisons first, so that the
    /// tolerance always widens.
    pub(crate) fn verdict(
        &self,
        program: &Program,
        id: ConditionId,
        negated: bool,
        settings: Settings,
    ) -> Verdict {
        let exact = settings == settings.exact();
        let memory = program
            .place(id)
            .filter(|_| exact || self.settings == Some(settings))
            .and_then(|place| Some(&self.shared.get(place)?[usize::from(negated) + 2 * usize::from(exact)]));
        if let Some(verdict) = memory.and_then(Cell::get) {
            return verdict;
        }
        let verdict = self.judge(program, id, negated, settings);
        if let Some(memory) = memory {
            memory.set(Some(verdict));
        }
        verdict
    }

    fn judge(&self, program: &Program, id: ConditionId, negated: bool, settings: Settings) -> Verdict {
        match program.get_condition(id) {
            Condition::Constant(value) => Verdict::of(*value != negated, f64::INFINITY),
            Condition::Not(inner) => self.verdict(program, *inner, !negated, settings),
            Condition::Exact(inner) => self.verdict(program, *inner, negated, settings.exact()),
            Condition::Level(variable, set) => {
                let level = self.point[*variable];
                let inside = level >= 0.0 && set.contains(level as usize);
                Verdict::of(inside != negated, f64::INFINITY)
            }
            Condition::IsWhole(a) => {
                let value = self.numbers[a.0 as usize];
                let holds = if negated { value != value.round() } else { value == value.round() };
                Verdict::of(holds && value.is_finite(), (value - value.round()).abs())
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                if let Some(sum) = program.grid_rows.get(&id).and_then(|row| self.steps(row)) {
                    return in_steps(op, if swapped { -sum.0 } else { sum.0 }, sum.1);
                }
                let (a, b) = if swapped { (*b, *a) } else { (*a, *b) };
                if program.whole_rows.contains(&id)
                    && let Some(difference) = self.whole_difference(a, b)
                {
                    return in_steps(op, difference, 1.0);
                }
                let values = [self.numbers[a.0 as usize], self.numbers[b.0 as usize]];
                let verdict = compare(op, values, settings, || self.size(program, a, b));
                if settings.decimals { self.in_decimals(program, op, (a, b), verdict) } else { verdict }
            }
            Condition::And(parts) if !negated => self.every(program, parts, negated, settings),
            Condition::Or(parts) if negated => self.every(program, parts, negated, settings),
            Condition::And(parts) | Condition::Or(parts) => {
                let holds = parts.iter().any(|&p| self.verdict(program, p, negated, settings).holds());
                Verdict::of(holds, f64::INFINITY)
            }
        }
    }

    /// The verdict of f64 about an inequality, unless it is as near as a rounding: then the decimals decide, so that `<=` holds where it holds on paper, and `<`
    /// does not where the sides are equal on paper.
    fn in_decimals(
        &self,
        program: &Program,
        op: Comparison,
        (a, b): (NumberId, NumberId),
        said: Verdict,
    ) -> Verdict {
        let (left, right) = (self.numbers[a.0 as usize], self.numbers[b.0 as usize]);
        let is_open = match op {
            Comparison::LessEqual => !said.holds(),
            Comparison::Less => said.holds(),
            Comparison::Equal | Comparison::NotEqual => false,
        };
        if !(is_open && is_near(left - right, left.abs().max(right.abs()))) {
            return said;
        }
        let at_point = |v: usize| self.point.get(v).map(|&x| (x, x));
        match program.decimal_difference(a, b, at_point) {
            Some((difference, _)) if op == Comparison::LessEqual && !difference.is_positive() => {
                Verdict::Holds
            }
            Some((difference, _)) if op == Comparison::Less && !difference.is_negative() => {
                Verdict::Fails(0.0)
            }
            _ => said,
        }
    }

    fn every(&self, program: &Program, parts: &[ConditionId], negated: bool, settings: Settings) -> Verdict {
        parts.iter().fold(Verdict::Holds, |worst, &part| {
            match (worst, self.verdict(program, part, negated, settings)) {
                (Verdict::Fails(a), Verdict::Fails(b)) => Verdict::Fails(a.max(b)),
                (Verdict::Holds, other) | (other, Verdict::Holds) => other,
            }
        })
    }

    /// `sum - bound` in whole steps, and the step; `None` when a coordinate is off its grid (a user's row).
    fn steps(&self, row: &GridRow) -> Option<(i128, f64)> {
        let mut sum = -i128::from(row.bound);
        for &(variable, scale, coefficient) in &row.terms {
            let value = self.point[variable];
            let numerator = (value * scale).round();
            if numerator / scale != value || numerator.abs() >= 1e18 {
                return None;
            }
            sum += i128::from(coefficient) * numerator as i128;
        }
        Some((sum, row.step))
    }
}

/// The negated comparison, and whether its operands change sides.
pub(crate) fn negation(op: Comparison) -> (Comparison, bool) {
    match op {
        Comparison::LessEqual => (Comparison::Less, true),
        Comparison::Less => (Comparison::LessEqual, true),
        Comparison::Equal => (Comparison::NotEqual, false),
        Comparison::NotEqual => (Comparison::Equal, false),
    }
}

fn in_steps(op: Comparison, difference: i128, step: f64) -> Verdict {
    let (holds, amount) = match op {
        Comparison::LessEqual => (difference <= 0, difference),
        Comparison::Less => (difference < 0, difference),
        Comparison::Equal => (difference == 0, difference.abs()),
        Comparison::NotEqual => (difference != 0, 0),
    };
    Verdict::of(holds, amount as f64 * step)
}

/// `size` is that of the two sides' terms.
fn compare(op: Comparison, [a, b]: [f64; 2], settings: Settings, size: impl Fn() -> f64) -> Verdict {
    if a.is_nan() || b.is_nan() {
        return Verdict::Fails(f64::INFINITY);
    }
    let within = |amount: f64, tolerance: f64| {
        let allowed = if tolerance > 0.0 { tolerance * size() } else { 0.0 };
        // An overflow is no permission.
        allowed.is_finite() && amount <= allowed
    };
    match op {
        Comparison::LessEqual => Verdict::of(a <= b || within(a - b, settings.inequality), a - b),
        Comparison::Less => Verdict::of(a < b, a - b),
        Comparison::Equal => {
            let amount = (a - b).abs();
            Verdict::of(a == b || within(amount, settings.equality), amount)
        }
        Comparison::NotEqual => Verdict::of(a != b, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Settings, Verdict, compare};

    #[test]
    fn tolerances_widen_only_closed_comparisons() {
        let size = |a: f64, b: f64| a.abs().max(b.abs());
        let judge = |op, a, b| compare(op, [a, b], Settings::JUDGE, || size(a, b)).holds();
        assert!(judge(Comparison::LessEqual, 100.0 + 5e-5, 100.0));
        assert!(!judge(Comparison::LessEqual, 100.0 + 2e-4, 100.0));
        assert!(!judge(Comparison::Less, 1.0, 1.0));
        assert!(!judge(Comparison::NotEqual, 1.0, 1.0));
        let produce = |op, a, b| compare(op, [a, b], Settings::PRODUCE, || size(a, b));
        assert_eq!(produce(Comparison::LessEqual, 1.0 + 1e-15, 1.0), Verdict::Fails(1.1102230246251565e-15));
        assert_eq!(produce(Comparison::Equal, 1.0 + 0.9e-9, 1.0), Verdict::Holds);
        assert!(!produce(Comparison::Equal, 1.1e-12, 1e-12).holds(), "relative below one, too");
        assert_eq!(produce(Comparison::Equal, f64::NAN, 1.0), Verdict::Fails(f64::INFINITY));
        assert_eq!(produce(Comparison::NotEqual, f64::NAN, 1.0), Verdict::Fails(f64::INFINITY));
    }
}
