//! What a model says of rows that it has not seen, and a verdict in words.

use crate::problem::format_significant;

/// Half width, in deviations, of the interval that holds 95 % of a normal distribution.
pub const INTERVAL: f64 = 1.96;
/// Share of values that such intervals should hold.
const CONFIDENCE: f64 = 0.95;
/// A model is called too sure of itself when intervals as wide as they should be would hold so few values with at most this probability.
const SIGNIFICANCE: f64 = 0.025;
/// A model that explains less of the variance than this is weak.
const WEAK: f64 = 0.5;
/// With fewer rows a verdict says little.
const FEW: usize = 10;

/// A measured row, predicted by a model that has not seen it; in the objective's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOut {
    /// Index of the row in the history, from 0.
    pub row: usize,
    /// The measured value.
    pub value: f64,
    /// The predicted mean.
    pub mean: f64,
    /// The predicted standard deviation of a measurement, noise included.
    pub std: f64,
}

impl HeldOut {
    /// True when the value lies within 1.96 deviations of the mean, where 95 % should.
    pub fn is_inside(&self) -> bool {
        (self.value - self.mean).abs() <= INTERVAL * self.std
    }
}

/// Errors of one model on held-out rows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutErrors {
    /// Root mean square error, in the objective's units.
    pub rmse: f64,
    /// `1 - sum (value - mean)^2 / sum (value - average)^2`; `None` when all values are equal.
    pub r_squared: Option<f64>,
    /// Number of values inside their 95 % intervals.
    pub inside: usize,
    /// Mean log density of the values, noise included.
    pub log_density: f64,
    /// Row by row, in the order of the history.
    pub predictions: Vec<HeldOut>,
}

/// What to think of a model, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All measured values are equal: nothing can be said.
    NoSpread,
    /// Its error is no smaller than that of the plain average.
    Worthless,
    /// Too few values lie in its intervals.
    TooSure,
    /// It explains less than half of the variance.
    Weak,
    /// None of these.
    Good,
}

impl Verdict {
    /// False for a model whose bounds are no reason to do anything.
    pub fn is_to_be_trusted(self) -> bool {
        matches!(self, Self::Weak | Self::Good)
    }

    /// The word of the output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSpread => "unknown",
            Self::Worthless => "worthless",
            Self::TooSure => "too sure of itself",
            Self::Weak => "weak",
            Self::Good => "good",
        }
    }
}

impl HeldOutErrors {
    /// Sums up predictions, at least one.
    pub(super) fn new(mut predictions: Vec<HeldOut>) -> Self {
        predictions.sort_by_key(|held_out| held_out.row);
        let n = predictions.len() as f64;
        let average = predictions.iter().map(|p| p.value / n).sum::<f64>();
        let errors: f64 = predictions.iter().map(|p| (p.value - p.mean).powi(2)).sum();
        let spread: f64 = predictions.iter().map(|p| (p.value - average).powi(2)).sum();
        let varies = predictions.iter().any(|p| p.value != predictions[0].value);
        let log_density = |p: &HeldOut| {
            -0.5 * ((p.value - p.mean) / p.std).powi(2) - p.std.ln() - 0.5 * std::f64::consts::TAU.ln()
        };
        Self {
            rmse: (errors / n).sqrt(),
            r_squared: varies.then(|| 1.0 - errors / spread),
            inside: predictions.iter().filter(|p| p.is_inside()).count(),
            log_density: predictions.iter().map(log_density).sum::<f64>() / n,
            predictions,
        }
    }

    /// Share of the values inside their 95 % intervals.
    pub fn coverage(&self) -> f64 {
        self.inside as f64 / self.predictions.len() as f64
    }

    /// What to think of the model.
    pub fn verdict(&self) -> Verdict {
        match self.r_squared {
            None => Verdict::NoSpread,
            // Of a model without a finite error nothing is to be hoped for.
            Some(r_squared) if r_squared.is_nan() || r_squared <= 0.0 => Verdict::Worthless,
            Some(_) if self.is_too_sure() => Verdict::TooSure,
            Some(r_squared) if r_squared < WEAK => Verdict::Weak,
            Some(_) => Verdict::Good,
        }
    }

    fn is_too_sure(&self) -> bool {
        probability_at_most(self.inside, self.predictions.len(), CONFIDENCE) <= SIGNIFICANCE
    }

    /// The verdict with its reasons, in a sentence without a full stop.
    pub fn sentence(&self) -> String {
        let digits = |x: f64| format_significant(x, 3);
        let n = self.predictions.len();
        let error = digits(self.rmse);
        let inside = format!("{} of {n} values lie in their 95 % intervals", self.inside);
        let r_squared = self.r_squared.map_or("-".to_owned(), |r| format!("{r:.2}"));
        let reasons = match self.verdict() {
            Verdict::NoSpread => "all measured values are equal".to_owned(),
            Verdict::Worthless => {
                format!(
                    "its error on rows it has not seen ({error}) is no smaller than that of the plain average (R^2 {r_squared}); do not believe what it predicts"
                )
            }
            Verdict::TooSure => {
                format!(
                    "only {inside}; its error on rows it has not seen is {error} (R^2 {r_squared}); the true deviations are larger than those it gives"
                )
            }
            Verdict::Weak => {
                format!(
                    "it explains {:.0} % of the variance of rows it has not seen (error {error}, R^2 {r_squared}); {inside}",
                    100.0 * self.r_squared.unwrap_or(0.0)
                )
            }
            Verdict::Good => {
                format!("its error on rows it has not seen is {error} (R^2 {r_squared}); {inside}")
            }
        };
        let few = if n < FEW { format!("; with {n} rows this says little") } else { String::new() };
        format!("{}: {reasons}{few}", self.verdict().as_str())
    }
}

