//! Problems whose constraints and objective name predictions: boxes as the system of all constraints sees them, and the best point of a final cell.

use leafgp_constraints::{Decision, Limits, Range, Region};

use super::index::{Id, LimitId};
use super::model::Model;
use super::node::Node;
use super::pool::{Found, centre, decide_in, permitted};
use crate::learned::Learned;

/// Decisions about one cell at most; each halves what is open of it.
const MAX_STEPS: usize = 200;

/// A box of the variables with the ranges of the predictions over a node, and values below the cutoff. False when no value is left.
pub(crate) fn extend(
    model: &Model<'_>,
    learned: &Learned<'_>,
    node: &Node,
    cutoff: f64,
    region: &mut Region,
) -> bool {
    for k in 0..learned.sums.len() {
        let ends = sum_ends(model, learned, node, k);
        let (lower, upper) = learned.predictor.enclose(k, ends.0, ends.1);
        let (smallest, largest) = learned.system.domains()[region.0.len()].bounds();
        region.0.push(Range::Interval { lower: lower.max(smallest), upper: upper.min(largest) });
    }
    let (lower, upper) = learned.value_ends();
    let upper = upper.min(cutoff);
    region.0.push(Range::Interval { lower, upper });
    lower <= upper
}

/// What sum `k` can be over a node.
pub(crate) fn sum_ends(model: &Model<'_>, learned: &Learned<'_>, node: &Node, k: usize) -> (f64, f64) {
    let id = LimitId::new(model.problem.limits.len() + k);
    let limit = &model.limits[id];
    let (mut low, mut high) = (node.activity[id], node.activity[id]);
    for block in node.blocks.spans.parts() {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for &item in &node.blocks.items[block] {
            let a = limit.coefficients[item];
            min = min.min(a);
            max = max.max(a);
        }
        low += min;
        high += max;
    }
    let constant = learned.sums[k].constant;
    (constant + low - limit.margin, constant + high + limit.margin)
}

/// What is known of a cell in which every tree is decided.
#[derive(Debug)]
pub(crate) struct CellOutcome {
    /// The best point found, with its value.
    pub(crate) best: Option<Found>,
    /// Proved: no allowed point of the cell has a smaller value, unless it is at or above the cutoff.
    pub(crate) bound: f64,
    /// Whether the bound has reached the cutoff.
    pub(crate) closed: bool,
}

/// Effort spent on a cell.
#[derive(Debug)]
pub(crate) struct CellEffort<'a> {
    /// Limits of each decision.
    pub(crate) limits: &'a Limits,
    /// Nodes of each decision at most.
    pub(crate) nodes: usize,
    /// Number of decisions.
    pub(crate) steps: usize,
}

impl<'a> CellEffort<'a> {
    /// For a cell that must be closed.
    pub(crate) fn whole(limits: &'a Limits) -> Self {
        Self { limits, nodes: usize::MAX, steps: MAX_STEPS }
    }
}

/// Seeks the smallest value in a cell by halving what is open below the best. `cutoff` says, for the cell's leaves, below what a value is of interest;
/// `cutoff_below`, for a value found, below what another is.
pub(crate) fn search_cell(
    model: &Model<'_>,
    learned: &Learned<'_>,
    mut region: Region,
    cutoff: impl Fn(&[usize]) -> f64,
    cutoff_below: impl Fn(f64) -> f64,
    effort: &CellEffort<'_>,
) -> Option<CellOutcome> {
    let middle = centre(model, &region);
    let leaves = permitted(model, &middle)?;
    let mut cutoff = cutoff(&leaves);
    let (smallest, largest) = learned.value_ends();
    let floor = model.problem.objective.value(&leaves).max(smallest);
    let mut outcome = CellOutcome { best: None, bound: floor, closed: false };
    for y in learned.predictor.predict(&middle) {
        region.0.push(Range::Interval { lower: y, upper: y });
    }
    region.0.push(Range::Interval { lower: floor, upper: largest.min(cutoff) });
    if floor >= cutoff || floor > largest || !learned.system.contract(&mut region) {
        outcome.closed = true;
        return Some(outcome);
    }
    let n = model.problem.domains.len();
    let last = region.0.len() - 1;
    let lower_of = |region: &Region| match region.0[last] {
        Range::Interval { lower, .. } => lower,
        Range::Levels(_) => floor,
    };
    outcome.bound = floor.max(lower_of(&region));
    // Most often the least value is attained: a point within the gap of the bound, found at once, closes the cell.
    let mut little = (outcome.bound - cutoff_below(outcome.bound)).max(0.0);
    let mut target = (outcome.bound + 0.9 * little).min(cutoff).min(largest);
    for _ in 0..effort.steps {
        if outcome.bound >= cutoff {
            outcome.closed = true;
            return Some(outcome);
        }
        region.0[last] = Range::Interval { lower: outcome.bound, upper: target };
        let mut part = region.clone();
        let decision = if learned.system.contract(&mut part) {
            let mut point = centre(model, &Region(part.0[..n].to_vec()));
            point.extend(learned.predictor.predict(&point));
            point.push(target);
            decide_in(model, learned.system, effort.limits, &part, &point, effort.nodes)
        } else {
            Decision::Infeasible
        };
        match decision {
            Decision::Feasible(mut x) => {
                x.truncate(n);
                let Some((_, objective)) = learned.extended(&x) else { return Some(outcome) };
                cutoff = cutoff.min(cutoff_below(objective));
                little = 0.25 * (objective - cutoff);
                if outcome.best.as_ref().is_none_or(|best| objective < best.objective) {
                    outcome.best = Some(Found { objective, leaves: leaves.clone(), x });
                }
            }
            Decision::Infeasible => {
                outcome.bound = target;
                if target >= cutoff.min(largest) {
                    outcome.closed = true;
                    return Some(outcome);
                }
            }
            Decision::Undecided(_) => return Some(outcome),
        }
        // Half of what is open; when that is little, all of it.
        let open = cutoff - outcome.bound;
        let middle = outcome.bound + 0.5 * open;
        let all = cutoff.is_infinite() || open <= little.max(1e-12 * cutoff.abs()) || middle >= cutoff;
        target = if all { cutoff.min(largest) } else { middle };
    }
    outcome.closed = outcome.bound >= cutoff;
    Some(outcome)
}
