//! Noise far below the signal: answers and proofs against optima in exact fractions (`peers/golden/tiny_noise.py`).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use leafgp::instance::Instance;
use leafgp_solver::certificate::{Certificate, verify};
use leafgp_solver::search::{SearchOptions, Status, certify, minimize};
use leafgp_testdata::root;
use serde_json::Value;

/// Each instance with its exact optimum, to the nearest f64.
fn cases() -> Vec<(Instance, f64)> {
    let text = std::fs::read_to_string(root().join("tests/golden/exact/tiny-noise.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let case = |case: &Value| {
        let optimum = case["optimum"].as_str().unwrap().parse().unwrap();
        (Instance::parse(&case["instance"].to_string(), "case").unwrap(), optimum)
    };
    cases.iter().map(case).collect()
}

/// The sizes that errors are measured by: the optimum's, and that of a sum of a mean and a deviation that may cancel.
fn size(instance: &Instance, optimum: f64) -> f64 {
    let mean = instance.y.iter().fold(0.0f64, |a, y| a.max(y.abs()));
    optimum.abs().max(mean)
}

#[test]
fn objectives_are_right_and_no_proved_bound_lies_above_the_exact_optimum() {
    let (mut worst, mut with_remainder) = (0.0f64, 0);
    let cases = cases();
    for (instance, optimum) in &cases {
        let statement = instance.problem().unwrap();
        let problem = statement.search();
        let mut options = SearchOptions::default();
        (options.gap, options.absolute_gap) = (1e-6, 0.0);
        let report = minimize(&problem, &options).unwrap();
        let found = report.incumbent.as_ref().unwrap();
        let size = size(instance, *optimum);
        worst = worst.max((found.objective - optimum).abs() / size);
        assert_eq!(report.status, Status::Optimal, "{}: gap {}", instance.name, report.gap);
        assert!(
            (found.objective - optimum).abs() <= 1.1e-6 * size,
            "{}: {} {optimum}",
            instance.name,
            found.objective
        );
        assert!(report.best_bound <= optimum + 1e-9 * size, "{}", instance.name);
        let certificate = certify(&problem, &report, &options).unwrap();
        let certificate = Certificate::read(&certificate.write()).unwrap();
        let verified = verify(&problem, &certificate).unwrap();
        assert!(verified.bound <= *optimum, "{}: {} above {optimum}", instance.name, verified.bound);
        let quadratic = problem.objective().quadratic.as_ref().unwrap();
        with_remainder += usize::from(quadratic.remainder.is_some());
    }
    println!("{} cases, {with_remainder} with a remainder, worst objective {worst:.1e}", cases.len());
    assert!(with_remainder >= 50 && with_remainder < cases.len());
}

/// The two of the issue, each with one answer: every point is as good as the other.
#[test]
fn a_deviation_far_below_the_prior_keeps_its_digits() {
    for (instance, optimum) in &cases()[..2] {
        let statement = instance.problem().unwrap();
        let objective = statement.search().objective().value(&[0]);
        assert!((objective / optimum - 1.0).abs() <= 1e-9, "{objective} {optimum}");
    }
}

#[test]
fn noise_that_f64_cannot_tell_from_none_is_refused() {
    let (mut instance, _) = cases().swap_remove(0);
    instance.hyperparameters.noise_variance = 0.99e-12 * instance.hyperparameters.signal_variance;
    let message = instance.problem().unwrap_err().to_string();
    assert!(message.contains("noise_variance") && message.contains("1e-12 of signal_variance"), "{message}");
}
