//! Slopes of violated constraints against differences of their amounts.

mod support;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Domain, Variable};
use support::generator::Generator;

/// The amount of a constraint, 0 where it holds.
fn amount(set: &Constraints, constraint: usize, x: &[f64]) -> f64 {
    set.amounts(x).iter().find(|v| v.constraint == constraint).map_or(0.0, |v| v.amount)
}

/// The slope by differences on both sides, when the two agree: there is no bend, no step and no edge between.
fn slope_by_differences(set: &Constraints, constraint: usize, x: &[f64], v: usize, step: f64) -> Option<f64> {
    let at = |by: f64| {
        let mut moved = x.to_vec();
        moved[v] += by;
        amount(set, constraint, &moved)
    };
    let (below, here, above) = (at(-step), at(0.0), at(step));
    let (left, right) = ((here - below) / step, (above - here) / step);
    let agree = (left - right).abs() <= 1e-3 * left.abs().max(right.abs()) + 1e-9;
    let is_inside = [below, above].iter().all(|amount| *amount > 0.0 && amount.is_finite());
    (agree && is_inside).then_some(0.5 * (left + right))
}

/// Checks the slopes of all numbers at a point, and returns how many there were.
fn check(set: &Constraints, domains: &[Domain], x: &[f64], text: &str) -> usize {
    let mut n_checked = 0;
    let all = set.linearised(x);
    assert_eq!(all.iter().map(|row| row.violation.clone()).collect::<Vec<_>>(), set.amounts(x), "{text}");
    for row in all {
        let Some(slopes) = row.slopes else { continue };
        for (v, domain) in domains.iter().enumerate() {
            if domain.is_categorical() {
                continue;
            }
            let step = 1e-6 * x[v].abs().max(0.1);
            if let Some(expected) = slope_by_differences(set, row.violation.constraint, x, v, step) {
                let scale = expected.abs().max(row.violation.amount / x[v].abs().max(1.0)).max(1e-6);
                assert!(
                    (slopes[v] - expected).abs() <= 5e-3 * scale,
                    "{text}\nvariable {v} at {x:?}: {slopes:?}, {expected}"
                );
                n_checked += 1;
            }
        }
    }
    n_checked
}

#[test]
fn slopes_of_every_operation_are_those_of_differences() {
    let texts = [
        "x + 2 * y - 3 <= 0 - 7",
        "(x - 1) * (y + 2) * x >= 100",
        "x / (y + 3) >= 9",
        "-(x - y / x) >= 1",
        "x ^ 3 - y ^ 2 <= -1",
        "x ^ -0.5 <= 0.01",
        "3 ^ y <= 0.01",
        "exp(x / 5) + log(x) - log10(y + 4) <= -1",
        "sqrt(x + y + 5) >= 7",
        "abs(x - 20) + abs(y) <= 1",
        "min(x, 4 * y) >= 13",
        "max(x * y, 7 - x, y) <= -5",
        "if(x > 5, x * x, y - x) <= -30",
        "x * y == 77",
        "x * y == -77",
        "not (x * y + 3 >= x - 44)",
        "x - 12 > y and x * y > 50 and y > 3 * x + 9",
        "not (x < 30 or y * x < 60)",
        "5 < x - y * y * 30 <= 6",
    ];
    let variable = |name: &str, lower: f64, upper: f64| Variable {
        name: name.into(),
        domain: Domain::Continuous { lower, upper },
        level_names: Vec::new(),
    };
    for text in texts {
        let mut builder =
            ConstraintsBuilder::new(vec![variable("x", 0.5, 10.0), variable("y", -2.0, 3.0)]).unwrap();
        builder.constrain("c", text).unwrap();
        let set = builder.build();
        let mut n_checked = 0;
        for x in [0.7, 2.3, 5.9, 8.1] {
            for y in [-1.7, -0.4, 0.9, 2.6] {
                n_checked += check(&set, set.domains(), &[x, y], text);
            }
        }
        assert!(n_checked >= 12, "{text}: {n_checked}");
    }
}

#[test]
fn slopes_of_random_sets_are_those_of_differences() {
    let mut n_checked = 0;
    for seed in 0..3_000 {
        let mut generator = Generator::new(seed);
        let problem = generator.problem();
        // Of steps the slope is the trend, which differences do not see.
        if problem.whole.is_some() || ["floor(", "ceil("].iter().any(|step| problem.text().contains(step)) {
            continue;
        }
        let (set, domains) = (problem.build(), problem.domains());
        for _ in 0..4 {
            let mut x = generator.point(&domains);
            // Beside the allowed values, where two amounts are hardly ever the same: such ties are bends.
            for (v, domain) in domains.iter().enumerate().filter(|(_, domain)| !domain.is_categorical()) {
                let (lower, upper) = domain.bounds();
                x[v] += 0.0137 * (v as f64 + 1.3).sqrt() * (upper - lower);
            }
            n_checked += check(&set, &domains, &x, &problem.text());
        }
    }
    assert!(n_checked > 3_000, "{n_checked}");
}

#[test]
fn what_is_no_comparison_has_no_slopes() {
    let mut builder = ConstraintsBuilder::new(vec![Variable {
        name: "x".into(),
        domain: Domain::Continuous { lower: -1.0, upper: 1.0 },
        level_names: Vec::new(),
    }])
    .unwrap();
    builder.constrain("logical", "x > 2 or x < -2").unwrap();
    builder.constrain("undefined", "log(x) >= -9").unwrap();
    builder.constrain("different", "x != -0.5").unwrap();
    let all = builder.build().linearised(&[-0.5]);
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|row| row.slopes.is_none()), "{all:?}");
}
