//! First designs on the sets that samplers give up on, and explanations of sets that nothing satisfies.

mod support;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Decision, Limits, Tolerance, Variable};
use leafgp_constraints::{Domain, Region};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use support::sets;

fn variables(count: usize, domain: &Domain) -> Vec<Variable> {
    let variable = |i| Variable { name: format!("x{i}"), domain: domain.clone(), level_names: Vec::new() };
    (1..=count).map(variable).collect()
}

fn set(variables: Vec<Variable>, constraints: &[&str]) -> Constraints {
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    for text in constraints {
        builder.constrain(text, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    builder.build()
}

fn continuous(lower: f64, upper: f64) -> Domain {
    Domain::Continuous { lower, upper }
}

fn integer(lower: f64, upper: f64) -> Domain {
    Domain::Integer { lower, upper }
}

/// 30 feasible, distinct points; returns them.
fn design(set: &Constraints, n: usize) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let start = std::time::Instant::now();
    let points = set.design(n, &[], &[], &mut rng, Limits::default());
    println!(
        "{} points in {:.3} s, the first {:?}",
        points.len(),
        start.elapsed().as_secs_f64(),
        points.first()
    );
    assert_eq!(points.len(), n);
    for (i, x) in points.iter().enumerate() {
        assert!(set.is_feasible(x, Tolerance::Produce), "{x:?}: {:?}", set.violations(x, Tolerance::Produce));
        assert!(!points[..i].contains(x));
    }
    points
}

/// Largest gap a coordinate leaves in a range, as a share of it.
fn largest_gap(points: &[Vec<f64>], v: usize, lower: f64, upper: f64) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|x| x[v]).collect();
    values.extend([lower, upper]);
    values.sort_by(f64::total_cmp);
    values.windows(2).map(|w| (w[1] - w[0]) / (upper - lower)).fold(0.0, f64::max)
}

#[test]
fn mixture_of_eight_fractions() {
    let set = set(variables(8, &continuous(0.0, 1.0)), &["sum(x1..x8) == 1"]);
    let points = design(&set, 30);
    for x in &points {
        assert!((x.iter().sum::<f64>() - 1.0).abs() <= 1e-9);
        // Short decimals, all of them.
        assert!(x.iter().all(|v| v.to_string().len() <= 8), "{x:?}");
    }
    for v in 0..8 {
        assert!(points.iter().any(|x| x[v] > 0.3), "fraction {v} is never large");
    }
}

#[test]
fn twelve_fractions_below_one() {
    let set = set(variables(12, &continuous(0.0, 1.0)), &["sum(x1..x12) <= 1"]);
    for x in design(&set, 30) {
        assert!(x.iter().fold(0.0, |s, v| s + v) <= 1.0);
    }
}

