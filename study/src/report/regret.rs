//! Regrets of different problems on one scale, so that methods can be compared over all of them.

use super::csv::line;
use super::data::{CaseData, Data};
use super::scale::Scale;
use super::tables::common_seeds;
use crate::page::cell;
use crate::statistics::Signs;

/// Evaluations after which runs are compared, where they are that long; and at their end.
const MARKS: [usize; 3] = [20, 50, 100];
/// Logarithms closer than this are equal.
const EQUAL: f64 = 1e-3;

/// The logarithms of one pair of methods over the seeds that both have, `(first, second)`.
fn pairs(
    scale: Scale,
    [first, second]: [&CaseData; 2],
    evaluations: usize,
) -> impl Iterator<Item = (f64, f64)> {
    let of = move |case: &CaseData, seed: u64| {
        let run = case.runs.iter().find(|run| run.seed == seed)?;
        Some(scale.log_regret(run.best_within(evaluations)))
    };
    common_seeds(&[first, second])
        .into_iter()
        .filter_map(move |seed| Some((of(first, seed)?, of(second, seed)?)))
}

/// One row for each method and each other one, after 20, 50 and 100 evaluations and all: means of the logarithms over all problems and the seeds that both have, and
/// the sign test run by run. A run that is shorter than a mark does not take part there.
pub(super) fn regret_csv(data: &Data) -> String {
    let mut text =
        "evaluations,method,against,runs,mean_log10_regret,its_mean_log10_regret,better,equal,worse,p_value\n"
            .to_owned();
    let scales = Scale::of_all(data);
    for mark in MARKS.map(Some).into_iter().chain([None]) {
        for (i, first) in data.manifest.methods.iter().enumerate() {
            for second in &data.manifest.methods[i + 1..] {
                let mut all: Vec<(f64, f64)> = Vec::new();
                for &(problem, scale) in &scales {
                    let case = |method: &str| data.cases_of(problem).find(|case| case.method == method);
                    let length = data.manifest.problem(problem).map_or(0, |p| p.evaluations);
                    let evaluations = mark.unwrap_or(length);
                    if let (Some(a), Some(b)) = (case(&first.name), case(&second.name))
                        && evaluations <= length
                    {
                        all.extend(pairs(scale, [a, b], evaluations));
                    }
                }
                if all.is_empty() {
                    continue;
                }
                let n = all.len() as f64;
                let signs = Signs::count(all.iter().map(|&(a, b)| {
                    let apart = (a - b).abs() > EQUAL;
                    if apart { (a, b) } else { (a, a) }
                }));
                let mut cells = vec![
                    mark.map_or("all".to_owned(), |mark| mark.to_string()),
                    first.name.clone(),
                    second.name.clone(),
                    all.len().to_string(),
                    cell(all.iter().map(|pair| pair.0).sum::<f64>() / n),
                    cell(all.iter().map(|pair| pair.1).sum::<f64>() / n),
                ];
                cells.extend(signs.counts());
                cells.push(cell(signs.p_value()));
                line(&mut text, &cells);
            }
        }
    }
    text
}
