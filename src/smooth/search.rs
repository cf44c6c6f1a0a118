//! The point of a region that minimises an acquisition under constraints: candidates, repairs, local searches, short numbers.

use leafgp_solver::Region;
use leafgp_solver::constraints::{Constraints, Limits};
use rand::Rng;

use super::acquisition::Acquisition;
use super::candidates::Plan;
use super::descent::{AcquisitionSurface, Surface};
use super::local::{Local, Place};
use super::penalties::PenalisedSurface;
use super::process::{Evaluator, SmoothProcess};
use super::shorten;
use super::space::{Reach, Space};

/// Starts of local searches, by how many there are at most, over the whole set and in a cell.
const STARTS: usize = 4;
const STARTS_IN_CELL: usize = 3;
/// Starts are at least so far apart in the unit cube.
const APART: f64 = 0.03;
/// The engine's own projections: how many a search, and the effort of each.
const PROJECTIONS: usize = 20;
const PROJECTIONS_IN_CELL: usize = 12;
const PROJECTION_NODES: usize = 200;
const PROJECTION_GAP: f64 = 0.1;

/// Where to search. Points are in variable order, inactive variables at their inactive value.
#[derive(Clone, Debug)]
pub struct SearchSpace<'a> {
    /// The constraints, empty ones included, over the process's variables.
    pub constraints: &'a Constraints,
    /// The box to stay in.
    pub region: &'a Region,
    /// Whether it is a small part of the space: fewer candidates and starts are enough then.
    pub is_cell: bool,
    /// Points that must not be returned: measured, pending, failed.
    pub excluded: &'a [Vec<f64>],
    /// The best rows, best first: candidates lie near them.
    pub best_rows: &'a [Vec<f64>],
    /// Further points to start from.
    pub starts: &'a [Vec<f64>],
    /// Running experiments whose neighbourhoods are penalised ([`PendingRule::Penalised`](super::PendingRule)).
    pub penalised: &'a [Vec<f64>],
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The point, in variable order, feasible at the produce tolerance and in the region; none of the excluded ones.
    pub point: Vec<f64>,
    /// Its acquisition.
    pub value: f64,
}

/// The best point found by local searches from many candidates; no proof that there is no better one. `None` when no candidate could be made feasible, or
/// all are excluded. When the clock or an interrupt ends the search, the best point so far. The same arguments give the same answer, unless the clock does.
pub fn minimise(
    process: &SmoothProcess,
    acquisition: Acquisition,
    space: &SearchSpace<'_>,
    limits: &Limits,
    rng: &mut impl Rng,
) -> Option<Found> {
    let surface = AcquisitionSurface::new(Evaluator::new(process), acquisition);
    if space.penalised.is_empty() {
        return minimise_surface(surface, process.coordinates(), space, limits, rng);
    }
    let surface = PenalisedSurface::new(surface, process, acquisition, space.penalised);
    minimise_surface(surface, process.coordinates(), space, limits, rng)
}

/// Outside the neighbourhoods of the excluded points while the search finds a point there; else among all others.
pub(super) fn minimise_surface(
    mut surface: impl Surface,
    coordinates: &super::Coordinates,
    given: &SearchSpace<'_>,
    limits: &Limits,
    rng: &mut impl Rng,
) -> Option<Found> {
    [Reach::Neighbourhood, Reach::Itself].into_iter().find_map(|reach| {
        let space = Space::new(coordinates, given.constraints, given.region, given.excluded, reach)?;
        search(&mut surface, &space, given, limits, rng)
    })
}

fn search(
    surface: &mut impl Surface,
    space: &Space<'_>,
    given: &SearchSpace<'_>,
    limits: &Limits,
    rng: &mut impl Rng,
) -> Option<Found> {
    let in_cell = given.is_cell;
    let mut local = Local::new(space, surface, limits);

    // 1. Candidates, made feasible.
    let mut projections = if in_cell { PROJECTIONS_IN_CELL } else { PROJECTIONS };
    let mut places: Vec<Place> = Vec::new();
    for candidate in Plan::new(space, in_cell).candidates(given.best_rows, given.starts, rng) {
        if !places.is_empty() && local.must_stop() {
            break;
        }
        let place = match local.place(&candidate.x) {
            None if candidate.may_project && projections > 0 && !space.is_feasible(&candidate.x) => {
                projections -= 1;
                project(space, &candidate.x, limits).and_then(|x| local.value(x))
            }
            place => place,
        };
        places.extend(place);
    }

    // 2. Local searches from the best ones that are apart.
    places.sort_by(|a, b| a.value.total_cmp(&b.value));
    let mut starts: Vec<Place> = Vec::new();
    for place in places {
        if starts.len() == if in_cell { STARTS_IN_CELL } else { STARTS } {
            break;
        }
        if starts.iter().all(|other| space.distance(&other.u, &place.u) >= APART) {
            starts.push(place);
        }
    }
    let mut best: Option<Place> = None;
    for start in starts {
        let end = if local.must_stop() { start } else { local.improve(start, rng) };
        if best.as_ref().is_none_or(|b| end.value < b.value) {
            best = Some(end);
        }
    }

    // 3. Short numbers.
    let place = shorten::shorten(&mut local, best?);
    Some(Found { point: place.x, value: place.value })
}

/// The engine's projection, which also knows logical constraints.
fn project(space: &Space<'_>, x: &[f64], limits: &Limits) -> Option<Vec<f64>> {
    let limits = Limits { nodes: PROJECTION_NODES, ..limits.clone() };
    let (x, _) = space.constraints.project(space.region, x, PROJECTION_GAP, limits).nearest?;
    space.is_feasible(&x).then_some(x)
}
