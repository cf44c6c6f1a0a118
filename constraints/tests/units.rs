//! Rules mean the same in every unit: tolerances are relative to the size of a rule's terms.

use leafgp_constraints::{
    Constraints, ConstraintsBuilder, Decision, Domain, Limits, Range, Region, Tolerance, Variable,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Every kind of rule over `x` and `y` in `[0, 1]` of the unit; `{c:p}` stands for the number `c` times the unit to the power `p`, `@` and `#` for braces.
const RULES: [&str; 37] = [
    "x + y == {0.7:1}",
    "x - y == 0",
    "2*x - 3*y == {0.125:1}",
    "x + 2*y <= {0.7:1}",
    "x >= y",
    "(x + y - {0.75:1}) * (x + {1:1}) == 0",
    "x^2 + y^2 == {0.5:2}",
    "x^2 + y^2 <= {0.5:2}",
    "(x - {0.3:1})^2 + (y - {0.5:1})^2 <= {0.01:2}",
    "x * y == {0.1:2}",
    "x * y >= {0.1:2}",
    "x*x*y == {0.1:3}",
    "x / (y + {0.25:1}) == 0.5",
    "x / (x + y + {0.25:1}) <= 0.3",
    "x^3 == {0.2:3}",
    "x^1.5 <= {0.3:1.5}",
    "(x + {0.5:1})^-1 == {1.25:-1}",
    "sqrt(x + y) == {0.75:0.5}",
    "exp(x / {1:1}) <= 1.5",
    "exp(-y / {1:1}) == 0.5",
    "log((x + y) / {1:1}) == -0.25",
    "log10((x + {0.5:1}) / (y + {0.5:1})) <= 0.1",
    "abs(x - y) <= {0.1:1}",
    "abs(x - y) == {0.25:1}",
    "max(x, y) == {0.8:1}",
    "min(x, 2*y) >= {0.2:1}",
    "max(x, y) - min(x, y) == {0.3:1}",
    "x >= {0.5:1} implies y <= {0.3:1}",
    "x <= {0.3:1} or y == {0.8:1}",
    "x > {0.5:1} iff y > {0.5:1}",
    "not (x <= {0.4:1} and y <= {0.4:1})",
    "count(x > {0.2:1}, y > {0.2:1}, x + y > {1.2:1}) == 2",
    "if(x > y, x, 2*y) == {0.6:1}",
    "x < {0.5:1}",
    "x + y > {0.9:1} and x != y",
    "x in @0, {0.25:1}..{0.5:1}#",
    "{0.2:1} <= x - y <= {0.3:1}",
];

/// The rule with its numbers in a unit.
fn in_unit(rule: &str, unit: f64) -> String {
    let mut text = String::new();
    let mut rest = rule;
    while let Some((before, after)) = rest.split_once('{') {
        let (number, after) = after.split_once('}').unwrap();
        let (c, power) = number.split_once(':').unwrap();
        let (c, power): (f64, f64) = (c.parse().unwrap(), power.parse().unwrap());
        text += before;
        text += &format!("{}", c * unit.powf(power));
        rest = after;
    }
    (text + rest).replace('@', "{").replace('#', "}")
}

fn variable(name: &str, domain: Domain) -> Variable {
    Variable { name: name.into(), domain, level_names: Vec::new() }
}

fn set(rule: &str, unit: f64) -> Constraints {
    let domain = || Domain::Continuous { lower: 0.0, upper: unit };
    let mut builder =
        ConstraintsBuilder::new(vec![variable("x", domain()), variable("y", domain())]).unwrap();
    let text = in_unit(rule, unit);
    builder.constrain("rule", &text).unwrap_or_else(|e| panic!("{text}: {e}"));
    builder.build()
}

const TOLERANCES: [Tolerance; 4] =
    [Tolerance::Produce, Tolerance::Rounded, Tolerance::Judge, Tolerance::Rows { equality: 1e-3 }];

/// The verdicts at a point.
fn verdicts(set: &Constraints, x: &[f64]) -> [bool; 4] {
    TOLERANCES.map(|tolerance| set.violations(x, tolerance).is_empty())
}

/// Feasible points of the rule in the unit one, and points beside them by shares from a rounding to a tenth, whole boxes of them.
fn points(rule: &str, rng: &mut ChaCha8Rng) -> Vec<[f64; 2]> {
    let unit = set(rule, 1.0);
    let mut points = vec![[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]];
    for _ in 0..40 {
        let mut region = Region::full(unit.domains());
        let (at, free) = (rng.random::<f64>(), rng.random_range(0..3));
        if free < 2 {
            region.0[free] = Range::Interval { lower: 0.9 * at, upper: at };
        }
        let limits = Limits { nodes: 200, ..Limits::default() };
        let Decision::Feasible(x) = unit.decide(&region, limits) else { continue };
        points.push([x[0], x[1]]);
        for share in [1e-15, 3e-10, 3e-9, 1e-7, 3e-6, 1e-4, 3e-3, 0.1] {
            let moved = [0, 1].map(|v: usize| x[v] * (1.0 + share * rng.random_range(-1.0..1.0)));
            points.push(moved.map(|v| v.clamp(0.0, 1.0)));
        }
    }
    points
}

/// Powers of two scale f64 arithmetic without any rounding: the verdicts are the same to the last point.
#[test]
fn verdicts_are_the_same_in_every_unit() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for rule in RULES {
        let one = set(rule, 1.0);
        let points = points(rule, &mut rng);
        let mut counts = [[0_usize; 2]; 4];
        for exponent in [-40, -30, -10, 10, 30, 40] {
            let unit = 2f64.powi(exponent);
            let scaled = set(rule, unit);
            // The library's powers may round otherwise elsewhere, and a unit's root is no power of two.
            let is_exact = !rule.contains("1.5") && !rule.contains("sqrt");
            for x in &points {
                let (here, there) = (verdicts(&one, x), verdicts(&scaled, &x.map(|v| v * unit)));
                for k in 0..4 {
                    counts[k][usize::from(here[k])] += 1;
                    let is_border = !is_exact && {
                        let around = [1.0 - 1e-12, 1.0 + 1e-12].map(|f| verdicts(&one, &x.map(|v| v * f))[k]);
                        around[0] != around[1] || here[k] != around[0]
                    };
                    assert!(here[k] == there[k] || is_border, "`{rule}` at {x:?}, unit {unit:e}, {k}");
                }
            }
        }
        assert!(counts.iter().all(|[no, yes]| *no > 0 && *yes > 0), "`{rule}`: {counts:?}");
    }
}

