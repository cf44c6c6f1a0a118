//! What several threads gain: each instance of the set `hard` that takes longer than a second on one thread is solved on one thread and on several in
//! turns, and the median of the ratios of such pairs is printed: `cargo bench -p leafgp-solver --bench search_threads -- [name part] [threads] [pairs]`.
#![allow(clippy::print_stdout, reason = "prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use leafgp_solver::{Report, SearchOptions, minimize};
use leafgp_testdata::shared;

/// Faster instances, in seconds, are left out.
const SHORTEST: f64 = 1.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let Some(shared) = shared("instances") else { return };
    let part = arguments.first().map_or("", String::as_str);
    let number =
        |k: usize, default| arguments.get(k).map_or(default, |n: &String| n.parse().expect("a number"));
    let (threads, pairs) = (number(1, 2), number(2, 5));
    for (name, instance) in support::instances(&shared.join("hard"), |name| name.contains(part)) {
        let constraints = instance.compile_constraints();
        let problem = instance.problem(constraints.as_ref());
        let solve = |threads| -> Report {
            let mut options = SearchOptions::default();
            options.threads = threads;
            options.start_points.clone_from(&instance.x);
            minimize(&problem, &options).expect("a valid problem")
        };
        if solve(1).seconds < SHORTEST {
            continue;
        }
        let mut ratios: Vec<f64> = Vec::new();
        let (mut one, mut several) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..pairs {
            let (first, second) = (solve(1), solve(threads));
            let answer = |r: &Report| {
                let best = r.incumbent.as_ref().expect("an incumbent");
                (best.x.clone(), best.objective, r.best_bound, r.nodes)
            };
            assert_eq!(
                answer(&first),
                answer(&second),
                "{name}: the answer depends on the number of threads"
            );
            ratios.push(first.seconds / second.seconds);
            one = one.min(first.seconds);
            several = several.min(second.seconds);
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        let list: Vec<String> = ratios.iter().map(|r| format!("{r:.2}")).collect();
        println!(
            "{name:32} {median:5.2} times as fast on {threads} threads (pairs {}); shortest {one:.3} s and {several:.3} s",
            list.join(" ")
        );
    }
}
