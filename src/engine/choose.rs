//! The steps of the presets in which the smooth process chooses the point: out of the whole feasible set, or out of the trees' proven cell.

use std::time::Duration;

use leafgp_solver::constraints::Limits;
use leafgp_solver::{Range, Region};

use super::cells::Cells;
use super::centre::centre;
use super::error::EngineError;
use super::propose::{Step, best_points, joined, limits_of_centre, search_options, time_left};
use super::random::{Purpose, stream};
use super::smooth_surrogate::SmoothSurrogate;
use super::suggestion::{Chosen, Suggestion};
use super::surrogate::Surrogate;
use super::training::TrainingSet;
use crate::acquisition::AcquisitionProblem;
use crate::problem::{Preset, Problem, Settings};
use crate::smooth::Acquisition;
use crate::smooth::search::{SearchSpace, minimise};

/// [`Preset::Mixed`]: number of rows from which on steps are proven, and each how manyeth is.
const MIXED_FROM: usize = 20;
const MIXED_EACH: usize = 4;
/// A proven step of [`Preset::Mixed`] is one in four: it gets a second at least, and a hundredth of the time limit.
const MIXED_LEAST: Duration = Duration::from_secs(1);
const MIXED_SHARE: f64 = 0.01;

/// Most parts of a region that are searched one by one because of semi-continuous variables.
const MOST_PARTS: usize = 8;

/// Most nodes of the search behind [`Chosen::tree_excess`]: its bound is a proof wherever it stops.
const EXCESS_NODES: u64 = 500;

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    /// Whether the point must lie in the trees' best cell.
    pub(super) in_cell: bool,
    /// What the smooth process minimises.
    pub(super) acquisition: Acquisition,
}

impl Turn {
    /// The step of a preset after `n_rows` rows, pending ones counted.
    pub(super) fn new(settings: &Settings, n_rows: usize) -> Self {
        let mixed =
            settings.preset == Preset::Mixed && n_rows >= MIXED_FROM && n_rows % MIXED_EACH == MIXED_EACH - 1;
        // The agreement limit is about leaves: only cells can keep it.
        let in_cell = mixed || settings.preset == Preset::Proven || settings.max_agreement.is_some();
        let acquisition = if mixed {
            Acquisition::LogExpectedImprovement
        } else {
            settings.smooth.acquisition_after(n_rows)
        };
        Self { in_cell, acquisition }
    }
}

/// The smooth process's optimum over the whole feasible set, by local searches; `None` when they found no new point.
pub(super) fn choose_freely(
    smooth: &SmoothSurrogate,
    training: &TrainingSet,
    acquisition: Acquisition,
    step: &Step<'_>,
) -> Option<Suggestion> {
    let area = Area { region: &smooth.problem().region(), is_cell: false, starts: &[] };
    let (point, chosen) = choose(smooth, training, acquisition, &area, step, step.limits)?;
    Some(Suggestion { point, proof: None, chosen: Some(chosen), listed: None, note: None })
}

/// The smooth process's choice out of the trees' optimal cell; out of the next best one where it finds no new point. `None` when it found none in any of the cells that
/// were tried.
///
/// # Errors
/// [`EngineError::NoIncumbent`] when the limits ended the search before it found a cell; what the solver refuses.
pub(super) fn choose_in_cell(
    smooth: &SmoothSurrogate,
    surrogate: &Surrogate,
    acquisition: Acquisition,
    step: &Step<'_>,
) -> Result<Option<Suggestion>, EngineError> {
    let (problem, training) = (surrogate.problem(), surrogate.training());
    let settings = problem.settings();
    let mut options = search_options(problem, step.n_rows, best_points(training), step.context);
    if settings.preset == Preset::Mixed {
        options.time_limit = Some(own_time(settings));
    }
    options.time_limit = options.time_limit.map(|limit| time_left(limit, step.limits));
    let mut cells = Cells::new(everywhere(surrogate), options, surrogate);
    let mut rng = stream(settings.seed, Purpose::Centre, step.n_rows);
    let forest = &surrogate.trees().forest;
    while let Some((incumbent, proof)) = cells.next()? {
        let starts = [centre(problem, &incumbent.region, &mut rng), incumbent.x.clone()];
        let limits = limits_of_centre(problem, step.limits);
        let is_cell = incumbent.region != Region::full(problem.constraints().domains());
        let area = Area { region: &incumbent.region, is_cell, starts: &starts };
        let found = choose(smooth, training, acquisition, &area, step, &limits);
        let in_cell = |x: &[f64]| forest.active_leaves(x) == forest.active_leaves(&incumbent.x);
        if let Some((point, chosen)) = found.filter(|(point, _)| in_cell(point)) {
            let note = joined([surrogate.note(), cells.note(&proof)]);
            return Ok(Some(Suggestion {
                point,
                proof: Some(proof),
                chosen: Some(chosen),
                listed: None,
                note,
            }));
        }
    }
    Ok(None)
}