/// In decimal units, where numbers do round: feasible points stay within every contraction of a box that holds them, what is decided and projected is
/// feasible, and there are points where there were some.
#[test]
fn contraction_and_search_agree_with_the_judge_in_every_unit() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for rule in RULES {
        let points = points(rule, &mut rng);
        for exponent in [-12, -9, -6, -3, 0, 3, 6, 9, 12] {
            let unit = 10f64.powi(exponent);
            let set = set(rule, unit);
            let mut kept = 0;
            for x in &points {
                let x: Vec<f64> = x.iter().map(|v| (v * unit).min(unit)).collect();
                if !set.is_feasible(&x, Tolerance::Produce) {
                    continue;
                }
                kept += 1;
                let width = unit * [0.0, 1e-9, 1e-3, 1.0][rng.random_range(0..4)];
                let around = |&v: &f64| {
                    let lower = (v - width * rng.random::<f64>()).max(0.0);
                    Range::Interval { lower, upper: (v + width * rng.random::<f64>()).clamp(v, unit) }
                };
                let mut region = Region(x.iter().map(around).collect());
                let before = region.clone();
                assert!(
                    set.contract(&mut region) && region.contains(&x),
                    "`{rule}`: {x:?} lost in {before:?}"
                );
                let decision = set.decide(&before, Limits { nodes: 300, ..Limits::default() });
                assert_ne!(decision, Decision::Infeasible, "`{rule}`: {x:?} in {before:?}");
            }
            assert!(kept > 0, "`{rule}`, unit {unit:e}");
            let limits = || Limits { nodes: 2000, ..Limits::default() };
            let Decision::Feasible(x) = set.decide(&Region::full(set.domains()), limits()) else {
                panic!("`{rule}`, unit {unit:e}: nothing found");
            };
            assert!(set.is_feasible(&x, Tolerance::Produce) && set.is_feasible(&x, Tolerance::Judge));
            let centre: Vec<f64> = (0..2).map(|_| unit * rng.random::<f64>()).collect();
            let near = set.project(&Region::full(set.domains()), &centre, 1e-3, limits());
            let (near, distance) =
                near.nearest.unwrap_or_else(|| panic!("`{rule}`, unit {unit:e}: no projection"));
            assert!(set.is_feasible(&near, Tolerance::Produce) && distance >= 0.0);
        }
    }
}

