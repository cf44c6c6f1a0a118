//! Forged proofs over predictions: whatever is altered in an honest one, none is accepted with a bound above the smallest objective.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::super::{Certificate, Claim, Evidence, ProofEnd, Refusal, digest, verify};
use super::lists;
use crate::learned::{LeafSum, Learned, Predictor, SumLink};
use crate::problem::Problem;
use crate::search::{SearchOptions, certify, minimize};
use crate::testing::wave;
use crate::{Forest, LeafObjective, Node, Rule, Tree};
use leafgp_constraints::{Constraints, ConstraintsBuilder, Domain, Quantity, Variable};

/// Values of each of three variables: 0 to 4.
const VALUES: usize = 5;
const N: usize = 3;

/// Twelve trees of four leaves, six for each of two predictions, and stairs of the first variable.
fn forest(domains: &[Domain]) -> Forest {
    let leaf = |leaf| Node::Leaf { leaf, value: 0.0 };
    let tree = |t: usize| {
        let split = |k: usize, left, right| Node::Split {
            feature: (t + k) % N,
            rule: Rule::Threshold(((5 * t + 3 * k) % (VALUES - 1)) as f64 + 0.5),
            left,
            right,
        };
        Tree {
            nodes: vec![split(0, 1, 4), split(1, 2, 3), leaf(0), leaf(1), split(2, 5, 6), leaf(2), leaf(3)],
        }
    };
    let step = |at: f64, left, right| Node::Split { feature: 0, rule: Rule::Threshold(at), left, right };
    let stairs = Tree { nodes: vec![step(1.5, 1, 2), leaf(0), step(2.5, 3, 4), leaf(1), leaf(2)] };
    Forest::new((0..12).map(tree).chain([stairs]).collect(), domains).unwrap()
}

/// Both predictions in plain arithmetic, the second behind a bent link.
#[derive(Debug)]
struct Two {
    forest: Forest,
    sums: Vec<LeafSum>,
}

impl Predictor for Two {
    fn n_predictions(&self) -> usize {
        2
    }

    fn predict(&self, x: &[f64]) -> Vec<f64> {
        let leaves = self.forest.active_leaves(x);
        let sum = |sum: &LeafSum| sum.constant + leaves.iter().map(|&leaf| sum.linear[leaf]).sum::<f64>();
        vec![sum(&self.sums[0]), sum(&self.sums[1]).exp()]
    }

    fn enclose(&self, k: usize, lower: f64, upper: f64) -> (f64, f64) {
        let ends = (lower - 1e-12, upper + 1e-12);
        if k == 0 { ends } else { (ends.0.exp() * (1.0 - 1e-12), ends.1.exp() * (1.0 + 1e-12)) }
    }
}

fn two(domains: &[Domain]) -> Two {
    let forest = forest(domains);
    let n = forest.n_leaves();
    let sum = |k: usize, link, size: f64| {
        let of_leaf = |leaf: usize| if leaf < 48 && leaf / 24 == k { size * wave(leaf + 1) } else { 0.0 };
        let linear = (0..n).map(of_leaf).collect();
        LeafSum { constant: 0.25, linear, link, rounding: 1e-13, is_double: true }
    };
    Two { sums: vec![sum(0, SumLink::Identity, 2.0), sum(1, SumLink::Exp, 0.6)], forest }
}

/// The system of some constraints, and the objective.
fn system(domains: &[Domain], objective: &str, texts: &[&str]) -> (Constraints, Quantity) {
    let variable =
        |name: &str, domain: Domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let wide = || Domain::Continuous { lower: -100.0, upper: 100.0 };
    let mut variables: Vec<Variable> =
        domains.iter().enumerate().map(|(i, d)| variable(&format!("x{i}"), d.clone())).collect();
    variables.extend([variable("y0", wide()), variable("y1", wide())]);
    let quantity = ConstraintsBuilder::new(variables.clone()).unwrap().quantity(objective).unwrap();
    variables.push(variable("v", wide()));
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    texts.iter().for_each(|text| builder.constrain(text, text).unwrap());
    builder.constrain("objective", &format!("({objective}) <= v")).unwrap();
    (builder.build(), quantity)
}

/// Each needs another kind of evidence; of the last no point is feasible.
const PROBLEMS: [(&str, &[&str]); 4] = [
    ("y0 - 0.7 * y1 + 0.05 * x0 * x1 - 0.1 * x2", &["y1 >= 1.2", "x0 + x1 + x2 <= 7"]),
    ("(y0 - 0.2)^2 + 0.1 * abs(x0 - 1.7)", &["y0 * x1 >= 0.5", "x0 + 2 * y0 <= 3"]),
    ("0.3 * x0 - y1", &["y0 + 0.2 * x0 == 0.2 * x0 + y0", "max(y0, y1) <= 1.3"]),
    ("y0", &["y0 - y1 >= 0.5", "2 * y0 - 2 * y1 <= 0.9"]),
];

