//! Rows over grids, whole numbers and lists are decided as they are written, not as f64 rounds them.

use leafgp_constraints::{
    Constraints, ConstraintsBuilder, Decision, Domain, Grid, Limits, Region, Tolerance, Variable,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn build(domains: &[Domain], constraints: &[String]) -> Constraints {
    let variable = |(i, domain): (usize, &Domain)| Variable {
        name: format!("x{i}"),
        domain: domain.clone(),
        level_names: Vec::new(),
    };
    let mut builder = ConstraintsBuilder::new(domains.iter().enumerate().map(variable).collect()).unwrap();
    for text in constraints {
        builder.constrain(text, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    builder.build()
}

/// 0, 0.1, ..., 0.9.
fn tenths() -> Domain {
    Domain::Grid(Grid::new(0, 1, 1, 10).unwrap())
}

fn decide(set: &Constraints) -> Decision {
    set.decide(&Region::full(set.domains()), Limits::default())
}

#[test]
fn coefficients_and_lists_are_the_decimals_that_were_written() {
    let three = |relation: &str| build(&[tenths()], &[format!("3 * x0 {relation} 0.3"), "x0 >= 0.1".into()]);
    assert_eq!(decide(&three("<=")), Decision::Feasible(vec![0.1]));
    assert_eq!(decide(&three("==")), Decision::Feasible(vec![0.1]));
    assert_eq!(three("<").violations(&[0.1], Tolerance::Judge)[0].amount, 0.0);
    // 0.9 instead of 0.3.
    assert!((three("<=").violations(&[0.3], Tolerance::Judge)[0].amount - 0.6).abs() < 1e-12);
    let list = Domain::Discrete(vec![0.1, 0.2, 0.7]);
    let both = build(&[list.clone(), list], &["x0 + x1 <= 0.3".into(), "x0 + x1 >= 0.3".into()]);
    for x in [[0.1, 0.2], [0.2, 0.1]] {
        assert!(both.is_feasible(&x, Tolerance::Produce), "{x:?}");
    }
    assert!(matches!(decide(&both), Decision::Feasible(_)));
    assert_eq!(both.violations(&[0.1, 0.1], Tolerance::Judge).len(), 1);
}

#[test]
fn whole_rows_near_a_thousand_million_are_exact() {
    let whole = Domain::Integer { lower: 0.0, upper: 1e9 };
    let set = build(&[whole.clone(), whole], &["x0 + x1 == 1000000001".into()]);
    assert!(set.is_feasible(&[1e9, 1.0], Tolerance::Produce));
    assert!(!set.is_feasible(&[1e9, 2.0], Tolerance::Produce));
    assert!(!set.is_feasible(&[1e9, 2.0], Tolerance::Judge));
}

/// Random rows with random decimals, against integer arithmetic of the test's own, at every point of small grids and lists.
#[test]
fn random_rows_agree_with_integers() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut ties = 0;
    for _ in 0..300 {
        // Values in hundredths.
        let lists: Vec<Vec<i64>> = (0..3)
            .map(|_| {
                let mut list: Vec<i64> = (0..3).map(|_| rng.random_range(-99..200)).collect();
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        let values = |list: &Vec<i64>| list.iter().map(|&v| v as f64 / 100.0).collect::<Vec<f64>>();
        if lists.iter().any(|l| l.len() < 2) {
            continue;
        }
        // Coefficients in thousandths; the right side meets one of the points.
        let coefficients: Vec<i64> = (0..3).map(|_| rng.random_range(-3000..3000)).collect();
        let meets: i64 =
            (0..3).map(|i| coefficients[i] * lists[i][rng.random_range(0..lists[i].len())]).sum();
        let relation = ["<=", ">=", "==", "<"][rng.random_range(0..4)];
        let terms: Vec<String> =
            (0..3).map(|i| format!("{} * x{i}", coefficients[i] as f64 / 1000.0)).collect();
        let text = format!("{} {relation} {}", terms.join(" + "), meets as f64 / 1e5);
        let domains: Vec<Domain> = lists.iter().map(|l| Domain::Discrete(values(l))).collect();
        let set = build(&domains, std::slice::from_ref(&text));
        let mut any = false;
        for a in &lists[0] {
            for b in &lists[1] {
                for c in &lists[2] {
                    let sum = coefficients[0] * a + coefficients[1] * b + coefficients[2] * c - meets;
                    let holds = match relation {
                        "<=" => sum <= 0,
                        ">=" => sum >= 0,
                        "==" => sum == 0,
                        _ => sum < 0,
                    };
                    ties += i32::from(sum == 0);
                    any |= holds;
                    let x = [*a as f64 / 100.0, *b as f64 / 100.0, *c as f64 / 100.0];
                    for tolerance in [Tolerance::Produce, Tolerance::Judge] {
                        assert_eq!(set.is_feasible(&x, tolerance), holds, "{text} at {x:?}");
                    }
                }
            }
        }
        match decide(&set) {
            Decision::Feasible(_) => assert!(any, "{text}"),
            Decision::Infeasible => assert!(!any, "{text}"),
            Decision::Undecided(reason) => panic!("{text}: {reason}"),
        }
    }
    assert!(ties > 250, "only {ties} ties");
}

/// What cancels on paper does not count, whatever f64 makes of it: 1 - 0.2 - 1 > -0.2.
#[test]
fn steps_that_cancel_leave_no_rounding() {
    let fifths = Domain::Grid(Grid::new(-6, 2, 1, 7).unwrap());
    let whole = Domain::Integer { lower: 0.0, upper: 1.0 };
    let holds = |rule: &str, x: [f64; 3]| {
        let domains = [fifths.clone(), whole.clone(), whole.clone()];
        build(&domains, &[rule.to_string()]).is_feasible(&x, Tolerance::Produce)
    };
    assert!(!holds("(x1 + x0) - x2 > x0", [-0.2, 1.0, 1.0]));
    assert!(holds("(x1 + x0) - x2 == x0", [-0.2, 1.0, 1.0]));
    assert!(holds("(x1 + x0) - x2 > x0", [-0.2, 1.0, 0.0]));
    assert!(holds("x0 + 0.1 - x0 <= 0.1", [0.6, 0.0, 0.0]));
}

/// Named are comparisons of steps, lists and whole numbers whose arithmetic f64 rounds, once each, and no others.
#[test]
fn rows_that_f64_decides_are_named() {
    let variable = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let tenths = || Domain::Grid(Grid::new(0, 1, 1, 11).unwrap());
    let variables = vec![
        variable("a", tenths()),
        variable("b", tenths()),
        variable("n", Domain::Integer { lower: 0.0, upper: 1e9 }),
        variable("l", Domain::Discrete(vec![0.1, 0.25, 1.0 / 3.0])),
        variable("x", Domain::Continuous { lower: 0.0, upper: 1.0 }),
    ];
    let named = |rule: &str| {
        let mut builder = ConstraintsBuilder::new(variables.clone()).unwrap();
        builder.constrain("before", "a + b <= 1.3").unwrap();
        builder.constrain("rule", rule).unwrap();
        builder.build().decided_in_floats()
    };
    for exact in [
        "a + 0.25*b <= 0.3",
        "n * n == 49 or n^3 >= 1000",
        "abs(n - 5) <= 3 implies a == 0.3",
        "a*x + b <= 0.3",
        "l <= 0.3",
        "a == b",
        "count(a > 0, b > 0) == 1",
    ] {
        assert_eq!(named(exact), [], "{exact}");
    }
    for rounded in [
        "a * b <= 0.3",
        "a / 3 + b <= 0.3 and a * b >= 0.1",
        "a + l <= 0.5",
        "n / 3 == 7",
        "not (x > 0.5 and sqrt(a) > b)",
        "if(a * b > 0.3, x, 2*x) <= 0.5",
        "0.0000000001 * a <= 1e-11",
    ] {
        assert_eq!(named(rounded), [1], "{rounded}");
    }
}

#[test]
fn amounts_are_those_of_violations_but_for_what_decimals_decide() {
    let real = Domain::Continuous { lower: 0.0, upper: 1.0 };
    let set = build(&[real.clone(), real], &["x0 - x1 >= 0.1".into(), "x0 <= 0.5".into()]);
    // 0.3 - 0.2 is 0.09999999999999998 in f64.
    assert_eq!(set.violations(&[0.3, 0.2], Tolerance::Produce), []);
    let amounts = set.amounts(&[0.3, 0.2]);
    assert!(amounts.len() == 1 && amounts[0].constraint == 0 && amounts[0].amount < 1e-16, "{amounts:?}");
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for _ in 0..1000 {
        let x = [rng.random_range(0.0..1.0), rng.random_range(0.0..1.0)];
        assert_eq!(set.amounts(&x), set.violations(&x, Tolerance::Produce), "{x:?}");
    }
}
