//! Losses: initial score, derivatives and the leaf values of the quantile-like ones.

use super::settings::{GbdtSettings, Objective};

/// A loss on given targets.
#[derive(Debug)]
pub(super) struct Loss<'a> {
    pub(super) objective: Objective,
    /// Half-width of Huber's quadratic part or level of the quantile.
    alpha: f64,
    pub(super) targets: &'a [f64],
    /// Weights in single precision as the second derivatives; `None` when all are 1.
    pub(super) weights: Option<&'a [f32]>,
}

impl<'a> Loss<'a> {
    /// The loss of the settings; `scale` is the factor that was applied to the targets.
    pub(super) fn new(
        settings: &GbdtSettings,
        scale: f64,
        targets: &'a [f64],
        weights: Option<&'a [f32]>,
    ) -> Self {
        let alpha = match settings.objective {
            Objective::Huber => settings.alpha * scale,
            _ => settings.alpha,
        };
        Self { objective: settings.objective, alpha, targets, weights }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[row]))
    }

    /// The constant that boosting starts from: the mean, or the quantile of the quantile-like losses.
    pub(super) fn initial_score(&self) -> f64 {
        let level = match self.objective {
            Objective::L1 => 0.5,
            Objective::Quantile => self.alpha,
            Objective::L2 | Objective::Huber => {
                let mut sums = (0.0, 0.0);
                let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
                for (row, &target) in self.targets.iter().enumerate() {
                    sums.0 += target * self.weight(row);
                    sums.1 += self.weight(row);
                    (smallest, largest) = (smallest.min(target), largest.max(target));
                }
                // Rounding must not push the mean of equal targets off them.
                return (sums.0 / sums.1).clamp(smallest, largest);
            }
        };
        let mut pairs: Vec<(f64, f64)> =
            self.targets.iter().enumerate().map(|(row, &target)| (target, self.weight(row))).collect();
        quantile(&mut pairs, self.weights.is_some(), level)
    }

    /// Gradients (and second derivatives, when weighted) at the scores of rows `first..`; returns the weighted loss and the sum
    /// of weights.
    pub(super) fn derivatives(&self, first: usize, scores: &[f64], gradients: &mut [f32]) -> (f64, f64) {
        let targets = &self.targets[first..first + scores.len()];
        let mut loss = 0.0;
        if let (Objective::L2, None) = (self.objective, self.weights) {
            for ((gradient, &score), &target) in gradients.iter_mut().zip(scores).zip(targets) {
                let difference = score - target;
                *gradient = difference as f32;
                loss += difference * difference;
            }
            return (loss, scores.len() as f64);
        }
        let mut total = 0.0;
        for (i, gradient) in gradients.iter_mut().enumerate() {
            let difference = scores[i] - targets[i];
            let (slope, value) = self.at(difference);
            let weight = self.weights.map_or(1.0, |weights| weights[first + i]);
            *gradient = slope as f32 * weight;
            loss += value * f64::from(weight);
            total += f64::from(weight);
        }
        (loss, total)
    }

    /// Derivative and value of the loss at `score - target`.
    fn at(&self, difference: f64) -> (f64, f64) {
        let sign = if difference > 0.0 { 1.0 } else { -f64::from(u8::from(difference < 0.0)) };
        match self.objective {
            Objective::L2 => (difference, difference * difference),
            Objective::L1 => (sign, difference.abs()),
            Objective::Huber if difference.abs() <= self.alpha => (difference, 0.5 * difference * difference),
            Objective::Huber => (sign * self.alpha, self.alpha * (difference.abs() - 0.5 * self.alpha)),
            Objective::Quantile if difference >= 0.0 => (1.0 - self.alpha, (1.0 - self.alpha) * difference),
            Objective::Quantile => (-self.alpha, -self.alpha * difference),
        }
    }

    /// The mean loss as the training curve reports it: root mean squared error for L2.
    pub(super) fn report(&self, loss: f64, total: f64) -> f64 {
        let mean = loss / total;
        if self.objective == Objective::L2 { mean.sqrt() } else { mean }
    }

    /// The loss of predictions for rows whose targets are given apart.
    pub(super) fn mean_loss(&self, targets: &[f64], weights: Option<&[f32]>, scores: &[f64]) -> f64 {
        let (mut loss, mut total) = (0.0, 0.0);
        for (i, (&target, &score)) in targets.iter().zip(scores).enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[i]));
            loss += weight * self.at(score - target).1;
            total += weight;
        }
        self.report(loss, total)
    }

    /// Level of the residuals' quantile that leaves take instead of the Newton step; `None` for smooth losses.
    pub(super) fn leaf_quantile(&self) -> Option<f64> {
        match self.objective {
            Objective::L1 => Some(0.5),
            Objective::Quantile => Some(self.alpha),
            Objective::L2 | Objective::Huber => None,
        }
    }

    /// That quantile of `target - score` over the rows.
    pub(super) fn residual_quantile(&self, rows: &[u32], scores: &[f64], level: f64) -> f64 {
        let mut pairs: Vec<(f64, f64)> = rows
            .iter()
            .map(|&row| (self.targets[row as usize] - scores[row as usize], self.weight(row as usize)))
            .collect();
        quantile(&mut pairs, self.weights.is_some(), level)
    }
}

