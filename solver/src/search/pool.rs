//! The best distinct cells found so far, and the evaluation that a point must pass to join them.

use leafgp_constraints::{Constraints, Decision, Limits, Range, Region, Tolerance};

use super::learned::{CellEffort, CellOutcome, search_cell};
use super::model::Model;
use super::options::SearchOptions;
use crate::problem::Problem;

/// A point evaluated at its active leaves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) objective: f64,
    /// Active leaves in the forest's numbering. Those of the first trees make two points the same cell.
    pub(crate) leaves: Vec<usize>,
    pub(crate) x: Vec<f64>,
}

/// The `k` best distinct cells, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    k: usize,
    /// Number of the trees that tell cells apart.
    cell_trees: usize,
    pub(crate) found: Vec<Found>,
}

impl Pool {
    pub(crate) fn new(k: usize, cell_trees: usize) -> Self {
        Self { k, cell_trees, found: Vec::new() }
    }

    /// What tells a cell from others.
    fn key<'a>(&self, leaves: &'a [usize]) -> &'a [usize] {
        leaves.get(..self.cell_trees).unwrap_or(leaves)
    }

    fn position(&self, leaves: &[usize]) -> Option<usize> {
        self.found.iter().position(|f| self.key(&f.leaves) == self.key(leaves))
    }

    /// The objective that a new point with such leaves must beat: that of the last cell of the list, or of its own cell when that is listed.
    pub(crate) fn worst_at(&self, leaves: &[usize]) -> f64 {
        self.position(leaves).map_or_else(|| self.worst(), |known| self.found[known].objective)
    }

    /// Whether cells are listed whose values differ, each known to be the best of its cell within the gap only: they have [different values to beat](Self::worst_at).
    pub(crate) fn lists_values(&self, problem: &Problem<'_>) -> bool {
        problem.learned.is_some() && self.k > 1
    }

    /// The objective that a new cell must beat: infinite while fewer than `k` are known.
    pub(crate) fn worst(&self) -> f64 {
        if self.found.len() < self.k { f64::INFINITY } else { self.found[self.k - 1].objective }
    }

    /// Inserts a cell unless it is known or not good enough; returns whether the pool changed.
    pub(crate) fn insert(&mut self, new: &Found) -> bool {
        if new.objective >= self.worst() {
            return false;
        }
        // A cell is listed once, with its best point.
        if let Some(known) = self.position(&new.leaves) {
            if new.objective >= self.found[known].objective {
                return false;
            }
            self.found.remove(known);
        }
        let at = self.found.partition_point(|f| {
            f.objective.total_cmp(&new.objective).then_with(|| f.leaves.cmp(&new.leaves)).is_lt()
        });
        self.found.insert(at, new.clone());
        self.found.truncate(self.k);
        true
    }
}

/// Cells that the constraint engine could not decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undecided {
    pub(crate) bound: f64,
    pub(crate) count: u64,
}

impl Default for Undecided {
    fn default() -> Self {
        Self { bound: f64::INFINITY, count: 0 }
    }
}

impl Undecided {
    pub(crate) fn merge(&mut self, other: Self) {
        self.bound = self.bound.min(other.bound);
        self.count += other.count;
    }
}

/// Effort spent on deciding one final cell: search nodes when up to so many variables are free, fewer when more are, because each node
/// costs more and each split says less.
const DECIDE_NODES: usize = 5_000;
const DECIDE_VARIABLES: usize = 12;

/// The active leaves of a point; `None` when a leaf limit or an exclusion forbids it.
pub(crate) fn permitted(model: &Model<'_>, x: &[f64]) -> Option<Vec<usize>> {
    let problem = model.problem;
    if problem.excluded.iter().any(|region| region.contains(x)) {
        return None;
    }
    let leaves = problem.forest.active_leaves(x);
    problem.limits.iter().all(|limit| limit.holds(&leaves)).then_some(leaves)
}

