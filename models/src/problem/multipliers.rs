//! One multiplier for each constraint: where nothing feasible is lost, what breaks a constraint pays for it, so that the bound knows of all constraints.

use std::time::Instant;

use leafgp_constraints::Domain;
use leafgp_solver::{Problem, SearchOptions, minimize};

use super::relaxation::LeafRelaxation;
use crate::error::ModelError;

/// Multipliers tried for one constraint in one turn, after the first.
const TRIALS: usize = 12;
/// Ever smaller multipliers that did no good, after which a constraint has none.
const SHRINKS: usize = 3;
/// Share of the time limit after which the multipliers stay as they are.
const TIME_SHARE: u32 = 5;
/// Turns over all constraints when there are several.
const TURNS: usize = 2;

/// Multipliers with a high bound of the objective plus their multiples of the constraints at the root: the bound is concave in each of them.
pub(super) fn choose(
    relaxation: &LeafRelaxation,
    domains: &[Domain],
    options: &SearchOptions,
) -> Result<Vec<f64>, ModelError> {
    let LeafRelaxation { forest, objective, constraints, .. } = relaxation;
    let mut at_root = SearchOptions::default();
    at_root.node_limit = Some(1);
    at_root.local_search = false;
    at_root.interrupt.clone_from(&options.interrupt);
    let bound = |multipliers: &[f64]| -> Result<f64, ModelError> {
        let objective = objective.plus(multipliers, constraints);
        let mut problem = Problem::new(domains, forest, &objective);
        for function in constraints {
            problem = problem.with_limit(function.at_most_zero(forest));
        }
        Ok(minimize(&problem, &at_root)?.best_bound)
    };
    let deadline = options.time_limit.and_then(|limit| Instant::now().checked_add(limit / TIME_SHARE));
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut chosen = vec![0.0; constraints.len()];
    let size = objective.size(forest).max(1e-9);
    let turns = if constraints.len() > 1 { TURNS } else { constraints.len() };
    for _ in 0..turns {
        for (k, constraint) in constraints.iter().enumerate() {
            let scale = size / constraint.size(forest).max(1e-300);
            let mut at = |multiplier: f64| {
                let mut trial = chosen.clone();
                trial[k] = multiplier;
                bound(&trial)
            };
            let start = if chosen[k] > 0.0 { chosen[k] } else { scale / 64.0 };
            chosen[k] = concave_maximum(&mut at, start, &is_late)?;
        }
    }
    Ok(chosen)
}

/// A place near the maximum of a concave function of numbers from 0 on, by steps of four and then halves of what is left; the best so far when it is late.
fn concave_maximum(
    f: &mut impl FnMut(f64) -> Result<f64, ModelError>,
    start: f64,
    is_late: &impl Fn() -> bool,
) -> Result<f64, ModelError> {
    let mut points = vec![(0.0, f(0.0)?), (start, f(start)?)];
    let mut shrinks = 0;
    for _ in 0..TRIALS {
        if is_late() {
            break;
        }
        let by_place = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
        points.sort_by(by_place);
        let best = (0..points.len()).max_by(|&a, &b| points[a].1.total_cmp(&points[b].1)).unwrap_or(0);
        let next = match (best.checked_sub(1), points.get(best + 1)) {
            (_, None) => 4.0 * points[best].0,
            (None, Some(_)) if shrinks == SHRINKS => break,
            (None, Some(right)) => {
                shrinks += 1;
                right.0 / 8.0
            }
            (Some(left), Some(right)) => {
                let (left, here, right) = (points[left].0, points[best].0, right.0);
                if right - here > here - left { 0.5 * (here + right) } else { 0.5 * (left + here) }
            }
        };
        points.push((next, f(next)?));
        // Nothing is allowed: any multiplier shows it.
        if points.iter().any(|(_, value)| *value == f64::INFINITY) {
            break;
        }
    }
    let best = points.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.total_cmp(&a.0)));
    Ok(best.map_or(0.0, |best| best.0))
}

#[cfg(test)]
mod tests {
    use super::concave_maximum;

    #[test]
    fn the_maximum_of_concave_functions_is_found_nearly() {
        for (peak, start) in [(3.0, 0.01), (0.02, 5.0), (1e4, 1.0), (0.0, 1.0)] {
            let found = concave_maximum(&mut |x| Ok(-(x - peak).abs()), start, &|| false).unwrap();
            assert!((found - peak).abs() <= 0.3 * peak.max(1e-2), "{found} for {peak}");
        }
    }
}
