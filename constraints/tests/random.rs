//! The engine against enumeration on random constraint sets over the whole grammar. More of them:
//! `cargo test --release -p leafgp-constraints --test random -- --ignored`.

mod support;

use std::ops::Range;

use leafgp_constraints::{Decision, Limits, Propagator, Tolerance};
use leafgp_constraints::{Range as Bounds, Region};
use support::generator::Generator;
use support::points;

/// Seeds of the quick tests and of the long ones.
const QUICK: Range<u64> = 0..2_000;
const MANY: Range<u64> = 2_000..20_000;

#[test]
fn evaluation_agrees_with_the_definition() {
    let feasible = evaluate(QUICK);
    assert!(feasible > 3_000, "the generator makes too few feasible points: {feasible}");
}

#[test]
fn contraction_loses_no_feasible_point_and_never_widens() {
    contract(QUICK);
}

#[test]
fn decide_and_project_agree_with_enumeration() {
    decide_and_project(QUICK);
}

#[test]
#[ignore = "minutes"]
fn many_random_sets_agree_with_enumeration() {
    evaluate(MANY);
    contract(MANY);
    decide_and_project(MANY);
}

fn evaluate(seeds: Range<u64>) -> usize {
    let mut feasible = 0;
    for seed in seeds {
        let problem = Generator::new(seed).problem();
        let set = problem.build();
        let domains = problem.domains();
        for x in points(&domains, &Region::full(&domains)).iter().take(200) {
            let expected = problem.feasible(x);
            feasible += usize::from(expected);
            assert_eq!(
                set.is_feasible(x, Tolerance::Produce),
                expected,
                "seed {seed} at {x:?}:\n{}",
                problem.text()
            );
        }
    }
    feasible
}

fn contract(seeds: Range<u64>) {
    let sets = (seeds.end - seeds.start) as usize;
    let (mut shrunk, mut refuted, mut infeasible) = (0, 0, 0);
    for seed in seeds {
        let mut generator = Generator::new(seed);
        let problem = generator.problem();
        let set = problem.build();
        let domains = problem.domains();
        let mut propagator = Propagator::new(&set);
        for region in [Region::full(&domains), generator.region(&domains)] {
            let inside: Vec<_> =
                points(&domains, &region).into_iter().filter(|x| problem.feasible(x)).collect();
            let mut contracted = region.clone();
            let possible = set.contract(&mut contracted);
            refuted += usize::from(!possible);
            infeasible += usize::from(inside.is_empty());
            assert!(possible || inside.is_empty(), "seed {seed}: {:?} lost:\n{}", inside[0], problem.text());
            if possible {
                for x in &inside {
                    assert!(
                        contracted.contains(x),
                        "seed {seed}: {x:?} lost, {contracted:?}:\n{}",
                        problem.text()
                    );
                }
                shrunk += usize::from(contracted != region);
                // Incrementally, after one variable was cut.
                let v = seed as usize % domains.len();
                let mut cut = contracted.clone();
                match &mut cut.0[v] {
                    Bounds::Interval { lower, upper } => *upper = 0.5 * *lower + 0.5 * *upper,
                    Bounds::Levels(levels) => {
                        let first = levels.first().unwrap();
                        levels.remove(first);
                    }
                }
                let kept: Vec<_> = inside.iter().filter(|x| cut.contains(x)).collect();
                let possible = !cut.0[v].is_empty() && propagator.contract(&set, &mut cut, Some(&[v]));
                assert!(possible || kept.is_empty(), "seed {seed}: {:?} lost:\n{}", kept[0], problem.text());
                if possible {
                    assert!(kept.iter().all(|x| cut.contains(x)), "seed {seed}:\n{}", problem.text());
                }
                for (new, old) in contracted.0.iter().zip(&region.0) {
                    match (new, old) {
                        (Bounds::Interval { lower: l, upper: u }, Bounds::Interval { lower, upper }) => {
                            assert!(l >= lower && u <= upper && l <= u);
                        }
                        (Bounds::Levels(new), Bounds::Levels(old)) => {
                            assert!(new.is_subset(old) && !new.is_empty());
                        }
                        _ => panic!("the kind of a range changed"),
                    }
                }
            }
        }
    }
    println!("shrunk {shrunk}, refuted {refuted} of {infeasible} infeasible boxes");
    assert!(shrunk * 6 > sets && refuted * 10 > infeasible * 8);
}

