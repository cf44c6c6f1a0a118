//! How good the model is: K-fold errors and importances.

use crate::history::Outcome;
use crate::problem::Problem;

use super::error::EngineError;
use super::surrogate::Surrogate;
use super::training::TrainingSet;
use super::Observation;

/// The quality of trees and process on a history.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelQuality {
    /// Measured rows.
    pub n_rows: usize,
    /// Number of folds actually used; row `i` is in fold `i mod K`.
    pub folds: usize,
    /// Root mean square error of the trees' own prediction on held-out rows, in the objective's units.
    pub trees_cv_rmse: f64,
    /// The same for the process's mean.
    pub gp_cv_rmse: f64,
    /// Mean log density of held-out values under the process, noise included, in the objective's units.
    pub gp_cv_log_density: f64,
    /// Sample standard deviation of the measured values: the error of knowing nothing.
    pub std: f64,
    /// Signal and noise variance of the process on all rows, in standardised units.
    pub signal_variance: f64,
    /// See `signal_variance`.
    pub noise_variance: f64,
    /// One entry a variable, in order.
    pub importances: Vec<Importance>,
}

/// What one variable means to the trees fitted on all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Importance {
    /// The variable.
    pub name: String,
    /// Share of the total loss reduction that its splits brought; sums to 1 over the variables (0 without any split).
    pub gain: f64,
    /// Number of splits on it.
    pub splits: usize,
}

/// K-fold errors over the measured rows (fold = row index mod K; at most as many folds as rows) and importances on all of them.
///
/// # Errors
/// Fewer than two measured rows or folds; what the trainer and the process refuse.
pub fn model_quality(
    problem: &Problem,
    observations: &[Observation],
    folds: usize,
) -> Result<ModelQuality, EngineError> {
    let measured: Vec<Observation> =
        observations.iter().filter(|o| matches!(o.outcome, Outcome::Done(_))).cloned().collect();
    let n_rows = measured.len();
    if n_rows < 2 || folds < 2 {
        return Err(EngineError::BadObservation {
            message: format!("cross-validation needs at least 2 measured rows and 2 folds; there are {n_rows} and {folds}"),
        });
    }
    let folds = folds.min(n_rows);
    let (mut trees_sq, mut process_sq, mut log_density) = (0.0, 0.0, 0.0);
    for fold in 0..folds {
        let part = |inside: bool| -> Vec<Observation> {
            let rows = measured.iter().enumerate().filter(|(i, _)| (i % folds == fold) == inside);
            rows.map(|(_, o)| o.clone()).collect()
        };
        let training = TrainingSet::new(problem, &part(false));
        let surrogate = Surrogate::fit(problem, &training, n_rows)?;
        let noise = surrogate.process.hyperparameters().noise_variance;
        for row in part(true) {
            let Outcome::Done(value) = row.outcome else { continue };
            let mut point = row.point;
            problem.constraints.deactivate(&mut point);
            let trees = surrogate.scale.mean(surrogate.trees.predict(&point));
            let posterior = surrogate.process.posterior(&point);
            let mean = surrogate.scale.mean(posterior.mean);
            let std = surrogate.scale.deviation((posterior.variance + noise).sqrt());
            trees_sq += (trees - value).powi(2);
            process_sq += (mean - value).powi(2);
            log_density +=
                -0.5 * ((value - mean) / std).powi(2) - std.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
        }
    }
    let n = n_rows as f64;
    let training = TrainingSet::new(problem, &measured);
    let surrogate = Surrogate::fit(problem, &training, n_rows)?;
    let hyperparameters = surrogate.process.hyperparameters();
    Ok(ModelQuality {
        n_rows,
        folds,
        trees_cv_rmse: (trees_sq / n).sqrt(),
        gp_cv_rmse: (process_sq / n).sqrt(),
        gp_cv_log_density: log_density / n,
        std: training.scale.deviation(1.0),
        signal_variance: hyperparameters.signal_variance,
        noise_variance: hyperparameters.noise_variance,
        importances: importances(problem, &surrogate),
    })
}

fn importances(problem: &Problem, surrogate: &Surrogate) -> Vec<Importance> {
    let importances = surrogate.trees.importances();
    let total: f64 = importances.gain.iter().sum();
    problem
        .variables
        .iter()
        .enumerate()
        .map(|(i, variable)| Importance {
            name: variable.name.clone(),
            gain: if total > 0.0 { importances.gain[i] / total } else { 0.0 },
            splits: importances.split[i],
        })
        .collect()
}
