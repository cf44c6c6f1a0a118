//! Public ensembles of hundreds of trees close within the nodes that the choice of splits is worth.

mod support;

use leafgp_solver::{Problem, SearchOptions, Status, minimize};
use support::ensembles::read_public_ensemble;

fn check(name: &str, n_trees: usize, optimum: f64, most_nodes: u64) {
    let Some(shared) = leafgp_testdata::shared("models/ensembles") else { return };
    let file = shared.join(format!("{name}.json"));
    let ensemble = read_public_ensemble(&file, n_trees);
    let mut options = SearchOptions::default();
    options.node_limit = Some(most_nodes);
    let problem = Problem::new(&ensemble.domains, &ensemble.forest, &ensemble.objective);
    let report = minimize(&problem, &options).unwrap();
    let best = -report.incumbent.unwrap().objective;
    assert_eq!(report.status, Status::Optimal, "{name} {n_trees}: {} nodes", report.nodes);
    assert!((best - optimum).abs() <= 1e-4 * optimum, "{name} {n_trees}: {best} instead of {optimum}");
}

#[test]
fn a_hundred_trees_close_in_hundreds_of_nodes() {
    check("redwine_bt", 100, 2.885107, 500);
    check("concrete_bt", 100, 53.679705, 50);
}

#[test]
fn two_and_five_hundred_trees_close_in_hundreds_and_thousands() {
    check("concrete_bt", 500, 61.410049, 400);
    check("redwine_bt", 200, 3.367805, 2_500);
}

/// `cargo test --release -p leafgp-solver --test public_ensembles -- --ignored`
#[test]
#[ignore = "two minutes"]
fn larger_ensembles_close() {
    check("concrete_bt", 200, 58.210057, 100);
    check("redwine_rf", 50, 7.608333, 2_500);
    check("redwine_rf", 100, 7.564333, 2_000);
    check("redwine_bt", 500, 3.813238, 32_000);
}
