//! Forged evidence about constraints: each kind, altered, is refused.

mod predictions;

use super::claims::{EmptyParts, settle};
use super::work::{Objection, Work, WorkBudget};
use super::{Certificate, Claim, Evidence, Forward, ProofEnd, Refusal, verify};
use crate::problem::Problem;
use crate::search::{SearchOptions, certify, minimize};
use crate::testing::{crossing_trees, wave};
use crate::{LeafObjective, Quadratic};
use leafgp_constraints::{Constraints, ConstraintsBuilder, Domain, Region, Variable};

fn constraints(domains: &[Domain], texts: &[&str]) -> Constraints {
    let variable = |(i, domain): (usize, &Domain)| Variable {
        name: format!("x{i}"),
        domain: domain.clone(),
        level_names: (0..domain.levels().unwrap_or(0)).map(|l| l.to_string()).collect(),
    };
    let mut builder = ConstraintsBuilder::new(domains.iter().enumerate().map(variable).collect()).unwrap();
    texts.iter().for_each(|text| builder.constrain(text, text).unwrap());
    builder.build()
}

/// Constraint sets of which one or the other needs every kind of claim.
const SETS: [&[&str]; 3] = [
    &["x0 + x1 + x2 == 1.3", "x0 - x1 >= 0.05", "x0*x1 + x2^2 <= 0.4", "x1 + 0.3 <= exp(x2)"],
    &["x0 + x1 + x2 == 1.3", "x0 + x1 <= 0.5", "x0*x1 + x2^2 <= 0.9", "x1 + 0.1 <= exp(x2)"],
    // No point at all, which no slab shows.
    &["x0 + x1 + x2 == 1.3", "2*x0 + 2*x1 + 2*x2 <= 2.4"],
];

/// Problems whose proofs need constraints, and their proofs.
fn with_proofs(mut test: impl FnMut(&Problem<'_>, &Certificate)) {
    let (domains, forest) = crossing_trees(12, 3, 11);
    let n = forest.n_leaves();
    let quadratic = Quadratic {
        kappa: 1.5,
        prior_variance: 1.0,
        dim: 6,
        factor: (0..n * 6).map(|k| wave(k + 5) / 9.0).collect(),
        remainder: None,
    };
    let linear = (0..n).map(|k| wave(3 * k)).collect();
    let objective = LeafObjective { constant: 0.3, linear, quadratic: Some(quadratic) };
    for texts in SETS {
        let set = constraints(&domains, texts);
        let problem = Problem::new(&domains, &forest, &objective).with_constraints(&set);
        let options = SearchOptions::default();
        let report = minimize(&problem, &options).unwrap();
        let certificate = certify(&problem, &report, &options).unwrap();
        verify(&problem, &certificate).unwrap();
        test(&problem, &certificate);
    }
}

/// Every list of claims of a certificate.
fn lists(certificate: &mut Certificate) -> Vec<&mut Vec<Claim>> {
    let mut lists = Vec::new();
    for node in &mut certificate.nodes {
        for evidence in &mut node.evidence {
            if let Evidence::Contraction(claims) = evidence {
                lists.push(claims);
            }
        }
        if let ProofEnd::Enumerated(refuted) = &mut node.end {
            lists.extend(refuted);
        }
    }
    lists
}

#[test]
fn the_proofs_have_every_kind_of_claim() {
    let mut claims: Vec<Claim> = Vec::new();
    with_proofs(|_, certificate| {
        claims.extend(lists(&mut certificate.clone()).into_iter().flat_map(|list| list.clone()));
    });
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Open)));
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Fails(_))));
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Combined(_))));
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Split { .. })));
}

#[test]
fn a_proof_without_claims_is_refused() {
    with_proofs(|problem, certificate| {
        let mut altered = certificate.clone();
        for node in &mut altered.nodes {
            node.evidence.retain(|evidence| matches!(evidence, Evidence::Round(_)));
            if let ProofEnd::Enumerated(refuted) = &mut node.end {
                refuted.clear();
            }
        }
        assert!(matches!(verify(problem, &altered), Err(Refusal::Node { .. })));
    });
}

