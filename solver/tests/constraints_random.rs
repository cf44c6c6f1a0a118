//! The engine against enumeration on random constraint sets over the whole grammar.

mod constraints_support;

use constraints_support::{Generator, points};
use leafgp_solver::constraints::Tolerance;
use leafgp_solver::{Range, Region};

/// Number of random sets of each test.
const SETS: u64 = 6_000;

#[test]
fn evaluation_agrees_with_the_definition() {
    let mut feasible = 0;
    for seed in 0..SETS {
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
    assert!(feasible > 10_000, "the generator makes too few feasible points: {feasible}");
}

#[test]
fn contraction_loses_no_feasible_point_and_never_widens() {
    let (mut shrunk, mut refuted, mut infeasible) = (0, 0, 0);
    for seed in 0..SETS {
        let mut generator = Generator::new(seed);
        let problem = generator.problem();
        let set = problem.build();
        let domains = problem.domains();
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
                for (new, old) in contracted.0.iter().zip(&region.0) {
                    match (new, old) {
                        (Range::Interval { lower: l, upper: u }, Range::Interval { lower, upper }) => {
                            assert!(l >= lower && u <= upper && l <= u);
                        }
                        (Range::Levels(new), Range::Levels(old)) => {
                            assert!(new.is_subset(old) && !new.is_empty())
                        }
                        _ => panic!("the kind of a range changed"),
                    }
                }
            }
        }
    }
    println!("shrunk {shrunk}, refuted {refuted} of {infeasible} infeasible boxes");
    assert!(shrunk > 1_000 && refuted * 10 > infeasible * 8);
}
