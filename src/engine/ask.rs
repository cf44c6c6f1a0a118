//! The next experiments: the first design while there is too little data, then what the model proposes.

use std::time::{Duration, Instant};

use leafgp_solver::constraints::{Decision, Limits};
use rand::{Rng, RngExt};

use crate::history::{History, Outcome, Row};
use crate::problem::{Preset, Problem};

use super::candidates::Candidates;
use super::centre::shorten_point;
use super::choose::{Turn, choose_freely, choose_in_cell, tree_excess};
use super::context::Context;
use super::error::EngineError;
use super::fitted_trees::Memory;
use super::models::Models;
use super::propose::{Step, propose};
use super::random::{Purpose, stream};
use super::suggestion::Suggestion;
use super::taken::Taken;
use super::training::TrainingSet;

/// Nodes spent on the question whether the set is feasible at all before a design is made.
const FIRST_NODES: usize = 2_000;

/// Experiments suggested one after the other, each one pending for those after it. A model is fitted when the first of them needs it, and only conditioned on the
/// pending points of the others: no value is measured in between.
pub(super) struct Batch<'a> {
    history: History,
    models: Models<'a>,
    context: &'a Context,
}

impl<'a> Batch<'a> {
    pub(super) fn new(problem: &'a Problem, history: History, context: &'a Context, memory: Memory) -> Self {
        Self { history, models: Models::new(problem, memory), context }
    }

    /// The history with the points planned so far.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// [`Batch::history`], kept.
    pub(super) fn into_history(self) -> History {
        self.history
    }

    /// Counts a point as pending from now on.
    pub(super) fn plan(&mut self, point: &[f64]) -> Result<(), EngineError> {
        Ok(self.history.push(self.models.problem, point, Outcome::Pending)?)
    }

    /// The next experiment out of a list: the best of those that are allowed and not taken.
    pub(super) fn ask_listed(&mut self, candidates: &Candidates) -> Result<Suggestion, EngineError> {
        let problem = self.models.problem;
        self.models.limits = limits(problem, self.context);
        let rows = &self.history.rows;
        let taken = Taken::new(problem, rows);
        let training = TrainingSet::new(problem, rows)?;
        let open = candidates.open(&taken)?;
        let listed = match too_little_data(problem, rows.len(), &training) {
            Some(reason) => {
                let existing: Vec<&[f64]> = rows.iter().map(|row| row.point.as_slice()).collect();
                candidates.farthest(problem, &open, &existing, reason)
            }
            None => candidates.best(&mut self.models, &training, rows.len(), &open)?,
        };
        Ok(listed)
    }

    /// The next experiment: what the preset's models propose; a space-filling point while there is too little data for them, or when they find no new one; whatever
    /// new point there is when that finds none either.
    pub(super) fn ask(&mut self) -> Result<Suggestion, EngineError> {
        let (problem, rows) = (self.models.problem, self.history.rows.clone());
        let limits = limits(problem, self.context);
        self.models.limits = limits.clone();
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
        let surrogate = self.models.trees(training)?;
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
        let Models { problem, limits, trees, smooth, memory } = &mut self.models;
        let settings = problem.settings();
        let turn = Turn::new(settings, step.n_rows);
        let smooth = smooth.fitted(problem, training, limits)?;
        // What the settings promise of every suggestion, only cells keep.
        let mut free = settings.preset != Preset::Proven && settings.max_agreement.is_none();
        let mut note = None;
        if turn.in_cell {
            let in_cell = trees.fitted(problem, training.clone(), limits, memory).and_then(|surrogate| {
                if surrogate.has_splits() {
                    choose_in_cell(smooth, surrogate, turn.acquisition, step)
                } else {
                    free = true;
                    note = Some("no tree has a split yet, so there is no cell to prove".to_owned());
                    Ok(None)
                }
            });
            match in_cell {
                Ok(Some(suggestion)) => return Ok(Some(suggestion)),
                Ok(None) => note = note.or(Some("no new point was found in the best cells".to_owned())),
                Err(EngineError::NoIncumbent { reason }) if settings.max_agreement.is_none() => {
                    free = true;
                    note = Some(format!("no proven cell was found: {reason}"));
                }
                Err(error) => return Err(error),
            }
        }
        if free && let Some(mut suggestion) = choose_freely(smooth, training, turn.acquisition, step) {
            suggestion.note = note;
            if let (true, Some(chosen)) = (self.context.tree_excess, &mut suggestion.chosen) {
                match trees.fitted(problem, training.clone(), limits, memory) {
                    Ok(surrogate) if surrogate.has_splits() => {
                        chosen.tree_excess = tree_excess(surrogate, &suggestion.point, step);
                    }
                    // Without time for the trees there is still the suggestion.
                    Ok(_) | Err(EngineError::NoIncumbent { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            return Ok(Some(suggestion));
        }
        let surrogate = trees.fitted(problem, training.clone(), limits, memory);
        match surrogate.and_then(|surrogate| propose(surrogate, step)) {
            // There is still the design.
            Err(EngineError::NoIncumbent { .. }) => Ok(None),
            proposed => proposed,
        }
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
    taken: &Taken<'_>,
    reason: String,
    limits: &Limits,
) -> Result<Option<Suggestion>, EngineError> {
    let existing: Vec<Vec<f64>> = rows.iter().map(|row| row.point.clone()).collect();
    // An infeasible set would keep the design busy for long.
    let full = problem.region();
    let first = problem.constraints().decide(&full, Limits { nodes: FIRST_NODES, ..limits.clone() });
    if first == Decision::Infeasible {
        return Err(infeasible(problem, limits));
    }
    let mut rng = stream(problem.settings().seed, Purpose::Design, existing.len());
    let zeros = zeros_of_design(problem, &existing, &mut rng);
    let mut draw = |problem: &Problem| {
        problem.constraints().design(1, &existing, &problem.log_scale(), &mut rng, limits.clone())
    };
    let mut design = match zeros.is_empty() {
        true => Vec::new(),
        false => draw(&problem.with_fixed(&zeros)?),
    };
    if design.is_empty() {
        design = draw(problem);
    }
    let suggestion = |point: Vec<f64>| Suggestion {
        point,
        proof: None,
        chosen: None,
        listed: None,
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

/// The semi-continuous variables that are 0 in the next point of a design, about half of them, those first that seldom were: an interval is drawn, a single value never.
fn zeros_of_design(problem: &Problem, existing: &[Vec<f64>], rng: &mut impl Rng) -> Vec<(usize, f64)> {
    let mut zeros = Vec::new();
    for (i, variable) in problem.variables().iter().enumerate() {
        if variable.or_zero.is_some() && problem.region().0[i].contains(0.0) {
            let n_zero = existing.iter().filter(|x| x[i] == 0.0).count();
            if rng.random_bool((1 + existing.len() - n_zero) as f64 / (2 + existing.len()) as f64) {
                zeros.push((i, 0.0));
            }
        }
    }
    zeros
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
                listed: None,
                note: Some("one of the last new points, found by looking between the others".to_owned()),
            })
        }
        Decision::Infeasible => Err(EngineError::SpaceExhausted),
        Decision::Undecided(reason) => Err(EngineError::NoIncumbent { reason }),
    }
}

/// Limits of the questions to the constraints alone: the time of one proposal.
pub(super) fn limits(problem: &Problem, context: &Context) -> Limits {
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
