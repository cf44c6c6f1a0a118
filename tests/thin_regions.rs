//! Feasible regions that are a sliver of the box: every suggestion is a new point while there is room, and in few digits of the sliver, not of the box.

use leafgp::engine::{Context, Optimizer, Request};
use leafgp::history::Outcome;
use leafgp::problem::{Problem, Variable};
use leafgp_solver::constraints::Tolerance;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A problem whose feasible region has about a share of 1e-8 to 1e-2 of its box in one direction.
fn sliver(rng: &mut ChaCha8Rng) -> Problem {
    let share = 10f64.powf(-rng.random_range(2.0..8.0));
    let range = [1.0, 14.0, 300.0, 1e-3][rng.random_range(0..4)];
    let width = share * range;
    let low = range * f64::from(rng.random_range(1..90)) / 100.0;
    let mut builder = Problem::builder("sliver").variable(Variable::continuous("x", 0.0, range));
    builder = match rng.random_range(0..6) {
        0 => builder.constraint("window", format!("{low} <= x <= {low} + {width}")),
        1 => builder.constraint("ppm", format!("x <= {width}")),
        2 => builder.constraint("top", format!("x >= {range} - {width}")),
        3 => builder
            .variable(Variable::continuous("y", 0.0, range))
            .constraint("strip", format!("{range} <= x + y <= {range} + {width}")),
        4 => builder
            .variable(Variable::integer("n", 1, 3))
            .constraint("window", format!("{low} * n / 3 <= x <= {low} * n / 3 + {width}"))
            .constraint("one", "n == 2"),
        _ => builder
            .variable(Variable::continuous("y", 1e-6, 1.0).log())
            .constraint("window", format!("{low} <= x <= {low} + {width}"))
            .constraint("trace", format!("y <= 1e-6 * (1 + {share})")),
    };
    builder.build().unwrap_or_else(|e| panic!("{e}"))
}

fn batches(count: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut done = 0;
    while done < count {
        let problem = sliver(&mut rng).adjusted(|settings| settings.seed = rng.random()).unwrap();
        let mut optimizer = Optimizer::new(problem.clone());
        let mut taken: Vec<Vec<f64>> = Vec::new();
        let rounds = if done.is_multiple_of(5) { 3 } else { 2 };
        for round in 0..rounds {
            let n = rng.random_range(2..=4);
            let answer = optimizer.ask_for(&Request::default(), n, &Context::default()).unwrap();
            let (suggestions, ended) = (answer.suggestions, answer.fewer_because);
            let before = taken.clone();
            let text = || format!("{:?} after {before:?}", problem.expressions());
            assert_eq!(suggestions.len(), n, "{ended:?} {}", text());
            for suggestion in suggestions {
                let x = suggestion.point;
                assert!(problem.constraints().is_feasible(&x, Tolerance::Produce), "{x:?} {}", text());
                assert!(!taken.contains(&x), "round {round}: {x:?} again, {}", text());
                let outcome = if rng.random_bool(0.7) {
                    Outcome::Done(x.iter().sum::<f64>() + rng.random::<f64>())
                } else {
                    Outcome::Pending
                };
                optimizer.tell_outcome(&x, outcome).unwrap();
                taken.push(x);
            }
            done += 1;
        }
    }
}

#[test]
fn batches_in_thin_regions_repeat_no_point() {
    batches(60, 1);
}

/// Takes minutes.
#[test]
#[ignore = "1,000 batches: minutes"]
fn a_thousand_batches_in_thin_regions_repeat_no_point() {
    batches(1_000, 2);
}

#[test]
fn numbers_in_a_window_have_the_digits_of_the_window() {
    let problem = Problem::builder("window")
        .variable(Variable::continuous("ph", 0.0, 14.0))
        .constraint("window", "7.3 <= ph <= 7.3001")
        .build()
        .unwrap();
    let suggestions = Optimizer::new(problem).ask_many(5, &Context::default()).unwrap();
    let mut seen = Vec::new();
    for suggestion in suggestions {
        let x = suggestion.point[0];
        assert!((7.3..=7.3001).contains(&x) && !seen.contains(&x), "{x} after {seen:?}");
        assert!(x.to_string().len() <= "7.3000123".len(), "{x}: a thousandth of the window is 1e-7");
        seen.push(x);
    }
    assert_eq!(seen.len(), 5);
    let spread = seen.iter().fold(0.0_f64, |m, x| m.max(*x)) - seen.iter().fold(9.0_f64, |m, x| m.min(*x));
    assert!(spread > 5e-5, "they fill the window: {seen:?}");
}
