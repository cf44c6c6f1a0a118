//! The points that experiments have taken, and the question whether a feasible one is left.

use leafgp_solver::constraints::{Decision, Limits};
use leafgp_solver::{Domain, LevelSet, Range, Region};

use crate::history::Row;
use crate::problem::Problem;
use crate::smooth::Coordinates;

/// How far a new point must be from a taken one in some real (coordinates of the unit cube of the room that points have) to be looked for when the space seems full: more than what makes two
/// points the same experiment.
const APART: f64 = 2.0 * Coordinates::SAME;
/// Boxes looked at before the question stays undecided.
const MOST_BOXES: usize = 200_000;

/// A real within its room: how far apart points are depends on it.
fn within(domain: &Domain, room: &Range) -> Domain {
    match (domain, room) {
        (Domain::Continuous { .. }, &Range::Interval { lower, upper }) => Domain::Continuous { lower, upper },
        _ => domain.clone(),
    }
}

/// Points that must not be suggested.
#[derive(Clone, Debug)]
pub(super) struct Taken<'a> {
    problem: &'a Problem,
    coordinates: Coordinates,
    points: Vec<Vec<f64>>,
}

impl<'a> Taken<'a> {
    /// The points of the rows; only those of pending and failed ones where the settings allow repeats. A row outside the domains takes no point of them.
    pub(super) fn new(problem: &'a Problem, rows: &[Row]) -> Self {
        let repeats = problem.settings().repeats;
        let counts = |row: &&Row| !(row.out_of_domain || repeats && row.value().is_some());
        let points = rows.iter().filter(counts).map(|row| row.point.clone()).collect();
        let constraints = problem.constraints();
        let domains = constraints.domains().iter().zip(constraints.room().0);
        let domains: Vec<Domain> = domains.map(|(domain, room)| within(domain, &room)).collect();
        let coordinates = Coordinates::new(&domains, &problem.log_scale());
        Self { problem, coordinates, points }
    }

    pub(super) fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// True when a point is one of them ([`Coordinates::are_same`]).
    pub(super) fn contains(&self, x: &[f64]) -> bool {
        self.points.iter().any(|point| self.coordinates.are_same(point, x))
    }

    /// Decides whether a feasible point is left, by cutting the space into boxes around the taken points: each box without one goes to the constraint engine.
    /// `Infeasible` is a proof that every feasible point is taken, or no farther from a taken one than [`APART`] in each real. The answer is the same for the same
    /// points, unless the clock ends the work.
    pub(super) fn decide_new(&self, limits: &Limits) -> Decision {
        let constraints = self.problem.constraints();
        let mut open = vec![(self.problem.region(), (0..self.points.len()).collect::<Vec<_>>())];
        let mut undecided = None;
        let mut boxes = 0;
        while let Some((mut region, near)) = open.pop() {
            boxes += 1;
            if boxes > MOST_BOXES || limits.must_stop() {
                let stopped = || format!("the search for a new point stopped after {boxes} boxes");
                return Decision::Undecided(undecided.unwrap_or_else(stopped));
            }
            if !constraints.contract(&mut region) {
                continue;
            }
            let inside: Vec<usize> = near.into_iter().filter(|&p| region.contains(&self.points[p])).collect();
            match inside.get(inside.len() / 2) {
                Some(&p) => {
                    let parts = self.around(&region, &self.points[p]);
                    open.extend(parts.into_iter().map(|part| (part, inside.clone())));
                }
                None => match constraints.decide(&region, limits.clone()) {
                    Decision::Infeasible => {}
                    Decision::Undecided(reason) => undecided = undecided.or(Some(reason)),
                    feasible => return feasible,
                },
            }
        }
        undecided.map_or(Decision::Infeasible, Decision::Undecided)
    }

    /// Disjoint boxes whose union is a box without a point of it, and without what lies within [`APART`] of it in every real.
    fn around(&self, region: &Region, point: &[f64]) -> Vec<Region> {
        let mut parts = Vec::new();
        let mut rest = region.clone();
        for (i, &x) in point.iter().enumerate() {
            let mut part = |range: Range| {
                if !range.is_empty() {
                    let mut part = rest.clone();
                    part.0[i] = range;
                    parts.push(part);
                }
            };
            let same = match &region.0[i] {
                Range::Levels(levels) => {
                    let mut others = levels.clone();
                    others.remove(x as usize);
                    part(Range::Levels(others));
                    Range::Levels(LevelSet::from_indices(levels.capacity(), [x as usize]))
                }
                &Range::Interval { lower, upper } => {
                    let is_real = !self.coordinates.domains()[i].is_discrete();
                    let beyond = |by: f64| self.coordinates.moved(i, x, by);
                    let (below, above) = if is_real {
                        (beyond(-APART), beyond(APART))
                    } else {
                        (Some(x.next_down()), Some(x.next_up()))
                    };
                    if let Some(below) = below {
                        part(Range::Interval { lower, upper: below.min(upper) });
                    }
                    if let Some(above) = above {
                        part(Range::Interval { lower: above.max(lower), upper });
                    }
                    // A discrete value alone; of a real, what lies between the two parts.
                    Range::Interval {
                        lower: below.map_or(lower, |below| below.next_up().max(lower)),
                        upper: above.map_or(upper, |above| above.next_down().min(upper)),
                    }
                }
            };
            rest.0[i] = same;
        }
        parts
    }
}
