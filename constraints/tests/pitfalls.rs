//! Each of these gave a wrong answer (or none) in a prototype of this engine.

mod support;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Decision, Limits, Tolerance, Variable};
use leafgp_constraints::{Domain, Grid, Range, Region};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use support::sets;

fn build(domains: &[Domain], constraints: &[&str]) -> Constraints {
    let variable = |(i, domain): (usize, &Domain)| Variable {
        name: format!("x{i}"),
        domain: domain.clone(),
        level_names: (0..domain.levels().unwrap_or(0)).map(|l| format!("l{l}")).collect(),
    };
    let mut builder = ConstraintsBuilder::new(domains.iter().enumerate().map(variable).collect()).unwrap();
    for text in constraints {
        builder.constrain(text, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    builder.build()
}

fn continuous(lower: f64, upper: f64) -> Domain {
    Domain::Continuous { lower, upper }
}

/// The distance that projections minimise.
fn distance(domains: &[Domain], x: &[f64], c: &[f64]) -> f64 {
    let term = |((d, a), c): ((&Domain, &f64), &f64)| {
        let (l, u) = d.bounds();
        match d {
            Domain::Categorical { .. } => f64::from(u8::from(a != c)),
            _ if l == u => 0.0,
            _ => ((a - c) / (u - l)).powi(2),
        }
    };
    domains.iter().zip(x).zip(c).map(term).sum()
}

/// A box around a point, random on each side, cut to the domains.
fn box_around(domains: &[Domain], x: &[f64], share: f64, rng: &mut ChaCha8Rng) -> Region {
    let range = |d: &Domain, v: f64, rng: &mut ChaCha8Rng| match Range::full(d) {
        Range::Interval { lower, upper } => {
            let width = (upper - lower) * share;
            let (below, above) = (rng.random::<f64>() * width, rng.random::<f64>() * width);
            Range::Interval { lower: (v - below).max(lower), upper: (v + above).min(upper) }
        }
        levels => levels,
    };
    Region(domains.iter().zip(x).map(|(d, &v)| range(d, v, rng)).collect())
}

/// G18 of the CEC 2006 suite: cancellation in its rows cut off feasible points once.
fn g18() -> Constraints {
    let mut domains = vec![continuous(-10.0, 10.0); 8];
    domains.push(continuous(0.0, 20.0));
    build(
        &domains,
        &[
            "x2^2 + x3^2 <= 1",
            "x8^2 <= 1",
            "x4^2 + x5^2 <= 1",
            "x0^2 + (x1 - x8)^2 <= 1",
            "(x0 - x4)^2 + (x1 - x5)^2 <= 1",
            "(x0 - x6)^2 + (x1 - x7)^2 <= 1",
            "(x2 - x4)^2 + (x3 - x5)^2 <= 1",
            "(x2 - x6)^2 + (x3 - x7)^2 <= 1",
            "x6^2 + (x7 - x8)^2 <= 1",
            "x1*x2 - x0*x3 <= 0",
            "-x2*x8 <= 0",
            "x4*x8 <= 0",
            "x5*x6 - x4*x7 <= 0",
        ],
    )
}

#[test]
fn constraints_that_cut_their_own_nodes_are_not_taken_for_satisfied() {
    // After propagation the product's node is [0, 5], but the box still holds (3, 3).
    let set = build(&[continuous(0.0, 3.0), continuous(0.0, 3.0)], &["x0 * x1 <= 5"]);
    let projection = set.project(&Region::full(set.domains()), &[3.0, 3.0], 1e-6, Limits::default());
    let (x, d) = projection.nearest.unwrap();
    assert!(set.is_feasible(&x, Tolerance::Produce));
    // The nearest point is (sqrt 5, sqrt 5).
    let expected = 2.0 * ((3.0 - 5f64.sqrt()) / 3.0).powi(2);
    assert!(
        (d - expected).abs() < 1e-6
            && projection.bound <= expected
            && projection.bound >= expected * (1.0 - 1e-5)
    );
    // A define that must be whole: the node is rounded because of the demand itself.
    let mut builder = ConstraintsBuilder::new(vec![Variable {
        name: "n".into(),
        domain: Domain::Integer { lower: 0.0, upper: 9.0 },
        level_names: Vec::new(),
    }])
    .unwrap();
    builder.define("third", "n / 3", true).unwrap();
    let set = builder.build();
    let projection = set.project(&Region::full(set.domains()), &[4.0], 1e-6, Limits::default());
    assert_eq!(projection.nearest.unwrap().0, [3.0]);
}

#[test]
fn boxes_around_feasible_points_are_never_refuted() {
    let mut sets = sets::all();
    sets.push(("G18", g18()));
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (name, set) in sets {
        let points = set.design(4, &[], &[], &mut rng, Limits::default());
        assert!(points.len() == 4, "{name}");
        let limits = Limits { nodes: 300, ..Limits::default() };
        for x in &points {
            for share in [1.0, 0.3, 0.05, 1e-3, 1e-6, 1e-9, 1e-12, 0.0] {
                let region = box_around(set.domains(), x, share, &mut rng);
                let mut contracted = region.clone();
                assert!(set.contract(&mut contracted) && contracted.contains(x), "{name} {share} {x:?}");
                assert_ne!(set.decide(&region, limits.clone()), Decision::Infeasible, "{name} {share} {x:?}");
                // A bound above the distance of a feasible point would be a lost point too.
                let centre: Vec<f64> = points[rng.random_range(0..points.len())].clone();
                let projection = set.project(&region, &centre, 1e-3, limits.clone());
                let d = distance(set.domains(), x, &centre);
                assert!(projection.bound <= d + 1e-9, "{name} {share}: {} > {d} at {x:?}", projection.bound);
            }
        }
    }
}

#[test]
fn rounding_noise_is_no_row() {
    // The terms of x0 cancel to about 1e-17: a row of noise must not decide.
    let set = build(
        &[continuous(0.0, 1.0), continuous(0.0, 1.0)],
        &["0.1*x0 + 0.2*x0 - 0.3*x0 + x1 <= 1", "(x0 + x1) - x0 >= 0.5"],
    );
    for x in [[1.0, 1.0 - 1e-15], [0.3, 0.5], [1e-8, 0.75]] {
        let feasible = set.is_feasible(&x, Tolerance::Produce);
        let region = Region(x.iter().map(|&v| Range::Interval { lower: v, upper: v }).collect());
        if feasible {
            assert!(matches!(set.decide(&region, Limits::default()), Decision::Feasible(_)), "{x:?}");
        }
    }
}

#[test]
fn terms_of_a_million_are_met_as_written() {
    let set = sets::g10();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..20 {
        let centre: Vec<f64> = set
            .domains()
            .iter()
            .map(|d| {
                let (l, u) = d.bounds();
                l + (u - l) * rng.random::<f64>()
            })
            .collect();
        let limits = Limits { nodes: 5_000, ..Limits::default() };
        let (x, _) =
            set.project(&Region::full(set.domains()), &centre, 1e-3, limits.clone()).nearest.unwrap();
        // The constraints in plain f64, without tolerance.
        assert!(0.0025 * (x[3] + x[5]) <= 1.0);
        assert!(0.0025 * (x[4] + x[6] - x[3]) <= 1.0);
        assert!(0.01 * (x[7] - x[4]) <= 1.0);
        assert!(100.0 * x[0] - x[0] * x[5] + 833.33252 * x[3] <= 83333.333);
        assert!(x[1] * x[3] - x[1] * x[6] - 1250.0 * x[3] + 1250.0 * x[4] <= 0.0);
        assert!(x[2] * x[4] - x[2] * x[7] - 2500.0 * x[4] + 1_250_000.0 <= 0.0);
    }
}

#[test]
fn variables_of_no_live_constraint_are_never_split() {
    // x2 is free: splitting it would never end. x0 decides.
    let domains = [Domain::Integer { lower: 0.0, upper: 3.0 }, continuous(0.0, 1.0), continuous(0.0, 1.0)];
    let set = build(&domains, &["x0 == 2 or x0 == 1", "x1^2 + x1 == 0.75"]);
    let projection = set.project(
        &Region::full(&domains),
        &[3.0, 0.9, 0.123],
        1e-6,
        Limits { nodes: 60, ..Limits::default() },
    );
    let (x, d) = projection.nearest.unwrap();
    assert!(x[0] == 2.0 && (x[1] - 0.5).abs() < 1e-8 && x[2] == 0.123);
    assert!(projection.bound >= d * (1.0 - 1e-5), "{projection:?}", projection = projection.bound);
}

#[test]
fn integer_equations_are_refuted_by_their_divisor() {
    let domains = vec![Domain::Integer { lower: -1e6, upper: 1e6 }; 3];
    let set = build(&domains, &["2*x0 + 4*x1 == 6*x2 + 1"]);
    assert_eq!(
        set.decide(&Region::full(&domains), Limits { nodes: 1, ..Limits::default() }),
        Decision::Infeasible
    );
    let other = build(&domains, &["2*x0 + 4*x1 == 6*x2 + 2"]);
    assert!(matches!(other.decide(&Region::full(&domains), Limits::default()), Decision::Feasible(_)));
}

/// Decided in one node, by divisors alone.
fn is_refuted_at_once(domains: &[Domain], constraint: &str) -> bool {
    let set = build(domains, &[constraint]);
    set.decide(&Region::full(domains), Limits { nodes: 1, ..Limits::default() }) == Decision::Infeasible
}

fn is_feasible(domains: &[Domain], constraint: &str) -> bool {
    let set = build(domains, &[constraint]);
    matches!(
        set.decide(&Region::full(domains), Limits { nodes: 50, ..Limits::default() }),
        Decision::Feasible(_)
    )
}

#[test]
fn equations_in_decimals_are_refuted_by_their_divisor_too() {
    let integers = vec![Domain::Integer { lower: -1e6, upper: 1e6 }; 3];
    for (bad, good) in [
        ("0.3*x0 == 1", "0.3*x0 == 1.2"),
        ("0.3*x0 + 0.6*x1 == 1", "0.3*x0 + 0.6*x1 == 0.9"),
        ("0.25*x0 + 0.5*x1 == 0.1", "0.25*x0 + 0.5*x1 == 0.75"),
        ("x0/3 + x1/6 == 1/4", "x0/3 + x1/6 == 1/2"),
        ("x0*x1/4 - x2 == 0.3", "x0*x1/4 - x2 == 0.25"),
        // Whatever the sides, and whichever unit.
        ("1e-3*x0 == 0.0005 + 0.01*x1", "1e-3*x0 == 0.005 + 0.01*x1"),
    ] {
        assert!(is_refuted_at_once(&integers, bad), "{bad}");
        assert!(!is_refuted_at_once(&integers, good) && is_feasible(&integers, good), "{good}");
    }
    // The tolerance of equalities is relative to the terms: a ten-billionth is no excuse, and below the tolerance of a large term nothing is refuted.
    assert!(is_refuted_at_once(&integers, "1e-10*x0 == 1.5e-10"));
    assert!(!is_refuted_at_once(&integers, "x0/3 + 1e10 == 10000000000.5"));
    // An alternative that cannot be leaves the other.
    let set = build(&integers, &["0.3*x0 == 1 or x0 >= 5"]);
    let mut region = Region::full(&integers);
    assert!(set.contract(&mut region));
    assert_eq!(region.0[0], Range::Interval { lower: 5.0, upper: 1e6 });
}

#[test]
fn steps_and_lists_have_divisors() {
    let tenths =
        |first, step, count| Domain::Grid(leafgp_constraints::Grid::new(first, step, 1, count).unwrap());
    let grids = [tenths(1, 2, 40), tenths(0, 4, 40)];
    // 0.1 + 0.2 k + 0.4 l is an odd number of tenths.
    assert!(is_refuted_at_once(&grids, "2*x0 + x1 == 3.2"));
    assert!(is_refuted_at_once(&grids, "1.5*x0 + 0.5*x1 == 3.3"));
    assert!(is_feasible(&grids, "1.5*x0 + 0.5*x1 == 3.15"));
    let lists = [Domain::Discrete(vec![0.0, 12.0, 24.0, 48.0]), Domain::Discrete(vec![0.5, 1.25, 2.0])];
    assert!(is_refuted_at_once(&lists, "x0 == 12*x1 + 1"));
    assert!(is_feasible(&lists, "x0 == 12*x1"));
    // A quantity that must be whole.
    let variable = Variable {
        name: "n".into(),
        domain: Domain::Integer { lower: 0.0, upper: 1e6 },
        level_names: vec![],
    };
    let whole = |text: &str| {
        let mut builder = ConstraintsBuilder::new(vec![variable.clone()]).unwrap();
        builder.define("size", text, true).unwrap();
        let set = builder.build();
        set.decide(&Region::full(set.domains()), Limits { nodes: 1, ..Limits::default() })
    };
    assert_eq!(whole("n/2 + 0.25"), Decision::Infeasible);
    assert!(matches!(whole("n/2 + 1.5"), Decision::Feasible(_)));
}

#[test]
fn a_centre_between_integers_is_as_far_as_the_nearest_one() {
    let domains = [Domain::Integer { lower: 0.0, upper: 10.0 }, continuous(0.0, 1.0)];
    let set = build(&domains, &["x0 >= 2 + x1"]);
    let projection = set.project(&Region::full(&domains), &[4.4, 0.5], 0.0, Limits::default());
    let (x, d) = projection.nearest.unwrap();
    assert_eq!(x, [4.0, 0.5]);
    assert!((d - 0.0016).abs() < 1e-12 && (projection.bound - 0.0016).abs() < 1e-9);
}

#[test]
fn a_zero_divisor_is_never_feasible() {
    let domains = [Domain::Integer { lower: -2.0, upper: 2.0 }, continuous(-1.0, 1.0)];
    let set = build(&domains, &["x1 / x0 <= 1000", "not (1 / x0 > 10)"]);
    assert!(
        !set.is_feasible(&[0.0, 0.0], Tolerance::Produce) && !set.is_feasible(&[0.0, 0.0], Tolerance::Judge)
    );
    assert!(set.violations(&[0.0, 0.0], Tolerance::Produce).iter().all(|v| v.amount == f64::INFINITY));
    let zero = Region(vec![Range::Interval { lower: 0.0, upper: 0.0 }, Range::full(&domains[1])]);
    assert_eq!(set.decide(&zero, Limits::default()), Decision::Infeasible);
    let projection = set.project(&Region::full(&domains), &[0.0, 0.0], 1e-9, Limits::default());
    assert_eq!(projection.nearest.unwrap().1, 1.0 / 16.0);
}

#[test]
fn networks_have_the_sizes_that_an_independent_check_computes() {
    let whole = |v: f64| (v == v.round() && v >= 0.0).then_some(v);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    // conv, channels, pool, filter, stride, pad, activation from index 2, 9, 16.
    let cifar = |x: &[f64]| -> Option<f64> {
        let mut size = 32.0;
        for k in [2, 9, 16] {
            let (on, pool, filter, stride, pad) = (x[k] == 1.0, x[k + 2], x[k + 3], x[k + 4], x[k + 5]);
            let width = whole((size - filter + 2.0 * pad) / stride + 1.0)?;
            if on {
                size = if pool == 1.0 { (width / 2.0).floor() } else { width };
            } else if x[k + 1..k + 7] != [2.0, 0.0, 2.0, 1.0, 0.0, 0.0] {
                return None;
            }
        }
        Some(size)
    };
    for x in sets::cifar_nas().design(40, &[], &[], &mut rng, Limits::default()) {
        assert!(cifar(&x).is_some_and(|size| size >= 1.0), "{x:?}");
    }
    let vae = |x: &[f64]| -> bool {
        let (n_conv, n_deconv) = (x[2], x[4]);
        let encode = |size: f64, k: usize| whole((size - x[k + 3] + 2.0 * x[k + 2]) / x[k + 1] + 1.0);
        let Some(first) = encode(28.0, 6) else { return false };
        let first = if n_conv >= 1.0 { first } else { 28.0 };
        let Some(second) = encode(first, 11) else { return false };
        let size = if n_conv >= 2.0 { second } else { first };
        let decode = |size: f64, k: usize| x[k] * (size - 1.0) + x[k + 3] - 2.0 * x[k + 1] + x[k + 2];
        let once = if n_deconv >= 1.0 { decode(7.0, 22) } else { 7.0 };
        let twice = if n_deconv >= 2.0 { decode(once, 28) } else { once };
        size >= 1.0 && if n_deconv >= 1.0 { twice == 28.0 } else { x[21] == 4.0 }
    };
    let points = sets::vae_nas().design(40, &[], &[], &mut rng, Limits::default());
    assert!(points.len() == 40 && points.iter().all(|x| vae(x)));
    // One deconvolution from 7 pixels ends at 18 at most.
    for n_deconv in [0.0, 2.0] {
        assert!(points.iter().any(|x| x[4] == n_deconv), "no point with {n_deconv} deconvolutions");
    }
}

#[test]
fn unit_rows_hold_in_plain_arithmetic_and_grids_in_steps() {
    let set = build(&vec![continuous(0.0, 1.0); 3], &["x0 + x1 + x2 <= 1", "x0 <= x1"]);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..200 {
        let centre = [rng.random::<f64>(), rng.random(), rng.random()];
        let (x, _) =
            set.project(&Region::full(set.domains()), &centre, 1e-4, Limits::default()).nearest.unwrap();
        assert!(x[0] + x[1] + x[2] <= 1.0 && x[0] <= x[1]);
        let short = set.shorten(&x, &Region::full(set.domains()));
        assert!(short[0] + short[1] + short[2] <= 1.0 && short[0] <= short[1]);
    }
    let tenths = Domain::Grid(leafgp_constraints::Grid::new(0, 1, 1, 34).unwrap());
    let grid = build(&[tenths.clone(), tenths], &["x0 + x1 <= 3.3", "x0 >= 1.1", "x1 >= 2.2"]);
    assert_eq!(
        grid.decide(&Region::full(grid.domains()), Limits::default()),
        Decision::Feasible(vec![1.1, 2.2])
    );
}

#[test]
fn coefficients_that_overflow_when_merged_are_decided() {
    let unit = [continuous(0.0, 1.0)];
    for (text, feasible) in [
        ("x0*1e308*10 <= 1", true),
        ("x0*1e308*10 >= 1", true),
        ("x0*1e308*10 <= -1", false),
        ("1e308*x0 + 1e308*x0 + 1e308*x0 >= 1", true),
        ("1e308*x0 + 1e308*x0 + 1e308*x0 <= 1", true),
        ("1e308*x0 + 1e308*x0 + 1e308*x0 <= -1", false),
        ("x0/1e-308/10 <= 1", true),
        ("(x0 + 1)/1e-308/1e-10 <= 1", false),
    ] {
        let set = build(&unit, &[text]);
        match set.decide(&Region::full(&unit), Limits::default()) {
            Decision::Feasible(x) => {
                assert!(feasible && set.is_feasible(&x, Tolerance::Produce), "{text}: {x:?}");
            }
            Decision::Infeasible => assert!(!feasible, "{text}"),
            Decision::Undecided(why) => panic!("{text}: {why}"),
        }
    }
}

#[test]
fn a_number_compared_with_itself_is_decided() {
    let domains = [continuous(-1.0, 1.0), Domain::Integer { lower: 0.0, upper: 5.0 }];
    for (text, feasible) in [
        ("x0 != x0", false),
        ("x0 < x0", false),
        ("x0 > x0", false),
        ("x0 == x0", true),
        ("x0 <= x0", true),
        ("x0/x1 != x0/x1", false),
        ("not (x0 == x0)", false),
        ("exp(x0) + x1 < exp(x0) + x1", false),
    ] {
        let set = build(&domains, &[text]);
        let decision = set.decide(&Region::full(&domains), Limits { nodes: 5, ..Limits::default() });
        assert_eq!(matches!(decision, Decision::Feasible(_)), feasible, "{text}: {decision:?}");
        assert_eq!(decision == Decision::Infeasible, !feasible, "{text}: {decision:?}");
    }
}

/// Reals `x0..` in `[0, upper]` with a budget and a reverse convex demand: `sum(x) <= budget`, `sum(x^2) >= demand`.
fn reverse_convex(n: usize, upper: f64, budget: f64, demand: f64) -> Constraints {
    let squares: Vec<String> = (0..n).map(|i| format!("x{i}^2")).collect();
    let demand = format!("{} >= {demand}", squares.join(" + "));
    build(&vec![continuous(0.0, upper); n], &[&format!("sum(x0..x{}) <= {budget}", n - 1), &demand])
}

#[test]
fn reverse_convex_demands_over_many_reals_are_met_in_few_nodes() {
    let few = || Limits { nodes: 5, ..Limits::default() };
    for (upper, budget, demand) in [(1.0, 20.0, 9.0), (0.5, 20.0, 9.0), (0.46, 20.0, 9.0), (0.5, 20.0, 9.9)] {
        let set = reverse_convex(60, upper, budget, demand);
        let full = Region::full(set.domains());
        let decision = set.decide(&full, few());
        assert!(matches!(decision, Decision::Feasible(_)), "{upper} {budget} {demand}: {decision:?}");
        // From equal values, which are stationary.
        let projection = set.project(&full, &[0.25; 60], 1e-4, Limits { nodes: 20, ..Limits::default() });
        assert!(projection.nearest.is_some());
    }
    // 0.4 * 20 = 8: no vertex reaches 9.
    let none = reverse_convex(60, 0.4, 20.0, 9.0);
    assert_eq!(none.decide(&Region::full(none.domains()), few()), Decision::Infeasible);
    // Products instead of squares, and two demands at once.
    let products: Vec<String> = (0..30).map(|i| format!("x{}*x{}", 2 * i, 2 * i + 1)).collect();
    let set = build(
        &vec![continuous(0.0, 0.5); 60],
        &["sum(x0..x59) <= 14", &format!("{} >= 3", products.join(" + ")), "x0^2 + x7^2 + x30^2 >= 0.45"],
    );
    let decision = set.decide(&Region::full(set.domains()), few());
    assert!(matches!(decision, Decision::Feasible(_)), "{decision:?}");
}

/// Thresholds stand at measured points, measured points lie on constraints: cells that miss a constraint by one rounding are common.
#[test]
fn a_box_that_misses_by_a_rounding_is_infeasible() {
    let up = f64::next_up;
    let above = |v: f64| (up(v), 100.0);
    // Two ranges whose upper ends give the right side just below a third's lower end.
    for (text, third) in [
        ("-2*x0 - x1 + x2 <= 0", above(2.0 * 0.9475 + 1.0)),
        ("x2 <= 2*x0 + x1", above(2.0 * 0.9475 + 1.0)),
        ("x2 - x1 < 2*x0", above(2.0 * 0.9475 + 1.0)),
        ("not (x2 > 2*x0 + x1)", above(2.0 * 0.9475 + 1.0)),
        ("x0 * x1 >= x2", above(0.9475)),
        ("x0^2 + x1 >= x2", above(0.9475 * 0.9475 + 1.0)),
        ("sqrt(x0) >= x2 / x1", above(0.9475f64.sqrt())),
        ("abs(x0 - 2) + x1 >= 3 - x2 or x2 <= 2*x0 + x1", above(2.0 * 0.9475 + 1.0)),
    ] {
        let domains = [continuous(0.0, 1.0), continuous(0.0, 1.0), continuous(0.0, 100.0)];
        let set = build(&domains, &[text]);
        let region = |third: (f64, f64)| {
            let range = |(lower, upper): (f64, f64)| Range::Interval { lower, upper };
            Region(vec![range((0.9175, 0.9475)), range((0.9542, 1.0)), range(third)])
        };
        let decide = |third| set.decide(&region(third), Limits::default());
        if !text.contains(" or ") {
            assert!(matches!(decide(third), Decision::Infeasible), "{text}: {:?}", decide(third));
        }
        // With a little more room there is a point.
        let room = (third.0 - 1e-9, third.1);
        assert!(matches!(decide(room), Decision::Feasible(_)), "{text}: {:?}", decide(room));
    }
}

/// Where a sum over steps and its rounding left no value of a divisor, the relaxation was asked for a line over nothing.
#[test]
fn a_node_that_is_undefined_in_the_box_has_no_estimators() {
    let domains = [
        Domain::Categorical { levels: 4 },
        Domain::Integer { lower: -2.0, upper: 0.0 },
        Domain::Grid(Grid::new(4, 5, 1, 3).unwrap()),
        Domain::Integer { lower: 0.0, upper: 5.0 },
        Domain::Integer { lower: -3.0, upper: 0.0 },
    ];
    for logarithm in ["log", "log10"] {
        let parts = format!("x0 == 'l3' or {logarithm}(x3) - 0 * (x3 * x4) > x4 + x2");
        let counted = format!("0.3 + count(x0 == 'l3', {parts}, x0 not in ['l1', 'l3']) <= 2^x2");
        let set =
            build(&domains, &[&counted, "exp(x4 + 0.5) > x3", "0.5 / (x2 + 2 / (x1 + x3)) >= exp(x1 + 1)"]);
        let full = Region::full(&domains);
        assert!(matches!(set.decide(&full, Limits::default()), Decision::Feasible(_)));
        for x in support::points(&domains, &full) {
            let projection = set.project(&full, &x, 1e-6, Limits::default());
            let (nearest, _) = projection.nearest.unwrap();
            assert!(!set.is_feasible(&x, Tolerance::Produce) || nearest == x, "{x:?}");
        }
    }
}

/// Factors that are taken out of products, powers and quotients, and merged, leave the range of f64 where the values do not: found by fuzzing, an infeasible verdict at a
/// feasible point.
#[test]
fn coefficients_beyond_the_range_of_numbers_lose_no_point() {
    let texts = [
        "(1e300 * x0) ^ 2 + 2 in {2, -1..0.5}",
        "(1e300 * x0) ^ 2 <= 0",
        "(1e300 * x0) * (1e300 * x1) == 0",
        "(1e-200 * x0) ^ 2 * 1e300 * 1e100 >= 1e199",
        "(1e-200 * x0) * (1e-200 * x1) * 1e300 * 1e100 >= 1e199",
        "1e-200 * (1e-200 * x0 + 1e-150) * 1e300 >= 1e-60",
        "(1e-200 * x0) / (1e200 * x1 + 1e200) * 1e300 >= 1e-210",
        "(1e200 * x0) / (1e-200 * x1 + 1e-200) <= 0",
        "(1e-200 * x0) / 1e200 * 1e300 >= 1e-10",
        "0 * x0 + x1 <= 0",
    ];
    let domains = [continuous(0.0, 1e100), continuous(0.0, 1e100)];
    for text in texts {
        let set = build(&domains, &[text]);
        let mut region = Region::full(&domains);
        let is_possible = set.contract(&mut region);
        let mut n_feasible = 0;
        for x in [0.0, 1e-100, 1.0, 1e90, 1e100] {
            for y in [0.0, 1.0, 1e90, 1e100] {
                if set.is_feasible(&[x, y], Tolerance::Produce) {
                    n_feasible += 1;
                    assert!(is_possible && region.contains(&[x, y]), "{text}: {x:e}, {y:e} is lost");
                }
            }
        }
        assert!(n_feasible > 0, "{text}");
        let limits = Limits { nodes: 20, ..Limits::default() };
        assert!(set.decide(&Region::full(&domains), limits) != Decision::Infeasible, "{text}");
    }
}

/// What underflows to zero need not be zero: the inverse of a zero holds it. Found by fuzzing, an infeasible verdict at a feasible point (the first text).
#[test]
fn results_that_underflow_to_zero_lose_no_point() {
    let texts = [
        "0 == (((0.5 ^ n) / ((1e100) ^ 3)) * x) ^ 2",
        "(1e-300 * x) * (1e-300 * x) <= 0",
        "(1e-200 * x) ^ 2 == 0",
        "(1e-160 * x) ^ 3 == 0",
        "x ^ 100 <= 0",
        "(1e-320 * x + 1e-320) * (x + 1e-20) * 1e-300 <= 0",
        "x / 1e300 / 1e300 == 0",
        "exp(-1000 * x) <= 0",
        "0.5 ^ (2000 * x) <= 0",
        "1e-300 ^ x * 1e-300 ^ x == 0",
        "(1e200 * x + 1e200) ^ (-2) <= 0",
        "(1e-300 * x) ^ 2 <= 0",
        "0 == (1e-300 * x) ^ 2",
        "1e-320 * x * 1e-10 <= 0",
        "1e-200 / (1e200 * x + 1e200) <= 0",
        "1e-30 * ((1e-300 * x) * (1e-300 * x) - 1e-310 * x) >= 0",
        "1e300 * (1e-300 * x) ^ 2 - x <= 0",
        "(x * 1e-320) * 1e-300 == 0 and 1e300 * x >= 1e-20",
        "x * x * 1e-30 <= 0 and x * 1e300 >= 1",
        "(0.5 * x) ^ 2 <= 0 and x * 1e300 >= 1",
        "0.4 * x <= 0 and x * 1e300 * 1e200 >= 0",
        "1000 ^ (-50 * x - 60) <= 0",
        "(1000 + x) ^ (-110) == 0",
        "sqrt((1e-300 * x) ^ 2) == 0",
        "abs(1e-200 * x) * abs(1e-200 * x) <= 0",
    ];
    for text in texts {
        for lowest in [0.0, 1e-320, 1e-150, 1e-10, 0.1] {
            no_point_is_lost(text, lowest);
        }
    }
}

/// Contraction and decision over `x` in [`lowest`, 10] and a whole number keep every point that is judged feasible.
fn no_point_is_lost(text: &str, lowest: f64) {
    let variable = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let variables = vec![
        variable("x", continuous(lowest, 10.0)),
        variable("n", Domain::Integer { lower: -3.0, upper: 7.0 }),
    ];
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    builder.constrain("c", text).unwrap();
    let set = builder.build();
    let mut region = Region::full(set.domains());
    let is_possible = set.contract(&mut region);
    let mut is_feasible = false;
    for x in [0.0, 5e-324, 1e-320, 1e-300, 1e-163, 1e-150, 1e-10, 5e-4, 0.1, 0.5, 1.0, 7.3, 10.0] {
        for n in [-3.0, 0.0, 7.0] {
            if x >= lowest && set.is_feasible(&[x, n], Tolerance::Produce) {
                is_feasible = true;
                let is_kept = is_possible && region.contains(&[x, n]);
                assert!(is_kept, "{text}: {x:e}, {n} is lost in {region:?}");
            }
        }
    }
    let limits = Limits { nodes: 200, ..Limits::default() };
    let decision = set.decide(&Region::full(set.domains()), limits);
    assert!(!is_feasible || decision != Decision::Infeasible, "{text} from {lowest:e}");
    assert!(is_feasible || lowest > 0.0, "{text}: nothing was asked");
}
