//! The models and small cases of the shared folder, where it is present.

mod support;

use std::time::Duration;

use leafgp_constraints::{Domain, Variable};
use leafgp_models::{Binding, Ensemble, Goal, ReadOptions, Space};
use leafgp_solver::{SearchOptions, Status};
use leafgp_testdata::shared;
use support::{check_predictions, model_files, open, points_file, read_json};

#[test]
fn all_shared_models_predict_as_their_libraries() {
    let Some(shared) = shared("models") else { return };
    let files = model_files(&shared);
    assert!(files.len() >= 14, "{} models", files.len());
    for file in files {
        check_predictions(&file);
    }
}

#[test]
fn shared_models_that_cannot_be_optimised_are_refused_by_name() {
    let Some(shared) = shared("models") else { return };
    let cases = [
        ("refuse-gblinear.json", "gblinear"),
        ("refuse-linear-trees.txt", "linear trees"),
        ("refuse-multiclass.txt", "3 classes"),
    ];
    for (name, expected) in cases {
        let file = shared.join(name);
        let error = Ensemble::open(&file, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error:?} should contain {expected:?}");
    }
    // One chosen class is a sum of trees.
    let class = ReadOptions::default().with_class(2);
    assert!(Ensemble::open(&shared.join("refuse-multiclass.txt"), &class).is_ok());
}

/// The box of the recorded data, a category with all its codes.
fn recorded_box(file: &std::path::Path, ensemble: &Ensemble) -> Vec<Variable> {
    let json = read_json(&points_file(file));
    let bounds = json["bounds"].as_array().unwrap();
    let variable = |(feature, bounds): (&leafgp_models::Feature, &serde_json::Value)| {
        let (lower, upper) = (bounds[0].as_f64().unwrap(), bounds[1].as_f64().unwrap());
        let levels = if feature.is_categorical() { upper as usize + 1 } else { 0 };
        let domain = match feature.is_categorical() {
            true => Domain::Categorical { levels },
            false => Domain::Continuous { lower, upper },
        };
        let level_names = (0..levels).map(|level| level.to_string()).collect();
        Variable { name: feature.name.clone(), domain, level_names }
    };
    ensemble.features().iter().zip(bounds).map(variable).collect()
}

fn check_optima(keep: impl Fn(&str) -> bool) {
    let Some(shared) = shared("models") else { return };
    let folder = shared;
    let expected = read_json(&folder.join("expected.json"));
    let mut n_checked = 0;
    for file in model_files(&folder) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if !keep(name) || expected.get(name).is_none() {
            continue;
        }
        let ensemble = open(&file);
        let variables = recorded_box(&file, &ensemble);
        let binding = Binding::by_name(&ensemble, &variables).unwrap();
        let domains: Vec<Domain> = variables.into_iter().map(|variable| variable.domain).collect();
        let mut options = SearchOptions::default();
        options.gap = 1e-6;
        options.time_limit = Some(Duration::from_secs(300));
        let optimum = ensemble.optimize(&Space::new(&domains, &binding), Goal::Maximize, &options).unwrap();
        let best = optimum.best.unwrap();
        println!(
            "{name}: {} bound {} {} nodes {:.2} s",
            best.value, optimum.bound, optimum.nodes, optimum.seconds
        );
        let known = expected[name]["maximum_prediction"].as_f64().unwrap();
        // The gap is relative to the raw score, which the exponential of a gamma model stretches.
        let slack = 4e-6 * known.abs();
        assert_eq!(optimum.status, Status::Optimal, "{name}");
        assert!((best.value - known).abs() <= slack, "{name}: {} instead of {known}", best.value);
        assert!(
            optimum.bound >= known - slack && optimum.bound <= known + 3.0 * slack,
            "{name}: {}",
            optimum.bound
        );
        assert_eq!(best.value, ensemble.predict(&binding.features_of(&best.point)), "{name}");
        n_checked += 1;
    }
    assert!(n_checked > 0);
}

#[test]
fn optima_of_the_small_shared_models_are_the_known_ones() {
    check_optima(|name| name.starts_with("concrete") || name.ends_with("missing"));
}

/// `cargo test --release -p leafgp-models --test shared -- --ignored --nocapture`
#[test]
#[ignore = "a minute"]
fn optima_of_all_shared_models_are_the_known_ones() {
    check_optima(|_| true);
}

fn number(name: &str, lower: f64, upper: f64) -> Variable {
    Variable { name: name.into(), domain: Domain::Continuous { lower, upper }, level_names: Vec::new() }
}

#[test]
fn small_cases_that_went_wrong_elsewhere_are_right() {
    let Some(shared) = shared("cases") else { return };
    let case = |name: &str| Ensemble::open(&shared.join(name), &ReadOptions::default());
    // Rows temp, flow; the models ask flow, temp.
    let variables = [number("temp", 20.0, 90.0), number("flow", 0.0, 10.0)];
    for name in ["old_v2.txt", "order.txt"] {
        let model = case(name).unwrap();
        let binding = Binding::by_name(&model, &variables).unwrap();
        let rows = [[30.0, 2.0], [60.0, 2.0], [30.0, 8.0], [60.0, 8.0]];
        let predictions = rows.map(|row| model.predict(&binding.features_of(&row)));
        assert_eq!(predictions, [11.0, 31.0, 12.0, 32.0], "{name}");
    }
    let error = case("cut.txt").unwrap_err().to_string();
    assert!(error.contains("tree_sizes names 2 trees; the file holds 1"), "{error}");
    let model = case("levels.txt").unwrap();
    let metal = Variable {
        name: "metal".into(),
        domain: Domain::Categorical { levels: 3 },
        level_names: ["copper", "iron", "alu"].map(String::from).to_vec(),
    };
    let binding = Binding::by_name(&model, &[number("speed", 0.0, 1.0), metal]).unwrap();
    let predictions = [0.0, 1.0, 2.0].map(|level| model.predict(&binding.features_of(&[0.5, level])));
    assert_eq!(predictions, [10.0, 20.0, 20.0]);
}
