//! Proofs on file: every one verifies, no altered one does.

mod support;

use leafgp_solver::certificate::{Certificate, Refusal, verify};
use leafgp_solver::search::certify;
use leafgp_solver::{Problem, SearchOptions, Status, minimize};
use support::random::random_parts;
use support::reference_instances;

#[test]
fn proofs_of_random_problems_verify_and_altered_ones_do_not() {
    let (mut proofs, mut with_exclusions, mut with_limits, mut minimised) = (0, 0, 0, 0);
    for seed in 0..1000 {
        let parts = random_parts(seed);
        let problem = parts.problem();
        let options = SearchOptions::default();
        let report = minimize(&problem, &options).unwrap();
        let certificate = certify(&problem, &report, &options).unwrap();
        let bytes = certificate.write();
        assert_eq!(Certificate::read(&bytes).unwrap(), certificate);
        let verified = verify(&problem, &certificate).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(verified.nodes, certificate.n_nodes());
        let Some(best) = report.incumbent else { continue };
        assert_eq!(verified.objective, Some(best.objective));
        assert!(
            verified.bound <= report.best_bound
                && verified.bound >= report.best_bound - 2e-9 * report.best_bound.abs().max(1.0)
        );
        proofs += 1;
        with_exclusions += u32::from(!parts.excluded.is_empty());
        with_limits += u32::from(!parts.limits.is_empty());
        minimised += u32::from(parts.objective.quadratic.as_ref().is_some_and(|q| q.kappa < 0.0));
        // Any byte altered: refused.
        for k in 0..bytes.len().min(64) {
            let mut altered = bytes.clone();
            altered[(k * 37) % bytes.len()] ^= 1 << (k % 8);
            assert!(matches!(Certificate::read(&altered), Err(Refusal::Format(_))));
        }
        // Cut short: refused.
        assert!(Certificate::read(&bytes[..bytes.len() - 1]).is_err());
        // Another problem: refused.
        let mut other = parts.objective.clone();
        other.constant += 1e-3;
        let refuses = |other: &Problem<'_>| {
            assert_eq!(verify(other, &certificate), Err(Refusal::OtherProblem));
        };
        refuses(&Problem::new(&parts.domains, &parts.forest, &other));
        if let Some(limit) = parts.limits.first() {
            refuses(&parts.problem().with_limit(limit.clone()));
        }
        refuses(&parts.problem().excluding(problem.level_set(&best.x)));
    }
    assert!(proofs > 300, "only {proofs} proofs");
    assert!(
        with_exclusions > 50 && with_limits > 50 && minimised > 50,
        "{with_exclusions} with exclusions, {with_limits} with limits, {minimised} with a deviation that is minimised"
    );
}

fn check_set(set: &str, keep: impl Fn(&str) -> bool) {
    for (name, instance, _) in reference_instances(set, keep) {
        let constraints = instance.compile_constraints();
        let problem = instance.problem(constraints.as_ref());
        let mut options = SearchOptions::default();
        options.start_points.clone_from(&instance.x);
        let report = minimize(&problem, &options).unwrap();
        assert_eq!(report.status, Status::Optimal);
        let certificate = certify(&problem, &report, &options).unwrap();
        let size = certificate.write().len();
        let verified = verify(&problem, &certificate).unwrap_or_else(|e| panic!("{name}: {e}"));
        println!(
            "{name}: {} nodes, {size} bytes, {:.1e} steps, gap {:.2e}",
            verified.nodes, verified.work as f64, verified.gap
        );
        assert!(size < 20_000_000, "{name}: {size} bytes");
        assert!(verified.gap <= 1.001e-4, "{name}: {}", verified.gap);
    }
}

#[test]
fn proofs_of_small_instances_verify() {
    check_set("plain", |name| name.contains("-m10-") || name.contains("-m25-"));
    check_set("constrained", |name| name.contains("-m10-"));
}

/// `cargo test --release -p leafgp-solver --test search_certificate -- --ignored`
#[test]
#[ignore = "a minute and more"]
fn proofs_of_all_instances_verify() {
    check_set("plain", |_| true);
    check_set("constrained", |_| true);
}
