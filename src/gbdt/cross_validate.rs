//! K-fold cross-validation.

use leafgp_solver::Domain;

use super::error::GbdtError;
use super::settings::GbdtSettings;
use super::train::train;
use crate::Table;

/// Predictions for each row by a model that has not seen it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Out-of-fold predictions, shape `[n_rows]`.
    pub predictions: Vec<f64>,
    /// Root mean squared error of each fold, shape `[n_folds]`.
    pub fold_rmse: Vec<f64>,
    /// Root mean squared error over all rows.
    pub rmse: f64,
}

/// The rows of fold `fold` of `n_folds` (row index modulo `n_folds`), and the others.
pub fn fold_rows(n_rows: usize, n_folds: usize, fold: usize) -> (Vec<usize>, Vec<usize>) {
    (0..n_rows).partition(|row| row % n_folds == fold)
}

/// Fits `n_folds` models, each without the rows whose index modulo `n_folds` is the fold's number, and predicts those rows.
///
/// # Errors
/// Fewer than two folds or more folds than rows, and as [`train`].
pub fn cross_validate(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    settings: &GbdtSettings,
    n_folds: usize,
    seed: u64,
) -> Result<CrossValidation, GbdtError> {
    if n_folds < 2 || n_folds > x.n_rows() {
        let value = n_folds.to_string();
        return Err(GbdtError::Setting {
            name: "the number of folds",
            value,
            expected: "2 up to the number of rows",
        });
    }
    super::input::check(x, domains, y, weights, false)?;
    let mut predictions = vec![0.0; y.len()];
    let mut fold_rmse = Vec::with_capacity(n_folds);
    for fold in 0..n_folds {
        let (held_out, rest) = fold_rows(y.len(), n_folds, fold);
        let mut part = Table::new(x.n_cols());
        for &row in &rest {
            part.push(x.row(row));
        }
        let targets: Vec<f64> = rest.iter().map(|&row| y[row]).collect();
        let part_weights: Option<Vec<f64>> =
            weights.map(|weights| rest.iter().map(|&row| weights[row]).collect());
        let model = train(&part, domains, &targets, part_weights.as_deref(), settings, seed)?;
        for &row in &held_out {
            predictions[row] = model.predict(x.row(row));
        }
        fold_rmse.push(rmse(&held_out, &predictions, y));
    }
    let all: Vec<usize> = (0..y.len()).collect();
    let rmse = rmse(&all, &predictions, y);
    Ok(CrossValidation { predictions, fold_rmse, rmse })
}

fn rmse(rows: &[usize], predictions: &[f64], y: &[f64]) -> f64 {
    let sum: f64 = rows.iter().map(|&row| (predictions[row] - y[row]).powi(2)).sum();
    (sum / rows.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{cross_validate, fold_rows};
    use crate::Table;
    use crate::gbdt::{GbdtSettings, train};
    use leafgp_solver::Domain;

    #[test]
    fn each_row_is_predicted_by_the_model_of_the_other_folds() {
        let rows: Vec<[f64; 1]> = (0..23).map(|i| [f64::from(i)]).collect();
        let x = Table::from_rows(1, &rows);
        let y: Vec<f64> = rows.iter().map(|r| (r[0] * 0.4).sin()).collect();
        let domains = [Domain::Continuous { lower: 0.0, upper: 22.0 }];
        let settings = GbdtSettings { min_data_in_bin: 1, ..GbdtSettings::default() };
        let result = cross_validate(&x, &domains, &y, None, &settings, 4, 1).unwrap();
        let (held_out, rest) = fold_rows(23, 4, 2);
        let part = Table::from_rows(1, &rest.iter().map(|&r| rows[r]).collect::<Vec<_>>());
        let targets: Vec<f64> = rest.iter().map(|&r| y[r]).collect();
        let model = train(&part, &domains, &targets, None, &settings, 1).unwrap();
        for &row in &held_out {
            assert_eq!(result.predictions[row], model.predict(&rows[row]));
        }
        let pooled: f64 = (0..23).map(|i| (result.predictions[i] - y[i]).powi(2)).sum();
        assert!((result.rmse - (pooled / 23.0).sqrt()).abs() < 1e-15);
        assert!(cross_validate(&x, &domains, &y, None, &settings, 1, 1).is_err());
        assert!(cross_validate(&x, &domains, &y, None, &settings, 24, 1).is_err());
    }
}