/// The probability of at most `k` successes in `n` trials of probability `p` in (0, 1).
fn probability_at_most(k: usize, n: usize, p: f64) -> f64 {
    let odds = (p / (1.0 - p)).ln();
    // Logarithms, since (1 - p)^n is 0 in f64 for a few hundred trials.
    let mut log_term = n as f64 * (1.0 - p).ln();
    let mut sum = log_term.exp();
    for i in 1..=k.min(n) {
        log_term += ((n - i + 1) as f64 / i as f64).ln() + odds;
        sum += log_term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::{HeldOut, HeldOutErrors, Verdict, probability_at_most};
    use approx::assert_relative_eq;

    fn errors(rows: &[(f64, f64, f64)]) -> HeldOutErrors {
        let one = |(row, &(value, mean, std)): (usize, &(f64, f64, f64))| HeldOut { row, value, mean, std };
        HeldOutErrors::new(rows.iter().enumerate().map(one).collect())
    }

    #[test]
    fn binomial_sums_by_hand() {
        assert_relative_eq!(probability_at_most(0, 3, 0.5), 0.125, max_relative = 1e-12);
        assert_relative_eq!(probability_at_most(2, 3, 0.5), 0.875, max_relative = 1e-12);
        assert_relative_eq!(probability_at_most(3, 3, 0.5), 1.0, max_relative = 1e-12);
        // scipy.stats.binom.cdf(16, 20, 0.95) and cdf(1850, 2000, 0.95)
        assert_relative_eq!(probability_at_most(16, 20, 0.95), 0.015_901_525_5, max_relative = 1e-6);
        assert!(probability_at_most(1850, 2000, 0.95) < 1e-5);
        assert!(probability_at_most(1900, 2000, 0.95) > 0.4);
    }

    #[test]
    fn errors_by_hand() {
        let e = errors(&[(1.0, 1.0, 1.0), (2.0, 3.0, 0.1), (3.0, 3.0, 1.0), (6.0, 5.0, 1.0)]);
        assert_relative_eq!(e.rmse, 0.5f64.sqrt());
        // Average 3, sum of squares 4 + 1 + 0 + 9 = 14.
        assert_relative_eq!(e.r_squared.unwrap(), 1.0 - 2.0 / 14.0, max_relative = 1e-12);
        assert_eq!((e.inside, e.coverage()), (3, 0.75));
        let one = |d: f64, s: f64| -0.5 * (d / s).powi(2) - s.ln() - 0.918_938_533_204_672_8;
        assert_relative_eq!(
            e.log_density,
            (2.0 * one(0.0, 1.0) + one(1.0, 0.1) + one(1.0, 1.0)) / 4.0,
            max_relative = 1e-12
        );
    }

    #[test]
    fn each_verdict_has_its_case() {
        let line = |error: f64, std: f64| -> Vec<(f64, f64, f64)> {
            (0..20)
                .map(|i| (f64::from(i), f64::from(i) + if i % 2 == 0 { error } else { -error }, std))
                .collect()
        };
        let of = |rows: &[(f64, f64, f64)]| errors(rows).verdict();
        assert_eq!(of(&line(0.5, 0.5)), Verdict::Good);
        assert_eq!(of(&line(0.5, 0.1)), Verdict::TooSure);
        // The variance of 0..19 is 33.25.
        assert_eq!(of(&line(5.0, 5.0)), Verdict::Weak);
        assert_eq!(of(&line(5.8, 5.8)), Verdict::Worthless);
        assert_eq!(of(&line(5.8, 0.1)), Verdict::Worthless);
        assert_eq!(of(&[(2.0, 2.0, 1.0), (2.0, 2.5, 1.0)]), Verdict::NoSpread);
        assert!(Verdict::Weak.is_to_be_trusted() && !Verdict::TooSure.is_to_be_trusted());
        assert_eq!(of(&[(1.0, f64::NAN, 1.0), (2.0, 2.5, 1.0)]), Verdict::Worthless);
        let too_sure = errors(&line(0.5, 0.1)).sentence();
        assert!(too_sure.starts_with("too sure of itself: only 0 of 20 values"), "{too_sure}");
        let few = errors(&line(0.5, 0.5)[..6]).sentence();
        assert!(few.starts_with("good: ") && few.ends_with("with 6 rows this says little"), "{few}");
    }

    #[test]
    fn one_or_two_misses_of_twenty_are_no_reason() {
        let rows = |misses: usize| -> Vec<(f64, f64, f64)> {
            (0..20).map(|i| (i as f64, i as f64 + if i < misses { 1.0 } else { 0.0 }, 0.2)).collect()
        };
        let too_sure: Vec<bool> = (0..6).map(|k| errors(&rows(k)).verdict() == Verdict::TooSure).collect();
        assert_eq!(too_sure, [false, false, false, false, true, true]);
    }
}
