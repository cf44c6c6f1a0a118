//! Model files of other libraries, and our own.

use std::time::Duration;

use leafgp::gbdt;
use leafgp_models::{Binding, Ensemble, FeatureKind, Goal, ReadOptions, Space};
use leafgp_solver::constraints::{Domain, Variable};
use leafgp_solver::{SearchOptions, minimize};

/// Features and leaves beyond which a model is read and asked, but not searched.
const SMALL: usize = 200;
/// What a feature is asked about.
const VALUES: [f64; 8] = [f64::NAN, 0.0, -0.0, -1.0, 0.5, 1e300, f64::INFINITY, f64::NEG_INFINITY];

/// A model of any known format: it predicts anywhere, and no point of a box is better than the bound that is proved of the box.
pub fn model(bytes: &[u8]) {
    for options in [ReadOptions::default(), ReadOptions::default().with_class(1)] {
        match Ensemble::read(bytes, &options) {
            Ok(model) => used(&model),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn used(model: &Ensemble) {
    let n = model.features().len();
    for value in VALUES {
        model.predict(&vec![value; n]);
    }
    if n > SMALL || model.n_leaves() > SMALL {
        return;
    }
    let variable = |feature: &leafgp_models::Feature| {
        let (domain, level_names) = match &feature.kind {
            FeatureKind::Numeric => (Domain::Continuous { lower: -2.0, upper: 3.0 }, Vec::new()),
            FeatureKind::Categorical { labels: Some(labels) }
                if !labels.is_empty() && labels.len() < SMALL =>
            {
                (Domain::Categorical { levels: labels.len() }, labels.clone())
            }
            FeatureKind::Categorical { .. } => (Domain::Categorical { levels: 3 }, Vec::new()),
        };
        Variable { name: feature.name.clone(), domain, level_names }
    };
    let variables: Vec<Variable> = model.features().iter().map(variable).collect();
    let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
    let Ok(binding) = Binding::by_position(model, &variables) else { return };
    let mut options = SearchOptions::default();
    (options.node_limit, options.time_limit) = (Some(20), Some(Duration::from_millis(500)));
    let space = Space::new(&domains, &binding);
    for goal in [Goal::Minimize, Goal::Maximize] {
        let Ok(bound) = model.to_forest(&domains, &binding, goal) else { continue };
        let Ok(optimum) = model.optimize(&space, goal, &options) else { continue };
        let report =
            minimize(&leafgp_solver::Problem::new(&domains, &bound.forest, &bound.objective), &options);
        let best_bound = report.unwrap().best_bound / bound.scale;
        if let Some(best) = &optimum.best {
            assert!(best.cell.contains(&best.point));
        }
        let slack = 2.0 * model.rounding() + 1e-300;
        for step in 0..16_usize {
            let coordinate = |(i, domain): (usize, &Domain)| match domain {
                Domain::Categorical { levels } => ((step + i) % levels) as f64,
                _ => -2.0 + ((step * (i + 3)) % 21) as f64 * 0.25,
            };
            let point: Vec<f64> = domains.iter().enumerate().map(coordinate).collect();
            let raw = sign(goal) * model.raw(&binding.features_of(&point));
            assert!(raw + slack >= best_bound, "{point:?} has {raw}, below the bound {best_bound}");
        }
    }
}

fn sign(goal: Goal) -> f64 {
    if goal == Goal::Maximize { -1.0 } else { 1.0 }
}

/// A model of our own trainer: what is written of it is read as the same, and it predicts anywhere.
pub fn own_model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(model) = gbdt::Ensemble::from_json(text) else { return };
    assert!(gbdt::Ensemble::is_json(text));
    let again = gbdt::Ensemble::from_json(&model.to_json()).unwrap();
    assert_eq!(again.to_json(), model.to_json());
    for value in VALUES {
        assert_eq!(
            model.predict(&vec![value; model.n_features]).to_bits(),
            again.predict(&vec![value; model.n_features]).to_bits()
        );
    }
}
