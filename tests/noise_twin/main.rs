//! Whole proposal steps, from the instance to the verified bound, against a twin in about 32 digits that reads the same JSON and shares no code with the library: noise from
//! 1e-12 to 1e3 of the signal, spaces of every kind of variable, listed and mixed, with and without rules.
//!
//! `LEAFGP_TWIN_FIRST=600 LEAFGP_TWIN_COUNT=20000 cargo test --release -p leafgp --test noise_twin -- --ignored`

#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, reason = "a test and its helpers")]

mod double;

use double::Double;
use leafgp::instance::Instance;
use leafgp_solver::certificate::{Certificate, verify};
use leafgp_solver::search::{SearchOptions, Status, certify, minimize};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

/// A variable as its JSON, and the values that tell cells of `splits` apart.
fn random_variable(rng: &mut ChaCha8Rng, kind: usize) -> (Value, Vec<f64>) {
    let count = rng.random_range(2..=4);
    match kind {
        0 => {
            let lower = rng.random_range(-2..3);
            let values = (0..count).map(|k| f64::from(lower + k)).collect();
            (json!({"type": "integer", "lower": lower, "upper": lower + count - 1}), values)
        }
        1 => (json!({"type": "binary"}), vec![0.0, 1.0]),
        2 => {
            let values: Vec<f64> = (0..count).map(|k| f64::from(k * k) * 0.5 - 1.0).collect();
            (json!({"type": "discrete", "values": values}), values)
        }
        3 => (json!({"type": "categorical", "categories": count}), (0..count).map(f64::from).collect()),
        4 => {
            let values: Vec<f64> = (0..count).map(|k| f64::from(k) * 0.25).collect();
            (
                json!({"type": "continuous", "lower": 0, "upper": f64::from(count - 1) * 0.25, "step": 0.25}),
                values,
            )
        }
        _ => (json!({"type": "continuous", "lower": -1, "upper": 2}), vec![]),
    }
}

/// A tree of at most `depth` levels; thresholds of reals are noted in `thresholds`.
fn random_tree(
    rng: &mut ChaCha8Rng,
    variables: &[Value],
    thresholds: &mut [Vec<f64>],
    depth: usize,
) -> Vec<Value> {
    fn grow(
        rng: &mut ChaCha8Rng,
        variables: &[Value],
        thresholds: &mut [Vec<f64>],
        depth: usize,
        nodes: &mut Vec<Value>,
        leaves: &mut usize,
    ) -> usize {
        let at = nodes.len();
        nodes.push(Value::Null);
        if depth == 0 || rng.random_bool(0.15) {
            nodes[at] = json!({"leaf": *leaves, "value": 0});
            *leaves += 1;
            return at;
        }
        let f = rng.random_range(0..variables.len());
        let split = match variables[f]["type"].as_str().unwrap() {
            "categorical" => {
                let levels = variables[f]["categories"].as_u64().unwrap();
                let mut left: Vec<u64> = (0..levels).filter(|_| rng.random_bool(0.5)).collect();
                if left.is_empty() || left.len() as u64 == levels {
                    left = vec![rng.random_range(0..levels)];
                }
                json!({"feature": f, "categories": left})
            }
            _ => {
                let threshold = f64::from(rng.random_range(-8..16)) * 0.125;
                thresholds[f].push(threshold);
                json!({"feature": f, "threshold": threshold})
            }
        };
        let left = grow(rng, variables, thresholds, depth - 1, nodes, leaves);
        let right = grow(rng, variables, thresholds, depth - 1, nodes, leaves);
        nodes[at] = split;
        nodes[at]["left"] = json!(left);
        nodes[at]["right"] = json!(right);
        at
    }
    let mut nodes = Vec::new();
    grow(rng, variables, thresholds, depth, &mut nodes, &mut 0);
    nodes
}

/// The leaf of a point, read from the tree's JSON.
fn leaf(tree: &[Value], x: &[f64]) -> u64 {
    let mut node = &tree[0];
    while node.get("leaf").is_none() {
        let value = x[node["feature"].as_u64().unwrap() as usize];
        let left = match node.get("threshold") {
            Some(threshold) => value <= threshold.as_f64().unwrap(),
            None => {
                node["categories"].as_array().unwrap().iter().any(|level| level.as_f64().unwrap() == value)
            }
        };
        node = &tree[node[if left { "left" } else { "right" }].as_u64().unwrap() as usize];
    }
    node["leaf"].as_u64().unwrap()
}