/// By hand, `1e-9 max(|terms|)` and nothing else.
#[test]
fn tolerances_by_hand() {
    let holds = |rule: &str, unit: f64, x: [f64; 2], tolerance| {
        set(rule, unit).violations(&x.map(|v| v * unit), tolerance).is_empty()
    };
    for unit in [1e-12, 1.0, 1e12] {
        let produce = |rule, x| holds(rule, unit, x, Tolerance::Produce);
        assert!(produce("x + y == {0.7:1}", [0.35, 0.35 + 6.9e-10]));
        assert!(!produce("x + y == {0.7:1}", [0.35, 0.35 + 7.1e-10]));
        // The larger of the two, not the difference.
        assert!(produce("x - y == 0", [0.5, 0.5 + 4.9e-10]) && !produce("x - y == 0", [0.5, 0.5 + 5.1e-10]));
        // Both factors' sizes, the larger of the terms of a sum.
        assert!(produce("(x + y) * x == {0.5:2}", [0.5, 0.5 + 0.9e-9]));
        assert!(!produce("(x + y) * x == {0.5:2}", [0.5, 0.5 + 1.1e-9]));
        // A value near zero of a range with zero: a billionth of the range.
        assert!(produce("x == 0", [0.9e-18, 0.0]) && !produce("x == 0", [1.1e-18, 0.0]));
        let judge = |rule, x| holds(rule, unit, x, Tolerance::Judge);
        assert!(
            judge("x + y <= {0.2:1}", [0.1, 0.1 + 1.9e-7]) && !judge("x + y <= {0.2:1}", [0.1, 0.1 + 2.1e-7])
        );
        assert!(!holds("x < {0.5:1}", unit, [0.5, 0.0], Tolerance::Judge));
    }
}

