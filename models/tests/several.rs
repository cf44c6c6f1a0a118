//! Problems of one and two random models with constraints over variables of all kinds: optima and smallest changes equal those of enumeration.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use leafgp_constraints::{Domain, Variable};
use leafgp_models::{
    Binding, Ensemble, Goal, ModelProblem, NamedModel, Reach, ReachOutcome, ReadOptions, Target,
};
use leafgp_solver::Status;
use support::problems::{
    At, Objective, Rule, each_piece, enumerate, models, objective, odd, options, rule, stumps, values,
    variables,
};
use support::random::Numbers;

/// Checks optima of random problems; returns how many were feasible and how many not.
fn check(n_problems: usize, seed: u64) -> [usize; 2] {
    let mut numbers = Numbers(seed);
    let mut counts = [0, 0];
    for i in 0..n_problems {
        let n = 1 + numbers.next(2);
        let variables = variables(&mut numbers);
        let models = models(&mut numbers, n, &variables);
        let mut rules: Vec<Rule> = (0..numbers.next(4)).map(|_| rule(&mut numbers, n)).collect();
        let mut problem = ModelProblem::new(variables.clone(), models.clone()).unwrap();
        problem.define("second or first", ["first", "second"][n - 1], false).unwrap();
        for (k, rule) in rules.iter_mut().enumerate() {
            problem.constrain(&format!("rule {k}"), &rule.text).unwrap();
        }
        let objective = objective(&mut numbers, n);
        let expected = enumerate(&models, &variables, || rules.iter(), &objective);
        let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
        let what = format!("problem {i}: {} under {texts:?}", objective.text);
        let maximize = numbers.next(2) == 0;
        let (text, goal) = if maximize {
            (format!("-({})", objective.text), Goal::Maximize)
        } else {
            (objective.text.clone(), Goal::Minimize)
        };
        let optimum = problem.optimize(&text, goal, &[], &options()).unwrap();
        let sign = if maximize { -1.0 } else { 1.0 };
        let Some(expected) = expected else {
            assert_eq!(optimum.status, Status::Infeasible, "{what}: {:?}", optimum.best);
            counts[1] += 1;
            continue;
        };
        counts[0] += 1;
        assert_eq!(optimum.status, Status::Optimal, "{what}: expected {expected}, {optimum:?}");
        let best = optimum.best.unwrap();
        let slack = 1e-6 * expected.abs().max(1.0);
        let value = sign * best.value;
        assert!((value - expected).abs() <= slack, "{what}: {value} instead of {expected}");
        assert!(
            sign * optimum.bound <= expected + 1e-12 * expected.abs().max(1.0),
            "{what}: bound {} of {expected}",
            optimum.bound
        );
        // The point is what it says: feasible and of that value by the twin's own functions.
        let y: Vec<f64> =
            models.iter().map(|m| m.ensemble.predict(&m.binding.features_of(&best.point))).collect();
        let at = At { x: &best.point, y: &y };
        assert_eq!(best.predictions, y);
        assert!(((objective.value)(&at) - value).abs() <= 1e-9, "{what}");
        for rule in &rules {
            let excess = rule.slope * best.point[2] + (rule.rest)(&at);
            assert!(excess <= 1e-9, "{what}: {} is broken by {excess}", rule.text);
        }
    }
    counts
}