/// `L` with `L L' = A`, then `A^-1 b` for each right side.
fn solve(mut a: Vec<Vec<Double>>, rights: &[Vec<Double>]) -> Vec<Vec<Double>> {
    let n = a.len();
    for j in 0..n {
        for k in 0..j {
            let factor = a[j][k];
            for i in j..n {
                a[i][j] = a[i][j] - a[i][k] * factor;
            }
        }
        let root = a[j][j].sqrt();
        for i in j..n {
            a[i][j] = a[i][j] / root;
        }
    }
    let solved = |right: &Vec<Double>| {
        let mut x = right.clone();
        for i in 0..n {
            for k in 0..i {
                x[i] = x[i] - a[i][k] * x[k];
            }
            x[i] = x[i] / a[i][i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                x[i] = x[i] - a[k][i] * x[k];
            }
            x[i] = x[i] / a[i][i];
        }
        x
    };
    rights.iter().map(solved).collect()
}

/// A rule as text and as what it means; over numbers that are listed only, so that whole cells keep it or break it.
type Rule = (String, Box<dyn Fn(&[f64]) -> bool>);

fn random_rule(rng: &mut ChaCha8Rng, variables: &[Value]) -> Option<Rule> {
    let listed = |v: &Value| {
        let kind = v["type"].as_str().unwrap();
        kind != "categorical" && (kind != "continuous" || v.get("step").is_some())
    };
    let numbers: Vec<usize> = (0..variables.len()).filter(|&i| listed(&variables[i])).collect();
    let &first = numbers.first()?;
    let &last = numbers.last()?;
    // No value that the variables take lies on a bound.
    let bound = f64::from(rng.random_range(-4..12)) * 0.25 + 0.0625;
    Some(match rng.random_range(0..3) {
        0 => (
            format!("x{first} + 2 * x{last} <= {bound}"),
            Box::new(move |x| x[first] + 2.0 * x[last] <= bound),
        ),
        1 => (
            format!("x{first} * x{last} >= {bound} or x{last} <= 0.0625"),
            Box::new(move |x| x[first] * x[last] >= bound || x[last] <= 0.0625),
        ),
        _ => (
            format!("x{first} >= {bound} implies x{last} <= {bound}"),
            Box::new(move |x| x[first] < bound || x[last] <= bound),
        ),
    })
}

/// What one family has seen.
#[derive(Debug, Default)]
struct Seen {
    compared: usize,
    infeasible: usize,
    worst_objective: f64,
}

