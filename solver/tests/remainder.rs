//! A variance that its data leave next to nothing of: by hand, in objectives, bounds and proofs.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use leafgp_solver::certificate::{statement, verify};
use leafgp_solver::search::{SearchOptions, Status, certify, minimize};
use leafgp_solver::{Domain, Forest, LeafObjective, Node, Problem, Quadratic, Remainder, Rule, Tree};

const NOISE: f64 = 1e-11;
/// One measurement in each leaf of one tree with prior variance 1: `1 - 1 / (1 + noise)` is left.
const LEFT: f64 = NOISE / (1.0 + NOISE);

fn objective(kappa: f64) -> LeafObjective {
    // As computed: each vector too long by two roundings, which takes a thousandth of a millionth of what is left.
    let length = 1.0 / (1.0 + NOISE).sqrt() + 4.0 * f64::EPSILON;
    let remainder = Remainder {
        noise_shares: vec![NOISE; 2],
        tree_variance: vec![1.0; 2],
        constant: 0.0,
        rounding: 16.0 * f64::EPSILON,
    };
    let factor = vec![length, 0.0, 0.0, length];
    let quadratic = Quadratic { kappa, prior_variance: 1.0, dim: 2, factor, remainder: Some(remainder) };
    LeafObjective { constant: 0.0, linear: vec![0.0, 0.0], quadratic: Some(quadratic) }
}

fn stump() -> ([Domain; 1], Forest) {
    let domains = [Domain::Integer { lower: 0.0, upper: 1.0 }];
    let nodes = vec![
        Node::Split { feature: 0, rule: Rule::Threshold(0.5), left: 1, right: 2 },
        Node::Leaf { leaf: 0, value: 0.0 },
        Node::Leaf { leaf: 1, value: 0.0 },
    ];
    let forest = Forest::new(vec![Tree { nodes }], &domains).unwrap();
    (domains, forest)
}

#[test]
fn what_is_left_of_a_variance_keeps_its_digits() {
    let with = objective(1.0);
    let mut without = with.clone();
    without.quadratic.as_mut().unwrap().remainder = None;
    let error = |objective: &LeafObjective| (objective.deviation(&[0]) / LEFT.sqrt() - 1.0).abs();
    assert!(error(&without) > 1e-5, "{}", error(&without));
    assert!(error(&with) < 1e-9, "{}", error(&with));
}

/// Bounds are on the safe side of the vectors' rounding, whichever way the deviation counts.
#[test]
fn no_bound_is_above_the_exact_optimum() {
    let (domains, forest) = stump();
    for kappa in [1e6, 1.0, -1.0, -1e6] {
        let objective = objective(kappa);
        let problem = Problem::new(&domains, &forest, &objective);
        let options = SearchOptions::default();
        let report = minimize(&problem, &options).unwrap();
        assert_eq!(report.status, Status::Optimal);
        let exact = -kappa * LEFT.sqrt();
        assert!((report.incumbent.as_ref().unwrap().objective - exact).abs() <= 1e-9 * exact.abs());
        let certificate = certify(&problem, &report, &options).unwrap();
        assert!(verify(&problem, &certificate).unwrap().bound <= exact);
    }
}

#[test]
fn a_remainder_is_part_of_the_statement_and_must_fit() {
    let (domains, forest) = stump();
    let plain = objective(1.0);
    let bytes = |objective: &LeafObjective| statement(&Problem::new(&domains, &forest, objective));
    type Spoil = fn(&mut Remainder);
    let misfits: [Spoil; 5] = [
        |r| r.noise_shares.truncate(1),
        |r| r.tree_variance.push(1.0),
        |r| r.constant = -1.0,
        |r| r.rounding = f64::NAN,
        |r| r.noise_shares[1] = f64::INFINITY,
    ];
    for spoil in misfits {
        let mut objective = plain.clone();
        spoil(objective.quadratic.as_mut().unwrap().remainder.as_mut().unwrap());
        assert_ne!(bytes(&objective), bytes(&plain));
        let refused = minimize(&Problem::new(&domains, &forest, &objective), &SearchOptions::default());
        assert!(refused.unwrap_err().to_string().contains("remainder"));
    }
}
