//! Permutation importances: how much worse the model predicts when the values of one variable are exchanged between the rows.

use rand::seq::SliceRandom;

use super::error::EngineError;
use super::random::{Purpose, stream};
use super::surrogate::Surrogate;
use crate::history::Row;
use crate::problem::Problem;

/// Growth of the root mean square error of the process's mean on the measured rows, in the objective's units, when one variable's values are shuffled among
/// them: the mean over `repeats` shuffles, one number for each variable. About 0 for a variable that the model does not use; small negative means are cut to 0.
///
/// # Errors
/// Fewer than two measured rows; what the trainer and the process refuse.
pub fn permutation_importances(
    problem: &Problem,
    rows: &[Row],
    repeats: usize,
) -> Result<Vec<f64>, EngineError> {
    let measured: Vec<Row> = rows.iter().filter(|row| row.value().is_some()).cloned().collect();
    let n = measured.len();
    if n < 2 {
        let message = format!("importances need at least 2 measured rows; there are {n}");
        return Err(EngineError::BadObservation { message });
    }
    let surrogate = Surrogate::of(problem, &measured)?;
    let training = surrogate.training();
    let rmse = |points: &mut dyn Iterator<Item = Vec<f64>>| {
        let sum: f64 =
            points.zip(&training.y).map(|(x, y)| (surrogate.process().posterior(&x).mean - y).powi(2)).sum();
        training.scale.deviation((sum / n as f64).sqrt())
    };
    let plain = rmse(&mut training.x.rows().map(<[f64]>::to_vec));
    let mut rng = stream(problem.settings().seed, Purpose::Sample, n);
    let mut importances = Vec::with_capacity(problem.variables().len());
    for variable in 0..problem.variables().len() {
        let mut sum = 0.0;
        for _ in 0..repeats.max(1) {
            let mut values: Vec<f64> = training.x.rows().map(|row| row[variable]).collect();
            values.shuffle(&mut rng);
            let mut points = training.x.rows().zip(&values).map(|(row, &value)| {
                let mut row = row.to_vec();
                row[variable] = value;
                problem.constraints().deactivate(&mut row);
                row
            });
            sum += rmse(&mut points) - plain;
        }
        importances.push((sum / repeats.max(1) as f64).max(0.0));
    }
    Ok(importances)
}

#[cfg(test)]
mod tests {
    use super::permutation_importances;
    use crate::history::{Outcome, Row};
    use crate::problem::{Problem, Variable};

    #[test]
    fn what_decides_the_value_matters_most_and_what_is_never_split_not_at_all() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("strong", 0.0, 1.0))
            .variable(Variable::continuous("weak", 0.0, 1.0))
            .variable(Variable::continuous("constant", 0.0, 1.0))
            .build()
            .unwrap();
        let rows: Vec<Row> = (0..40)
            .map(|i| {
                let (a, b) = (f64::from(7 * i % 40) / 40.0, f64::from(11 * i % 40) / 40.0);
                Row::new(&problem, &[a, b, 0.5], Outcome::Done(10.0 * a + b)).unwrap()
            })
            .collect();
        let found = permutation_importances(&problem, &rows, 5).unwrap();
        assert!(found[0] > 3.0 * found[1] && found[0] > 1.0, "{found:?}");
        assert_eq!(found[2], 0.0);
        assert_eq!(found, permutation_importances(&problem, &rows, 5).unwrap());
        assert!(permutation_importances(&problem, &rows[..1], 5).is_err());
    }
}
