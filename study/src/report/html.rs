//! The report as one page: tables and charts, no script, nothing from elsewhere.

use std::fmt::Write;

use super::data::Data;
use super::options::ReportOptions;
use super::tables::{
    Duel, against, against_over_all, duels, duels_over_all, finals, mean_ranks, proofs, times,
};
use crate::escape::escape;
use crate::page::{END, begin, digits, table};

/// The page. `charts` are in the order of the problems.
pub(super) fn page(data: &Data, charts: &[String], options: &ReportOptions) -> String {
    let manifest = &data.manifest;
    let mut text = begin(&manifest.name);
    let _ = writeln!(
        text,
        "<p>{} problems, {} methods, {} seeds; {} of {} runs complete, the others are left out. Charts show the best feasible value so far, \
         median over seeds and the band from first to third quartile; iteration 0 is the end of the first points, which all methods share.</p>",
        manifest.problems.len(),
        manifest.methods.len(),
        manifest.seeds.len(),
        data.complete(),
        data.planned()
    );
    overall(&mut text, data);
    if let Some(baseline) = &options.baseline {
        baseline_table(&mut text, data, baseline);
    }
    for (problem, chart) in manifest.problems.iter().zip(charts) {
        let _ = writeln!(text, "<h2>{}</h2>", escape(&problem.name));
        let optimum =
            problem.optimum.map_or(String::new(), |best| format!("; best known value {}", digits(best)));
        let _ = writeln!(
            text,
            "<p class=\"note\">{} {}{optimum}; {} first points, {} evaluations.</p>",
            problem.goal.as_str(),
            escape(&problem.objective),
            problem.initial,
            problem.evaluations
        );
        let _ = writeln!(text, "{chart}");
        final_table(&mut text, data, &problem.name);
        sign_table(&mut text, &duels(data, &problem.name));
    }
    proof_table(&mut text, data);
    if options.with_times {
        time_table(&mut text, data);
    }
    text.push_str(END);
    text
}

fn overall(text: &mut String, data: &Data) {
    text.push_str("<h2>Over all problems</h2>\n");
    let rows: Vec<Vec<String>> = mean_ranks(data)
        .into_iter()
        .map(|(method, rank, problems)| vec![method, problems.to_string(), digits(rank)])
        .collect();
    table(text, &["method", "problems", "mean rank"], &rows, None);
    sign_table(text, &duels_over_all(data));
}

fn baseline_table(text: &mut String, data: &Data, baseline: &str) {
    let rows = against(data, baseline);
    let cells: Vec<Vec<String>> = against_over_all(data, &rows)
        .into_iter()
        .map(|(method, signs, problems)| {
            let mut cells = vec![method];
            cells.extend(signs.counts());
            cells.extend(problems.counts());
            cells.push(digits(signs.p_value()));
            cells
        })
        .collect();
    let _ = writeln!(
        text,
        "<h2>Against {}</h2>\n<p class=\"note\">Runs of all problems, seed by seed, in which each method ends better than {0}, equal or worse; problems on which its median is; \
         two-sided sign test over the runs. Problem by problem: baseline.csv.</p>",
        escape(baseline)
    );
    let header = ["method", "better", "equal", "worse", "problems better", "equal", "worse", "p (two-sided)"];
    table(text, &header, &cells, None);
}

fn final_table(text: &mut String, data: &Data, problem: &str) {
    let finals = finals(data, problem);
    let best_rank = finals.iter().map(|row| row.mean_rank).fold(f64::INFINITY, f64::min);
    let first = finals.iter().position(|row| row.mean_rank == best_rank);
    let rows: Vec<Vec<String>> = finals
        .into_iter()
        .map(|row| {
            let [good, median, bad] = row.quartiles;
            let mut cells = vec![row.method, row.n.to_string(), row.feasible.to_string()];
            cells.extend([row.best, good, median, bad, row.worst, row.mean_rank].map(digits));
            cells
        })
        .collect();
    let header =
        ["method", "runs", "feasible", "best", "quartile", "median", "quartile", "worst", "mean rank"];
    table(text, &header, &rows, first);
}

fn sign_table(text: &mut String, duels: &[Duel]) {
    if duels.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = duels
        .iter()
        .map(|duel| {
            let signs = duel.signs;
            let mut cells = vec![format!("{} against {}", duel.first, duel.second)];
            cells.extend(signs.counts());
            cells.push(digits(signs.p_value()));
            cells
        })
        .collect();
    text.push_str("<details><summary>Pairwise sign tests on the final values, seed by seed</summary>\n");
    table(text, &["pair", "first better", "equal", "second better", "p (two-sided)"], &rows, None);
    text.push_str("</details>\n");
}

fn proof_table(text: &mut String, data: &Data) {
    let rows: Vec<Vec<String>> = proofs(data)
        .into_iter()
        .map(|row| {
            let share = 100.0 * row.proved as f64 / row.steps as f64;
            let mut cells = vec![row.problem, row.method, row.steps.to_string(), format!("{share:.2} %")];
            cells.extend([row.median_gap, row.largest_gap, row.median_nodes, row.most_nodes].map(digits));
            cells
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "<h2>Proofs</h2>\n<p class=\"note\">Steps whose acquisition was searched, and the share proved optimal to {}.</p>",
        gaps(data)
    );
    let header =
        ["problem", "method", "steps", "proved", "median gap", "largest gap", "median nodes", "most nodes"];
    table(text, &header, &rows, None);
}

/// The relative gaps of the cases with proofs, in words.
fn gaps(data: &Data) -> String {
    let gaps: Vec<f64> = proofs(data).into_iter().map(|row| row.gap).collect();
    let (smallest, largest) =
        gaps.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &gap| (low.min(gap), high.max(gap)));
    if smallest == largest {
        format!("a relative gap of {smallest:e}")
    } else {
        format!("the relative gap of each one's settings, {smallest:e} to {largest:e}")
    }
}

fn time_table(text: &mut String, data: &Data) {
    let rows: Vec<Vec<String>> = times(data)
        .into_iter()
        .map(|row| {
            let mut cells = vec![row.problem, row.method, row.steps.to_string()];
            cells.extend(row.quartiles.map(digits));
            cells.extend([row.largest, row.total].map(digits));
            cells
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    text.push_str("<h2>Seconds a step</h2>\n<p class=\"note\">From one value to the next point, one thread, on the machines that made the runs.</p>\n");
    let header = ["problem", "method", "steps", "quartile", "median", "quartile", "largest", "total"];
    table(text, &header, &rows, None);
}