/// Checks lists of the best cells of random problems; returns how many were full, and how many cells in them hold values that differ.
fn check_lists(n_problems: usize, seed: u64, k: usize) -> [usize; 2] {
    let mut numbers = Numbers(seed);
    let mut counts = [0, 0];
    for i in 0..n_problems {
        let n = 1 + numbers.next(2);
        let variables = variables(&mut numbers);
        let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
        let models = models(&mut numbers, n, &variables);
        let rules: Vec<Rule> = (0..numbers.next(3)).map(|_| rule(&mut numbers, n)).collect();
        let mut problem = ModelProblem::new(variables.clone(), models.clone()).unwrap();
        problem.define("second or first", ["first", "second"][n - 1], false).unwrap();
        for (k, rule) in rules.iter().enumerate() {
            problem.constrain(&format!("rule {k}"), &rule.text).unwrap();
        }
        let objective = objective(&mut numbers, n);
        let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
        let what = format!("problem {i}: {} under {texts:?}", objective.text);
        // A cell is what all trees of all models say of a point.
        let forests: Vec<_> = models
            .iter()
            .map(|model| model.ensemble.to_forest(&domains, &model.binding, Goal::Minimize).unwrap().forest)
            .collect();
        let leaves = |x: &[f64]| -> Vec<usize> { forests.iter().flat_map(|f| f.active_leaves(x)).collect() };
        let mut pieces = Vec::new();
        let mut cells: BTreeMap<Vec<usize>, [f64; 2]> = BTreeMap::new();
        each_piece(
            &models,
            &variables,
            || rules.iter(),
            &objective,
            |x, value| {
                let key = leaves(x);
                if let Some(value) = value {
                    let [low, high] = cells.entry(key.clone()).or_insert([value; 2]);
                    (*low, *high) = (low.min(value), high.max(value));
                }
                pieces.push((x.to_vec(), key));
            },
        );
        let mut expected: Vec<f64> = cells.values().map(|[low, _]| *low).collect();
        expected.sort_by(f64::total_cmp);
        let mut options = options();
        options.k_best = k;
        let optimum = problem.optimize(&objective.text, Goal::Minimize, &[], &options).unwrap();
        let listed: Vec<_> = optimum.best.iter().chain(&optimum.others).collect();
        assert_eq!(listed.len(), k.min(expected.len()), "{what}");
        counts[0] += usize::from(listed.len() == k);
        let Some(&best) = expected.first() else {
            assert_eq!(optimum.status, Status::Infeasible, "{what}");
            continue;
        };
        // Whatever the clock and the rungs of a ladder leave of the search, what it says is true.
        for microseconds in [300, 800, 2_000, 8_000] {
            options.time_limit = Some(Duration::from_micros(microseconds));
            let cut = problem.optimize(&objective.text, Goal::Minimize, &[], &options).unwrap();
            let listed: Vec<_> = cut.best.iter().chain(&cut.others).collect();
            assert!(cut.bound <= best + 1e-12 * best.abs().max(1.0), "{what}: {} of {best}", cut.bound);
            assert!(cut.status != Status::Optimal || listed.len() == k.min(expected.len()), "{what}");
            for (candidate, expected) in listed.iter().zip(&expected) {
                let excess = candidate.value - expected;
                let slack = 1e-6 * expected.abs().max(1.0);
                assert!(excess >= -slack && (cut.status != Status::Optimal || excess <= slack), "{what}");
            }
        }
        assert_eq!(optimum.status, Status::Optimal, "{what}");
        assert!(optimum.bound <= best + 1e-12 * best.abs().max(1.0), "{what}: {} of {best}", optimum.bound);
        for (rank, (candidate, expected)) in listed.iter().zip(&expected).enumerate() {
            let slack = 1e-6 * expected.abs().max(1.0);
            let value = candidate.value;
            assert!((value - expected).abs() <= slack, "{what}: number {rank} is {value}, not {expected}");
            let key = leaves(&candidate.point);
            let [least, largest] = cells[&key];
            assert!((value - least).abs() <= slack, "{what}: {value} in a cell with {least}");
            counts[1] += usize::from(largest - least > 1e-3);
            assert!(listed[..rank].iter().all(|other| leaves(&other.point) != key), "{what}: twice the same");
            for (x, other) in &pieces {
                assert_eq!(candidate.cell.contains(x), *other == key, "{what}: {:?}", candidate.cell);
            }
        }
    }
    counts
}