/// Evaluates a point without looking at constraints; `None` when a leaf limit or an exclusion forbids it.
pub(crate) fn evaluate(model: &Model<'_>, x: Vec<f64>) -> Option<Found> {
    let leaves = permitted(model, &x)?;
    let objective = model.problem.objective.value(&leaves);
    objective.is_finite().then_some(Found { objective, leaves, x })
}

/// The allowed point nearest to the middle of a region.
pub(crate) fn centre(model: &Model<'_>, region: &Region) -> Vec<f64> {
    let coordinate = |(range, domain): (&Range, &crate::Domain)| match range {
        Range::Interval { lower, upper } => {
            let middle = (0.5 * lower + 0.5 * upper).clamp(*lower, *upper);
            domain.nearest(middle, *lower, *upper).unwrap_or(*lower)
        }
        Range::Levels(set) => set.first().map_or(0.0, |level| level as f64),
    };
    region.0.iter().zip(model.problem.domains).map(coordinate).collect()
}

/// Settles a box on which every tree is decided: its best point joins the pool when it is allowed and good enough.
pub(crate) fn settle(
    model: &Model<'_>,
    options: &SearchOptions,
    limits: &Limits,
    cells: &[u64],
    pool: &mut Pool,
    undecided: &mut Undecided,
) -> bool {
    let region = model.cells.hull(cells);
    if let Some(learned) = &model.problem.learned {
        let effort = CellEffort::whole(limits);
        let cutoff = |leaves: &[usize]| options.cutoff(pool.worst_at(leaves));
        let outcome = search_cell(model, learned, region, cutoff, |value| options.cutoff(value), &effort);
        let Some(CellOutcome { best, bound, closed }) = outcome else { return false };
        if !closed {
            undecided.merge(Undecided { bound, count: 1 });
        }
        return best.is_some_and(|best| pool.insert(&best));
    }
    let Some(found) = evaluate(model, centre(model, &region)) else {
        return false;
    };
    if found.objective >= options.cutoff(pool.worst()) {
        return false;
    }
    let Some(constraints) = model.problem.constraints else {
        return pool.insert(&found);
    };
    if pool.position(&found.leaves).is_some() {
        return false;
    }
    match decide(model, constraints, limits, &region, &found.x) {
        Decision::Feasible(x) => match evaluate(model, x) {
            Some(feasible) => pool.insert(&feasible),
            None => false,
        },
        Decision::Infeasible => false,
        Decision::Undecided(_) => {
            undecided.merge(Undecided { bound: found.objective, count: 1 });
            false
        }
    }
}

/// Whether a region holds a feasible point; the middle is tried first, and a point counts only after an independent check.
pub(crate) fn decide(
    model: &Model<'_>,
    constraints: &Constraints,
    limits: &Limits,
    region: &Region,
    middle: &[f64],
) -> Decision {
    decide_in(model, constraints, limits, region, middle, usize::MAX)
}

/// The same with at most so many search nodes. The region may be one of the variables and what follows from them.
pub(crate) fn decide_in(
    model: &Model<'_>,
    constraints: &Constraints,
    limits: &Limits,
    region: &Region,
    middle: &[f64],
    nodes: usize,
) -> Decision {
    if constraints.is_feasible(middle, Tolerance::Produce) {
        return Decision::Feasible(middle.to_vec());
    }
    let free = region.0.iter().filter(|range| !range.is_fixed()).count();
    let nodes = nodes.min(DECIDE_NODES * DECIDE_VARIABLES / free.max(DECIDE_VARIABLES));
    let limits = Limits { nodes: limits.nodes.min(nodes), ..limits.clone() };
    match constraints.decide(region, limits) {
        Decision::Feasible(x) => {
            let in_domains = model.problem.domains.iter().zip(&x).all(|(domain, &v)| domain.contains(v));
            if in_domains && region.contains(&x) && constraints.is_feasible(&x, Tolerance::Produce) {
                Decision::Feasible(x)
            } else {
                Decision::Undecided("the point offered as feasible did not pass the check".into())
            }
        }
        other => other,
    }
}