/// Makes the instance of a seed, and compares the library's answer and its verified bound with the optimum.
fn compare(seed: u64, seen: &mut Seen) {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    // Half of the spaces are listed alone, the others may have reals.
    let kinds = if seed.is_multiple_of(2) { 5 } else { 6 };
    let (variables, mut values): (Vec<Value>, Vec<Vec<f64>>) = (0..rng.random_range(1..=3))
        .map(|_| {
            let kind = rng.random_range(0..kinds);
            random_variable(rng, kind)
        })
        .unzip();
    let mut thresholds = vec![Vec::new(); variables.len()];
    let trees: Vec<Vec<Value>> = (0..rng.random_range(1..=7))
        .map(|_| {
            let depth = rng.random_range(1..=3);
            random_tree(rng, &variables, &mut thresholds, depth)
        })
        .collect();
    for (values, thresholds) in values.iter_mut().zip(&thresholds).filter(|(values, _)| values.is_empty()) {
        // One value of each cell: its upper end.
        *values = thresholds.iter().copied().filter(|t| (-1.0..2.0).contains(t)).chain([2.0]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
    }
    let rule = if seed.is_multiple_of(3) { random_rule(rng, &variables) } else { None };

    let signal = [1.0, 0.05, 20.0, 1e6][rng.random_range(0..4)];
    let noise = signal * 10f64.powf(rng.random_range(-11.99..3.0));
    let kappa = [0.0, 0.5, 1.96, 10.0][rng.random_range(0..4)];
    let scale = [0.0, 1e-6, 1.0, 1e3][rng.random_range(0..4)];
    let mut points = vec![Vec::new()];
    for values in &values {
        points =
            points.iter().flat_map(|p: &Vec<f64>| values.iter().map(|&v| [&p[..], &[v]].concat())).collect();
    }
    // Some of the points measured, some of those more than once.
    let share = [0.1, 0.6, 1.0][rng.random_range(0..3)];
    let mut rows: Vec<Vec<f64>> = points.iter().filter(|_| rng.random_bool(share)).cloned().collect();
    rows.truncate(12);
    for _ in 0..=rng.random_range(0..3) {
        rows.push(points[rng.random_range(0..points.len())].clone());
    }
    let y: Vec<f64> = rows.iter().map(|_| scale * f64::from(rng.random_range(-1000..1000)) * 0.001).collect();
    let constraints: Vec<&str> = rule.iter().map(|(text, _)| text.as_str()).collect();
    let text = json!({
        "name": format!("twin-{seed}"), "kappa": kappa, "signal_variance": signal, "noise_variance": noise,
        "variables": variables, "trees": trees, "X": rows, "y": y, "constraints": constraints,
    });

    // The twin: every cell's mean and deviation by an explicit solution, trees without a split left out as they are the same everywhere.
    let splitting: Vec<&Vec<Value>> = trees.iter().filter(|tree| tree.len() > 1).collect();
    let ends = |x: &Vec<f64>| splitting.iter().map(|tree| leaf(tree, x)).collect::<Vec<u64>>();
    // Without a split nothing is learned: no two points are alike.
    let share = |a: &[u64], b: &[u64]| {
        let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
        Double::from(signal) * Double::from(equal as f64) / Double::from(splitting.len().max(1) as f64)
    };
    let measured: Vec<Vec<u64>> = rows.iter().map(ends).collect();
    let mut gram: Vec<Vec<Double>> =
        measured.iter().map(|a| measured.iter().map(|b| share(a, b)).collect()).collect();
    for (i, row) in gram.iter_mut().enumerate() {
        row[i] = row[i] + Double::from(noise);
    }
    let feasible: Vec<Vec<f64>> =
        points.iter().filter(|x| rule.as_ref().is_none_or(|(_, holds)| holds(x))).cloned().collect();
    let objective: Vec<f64> = {
        let cross: Vec<Vec<Double>> = feasible
            .iter()
            .map(|x| {
                let cell = ends(x);
                measured.iter().map(|row| share(&cell, row)).collect()
            })
            .collect();
        let targets: Vec<Double> = y.iter().map(|&y| Double::from(y)).collect();
        let solved = solve(gram, &[&[targets][..], &cross].concat());
        let dot =
            |a: &[Double], b: &[Double]| a.iter().zip(b).fold(Double::ZERO, |sum, (&a, &b)| sum + a * b);
        let of = |(k, solution): (&Vec<Double>, &Vec<Double>)| {
            let variance = Double::from(signal) - dot(k, solution);
            (dot(k, &solved[0]) - Double::from(kappa) * variance.sqrt()).round()
        };
        cross.iter().zip(&solved[1..]).map(of).collect()
    };

    let instance = Instance::parse(&text.to_string(), "twin").unwrap();
    let statement = instance.problem().unwrap();
    let problem = statement.search();
    let mut options = SearchOptions::default();
    (options.gap, options.absolute_gap) = (1e-6, 0.0);
    let report = minimize(&problem, &options).unwrap();
    let Some(optimum) = objective.iter().copied().min_by(f64::total_cmp) else {
        assert_eq!(report.status, Status::Infeasible, "{text}");
        seen.infeasible += 1;
        return;
    };
    let size = y.iter().fold(optimum.abs(), |a, y| a.max(y.abs()));
    assert_eq!(report.status, Status::Optimal, "gap {}: {text}", report.gap);
    let found = report.incumbent.as_ref().unwrap();
    let error = (found.objective - optimum).abs() / size.max(f64::MIN_POSITIVE);
    assert!(error <= 1.1e-6, "{} instead of {optimum}: {text}", found.objective);
    assert!(rule.as_ref().is_none_or(|(_, holds)| holds(&found.x)), "{:?} breaks the rule: {text}", found.x);
    assert!(report.best_bound <= optimum + 1e-9 * size, "{} above {optimum}: {text}", report.best_bound);
    let certificate = certify(&problem, &report, &options).unwrap();
    let certificate = Certificate::read(&certificate.write()).unwrap();
    let verified = verify(&problem, &certificate).unwrap();
    // The optimum is the nearest f64 of the true one.
    assert!(verified.bound <= optimum.next_up(), "verified {} above {optimum}: {text}", verified.bound);
    seen.compared += 1;
    seen.worst_objective = seen.worst_objective.max(error);
}

fn compare_all(seeds: std::ops::Range<u64>) {
    let mut seen = Seen::default();
    let n = seeds.end - seeds.start;
    seeds.for_each(|seed| compare(seed, &mut seen));
    println!("{n} instances, none wrong: {seen:?}");
    assert!(seen.compared as u64 * 10 >= n * 9 && seen.infeasible > 0, "{seen:?}");
}

#[test]
fn answers_and_verified_bounds_agree_with_32_digits() {
    compare_all(0..600);
}

/// See the head of this file.
#[test]
#[ignore = "minutes"]
fn many_answers_and_verified_bounds_agree_with_32_digits() {
    let setting = |name: &str, default| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let first: u64 = setting("LEAFGP_TWIN_FIRST", 600);
    compare_all(first..first + setting("LEAFGP_TWIN_COUNT", 20_000));
}
