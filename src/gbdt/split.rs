//! The best split of a leaf on a numeric feature, by a scan over its histogram.

use smallvec::SmallVec;

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::histogram::Entry;

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
    /// Whether this split is to be preferred.
    pub(super) fn beats(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| {
            self.gain > other.gain || (self.gain == other.gain && self.column < other.column)
        })
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
    /// The gain a pair of children must exceed, for a leaf with the (padded) second-derivative sum.
    pub(super) fn gain_to_beat(&self, gradient: f64, hessian: f64) -> f64 {
        self.penalty.gain(gradient, hessian) + self.min_gain_to_split
    }

    fn admits(&self, count: f64, hessian: f64) -> bool {
        count >= self.min_data_in_leaf && hessian >= self.min_sum_hessian_in_leaf
    }
}

/// Number of rows behind a second-derivative sum: exact when all second derivatives of a leaf are equal, else an estimate.
/// `per_hessian` is rows divided by second-derivative sum of the leaf.
#[inline(always)]
pub(super) fn count_of(hessian: f64, per_hessian: f64) -> f64 {
    // Adding and taking away 2^52 rounds a positive number to a whole one without a library call; then down, as `floor`.
    const WHOLE: f64 = (1u64 << 52) as f64;
    let shifted = hessian * per_hessian + 0.5;
    let nearest = (shifted + WHOLE) - WHOLE;
    if nearest > shifted { nearest - 1.0 } else { nearest }
}

/// Thresholds judged together: sums, gains and limits of a batch are computed in loops without branches.
const BATCH: usize = 8;

/// The bins of one numeric feature in one leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumericScan<'a> {
    pub(super) histogram: &'a [Entry],
    /// Whether the last bin is that of NaN.
    pub(super) has_missing: bool,
    pub(super) most_freq_bin: usize,
    pub(super) leaf: LeafSums,
    /// With extremely randomised trees: the one bin whose upper end is tried.
    pub(super) only_bin: Option<usize>,
}

/// The best threshold found.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    gain: f64,
    bin: usize,
    left_gradient: f64,
    left_hessian: f64,
    left_count: f64,
    default_left: bool,
}

