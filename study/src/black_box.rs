//! Values, and what they mean: the one place where constraints are judged and penalties are added.

use leafgp_solver::constraints::{Constraints, Tolerance};

use super::spec::{ConstraintHandling, Infeasible, LookUp, Source, StudyProblem};
use crate::command::Command;
use crate::functions::FunctionEvaluator;
use leafgp::engine::{Context, Evaluate, Evaluation};
use leafgp::problem::{Problem, ProblemError};

/// What is known of an evaluated point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    /// The objective; `None` when the evaluation failed.
    pub(super) value: Option<f64>,
    /// What the method is told.
    pub(super) told: Option<f64>,
    /// Within the tolerance for rows.
    pub(super) feasible: bool,
    /// Of each constraint, 0 where it holds; 1 for a logical or undefined one.
    pub(super) violations: Vec<f64>,
    /// Sum of their squares.
    pub(super) violation: f64,
}

/// Evaluates a problem's points for a method.
#[derive(Debug)]
pub(super) struct BlackBox<'a> {
    problem: &'a StudyProblem,
    handling: ConstraintHandling,
    context: &'a Context,
}

impl<'a> BlackBox<'a> {
    pub(super) fn new(problem: &'a StudyProblem, handling: ConstraintHandling, context: &'a Context) -> Self {
        Self { problem, handling, context }
    }

    /// The value at a point; whatever the constraints say, unless infeasible points are not measured.
    pub(super) fn evaluate(&self, point: &[f64]) -> Evaluation {
        let problem = &self.problem.problem;
        if self.skips(point) {
            return Evaluation::Failed("not measured: the point is infeasible".to_owned());
        }
        match &self.problem.source {
            Source::Function(function) => FunctionEvaluator(function).evaluate(problem, point),
            Source::Command { command, timeout } => {
                let interrupt = self.context.interrupt.clone();
                Command { command: command.clone(), timeout: *timeout, interrupt }.evaluate(problem, point)
            }
            Source::Table(table) => table.value(point),
        }
    }

    /// True where a constraint of the problem saves the measurement.
    fn skips(&self, point: &[f64]) -> bool {
        self.problem.infeasible == Infeasible::Skip
            && !self.problem.problem.constraints().is_feasible(point, Tolerance::Judge)
    }

    /// Judges a value, measured or `None` for a failed evaluation. `worst` is the worst value of the run before it: what a penalty is added to where nothing is measured.
    pub(super) fn judge(&self, point: &[f64], value: Option<f64>, worst: Option<f64>) -> Judged {
        let (constraints, objective) = (self.problem.problem.constraints(), self.problem.problem.objective());
        let violations = violations(constraints, point);
        // An empty sum is -0 in Rust.
        let violation = violations.iter().map(|v| v * v).sum::<f64>() + 0.0;
        let told = match self.handling {
            ConstraintHandling::Exact => value,
            // Worse is larger where we minimise and smaller where we maximise.
            ConstraintHandling::Penalty { lambda } => {
                let value = if self.skips(point) { worst } else { value };
                value.map(|value| value + objective.goal.sign() * lambda * violation)
            }
        };
        let feasible = constraints.is_feasible(point, Tolerance::Judge);
        Judged { value, told: told.filter(|told| told.is_finite()), feasible, violations, violation }
    }
}

/// How much each constraint is violated.
fn violations(constraints: &Constraints, point: &[f64]) -> Vec<f64> {
    let mut amounts = vec![0.0; constraints.len()];
    for violation in constraints.violations(point, Tolerance::Produce) {
        let amount = violation.amount;
        amounts[violation.constraint] = if amount.is_finite() { amount.abs() } else { 1.0 };
    }
    amounts
}

impl LookUp {
    /// The row nearest to a point: squared distance in units of each variable's range, 1 for a changed category; the first of equals.
    pub(super) fn nearest(&self, problem: &Problem, point: &[f64]) -> Vec<f64> {
        let domains = problem.domains();
        let distance = |row: &[f64]| -> f64 {
            let term = |((domain, a), b): ((&leafgp_solver::Domain, &f64), &f64)| {
                let (lower, upper) = domain.bounds();
                if domain.is_categorical() {
                    f64::from(u8::from(a != b))
                } else if upper > lower {
                    ((a - b) / (upper - lower)).powi(2)
                } else {
                    0.0
                }
            };
            domains.iter().zip(row).zip(point).map(term).sum()
        };
        let nearest = self.points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.expect("a table has rows").clone()
    }

    fn value(&self, point: &[f64]) -> Evaluation {
        match self.points.iter().position(|known| known == point) {
            Some(row) => Evaluation::Value(self.values[row]),
            None => Evaluation::Failed("the table has no such row".to_owned()),
        }
    }
}

