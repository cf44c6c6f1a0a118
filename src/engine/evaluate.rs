//! Where objective values come from, as the closed loop sees it.

use crate::problem::Problem;

/// What an evaluation gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// The objective, finite.
    Value(f64),
    /// It was run and gave no value; why.
    Failed(String),
    /// The source itself does not work (no such command): nothing was run, and nothing will be; why.
    Unusable(String),
    /// The user interrupted it; nothing is known.
    Interrupted,
}

/// A source of objective values; called from several threads at once when experiments run side by side.
pub trait Evaluate: Sync {
    /// Runs the experiment at a point of the problem.
    fn evaluate(&self, problem: &Problem, point: &[f64]) -> Evaluation;
}