fn decide_and_project(seeds: Range<u64>) {
    let (mut found, mut proved, mut undecided, mut open, mut nodes_capped) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let mut generator = Generator::new(seed);
        let problem = generator.problem();
        let set = problem.build();
        let domains = problem.domains();
        let limits = Limits { nodes: 2_000, ..Limits::default() };
        for region in [Region::full(&domains), generator.region(&domains)] {
            let inside: Vec<_> =
                points(&domains, &region).into_iter().filter(|x| problem.feasible(x)).collect();
            match set.decide(&region, limits.clone()) {
                Decision::Feasible(x) => {
                    found += 1;
                    assert!(
                        problem.feasible(&x) && region.contains(&x),
                        "seed {seed}: {x:?}\n{}",
                        problem.text()
                    );
                }
                Decision::Infeasible => {
                    proved += 1;
                    assert!(inside.is_empty(), "seed {seed}: {:?} was lost\n{}", inside[0], problem.text());
                }
                Decision::Undecided(reason) => {
                    undecided += 1;
                    println!(
                        "seed {seed} undecided ({reason}), {} feasible:\n{}",
                        inside.len(),
                        problem.text()
                    );
                }
            }
            let centre = generator.point(&domains);
            let distance = |x: &[f64]| -> f64 {
                let terms = domains.iter().zip(x).zip(&centre).map(|((d, a), c)| {
                    let (l, u) = d.bounds();
                    match d {
                        leafgp_constraints::Domain::Categorical { .. } => f64::from(u8::from(a != c)),
                        _ if a == c => 0.0,
                        _ => ((a - c) / (u - l)).powi(2),
                    }
                });
                terms.sum()
            };
            let best = inside.iter().map(|x| distance(x)).fold(f64::INFINITY, f64::min);
            let projection = set.project(&region, &centre, 1e-4, limits.clone());
            let context = || {
                format!(
                    "seed {seed}: {projection:?}, best {best} from {centre:?} in {region:?}\n{}",
                    problem.text()
                )
            };
            assert!(projection.bound <= best + 1e-12, "{}", context());
            if let Some((x, d)) = &projection.nearest {
                assert!(problem.feasible(x) && region.contains(x), "{}", context());
                assert!((distance(x) - d).abs() <= 1e-12, "{}", context());
                if projection.bound >= d * (1.0 - 1e-4) - 1e-12 {
                    assert!(*d <= best * (1.0 + 2e-4) + 1e-12, "{}", context());
                } else {
                    open += 1;
                    println!("open {}", context());
                }
            } else if projection.bound < f64::INFINITY {
                nodes_capped += 1;
                println!("nothing {}", context());
            }
        }
    }
    println!(
        "found {found}, proved {proved}, undecided {undecided}; projections open {open}, without point {nodes_capped}"
    );
    assert_eq!((undecided, open, nodes_capped), (0, 0, 0));
}

#[test]
fn conflicts_are_irreducible_and_redundant_constraints_follow() {
    let (mut conflicts, mut redundant) = (0, 0);
    for seed in 0..800 {
        let problem = Generator::new(seed).problem();
        let set = problem.build();
        let domains = problem.domains();
        let all = points(&domains, &Region::full(&domains));
        let holds =
            |c: usize, x: &[f64]| set.violations(x, Tolerance::Produce).iter().all(|v| v.constraint != c);
        let any = |chosen: &[usize]| all.iter().any(|x| chosen.iter().all(|&c| holds(c, x)));
        let everything: Vec<usize> = (0..set.len()).collect();
        match set.conflict(Limits::default()) {
            Some(conflict) => {
                conflicts += 1;
                assert!(!any(&conflict), "seed {seed}:\n{}", problem.text());
                for c in &conflict {
                    let fewer: Vec<usize> = conflict.iter().copied().filter(|k| k != c).collect();
                    assert!(any(&fewer), "seed {seed}: {conflict:?} is reducible\n{}", problem.text());
                }
            }
            None => assert!(any(&everything), "seed {seed}:\n{}", problem.text()),
        }
        for c in set.always_true() {
            assert!(all.iter().all(|x| holds(c, x)), "seed {seed}: {c}\n{}", problem.text());
        }
        let dropped = set.redundant(Limits { nodes: 500, ..Limits::default() });
        redundant += dropped.len();
        let kept: Vec<usize> = everything.iter().copied().filter(|c| !dropped.contains(c)).collect();
        for x in &all {
            let feasible = kept.iter().all(|&c| holds(c, x));
            assert!(
                !feasible || dropped.iter().all(|&c| holds(c, x)),
                "seed {seed} {dropped:?}\n{}",
                problem.text()
            );
        }
    }
    assert!(conflicts > 150 && redundant > 50, "{conflicts} {redundant}");
}
