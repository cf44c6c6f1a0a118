//! The next experiments: the first design while there is too little data, then what the model proposes.

use std::time::{Duration, Instant};

use leafgp_solver::Region;
use leafgp_solver::constraints::{Decision, Limits};

use crate::history::{History, Outcome, Row};
use crate::problem::{Preset, Problem};

use super::centre::shorten_point;
use super::choose::{Turn, choose_freely, choose_in_cell, tree_excess};
use super::context::Context;
use super::error::EngineError;
use super::propose::{Step, propose};
use super::random::{Purpose, stream};
use super::smooth_surrogate::SmoothSurrogate;
use super::suggestion::Suggestion;
use super::surrogate::Surrogate;
use super::taken::Taken;
use super::training::TrainingSet;

/// Nodes spent on the question whether the set is feasible at all before a design is made.
const FIRST_NODES: usize = 2_000;

/// Experiments suggested one after the other, each one pending for those after it. A model is fitted when the first of them needs it, and only conditioned on the
/// pending points of the others: no value is measured in between.
pub(super) struct Batch<'a> {
    problem: &'a Problem,
    history: History,
    surrogate: Option<Surrogate>,
    smooth: Option<SmoothSurrogate>,
    context: &'a Context,
}

impl<'a> Batch<'a> {
    pub(super) fn new(problem: &'a Problem, history: &History, context: &'a Context) -> Self {
        Self { problem, history: history.clone(), surrogate: None, smooth: None, context }
    }

    /// Counts a point as pending from now on.
    pub(super) fn plan(&mut self, point: &[f64]) -> Result<(), EngineError> {
        Ok(self.history.push(self.problem, point, Outcome::Pending)?)
    }

    /// The next experiment: what the preset's models propose; a space-filling point while there is too little data for them, or when they find no new one; whatever
    /// new point there is when that finds none either.
    pub(super) fn ask(&mut self) -> Result<Suggestion, EngineError> {
        let (problem, rows) = (self.problem, self.history.rows.clone());
        let limits = limits(problem, self.context);
        let taken = Taken::new(problem, &rows);
        let training = TrainingSet::new(problem, &rows)?;
        let design = |reason: String| design_point(problem, &rows, &taken, reason, &limits);
        let too_little = too_little_data(problem, rows.len(), &training);
        if let Some(reason) = &too_little
            && let Some(suggestion) = design(reason.clone())?
        {
            return Ok(suggestion);
        }
        let repeats = problem.settings().repeats;
        // Without repeats a design that found nothing leaves little to be found, and nothing was measured that a model could learn from.
        if training.y.is_empty() || too_little.is_some() && !repeats {
            return last_point(problem, &taken, &limits);
        }
        let step = Step { n_rows: rows.len(), context: self.context, limits: &limits, taken: &taken };
        let proposed = match problem.settings().preset {
            Preset::Paper => self.by_trees(training, &step, &design)?,
            Preset::Proven | Preset::Smooth | Preset::Mixed => self.by_smooth(&training, &step)?,
        };
        if let Some(suggestion) = proposed {
            return Ok(suggestion);
        }
        // Not one cell is left; inside the taken ones there may still be new points.
        let reason = match problem.settings().max_agreement {
            Some(ratio) => format!("no feasible cell has max_agreement <= {ratio} with every experiment"),
            None if repeats => "every feasible cell already holds a pending or failed experiment".to_owned(),
            None => "the models' searches found no new point".to_owned(),
        };
        match design(reason)? {
            Some(suggestion) => Ok(suggestion),
            None => last_point(problem, &taken, &limits),
        }
    }

    /// The paper's step: trees, process, proven optimum of the acquisition, centre of its cell.
    fn by_trees(
        &mut self,
        training: TrainingSet,
        step: &Step<'_>,
        design: &dyn Fn(String) -> Result<Option<Suggestion>, EngineError>,
    ) -> Result<Option<Suggestion>, EngineError> {
        let n_measured = training.y.len();
        let surrogate = fitted_trees(&mut self.surrogate, self.problem, training)?;
        if !surrogate.has_splits() {
            let reason = format!("no tree has a split yet ({n_measured} measured rows)");
            if let Some(suggestion) = design(reason)? {
                return Ok(Some(suggestion));
            }
        }
        propose(surrogate, step)
    }

