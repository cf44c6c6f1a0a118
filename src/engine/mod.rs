//! Ask and tell: the optimisation loop without files or commands.
//!
//! The algorithm is [`ask`](Optimizer::ask), one for each [`Preset`](crate::problem::Preset). The paper's: fit the trees, fit the process, maximise the acquisition to
//! proven optimality, decode the optimal cell. The others fit a smooth process, which chooses the point: in the trees' optimal cell, or out of the whole feasible set.

mod agreement;
mod among;
mod ask;
mod candidates;
mod cells;
mod centre;
mod choose;
mod context;
mod error;
mod evaluate;
mod fitted_trees;
mod held_out;
mod model;
mod models;
mod permutation;
mod promise;
mod propose;
mod quality;
mod random;
mod request;
mod run;
mod sample;
mod smooth_surrogate;
mod suggestion;
mod surrogate;
mod taken;
mod training;

use crate::history::{Best, History, Outcome, Row};
use crate::instance::Instance;
use crate::problem::{Problem, ValueError};
use fitted_trees::Memory;

pub use agreement::MeanWithinAgreement;
pub use among::Choice;
pub use candidates::LeftOut;
pub use context::{Context, interrupted};
pub use error::EngineError;
pub use evaluate::{Evaluate, Evaluation};
pub use held_out::{HeldOut, HeldOutErrors, INTERVAL, Verdict};
pub use model::Model;
pub use permutation::permutation_importances;
pub use promise::{Promise, rounded_outward};
pub use quality::{
    CrossValidation, Importance, ModelQuality, TreesQuality, cross_validation, model_quality,
    objective_trees, predictions_quality, trees_quality,
};
pub use random::{Purpose, stream};
pub use request::{Answer, Request};
pub use run::{Ended, Ledger, RunSettings, Step, planned, run};
pub use sample::{nearest_feasible, uniform};
pub use smooth_surrogate::SmoothSurrogate;
pub use suggestion::{Chosen, Listed, Method, Proof, Score, Suggestion};
pub use surrogate::{Prediction, Surrogate};
pub use training::{TargetScale, TrainingSet};

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
    history: History,
    /// Clones share it.
    memory: Memory,
}

impl Optimizer {
    /// Starts without any experiments.
    pub fn new(problem: Problem) -> Self {
        Self { problem, history: History::new(), memory: Memory::default() }
    }

    /// Starts from a history, whose rows are judged by this problem.
    ///
    /// # Errors
    /// [`EngineError::BadObservation`] for a row whose point is none of the problem's.
    pub fn with_history(problem: Problem, history: &History) -> Result<Self, EngineError> {
        let judged = |(index, row): (usize, &Row)| {
            let judged = Row::new(&problem, &row.point, row.outcome);
            judged
                .map(|judged| Row { line: row.line, failure: row.failure.clone(), ..judged })
                .map_err(|e| EngineError::bad_row(index, &e))
        };
        let rows = history.rows.iter().enumerate().map(judged).collect::<Result<_, _>>()?;
        Ok(Self { problem, history: History { rows, ..history.clone() }, memory: Memory::default() })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// All experiments told so far, in order.
    pub fn observations(&self) -> &[Row] {
        &self.history.rows
    }

    /// The next experiment. The same observations and seed give the same answer.
    ///
    /// # Errors
    /// The constraints leave no feasible point, every feasible point is taken, or the limits ran out before any point was found.
    pub fn ask(&self) -> Result<Suggestion, EngineError> {
        self.ask_with(&Context::default())
    }

    /// [`Optimizer::ask`] that can be interrupted and watched.
    ///
    /// # Errors
    /// As [`Optimizer::ask`], and when it was interrupted before any point was found.
    pub fn ask_with(&self, context: &Context) -> Result<Suggestion, EngineError> {
        self.ask_many(1, context)?.pop().ok_or(EngineError::SpaceExhausted)
    }

    /// The next `n` experiments to run side by side: each suggestion counts as pending for the ones after it. The model is fitted once.
    ///
    /// # Errors
    /// As [`Optimizer::ask`], when not even one can be suggested. When the space runs out later, fewer than `n` are returned.
    pub fn ask_many(&self, n: usize, context: &Context) -> Result<Vec<Suggestion>, EngineError> {
        Ok(self.ask_for(&Request::default(), n, context)?.suggestions)
    }

    /// [`Optimizer::ask_many`] with wishes: values that are fixed, points to choose from, variables with one value in all of them.
    ///
    /// # Errors
    /// As [`Optimizer::ask_many`]; a variable that does not exist, or a value that it cannot have; a candidate that is no point. [`EngineError::Infeasible`] names what is
    /// fixed among the constraints in conflict.
    pub fn ask_for(&self, request: &Request, n: usize, context: &Context) -> Result<Answer, EngineError> {
        request::ask_for(&self.problem, &self.history, request, n, (context, &self.memory))
    }

    /// The trees' acquisition problem of a request as a file: what [`Optimizer::ask_for`] has them search, after the experiments told so far.
    ///
    /// # Errors
    /// As [`Optimizer::ask_for`], and [`EngineError::NoMeasuredRow`].
    pub fn instance_for(&self, request: &Request) -> Result<Instance, EngineError> {
        request::instance(&self.problem, &self.history, request)
    }

    /// The model that chooses the points, of the experiments told so far.
    ///
    /// # Errors
    /// As [`Model::of`].
    pub fn model(&self) -> Result<Model, EngineError> {
        Model::of(&self.problem, &self.history.rows)
    }

    /// The smooth process of the experiments told so far, which chooses the point in every preset but the paper's.
    ///
    /// # Errors
    /// As [`SmoothSurrogate::of`].
    pub fn smooth(&self) -> Result<SmoothSurrogate, EngineError> {
        SmoothSurrogate::of(&self.problem, &self.history.rows)
    }

    /// The trees and their process of the experiments told so far: what the proofs are about, and in the paper's preset what [`Optimizer::ask`] decides by.
    ///
    /// # Errors
    /// As [`Surrogate::of`].
    pub fn surrogate(&self) -> Result<Surrogate, EngineError> {
        Surrogate::of(&self.problem, &self.history.rows)
    }

    /// Tells a measured value, in the objective's own direction: of the first pending experiment at the point, or of a new one.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level, a value that is not finite. Nothing is stored then.
    pub fn tell(&mut self, point: &[f64], value: f64) -> Result<(), EngineError> {
        self.tell_outcome(point, Outcome::Done(value))
    }

    /// Tells any outcome: measured, pending or failed; see [`History::record`].
    ///
    /// # Errors
    /// As [`Optimizer::tell`].
    pub fn tell_outcome(&mut self, point: &[f64], outcome: Outcome) -> Result<(), EngineError> {
        self.history.record(&self.problem, point, outcome).map_err(refused)
    }

    /// Takes back an experiment that was told as pending and will not be run; false when there is none at the point.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level.
    pub fn cancel(&mut self, point: &[f64]) -> Result<bool, EngineError> {
        self.history.cancel(&self.problem, point).map_err(refused)
    }

    /// The best feasible experiment so far; the first of equals. Rows outside the box, the grid or the constraints never count.
    pub fn best(&self) -> Option<Best> {
        self.history.best(&self.problem)
    }
}

fn refused(error: ValueError) -> EngineError {
    EngineError::BadObservation { message: error.to_string() }
}