/// Honest proofs, with the smallest objective by enumeration.
fn with_proofs(mut test: impl FnMut(&Problem<'_>, &Certificate, f64)) {
    let domains = vec![Domain::Integer { lower: 0.0, upper: (VALUES - 1) as f64 }; N];
    let predictor = two(&domains);
    let forest = &predictor.forest;
    let bound = LeafObjective { constant: -50.0, linear: vec![0.0; forest.n_leaves()], quadratic: None };
    for (objective, texts) in PROBLEMS {
        let (system, quantity) = system(&domains, objective, texts);
        let problem = Problem::new(&domains, forest, &bound).with_learned(Learned {
            predictor: &predictor,
            sums: &predictor.sums,
            objective: &quantity,
            system: &system,
            cell_trees: 12,
            multipliers: &[],
        });
        let mut smallest = f64::INFINITY;
        for code in 0..VALUES.pow(N as u32) {
            let x: Vec<f64> = (0..N as u32).map(|v| (code / VALUES.pow(v) % VALUES) as f64).collect();
            if problem.allows(&x) {
                smallest = smallest.min(problem.value(&x, &[]));
            }
        }
        let options = SearchOptions { gap: 1e-6, ..SearchOptions::default() };
        let report = minimize(&problem, &options).unwrap();
        let certificate = certify(&problem, &report, &options).unwrap();
        let verified = verify(&problem, &certificate).unwrap();
        assert!(verified.bound <= smallest, "{objective}: {} of {smallest}", verified.bound);
        assert!(verified.bound >= smallest - 1e-5 * smallest.abs().max(1.0) || smallest.is_infinite());
        test(&problem, &certificate, smallest);
    }
}

fn alter_claim(claims: &mut Vec<Claim>, rng: &mut ChaCha8Rng) {
    if claims.is_empty() {
        return;
    }
    let k = rng.random_range(0..claims.len());
    let other = rng.random_range(0..claims.len());
    let root = rng.random_range(0..4);
    match (rng.random_range(0..4), &mut claims[k]) {
        (0, _) => drop(claims.remove(k)),
        (1, _) => claims.swap(k, other),
        (_, Claim::Split { variable, at, upper_first }) => match rng.random_range(0..3) {
            0 => *variable = rng.random_range(0..7),
            1 => *at += rng.random_range(-1.0..1.0),
            _ => *upper_first = !*upper_first,
        },
        (_, Claim::Combined(multipliers)) => {
            for (row, m) in multipliers {
                *row = if rng.random_range(0..4) == 0 { root } else { *row };
                *m *= [-1.0, 0.0, 3.0, f32::INFINITY, f32::NAN][rng.random_range(0..5)];
            }
        }
        (_, claim) => *claim = if root == 3 { Claim::Open } else { Claim::Fails(root) },
    }
}

/// One change of a proof, of any kind.
fn alter(certificate: &mut Certificate, rng: &mut ChaCha8Rng) {
    let n = certificate.nodes.len();
    let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
    match rng.random_range(0..12) {
        0 => certificate.nodes.swap(a, b),
        1 if n > 1 => drop(certificate.nodes.remove(a)),
        2 => certificate.nodes.insert(a, certificate.nodes[b].clone()),
        3 => certificate.nodes[a].end = ProofEnd::Closed,
        4 => certificate.nodes[a].end = ProofEnd::Enumerated(Vec::new()),
        5 => drop(certificate.nodes[a].evidence.pop()),
        6 => {
            if let ProofEnd::Split { left, feature } = &mut certificate.nodes[a].end {
                left.iter_mut().for_each(|word| *word ^= 1 << rng.random_range(0..4));
                *feature = rng.random_range(0..4);
            }
        }
        7 => {
            let multipliers = certificate.multipliers.as_mut().unwrap();
            let value = [-1.0, -1e-3, 0.5, 7.0, 1e300, f64::INFINITY, f64::NAN][rng.random_range(0..7)];
            multipliers.push((rng.random_range(0..6), value));
        }
        _ => {
            let mut lists = lists(certificate);
            if !lists.is_empty() {
                let at = rng.random_range(0..lists.len());
                alter_claim(lists[at], rng);
            }
        }
    }
}

/// Returns how many forgeries were refused, and how many still prove what is true.
fn forge(count: usize, seed: u64) -> [usize; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = [0, 0];
    with_proofs(|problem, certificate, smallest| {
        for _ in 0..count {
            let mut forged = certificate.clone();
            for _ in 0..rng.random_range(0..4) {
                alter(&mut forged, &mut rng);
            }
            // Often a claim that cannot be true.
            match rng.random_range(0..4) {
                0 => {
                    forged.bound = f64::INFINITY;
                    forged.incumbent = None;
                }
                1 => forged.bound += [1e-9, 1e-6, 1e-3, 0.1][rng.random_range(0..4)],
                _ => {}
            }
            match verify(problem, &forged) {
                Ok(verified) => {
                    assert!(verified.bound <= smallest, "{} of {smallest}: {forged:?}", verified.bound);
                    counts[1] += 1;
                }
                Err(_) => counts[0] += 1,
            }
        }
    });
    counts
}

#[test]
fn altered_proofs_over_predictions_prove_nothing_false() {
    let [refused, sound] = forge(2_000, 5);
    assert!(refused > 3_000 && sound > 500, "{refused} refused, {sound} sound");
}

/// `cargo test --release -p leafgp-solver --lib hostile::predictions -- --ignored`
#[test]
#[ignore = "a minute"]
fn many_altered_proofs_over_predictions_prove_nothing_false() {
    forge(200_000, 6);
}

#[test]
fn the_proofs_need_every_kind_of_evidence() {
    let (mut claims, mut rounds): (Vec<Claim>, usize) = (Vec::new(), 0);
    with_proofs(|problem, certificate, _| {
        let mut certificate = certificate.clone();
        claims.extend(lists(&mut certificate).into_iter().flat_map(|list| list.clone()));
        let evidence = certificate.nodes.iter().flat_map(|node| &node.evidence);
        rounds += evidence.filter(|evidence| matches!(evidence, Evidence::Round(_))).count();
        for node in &mut certificate.nodes {
            node.evidence.retain(|evidence| matches!(evidence, Evidence::Round(_)));
            if let ProofEnd::Enumerated(refuted) = &mut node.end {
                refuted.clear();
            }
        }
        assert!(matches!(verify(problem, &certificate), Err(Refusal::Node { .. })));
    });
    assert!(rounds > 0);
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Fails(_))));
    assert!(claims.iter().any(|claim| matches!(claim, Claim::Split { .. })));
}