/// Water's ion product over ten decades of a logarithmic range, a sum of moles, a cap on moles: numbers of a plant, none near one.
#[test]
fn small_units_of_a_plant() {
    let pair = |lower: f64, upper: f64, rule: &str| {
        let domain = || Domain::Continuous { lower, upper };
        let mut builder =
            ConstraintsBuilder::new(vec![variable("h", domain()), variable("oh", domain())]).unwrap();
        builder.constrain("rule", rule).unwrap();
        builder.build()
    };
    let water = pair(1e-12, 1e-2, "h * oh == 1e-14");
    for (h, oh, holds) in
        [(1e-7, 1e-7, true), (1e-7, 0.6e-7, false), (1e-12, 9.4, false), (3e-12, 1e-14 / 3e-12, true)]
    {
        assert_eq!(water.violations(&[h, oh], Tolerance::Produce).is_empty(), holds, "{h} {oh}");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..50 {
        let centre = [0, 1].map(|_| 10f64.powf(rng.random_range(-12.0..-2.0)));
        let full = Region::full(water.domains());
        let near = water.project(&full, &centre, 1e-3, Limits { nodes: 5000, ..Limits::default() });
        let (x, _) = near.nearest.unwrap();
        assert!((x[0] * x[1] / 1e-14 - 1.0).abs() <= 1.1e-9, "{x:?}");
    }
    let moles = pair(0.0, 1e-9, "h + oh == 7e-10");
    assert!(!moles.is_feasible(&[5e-10, 5e-10], Tolerance::Judge));
    assert!(moles.is_feasible(&[5e-10, 2e-10], Tolerance::Produce));
    let Decision::Feasible(x) = moles.decide(&Region::full(moles.domains()), Limits::default()) else {
        panic!()
    };
    assert!(((x[0] + x[1]) / 7e-10 - 1.0).abs() <= 1.1e-9, "{x:?}");
    let cap = pair(0.0, 1e-6, "h + oh <= 2e-7");
    let rows = Tolerance::Rows { equality: 1e-3 };
    let judged = [[5e-7, 5e-7], [1e-7, 0.0], [9e-7, 3e-7]].map(|x| cap.violations(&x, rows).is_empty());
    assert_eq!(judged, [false, true, false]);
    // Alternatives with small thresholds.
    let either = pair(0.0, 1e-6, "h <= 1e-9 or oh <= 1e-9");
    assert!(!either.is_feasible(&[5e-9, 5e-9], Tolerance::Judge));
    assert!(either.is_feasible(&[5e-9, 1e-9], Tolerance::Judge));
    let then = pair(0.0, 1e-6, "h == 2e-8 implies oh == 3e-8");
    assert!(then.is_feasible(&[3e-8, 9e-7], Tolerance::Produce));
    assert!(!then.is_feasible(&[2e-8, 3.1e-8], Tolerance::Produce));
}

/// Streams of a network that are empty, complementary pairs, sums of squares that vanish: terms that may all be zero at once leave no tolerance, and points
/// are found all the same.
#[test]
fn points_with_zero_terms_are_found() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let cases: [(usize, f64, f64, &[&str]); 8] = [
        (2, -1.0, 1.0, &["x0 * x1 == 0"]),
        (2, -1.0, 1.0, &["x0^2 + x1^2 == 0"]),
        (5, 0.0, 1.0, &["x0 + x1 == x2", "x4 * x2 == 0.1*x0 + 0.7*x1", "x2 + x3 == 1", "x0 <= 0.3"]),
        (6, 0.0, 100.0, &["x0 + x1 == x2 + x3", "x2*x4 + x3*x5 == 3*x0 + x1", "x4 <= 2.5", "x2 + x4 == x5"]),
        (4, 0.0, 1.0, &["x0 == x1 * x2", "x3 == x0 * x1", "x3 <= 0.0001", "x1 + x2 == 1"]),
        (3, 0.0, 1.0, &["(x0 + x1 - 0.5) * x2 == 0", "x2 + x1 >= 0.7"]),
        (3, 0.0, 10.0, &["x0 * x1 == x2 * x2", "x0 + x1 + x2 == 10"]),
        (2, 0.0, 1.0, &["x0 + x1 == 7e-10"]),
    ];
    for (n, lower, upper, rules) in cases {
        let name = |v| variable(&format!("x{v}"), Domain::Continuous { lower, upper });
        let mut builder = ConstraintsBuilder::new((0..n).map(name).collect()).unwrap();
        rules.iter().for_each(|rule| builder.constrain(rule, rule).unwrap());
        let set = builder.build();
        let full = Region::full(set.domains());
        for _ in 0..30 {
            let centre: Vec<f64> = (0..n)
                .map(|_| if rng.random_bool(0.3) { lower } else { rng.random_range(lower..upper) })
                .collect();
            let limits = Limits { nodes: 400, ..Limits::default() };
            let (x, _) =
                set.project(&full, &centre, 1e-3, limits).nearest.unwrap_or_else(|| panic!("{rules:?}"));
            assert!(set.is_feasible(&x, Tolerance::Produce));
            // Noise of a spreadsheet.
            let noisy: Vec<f64> = x.iter().map(|&v| if v == 0.0 { 5.6e-17 * upper } else { v }).collect();
            assert!(set.violations(&noisy, Tolerance::Judge).is_empty(), "{rules:?} at {noisy:?}");
        }
    }
}

fn whole(texts: &[&str], largest: f64) -> Constraints {
    let domain = || Domain::Integer { lower: -largest, upper: largest };
    let variables = ["n", "m", "k"].map(|name| variable(name, domain())).to_vec();
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    texts.iter().for_each(|text| builder.constrain(text, text).unwrap());
    builder.build()
}

