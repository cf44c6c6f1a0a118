//! Golden tables of the tree and, where the shared folder is there, laboratory tables of others: a proven suggestion, and trees as good as LightGBM's.

mod gbdt_support;

use std::path::Path;

use leafgp::engine::{Optimizer, model_quality};
use leafgp::history::History;
use leafgp::problem::{Preset, Problem, Settings, Variable};
use leafgp::solver::Domain;
use leafgp::solver::constraints::Tolerance;
use leafgp::solver::search::Status;
use leafgp_testdata::{root, shared};

/// A table with the settings of its golden fit.
struct Case {
    name: &'static str,
    optimizer: Optimizer,
    n_rows: usize,
    /// LightGBM's 5-fold error.
    reference: f64,
}

fn golden_case(name: &'static str, n_rows: usize) -> Case {
    let golden = gbdt_support::read(&root().join(format!("tests/golden/{name}.json")));
    let mut settings = Settings::default();
    settings.trees = golden.settings;
    let mut builder = Problem::builder(name).settings(settings);
    for (i, domain) in golden.domains.iter().enumerate() {
        let variable = format!("x{i}");
        builder = builder.variable(match domain {
            Domain::Categorical { levels } => {
                Variable::categorical(variable, (0..*levels).map(|level| level.to_string()))
            }
            Domain::Integer { lower, upper } => Variable::integer(variable, *lower as i64, *upper as i64),
            other => Variable::continuous(variable, other.bounds().0, other.bounds().1),
        });
    }
    let mut optimizer = Optimizer::new(builder.build().unwrap());
    for (row, &y) in golden.x.rows().zip(&golden.y) {
        optimizer.tell(row, y).unwrap();
    }
    Case { name, optimizer, n_rows, reference: golden.cv5_rmse }
}

fn laboratory_case(shared: &Path, name: &'static str, n_rows: usize) -> Case {
    let problem = Problem::from_file(&root().join(format!("tests/problems/{name}.toml"))).unwrap();
    let history = History::read(&shared.join(format!("real/{name}.csv")), &problem).unwrap();
    let golden = gbdt_support::read(&shared.join(format!("golden/gbt/{name}-paper.json")));
    Case {
        name,
        optimizer: Optimizer::with_history(problem, &history).unwrap(),
        n_rows,
        reference: golden.cv5_rmse,
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        golden_case("reals-paper", 60),
        golden_case("wholes-paper", 70),
        golden_case("kinds-stock", 260),
    ];
    if let Some(shared) = shared("data") {
        let laboratory = [("suzuki_i", 89), ("snar", 66), ("lnp3", 768)];
        cases.extend(laboratory.map(|(name, n_rows)| laboratory_case(&shared, name, n_rows)));
    }
    cases
}

/// The same experiments with other settings.
fn with_settings(optimizer: &Optimizer, change: impl FnOnce(&mut Settings)) -> Optimizer {
    let mut other = Optimizer::new(optimizer.problem().clone().adjusted(change).unwrap());
    for row in optimizer.observations() {
        other.tell_outcome(&row.point, row.outcome).unwrap();
    }
    other
}

#[test]
fn suggestions_are_proved_feasible_and_reproducible() {
    for (preset, Case { name, optimizer, n_rows, .. }) in [Preset::Paper, Preset::Proven]
        .into_iter()
        .flat_map(|preset| cases().into_iter().map(move |case| (preset, case)))
    {
        assert_eq!(optimizer.observations().len(), n_rows);
        let trees = optimizer.problem().settings().trees.clone();
        let optimizer = with_settings(&optimizer, |settings| {
            settings.use_preset(preset);
            // One of the tables holds every point there is.
            settings.repeats = true;
            if preset == Preset::Paper {
                settings.trees = trees;
            }
        });
        let suggestion = optimizer.ask().unwrap();
        let proof =
            suggestion.proof.as_ref().unwrap_or_else(|| panic!("{name}, {preset:?}: {:?}", suggestion.note));
        assert_eq!(proof.status, Status::Optimal, "{name}");
        assert!(proof.gap <= 1e-4 && proof.bound <= proof.acquisition, "{name}: {proof:?}");
        assert!(optimizer.problem().constraints().is_feasible(&suggestion.point, Tolerance::Produce));
        assert_eq!(optimizer.ask().unwrap(), suggestion, "{name}");
        let single = with_settings(&optimizer, |settings| settings.solver.threads = 1);
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
    for Case { name, optimizer, reference, .. } in cases() {
        let quality = model_quality(optimizer.problem(), optimizer.observations(), Some(5)).unwrap();
        let errors = quality.cross_validation.unwrap();
        assert!(errors.trees_rmse <= 1.02 * reference, "{name}: {} against {reference}", errors.trees_rmse);
        // The process must know more than the mean does, and say so.
        assert!(errors.gp_rmse < 0.8 * quality.std, "{name}: {errors:?}");
        let total: f64 = quality.importances.iter().map(|i| i.gain).sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
}
