//! What every function must satisfy, over the whole registry.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Function, NAMED};
use crate::interval::Interval;

/// Random intervals for each function.
const INTERVALS: usize = 3_000;

/// The functions called by name, and powers and exponentials of all kinds.
fn functions() -> Vec<Function> {
    let exponents = [-3.0, -2.0, -1.0, -0.5, 0.3, 1.0, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 40.0];
    let powers = exponents.map(Function::power);
    let exponentials = [0.5, 1.0, 2.0, 10.0].map(Function::exponential);
    NAMED.iter().copied().chain(powers).chain(exponentials).collect()
}

/// A number of random sign and size, now and then a whole one or zero.
fn random_number(rng: &mut ChaCha8Rng) -> f64 {
    let size = match rng.random_range(0..4) {
        0 => 10f64.powf(rng.random_range(-8.0..8.0)),
        1 => rng.random_range(0.0..2.0),
        2 => rng.random_range(0.0..30.0),
        _ => f64::from(rng.random_range(0..6_u8)),
    };
    if rng.random() { size } else { -size }
}

/// A finite interval, wide, narrow or a point; half of them of positive numbers, where most functions are defined.
fn random_interval(rng: &mut ChaCha8Rng) -> Interval {
    let a = random_number(rng);
    let b = match rng.random_range(0..4) {
        0 => a,
        1 => a + rng.random_range(0.0..1e-6),
        _ => random_number(rng),
    };
    let positive = rng.random();
    let (a, b) = if positive { (a.abs(), b.abs()) } else { (a, b) };
    Interval::new(a.min(b), a.max(b))
}

/// Both ends, zero where it is inside, and points between.
fn samples(x: Interval, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut all = vec![x.lo, x.hi];
    all.extend([0.0, x.lo.round(), x.hi.round()].into_iter().filter(|&v| x.contains(v)));
    all.extend((0..6).map(|_| (x.lo + rng.random::<f64>() * (x.hi - x.lo)).clamp(x.lo, x.hi)));
    all
}

/// Calls `check` with each function, a random interval and arguments inside, as often as there are [`INTERVALS`].
fn on_random_intervals(mut check: impl FnMut(&Function, Interval, &[f64], &mut ChaCha8Rng)) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for function in functions() {
        for _ in 0..INTERVALS {
            let x = random_interval(&mut rng);
            let inside = samples(x, &mut rng);
            check(&function, x, &inside, &mut rng);
        }
    }
}

/// The real values whose nearest floats are in `y`, as propagation passes them.
fn real(function: &Function, y: Interval) -> Interval {
    if function.is_whole(false) { y } else { y.loosened() }
}

/// Values that underflow count as zero, so that their arguments are not asked for.
fn underflows(u: f64, value: f64) -> bool {
    u != 0.0 && value.abs() < 1e-290
}

#[test]
fn names_are_unique_and_lead_back_to_their_function() {
    let mut names: Vec<&str> = Function::all_names().collect();
    assert!(names.iter().all(|name| Function::named(name).unwrap().names().contains(name)));
    names.extend(["min", "max", "sum", "count", "all", "any", "if"]);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let mut keys: Vec<[u64; 2]> = functions().iter().map(Function::key).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
}

#[test]
fn the_table_for_users_has_every_name() {
    let table = include_str!("../expr/mod.rs");
    for name in Function::all_names() {
        assert!(table.contains(&format!("`{name}(a)`")), "`{name}` is missing in the table of expr/mod.rs");
    }
}

#[test]
fn the_interval_extension_holds_the_values() {
    on_random_intervals(|function, x, inside, _| {
        let image = function.image(x);
        for &u in inside {
            let value = function.value(u);
            assert!(
                value.is_nan() || image.contains(value),
                "{function:?} over {x:?} at {u}: {value}, {image:?}"
            );
        }
        let half_lines = [Interval::new(x.lo, f64::INFINITY), Interval::new(f64::NEG_INFINITY, x.hi)];
        for wider in half_lines.into_iter().chain([Interval::ENTIRE]) {
            assert!(image.is_subset(function.image(wider)), "{function:?} over {x:?} and {wider:?}");
        }
    });
    functions().iter().for_each(|function| assert!(function.image(Interval::EMPTY).is_empty()));
}

