//! Splits of a leaf: what one is, what limits it, and which of two is better.

use smallvec::SmallVec;

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::settings::GbdtSettings;

/// Sums over a leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LeafSums {
    pub(super) gradient: f64,
    pub(super) hessian: f64,
    pub(super) count: usize,
}

/// Which bins go left.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BinRule {
    /// Bins up to this one; the bin of NaN by `default_left`.
    UpTo { bin: usize, default_left: bool },
    /// The listed bins.
    Listed(SmallVec<[u16; 8]>),
}

/// A candidate split.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Split {
    /// Loss reduction beyond `min_gain_to_split` (twice the loss's units).
    pub(super) gain: f64,
    /// Feature in the histograms' order.
    pub(super) slot: usize,
    /// Column of the table: among equal gains the first column wins.
    pub(super) column: usize,
    pub(super) rule: BinRule,
    pub(super) left: LeafSums,
    pub(super) right: LeafSums,
    pub(super) left_output: f64,
    pub(super) right_output: f64,
}

impl Split {
    /// Whether a split of this gain on this column is to be preferred to `other`.
    fn is_better(gain: f64, column: usize, other: Option<&Self>) -> bool {
        other.is_none_or(|other| gain > other.gain || (gain == other.gain && column < other.column))
    }

    /// Takes the place of `best` if it is to be preferred.
    pub(super) fn offer(self, best: &mut Option<Self>) {
        if Self::is_better(self.gain, self.column, best.as_ref()) {
            *best = Some(self);
        }
    }
}

/// Where a search looks: a leaf, a feature, and what splits must obey.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchSite<'a> {
    pub(super) limits: &'a SplitLimits,
    pub(super) leaf: &'a LeafTotals,
    /// Feature in the histograms' order and its column of the table.
    pub(super) slot: usize,
    pub(super) column: usize,
}

/// The left side of the best split of a feature.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftSide {
    /// Gain of both children, the leaf's own not yet taken away.
    pub(super) gain: f64,
    pub(super) gradient: f64,
    /// Padded by `HESSIAN_EPSILON`.
    pub(super) hessian: f64,
    pub(super) count: f64,
}

impl SearchSite<'_> {
    /// Offers the feature's best split in place of `best`; `penalty` determines the leaf values.
    pub(super) fn offer(
        &self,
        left: LeftSide,
        penalty: Penalty,
        rule: impl FnOnce() -> BinRule,
        best: &mut Option<Split>,
    ) {
        let gain = left.gain - self.leaf.to_beat;
        if !Split::is_better(gain, self.column, best.as_ref()) {
            return;
        }
        let right_gradient = self.leaf.sums.gradient - left.gradient;
        let right_hessian = self.leaf.hessian - left.hessian;
        *best = Some(Split {
            gain,
            slot: self.slot,
            column: self.column,
            rule: rule(),
            left: LeafSums {
                gradient: left.gradient,
                hessian: left.hessian - HESSIAN_EPSILON,
                count: left.count as usize,
            },
            right: LeafSums {
                gradient: right_gradient,
                hessian: right_hessian - HESSIAN_EPSILON,
                count: (self.leaf.sums.count as f64 - left.count) as usize,
            },
            left_output: penalty.output(left.gradient, left.hessian),
            right_output: penalty.output(right_gradient, right_hessian),
        });
    }
}

/// What limits and penalises splits.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitLimits {
    pub(super) min_data_in_leaf: f64,
    pub(super) min_sum_hessian_in_leaf: f64,
    pub(super) min_gain_to_split: f64,
    pub(super) penalty: Penalty,
    pub(super) cat_smooth: f64,
    pub(super) cat_l2: f64,
    pub(super) max_cat_threshold: usize,
    pub(super) max_cat_to_onehot: usize,
    pub(super) min_data_per_group: f64,
    /// Whether second derivatives differ between rows, so that row counts must be estimated from them.
    pub(super) estimates_rows: bool,
}

