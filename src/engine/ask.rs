//! One proposal: the algorithm of the paper on a page.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use leafgp_solver::Region;
use leafgp_solver::constraints::{Decision, Limits};
use leafgp_solver::search::{self, ProgressCallback, Report, SearchOptions, Status};
use rand::Rng;

use crate::acquisition::AgreementLimit;
use crate::problem::Problem;

use super::Observation;
use super::centre::{point_of_cell, shorten_point};
use super::error::EngineError;
use super::random::{Purpose, stream};
use super::suggestion::{Proof, Suggestion};
use super::surrogate::Surrogate;
use super::training::TrainingSet;

/// Most measured points offered to the search as starting points of its local search.
const MAX_START_POINTS: usize = 64;
/// The projection's own share of the time limit, and its search nodes: what it finds late is hardly nearer.
const CENTRE_SHARE: f64 = 0.1;
const CENTRE_NODES: usize = 2_000;
/// Nodes spent on the question whether the set is feasible at all before a design is made.
const FIRST_NODES: usize = 2_000;

/// What the caller of a proposal may want besides the answer.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Set it to stop the search early; the best point so far is the answer.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Called with the search's incumbent, bound and gap.
    pub progress: Option<ProgressCallback>,
}

/// The next experiment: trees, process, proven optimum of the acquisition, centre of its cell; or a space-filling point while there is
/// too little data for a model.
pub(super) fn ask(
    problem: &Problem,
    observations: &[Observation],
    context: &Context,
) -> Result<Suggestion, EngineError> {
    let limits = limits(problem, context);
    let training = TrainingSet::new(problem, observations);
    if let Some(reason) = too_little_data(problem, observations, &training)
        && let Some(suggestion) = design_point(problem, observations, reason, &limits)?
    {
        return Ok(suggestion);
    }

    if training.y.is_empty() {
        // Every distinct point is taken, and nothing was measured that a model could learn from.
        return Err(EngineError::SpaceExhausted);
    }
    let mut surrogate = Surrogate::fit(problem, &training, observations.len())?;
    if !surrogate.has_splits() {
        let reason = format!("no tree has a split yet ({} measured rows)", training.y.len());
        if let Some(suggestion) = design_point(problem, observations, reason, &limits)? {
            return Ok(suggestion);
        }
    }
    surrogate.believe(&training)?;

    let report = maximise(problem, &surrogate, &training, observations.len(), context)?;
    if report.status == Status::Infeasible {
        // Not one cell is left; inside the taken ones there may still be new points.
        let reason = match problem.settings.max_agreement {
            Some(ratio) => format!("no feasible cell has max_agreement <= {ratio} with every experiment"),
            None => "every feasible cell already holds a pending or failed experiment".to_owned(),
        };
        return design_point(problem, observations, reason, &limits)?.ok_or(EngineError::SpaceExhausted);
    }
    decode(problem, &surrogate, &training, report, observations.len(), &limits)
}

/// Limits of the questions to the constraints alone: the time of one proposal.
fn limits(problem: &Problem, context: &Context) -> Limits {
    let limit = Duration::from_secs_f64(problem.settings.solver.time_limit);
    Limits {
        deadline: Instant::now().checked_add(limit),
        interrupt: context.interrupt.clone(),
        ..Limits::default()
    }
}

/// The projection comes after the search, which may have taken all the time: a tenth on top is its own.
fn limits_of_centre(problem: &Problem, limits: &Limits) -> Limits {
    let share = Duration::from_secs_f64(CENTRE_SHARE * problem.settings.solver.time_limit);
    let own = Instant::now().checked_add(share);
    Limits { nodes: CENTRE_NODES, deadline: limits.deadline.max(own), ..limits.clone() }
}

