//! Whether predictions are as good as they say they are, at the points that were chosen.

use super::csv::line;
use super::data::{CaseData, Data};
use crate::page::cell;
use crate::statistics::quartiles;

/// `(value - mean) / deviation` of the steps of a case that have a prediction and a value. What was told counts: with a penalty for constraints that is what the model predicts.
fn standardised_errors(case: &CaseData) -> impl Iterator<Item = f64> {
    case.runs.iter().flat_map(|run| &run.steps).filter_map(|step| {
        let (proof, value) = (step.proof.as_ref()?, step.told.or(step.value)?);
        Some((value - proof.mean) / proof.std)
    })
}

fn row(problem: &str, method: &str, errors: &[f64]) -> [String; 6] {
    let within = |limit: f64| errors.iter().filter(|z| z.abs() <= limit).count() as f64 / errors.len() as f64;
    let sizes: Vec<f64> = errors.iter().map(|z| z.abs()).collect();
    let [one, two, median] = [within(1.0), within(2.0), quartiles(&sizes)[1]].map(cell);
    [problem.to_owned(), method.to_owned(), errors.len().to_string(), one, two, median]
}

/// One row for each problem and method with predictions, and one for each method over all problems, with an empty problem: shares of the values within one and two predicted
/// deviations (0.68 and 0.95 of an honest normal prediction at points chosen by chance; fewer where an optimist chose), and the median error in deviations (0.67).
pub(super) fn calibration_csv(data: &Data) -> String {
    let mut text = "problem,method,steps,within_1,within_2,median_error\n".to_owned();
    for method in &data.manifest.methods {
        let mut all: Vec<f64> = Vec::new();
        for case in data.cases.iter().filter(|case| case.method == method.name) {
            let errors: Vec<f64> = standardised_errors(case).collect();
            if !errors.is_empty() {
                line(&mut text, &row(&case.problem, &case.method, &errors));
            }
            all.extend(errors);
        }
        if !all.is_empty() {
            line(&mut text, &row("", &method.name, &all));
        }
    }
    text
}
