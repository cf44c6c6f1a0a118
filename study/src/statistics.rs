//! Quantiles, ranks and sign tests.

/// The quantile of a sorted sample by linear interpolation between order statistics (Hyndman & Fan 1996, type 7); NaN for an empty one. Infinite values are
/// worse than any: where one of the two neighbours is infinite and has weight, so is the quantile.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = share * last as f64;
    let below = position.floor() as usize;
    let weight = position - below as f64;
    if weight == 0.0 || sorted[below] == sorted[below + 1] {
        sorted[below]
    } else {
        sorted[below] + weight * (sorted[below + 1] - sorted[below])
    }
}

/// First quartile, median, third quartile.
pub(super) fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share))
}

/// Ranks from 1 for the smallest; equals share the mean of their ranks.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|w| *w < v).count();
        let equal = values.iter().filter(|w| *w == v).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Result of a sign test of one method against another on paired values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Pairs in which the first is better.
    pub(super) wins: usize,
    /// Equal pairs.
    pub(super) ties: usize,
    /// Pairs in which the second is better.
    pub(super) losses: usize,
}

impl Signs {
    /// Counts pairs of values to be minimised.
    pub(super) fn count(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut signs = Self::default();
        for (a, b) in pairs {
            match a.partial_cmp(&b) {
                Some(std::cmp::Ordering::Less) => signs.wins += 1,
                Some(std::cmp::Ordering::Greater) => signs.losses += 1,
                _ => signs.ties += 1,
            }
        }
        signs
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            ties: self.ties + other.ties,
            losses: self.losses + other.losses,
        }
    }

    /// The three numbers as text, for tables.
    pub(super) fn counts(self) -> [String; 3] {
        [self.wins, self.ties, self.losses].map(|n| n.to_string())
    }

    /// Two-sided probability of a split at least as uneven by fair coins, ties left out: `min(1, 2 sum_{k <= min(wins, losses)} C(n, k) / 2^n)`.
    pub(super) fn p_value(self) -> f64 {
        let n = self.wins + self.losses;
        let fewer = self.wins.min(self.losses);
        if n <= 1000 {
            // 2^-n is a float, and so are the products, exactly while the binomials are below 2^53.
            let mut term = 0.5f64.powi(n as i32);
            let mut sum = term;
            for k in 1..=fewer {
                term = term * (n - k + 1) as f64 / k as f64;
                sum += term;
            }
            return (2.0 * sum).min(1.0);
        }
        // ln C(n, k) - n ln 2, from one k to the next.
        let mut log_term = -(n as f64) * std::f64::consts::LN_2;
        let mut sum = log_term.exp();
        for k in 1..=fewer {
            log_term += ((n - k + 1) as f64 / k as f64).ln();
            sum += log_term.exp();
        }
        (2.0 * sum).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::{Signs, quantile, quartiles, ranks};

    #[test]
    fn quartiles_interpolate_between_order_statistics() {
        // numpy.percentile([1, 2, 4, 8], [25, 50, 75]) = [1.75, 3, 5].
        assert_eq!(quartiles(&[8.0, 1.0, 4.0, 2.0]), [1.75, 3.0, 5.0]);
        assert_eq!(quartiles(&[4.0, 1.0, 3.0, 2.0, 5.0]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&[1.0, 2.0]), [1.25, 1.5, 1.75]);
        assert_eq!(quartiles(&[3.0]), [3.0; 3]);
        assert_eq!(quartiles(&[7.0]), [7.0; 3]);
        assert!(quartiles(&[]).iter().all(|q| q.is_nan()));
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn runs_without_a_value_are_worse_than_any() {
        let inf = f64::INFINITY;
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0, inf]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&[1.0, inf, inf]), [inf, inf, inf]);
        assert_eq!(quartiles(&[inf, inf]), [inf; 3]);
    }

    #[test]
    fn equals_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, f64::INFINITY]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn sign_tests_by_hand() {
        let signs = |wins, losses| Signs { wins, ties: 3, losses }.p_value();
        // 10 of 10: 2 / 1024. 8 of 10: 2 (1 + 10 + 45) / 1024. 5 of 10 is no evidence at all.
        assert_relative_eq!(signs(10, 0), 2.0 / 1024.0, max_relative = 1e-12);
        assert_relative_eq!(signs(2, 8), 112.0 / 1024.0, max_relative = 1e-12);
        assert_eq!(signs(5, 5), 1.0);
        assert_eq!(signs(0, 0), 1.0);
        assert_eq!(signs(5, 1), 0.21875);
        // By exact integers, on both sides of the change of method.
        assert_relative_eq!(signs(480, 520), 0.21744829320414094, max_relative = 1e-9);
        assert_relative_eq!(signs(481, 520), 0.22970881468650606, max_relative = 1e-9);
        assert_relative_eq!(signs(700, 300), 1.7665678007950136e-37, max_relative = 1e-9);
        assert_relative_eq!(signs(3000, 2000), 1.3002310005203771e-45, max_relative = 1e-9);
        let counted = Signs::count([(1.0, 2.0), (2.0, 2.0), (3.0, f64::INFINITY), (4.0, 1.0)].into_iter());
        assert_eq!(counted, Signs { wins: 2, ties: 1, losses: 1 });
    }
}