/// Each claim, altered in each way, leaves a proof that is refused, or one whose parts still cover the box.
#[test]
fn altered_claims_are_refused() {
    let (mut refused, mut kept) = ([0; 4], 0);
    with_proofs(|problem, certificate| {
        let n_lists = lists(&mut certificate.clone()).len();
        for at in 0..n_lists {
            let n_claims = lists(&mut certificate.clone())[at].len();
            for k in 0..n_claims {
                for way in 0..3 {
                    let mut altered = certificate.clone();
                    let list = &mut lists(&mut altered)[at];
                    let (kind, sound) = match &mut list[k] {
                        Claim::Open => {
                            list[k] = Claim::Fails(way);
                            (0, false)
                        }
                        Claim::Fails(root) => {
                            // Another constraint may fail there as well; none of that number does not.
                            *root = (*root + 1 + way) % 5;
                            (1, *root < 4)
                        }
                        Claim::Combined(multipliers) => {
                            match way {
                                0 => multipliers.clear(),
                                1 => multipliers.iter_mut().for_each(|(_, m)| *m = -*m),
                                _ => multipliers[0].1 = f32::NAN,
                            }
                            (2, false)
                        }
                        Claim::Split { at, variable, .. } => {
                            match way {
                                0 => *variable = 3,
                                1 => *at = f64::NAN,
                                _ => {
                                    list.remove(k);
                                }
                            }
                            (3, false)
                        }
                    };
                    match verify(problem, &altered) {
                        Err(Refusal::Node { .. }) => refused[kind] += 1,
                        other => {
                            assert!(sound && other.is_ok(), "list {at}, claim {k}, way {way}: {other:?}");
                            kept += 1;
                        }
                    }
                }
            }
        }
    });
    assert!(refused.iter().all(|&n| n > 0), "{refused:?}, {kept} still hold");
}

#[test]
fn claims_about_an_unconstrained_problem_are_refused() {
    with_proofs(|problem, certificate| {
        let plain = Problem::new(problem.domains(), problem.forest(), problem.objective());
        let mut altered = certificate.clone();
        altered.digest = super::digest(&plain);
        assert!(matches!(verify(&plain, &altered), Err(Refusal::Node { .. })));
    });
}

#[test]
fn splits_that_never_end_are_refused() {
    let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
    let set = constraints(&domains, &["x0 >= 2"]);
    let statement = set.statement();
    let forward = Forward::new(statement);
    let check = |claims: &[Claim], total: u64| {
        let mut work = Work::new(WorkBudget { node: u64::MAX, total, deadline: None });
        settle(&forward, EmptyParts::HaveNone, claims, Region::full(&domains), &mut work)
            .map(|open| open.is_some())
    };
    assert_eq!(check(&[Claim::Fails(0)], u64::MAX), Ok(false));
    let split = Claim::Split { variable: 0, at: 0.5, upper_first: true };
    let deep: Vec<Claim> = (0..10_000)
        .map(|k| Claim::Split { variable: 0, at: 1.0 - f64::from(k) * 1e-5, upper_first: false })
        .collect();
    assert!(matches!(check(&deep, u64::MAX), Err(Objection::Flaw(_))));
    assert!(matches!(check(&vec![split.clone(); 1_000_000], 10_000), Err(Objection::OutOfWork { .. })));
    // Not enough claims, and too many.
    assert!(matches!(check(&[split.clone(), Claim::Fails(0)], u64::MAX), Err(Objection::Flaw(_))));
    let too_many = [split, Claim::Fails(0), Claim::Fails(0), Claim::Fails(0)];
    assert!(matches!(check(&too_many, u64::MAX), Err(Objection::Flaw(_))));
    assert_eq!(check(&too_many[..3], u64::MAX), Ok(false));
}
