//! Regrets of different problems on one scale.

use super::data::{Data, Run};
use crate::statistics::quartiles;

/// Logarithms of regrets are clipped: below, a problem is solved; above, a run has found nothing better than first points do, or nothing feasible.
const LOWEST: f64 = -4.0;
const HIGHEST: f64 = 1.0;

/// The regret of a problem's runs: `log10((best - known) / scale)`, clipped to `[-4, 1]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
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

    /// The scales of the problems that have one, in the manifest's order.
    pub(super) fn of_all(data: &Data) -> Vec<(&str, Self)> {
        let problems = data.manifest.problems.iter();
        problems.filter_map(|p| Some((p.name.as_str(), Self::of(data, &p.name)?))).collect()
    }

    /// Of a best value, to be minimised; an infinite one is clipped like any other.
    pub(super) fn log_regret(self, best: f64) -> f64 {
        ((best - self.known) / self.scale).log10().clamp(LOWEST, HIGHEST)
    }
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
