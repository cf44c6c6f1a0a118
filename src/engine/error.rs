//! Why there is no suggestion.

use leafgp_solver::search::SearchError;

use crate::gbdt::GbdtError;
use crate::gp::GpError;
use crate::problem::{ProblemError, ValueError};
use crate::smooth::SmoothError;

/// Why the engine has no answer, or refused what it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No point of the box satisfies the constraints: proved.
    #[error("the constraints leave no feasible point{}", conflict_text(.conflict))]
    Infeasible {
        /// Names of constraints that cannot hold together, none of them dispensable; empty when the set was not found within the limits.
        conflict: Vec<String>,
    },
    /// No new point is left: proved. Where the settings allow repeats, pending and failed experiments hold every feasible point.
    #[error("the space is exhausted: every feasible point already holds an experiment")]
    SpaceExhausted,
    /// The same with what was asked for: values that are fixed.
    #[error("the space is exhausted with {with}: every feasible point with it already holds an experiment")]
    ExhaustedWith {
        /// `temperature = 95, solvent = water`.
        with: String,
    },
    /// None of the candidates is left: proved, for each was looked at.
    #[error("no candidate is left: {reason}")]
    NoCandidate {
        /// How many there were, and what became of them.
        reason: String,
    },
    /// What was asked for cannot be: a variable that does not exist, or a value that it cannot have.
    #[error("{message}")]
    BadRequest {
        /// What is wrong and what was expected.
        message: String,
    },
    /// The limits ran out, or the user interrupted, before a point was found.
    #[error("no feasible point was found: {reason}")]
    NoIncumbent {
        /// Which limit.
        reason: String,
    },
    /// An observation was refused.
    #[error("{message}")]
    BadObservation {
        /// What is wrong and what was expected.
        message: String,
    },
    /// A point to be predicted was refused.
    #[error(transparent)]
    BadPoint(#[from] ValueError),
    /// Without a measured value there is no model.
    #[error("there is no model: no experiment has a value yet")]
    NoMeasuredRow,
    /// A candidate of a list was refused.
    #[error("candidate {index}: {message}")]
    BadCandidate {
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The source of objective values does not work: nothing is known of the point that it was asked for.
    #[error("{reason}")]
    Unusable {
        /// What the source said.
        reason: String,
    },
    /// Too many evaluations failed one after the other.
    #[error("{count} evaluations failed one after the other, the last one: {reason}")]
    FailuresInARow {
        /// How many.
        count: usize,
        /// Why the last one failed.
        reason: String,
    },
    /// The problem could not be put as it was asked for.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The trees could not be fitted.
    #[error("trees: {0}")]
    Trees(#[from] GbdtError),
    /// The process could not be fitted.
    #[error("Gaussian process: {0}")]
    Process(#[from] GpError),
    /// The smooth process could not be fitted.
    #[error("smooth process: {0}")]
    Smooth(#[from] SmoothError),
    /// The search refused its input.
    #[error("search: {0}")]
    Search(#[from] SearchError),
}

impl EngineError {
    /// A refused row of a list, from 0; messages count from 1 like tables do.
    pub(super) fn bad_row(index: usize, error: &ValueError) -> Self {
        Self::BadObservation { message: format!("row {}: {error}", index + 1) }
    }
}

fn conflict_text(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(": {one:?} cannot hold"),
        _ => format!(
            ": {} cannot hold together",
            names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(" and ")
        ),
    }
}
