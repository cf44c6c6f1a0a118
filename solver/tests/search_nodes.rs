//! How many nodes the search takes on fixed problems: a wrong message, score or bound that costs only time shows here.

mod support;

use leafgp_solver::{Domain, Forest, LeafObjective, Problem, SearchOptions, Status, minimize};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use support::posterior;
use support::random::{random_forest, random_point};

/// Six numbers and two categories, and the process of `n_points` random points whose values wave along them.
fn parts(seed: u64, n_trees: usize, n_points: usize, kappa: f64) -> (Vec<Domain>, Forest, LeafObjective) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut domains = vec![Domain::Continuous { lower: -1.0, upper: 1.5 }; 6];
    domains.extend([Domain::Categorical { levels: 5 }, Domain::Categorical { levels: 3 }]);
    let forest = random_forest(&mut rng, &domains, n_trees);
    let x: Vec<Vec<f64>> = (0..n_points).map(|_| random_point(&mut rng, &domains)).collect();
    let wave = |x: &Vec<f64>| x.iter().enumerate().map(|(k, v)| (3.0 * v + k as f64).sin()).sum();
    let y: Vec<f64> = x.iter().map(wave).collect();
    let objective = posterior(&forest, &x, &y, kappa, 1.0, 1e-3);
    (domains, forest, objective)
}

/// Within a tenth: other instruction sets round differently.
fn expect_nodes((domains, forest, objective): &(Vec<Domain>, Forest, LeafObjective), nodes: u64) {
    let problem = Problem::new(domains, forest, objective);
    let mut options = SearchOptions::default();
    options.local_search = false;
    let report = minimize(&problem, &options).unwrap();
    assert_eq!(report.status, Status::Optimal);
    let close = report.nodes.abs_diff(nodes) * 10 <= nodes;
    assert!(close, "{} nodes instead of {nodes}", report.nodes);
}

#[test]
fn nodes_with_a_deviation() {
    expect_nodes(&parts(1, 40, 30, 1.96), 355);
}

#[test]
fn nodes_with_vectors_long_enough_to_be_projected() {
    expect_nodes(&parts(2, 50, 90, 1.96), 576);
}

#[test]
fn nodes_with_a_large_deviation() {
    expect_nodes(&parts(3, 40, 40, 10.0), 543);
}

#[test]
fn nodes_without_a_deviation() {
    let mut parts = parts(4, 200, 90, 0.0);
    parts.2.quadratic = None;
    expect_nodes(&parts, 1_489);
}

#[test]
fn nodes_with_a_deviation_that_is_minimised() {
    expect_nodes(&parts(5, 16, 30, -0.5), 240);
}
