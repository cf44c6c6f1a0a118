//! How good the models are: K-fold errors and importances.

use rand::Rng;

use crate::Table;
use crate::gbdt::{self, Ensemble, Importances};
use crate::history::Row;
use crate::problem::{Preset, Problem};

use super::error::EngineError;
use super::held_out::{HeldOut, HeldOutErrors};
use super::random::{Purpose, stream};
use super::smooth_surrogate::SmoothSurrogate;
use super::surrogate::{Prediction, Surrogate};

/// The quality of trees and process on a history.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelQuality {
    /// Measured rows.
    pub n_rows: usize,
    /// Sample standard deviation of the measured values: the error of knowing nothing.
    pub std: f64,
    /// Errors on held-out rows, when they were asked for.
    pub cross_validation: Option<CrossValidation>,
    /// Signal variance of the process on all rows, in standardised units.
    pub signal_variance: f64,
    /// Noise variance of the process on all rows, in standardised units.
    pub noise_variance: f64,
    /// One entry a variable, in order.
    pub importances: Vec<Importance>,
    /// The trees' error on their own rows after each tree, in the objective's units (for the squared loss: root mean square).
    pub training_curve: Vec<f64>,
}

/// K-fold errors in the objective's units; row `i` of the measured rows is in fold `i mod K`.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Number of folds used, at most one a row.
    pub folds: usize,
    /// Root mean square error of the trees' own prediction.
    pub trees_rmse: f64,
    /// Root mean square error of the process's mean.
    pub gp_rmse: f64,
    /// Mean log density of the held-out values under the process, noise included.
    pub gp_log_density: f64,
    /// The trees' process: what the proofs are about.
    pub process: HeldOutErrors,
    /// The smooth process, where the preset has it choose the points.
    pub smooth: Option<HeldOutErrors>,
}

impl CrossValidation {
    /// The model that chooses the points, by its name and errors.
    pub fn chooser(&self) -> (&'static str, &HeldOutErrors) {
        self.smooth.as_ref().map_or(("trees' process", &self.process), |smooth| ("smooth process", smooth))
    }
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

/// Importances on all measured rows, and K-fold errors of the trees' process and of the model that chooses the points when a number of folds is given.
///
/// # Errors
/// No measured row, or fewer than two for errors; fewer than two folds; what the trainer and the process refuse.
pub fn model_quality(
    problem: &Problem,
    rows: &[Row],
    folds: Option<usize>,
) -> Result<ModelQuality, EngineError> {
    let measured = measured(rows);
    if measured.is_empty() {
        return Err(EngineError::BadObservation { message: "there is no measured row to fit".into() });
    }
    let known: Vec<Row> = measured.iter().map(|(_, row)| row.clone()).collect();
    let surrogate = Surrogate::of(problem, &known)?;
    let (hyperparameters, scale) = (surrogate.process().hyperparameters(), surrogate.scale());
    Ok(ModelQuality {
        n_rows: measured.len(),
        std: scale.deviation(1.0),
        cross_validation: folds.map(|folds| cross_validate(problem, &measured, folds)).transpose()?,
        signal_variance: hyperparameters.signal_variance,
        noise_variance: hyperparameters.noise_variance,
        importances: importances(problem, &surrogate.trees().importances()),
        training_curve: surrogate
            .trees()
            .training_curve()
            .training
            .iter()
            .map(|&loss| scale.deviation(loss))
            .collect(),
    })
}

/// The quality of trees that were fitted elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct TreesQuality {
    /// Measured rows.
    pub n_rows: usize,
    /// Root mean square error on them.
    pub rmse: f64,
    /// One entry a variable, in order.
    pub importances: Vec<Importance>,
}

/// Trees fitted to all measured rows in the objective's own units and direction, to be exported: the kernel's trees up to the scale of their targets.
///
/// # Errors
/// No measured row; what the trainer refuses.
pub fn objective_trees(problem: &Problem, rows: &[Row]) -> Result<Ensemble, EngineError> {
    let (x, y) = measured_rows(problem, rows)?;
    let seed = stream(problem.settings().seed, Purpose::Trees, y.len()).next_u64();
    Ok(gbdt::train(&x, &problem.domains(), &y, None, &problem.settings().trees, seed)?.ensemble)
}

/// How well trees from elsewhere predict the measured rows.
///
/// # Errors
/// No measured row; trees over another number of variables.
pub fn trees_quality(problem: &Problem, rows: &[Row], trees: &Ensemble) -> Result<TreesQuality, EngineError> {
    let refuse = |message: String| Err(EngineError::BadObservation { message });
    if trees.n_features != problem.variables().len() {
        let (given, expected) = (trees.n_features, problem.variables().len());
        return refuse(format!("the model has {given} features; the problem has {expected} variables"));
    }
    predictions_quality(problem, rows, |point| trees.predict(point), &trees.importances())
}

