//! The medians as a Markdown table, for pages.

use std::fmt::Write;

use super::data::Data;
use super::tables::{Final, finals};
use crate::page::digits;

/// Problems by methods: median, and the quartiles in brackets from good to bad; the best median of a problem is bold.
pub(super) fn medians(data: &Data) -> String {
    let methods: Vec<&str> = data.manifest.methods.iter().map(|m| m.name.as_str()).collect();
    let mut text = format!("| problem | {} | best known |\n", methods.join(" | "));
    let _ = writeln!(text, "|---|{}---|", "---|".repeat(methods.len()));
    for problem in &data.manifest.problems {
        let rows = finals(data, &problem.name);
        let median = |row: &Final| problem.sign() * row.quartiles[1];
        let best = rows.iter().map(median).fold(f64::INFINITY, f64::min);
        let cells = methods.iter().map(|method| {
            let Some(row) = rows.iter().find(|row| row.method == *method) else { return String::new() };
            let [good, middle, bad] = row.quartiles.map(digits);
            let middle =
                if median(row) == best && best.is_finite() { format!("**{middle}**") } else { middle };
            format!("{middle} [{good}, {bad}]")
        });
        let optimum = problem.optimum.map_or(String::new(), digits);
        let _ =
            writeln!(text, "| {} | {} | {optimum} |", problem.name, cells.collect::<Vec<_>>().join(" | "));
    }
    let runs: Vec<usize> = data.cases.iter().map(|case| case.runs.len()).collect();
    let (fewest, most) = (runs.iter().min().unwrap_or(&0), runs.iter().max().unwrap_or(&0));
    let runs = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
    let _ = writeln!(
        text,
        "\nFinal best feasible value, median over {runs} seeds [good quartile, bad quartile]."
    );
    text
}
