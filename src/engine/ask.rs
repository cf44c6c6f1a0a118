//! The next experiments: the first design while there is too little data, then what the model proposes.

use std::time::{Duration, Instant};

use leafgp_solver::Region;
use leafgp_solver::constraints::{Decision, Limits};

use crate::history::{History, Outcome, Row};
use crate::problem::Problem;

use super::centre::shorten_point;
use super::context::Context;
use super::error::EngineError;
use super::propose::{Step, propose};
use super::random::{Purpose, stream};
use super::suggestion::Suggestion;
use super::surrogate::Surrogate;
use super::training::TrainingSet;

/// Nodes spent on the question whether the set is feasible at all before a design is made.
const FIRST_NODES: usize = 2_000;

/// Experiments suggested one after the other, each one pending for those after it. The model is fitted when the first of them needs it, and only conditioned on the
/// pending points of the others: no value is measured in between.
pub(super) struct Batch<'a> {
    problem: &'a Problem,
    history: History,
    surrogate: Option<Surrogate>,
    context: &'a Context,
}

impl<'a> Batch<'a> {
    pub(super) fn new(problem: &'a Problem, history: &History, context: &'a Context) -> Self {
        Self { problem, history: history.clone(), surrogate: None, context }
    }

    /// Counts a point as pending from now on.
    pub(super) fn plan(&mut self, point: &[f64]) -> Result<(), EngineError> {
        Ok(self.history.push(self.problem, point, Outcome::Pending)?)
    }

    /// The next experiment: trees, process, proven optimum of the acquisition, centre of its cell; or a space-filling point while there is
    /// too little data for a model.
    pub(super) fn ask(&mut self) -> Result<Suggestion, EngineError> {
        let (problem, rows) = (self.problem, &self.history.rows);
        let limits = limits(problem, self.context);
        let training = TrainingSet::new(problem, rows)?;
        let design = |reason: String| design_point(problem, rows, reason, &limits);
        if let Some(reason) = too_little_data(problem, rows.len(), &training)
            && let Some(suggestion) = design(reason)?
        {
            return Ok(suggestion);
        }
        if training.y.is_empty() {
            // Every distinct point is taken, and nothing was measured that a model could learn from.
            return Err(EngineError::SpaceExhausted);
        }
        let n_measured = training.y.len();
        let surrogate = match self.surrogate.take() {
            Some(surrogate) => surrogate.with_pending(training.pending)?,
            None => Surrogate::fit(problem, training)?,
        };
        let surrogate = self.surrogate.insert(surrogate);
        if !surrogate.has_splits() {
            let reason = format!("no tree has a split yet ({n_measured} measured rows)");
            if let Some(suggestion) = design(reason)? {
                return Ok(suggestion);
            }
        }
        let step = Step { n_rows: rows.len(), context: self.context, limits: &limits };
        if let Some(suggestion) = propose(surrogate, &step)? {
            return Ok(suggestion);
        }
        // Not one cell is left; inside the taken ones there may still be new points.
        let reason = match problem.settings().max_agreement {
            Some(ratio) => format!("no feasible cell has max_agreement <= {ratio} with every experiment"),
            None => "every feasible cell already holds a pending or failed experiment".to_owned(),
        };
        design(reason)?.ok_or(EngineError::SpaceExhausted)
    }
}

/// Why a model makes no sense yet, if so.
fn too_little_data(problem: &Problem, n_rows: usize, training: &TrainingSet) -> Option<String> {
    let initial = problem.settings().design.initial;
    if n_rows < initial {
        Some(format!("first design, point {} of {initial}", n_rows + 1))
    } else if training.y.len() < 2 {
        Some(format!("a model needs at least 2 measured rows; there are {}", training.y.len()))
    } else if !training.has_spread {
        Some(format!("all {} measured values are equal", training.y.len()))
    } else {
        None
    }
}

/// A feasible point that fills the space between the existing ones; `None` when every distinct point is taken.
fn design_point(
    problem: &Problem,
    rows: &[Row],
    reason: String,
    limits: &Limits,
) -> Result<Option<Suggestion>, EngineError> {
    let existing: Vec<Vec<f64>> = rows.iter().map(|row| row.point.clone()).collect();
    // An infeasible set would keep the design busy for long.
    let full = Region::full(problem.constraints().domains());
    let first = problem.constraints().decide(&full, Limits { nodes: FIRST_NODES, ..limits.clone() });
    if first == Decision::Infeasible {
        return Err(infeasible(problem, limits));
    }
    let mut rng = stream(problem.settings().seed, Purpose::Design, existing.len());
    let design = problem.constraints().design(1, &existing, &problem.log_scale(), &mut rng, limits.clone());
    let suggestion = |point: Vec<f64>| Suggestion {
        point,
        proof: None,
        note: Some(format!("space-filling point: {reason}")),
    };
    if let Some(point) = design.into_iter().next() {
        return Ok(Some(suggestion(shorten_point(problem, point))));
    }
    let decision = match first {
        Decision::Undecided(_) => problem.constraints().decide(&full, limits.clone()),
        decided => decided,
    };
    match decision {
        // The design gave up, but here is a new point all the same.
        Decision::Feasible(point) if !existing.contains(&point) => Ok(Some(suggestion(point))),
        Decision::Feasible(_) => Ok(None),
        Decision::Infeasible => Err(infeasible(problem, limits)),
        Decision::Undecided(reason) => Err(EngineError::NoIncumbent { reason }),
    }
}

/// Limits of the questions to the constraints alone: the time of one proposal.
fn limits(problem: &Problem, context: &Context) -> Limits {
    let limit = Duration::from_secs_f64(problem.settings().solver.time_limit);
    Limits {
        deadline: Instant::now().checked_add(limit),
        interrupt: context.interrupt.clone(),
        ..Limits::default()
    }
}

fn infeasible(problem: &Problem, limits: &Limits) -> EngineError {
    // All of them together are a true answer, if not the shortest one.
    let all = || (0..problem.constraints().len()).collect();
    let conflict = problem.constraints().conflict(limits.clone()).unwrap_or_else(all);
    EngineError::Infeasible {
        conflict: conflict.iter().map(|&c| problem.constraints().name(c).to_owned()).collect(),
    }
}