/// The same of any model: what it predicts at a point in variable order, and the importances of the variables.
///
/// # Errors
/// No measured row.
pub fn predictions_quality(
    problem: &Problem,
    rows: &[Row],
    predict: impl Fn(&[f64]) -> f64,
    of_variables: &Importances,
) -> Result<TreesQuality, EngineError> {
    let (x, y) = measured_rows(problem, rows)?;
    if y.is_empty() {
        let message = "there is no measured row to compare with".into();
        return Err(EngineError::BadObservation { message });
    }
    let sum_sq: f64 = x.rows().zip(&y).map(|(row, value)| (predict(row) - value).powi(2)).sum();
    Ok(TreesQuality {
        n_rows: y.len(),
        rmse: (sum_sq / y.len() as f64).sqrt(),
        importances: importances(problem, of_variables),
    })
}

/// Points and values of the measured rows, in the objective's units; of a target, the distances from it.
fn measured_rows(problem: &Problem, rows: &[Row]) -> Result<(Table, Vec<f64>), EngineError> {
    let mut x = Table::new(problem.variables().len());
    let mut y = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if let Some(value) = row.value() {
            problem.check_point(&row.point).map_err(|e| EngineError::bad_row(index, &e))?;
            x.push(&row.point);
            y.push(problem.objective().goal.modelled(value));
        }
    }
    Ok((x, y))
}

fn cross_validate(
    problem: &Problem,
    measured: &[(usize, Row)],
    folds: usize,
) -> Result<CrossValidation, EngineError> {
    let n_rows = measured.len();
    if n_rows < 2 || folds < 2 {
        let message = format!(
            "cross-validation needs at least 2 measured rows and 2 folds; there are {n_rows} and {folds}"
        );
        return Err(EngineError::BadObservation { message });
    }
    let folds = folds.min(n_rows);
    let has_smooth = problem.settings().preset != Preset::Paper;
    let mut trees_sq = 0.0;
    let (mut by_process, mut by_smooth) = (Vec::new(), Vec::new());
    for fold in 0..folds {
        let of =
            |inside: bool| measured.iter().enumerate().filter(move |(i, _)| (i % folds == fold) == inside);
        let known: Vec<Row> = of(false).map(|(_, (_, row))| row.clone()).collect();
        let surrogate = Surrogate::of(problem, &known)?;
        let smooth = if has_smooth { Some(SmoothSurrogate::of(problem, &known)?) } else { None };
        for (_, (index, row)) in of(true) {
            let Some(value) = row.value().map(|y| problem.objective().goal.modelled(y)) else { continue };
            trees_sq += (surrogate.scale().mean(surrogate.trees().predict(&row.point)) - value).powi(2);
            let held_out = |Prediction { mean, std }, noise: f64| HeldOut {
                row: *index,
                value,
                mean,
                std: std.hypot(noise),
            };
            let refused = |e| EngineError::bad_row(*index, &e);
            by_process.push(held_out(surrogate.predict(&row.point).map_err(refused)?, surrogate.noise()));
            if let Some(smooth) = &smooth {
                by_smooth.push(held_out(smooth.predict(&row.point).map_err(refused)?, smooth.noise()));
            }
        }
    }
    let process = HeldOutErrors::new(by_process);
    Ok(CrossValidation {
        folds,
        trees_rmse: (trees_sq / n_rows as f64).sqrt(),
        gp_rmse: process.rmse,
        gp_log_density: process.log_density,
        process,
        smooth: has_smooth.then(|| HeldOutErrors::new(by_smooth)),
    })
}

/// Errors on held-out rows: what [`model_quality`] says of `folds` folds, without the rest.
///
/// # Errors
/// As [`model_quality`] with folds.
pub fn cross_validation(
    problem: &Problem,
    rows: &[Row],
    folds: usize,
) -> Result<CrossValidation, EngineError> {
    cross_validate(problem, &measured(rows), folds)
}

/// The measured rows with their indices.
fn measured(rows: &[Row]) -> Vec<(usize, Row)> {
    rows.iter()
        .enumerate()
        .filter(|(_, row)| row.value().is_some())
        .map(|(i, row)| (i, row.clone()))
        .collect()
}

fn importances(problem: &Problem, importances: &Importances) -> Vec<Importance> {
    let total: f64 = importances.gain.iter().sum();
    let share = |gain: f64| if total > 0.0 { gain / total } else { 0.0 };
    let entries = problem.variables().iter().zip(importances.gain.iter().zip(&importances.split));
    entries
        .map(|(variable, (&gain, &splits))| Importance {
            name: variable.name.clone(),
            gain: share(gain),
            splits,
        })
        .collect()
}