#[test]
fn the_interval_extension_of_a_point_is_tight() {
    on_random_intervals(|function, x, _, _| {
        let (value, image) = (function.value(x.lo), function.image(Interval::point(x.lo)));
        let few_floats = 12.0 * f64::EPSILON * value.abs() + 3.0 * f64::MIN_POSITIVE;
        let tight = image.width() <= few_floats || value.is_infinite();
        assert!(value.is_nan() || tight, "{function:?} at {}: {value}, {image:?}", x.lo);
    });
}

#[test]
fn the_domain_is_where_values_are_numbers() {
    on_random_intervals(|function, x, inside, _| {
        let defined = inside.iter().all(|&u| !function.value(u).is_nan());
        let what = format!("{function:?} over {x:?}");
        assert!(defined || !function.is_defined_over(x), "{what}");
        assert!(defined || !function.is_total(), "{what}");
        assert!(!function.is_total() || function.is_defined_over(x), "{what}");
        assert!(!function.divides() || function.value(0.0).is_nan(), "{what}");
        // The samples hold the ends, and zero where it is inside: undefined elsewhere is undefined there.
        assert!(!defined || function.is_defined_over(x), "{what}");
    });
}

#[test]
fn the_inverse_loses_no_argument() {
    on_random_intervals(|function, x, inside, rng| {
        for &u in inside {
            let value = function.value(u);
            if !value.is_finite() || underflows(u, value) {
                continue;
            }
            let (below, above) = (rng.random::<f64>(), rng.random::<f64>());
            for y in [Interval::point(value), Interval::new(value - below, value + above)] {
                let kept = x.intersect(function.inverse(x, y, real(function, y)));
                assert!(kept.contains(u), "{function:?} over {x:?}, values {y:?}: {u} lost, {kept:?}");
            }
        }
    });
}

#[test]
fn the_inverse_takes_arguments_away() {
    on_random_intervals(|function, x, inside, _| {
        let (l, u) = (function.value(x.lo), function.value(x.hi));
        let is_constant = inside.iter().all(|&v| function.value(v) == l);
        // No value of a continuous function this far above its values.
        let most = inside.iter().map(|&v| function.value(v)).fold(l.max(u), f64::max);
        let beyond = Interval::point(2.0 * most.abs() + 10.0);
        if function.is_defined_over(x) && most.is_finite() && !is_constant {
            let kept = x.intersect(function.inverse(x, beyond, real(function, beyond)));
            assert!(kept.is_empty(), "{function:?} over {x:?}: {kept:?} for {beyond:?}");
        }
    });
}

#[test]
fn the_derivative_is_the_quotient_of_differences() {
    on_random_intervals(|function, x, inside, _| {
        for &u in inside {
            let is_stairs = function.is_whole(false);
            let h = if is_stairs { 64.0 } else { 1e-5 * u.abs() };
            let (a, b) = (u - h, u + h);
            let is_far_from_kinks = is_stairs || u != 0.0;
            let slope = function.derivative(u);
            let difference = (function.value(b) - function.value(a)) / (b - a);
            let scale = slope.abs() + function.value(u).abs() / u.abs();
            let is_lost = underflows(u, function.value(a)) || underflows(u, function.value(b));
            if is_lost || !(is_far_from_kinks && difference.is_finite() && scale.is_finite()) {
                continue;
            }
            assert!((slope - difference).abs() <= 1e-5 * scale, "{function:?} at {u}: {slope}, {difference}");
            let chained = function.chain(3.0, u, function.value(u));
            assert!((chained - 3.0 * slope).abs() <= 1e-12 * slope.abs(), "{function:?} at {u}: {chained}");
            let over = function.chain_over(Interval::point(3.0), x, function.image(x));
            let error = 1e-12 * slope.abs();
            let holds = over.lo <= 3.0 * slope + error && over.hi >= 3.0 * slope - error;
            assert!(holds, "{function:?} over {x:?} at {u}: {over:?}, {slope}");
        }
    });
}

#[test]
fn estimators_stay_on_their_side() {
    on_random_intervals(|function, x, inside, rng| {
        let at = inside[rng.random_range(0..inside.len())];
        for below in [true, false] {
            let Some(line) = function.estimator(x, function.image(x), at, below) else { continue };
            let size = line.constant.abs() + line.slope.abs() * x.magnitude() + function.image(x).magnitude();
            assert!(line.error <= 1e-12 * size, "{function:?} over {x:?}: {line:?}");
            for &u in inside {
                let gap = function.value(u) - (line.slope * u + line.constant);
                let gap = if below { gap } else { -gap };
                assert!(gap >= -line.error, "{function:?} over {x:?} at {at}, below {below}: {gap} at {u}");
            }
        }
    });
}