/// Checks smallest changes; returns how many targets were reached and how many not.
fn check_reach(n_problems: usize, seed: u64) -> [usize; 2] {
    let mut numbers = Numbers(seed);
    let mut counts = [0, 0];
    for i in 0..n_problems {
        let variables = variables(&mut numbers);
        let models = models(&mut numbers, 1, &variables);
        let mut rules: Vec<Rule> = (0..numbers.next(3)).map(|_| rule(&mut numbers, 1)).collect();
        let mut problem = ModelProblem::new(variables.clone(), models.clone()).unwrap();
        problem.define("second or first", "first", false).unwrap();
        for (k, rule) in rules.iter().enumerate() {
            problem.constrain(&format!("rule {k}"), &rule.text).unwrap();
        }
        let b = values(&variables[1].domain);
        let from = [
            numbers.next(6) as f64 - 2.0,
            numbers.pick(&b),
            odd(&mut numbers, -0.5, 1.6),
            numbers.next(3) as f64,
        ];
        let weights: [f64; 4] = std::array::from_fn(|_| numbers.next(5) as f64 / 2.0);
        let limit = odd(&mut numbers, -15.0, 20.0);
        let unbound = enumerate(
            &models,
            &variables,
            || rules.iter(),
            &Objective { text: String::new(), value: Box::new(|p| -p.y[0]), kinks: Vec::new() },
        );
        rules.push(Rule { text: String::new(), slope: 0.0, rest: Box::new(move |p| limit - p.y[0]) });
        let widths: Vec<f64> = variables.iter().map(|v| v.domain.bounds().1 - v.domain.bounds().0).collect();
        let distance = Objective {
            text: String::new(),
            value: Box::new(move |p| {
                let numbers: f64 = (0..3).map(|v| weights[v] * (p.x[v] - from[v]).abs() / widths[v]).sum();
                numbers + if p.x[3] == from[3] { 0.0 } else { weights[3] }
            }),
            kinks: vec![from[2]],
        };
        let expected = enumerate(&models, &variables, || rules.iter(), &distance);
        let reach = Reach { from: &from, weights: &weights, model: 0, target: Target::AtLeast(limit) };
        match (problem.reach(&reach, &[], &options()).unwrap(), expected) {
            (ReachOutcome::Nearest(nearest), Some(expected)) => {
                counts[0] += 1;
                assert_eq!(nearest.status, Status::Optimal, "problem {i}");
                let best = nearest.best.unwrap();
                assert!(
                    (best.value - expected).abs() <= 1e-6,
                    "problem {i}: {} instead of {expected}",
                    best.value
                );
                assert!(nearest.bound <= expected + 1e-12 && best.predictions[0] >= limit, "problem {i}");
            }
            (ReachOutcome::Unreachable(best), None) => {
                counts[1] += 1;
                assert_eq!(best.best.map(|best| -best.value).is_some(), unbound.is_some(), "problem {i}");
                assert!(best.bound < limit, "problem {i}: {} of {limit}", best.bound);
            }
            (found, expected) => panic!("problem {i}: {found:?} instead of {expected:?}"),
        }
    }
    counts
}

#[test]
fn optima_of_random_problems_are_those_of_enumeration() {
    let [feasible, infeasible] = check(60, 11);
    assert!(feasible > 20 && infeasible > 3, "{feasible} feasible, {infeasible} not");
}

#[test]
fn the_best_cells_of_random_problems_are_those_of_enumeration() {
    let [full, wide] = check_lists(30, 15, 4);
    assert!(full > 15 && wide > 20, "{full} full lists, {wide} cells with values that differ");
}

#[test]
fn smallest_changes_are_those_of_enumeration() {
    let [reached, not] = check_reach(40, 12);
    assert!(reached > 10 && not > 3, "{reached} reached, {not} not");
}

/// `cargo test --release -p leafgp-models --test several -- --ignored`
#[test]
#[ignore = "minutes"]
fn optima_and_changes_of_many_random_problems_are_those_of_enumeration() {
    check(500, 13);
    check_reach(500, 14);
    check_lists(300, 16, 5);
}