/// Why a model makes no sense yet, if so.
fn too_little_data(
    problem: &Problem,
    observations: &[Observation],
    training: &TrainingSet,
) -> Option<String> {
    let initial = problem.settings.design.initial;
    if observations.len() < initial {
        Some(format!("first design, point {} of {initial}", observations.len() + 1))
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
    observations: &[Observation],
    reason: String,
    limits: &Limits,
) -> Result<Option<Suggestion>, EngineError> {
    let existing: Vec<Vec<f64>> = observations
        .iter()
        .map(|o| {
            let mut point = o.point.clone();
            problem.constraints.deactivate(&mut point);
            point
        })
        .collect();
    // An infeasible set would keep the design busy for long.
    let full = Region::full(problem.constraints.domains());
    let first = problem.constraints.decide(&full, Limits { nodes: FIRST_NODES, ..limits.clone() });
    if first == Decision::Infeasible {
        return Err(infeasible(problem, limits));
    }
    let mut rng = stream(problem.settings.seed, Purpose::Design, observations.len());
    let design = problem.constraints.design(1, &existing, &problem.log_scale(), &mut rng, limits.clone());
    let suggestion = |point: Vec<f64>| Suggestion {
        point,
        proof: None,
        note: Some(format!("space-filling point: {reason}")),
    };
    if let Some(point) = design.into_iter().next() {
        return Ok(Some(suggestion(shorten_point(problem, point))));
    }
    let decision = match first {
        Decision::Undecided(_) => problem.constraints.decide(&full, limits.clone()),
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

fn infeasible(problem: &Problem, limits: &Limits) -> EngineError {
    // All of them together are a true answer, if not the shortest one.
    let all = || (0..problem.constraints.len()).collect();
    let conflict = problem.constraints.conflict(limits.clone()).unwrap_or_else(all);
    EngineError::Infeasible {
        conflict: conflict.iter().map(|&c| problem.constraints.name(c).to_owned()).collect(),
    }
}

/// The lower confidence bound's global minimum outside the cells of pending and failed experiments.
fn maximise(
    problem: &Problem,
    surrogate: &Surrogate,
    training: &TrainingSet,
    n_rows: usize,
    context: &Context,
) -> Result<Report, EngineError> {
    let settings = &problem.settings;
    let forest = &surrogate.trees.forest;
    let objective = surrogate.process.leaf_objective(settings.kappa);
    let mut search_problem = search::Problem::new(&surrogate.domains, forest, &objective);
    if !problem.constraints.is_empty() {
        search_problem = search_problem.with_constraints(&problem.constraints);
    }
    if let Some(limit) = agreement_limit(problem, surrogate, training) {
        search_problem = search_problem.with_agreement_at_most(&limit.data_leaves, limit.max_trees);
    }
    for point in training.pending.iter().chain(&training.failed) {
        let cell = forest.cell(&surrogate.domains, point);
        if !cell.0.iter().any(leafgp_solver::Range::is_empty) {
            search_problem = search_problem.excluding(cell);
        }
    }

    let options = search_options(problem, n_rows, best_points(training), context);
    Ok(search::minimize(&search_problem, &options)?)
}

/// How much a suggestion may agree with any known experiment, measured or pending, if the settings limit it.
pub(super) fn agreement_limit(
    problem: &Problem,
    surrogate: &Surrogate,
    training: &TrainingSet,
) -> Option<AgreementLimit> {
    let known = training.x.rows().chain(training.pending.iter().map(Vec::as_slice));
    problem.settings.max_agreement.map(|ratio| AgreementLimit::new(&surrogate.trees.forest, known, ratio))
}

/// The solver settings of a problem with `n_rows` observations as the search takes them.
pub(super) fn search_options(
    problem: &Problem,
    n_rows: usize,
    start_points: Vec<Vec<f64>>,
    context: &Context,
) -> SearchOptions {
    let settings = &problem.settings;
    let mut options = SearchOptions::default();
    options.gap = settings.solver.gap;
    options.time_limit = Some(Duration::from_secs_f64(settings.solver.time_limit));
    options.node_limit = settings.solver.node_limit;
    options.threads = settings.solver.thread_count();
    options.seed = stream(settings.seed, Purpose::Search, n_rows).next_u64();
    options.start_points = start_points;
    options.interrupt = context.interrupt.clone();
    options.progress = context.progress.clone();
    options
}

/// The measured points with the best targets, best first.
fn best_points(training: &TrainingSet) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..training.y.len()).collect();
    order.sort_by(|&a, &b| training.y[a].total_cmp(&training.y[b]));
    order.iter().take(MAX_START_POINTS).map(|&i| training.x.row(i).to_vec()).collect()
}

/// From the search's report to a suggestion.
fn decode(
    problem: &Problem,
    surrogate: &Surrogate,
    training: &TrainingSet,
    report: Report,
    n_rows: usize,
    limits: &Limits,
) -> Result<Suggestion, EngineError> {
    let Some(incumbent) = report.incumbent else {
        return Err(EngineError::NoIncumbent {
            reason: format!("the search stopped: {}", report.stop_reason),
        });
    };
    let mut rng = stream(problem.settings.seed, Purpose::Centre, n_rows);
    let limits = limits_of_centre(problem, limits);
    let mut point = point_of_cell(problem, &incumbent.region, &incumbent.x, &training.x, &mut rng, limits);
    let forest = &surrogate.trees.forest;
    if forest.active_leaves(&point) != forest.active_leaves(&incumbent.x) {
        debug_assert!(false, "the centre {point:?} left the cell {:?}", incumbent.region);
        point = incumbent.x;
    }
    let proof = Proof {
        region: incumbent.region,
        mean: surrogate.scale.mean(incumbent.mean),
        std: surrogate.scale.deviation(incumbent.deviation),
        acquisition: incumbent.objective,
        bound: report.best_bound,
        gap: report.gap,
        status: report.status,
        stop_reason: report.stop_reason,
        nodes: report.nodes,
    };
    let note = (proof.status != Status::Optimal).then(|| {
        format!(
            "optimality is not proved: the search stopped: {} with gap {:.2e}",
            proof.stop_reason, proof.gap
        )
    });
    Ok(Suggestion { point, proof: Some(proof), note })
}