#[test]
fn estimators_stay_on_their_side_on_a_fine_scan() {
    let named = |name: &str| Function::named(name).unwrap();
    let cases = [
        (Function::power(2.0), -1.0, 3.0),
        (Function::power(3.0), -2.0, 1.5),
        (Function::power(5.0), -1.0, 2.0),
        (Function::power(-1.0), 0.5, 4.0),
        (Function::power(-1.0), -4.0, -0.5),
        (Function::power(-2.0), -4.0, -0.5),
        (Function::power(1.7), 0.0, 2.0),
        (Function::power(0.3), 0.1, 2.0),
        (Function::exponential(2.0), -3.0, 3.0),
        (Function::exponential(0.5), -3.0, 3.0),
        (named("sqrt"), 0.0, 9.0),
        (named("exp"), -2.0, 2.0),
        (named("log"), 0.1, 5.0),
        (named("abs"), -1.0, 2.0),
    ];
    for (function, l, u) in cases {
        let x = Interval::new(l, u);
        for step in 0..=10 {
            let at = l + (u - l) * f64::from(step) / 10.0;
            for below in [true, false] {
                let Some(line) = function.estimator(x, function.image(x), at, below) else {
                    assert!(function.derivative(at).is_infinite(), "{function:?} at {at}");
                    continue;
                };
                for k in 0..=1000 {
                    let v = (l + (u - l) * f64::from(k) / 1000.0).clamp(l, u);
                    let gap = function.value(v) - (line.slope * v + line.constant);
                    let gap = if below { gap } else { -gap };
                    assert!(gap >= -line.error, "{function:?} below {below} at {at}: {gap} at {v}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_asked_of_an_empty_interval() {
    let empty = Interval::new(2.0, 1.0);
    for function in functions().iter().filter(|function| !function.is_whole(false)) {
        for below in [true, false] {
            assert_eq!(function.estimator(empty, Interval::EMPTY, 1.5, below), None, "{function:?}");
        }
    }
}

#[test]
fn estimators_come_close() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for function in functions() {
        let mut offered = 0;
        for _ in 0..300 {
            let lo = rng.random_range(0.5..3.0);
            let x = Interval::new(lo, lo + 1e-3);
            for below in [true, false] {
                if let Some(line) = function.estimator(x, function.image(x), x.middle(), below) {
                    offered += 1;
                    let off = line.slope * x.middle() + line.constant - function.value(x.middle());
                    // Of second order in the width for curves; a staircase is within one.
                    let scale = function.value(x.hi).abs() + function.value(x.lo).abs();
                    let allowed = if function.is_whole(false) { 1.0 } else { 1e-3 * scale };
                    assert!(off.abs() <= allowed, "{function:?} over {x:?}, below {below}: {off}");
                }
            }
        }
        assert!(offered == 600 || function == Function::exponential(1.0), "{function:?}: {offered} lines");
    }
}

#[test]
fn whole_functions_take_whole_values() {
    on_random_intervals(|function, _, inside, _| {
        for &u in inside {
            let small = function.value(u).abs() < 1e15;
            if small && function.is_whole(false) {
                assert_eq!(function.value(u).fract(), 0.0, "{function:?} at {u}");
            }
            let whole = function.value(u.round());
            if whole.abs() < 1e15 && function.is_whole(true) {
                assert_eq!(whole.fract(), 0.0, "{function:?} at {u}");
            }
        }
    });
}

#[test]
fn attained_ends_bound_the_values_to_the_last_digit() {
    let mut known = 0;
    on_random_intervals(|function, x, inside, _| {
        let Some([a, b]) = function.attained(x.lo, x.hi) else { return };
        known += 1;
        if a.is_nan() || b.is_nan() {
            return;
        }
        for &u in inside {
            let value = function.value(u);
            assert!(a <= value && value <= b, "{function:?} over {x:?} at {u}: {value} and [{a}, {b}]");
        }
        let (l, u) = (function.value(x.lo), function.value(x.hi));
        let reached = |end: f64| end == l || end == u || end == function.value(0.0);
        assert!(reached(a) && reached(b), "{function:?} over {x:?}: [{a}, {b}]");
    });
    assert!(known > 0);
}
