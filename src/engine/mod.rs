//! Ask and tell: the optimisation loop without files or commands.
//!
//! The algorithm is [`ask`](Optimizer::ask): fit the trees, fit the process, maximise the acquisition to proven optimality, decode the optimal cell.

mod agreement;
mod among;
mod ask;
mod centre;
mod error;
mod evaluate;
mod permutation;
mod quality;
mod random;
mod run;
mod sample;
mod suggestion;
mod surrogate;
mod training;

use leafgp_solver::constraints::Tolerance;

use crate::history::{History, Outcome};
use crate::problem::Problem;

pub use agreement::{MeanWithinAgreement, mean_within_agreement};
pub use among::Choice;
pub use ask::Context;
pub use error::EngineError;
pub use evaluate::{Evaluate, Evaluation};
pub use permutation::permutation_importances;
pub use quality::{
    CrossValidation, Importance, ModelQuality, TreesQuality, model_quality, objective_trees, trees_quality,
};
pub use random::{Purpose, stream};
pub use run::{RunSettings, Step, planned, run};
pub use sample::{nearest_feasible, uniform};
pub use suggestion::{Proof, Suggestion};
pub use surrogate::{Prediction, Surrogate};
pub use training::{TargetScale, TrainingSet};

/// One experiment: where, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The point, in variable order; a category stands as its level index.
    pub point: Vec<f64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// The best experiment so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Index of the observation, from 0.
    pub row: usize,
    /// Its point.
    pub point: Vec<f64>,
    /// The measured objective, in the user's direction.
    pub value: f64,
}

/// A Bayesian optimiser as a library: `ask` for the next experiment, `tell` its result.
///
/// ```
/// use leafgp::engine::Optimizer;
/// use leafgp::problem::{Problem, Variable};
///
/// let problem = Problem::builder("parabola").variable(Variable::continuous("x", -1.0, 2.0)).build()?;
/// let mut optimizer = Optimizer::new(problem);
/// for _ in 0..12 {
///     let x = optimizer.ask()?.point;
///     optimizer.tell(&x, (x[0] - 0.5).powi(2))?;
/// }
/// assert!(optimizer.best().unwrap().value < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Optimizer {
    problem: Problem,
    observations: Vec<Observation>,
}

impl Optimizer {
    /// Starts without any experiments.
    pub fn new(problem: Problem) -> Self {
        Self { problem, observations: Vec::new() }
    }

    /// Starts from a history.
    pub fn with_history(problem: Problem, history: &History) -> Self {
        let observations = history
            .rows
            .iter()
            .map(|row| Observation { point: row.point.clone(), outcome: row.outcome })
            .collect();
        Self { problem, observations }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// All experiments told so far, in order.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The next experiment. The same observations and seed give the same answer.
    ///
    /// # Errors
    /// The constraints leave no feasible point, every cell is taken, or the limits ran out before any point was found.
    pub fn ask(&self) -> Result<Suggestion, EngineError> {
        self.ask_with(&Context::default())
    }

    /// [`Optimizer::ask`] that can be interrupted and watched.
    ///
    /// # Errors
    /// As [`Optimizer::ask`], and when it was interrupted before any point was found.
    pub fn ask_with(&self, context: &Context) -> Result<Suggestion, EngineError> {
        ask::ask(&self.problem, &self.observations, context)
    }

    /// The next `n` experiments to run side by side: each suggestion counts as pending for the ones after it.
    ///
    /// # Errors
    /// As [`Optimizer::ask`], when not even one can be suggested. When the space runs out later, fewer than `n` are returned.
    pub fn ask_many(&self, n: usize, context: &Context) -> Result<Vec<Suggestion>, EngineError> {
        let mut working = self.clone();
        let mut suggestions = Vec::with_capacity(n);
        for _ in 0..n {
            match working.ask_with(context) {
                Ok(suggestion) => {
                    working.push(&suggestion.point, Outcome::Pending);
                    suggestions.push(suggestion);
                }
                Err(error) if suggestions.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(suggestions)
    }

    /// Tells a measured value, in the objective's own direction.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level, a value that is not finite. Nothing is stored then.
    pub fn tell(&mut self, point: &[f64], value: f64) -> Result<(), EngineError> {
        self.tell_outcome(point, Outcome::Done(value))
    }

    /// Tells any outcome: measured, pending or failed.
    ///
    /// # Errors
    /// As [`Optimizer::tell`].
    pub fn tell_outcome(&mut self, point: &[f64], outcome: Outcome) -> Result<(), EngineError> {
        check_point(&self.problem, point).map_err(|message| EngineError::BadObservation { message })?;
        if let Outcome::Done(value) = outcome
            && !value.is_finite()
        {
            let message =
                format!("the value is {value}; expected a finite number (tell a failed experiment as such)");
            return Err(EngineError::BadObservation { message });
        }
        self.push(point, outcome);
        Ok(())
    }

    fn push(&mut self, point: &[f64], outcome: Outcome) {
        self.observations.push(Observation { point: point.to_vec(), outcome });
    }

    /// The best feasible experiment so far; the first of equals. Rows outside the box, the grid or the constraints never count.
    pub fn best(&self) -> Option<Best> {
        let goal = self.problem.objective.goal;
        let mut best: Option<Best> = None;
        for (row, observation) in self.observations.iter().enumerate() {
            let Outcome::Done(value) = observation.outcome else { continue };
            let better = best.as_ref().is_none_or(|b| goal.is_better(value, b.value));
            if better && is_eligible(&self.problem, &observation.point) {
                best = Some(Best { row, point: observation.point.clone(), value });
            }
        }
        best
    }
}

/// True when the point, its inactive variables at their inactive values, satisfies the box and the constraints within the tolerance for
/// rows that a user brings.
fn is_eligible(problem: &Problem, point: &[f64]) -> bool {
    let mut point = point.to_vec();
    problem.constraints.deactivate(&mut point);
    problem.constraints.is_feasible(&point, Tolerance::Judge)
}
/// A number for each coordinate, a known level for each category; else what was expected. The box is not checked: old experiments may lie outside.
fn check_point(problem: &Problem, point: &[f64]) -> Result<(), String> {
    let expected = problem.variables.len();
    if point.len() != expected {
        return Err(format!("the point has {} coordinates; expected {expected}", point.len()));
    }
    for (variable, &x) in problem.variables.iter().zip(point) {
        let is_level = variable.domain().levels().is_none_or(|_| variable.domain().contains(x));
        if !x.is_finite() || !is_level {
            return Err(format!("{} is {x}; expected {}", variable.name, variable.expected()));
        }
    }
    Ok(())
}
