//! Solves the reference instances and prints a table: `cargo bench -p leafgp-solver --bench search_instances -- [plain|hard|constrained] [name part] [threads]`.
#![allow(clippy::print_stdout, reason = "prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use leafgp_solver::{SearchOptions, minimize};

/// CPU seconds of this thread where the system tells (Linux), else `None`.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let Some(shared) = support::shared() else { return };
    let set = arguments.first().map_or("plain", String::as_str);
    let part = arguments.get(1).map_or("", String::as_str);
    let threads = arguments.get(2).map_or(1, |n| n.parse().expect("a number of threads"));
    let folder = shared.join("instances").join(set);
    let expected = support::read_json(&folder.join("expected.json"));
    let (mut total, mut nodes) = (0.0, 0);
    for (name, instance) in support::instances(&folder, |name| name.contains(part)) {
        let constraints = instance.compile_constraints();
        let problem = instance.problem(constraints.as_ref());
        let mut options = SearchOptions::default();
        options.threads = threads;
        options.time_limit = Some(Duration::from_secs(100));
        options.start_points.clone_from(&instance.x);
        let before = cpu_seconds();
        let report = minimize(&problem, &options).expect("a valid problem");
        // On several threads only the wall clock tells.
        let seconds = match (before, cpu_seconds()) {
            (Some(before), Some(after)) if threads == 1 => after - before,
            _ => report.seconds,
        };
        let known = ["objective", "objective_at_most"]
            .iter()
            .find_map(|k| expected[&name][k].as_f64())
            .unwrap_or(f64::NAN);
        let found = report.incumbent.as_ref().map_or(f64::NAN, |i| i.objective);
        let prototype = expected[&name]["prototype_cpu_s"].as_f64().unwrap_or(f64::NAN);
        let prototype_nodes = expected[&name]["prototype_nodes"].as_f64().unwrap_or(f64::NAN);
        println!(
            "{name:32} {seconds:9.4} s ({prototype:8.3}) {:7} nodes ({prototype_nodes:6}) {:?} objective {found:.9} error {:9.1e} gap {:8.1e}",
            report.nodes,
            report.status,
            found - known,
            report.gap,
        );
        total += seconds;
        nodes += report.nodes;
    }
    println!("total {total:.3} s, {nodes} nodes");
}
