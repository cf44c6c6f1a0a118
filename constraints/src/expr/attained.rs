//! What plain f64 evaluation can yield over a box.
//!
//! Intervals with outward rounding hold the real values, and cannot tell a constraint that fails by one rounding from one that holds. But the question is
//! whether a *printed* point passes the check, in f64. Rounding to nearest is monotone, so over a box the ends of each operation's values are its
//! values at ends of the operands'.

use std::cell::Cell;

use super::decimals::is_near;
use super::program::{Comparison, Condition, ConditionId, Number, NumberId, Program};
use super::values::negation;

/// Smallest and largest value of an operation; NaN where they are not known.
type Ends = (f64, f64);

const UNKNOWN: Ends = (f64::NAN, f64::NAN);

/// The ends of every operation of a program over a box.
#[derive(Clone, Debug)]
pub(crate) struct Attained {
    numbers: Vec<Ends>,
    variables: Vec<Option<Ends>>,
    /// What is known of the conditions that others share: itself, and its negation.
    shared: Vec<[Cell<Option<bool>>; 2]>,
}

/// The ends of several values; unknown when one is.
fn ends_of<const N: usize>(values: [f64; N]) -> Ends {
    if values.iter().any(|v| v.is_nan()) {
        return UNKNOWN;
    }
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

impl Attained {
    /// `variables` are the ends of each variable's values, `None` for a category.
    pub(crate) fn over(program: &Program, variables: &[Option<Ends>]) -> Self {
        let mut numbers: Vec<Ends> = Vec::with_capacity(program.numbers.len());
        for number in &program.numbers {
            let of = |id: super::NumberId| numbers[id.0 as usize];
            let pairwise = |a, b, operate: fn(f64, f64) -> f64| {
                let ((a, b), (c, d)) = (of(a), of(b));
                ends_of([operate(a, c), operate(a, d), operate(b, c), operate(b, d)])
            };
            let spans_zero = |(low, high): Ends| low <= 0.0 && high >= 0.0;
            let ends = match *number {
                Number::Constant(value) => (value, value),
                Number::Variable(v) => variables[v].unwrap_or(UNKNOWN),
                Number::Add(a, b) => pairwise(a, b, |a, b| a + b),
                Number::Subtract(a, b) => pairwise(a, b, |a, b| a - b),
                Number::Multiply(a, b) => pairwise(a, b, |a, b| a * b),
                Number::Divide(_, b) if spans_zero(of(b)) => UNKNOWN,
                Number::Divide(a, b) => pairwise(a, b, |a, b| a / b),
                Number::Negate(a) => {
                    let (low, high) = of(a);
                    (-high, -low)
                }
                Number::Apply(function, a) => {
                    let (low, high) = of(a);
                    let known = !(low.is_nan() || high.is_nan());
                    known.then(|| function.attained(low, high)).flatten().map_or(UNKNOWN, ends_of)
                }
                Number::Extreme(extreme, a, b) => {
                    let ((a, b), (c, d)) = (of(a), of(b));
                    let ends = (extreme.value(a, c), extreme.value(b, d));
                    if ends.0.is_nan() || ends.1.is_nan() { UNKNOWN } else { ends }
                }
                // These jump.
                Number::If(..) | Number::Whole(_) => UNKNOWN,
            };
            numbers.push(ends);
        }
        let variables = variables.to_vec();
        Self { numbers, variables, shared: vec![Default::default(); program.n_shared()] }
    }

    /// True when the condition (or its negation), evaluated without slack, is known to fail at every point of the box. Rows decided in whole steps are
    /// left to them.
    pub(crate) fn never_holds(&self, program: &Program, id: ConditionId, negated: bool) -> bool {
        let memory = program.place(id).map(|place| &self.shared[place][usize::from(negated)]);
        if let Some(known) = memory.and_then(Cell::get) {
            return known;
        }
        let fails = self.fails(program, id, negated);
        if let Some(memory) = memory {
            memory.set(Some(fails));
        }
        fails
    }

    /// Whether `a <= b`, which f64 fails at every point of the box, fails there in decimals, too.
    fn fails_in_decimals(&self, program: &Program, a: NumberId, b: NumberId) -> bool {
        let (left, right) = (self.numbers[a.0 as usize], self.numbers[b.0 as usize]);
        let size = [left.0, left.1, right.0, right.1].into_iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if !is_near(left.0 - right.1, size) || !program.is_decided_in_decimals(a, b) {
            return true;
        }
        let least = program.decimal_difference(a, b, |v| self.variables[v]);
        least.is_some_and(|(least, _)| least.is_positive())
    }

    fn fails(&self, program: &Program, id: ConditionId, negated: bool) -> bool {
        match program.get_condition(id) {
            Condition::Constant(value) => *value == negated,
            Condition::Not(inner) => self.never_holds(program, *inner, !negated),
            Condition::Exact(inner) => self.never_holds(program, *inner, negated),
            Condition::Level(..) | Condition::IsWhole(_) => false,
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let (least, most) = (self.numbers[a.0 as usize].0, self.numbers[b.0 as usize].1);
                !program.grid_rows.contains_key(&id)
                    && !program.whole_rows.contains(&id)
                    && match op {
                        Comparison::LessEqual => least > most && self.fails_in_decimals(program, *a, *b),
                        Comparison::Less => least >= most,
                        Comparison::Equal | Comparison::NotEqual => false,
                    }
            }
            Condition::And(parts) if !negated => parts.iter().any(|&p| self.never_holds(program, p, negated)),
            Condition::Or(parts) if negated => parts.iter().any(|&p| self.never_holds(program, p, negated)),
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().all(|&p| self.never_holds(program, p, negated))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::super::{Evaluation, NumberId, Settings};
    use super::{Attained, Comparison, Condition, Number, Program};
    use crate::function::{Extreme, Function};

    /// A random program over three variables; its last operations are compared.
    fn random_program(rng: &mut ChaCha8Rng) -> Program {
        let named: Vec<Function> = Function::all_names().filter_map(Function::named).collect();
        let mut program = Program::default();
        let mut ids: Vec<NumberId> = (0..3).map(|v| program.number(Number::Variable(v))).collect();
        ids.push(program.number(Number::Constant(rng.random_range(-2.0..2.0))));
        for _ in 0..rng.random_range(2..9) {
            let (a, b) = (ids[rng.random_range(0..ids.len())], ids[rng.random_range(0..ids.len())]);
            let number = match rng.random_range(0..8 + named.len()) {
                0 => Number::Add(a, b),
                1 => Number::Subtract(a, b),
                2 => Number::Multiply(a, b),
                3 => Number::Divide(a, b),
                4 => Number::Negate(a),
                5 => Number::Apply(Function::power(2.0), a),
                6 => Number::Extreme(Extreme::Min, a, b),
                7 => Number::Extreme(Extreme::Max, a, b),
                k => Number::Apply(named[k % named.len()], a),
            };
            ids.push(program.number(number));
        }
        program
    }

    /// Boxes of a few floats and wide ones; every value at points inside lies between the ends, and a condition said never to hold does not hold.
    #[test]
    fn values_at_points_lie_between_the_ends() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut never = 0;
        for _ in 0..4000 {
            let mut program = random_program(&mut rng);
            let n = program.numbers.len() as u32;
            let (a, b) = (NumberId(rng.random_range(0..n)), NumberId(rng.random_range(0..n)));
            let op = [Comparison::LessEqual, Comparison::Less, Comparison::Equal][rng.random_range(0..3)];
            let condition = program.condition(Condition::Compare(op, a, b));
            let negated = rng.random();
            let narrow = rng.random();
            let variables: Vec<(f64, f64)> = (0..3)
                .map(|_| {
                    let low: f64 = rng.random_range(-3.0..3.0);
                    let steps = rng.random_range(0..4);
                    let few = (0..steps).fold(low, |v, _| v.next_up());
                    (low, if narrow { few } else { low + rng.random_range(0.0..3.0) })
                })
                .collect();
            let attained =
                Attained::over(&program, &variables.iter().map(|&ends| Some(ends)).collect::<Vec<_>>());
            let fails = attained.never_holds(&program, condition, negated);
            never += u32::from(fails);
            let mut evaluation = Evaluation::default();
            for _ in 0..30 {
                let x: Vec<f64> = variables
                    .iter()
                    .map(|&(low, high)| match rng.random_range(0..4) {
                        0 => low,
                        1 => high,
                        _ => (low + rng.random::<f64>() * (high - low)).clamp(low, high),
                    })
                    .collect();
                evaluation.run(&program, &x, Settings::PRODUCE);
                for (k, &(low, high)) in attained.numbers.iter().enumerate() {
                    let value = evaluation.number(NumberId(k as u32));
                    assert!(
                        low.is_nan() || (low <= value && value <= high),
                        "{value} in [{low}, {high}], {program:?}"
                    );
                }
                let holds = evaluation.verdict(&program, condition, negated, Settings::PRODUCE).holds();
                assert!(!(fails && holds), "{program:?} at {x:?}");
            }
        }
        assert!(never > 500, "only {never} conditions that never hold");
    }
}
