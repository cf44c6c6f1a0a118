//! What became of the evaluations that methods asked for: how many were infeasible, how many failed.

use super::csv::line;
use super::data::Data;
use crate::page::cell;

/// One row for each problem and method: evaluations after the first points of all complete runs, those at infeasible points, and those at feasible points that failed.
pub(super) fn outcomes_csv(data: &Data) -> String {
    let mut text = "problem,method,evaluations,infeasible,failed,share_infeasible\n".to_owned();
    for case in data.cases.iter().filter(|case| !case.runs.is_empty()) {
        let steps = || case.runs.iter().flat_map(|run| &run.steps).filter(|step| step.iteration > 0);
        let (all, infeasible) = (steps().count(), steps().filter(|step| !step.feasible).count());
        let failed = steps().filter(|step| step.feasible && step.value.is_none()).count();
        let mut cells = vec![case.problem.clone(), case.method.clone()];
        cells.extend([all, infeasible, failed].map(|n| n.to_string()));
        cells.push(cell(infeasible as f64 / all as f64));
        line(&mut text, &cells);
    }
    text
}
