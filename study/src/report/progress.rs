//! How soon a method gets somewhere.

use super::csv::line;
use super::data::{Data, Run};
use super::scale::Scale;
use crate::page::cell;
use crate::statistics::quartiles;

/// Logarithms of the regret that a run has to reach: a tenth of what the first points leave, a hundredth, a thousandth.
const TARGETS: [i8; 3] = [-1, -2, -3];

/// Evaluations after which a run's regret is at most the target, first points counted; infinite when it never is.
fn evaluations_to(run: &Run, scale: Scale, target: i8) -> f64 {
    let reached = |&evaluations: &usize| scale.log_regret(run.best_within(evaluations)) <= f64::from(target);
    (1..=run.steps.len()).find(reached).map_or(f64::INFINITY, |evaluations| evaluations as f64)
}

/// One row for each problem, method and target: in how many runs the regret reaches it, and quartiles of the evaluations that took; empty where too many runs never do.
pub(super) fn progress_csv(data: &Data) -> String {
    let mut text =
        "problem,method,target_log10_regret,runs,reached,lower_quartile,median,upper_quartile\n".to_owned();
    for (problem, scale) in Scale::of_all(data) {
        for case in data.cases_of(problem).filter(|case| !case.runs.is_empty()) {
            for target in TARGETS {
                let evaluations: Vec<f64> =
                    case.runs.iter().map(|run| evaluations_to(run, scale, target)).collect();
                let reached = evaluations.iter().filter(|n| n.is_finite()).count();
                let mut cells = vec![problem.to_owned(), case.method.clone(), target.to_string()];
                cells.extend([case.runs.len(), reached].map(|n| n.to_string()));
                cells.extend(quartiles(&evaluations).map(cell));
                line(&mut text, &cells);
            }
        }
    }
    text
}