/// Any seven of ten doses must be high, and the cost leads away from all such points: the first is found before the tree is searched.
#[test]
fn a_first_point_is_found_where_the_objective_leads_away_from_all_of_them() {
    let names: Vec<String> = (0..10).map(|i| format!("d{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let domain = Domain::Continuous { lower: 0.0, upper: 1.0 };
    let variables: Vec<Variable> = names
        .iter()
        .map(|name| Variable { name: (*name).into(), domain: domain.clone(), level_names: Vec::new() })
        .collect();
    let good: Vec<_> = (0..10).map(|i| (i, 0.9, 0.0, 1.0)).collect();
    let pure: Vec<_> = (0..10).map(|i| (i, 0.95, 1.0, 0.0)).collect();
    let model = |name: &str, of: &[(usize, f64, f64, f64)]| {
        let ensemble = Ensemble::read(stumps(&names, of).as_bytes(), &ReadOptions::default()).unwrap();
        NamedModel::bind(name, ensemble, &variables, false).unwrap()
    };
    let models = vec![model("good", &good), model("pure", &pure)];
    let mut problem = ModelProblem::new(variables.clone(), models).unwrap();
    problem.constrain("good", "good >= 6.5").unwrap();
    problem.constrain("pure", "pure >= 8.5").unwrap();
    let mut options = options();
    options.node_limit = Some(1);
    let cost = names.join(" + ");
    let found = problem.optimize(&cost, Goal::Minimize, &[], &options).unwrap();
    assert!(found.best.is_some_and(|best| best.predictions[0] >= 7.0 && best.value >= 6.3), "none found");
}

/// A second layer exists from two layers on, and its dose is a whole number of spoons.
#[test]
fn hierarchical_variables_and_whole_definitions_hold() {
    let plain = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let variables = vec![
        plain("layers", Domain::Integer { lower: 1.0, upper: 4.0 }),
        plain("dose", Domain::Continuous { lower: 0.0, upper: 9.0 }),
    ];
    let text = stumps(&["layers", "dose"], &[(0, 2.5, 5.0, 0.0), (1, 3.5, 0.0, 4.0)]);
    let ensemble = Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    let binding = Binding::by_name(&ensemble, &variables).unwrap();
    let model = NamedModel { name: "first".into(), ensemble, binding };
    let mut problem = ModelProblem::new(variables, vec![model]).unwrap();
    problem.define("spoons", "dose / 3", true).unwrap();
    problem.active_if(1, "layers >= 2", 0.0).unwrap();
    let maximum = |objective: &str| {
        let optimum = problem.optimize(objective, Goal::Maximize, &[], &options()).unwrap();
        assert_eq!(optimum.status, Status::Optimal);
        let best = optimum.best.unwrap();
        (best.value, best.point)
    };
    // Two layers, two spoons: 5 + 4 - 0.1 (2 + 6).
    let (value, point) = maximum("first - 0.1 * (layers + dose)");
    assert!(
        (value - 8.2).abs() < 1e-6 && point[0] == 2.0 && (point[1] - 6.0).abs() < 1e-6,
        "{value} at {point:?}"
    );
    // A layer that costs more than the dose brings: one layer, no dose.
    let (value, point) = maximum("first - 5 * layers");
    assert_eq!((value, point), (0.0, vec![1.0, 0.0]));
}

/// A probability: the limit on it is one on the raw score, and a point exactly at it counts as the library predicts it.
#[test]
fn limits_on_a_model_with_a_bent_link_are_exact() {
    let variables = vec![Variable {
        name: "dose".into(),
        domain: Domain::Continuous { lower: 0.0, upper: 9.0 },
        level_names: Vec::new(),
    }];
    let text = stumps(&["dose"], &[(0, 2.0, -1.0, 0.5), (0, 4.0, 0.0, 1.5), (0, 6.0, 0.0, 1.0)])
        .replace("objective=regression", "objective=binary sigmoid:1");
    let ensemble = Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    let at = |dose: f64| ensemble.predict(&[dose]);
    for (limit, expected) in [(at(5.0), 4.0), (at(5.0).next_up(), 6.0), (at(3.0), 2.0), (0.0, 0.0)] {
        let binding = Binding::by_name(&ensemble, &variables).unwrap();
        let model = NamedModel { name: "yield".into(), ensemble: ensemble.clone(), binding };
        let mut problem = ModelProblem::new(variables.clone(), vec![model]).unwrap();
        problem.constrain("enough", &format!("`yield` >= {limit}")).unwrap();
        let optimum = problem.optimize("dose", Goal::Minimize, &[], &options()).unwrap();
        let best = optimum.best.unwrap();
        assert!(best.predictions[0] >= limit && (best.value - expected).abs() < 1e-5, "{limit}: {best:?}");
        assert!(optimum.bound <= expected + 1e-9, "{limit}: bound {}", optimum.bound);
    }
    let binding = Binding::by_name(&ensemble, &variables).unwrap();
    let best = ensemble.predict(&[9.0]);
    let model = NamedModel { name: "yield".into(), ensemble, binding };
    let mut problem = ModelProblem::new(variables, vec![model]).unwrap();
    problem.constrain("more than any", &format!("`yield` >= {}", best.next_up())).unwrap();
    let optimum = problem.optimize("dose", Goal::Minimize, &[], &options()).unwrap();
    assert_eq!(optimum.status, Status::Infeasible);
}