/// Multipliers that a row does not allow, and files of the other kind.
#[test]
fn multipliers_that_do_not_fit_are_refused() {
    with_proofs(|problem, certificate, _| {
        for multiplier in [(0, -1.0), (99, 1.0), (0, f64::NAN), (0, f64::INFINITY)] {
            let mut altered = certificate.clone();
            altered.multipliers = Some(vec![multiplier]);
            assert!(verify(problem, &altered).is_err() || multiplier == (0, -1.0), "{multiplier:?}");
        }
        let none = Certificate { multipliers: None, ..certificate.clone() };
        assert!(matches!(verify(problem, &none), Err(Refusal::Format(_))));
        let plain = Problem::new(problem.domains(), problem.forest(), problem.objective());
        let altered = Certificate { digest: digest(&plain), ..certificate.clone() };
        assert!(matches!(verify(&plain, &altered), Err(Refusal::Format(_))));
    });
}

/// Sums, links, roundings, stairs: each is part of what the digest ties the proof to.
#[test]
fn proofs_of_altered_sums_and_stairs_are_refused() {
    let alterations: [fn(&mut Two); 6] = [
        |two| two.sums[0].constant += 1e-9,
        |two| two.sums[0].linear[3] -= 1e-9,
        |two| two.sums[1].link = SumLink::Softplus,
        |two| two.sums[1].rounding = 0.0,
        |two| two.sums[1].is_double = false,
        |two| {
            let mut trees = two.forest.trees().to_vec();
            if let Node::Split { rule, .. } = &mut trees[12].nodes[0] {
                *rule = Rule::Threshold(0.5);
            }
            let domains = vec![Domain::Integer { lower: 0.0, upper: (VALUES - 1) as f64 }; N];
            two.forest = Forest::new(trees, &domains).unwrap();
        },
    ];
    with_proofs(|problem, certificate, _| {
        let learned = problem.learned.unwrap();
        for alter in alterations {
            let mut other = two(problem.domains());
            alter(&mut other);
            let altered = Problem::new(problem.domains(), &other.forest, problem.objective())
                .with_learned(Learned { predictor: &other, sums: &other.sums, ..learned });
            assert_eq!(verify(&altered, certificate), Err(Refusal::OtherProblem));
        }
    });
}
