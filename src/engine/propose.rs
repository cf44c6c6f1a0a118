//! One proposal of the model: the algorithm of the paper on a page.

use std::time::{Duration, Instant};

use leafgp_solver::constraints::Limits;
use leafgp_solver::search::{Incumbent, SearchOptions};
use rand::Rng;

use crate::problem::Problem;

use super::cells::{Cells, LEAST_TIME};
use super::centre::point_of_cell;
use super::context::Context;
use super::error::EngineError;
use super::random::{Purpose, stream};
use super::suggestion::Suggestion;
use super::surrogate::Surrogate;
use super::taken::Taken;
use super::training::TrainingSet;

/// Most measured points offered to the search as starting points of its local search.
const MAX_START_POINTS: usize = 64;
/// The projection's own share of the time limit, and its search nodes: what it finds late is hardly nearer.
const CENTRE_SHARE: f64 = 0.1;
const CENTRE_NODES: usize = 2_000;

/// What a proposal needs besides the model.
pub(super) struct Step<'a> {
    /// Rows of the history, pending ones counted: the number of the random streams of search and point, and the turn.
    pub(super) n_rows: usize,
    /// Interrupt and progress.
    pub(super) context: &'a Context,
    /// Of the questions to the constraints.
    pub(super) limits: &'a Limits,
    /// What must not be suggested.
    pub(super) taken: &'a Taken<'a>,
}

/// The global minimum of the acquisition, and the point of its cell that is to be measured; `None` when it is proved that no cell is left, or when none of the best
/// cells gave a new point.
///
/// The model enters three times: it states the acquisition problem, offers points to start from, and chooses the point inside the optimal region.
///
/// # Errors
/// [`EngineError::NoIncumbent`] when the limits ended the search before it found a point; what the solver refuses.
pub(super) fn propose(surrogate: &Surrogate, step: &Step<'_>) -> Result<Option<Suggestion>, EngineError> {
    let problem = surrogate.problem();
    let mut options = search_options(problem, step.n_rows, best_points(surrogate.training()), step.context);
    options.time_limit = options.time_limit.map(|limit| time_left(limit, step.limits));
    let mut cells = Cells::new(surrogate.acquisition(), options, surrogate);
    while let Some((incumbent, proof)) = cells.next()? {
        let point = point_to_measure(surrogate, &incumbent, step);
        if problem.settings().repeats || !step.taken.contains(&point) {
            let note = joined([surrogate.note(), cells.note(&proof)]);
            return Ok(Some(Suggestion { point, proof: Some(proof), chosen: None, listed: None, note }));
        }
    }
    Ok(None)
}

/// The point of the optimal cell that is to be measured: to the trees, all of its points are equal.
fn point_to_measure(surrogate: &Surrogate, incumbent: &Incumbent, step: &Step<'_>) -> Vec<f64> {
    let problem = surrogate.problem();
    let mut rng = stream(problem.settings().seed, Purpose::Centre, step.n_rows);
    let limits = limits_of_centre(problem, step.limits);
    let Incumbent { region, x, .. } = incumbent;
    let point = point_of_cell(problem, region, x, &surrogate.training().x, &mut rng, limits);
    let forest = &surrogate.trees().forest;
    if forest.active_leaves(&point) == forest.active_leaves(x) {
        point
    } else {
        debug_assert!(false, "the centre {point:?} left the cell {region:?}");
        x.clone()
    }
}

/// The projection comes after the search, which may have taken all the time: a tenth on top is its own.
pub(super) fn limits_of_centre(problem: &Problem, limits: &Limits) -> Limits {
    let share = Duration::from_secs_f64(CENTRE_SHARE * problem.settings().solver.time_limit);
    let own = Instant::now().checked_add(share);
    Limits { nodes: CENTRE_NODES, deadline: limits.deadline.max(own), ..limits.clone() }
}

/// What a search may take of its limit: the suggestion's time counts from before its models were fitted.
pub(super) fn time_left(limit: Duration, limits: &Limits) -> Duration {
    let left = limits.deadline.map_or(limit, |deadline| deadline.saturating_duration_since(Instant::now()));
    left.clamp(LEAST_TIME.min(limit), limit)
}

/// The solver settings of a problem with `n_rows` rows as the search takes them.
pub(super) fn search_options(
    problem: &Problem,
    n_rows: usize,
    start_points: Vec<Vec<f64>>,
    context: &Context,
) -> SearchOptions {
    let settings = problem.settings();
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

/// Notes as one.
pub(super) fn joined(notes: [Option<String>; 2]) -> Option<String> {
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The measured points with the best targets, best first.
pub(super) fn best_points(training: &TrainingSet) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..training.y.len()).collect();
    order.sort_by(|&a, &b| training.y[a].total_cmp(&training.y[b]));
    order.iter().take(MAX_START_POINTS).map(|&i| training.x.row(i).to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use leafgp_solver::constraints::Limits;

    use super::{LEAST_TIME, time_left};

    #[test]
    fn fitting_counts_against_the_time_of_a_suggestion() {
        let limit = Duration::from_secs(100);
        let limits = |seconds| Limits {
            deadline: Instant::now().checked_add(Duration::from_secs(seconds)),
            ..Limits::default()
        };
        let left = time_left(limit, &limits(40));
        assert!(left <= Duration::from_secs(40) && left > Duration::ZERO);
        // Models that took all of it leave the search what it needs to find anything; a limit below that is all there is.
        assert_eq!(time_left(limit, &limits(0)), LEAST_TIME);
        assert_eq!(time_left(LEAST_TIME / 2, &limits(0)), LEAST_TIME / 2);
        assert_eq!(time_left(limit, &limits(1000)), limit);
        assert_eq!(time_left(limit, &Limits::default()), limit);
    }
}
