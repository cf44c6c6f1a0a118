//! The trainer beside LightGBM 4.7 on its golden fits.
//!
//! Exact tier: tree by tree the same features, the same partition of the training rows at every threshold, the same level sets,
//! and predictions within 1e-6. Quality tier: 5-fold error at most 2 % above LightGBM's on each case, 0.5 % on average.

mod gbdt_support;

use gbdt_support::{Golden, golden};
use leafgp::gbdt::{self, GbdtModel};
use leafgp::solver::constraints::Variable;
use leafgp::solver::{Domain, Node, Rule, Tree};
use leafgp_models::{Binding, BoundForest, Ensemble, Goal, ReadOptions};
use serde_json::Value;

fn read(text: &str) -> Ensemble {
    Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn train(case: &Golden) -> GbdtModel {
    gbdt::train(&case.x, &case.domains, &case.y, None, &case.settings, 1).unwrap()
}

/// The first difference between a tree and its golden twin, walking both from their roots.
fn difference(case: &Golden, tree: &Tree, expected: &[Value]) -> Option<String> {
    let mut stack = vec![(0, 0usize)];
    while let Some((own, theirs)) = stack.pop() {
        let node = &expected[theirs];
        match &tree.nodes[own] {
            Node::Leaf { value, .. } => {
                let Some(golden) = node["value"].as_f64() else {
                    return Some(format!("node {theirs}: a leaf instead of {node}"));
                };
                let scale = case.predictions.iter().fold(0.0f64, |m, p| m.max(p.abs()));
                if (value - golden).abs() > 1e-6 * scale {
                    return Some(format!("node {theirs}: value {value} instead of {golden}"));
                }
            }
            Node::Split { feature, rule, left, right } => {
                if node["feature"].as_u64() != Some(*feature as u64) {
                    return Some(format!("node {theirs}: split on {feature} by {rule:?} instead of {node}"));
                }
                let same = match rule {
                    Rule::Threshold(own) => node["threshold"].as_f64().is_some_and(|golden| {
                        case.x.rows().all(|row| (row[*feature] <= *own) == (row[*feature] <= golden))
                    }),
                    Rule::Levels(own) => node["categories"].as_array().is_some_and(|golden| {
                        let mut golden: Vec<usize> =
                            golden.iter().map(|level| level.as_u64().unwrap() as usize).collect();
                        golden.sort_unstable();
                        own.iter().eq(golden)
                    }),
                };
                if !same {
                    return Some(format!("node {theirs}: {rule:?} instead of {node}"));
                }
                stack.push((*left, node["left"].as_u64().unwrap() as usize));
                stack.push((*right, node["right"].as_u64().unwrap() as usize));
            }
        }
    }
    None
}

#[test]
fn exact_tier() {
    let cases = golden();
    let mut failures = Vec::new();
    for case in &cases {
        let model = train(case);
        let trees = model.forest.trees();
        if trees.len() != case.trees.len() {
            failures.push(format!("{}: {} trees instead of {}", case.name, trees.len(), case.trees.len()));
        }
        let differences: Vec<String> = (0..trees.len().min(case.trees.len()))
            .filter_map(|t| difference(case, &trees[t], &case.trees[t]).map(|d| format!("tree {t}, {d}")))
            .collect();
        let worst = (case.x.rows().zip(&case.predictions))
            .map(|(row, golden)| {
                (model.predict(row) - golden).abs() / golden.abs().max(1e-3 * case.y[0].abs())
            })
            .fold(0.0f64, f64::max);
        println!(
            "{}: {} of {} trees differ, largest relative difference of predictions {worst:.1e}",
            case.name,
            differences.len(),
            trees.len()
        );
        if worst > 1e-6 {
            failures.push(format!("{}: predictions differ by {worst:.1e}", case.name));
        }
        if let Some(first) = differences.first() {
            failures.push(format!("{}: {first}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn quality_tier() {
    let cases = golden();
    let mut ratios = Vec::new();
    for case in &cases {
        let own = gbdt::cross_validate(&case.x, &case.domains, &case.y, None, &case.settings, 5, 1).unwrap();
        let ratio = own.rmse / case.cv5_rmse;
        println!("{}: 5-fold RMSE {:.6} against {:.6}, ratio {ratio:.5}", case.name, own.rmse, case.cv5_rmse);
        assert!(ratio <= 1.02, "{}: {ratio}", case.name);
        ratios.push(ratio);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean <= 1.005, "mean ratio {mean}");
}

#[test]
fn lightgbm_text_models_predict_the_same() {
    let cases = golden();
    for case in &cases {
        let imported = read(&case.text);
        assert_eq!(imported.n_trees(), case.trees.len(), "{}", case.name);
        let variable = |(i, domain): (usize, &Domain)| Variable {
            name: format!("x{i}"),
            domain: domain.clone(),
            level_names: (0..domain.levels().unwrap_or(0)).map(|level| level.to_string()).collect(),
        };
        let variables: Vec<Variable> = case.domains.iter().enumerate().map(variable).collect();
        let binding = Binding::by_position(&imported, &variables).unwrap();
        let BoundForest { forest, .. } = imported.to_forest(&case.domains, &binding, Goal::Minimize).unwrap();
        for (row, golden) in case.x.rows().zip(&case.predictions) {
            let tolerance = 1e-12 * golden.abs().max(1e-12);
            assert!((imported.predict(row) - golden).abs() <= tolerance, "{}", case.name);
            assert!((forest.predict(row) - golden).abs() <= tolerance, "{}", case.name);
        }
    }
}

/// Small models written by LightGBM 4.7 on one table with zeros, NaN and a category, by what counts as missing, with its predictions.
#[test]
fn lightgbm_text_models_keep_their_missing_types() {
    macro_rules! case {
        ($name:literal) => {
            (
                include_str!(concat!("gbdt_support/models/missing_", $name, ".lgb.txt")),
                include_str!(concat!("gbdt_support/models/missing_", $name, ".json")),
            )
        };
    }
    for (kind, (text, expected)) in [case!("none"), case!("zero"), case!("nan")].into_iter().enumerate() {
        let model = read(text);
        let mut kinds = [0; 3];
        let mut n_categorical = 0;
        let lines = text.lines().filter_map(|line| line.strip_prefix("decision_type="));
        for decision in lines.flat_map(str::split_whitespace) {
            match decision.parse::<u8>().unwrap() {
                decision if decision & 1 > 0 => n_categorical += 1,
                decision => kinds[usize::from(decision >> 2 & 3)] += 1,
            }
        }
        assert!(kinds[kind] > 0 && n_categorical > 0, "model {kind} has splits of its kind: {kinds:?}");
        let expected: Value = serde_json::from_str(expected).unwrap();
        let rows = expected["rows"].as_array().unwrap();
        for (row, golden) in rows.iter().zip(expected["predictions"].as_array().unwrap()) {
            let row: Vec<f64> =
                row.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect();
            let (own, golden) = (model.predict(&row), golden.as_f64().unwrap());
            assert!(
                (own - golden).abs() <= 1e-12 * golden.abs(),
                "{kind} {row:?}: {own} instead of {golden}"
            );
        }
    }
}
