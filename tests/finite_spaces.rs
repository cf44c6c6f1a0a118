//! Finite spaces end: every feasible point is suggested once, then the space is exhausted. The feasible points are counted by a list of their own.

use leafgp::engine::{EngineError, Optimizer};
use leafgp::problem::{Preset, Problem, Settings, Variable};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A condition as text, and as what it means.
type Condition = (String, Box<dyn Fn(&[f64]) -> bool>);

/// A problem with at most 60 feasible points, and the list of them.
fn random_problem(rng: &mut ChaCha8Rng, settings: &Settings) -> (Problem, Vec<Vec<f64>>) {
    loop {
        let (variables, values) = random_variables(rng);
        let is_category: Vec<bool> = variables.iter().map(|v| !v.levels().is_empty()).collect();
        let n_conditions = rng.random_range(0..3);
        let conditions: Vec<Condition> =
            (0..n_conditions).map(|_| random_condition(rng, &values, &is_category)).collect();
        let mut points = vec![Vec::new()];
        for values in &values {
            points = points
                .iter()
                .flat_map(|point: &Vec<f64>| values.iter().map(|&v| [&point[..], &[v]].concat()))
                .collect();
        }
        points.retain(|point| conditions.iter().all(|(_, holds)| holds(point)));
        if points.is_empty() || points.len() > 60 {
            continue;
        }
        let mut builder = Problem::builder("finite").settings(settings.clone());
        for variable in variables {
            builder = builder.variable(variable);
        }
        for (k, (text, _)) in conditions.iter().enumerate() {
            builder = builder.constraint(format!("c{k}"), text.clone());
        }
        return (builder.build().unwrap(), points);
    }
}

/// One to four variables, and the values each may take.
fn random_variables(rng: &mut ChaCha8Rng) -> (Vec<Variable>, Vec<Vec<f64>>) {
    let n = rng.random_range(1..=4);
    let mut variables = Vec::new();
    let mut values: Vec<Vec<f64>> = Vec::new();
    for i in 0..n {
        let name = format!("v{i}");
        let count = rng.random_range(2..=7);
        let (variable, of): (Variable, Vec<f64>) = match rng.random_range(0..5) {
            0 => {
                let lower = rng.random_range(-3..4);
                let upper = lower + count - 1;
                (Variable::integer(name, lower, upper), (lower..=upper).map(|v| v as f64).collect())
            }
            1 => {
                let levels = (0..count).map(|level| format!("l{level}"));
                (Variable::categorical(name, levels), (0..count).map(|level| level as f64).collect())
            }
            2 => (Variable::binary(name), vec![0.0, 1.0]),
            3 => {
                let list: Vec<f64> = (0..count).map(|k| (k * k) as f64 * 0.5 + k as f64).collect();
                (Variable::discrete(name, list.clone()), list)
            }
            _ => {
                let list = (0..count).map(|k| (10 + 25 * k) as f64 / 100.0).collect::<Vec<f64>>();
                (Variable::grid(name, 0.1, list[list.len() - 1], 0.25).unwrap(), list)
            }
        };
        variables.push(variable);
        values.push(of);
    }
    (variables, values)
}

/// A weighted sum or a product below a bound, or a level that asks for something. Values are multiples of 0.05 and bounds are not, so nothing is a tie.
fn random_condition(rng: &mut ChaCha8Rng, values: &[Vec<f64>], is_category: &[bool]) -> Condition {
    let numbers: Vec<usize> = (0..values.len()).filter(|&i| !is_category[i]).collect();
    let category = (0..values.len()).find(|&i| is_category[i]);
    let bound = f64::from(rng.random_range(-5..40)) * 0.25 + 0.0125;
    match (category, numbers.as_slice()) {
        (Some(c), []) => (format!("not v{c} == 'l1'"), Box::new(move |x| x[c] != 1.0)),
        (Some(c), &[i, ..]) if rng.random_bool(0.5) => {
            (format!("v{c} == 'l0' implies v{i} <= {bound}"), Box::new(move |x| x[c] != 0.0 || x[i] <= bound))
        }
        (_, &[i, j, ..]) if rng.random_bool(0.3) => {
            (format!("v{i} * v{j} <= {bound}"), Box::new(move |x| x[i] * x[j] <= bound))
        }
        (_, numbers) => {
            let terms: Vec<(usize, f64)> =
                numbers.iter().map(|&i| (i, f64::from(rng.random_range(-2..=3)))).collect();
            let text: Vec<String> = terms.iter().map(|(i, weight)| format!("({weight}) * v{i}")).collect();
            let sum = move |x: &[f64]| terms.iter().map(|&(i, weight)| weight * x[i]).sum::<f64>();
            (format!("{} <= {bound}", text.join(" + ")), Box::new(move |x| sum(x) <= bound))
        }
    }
}

#[test]
fn every_feasible_point_of_152_random_problems_is_suggested_once_and_then_the_space_is_exhausted() {
    let mut rng = ChaCha8Rng::seed_from_u64(152);
    let presets = [Preset::Mixed, Preset::Proven, Preset::Smooth, Preset::Mixed];
    for k in 0..152 {
        let mut settings = Settings::with_preset(presets[k % presets.len()]);
        settings.seed = k as u64;
        settings.solver.threads = 1;
        let (problem, expected) = random_problem(&mut rng, &settings);
        let weights: Vec<f64> = problem.variables().iter().map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut optimizer = Optimizer::new(problem);
        let mut points: Vec<Vec<f64>> = Vec::new();
        let error = loop {
            match optimizer.ask() {
                Ok(suggestion) => {
                    let x = suggestion.point;
                    assert!(expected.contains(&x), "{k}: {x:?} is not feasible");
                    assert!(!points.contains(&x), "{k}: {x:?} again");
                    let value: f64 = x.iter().zip(&weights).map(|(x, weight)| weight * x * x.abs()).sum();
                    optimizer.tell(&x, value).unwrap();
                    points.push(x);
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error, EngineError::SpaceExhausted), "{k}: {error}");
        assert_eq!(points.len(), expected.len(), "{k}");
    }
}