/// Off by one is off, however large the numbers: values from exact arithmetic of `i128`.
#[test]
fn whole_numbers_are_exact() {
    let billion = 1e9;
    for tolerance in TOLERANCES {
        let holds = |text: &str, x: [f64; 3]| whole(&[text], 9e15).violations(&x, tolerance).is_empty();
        for off in -2..=2 {
            let off = f64::from(off);
            assert_eq!(holds("n + m == 2000000000", [billion, billion + off, 0.0]), off == 0.0);
            assert_eq!(holds("n + m <= 2000000000", [billion, billion + off, 0.0]), off <= 0.0);
            assert_eq!(holds("n + m < 2000000000", [billion, billion + off, 0.0]), off < 0.0);
            assert_eq!(holds("n * m == k", [3e7 + 1.0, 3e7 - 1.0, 9e14 - 1.0 + off]), off == 0.0);
            // (1e9 + 7)(1e9 + 9) = 1e18 + 16e9 + 63: no f64 tells it from its neighbours.
            assert_eq!(holds("n * m == k * k + 16*k + 63", [1e9 + 7.0, 1e9 + 9.0, 1e9 + off]), off == 0.0);
            assert_eq!(holds("n * m <= k * k + 16*k + 62", [1e9 + 7.0, 1e9 + 9.0, 1e9 + off]), off > 0.0);
            let cubes = whole(&["n^3 - m^3 == 1 + 3*m*(m + 1)"], 1e9);
            let at = [1e8 + 1.0, 1e8 + off, 0.0];
            assert_eq!(cubes.violations(&at, tolerance).is_empty(), off == 0.0);
            assert_eq!(holds("max(n, abs(m)) * k == n * k", [1e9, -1e9 - off, 1e9]), off <= 0.0);
            assert_eq!(holds("not (n * m != k * m)", [1e9, 1e9, 1e9 + off]), off == 0.0);
            assert_eq!(holds("count(n > 0, m > 0) * k == n + m", [1e9, 1e9 + off, 1e9]), off == 0.0);
        }
    }
    // A measured row beside whole numbers is no whole-number row.
    let rows = Tolerance::Rows { equality: 1e-3 };
    assert!(whole(&["n + m == 10"], 100.0).violations(&[5.001, 5.0, 0.0], rows).is_empty());
}

/// Random rows of products and sums: decided as `i128` does, contraction keeps every solution, and what is called infeasible has none.
#[test]
fn random_whole_rows_agree_with_exact_arithmetic() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let mut equal = 0;
    for _ in 0..300 {
        let [a, b, c] = [(); 3].map(|()| rng.random_range(-2_000_000_000_i64..2_000_000_000));
        let (p, q) = (rng.random_range(-9_i64..10), rng.random_range(-9_i64..10));
        let left = i128::from(a) * i128::from(b) + i128::from(p) * i128::from(c);
        let right = left + i128::from(rng.random_range(-1_i64..2)) - i128::from(q) * i128::from(a);
        // The constant is spelt as a sum of exact f64.
        let (high, low) = (right / 1_000_000_000, right % 1_000_000_000);
        let text = format!("n*m + {p}*k - {q}*n == {high} * 1000000000 + m - {b} + {low}");
        let text = text.replace("1000000000 +", "(1000000000 + 0*n) +");
        let set = whole(&[&text], 3e9);
        let x = [a, b, c].map(|v| v as f64);
        let holds = left - i128::from(q) * i128::from(a) == right;
        equal += u32::from(holds);
        assert_eq!(set.is_feasible(&x, Tolerance::Produce), holds, "{text} at {x:?}");
        assert_eq!(set.is_feasible(&x, Tolerance::Judge), holds, "{text} at {x:?}");
        let width = f64::from(rng.random_range(0..3));
        let box_of = |x: &[f64]| {
            Region(x.iter().map(|v| Range::Interval { lower: v - width, upper: v + width }).collect())
        };
        let mut region = box_of(&x);
        if holds {
            assert!(set.contract(&mut region) && region.contains(&x), "{text} loses {x:?}");
        }
        let decision = set.decide(&box_of(&x), Limits { nodes: 500, ..Limits::default() });
        assert!(!(holds && decision == Decision::Infeasible), "{text} at {x:?}");
        if width == 0.0 && !holds {
            assert!(!matches!(decision, Decision::Feasible(_)), "{text} at {x:?}");
        }
    }
    assert!(equal > 50, "{equal}");
}

/// A quantity that must be whole is not whole for being large.
#[test]
fn large_quantities_are_not_whole_for_their_size() {
    let domain = Domain::Continuous { lower: 0.0, upper: 1e10 };
    let mut builder = ConstraintsBuilder::new(vec![variable("volume", domain)]).unwrap();
    builder.define("bottles", "volume / 0.75", true).unwrap();
    builder.constrain("many", "bottles >= 1e9").unwrap();
    let set = builder.build();
    for tolerance in [Tolerance::Produce, Tolerance::Judge] {
        assert!(set.is_feasible(&[7.5e8], tolerance));
        assert!(!set.is_feasible(&[7.5e8 + 0.3], tolerance), "a third of a bottle");
    }
    let Decision::Feasible(x) = set.decide(&Region::full(set.domains()), Limits::default()) else { panic!() };
    let bottles = x[0] / 0.75;
    assert!((bottles - bottles.round()).abs() <= 1e-3, "{x:?}");
}