/// The quantile of (value, weight) pairs, at least one: interpolated between order statistics when unweighted, else the smallest
/// value whose cumulated weight exceeds the level's share.
fn quantile(pairs: &mut [(f64, f64)], weighted: bool, level: f64) -> f64 {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if !weighted {
        // The position counts from the largest value down.
        let last = pairs.len() - 1;
        let position = last as f64 * (1.0 - level);
        let above = (position as usize).min(last);
        let below = (above + 1).min(last);
        let (upper, lower) = (pairs[last - above].0, pairs[last - below].0);
        return upper - (upper - lower) * (position - above as f64);
    }
    let share: f64 = pairs.iter().map(|pair| pair.1).sum::<f64>() * level;
    let mut cumulated = 0.0;
    for &(value, weight) in pairs.iter() {
        cumulated += weight;
        if cumulated > share {
            return value;
        }
    }
    pairs[pairs.len() - 1].0
}

#[cfg(test)]
mod tests {
    use super::{Loss, quantile};
    use crate::gbdt::settings::{GbdtSettings, Objective};

    fn settings(objective: Objective, alpha: f64) -> GbdtSettings {
        GbdtSettings { objective, alpha, ..GbdtSettings::default() }
    }

    #[test]
    fn gradients_are_the_slopes_of_the_losses() {
        let targets = [1.0, -2.0, 0.5, 7.0];
        for (objective, alpha) in
            [(Objective::L2, 0.5), (Objective::L1, 0.5), (Objective::Huber, 0.8), (Objective::Quantile, 0.3)]
        {
            let settings = settings(objective, alpha);
            let loss = Loss::new(&settings, 1.0, &targets, None);
            let scores = [0.3, 0.2, 0.7, 6.9];
            let mut gradients = [0.0f32; 4];
            loss.derivatives(0, &scores, &mut gradients);
            for i in 0..4 {
                let value = |score: f64| loss.at(score - targets[i]).1;
                let slope = (value(scores[i] + 1e-6) - value(scores[i] - 1e-6)) / 2e-6;
                // The reported squared error has no factor of a half.
                let slope = if objective == Objective::L2 { slope / 2.0 } else { slope };
                assert!((f64::from(gradients[i]) - slope).abs() < 1e-5, "{objective:?} {i}");
            }
        }
    }

    #[test]
    fn a_weight_of_two_counts_a_row_twice() {
        let weighted = settings(Objective::L2, 0.9);
        let loss = Loss::new(&weighted, 1.0, &[1.0, 4.0], Some(&[1.0, 2.0]));
        assert_eq!(loss.initial_score(), 3.0);
        let mut gradients = [0.0f32; 2];
        let (value, total) = loss.derivatives(0, &[2.0, 2.0], &mut gradients);
        assert_eq!((gradients, value, total), ([1.0, -4.0], 9.0, 3.0));
    }

    #[test]
    fn quantiles_interpolate_or_follow_the_weights() {
        let mut plain = [(3.0, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 1.0)];
        assert_eq!(quantile(&mut plain, false, 0.5), 2.5);
        assert_eq!(quantile(&mut plain, false, 0.9), 4.0 - 0.3 * (1.0 + 1e-16));
        let mut heavy = [(3.0, 1.0), (1.0, 5.0), (2.0, 1.0)];
        assert_eq!(quantile(&mut heavy, true, 0.5), 1.0);
        assert_eq!(quantile(&mut heavy, true, 0.9), 3.0);
        assert_eq!(quantile(&mut [(5.0, 1.0)], false, 0.5), 5.0);
    }

    #[test]
    fn the_mean_of_equal_targets_is_their_value() {
        let settings = settings(Objective::L2, 0.9);
        let targets = vec![0.1; 10];
        assert_eq!(Loss::new(&settings, 1.0, &targets, None).initial_score(), 0.1);
    }
}