/// The problem as a method with a penalty sees it: the box, the defined quantities and the hierarchy, without constraints.
pub(super) fn without_constraints(problem: &Problem) -> Result<Problem, ProblemError> {
    let mut builder = Problem::builder(problem.name().to_owned())
        .objective(problem.objective().name.clone(), problem.objective().goal)
        .settings(problem.settings().clone());
    for variable in problem.variables() {
        builder = builder.variable(variable.clone());
    }
    // A quantity that must be whole is a constraint, so only the quantity stays.
    for define in problem.definitions() {
        builder = builder.define(define.name.clone(), define.expr.clone(), false);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::{BlackBox, without_constraints};
    use crate::functions;
    use crate::spec::{ConstraintHandling, Infeasible, LookUp, Source, StudyProblem};
    use leafgp::engine::{Context, Evaluation};
    use leafgp::problem::{Goal, Problem, Variable};

    fn study_problem(goal: Goal) -> StudyProblem {
        let problem = Problem::builder("p")
            .objective("y", goal)
            .variable(Variable::continuous("x", 0.0, 10.0))
            .variable(Variable::categorical("c", ["a", "b"]))
            .constraint("limit", "x <= 4")
            .constraint("equal", "x == 5")
            .constraint("logic", "c == 'a'")
            .build()
            .unwrap();
        let table = LookUp { points: vec![vec![7.0, 1.0]], values: vec![2.0] };
        let (source, infeasible) = (Source::Table(table), Infeasible::Measure);
        StudyProblem { name: "p".into(), problem, source, infeasible, initial: 1, iterations: 1 }
    }

    #[test]
    fn the_penalty_is_lambda_times_the_sum_of_squares_in_the_worse_direction() {
        let context = Context::default();
        for (goal, told) in [(Goal::Minimize, 2.0 + 10.0 * 14.0), (Goal::Maximize, 2.0 - 10.0 * 14.0)] {
            let problem = study_problem(goal);
            let handling = ConstraintHandling::Penalty { lambda: 10.0 };
            let judged = BlackBox::new(&problem, handling, &context).judge(&[7.0, 1.0], Some(2.0), None);
            // x <= 4 by 3, x == 5 by 2, the category counts 1: 9 + 4 + 1.
            assert_eq!((judged.violations.clone(), judged.violation), (vec![3.0, 2.0, 1.0], 14.0));
            assert_eq!((judged.value, judged.told, judged.feasible), (Some(2.0), Some(told), false));
            let exact = BlackBox::new(&problem, ConstraintHandling::Exact, &context);
            assert_eq!(exact.judge(&[7.0, 1.0], Some(2.0), None).told, Some(2.0));
        }
    }

    #[test]
    fn what_is_not_measured_is_told_as_the_worst_value_and_the_penalty() {
        let context = Context::default();
        for (goal, worst, told) in [(Goal::Minimize, 5.0, 5.0 + 140.0), (Goal::Maximize, 1.0, 1.0 - 140.0)] {
            let problem = StudyProblem { infeasible: Infeasible::Skip, ..study_problem(goal) };
            let handling = ConstraintHandling::Penalty { lambda: 10.0 };
            let black_box = BlackBox::new(&problem, handling, &context);
            assert!(
                matches!(black_box.evaluate(&[7.0, 1.0]), Evaluation::Failed(why) if why.contains("not measured"))
            );
            let judged = black_box.judge(&[7.0, 1.0], None, Some(worst));
            assert_eq!((judged.value, judged.told, judged.violation), (None, Some(told), 14.0));
            // Nothing to stand in for the value, or a method that knows the constraints: no value.
            assert_eq!(black_box.judge(&[7.0, 1.0], None, None).told, None);
            let exact = BlackBox::new(&problem, ConstraintHandling::Exact, &context);
            assert_eq!(exact.judge(&[7.0, 1.0], None, Some(worst)).told, None);
            // Where infeasible points are measured a failure stays one.
            let measuring = study_problem(goal);
            let black_box = BlackBox::new(&measuring, handling, &context);
            assert_eq!(black_box.judge(&[7.0, 1.0], None, Some(worst)).told, None);
        }
    }

    #[test]
    fn a_table_knows_its_rows_and_nothing_else() {
        let problem = study_problem(Goal::Minimize);
        let context = Context::default();
        let black_box = BlackBox::new(&problem, ConstraintHandling::Exact, &context);
        assert_eq!(black_box.evaluate(&[7.0, 1.0]), Evaluation::Value(2.0));
        assert!(matches!(black_box.evaluate(&[7.0, 0.0]), Evaluation::Failed(_)));
    }

    #[test]
    fn the_box_stays_when_the_constraints_go() {
        let g1 = functions::find("g1").unwrap().problem().unwrap();
        let plain = without_constraints(&g1).unwrap();
        assert!(plain.constraints().is_empty() && !g1.constraints().is_empty());
        assert_eq!(plain.variables(), g1.variables());
    }
}