#[test]
fn two_bilinear_equalities_with_integers() {
    let mut all = variables(2, &integer(1.0, 20.0));
    all.extend((3..=5).map(|i| Variable {
        name: format!("x{i}"),
        domain: continuous(0.1, 10.0),
        level_names: Vec::new(),
    }));
    let set = set(all, &["x1 * x3 == 12", "x2 * x4 + x5 == 20"]);
    let points = design(&set, 30);
    let distinct = |v: usize| {
        let mut values: Vec<f64> = points.iter().map(|x| x[v]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    };
    assert!(distinct(0) >= 8 && distinct(1) >= 8, "{} {}", distinct(0), distinct(1));
}

#[test]
fn seven_ordered_integers() {
    let chain: Vec<String> = (1..7).map(|i| format!("x{i} <= x{}", i + 1)).collect();
    let chain: Vec<&str> = chain.iter().map(String::as_str).collect();
    let set = set(variables(7, &integer(200.0, 8000.0)), &chain);
    let points = design(&set, 30);
    assert!(largest_gap(&points, 3, 200.0, 8000.0) < 0.35);
}

#[test]
fn ingredients_absent_or_substantial() {
    let set = set(
        variables(6, &continuous(0.0, 0.7)),
        &["all(x1..x6 in {0, 0.1..0.7})", "2 <= count(x1..x6 > 0) <= 3", "sum(x1..x6) == 1"],
    );
    let points = design(&set, 30);
    for x in &points {
        let present = x.iter().filter(|&&v| v > 0.0).count();
        assert!((2..=3).contains(&present) && x.iter().all(|&v| v == 0.0 || (0.1..=0.7).contains(&v)));
    }
    for v in 0..6 {
        assert!(points.iter().any(|x| x[v] > 0.0) && points.iter().any(|x| x[v] == 0.0));
    }
    assert!(points.iter().any(|x| x.iter().filter(|&&v| v > 0.0).count() == 2));
    assert!(points.iter().any(|x| x.iter().filter(|&&v| v > 0.0).count() == 3));
}

#[test]
fn twenty_factors_of_four_levels_with_implications_and_a_budget() {
    let mut constraints: Vec<String> =
        (1..=8).map(|i| format!("x{i} == 3 implies x{} <= {}", i + 8, i % 3)).collect();
    constraints.push("sum(x1..x20) <= 24".into());
    let constraints: Vec<&str> = constraints.iter().map(String::as_str).collect();
    let set = set(variables(20, &integer(0.0, 3.0)), &constraints);
    let points = design(&set, 30);
    for v in 0..20 {
        for level in 0..4 {
            assert!(
                points.iter().any(|x| x[v] == f64::from(level)),
                "level {level} of factor {v} never appears"
            );
        }
    }
}

#[test]
fn the_papers_sets_get_designs() {
    for (name, set) in sets::all() {
        println!("{name}");
        design(&set, 10);
    }
}

#[test]
fn a_small_space_is_exhausted_and_no_more() {
    let set = set(variables(3, &integer(0.0, 3.0)), &["x1 + x2 + x3 == 2"]);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let points = set.design(20, &[vec![2.0, 0.0, 0.0]], &[], &mut rng, Limits::default());
    assert_eq!(points.len(), 5);
    let log = Variable { name: "rate".into(), domain: continuous(1e-5, 1e-1), level_names: Vec::new() };
    let free = super_free(log);
    let rates = free.design(30, &[], &[true], &mut rng, Limits::default());
    assert!(rates.iter().filter(|x| x[0] < 1e-3).count() >= 8);
}

fn super_free(variable: Variable) -> Constraints {
    ConstraintsBuilder::new(vec![variable]).unwrap().build()
}

#[test]
fn a_contradiction_names_exactly_what_conflicts() {
    let all = variables(4, &continuous(0.0, 10.0));
    let four = set(all, &["x1 + x2 <= 8", "x1 >= 5", "x3 <= x4", "x1 * x3 + 5 <= x1 - 5.5"]);
    assert_eq!(four.conflict(Limits::default()), Some(vec![3]));
    let all = variables(4, &continuous(0.0, 10.0));
    let two = set(all, &["x1 + x2 <= 8", "x1 + x2 + x3 >= 12", "x3 <= x4", "x3 <= 3.5"]);
    assert_eq!(two.conflict(Limits::default()), Some(vec![0, 1, 3]));
    let all = variables(4, &continuous(0.0, 10.0));
    let pair = set(all, &["x1 + x2 <= 8", "x1 <= x2", "x3 <= x4", "x1 + x2 >= 8.5"]);
    let conflict = pair.conflict(Limits::default()).unwrap();
    assert_eq!(conflict, [0, 3]);
    assert!(!pair.is_conflict_of_integrality(&conflict, Limits::default()));
}

#[test]
fn an_equation_without_whole_solution_conflicts_by_integrality() {
    let n = variables(1, &integer(0.0, 10.0));
    let set = set(n, &["3 * x1 == 10"]);
    assert_eq!(set.decide(&Region::full(set.domains()), Limits::default()), Decision::Infeasible);
    let conflict = set.conflict(Limits::default()).unwrap();
    assert_eq!(conflict, [0]);
    assert!(set.is_conflict_of_integrality(&conflict, Limits::default()));
}

#[test]
fn divisors_that_may_be_zero_are_listed_with_their_range() {
    let bad = set(variables(2, &continuous(-1.0, 1.0)), &["x1 / (x2 + 0.5) <= 2"]);
    let found = bad.check_denominators();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].constraint, found[0].text.as_str()), (0, "(x2 + 0.5)"));
    assert!(found[0].range.0 <= -0.5 && found[0].range.1 >= 1.5);
    let rescued = set(variables(2, &continuous(-1.0, 1.0)), &["x1 / (x2 + 0.5) <= 2", "x2 >= 0"]);
    assert!(rescued.check_denominators().is_empty());
    // Half a unit beside whole numbers, and zero taken out of them by another constraint.
    let between = set(variables(2, &integer(-3.0, 7.0)), &["x1 / (x2 + 0.5) <= 100"]);
    assert!(between.check_denominators().is_empty());
    let excluded = set(variables(2, &integer(-3.0, 7.0)), &["x2 != 0", "x1 / x2 <= 100"]);
    assert!(excluded.check_denominators().is_empty());
    let hit = set(variables(2, &integer(-3.0, 7.0)), &["x2 != 1", "x1 / x2 <= 100"]);
    assert_eq!(hit.check_denominators().len(), 1);
    let guarded = set(variables(2, &continuous(-1.0, 1.0)), &["x2 > 0 implies x1 / x2 <= 2"]);
    assert!(guarded.check_denominators().is_empty());
    for (name, set) in sets::all() {
        assert!(set.check_denominators().is_empty(), "{name}: {:?}", set.check_denominators());
    }
}

