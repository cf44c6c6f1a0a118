//! The report's CSV files. Names are plain (letters, digits, `_ . + -`), so no cell needs quotes; an infinite or missing number is an empty cell.

use std::fmt::Write;

use super::data::Data;
use super::tables::{Curve, Proofs, against, against_over_all, duels, finals, mean_ranks, proofs, times};
use crate::page::cell;

pub(super) fn line(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "{}", cells.join(","));
}

/// `iteration,method,runs,lower_quartile,median,upper_quartile`.
pub(super) fn curves_csv(curves: &[Curve]) -> String {
    let mut text = "iteration,method,runs,lower_quartile,median,upper_quartile\n".to_owned();
    for curve in curves {
        for (iteration, three) in curve.points.iter().enumerate() {
            let mut cells = vec![iteration.to_string(), curve.method.clone(), curve.n.to_string()];
            cells.extend(three.map(cell));
            line(&mut text, &cells);
        }
    }
    text
}

/// One row for each problem and method: final values from good to bad, and ranks.
pub(super) fn finals_csv(data: &Data) -> String {
    let mut text =
        "problem,method,runs,feasible_runs,best,good_quartile,median,bad_quartile,worst,mean_rank,optimum\n"
            .to_owned();
    for problem in &data.manifest.problems {
        for row in finals(data, &problem.name) {
            let mut cells =
                vec![problem.name.clone(), row.method, row.n.to_string(), row.feasible.to_string()];
            let [good, median, bad] = row.quartiles;
            cells.extend([row.best, good, median, bad, row.worst, row.mean_rank].map(cell));
            cells.push(problem.optimum.map_or(String::new(), cell));
            line(&mut text, &cells);
        }
    }
    text
}

/// One row for each seed of each problem and method: the final value.
pub(super) fn results_csv(data: &Data) -> String {
    let mut text = "problem,method,seed,evaluations,best_feasible\n".to_owned();
    for case in &data.cases {
        for run in &case.runs {
            let value = cell(run.in_own_direction(run.result()));
            let cells = [
                case.problem.clone(),
                case.method.clone(),
                run.seed.to_string(),
                run.steps.len().to_string(),
                value,
            ];
            line(&mut text, &cells);
        }
    }
    text
}

/// Mean over problems of the mean ranks.
pub(super) fn ranks_csv(data: &Data) -> String {
    let mut text = "method,problems,mean_rank\n".to_owned();
    for (method, rank, problems) in mean_ranks(data) {
        line(&mut text, &[method, problems.to_string(), cell(rank)]);
    }
    text
}

/// Pairwise sign tests by problem.
pub(super) fn signs_csv(data: &Data) -> String {
    let mut text = "problem,first,second,first_better,equal,second_better,p_value\n".to_owned();
    for problem in &data.manifest.problems {
        for duel in duels(data, &problem.name) {
            let mut cells = vec![problem.name.clone(), duel.first, duel.second];
            cells.extend(duel.signs.counts());
            cells.push(cell(duel.signs.p_value()));
            line(&mut text, &cells);
        }
    }
    text
}

/// Every other method against the baseline, problem by problem; then each method over all problems, with an empty problem.
pub(super) fn baseline_csv(data: &Data, baseline: &str) -> String {
    let mut text = "method,problem,baseline,better,equal,worse,p_value,median,baseline_median\n".to_owned();
    let rows = against(data, baseline);
    for row in &rows {
        let mut cells = vec![row.method.clone(), row.problem.clone(), baseline.to_owned()];
        cells.extend(row.signs.counts());
        cells.extend([row.signs.p_value(), row.median, row.baseline_median].map(cell));
        line(&mut text, &cells);
    }
    for (method, signs, _) in against_over_all(data, &rows) {
        let mut cells = vec![method, String::new(), baseline.to_owned()];
        cells.extend(signs.counts());
        cells.extend([cell(signs.p_value()), String::new(), String::new()]);
        line(&mut text, &cells);
    }
    text
}

/// Proof status of each case, all steps together.
pub(super) fn proofs_csv(data: &Data) -> String {
    let mut text =
        "problem,method,steps,proved,share_proved,median_gap,largest_gap,median_nodes,most_nodes\n"
            .to_owned();
    for row in proofs(data) {
        let mut cells = vec![row.problem, row.method, row.steps.to_string(), row.proved.to_string()];
        let share = row.proved as f64 / row.steps as f64;
        cells.extend([share, row.median_gap, row.largest_gap, row.median_nodes, row.most_nodes].map(cell));
        line(&mut text, &cells);
    }
    text
}

/// Proof status by iteration, over seeds.
pub(super) fn proof_steps_csv(data: &Data) -> String {
    let mut text = "problem,method,iteration,steps,proved,median_gap,largest_gap,median_nodes\n".to_owned();
    for case in &data.cases {
        let last = case.runs.iter().filter_map(|run| run.steps.last()).map(|step| step.iteration).max();
        for iteration in 1..=last.unwrap_or(0) {
            let steps = case.runs.iter().flat_map(|run| &run.steps).filter(|s| s.iteration == iteration);
            let row = Proofs::of(case, steps);
            if row.steps == 0 {
                continue;
            }
            let mut cells = vec![row.problem, row.method, iteration.to_string()];
            cells.extend([row.steps, row.proved].map(|n| n.to_string()));
            cells.extend([row.median_gap, row.largest_gap, row.median_nodes].map(cell));
            line(&mut text, &cells);
        }
    }
    text
}

/// Seconds of the proposals after the first points.
pub(super) fn times_csv(data: &Data) -> String {
    let mut text = "problem,method,steps,lower_quartile,median,upper_quartile,largest,total\n".to_owned();
    for row in times(data) {
        let mut cells = vec![row.problem, row.method, row.steps.to_string()];
        cells.extend(row.quartiles.map(cell));
        cells.extend([row.largest, row.total].map(cell));
        line(&mut text, &cells);
    }
    text
}
