//! Instances: acquisition problems as JSON.

use std::time::Duration;

use leafgp::instance::Instance;
use leafgp_solver::certificate::verify;
use leafgp_solver::search::certify;
use leafgp_solver::{SearchOptions, Status, minimize};

/// Leaves, variables and rows beyond which an instance is read and not searched.
const SMALL: usize = 200;

/// An instance: what is written of it is read as the same; the search's bound of a small one is below what it found, and its proof verifies.
pub fn instance(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(instance) = Instance::parse(text, "instance.json") else { return };
    let again = Instance::parse(&instance.to_json(), "again.json").unwrap();
    assert_eq!(again.to_json(), instance.to_json());
    let n_leaves = instance.forest.n_leaves();
    if n_leaves > SMALL || instance.variables.len() > SMALL || instance.x.n_rows() > SMALL {
        return;
    }
    let Ok(acquisition) = instance.problem() else { return };
    let problem = acquisition.search();
    let mut options = SearchOptions::default();
    (options.node_limit, options.time_limit) = (Some(20), Some(Duration::from_millis(500)));
    let Ok(report) = minimize(&problem, &options) else { return };
    if let Some(incumbent) = &report.incumbent {
        assert!(problem.allows(&incumbent.x), "{:?}", incumbent.x);
        assert!(report.best_bound <= incumbent.objective, "{report:?}");
    }
    if report.status == Status::Optimal
        && let Ok(certificate) = certify(&problem, &report, &options)
    {
        let verified = verify(&problem, &certificate).unwrap();
        assert!(verified.bound >= report.best_bound - 1e-9 * report.best_bound.abs().max(1.0));
    }
}