/// [`Chosen::tree_excess`] of a point; `None` where the search ended without a bound.
pub(super) fn tree_excess(surrogate: &Surrogate, x: &[f64], step: &Step<'_>) -> Option<f64> {
    let (problem, training) = (surrogate.problem(), surrogate.training());
    let mut options = search_options(problem, step.n_rows, best_points(training), step.context);
    options.time_limit = Some(own_time(problem.settings()));
    options.node_limit = Some(options.node_limit.map_or(EXCESS_NODES, |nodes| nodes.min(EXCESS_NODES)));
    let (_, proof) = Cells::new(everywhere(surrogate), options, surrogate).next().ok()??;
    let excess = surrogate.evaluate(x).ok()?.value - proof.bound;
    excess.is_finite().then_some(excess.max(0.0))
}

/// The trees' acquisition over all feasible points. The cells of pending and failed experiments may hold better points than the ones taken, and the process knows of
/// those.
pub(super) fn everywhere(surrogate: &Surrogate) -> AcquisitionProblem {
    let mut statement = surrogate.acquisition();
    statement.excluded.clear();
    statement
}

/// Time of a search of the trees that is not the whole suggestion.
pub(super) fn own_time(settings: &Settings) -> Duration {
    let limit = settings.solver.time_limit;
    let own = MIXED_LEAST.max(Duration::from_secs_f64(MIXED_SHARE * limit));
    own.min(Duration::from_secs_f64(limit))
}

/// Where the smooth process chooses.
struct Area<'a> {
    region: &'a Region,
    /// Whether it is a cell of the trees.
    is_cell: bool,
    starts: &'a [Vec<f64>],
}

fn choose(
    smooth: &SmoothSurrogate,
    training: &TrainingSet,
    acquisition: Acquisition,
    area: &Area<'_>,
    step: &Step<'_>,
    limits: &Limits,
) -> Option<(Vec<f64>, Chosen)> {
    let problem = smooth.problem();
    let best_rows = best_points(training);
    let mut rng = stream(problem.settings().seed, Purpose::Smooth, step.n_rows);
    let mut search = |region: &Region| {
        let space = SearchSpace {
            constraints: problem.constraints(),
            region,
            is_cell: area.is_cell,
            excluded: step.taken.points(),
            best_rows: &best_rows,
            starts: area.starts,
            penalised: smooth.penalised(),
        };
        minimise(smooth.process(), acquisition, &space, limits, &mut rng)
    };
    let parts = parts_around_zero(problem, area.region, &best_rows, step.n_rows);
    let found = parts
        .iter()
        .filter_map(&mut search)
        .reduce(|best, next| if next.value < best.value { next } else { best });
    // None of the parts looked at holds a feasible point: another one may.
    let found = found.or_else(|| if parts.len() > 1 { search(area.region) } else { None })?;
    let prediction = smooth.prediction(&found.point);
    let chosen =
        Chosen { prediction, noise: smooth.noise(), acquisition, value: found.value, tree_excess: None };
    Some((found.point, chosen))
}

/// The parts of a region in which each semi-continuous variable is either 0 or within its interval: as in the best rows, and the best of them with single variables
/// exchanged, in turns where there are many. Local searches do not find the way from one part to another. The region itself where there are no such variables.
fn parts_around_zero(
    problem: &Problem,
    region: &Region,
    best_rows: &[Vec<f64>],
    n_rows: usize,
) -> Vec<Region> {
    let variables: Vec<usize> =
        (0..region.0.len()).filter(|&i| problem.variables()[i].or_zero.is_some()).collect();
    if variables.is_empty() {
        return vec![region.clone()];
    }
    let is_zero = |x: &Vec<f64>| variables.iter().map(|&i| x[i] == 0.0).collect::<Vec<bool>>();
    let mut patterns: Vec<Vec<bool>> = best_rows.iter().take(MOST_PARTS / 2).map(is_zero).collect();
    if patterns.is_empty() {
        patterns.push(vec![false; variables.len()]);
    }
    for k in 0..variables.len().min(MOST_PARTS) {
        let mut pattern = patterns[0].clone();
        let flipped = (n_rows + k) % variables.len();
        pattern[flipped] = !pattern[flipped];
        patterns.push(pattern);
    }
    let mut parts: Vec<Region> = Vec::new();
    for pattern in patterns {
        let mut part = region.clone();
        for (&i, is_zero) in variables.iter().zip(pattern) {
            let [lower, upper] =
                if is_zero { [0.0, 0.0] } else { problem.variables()[i].or_zero.unwrap_or_default() };
            if let Range::Interval { lower: least, upper: most } = &mut part.0[i] {
                (*least, *most) = (least.max(lower), most.min(upper));
            }
        }
        if !part.0.iter().any(Range::is_empty) && !parts.contains(&part) && parts.len() < MOST_PARTS {
            parts.push(part);
        }
    }
    if parts.is_empty() { vec![region.clone()] } else { parts }
}
