//! First points where the objective leads away from all feasible ones: local searches on the leaf limits alone.
//!
//! "The cheapest setting that two models call good" has its good settings where it is dear, and a local search that follows the cost never meets one. What the limits ask of
//! the leaves is a sum of trees, too: a local search on a weighted sum of them, in which what is still broken counts double from one to the next, goes where all can hold.

use crate::limit::LeafLimit;
use crate::objective::LeafObjective;
use crate::problem::Problem;

use super::Search;
use crate::search::local::{LocalSearch, Neighbours, cells_of, random_cells};
use crate::search::model::Model;
use crate::search::subtree::Context;

/// Weighted sums that are tried.
const ROUNDS: u64 = 8;
/// First of the rounds' streams of random numbers, descending.
const STREAM: u64 = u64::MAX / 4;

impl Search<'_> {
    /// Seeks first points of a problem with predictions by its leaf limits, each from random cells. Other problems have no sums of trees to keep.
    pub(super) fn start_within_limits(&mut self, context: &Context<'_>) {
        let problem = self.problem;
        if problem.learned.is_none() || problem.limits.is_empty() {
            return;
        }
        let mut weights: Vec<f64> = problem.limits.iter().map(|limit| 1.0 / size(limit)).collect();
        for round in 0..ROUNDS {
            let objective = weighted(problem, &weights);
            let mut plain = Problem::new(problem.domains, problem.forest, &objective);
            plain.excluded.clone_from(&problem.excluded);
            let Ok(Some(model)) = Model::new_while(&plain, &|| context.must_stop()) else { return };
            let (neighbours, limits) = (Neighbours::new(&model), context.limits());
            let mut rng = context.rng(STREAM - round);
            let start = random_cells(&model, &mut rng);
            let mut local = LocalSearch::default();
            let Some(within) = local.improve(&model, &neighbours, &start, &limits, &mut rng) else {
                continue;
            };
            let start = cells_of(context.model, &within.x);
            if let Some(found) = local.improve(context.model, context.neighbours, &start, &limits, &mut rng) {
                self.pool.insert(&found);
            }
            for (weight, limit) in weights.iter_mut().zip(&problem.limits) {
                if !limit.holds(&within.leaves) {
                    *weight *= 2.0;
                }
            }
        }
    }
}

/// The largest coefficient; 1 without any.
fn size(limit: &LeafLimit) -> f64 {
    let largest = limit.coefficients.iter().fold(0.0f64, |largest, (_, a)| largest.max(a.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

/// The sum of what the limits bound above, less what they bound below alone.
fn weighted(problem: &Problem<'_>, weights: &[f64]) -> LeafObjective {
    let mut linear = vec![0.0; problem.forest.n_leaves()];
    for (weight, limit) in weights.iter().zip(&problem.limits) {
        let sign = if limit.upper.is_finite() { 1.0 } else { -1.0 };
        for &(leaf, a) in &limit.coefficients {
            linear[leaf] += sign * weight * a;
        }
    }
    LeafObjective { constant: 0.0, linear, quadratic: None }
}
