//! Laboratory tables of others, read in the shared folder when it is there: a proven suggestion, and trees as good as LightGBM's.

use std::path::{Path, PathBuf};

use leafgp::engine::{Optimizer, model_quality};
use leafgp::history::History;
use leafgp::problem::Problem;
use leafgp::solver::constraints::Tolerance;
use leafgp::solver::search::Status;

/// The shared folder, or a line that says the test skips.
fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("LEAFGP_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let found = folder.join("data/real").is_dir();
    if !found {
        eprintln!("skipped: {} holds no laboratory tables (data/real)", folder.display());
    }
    found.then_some(folder)
}

fn optimizer(shared: &Path, name: &str) -> Optimizer {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/problems/{name}.toml"));
    let problem = Problem::from_file(&file).unwrap();
    let history = History::read(&shared.join(format!("data/real/{name}.csv")), &problem).unwrap();
    Optimizer::with_history(problem, &history).unwrap()
}

#[test]
fn suggestions_are_proved_feasible_and_reproducible() {
    let Some(shared) = shared() else { return };
    for (name, n_rows) in [("suzuki_i", 89), ("snar", 66), ("lnp3", 768)] {
        let optimizer = optimizer(&shared, name);
        assert_eq!(optimizer.observations().len(), n_rows);
        let suggestion = optimizer.ask().unwrap();
        let proof = suggestion.proof.as_ref().expect("a model");
        assert_eq!(proof.status, Status::Optimal, "{name}");
        assert!(proof.gap <= 1e-4 && proof.bound <= proof.acquisition, "{name}: {proof:?}");
        assert!(optimizer.problem().constraints().is_feasible(&suggestion.point, Tolerance::Produce));
        assert_eq!(optimizer.ask().unwrap(), suggestion, "{name}");
        let one_thread =
            optimizer.problem().clone().adjusted(|settings| settings.solver.threads = 1).unwrap();
        let history = optimizer.observations().to_vec();
        let mut single = Optimizer::new(one_thread);
        for row in history {
            single.tell_outcome(&row.point, row.outcome).unwrap();
        }
        let alone = single.ask().unwrap();
        assert_eq!(
            (&alone.point, alone.proof.as_ref().unwrap().bound),
            (&suggestion.point, proof.bound),
            "{name}"
        );
    }
}

#[test]
fn the_trees_error_is_within_two_percent_of_lightgbms() {
    let Some(shared) = shared() else { return };
    for name in ["suzuki_i", "snar", "lnp3"] {
        let golden =
            std::fs::read_to_string(shared.join(format!("data/golden/gbt/{name}-paper.json"))).unwrap();
        let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
        let reference = golden["cv5_rmse"].as_f64().unwrap();
        let optimizer = optimizer(&shared, name);
        let quality = model_quality(optimizer.problem(), optimizer.observations(), Some(5)).unwrap();
        let errors = quality.cross_validation.unwrap();
        assert!(errors.trees_rmse <= 1.02 * reference, "{name}: {} against {reference}", errors.trees_rmse);
        // The process must know more than the mean does, and say so.
        assert!(errors.gp_rmse < 0.8 * quality.std, "{name}: {errors:?}");
        let total: f64 = quality.importances.iter().map(|i| i.gain).sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
}