impl NumericScan<'_> {
    /// The best split, and whether any threshold had enough gain (false means: no child of the leaf needs this feature).
    pub(super) fn find(&self, limits: &SplitLimits, slot: usize, column: usize) -> Option<Split> {
        let total_hessian = self.leaf.hessian + 2.0 * HESSIAN_EPSILON;
        let to_beat = limits.gain_to_beat(self.leaf.gradient, total_hessian);
        let n_bins = self.histogram.len();
        let mut best = None;
        if self.has_missing && n_bins > 2 {
            self.scan_down(limits, total_hessian, to_beat, n_bins - 2, &mut best);
            self.scan_up(limits, total_hessian, to_beat, &mut best);
        } else {
            self.scan_down(limits, total_hessian, to_beat, n_bins - 1, &mut best);
            if self.has_missing
                && let Some(best) = &mut best
            {
                // Two bins, the second one NaN: missing values are the right side itself.
                best.default_left = false;
            }
        }
        let best = best?;
        let right_gradient = self.leaf.gradient - best.left_gradient;
        let right_hessian = total_hessian - best.left_hessian;
        Some(Split {
            gain: best.gain - to_beat,
            slot,
            column,
            rule: BinRule::UpTo { bin: best.bin, default_left: best.default_left },
            left: LeafSums {
                gradient: best.left_gradient,
                hessian: best.left_hessian - HESSIAN_EPSILON,
                count: best.left_count as usize,
            },
            right: LeafSums {
                gradient: right_gradient,
                hessian: right_hessian - HESSIAN_EPSILON,
                count: (self.leaf.count as f64 - best.left_count) as usize,
            },
            left_output: limits.penalty.output(best.left_gradient, best.left_hessian),
            right_output: limits.penalty.output(right_gradient, right_hessian),
        })
    }

    /// Thresholds from the right, missing values (bins beyond `last_bin`) on the left.
    fn scan_down(
        &self,
        limits: &SplitLimits,
        total_hessian: f64,
        to_beat: f64,
        last_bin: usize,
        best: &mut Option<Best>,
    ) {
        let found = match (limits.estimates_rows, limits.penalty.l1 > 0.0) {
            (false, false) => self.scan_down_with::<false, false>(limits, total_hessian, to_beat, last_bin),
            (false, true) => self.scan_down_with::<false, true>(limits, total_hessian, to_beat, last_bin),
            (true, false) => self.scan_down_with::<true, false>(limits, total_hessian, to_beat, last_bin),
            (true, true) => self.scan_down_with::<true, true>(limits, total_hessian, to_beat, last_bin),
        };
        if found.is_some() {
            *best = found;
        }
    }

    /// `ESTIMATE`: row counts are estimated per bin, else the second derivatives count rows. `L1`: there is an L1 penalty.
    fn scan_down_with<const ESTIMATE: bool, const L1: bool>(
        &self,
        limits: &SplitLimits,
        total_hessian: f64,
        to_beat: f64,
        last_bin: usize,
    ) -> Option<Best> {
        let n_rows = self.leaf.count as f64;
        let total_gradient = self.leaf.gradient;
        let per_hessian = n_rows / total_hessian;
        // Counting second derivatives are whole up to rounding, so that half a row decides both limits at once.
        let least_hessian = if ESTIMATE {
            limits.min_sum_hessian_in_leaf
        } else {
            limits.min_sum_hessian_in_leaf.max(limits.min_data_in_leaf - 0.5)
        };
        let penalty = Penalty { l1: if L1 { limits.penalty.l1 } else { 0.0 }, ..limits.penalty };
        let (mut right_gradient, mut right_hessian, mut right_count) = (0.0, HESSIAN_EPSILON, 0.0);
        let mut best = Best { gain: to_beat, default_left: true, ..Best::default() };
        let entries = &self.histogram[1..=last_bin];
        let mut end = entries.len();
        for batch in entries.rchunks(BATCH) {
            end -= batch.len();
            // Unused places stay NaN, which passes no limit.
            let (mut gradients, mut hessians, mut counts) = ([0.0; BATCH], [f64::NAN; BATCH], [0.0; BATCH]);
            for (k, entry) in batch.iter().rev().enumerate() {
                right_gradient += entry.gradient;
                right_hessian += entry.hessian;
                gradients[k] = right_gradient;
                hessians[k] = right_hessian;
                if ESTIMATE {
                    right_count += count_of(entry.hessian, per_hessian);
                    counts[k] = right_count;
                }
            }
            let mut gains = [0.0; BATCH];
            for k in 0..BATCH {
                let left_hessian = total_hessian - hessians[k];
                let mut is_valid = (hessians[k] >= least_hessian) & (left_hessian >= least_hessian);
                if ESTIMATE {
                    let least_count = limits.min_data_in_leaf;
                    is_valid &= (counts[k] >= least_count) & (n_rows - counts[k] >= least_count);
                }
                let gain = penalty.gain(total_gradient - gradients[k], left_hessian)
                    + penalty.gain(gradients[k], hessians[k]);
                gains[k] = if is_valid { gain } else { f64::NEG_INFINITY };
            }
            // The threshold at place `k` is the upper end of bin `end + batch.len() - 1 - k`.
            let last = end + batch.len() - 1;
            if let Some(only) = self.only_bin {
                for (k, gain) in gains.iter_mut().enumerate() {
                    if only + k != last {
                        *gain = f64::NEG_INFINITY;
                    }
                }
            }
            let largest =
                gains.iter().fold(best.gain, |largest, &gain| if gain > largest { gain } else { largest });
            if largest > best.gain
                && let Some(k) = gains.iter().position(|&gain| gain == largest)
            {
                best.gain = largest;
                best.bin = last - k;
                best.left_gradient = total_gradient - gradients[k];
                best.left_hessian = total_hessian - hessians[k];
                best.left_count =
                    if ESTIMATE { n_rows - counts[k] } else { ((best.left_hessian + 0.5) as u64) as f64 };
            }
            if total_hessian - right_hessian < limits.min_sum_hessian_in_leaf {
                break;
            }
        }
        (best.gain > to_beat).then_some(best)
    }

    /// Thresholds from the left, missing values (the last bin) on the right.
    fn scan_up(&self, limits: &SplitLimits, total_hessian: f64, to_beat: f64, best: &mut Option<Best>) {
        let n_bins = self.histogram.len();
        let n_rows = self.leaf.count as f64;
        let per_hessian = n_rows / total_hessian;
        let (mut left_gradient, mut left_hessian, mut left_count) = (0.0, HESSIAN_EPSILON, 0.0);
        let mut first = 0;
        if self.most_freq_bin == 0 {
            // LightGBM does not store this bin: its sums are what the others leave.
            (left_gradient, left_hessian, left_count) =
                (self.leaf.gradient, total_hessian - HESSIAN_EPSILON, n_rows);
            for entry in &self.histogram[1..] {
                left_gradient -= entry.gradient;
                left_hessian -= entry.hessian;
                left_count -= count_of(entry.hessian, per_hessian);
            }
            first = 1;
        }
        // The same total gain must be beaten by this second scan: missing values go left unless right is better.
        let mut limit = best.map_or(to_beat, |best| best.gain.max(to_beat));
        for bin in 0..n_bins - 1 {
            if bin >= first {
                let entry = self.histogram[bin];
                left_gradient += entry.gradient;
                left_hessian += entry.hessian;
                left_count += count_of(entry.hessian, per_hessian);
            }
            if !limits.admits(left_count, left_hessian) {
                continue;
            }
            let right_count = n_rows - left_count;
            let right_hessian = total_hessian - left_hessian;
            if !limits.admits(right_count, right_hessian) {
                break;
            }
            if self.only_bin.is_some_and(|only| only != bin) {
                continue;
            }
            let right_gradient = self.leaf.gradient - left_gradient;
            let gain = limits.penalty.gain(left_gradient, left_hessian)
                + limits.penalty.gain(right_gradient, right_hessian);
            if gain > limit {
                limit = gain;
                *best =
                    Some(Best { gain, bin, left_gradient, left_hessian, left_count, default_left: false });
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{BinRule, LeafSums, NumericScan, SplitLimits};
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

    fn scan(sums: &[(f64, f64)], has_missing: bool) -> Option<super::Split> {
        let (entries, leaf) = histogram(sums);
        NumericScan { histogram: &entries, has_missing, most_freq_bin: 0, leaf, only_bin: None }.find(
            &limits(),
            0,
            0,
        )
    }

    #[test]
    fn the_best_threshold_is_the_one_with_the_largest_gain() {
        // Values -1 -1 | +1 +1: the middle separates perfectly; gain 4/2 + 4/2 - 0.
        let split = scan(&[(2.0, 2.0), (-1.0, 1.0), (-1.0, 1.0)], false).unwrap();
        assert_eq!(split.rule, BinRule::UpTo { bin: 0, default_left: true });
        assert!((split.gain - 4.0).abs() < 1e-12);
        assert!((split.left_output + 1.0).abs() < 1e-12 && (split.right_output - 1.0).abs() < 1e-12);
        assert_eq!((split.left.count, split.right.count), (2, 2));
    }

    #[test]
    fn no_gain_no_split() {
        assert!(scan(&[(1.0, 1.0), (1.0, 1.0)], false).is_none());
        let (entries, leaf) = histogram(&[(2.0, 2.0), (-2.0, 2.0)]);
        let strict = SplitLimits { min_gain_to_split: 4.1, ..limits() };
        let numeric =
            NumericScan { histogram: &entries, has_missing: false, most_freq_bin: 0, leaf, only_bin: None };
        assert!(numeric.find(&strict, 0, 0).is_none());
        let sparse = SplitLimits { min_data_in_leaf: 3.0, ..limits() };
        assert!(numeric.find(&sparse, 0, 0).is_none());
    }

    #[test]
    fn missing_values_join_the_side_they_resemble() {
        // Bins: low (+), high (-), NaN.
        let like_left = scan(&[(2.0, 2.0), (-2.0, 2.0), (3.0, 3.0)], true).unwrap();
        assert_eq!(like_left.rule, BinRule::UpTo { bin: 0, default_left: true });
        assert_eq!(like_left.left.count, 5);
        let like_right = scan(&[(2.0, 2.0), (-2.0, 2.0), (-3.0, 3.0)], true).unwrap();
        assert_eq!(like_right.rule, BinRule::UpTo { bin: 0, default_left: false });
        let alone = scan(&[(2.0, 2.0), (1.9, 2.0), (-3.0, 3.0)], true).unwrap();
        assert_eq!(alone.rule, BinRule::UpTo { bin: 1, default_left: false });
    }

    #[test]
    fn a_scan_agrees_with_all_partitions() {
        // A separate twin: explicit sums on both sides of every threshold.
        let sums: Vec<(f64, f64)> =
            (0..12).map(|i| (f64::from(i * i * 7 % 23) - 11.0, f64::from(1 + i % 3))).collect();
        let split = scan(&sums, false).unwrap();
        let side = |range: &[(f64, f64)]| {
            let (g, h) = range.iter().fold((0.0, 0.0), |(g, h), s| (g + s.0, h + s.1));
            g * g / h
        };
        let gains: Vec<f64> =
            (1..sums.len()).map(|k| side(&sums[..k]) + side(&sums[k..]) - side(&sums)).collect();
        let best = (0..gains.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b])).unwrap();
        assert_eq!(split.rule, BinRule::UpTo { bin: best, default_left: true });
        assert!((split.gain - gains[best]).abs() < 1e-9);
    }
}
