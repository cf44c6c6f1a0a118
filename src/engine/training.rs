//! From rows of history to standardised targets.

use crate::Table;
use crate::history::{Outcome, Row};
use crate::problem::{Goal, Problem};

use super::error::EngineError;

/// The affine map between the objective's units and the standardised targets, which are always minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetScale {
    goal: Goal,
    mean: f64,
    std: f64,
}

impl TargetScale {
    /// Negates for a maximisation (of a target, takes the distance), then takes mean and sample standard deviation (`n - 1`) of the measured values. One value or no spread: scale 1.
    fn new(goal: Goal, measured: &[f64]) -> Self {
        let n = measured.len() as f64;
        if measured.is_empty() {
            return Self { goal, mean: 0.0, std: 1.0 };
        }
        let cost = |y: &f64| goal.sign() * goal.modelled(*y);
        // Halves keep sums of huge values finite.
        let mean = measured.iter().map(|y| cost(y) / n).sum::<f64>();
        let largest = measured.iter().map(|y| (cost(y) - mean).abs()).fold(0.0, f64::max);
        let spread =
            measured.iter().map(|y| ((cost(y) - mean) / largest.max(f64::MIN_POSITIVE)).powi(2)).sum::<f64>();
        let std = largest * (spread / (n - 1.0).max(1.0)).sqrt();
        // A spread at the level of rounding is none.
        let std = if measured.len() > 1 && std > 1e-13 * mean.abs() && std.is_finite() { std } else { 1.0 };
        Self { goal, mean, std }
    }

    /// The standardised target of a measured value.
    pub fn standardise(&self, y: f64) -> f64 {
        (self.goal.sign() * self.goal.modelled(y) - self.mean) / self.std
    }

    /// A standardised mean in the objective's units and direction; of a target, the distance from it, which is at least 0.
    pub fn mean(&self, standardised: f64) -> f64 {
        let mean = self.goal.sign() * (standardised * self.std + self.mean);
        if let Goal::Target(_) = self.goal { mean.max(0.0) } else { mean }
    }

    /// A lower bound of standardised values in the objective's units: no objective of a larger value is better, rounding included (each of the two operations errs by at most half an ulp
    /// of a magnitude below `|standardised * std| + |mean|`).
    pub fn bound(&self, standardised: f64) -> f64 {
        let magnitude = (standardised * self.std).abs() + self.mean.abs();
        self.mean(standardised) - self.goal.sign() * 2.0 * f64::EPSILON * magnitude
    }

    /// A standardised deviation in the objective's units.
    pub fn deviation(&self, standardised: f64) -> f64 {
        standardised * self.std
    }
}

/// What the surrogate learns from: measured rows, and failed rows at the worst measured value.
#[derive(Clone, Debug)]
pub struct TrainingSet {
    /// The points, `[n_rows, n_variables]`, in the order of the history.
    pub x: Table,
    /// Standardised targets to be minimised, `[n_rows]`.
    pub y: Vec<f64>,
    /// How targets relate to the objective.
    pub scale: TargetScale,
    /// Whether the measured values differ at all.
    pub has_spread: bool,
    /// Points of pending rows, in order.
    pub pending: Vec<Vec<f64>>,
    /// Points of failed rows, in order.
    pub failed: Vec<Vec<f64>>,
}

impl TrainingSet {
    /// Collects the rows of a history. Failed rows take the worst value measured so far (the whole history), or are left out while nothing was measured.
    ///
    /// # Errors
    /// [`EngineError::BadObservation`] for a row whose point is none of the problem's.
    pub fn new(problem: &Problem, rows: &[Row]) -> Result<Self, EngineError> {
        let measured: Vec<f64> = rows.iter().filter_map(Row::value).collect();
        let scale = TargetScale::new(problem.objective().goal, &measured);
        let worst = measured.iter().map(|&y| scale.standardise(y)).reduce(f64::max);
        let has_spread = measured.iter().any(|&y| scale.standardise(y) != scale.standardise(measured[0]));

        let mut set = Self {
            x: Table::new(problem.variables().len()),
            y: Vec::new(),
            scale,
            has_spread,
            pending: Vec::new(),
            failed: Vec::new(),
        };
        for (index, row) in rows.iter().enumerate() {
            problem.check_point(&row.point).map_err(|e| EngineError::bad_row(index, &e))?;
            let target = match row.outcome {
                Outcome::Done(y) => Some(scale.standardise(y)),
                Outcome::Failed => {
                    set.failed.push(row.point.clone());
                    worst
                }
                Outcome::Pending => {
                    set.pending.push(row.point.clone());
                    None
                }
            };
            if let Some(target) = target {
                set.x.push(&row.point);
                set.y.push(target);
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::TargetScale;
    use crate::problem::Goal;

    #[test]
    fn maximisation_is_negated_once_and_the_sample_deviation_is_used() {
        let scale = TargetScale::new(Goal::Maximize, &[1.0, 2.0, 3.0]);
        assert_relative_eq!(scale.standardise(3.0), -1.0);
        assert_relative_eq!(scale.mean(-1.0), 3.0);
        assert_relative_eq!(scale.deviation(0.5), 0.5);
    }

    #[test]
    fn a_bound_is_rounded_to_the_better_side() {
        let values = [1.1, 2.3, 3.7];
        let (up, down) =
            (TargetScale::new(Goal::Maximize, &values), TargetScale::new(Goal::Minimize, &values));
        for x in [-3.3, -0.1, 0.0, 0.7] {
            assert!(up.bound(x) > up.mean(x) && down.bound(x) < down.mean(x));
            assert_relative_eq!(up.bound(x), up.mean(x), max_relative = 1e-14);
        }
    }

    #[test]
    fn one_value_or_no_spread_keeps_the_units() {
        for values in [&[7.0][..], &[7.0, 7.0, 7.0], &[0.1 + 0.2, 0.3]] {
            let scale = TargetScale::new(Goal::Minimize, values);
            assert_relative_eq!(scale.standardise(8.0), 8.0 - 7.0 + (7.0 - values[0]), epsilon = 1e-12);
        }
        assert_relative_eq!(TargetScale::new(Goal::Minimize, &[]).standardise(2.0), 2.0);
    }

    #[test]
    fn huge_values_stay_finite() {
        let scale = TargetScale::new(Goal::Minimize, &[1e300, -1e300, 0.0]);
        assert_relative_eq!(scale.standardise(1e300), 1.0, max_relative = 1e-12);
    }
}