impl SplitLimits {
    /// The limits of the settings for targets that were multiplied by `scale`.
    pub(super) fn new(settings: &GbdtSettings, scale: f64, is_weighted: bool) -> Self {
        // With weights, row counts are estimated from second derivatives. A limit of one row would be applied wrongly by an
        // estimate and holds anyway: a side without rows is never accepted.
        let rows =
            |limit: usize| if is_weighted && limit <= 1 { f64::NEG_INFINITY } else { limit.max(1) as f64 };
        Self {
            min_data_in_leaf: rows(settings.min_data_in_leaf),
            min_sum_hessian_in_leaf: settings.min_sum_hessian_in_leaf,
            min_gain_to_split: settings.min_gain_to_split * scale * scale,
            penalty: Penalty { l1: settings.lambda_l1 * scale, l2: settings.lambda_l2 },
            cat_smooth: settings.cat_smooth,
            cat_l2: settings.cat_l2,
            max_cat_threshold: settings.max_cat_threshold,
            max_cat_to_onehot: settings.max_cat_to_onehot,
            min_data_per_group: rows(settings.min_data_per_group),
            estimates_rows: is_weighted,
        }
    }

    /// Whether a child may have this many rows and this second-derivative sum.
    #[inline(always)]
    pub(super) fn admits(&self, count: f64, hessian: f64) -> bool {
        (count >= self.min_data_in_leaf) & (hessian >= self.min_sum_hessian_in_leaf)
    }
}

/// A leaf's sums and what follows from them for every feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafTotals {
    pub(super) sums: LeafSums,
    /// Number of rows.
    pub(super) n_rows: f64,
    /// Second-derivative sum, padded for both children.
    pub(super) hessian: f64,
    /// The gain that a pair of children must exceed.
    pub(super) to_beat: f64,
    /// Rows divided by `hessian`.
    rows_per_hessian: f64,
}

impl LeafTotals {
    pub(super) fn new(sums: LeafSums, limits: &SplitLimits) -> Self {
        let hessian = sums.hessian + 2.0 * HESSIAN_EPSILON;
        let n_rows = sums.count as f64;
        let to_beat = limits.penalty.gain(sums.gradient, hessian) + limits.min_gain_to_split;
        Self { sums, n_rows, hessian, to_beat, rows_per_hessian: n_rows / hessian }
    }

    /// Number of rows behind a second-derivative sum: exact when all second derivatives of the leaf are equal, else an estimate.
    #[inline(always)]
    pub(super) fn rows_behind(&self, hessian: f64) -> f64 {
        // Adding and taking away 2^52 rounds a positive number to a whole one without a library call; then down, as `floor`.
        const WHOLE: f64 = (1u64 << 52) as f64;
        let shifted = hessian * self.rows_per_hessian + 0.5;
        let nearest = (shifted + WHOLE) - WHOLE;
        if nearest > shifted { nearest - 1.0 } else { nearest }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{LeafSums, SplitLimits};
    use crate::gbdt::gain::Penalty;
    use crate::gbdt::histogram::Entry;

    pub(in crate::gbdt) fn limits() -> SplitLimits {
        SplitLimits {
            min_data_in_leaf: 1.0,
            min_sum_hessian_in_leaf: 1e-3,
            min_gain_to_split: 0.0,
            penalty: Penalty { l1: 0.0, l2: 0.0 },
            cat_smooth: 10.0,
            cat_l2: 10.0,
            max_cat_threshold: 32,
            max_cat_to_onehot: 4,
            min_data_per_group: 1.0,
            estimates_rows: false,
        }
    }

    pub(in crate::gbdt) fn histogram(sums: &[(f64, f64)]) -> (Vec<Entry>, LeafSums) {
        let entries: Vec<Entry> =
            sums.iter().map(|&(gradient, hessian)| Entry { gradient, hessian }).collect();
        let gradient = sums.iter().map(|s| s.0).sum();
        let hessian: f64 = sums.iter().map(|s| s.1).sum();
        (entries, LeafSums { gradient, hessian, count: hessian as usize })
    }
}
