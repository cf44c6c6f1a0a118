//! Regrets of different problems on one scale, so that methods can be compared over all of them.

use super::csv::line;
use super::data::{CaseData, Data, Run};
use super::tables::common_seeds;
use crate::page::cell;
use crate::statistics::{Signs, quartiles};

/// Evaluations after which runs are compared, where they are that long; and at their end.
const MARKS: [usize; 3] = [20, 50, 100];
/// Logarithms of regrets are clipped: below, a problem is solved; above, a run has found nothing better than first points do, or nothing feasible.
const LOWEST: f64 = -4.0;
const HIGHEST: f64 = 1.0;
/// Logarithms closer than this are equal.
const EQUAL: f64 = 1e-3;

/// The regret of a problem's runs: `log10((best - known) / scale)`, clipped to `[-4, 1]`.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The optimum, or the best value of all runs where that is better or alone is known; to be minimised.
    known: f64,
    /// Median over the runs of the first case of `best - known` after the first points.
    scale: f64,
}

impl Scale {
    /// `None` without a feasible value, or when the first points leave nothing to gain.
    fn of(data: &Data, problem: &str) -> Option<Self> {
        let runs = || data.cases_of(problem).flat_map(|case| &case.runs);
        let entry = data.manifest.problem(problem)?;
        let optimum = entry.optimum.map_or(f64::INFINITY, |value| entry.sign() * value);
        let known = runs().map(Run::result).fold(optimum, f64::min);
        let first = data.cases_of(problem).find(|case| !case.runs.is_empty())?;
        let starts: Vec<f64> =
            first.runs.iter().map(|run| run.best_after(0) - known).filter(|r| r.is_finite()).collect();
        let scale = quartiles(&starts)[1];
        (known.is_finite() && scale > 0.0).then_some(Self { known, scale })
    }

    fn log_regret(self, best: f64) -> f64 {
        ((best - self.known) / self.scale).log10().clamp(LOWEST, HIGHEST)
    }
}

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
    let scales: Vec<(&str, Scale)> = data
        .manifest
        .problems
        .iter()
        .filter_map(|p| Some((p.name.as_str(), Scale::of(data, &p.name)?)))
        .collect();
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

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn regrets_are_logarithms_in_units_of_the_scale_and_clipped() {
        let scale = Scale { known: -2.0, scale: 10.0 };
        for (best, expected) in
            [(8.0, 0.0), (-1.0, -1.0), (-1.99, -3.0), (-2.0, -4.0), (-1.9999999, -4.0), (f64::INFINITY, 1.0)]
        {
            assert!((scale.log_regret(best) - expected).abs() < 1e-9, "{best}");
        }
    }
}