    /// A step in which the smooth process chooses the point: in the trees' optimal cell when it is the turn of a proof. The trees' own choice where it finds no new one.
    fn by_smooth(
        &mut self,
        training: &TrainingSet,
        step: &Step<'_>,
    ) -> Result<Option<Suggestion>, EngineError> {
        let (problem, settings) = (self.problem, self.problem.settings());
        let turn = Turn::new(settings, step.n_rows);
        let smooth = fitted_smooth(&mut self.smooth, problem, training)?;
        // What the settings promise of every suggestion, only cells keep.
        let mut free = settings.preset != Preset::Proven && settings.max_agreement.is_none();
        let mut note = None;
        if turn.in_cell {
            let surrogate = fitted_trees(&mut self.surrogate, problem, training.clone())?;
            if surrogate.has_splits() {
                match choose_in_cell(smooth, surrogate, turn.acquisition, step) {
                    Ok(Some(suggestion)) => return Ok(Some(suggestion)),
                    Ok(None) => note = Some("no new point was found in the best cells".to_owned()),
                    Err(EngineError::NoIncumbent { reason }) if settings.max_agreement.is_none() => {
                        free = true;
                        note = Some(format!("no proven cell was found: {reason}"));
                    }
                    Err(error) => return Err(error),
                }
            } else {
                free = true;
                note = Some("no tree has a split yet, so there is no cell to prove".to_owned());
            }
        }
        if free && let Some(mut suggestion) = choose_freely(smooth, training, turn.acquisition, step) {
            suggestion.note = note;
            if let (true, Some(chosen)) = (self.context.tree_excess, &mut suggestion.chosen) {
                let surrogate = fitted_trees(&mut self.surrogate, problem, training.clone())?;
                if surrogate.has_splits() {
                    chosen.tree_excess = tree_excess(surrogate, &suggestion.point, step);
                }
            }
            return Ok(Some(suggestion));
        }
        match propose(fitted_trees(&mut self.surrogate, problem, training.clone())?, step) {
            // There is still the design.
            Err(EngineError::NoIncumbent { .. }) => Ok(None),
            proposed => proposed,
        }
    }
}

/// The trees' model of a batch, with the pending points of this moment.
fn fitted_trees<'s>(
    slot: &'s mut Option<Surrogate>,
    problem: &Problem,
    training: TrainingSet,
) -> Result<&'s Surrogate, EngineError> {
    let surrogate = match slot.take() {
        Some(surrogate) => surrogate.with_pending(training.pending)?,
        None => Surrogate::fit(problem, training)?,
    };
    Ok(slot.insert(surrogate))
}

/// The same of the smooth process.
fn fitted_smooth<'s>(
    slot: &'s mut Option<SmoothSurrogate>,
    problem: &Problem,
    training: &TrainingSet,
) -> Result<&'s SmoothSurrogate, EngineError> {
    let smooth = match slot.take() {
        Some(smooth) => smooth.with_pending(&training.pending)?,
        None => SmoothSurrogate::fit(problem, training)?,
    };
    Ok(slot.insert(smooth))
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
    taken: &Taken<'_>,
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
        chosen: None,
        note: Some(format!("space-filling point: {reason}")),
    };
    if let Some(point) = design.into_iter().next() {
        let short = shorten_point(problem, point.clone());
        if problem.settings().repeats || !taken.contains(&short) {
            return Ok(Some(suggestion(short)));
        }
        // Few decimals are no reason to measure the same point again.
        if !taken.contains(&point) {
            return Ok(Some(suggestion(point)));
        }
    }
    let decision = match first {
        Decision::Undecided(_) => problem.constraints().decide(&full, limits.clone()),
        decided => decided,
    };
    match decision {
        // The design gave up, but here is a new point all the same.
        Decision::Feasible(point) if !existing.contains(&point) && !taken.contains(&point) => {
            Ok(Some(suggestion(point)))
        }
        Decision::Feasible(_) => Ok(None),
        Decision::Infeasible => Err(infeasible(problem, limits)),
        Decision::Undecided(reason) => Err(EngineError::NoIncumbent { reason }),
    }
}

/// A point that is not taken when there is one, whatever it is worth.
fn last_point(problem: &Problem, taken: &Taken<'_>, limits: &Limits) -> Result<Suggestion, EngineError> {
    match taken.decide_new(limits) {
        Decision::Feasible(point) => {
            let short = shorten_point(problem, point.clone());
            Ok(Suggestion {
                point: if taken.contains(&short) { point } else { short },
                proof: None,
                chosen: None,
                note: Some("one of the last new points, found by looking between the others".to_owned()),
            })
        }
        Decision::Infeasible => Err(EngineError::SpaceExhausted),
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
