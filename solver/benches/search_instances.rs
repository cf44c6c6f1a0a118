//! Solves the reference instances and prints a table: `cargo bench -p leafgp-solver --bench search_instances -- [plain|hard|constrained] [name part] [threads]`.
#![allow(clippy::print_stdout, reason = "prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use leafgp_solver::{SearchOptions, minimize};
use leafgp_testdata::shared;

/// CPU seconds of this thread where the system tells (Linux), else `None`.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// CPU times below this, in seconds, are too coarse.
const TICKS: f64 = 0.05;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let Some(shared) = shared("instances") else { return };
    let set = arguments.first().map_or("plain", String::as_str);
    let part = arguments.get(1).map_or("", String::as_str);
    let threads = arguments.get(2).map_or(1, |n| n.parse().expect("a number of threads"));
    let folder = shared.join(set);
    let expected = support::read_json(&folder.join("expected.json"));
    let (mut total, mut nodes) = (0.0, 0);
    // How many times faster than the reference solver, where its time is listed.
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for (name, instance) in support::instances(&folder, |name| name.contains(part)) {
        let constraints = instance.compile_constraints();
        let problem = instance.problem(constraints.as_ref());
        let mut options = SearchOptions::default();
        options.threads = threads;
        options.time_limit = Some(Duration::from_secs(100));
        options.start_points.clone_from(&instance.x);
        let before = cpu_seconds();
        let report = minimize(&problem, &options).expect("a valid problem");
        // On several threads only the wall clock tells; of a few milliseconds, too: the system counts in ticks.
        let seconds = match (before, cpu_seconds()) {
            (Some(before), Some(after)) if threads == 1 && after - before > TICKS => after - before,
            _ => report.seconds,
        };
        let known = ["objective", "objective_at_most"]
            .iter()
            .find_map(|k| expected[&name][k].as_f64())
            .unwrap_or(f64::NAN);
        let found = report.incumbent.as_ref().map_or(f64::NAN, |i| i.objective);
        let prototype = expected[&name]["prototype_cpu_s"].as_f64().unwrap_or(f64::NAN);
        let prototype_nodes = expected[&name]["prototype_nodes"].as_f64().unwrap_or(f64::NAN);
        let ratio = expected[&name]["scip_cpu_s"].as_f64().map(|reference| reference / seconds);
        let times = ratio.map_or_else(String::new, |r| format!("  {r:8.1} times the reference's speed"));
        println!(
            "{name:32} {seconds:9.4} s ({prototype:8.3}) {:7} nodes ({prototype_nodes:6}) {:?} objective {found:.9} error {:9.1e} gap {:8.1e}{times}",
            report.nodes,
            report.status,
            found - known,
            report.gap,
        );
        total += seconds;
        nodes += report.nodes;
        ratios.extend(ratio.map(|r| (r, name)));
    }
    println!("total {total:.3} s, {nodes} nodes");
    if let Some((least, name)) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
        let mean = (ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!(
            "against the reference: geometric mean {mean:.1}, least {least:.1} ({name}), {} instances",
            ratios.len()
        );
    }
}
