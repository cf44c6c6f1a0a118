//! The branch-and-bound under random constraint sets over the whole grammar, against plain enumeration of a small discrete space.

#[path = "../../constraints/tests/support/mod.rs"]
mod constraints_support;
mod support;

use constraints_support::generator::Generator;
use constraints_support::points;
use leafgp_solver::certificate::{Certificate, verify};
use leafgp_solver::constraints::Tolerance;
use leafgp_solver::search::certify;
use leafgp_solver::{Problem, Region, SearchOptions, Status, StopReason, minimize};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use support::random::{random_forest, random_point};

/// Spaces larger than this are left out: enumerating them says no more.
const MOST_POINTS: usize = 6_000;

/// What a seed came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Infeasible,
    Optimal,
    /// The space is too large to enumerate quickly.
    Skipped,
}

fn compare(seed: u64) -> Outcome {
    let constrained = Generator::new(seed).problem();
    let domains = constrained.domains();
    let size: f64 = domains.iter().map(|d| constraints_support::values(d).len() as f64).product();
    if size > MOST_POINTS as f64 {
        return Outcome::Skipped;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let n_trees = rng.random_range(1..=6);
    let forest = random_forest(&mut rng, &domains, n_trees);
    let data: Vec<Vec<f64>> = (0..rng.random_range(2..8)).map(|_| random_point(&mut rng, &domains)).collect();
    let y: Vec<f64> = data.iter().map(|_| rng.random_range(-2.0..2.0)).collect();
    let kappa = [0.0, 1.96, 1.96, 10.0][rng.random_range(0..4)];
    let objective = support::posterior(&forest, &data, &y, kappa, 1.0, 1e-3);
    let optimum = points(&domains, &Region::full(&domains))
        .into_iter()
        .filter(|x| constrained.feasible(x))
        .map(|x| objective.value(&forest.active_leaves(&x)))
        .fold(f64::INFINITY, f64::min);

    let set = constrained.build();
    let problem = Problem::new(&domains, &forest, &objective).with_constraints(&set);
    let mut options = SearchOptions::default();
    options.threads = 1;
    let report = minimize(&problem, &options).unwrap();
    let context = || format!("seed {seed}, optimum {optimum}: {report:?}\n{}", constrained.text());
    assert_eq!(report.undecided_cells, 0, "{}", context());
    // What the certificate proves holds of every point, by claims that know nothing of the engine.
    let certificate = certify(&problem, &report, &options).unwrap_or_else(|e| panic!("{e}: {}", context()));
    let verified = verify(&problem, &certificate).unwrap_or_else(|e| panic!("{e}: {}", context()));
    assert!(verified.bound <= optimum, "{}", context());
    forge(seed, &problem, &certificate, optimum);
    let Some(best) = &report.incumbent else {
        assert_eq!(optimum, f64::INFINITY, "{}", context());
        assert_eq!((report.status, report.stop_reason), (Status::Infeasible, StopReason::Exhausted));
        return Outcome::Infeasible;
    };
    assert!(constrained.feasible(&best.x) && set.is_feasible(&best.x, Tolerance::Produce), "{}", context());
    assert_eq!(report.status, Status::Optimal, "{}", context());
    assert_eq!(best.objective, objective.value(&forest.active_leaves(&best.x)));
    let rounding = 1e-10 * optimum.abs().max(1.0);
    assert!(report.best_bound <= optimum + rounding, "{}", context());
    let allowance = (options.gap * best.objective.abs()).max(1e-9) + rounding;
    assert!(best.objective <= optimum + allowance, "{}", context());
    Outcome::Optimal
}

/// Files altered at some bytes and given a checksum that fits: whatever is accepted is true.
fn forge(seed: u64, problem: &Problem<'_>, certificate: &Certificate, optimum: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xf0e6e);
    let bytes = certificate.write();
    for _ in 0..20 {
        let mut body = bytes[..bytes.len() - 8].to_vec();
        if rng.random() {
            // Claims that there is no point at all.
            body[16..24].copy_from_slice(&f64::INFINITY.to_le_bytes());
            let n = u32::from_le_bytes(body[24..28].try_into().unwrap());
            if n != u32::MAX {
                body[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
                body.drain(28..28 + 8 * (n as usize + 1));
            }
        }
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(16..body.len());
            body[at] = if rng.random() { rng.random_range(0..6) } else { rng.random() };
        }
        let checksum = body
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        body.extend(checksum.to_le_bytes());
        if let Ok(forged) = Certificate::read(&body)
            && let Ok(verified) = verify(problem, &forged)
        {
            assert!(verified.bound <= optimum, "seed {seed}: {forged:?} says {}, {optimum}", verified.bound);
        }
    }
}

fn compare_all(seeds: std::ops::Range<u64>) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        counts[compare(seed) as usize] += 1;
    }
    let [infeasible, optimal, skipped] = counts;
    println!("infeasible {infeasible}, optimal {optimal}, skipped {skipped}");
    counts
}

#[test]
fn solving_agrees_with_enumeration() {
    let [infeasible, optimal, _] = compare_all(0..3_000);
    assert!(infeasible > 1_000 && optimal > 1_000, "{infeasible} {optimal}");
}

/// `cargo test --release -p leafgp-solver --test constraints_solve -- --ignored --nocapture`
#[test]
#[ignore = "half a minute"]
fn solving_agrees_with_enumeration_on_many_sets() {
    let [infeasible, optimal, _] = compare_all(3_000..30_000);
    assert!(infeasible + optimal >= 15_000);
}
