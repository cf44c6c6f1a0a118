//! The reference instances: optima known from enumeration (those of the tree) and from other solvers (the shared ones).

mod support;

use leafgp_solver::{SearchOptions, Status, minimize};
use support::reference_instances;

fn check(set: &str, keep: impl Fn(&str) -> bool, gap: f64) {
    for (name, instance, expected) in reference_instances(set, keep) {
        let problem = instance.problem(None);
        let mut options = SearchOptions::default();
        options.gap = gap;
        options.start_points.clone_from(&instance.x);
        let report = minimize(&problem, &options).unwrap();
        let best = report.incumbent.unwrap();
        let optimum = expected["objective"].as_f64().unwrap();
        assert_eq!(report.status, Status::Optimal, "{name}");
        let tolerance = gap.max(1e-6) * optimum.abs();
        if let Some(x) = expected["x"].as_array() {
            let x: Vec<f64> = x.iter().map(|v| v.as_f64().unwrap()).collect();
            let there = instance.objective.value(&instance.forest.active_leaves(&x));
            assert!((there - optimum).abs() <= 1e-9, "{name}: {there} at the point with {optimum}");
        }
        assert!(
            (best.objective - optimum).abs() <= tolerance,
            "{name}: {} instead of {optimum}",
            best.objective
        );
        assert!(report.best_bound <= optimum + 1e-6 * optimum.abs(), "{name}: bound {}", report.best_bound);
        assert!(problem.allows(&best.x) && best.region.contains(&best.x), "{name}");
        let value = instance.objective.value(&instance.forest.active_leaves(&best.x));
        assert_eq!(value, best.objective, "{name}");
    }
}

/// Constrained optima lie between those of two models: cells closed, and cells shrunk by 1e-5 of the range.
fn check_constrained(keep: impl Fn(&str) -> bool) {
    for (name, instance, expected) in reference_instances("constrained", keep) {
        let constraints = instance.compile_constraints().unwrap();
        let problem = instance.problem(Some(&constraints));
        let mut options = SearchOptions::default();
        options.start_points.clone_from(&instance.x);
        let report = minimize(&problem, &options).unwrap();
        let best = report.incumbent.as_ref().unwrap();
        let at_least = expected["objective_at_least"].as_f64().unwrap();
        let at_most = expected["objective_at_most"].as_f64().unwrap();
        let slack = 2e-4 * best.objective.abs();
        assert_eq!(report.status, Status::Optimal, "{name}: {report:?}");
        assert!(best.objective >= at_least - slack, "{name}: {} below {at_least}", best.objective);
        assert!(best.objective <= at_most + slack, "{name}: {} above {at_most}", best.objective);
        assert!(problem.allows(&best.x), "{name}");
    }
}

/// The optimum planted: with the cutoff a hair above it, no other incumbent and no heuristics, only a search that never prunes its box finds it.
fn check_planted(set: &str, keep: impl Fn(&str) -> bool) {
    for (name, instance, _) in reference_instances(set, keep) {
        let constraints = (set == "constrained").then(|| instance.compile_constraints().unwrap());
        let problem = instance.problem(constraints.as_ref());
        let mut options = SearchOptions::default();
        options.gap = 1e-9;
        options.start_points.clone_from(&instance.x);
        let optimum = minimize(&problem, &options).unwrap().incumbent.unwrap().objective;
        options.start_points.clear();
        options.local_search = false;
        options.gap = 0.0;
        options.absolute_gap = 0.0;
        options.objective_cutoff = optimum + 1e-10 * optimum.abs();
        let report = minimize(&problem, &options).unwrap();
        let again =
            report.incumbent.unwrap_or_else(|| panic!("{name}: the optimum's box was pruned")).objective;
        assert!((again - optimum).abs() <= 1e-9 * optimum.abs(), "{name}: {again} instead of {optimum}");
        // With the cutoff below the optimum there is nothing to find, and the proof says how far.
        options.objective_cutoff = optimum - 1e-8 * optimum.abs();
        let report = minimize(&problem, &options).unwrap();
        assert_eq!((report.status, report.incumbent.is_none()), (Status::Unknown, true), "{name}");
        assert!(report.best_bound >= options.objective_cutoff, "{name}: {}", report.best_bound);
    }
}

#[test]
fn the_optimum_is_never_inside_a_pruned_box() {
    check_planted("plain", |name| name.contains("-m10-") || name.contains("-m50-t50d3"));
    check_planted("constrained", |name| name.contains("-m10-"));
}

/// `cargo test --release -p leafgp-solver --test search_instances planted -- --ignored`
#[test]
#[ignore = "minutes"]
fn planted_optima_of_all_instances() {
    check_planted("plain", |_| true);
    check_planted("constrained", |_| true);
    check_planted("hard", |_| true);
}

#[test]
fn constrained_instances_lie_within_their_brackets() {
    check_constrained(|name| name.contains("-m10-") || name.contains("-m25-"));
}

#[test]
fn small_plain_instances_reach_their_known_optima() {
    check("plain", |name| !name.contains("t100d5"), 1e-7);
}

/// `cargo test --release -p leafgp-solver --test search_instances -- --ignored`
#[test]
#[ignore = "a minute and more"]
fn all_instances_reach_their_known_optima() {
    check_constrained(|_| true);
    check("plain", |_| true, 1e-7);
    check("hard", |_| true, 1e-4);
}
