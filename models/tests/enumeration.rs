//! Optima of random small models, of every library, equal those over all cells: a twin that knows nothing of forests, only how to predict.

mod support;

use leafgp_constraints::{Domain, Variable};
use leafgp_models::{Binding, Ensemble, FeatureKind, Goal, ReadOptions, Space};
use leafgp_solver::{SearchOptions, Status};
use support::random::{Numbers, THRESHOLDS, random_lightgbm, random_xgboost};

/// Every value of a variable at which some model could change its answer, and one between each two.
fn candidates(domain: &Domain) -> Vec<f64> {
    if let Domain::Categorical { levels } = domain {
        return (0..*levels).map(|level| level as f64).collect();
    }
    let (lower, upper) = domain.bounds();
    let mut values = vec![lower, upper];
    let zero = f64::from(1e-35_f32);
    for t in THRESHOLDS.into_iter().chain([zero, -zero]) {
        let single = t as f32;
        let middle = |other: f32| 0.5 * (f64::from(single) + f64::from(other));
        for at in [t, f64::from(single), middle(single.next_down()), middle(single.next_up())] {
            values.extend([at, at.next_up(), at.next_down()]);
        }
    }
    values.retain(|v| domain.contains(*v));
    if let Domain::Integer { .. } = domain {
        values.extend((lower as i64..=upper as i64).map(|v| v as f64));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn random_domain(numbers: &mut Numbers) -> Domain {
    match numbers.next(5) {
        0 => Domain::Integer { lower: -2.0, upper: 3.0 },
        1 => Domain::Continuous { lower: 0.0, upper: 1.5 },
        2 => Domain::Discrete(vec![-1e-36, 0.0, 0.1f32.into(), 0.5]),
        3 => Domain::Continuous { lower: 0.0, upper: 0.0 },
        _ => Domain::Continuous { lower: -1.0, upper: 3.0 },
    }
}

/// The best prediction over all combinations of candidates.
fn enumerate(ensemble: &Ensemble, binding: &Binding, domains: &[Domain], goal: Goal) -> f64 {
    let lists: Vec<Vec<f64>> = domains.iter().map(candidates).collect();
    let mut best = f64::NAN;
    let mut at = vec![0; lists.len()];
    loop {
        let x: Vec<f64> = at.iter().zip(&lists).map(|(&i, list)| list[i]).collect();
        let value = ensemble.predict(&binding.features_of(&x));
        let is_better = if goal == Goal::Maximize { value > best } else { value < best };
        if best.is_nan() || is_better {
            best = value;
        }
        let Some(next) = (0..at.len()).find(|&i| at[i] + 1 < lists[i].len()) else { return best };
        at[next] += 1;
        at[..next].fill(0);
    }
}

/// The forest says what the model says, at random combinations of candidates.
fn check_forest(ensemble: &Ensemble, binding: &Binding, domains: &[Domain], numbers: &mut Numbers) {
    let bound = ensemble.to_forest(domains, binding, Goal::Maximize).unwrap();
    let lists: Vec<Vec<f64>> = domains.iter().map(candidates).collect();
    for _ in 0..300 {
        let x: Vec<f64> = lists.iter().map(|list| numbers.pick(list)).collect();
        let expected = ensemble.raw(&binding.features_of(&x));
        let found = -bound.objective.value(&bound.forest.active_leaves(&x)) / bound.scale;
        assert!(
            (found - expected).abs() <= 1e-12 + ensemble.rounding(),
            "{x:?}: {found} instead of {expected}"
        );
    }
}

fn check(n_models: usize, seed: u64) {
    let mut numbers = Numbers(seed);
    for i in 0..n_models {
        let text = if i % 2 == 0 { random_lightgbm(&mut numbers) } else { random_xgboost(&mut numbers) };
        let ensemble = Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert!(matches!(ensemble.features()[3].kind, FeatureKind::Categorical { .. }));
        // The variables in another order than the features.
        let metal = Variable {
            name: "metal".into(),
            domain: Domain::Categorical { levels: 4 },
            level_names: ["4", "0", "2", "1"].map(String::from).to_vec(),
        };
        let mut variables = vec![metal];
        for name in ["c", "a", "b"] {
            let domain = random_domain(&mut numbers);
            variables.push(Variable { name: name.into(), domain, level_names: Vec::new() });
        }
        let binding = Binding::by_name(&ensemble, &variables).unwrap();
        let domains: Vec<Domain> = variables.into_iter().map(|variable| variable.domain).collect();
        check_forest(&ensemble, &binding, &domains, &mut numbers);
        let goal = if numbers.next(2) == 0 { Goal::Maximize } else { Goal::Minimize };
        let expected = enumerate(&ensemble, &binding, &domains, goal);
        let mut options = SearchOptions::default();
        options.gap = 0.0;
        let optimum = ensemble.optimize(&Space::new(&domains, &binding), goal, &options).unwrap();
        let best = optimum.best.unwrap();
        assert_eq!(optimum.status, Status::Optimal, "model {i}");
        let slack = 1e-6 + ensemble.rounding();
        assert!(
            (best.value - expected).abs() <= slack,
            "model {i}: {} instead of {expected}\n{text}",
            best.value
        );
        let beyond = if goal == Goal::Maximize { expected - optimum.bound } else { optimum.bound - expected };
        assert!(beyond <= slack, "model {i}: bound {} of {expected}\n{text}", optimum.bound);
        let is_inside = best.point.iter().zip(&domains).all(|(&v, domain)| domain.contains(v));
        assert!(is_inside && best.cell.contains(&best.point), "model {i}: {:?}", best.point);
    }
}

#[test]
fn optima_of_random_models_are_those_over_all_cells() {
    check(60, 7);
}

/// `cargo test --release -p leafgp-models --test enumeration -- --ignored`
#[test]
#[ignore = "a minute"]
fn optima_of_many_random_models_are_those_over_all_cells() {
    check(600, 8);
}