#[test]
fn redundant_and_empty_constraints_are_found() {
    let set = set(
        variables(3, &continuous(0.0, 10.0)),
        &["x1 + x2 <= 8", "x1 >= 0", "x1 + x2 <= 9", "x3^2 >= 4", "x3 >= 1.9 or x3 <= 1"],
    );
    assert_eq!(set.always_true(), [1]);
    assert_eq!(set.redundant(Limits { nodes: 500, ..Limits::default() }), [1, 2, 4]);
}

#[test]
fn points_are_shortened_within_box_and_constraints() {
    let set = set(variables(3, &continuous(0.0, 1.0)), &["x1 + x2 + x3 == 1", "x1 <= 1/3"]);
    let x = [1.0 / 3.0, 0.256_789_123, 1.0 - 1.0 / 3.0 - 0.256_789_123];
    let short = set.shorten(&x, &Region::full(set.domains()));
    assert!(set.is_feasible(&short, Tolerance::Produce));
    assert!(short.iter().all(|v| v.to_string().len() <= 8), "{short:?}");
    assert!(short.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-3), "{short:?}");
}

#[test]
fn a_raised_interrupt_ends_every_question_at_once() {
    let set = set(variables(2, &continuous(0.0, 1.0)), &["x1 + x2 == 1", "x1 * x2 >= 0.2"]);
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let limits = Limits { interrupt: Some(flag), ..Limits::default() };
    let full = Region::full(set.domains());
    let Decision::Undecided(why) = set.decide(&full, limits.clone()) else { panic!("decided") };
    assert_eq!(why, "it was interrupted after 0 nodes");
    assert_eq!(set.project(&full, &[0.0, 0.0], 1e-3, limits.clone()).nodes, 0);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    assert!(set.design(3, &[], &[false, false], &mut rng, limits).is_empty());
}

#[test]
fn a_value_that_stands_alone_among_alternatives_is_met_as_well_as_the_range_beside_it() {
    for (rule, alone) in [
        ("x1 == 0 or x1 >= 1", 0.0),
        ("x1 >= 3 or x1 == 1.5", 1.5),
        ("not (x1 > 0) or x1 >= 2 and x1 <= 7", 0.0),
    ] {
        let set = set(variables(3, &continuous(0.0, 8.0)), &[rule, "x2 + x3 <= 12"]);
        let points = design(&set, 20);
        let n_alone = points.iter().filter(|x| x[0] == alone).count();
        assert!(
            (4..=16).contains(&n_alone),
            "{rule}: {n_alone} of 20: {:?}",
            points.iter().map(|x| x[0]).collect::<Vec<_>>()
        );
        let ranged: Vec<Vec<f64>> = points.into_iter().filter(|x| x[0] != alone).collect();
        assert!(largest_gap(&ranged, 0, 3.0, 7.0) < 0.7, "{rule}: {ranged:?}");
        assert!(largest_gap(&ranged, 1, 0.0, 8.0) < 0.6, "{rule}: {ranged:?}");
    }
}
