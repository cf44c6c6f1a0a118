//! Maximises the public ensembles and prints a table: `cargo bench -p leafgp-solver --bench public_ensembles -- [name part] [seconds]`.
#![allow(clippy::print_stdout, reason = "prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use leafgp_solver::{Problem, SearchOptions, minimize};
use support::ensembles::read_public_ensemble;

/// Ensemble, number of trees, known optimum of the sum or mean.
const CASES: [(&str, usize, f64); 12] = [
    ("concrete_bt", 10, 24.483140),
    ("concrete_bt", 50, 48.957696),
    ("concrete_bt", 100, 53.679705),
    ("concrete_bt", 200, 58.210057),
    ("concrete_bt", 500, 61.410049),
    ("concrete_rf", 100, 76.644543),
    ("redwine_bt", 100, 2.885107),
    ("redwine_bt", 200, 3.367805),
    ("redwine_bt", 500, 3.813238),
    ("redwine_rf", 10, 7.980000),
    ("redwine_rf", 50, 7.608333),
    ("redwine_rf", 100, 7.564333),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let Some(shared) = leafgp_testdata::shared("models/ensembles") else { return };
    let part = arguments.first().map_or("", String::as_str);
    let seconds = arguments.get(1).map_or(60.0, |n| n.parse().expect("a number of seconds"));
    for (name, n_trees, optimum) in CASES {
        let label = format!("{name}-{n_trees}");
        if !label.contains(part) {
            continue;
        }
        let file = shared.join(format!("{name}.json"));
        let ensemble = read_public_ensemble(&file, n_trees);
        let mut options = SearchOptions::default();
        options.time_limit = Some(Duration::from_secs_f64(seconds));
        let problem = Problem::new(&ensemble.domains, &ensemble.forest, &ensemble.objective);
        let report = minimize(&problem, &options).expect("a valid problem");
        let found = report.incumbent.as_ref().map_or(f64::NAN, |best| -best.objective);
        println!(
            "{label:16} {:9.3} s {:7} nodes {:?} value {found:.6} (known {optimum:.6}) bound {:.6} gap {:.1e}",
            report.seconds, report.nodes, report.status, -report.best_bound, report.gap,
        );
    }
}
