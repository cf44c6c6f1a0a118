//! The best split of a leaf on a numeric feature, by a scan over its histogram.

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::histogram::Entry;
use super::split::{BinRule, LeftSide, SearchSite, Split};

/// Thresholds judged together.
const CHUNK: usize = 256;
/// A gain computed with one division differs from the one with two by at most 11 roundings, far less than this part of it.
const GAIN_MARGIN: f64 = 1e-14;

/// Work space of a scan.
#[derive(Debug)]
pub(super) struct ScanBuffers {
    gradients: [f64; CHUNK],
    hessians: [f64; CHUNK],
    counts: [f64; CHUNK],
    gains: [f64; CHUNK],
}

impl Default for ScanBuffers {
    fn default() -> Self {
        let zeros = [0.0; CHUNK];
        Self { gradients: zeros, hessians: zeros, counts: zeros, gains: zeros }
    }
}

/// The bins of one numeric feature in one leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumericScan<'a> {
    pub(super) histogram: &'a [Entry],
    /// Whether the last bin is that of NaN.
    pub(super) has_missing: bool,
    pub(super) most_freq_bin: usize,
    /// With extremely randomised trees: the one bin whose upper end is tried.
    pub(super) only_bin: Option<usize>,
}

/// The best threshold found.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    bin: usize,
    default_left: bool,
    left: LeftSide,
}

impl NumericScan<'_> {
    /// Offers the best threshold in place of `best`; returns whether any had enough gain (false means: no child of the leaf needs
    /// this feature).
    pub(super) fn find(
        &self,
        site: &SearchSite<'_>,
        buffers: &mut ScanBuffers,
        best: &mut Option<Split>,
    ) -> bool {
        let n_bins = self.histogram.len();
        let found = if self.has_missing && n_bins > 2 {
            let down = self.scan_down(site, n_bins - 2, buffers);
            self.scan_up(site, down)
        } else {
            // Of two bins, the second one NaN, the missing values are the right side itself.
            self.scan_down(site, n_bins - 1, buffers)
                .map(|found| Threshold { default_left: !self.has_missing, ..found })
        };
        let Some(Threshold { bin, default_left, left }) = found else { return false };
        site.offer(left, site.limits.penalty, || BinRule::UpTo { bin, default_left }, best);
        true
    }

    /// Thresholds from the right, missing values (bins beyond `last_bin`) on the left.
    fn scan_down(
        &self,
        site: &SearchSite<'_>,
        last_bin: usize,
        buffers: &mut ScanBuffers,
    ) -> Option<Threshold> {
        match (site.limits.estimates_rows, site.limits.penalty.l1 > 0.0) {
            (false, false) => self.scan_down_with::<false, false>(site, last_bin, buffers),
            (false, true) => self.scan_down_with::<false, true>(site, last_bin, buffers),
            (true, false) => self.scan_down_with::<true, false>(site, last_bin, buffers),
            (true, true) => self.scan_down_with::<true, true>(site, last_bin, buffers),
        }
    }

    /// `ESTIMATE`: row counts are estimated per bin, else the second derivatives count rows. `L1`: there is an L1 penalty.
    ///
    /// Running sums first; then every gain with a single division, in a loop without branches; then, for the few thresholds within
    /// rounding of the best, the gain as LightGBM computes it, which decides.
    fn scan_down_with<const ESTIMATE: bool, const L1: bool>(
        &self,
        site: &SearchSite<'_>,
        last_bin: usize,
        buffers: &mut ScanBuffers,
    ) -> Option<Threshold> {
        let (limits, leaf) = (site.limits, &site.leaf);
        let penalty = Penalty { l1: if L1 { limits.penalty.l1 } else { 0.0 }, ..limits.penalty };
        // Counting second derivatives are whole up to rounding, so that half a row decides both limits at once.
        let least_hessian = if ESTIMATE {
            limits.min_sum_hessian_in_leaf
        } else {
            limits.min_sum_hessian_in_leaf.max(limits.min_data_in_leaf - 0.5)
        };
        let (mut right_gradient, mut right_hessian, mut right_count) = (0.0, HESSIAN_EPSILON, 0.0);
        let mut best = LeftSide { gain: leaf.to_beat, ..LeftSide::default() };
        let mut best_bin = None;
        let mut last = last_bin;
        for entries in self.histogram[1..=last_bin].rchunks(CHUNK) {
            let gradients = &mut buffers.gradients[..entries.len()];
            let hessians = &mut buffers.hessians[..entries.len()];
            let counts = &mut buffers.counts[..entries.len()];
            let gains = &mut buffers.gains[..entries.len()];
            for ((entry, gradient), hessian) in
                entries.iter().rev().zip(gradients.iter_mut()).zip(hessians.iter_mut())
            {
                right_gradient += entry.gradient;
                right_hessian += entry.hessian;
                (*gradient, *hessian) = (right_gradient, right_hessian);
            }
            if ESTIMATE {
                for (entry, count) in entries.iter().rev().zip(counts.iter_mut()) {
                    right_count += leaf.rows_behind(entry.hessian);
                    *count = right_count;
                }
            }
            for ((gain, &gradient), &hessian) in gains.iter_mut().zip(&*gradients).zip(&*hessians) {
                let left_hessian = leaf.hessian - hessian;
                let is_valid = (hessian >= least_hessian) & (left_hessian >= least_hessian);
                let both =
                    penalty.gain_of_pair(leaf.sums.gradient - gradient, left_hessian, gradient, hessian);
                *gain = if is_valid { both } else { f64::NEG_INFINITY };
            }
            if ESTIMATE {
                let least = limits.min_data_in_leaf;
                for (gain, &count) in gains.iter_mut().zip(&*counts) {
                    if (count < least) | (leaf.n_rows - count < least) {
                        *gain = f64::NEG_INFINITY;
                    }
                }
            }
            if let Some(only) = self.only_bin {
                for (k, gain) in gains.iter_mut().enumerate() {
                    if only + 1 + k != last {
                        *gain = f64::NEG_INFINITY;
                    }
                }
            }
            let limit = largest(gains).max(best.gain) * (1.0 - GAIN_MARGIN);
            for k in 0..gains.len() {
                if gains[k] >= limit {
                    let (gradient, hessian) = (leaf.sums.gradient - gradients[k], leaf.hessian - hessians[k]);
                    let gain = penalty.gain(gradient, hessian) + penalty.gain(gradients[k], hessians[k]);
                    if gain > best.gain {
                        let count =
                            if ESTIMATE { leaf.n_rows - counts[k] } else { ((hessian + 0.5) as u64) as f64 };
                        best = LeftSide { gain, gradient, hessian, count };
                        best_bin = Some(last - 1 - k);
                    }
                }
            }
            if leaf.hessian - right_hessian < limits.min_sum_hessian_in_leaf {
                break;
            }
            last -= entries.len();
        }
        best_bin.map(|bin| Threshold { bin, default_left: true, left: best })
    }

    /// Thresholds from the left, missing values (the last bin) on the right; `found` is the best with missing values on the left.
    fn scan_up(&self, site: &SearchSite<'_>, found: Option<Threshold>) -> Option<Threshold> {
        let (limits, leaf) = (site.limits, &site.leaf);
        let n_bins = self.histogram.len();
        let (mut left_gradient, mut left_hessian, mut left_count) = (0.0, HESSIAN_EPSILON, 0.0);
        let mut first = 0;
        if self.most_freq_bin == 0 {
            // LightGBM does not store this bin: its sums are what the others leave.
            (left_gradient, left_hessian, left_count) =
                (leaf.sums.gradient, leaf.hessian - HESSIAN_EPSILON, leaf.n_rows);
            for entry in &self.histogram[1..] {
                left_gradient -= entry.gradient;
                left_hessian -= entry.hessian;
                left_count -= leaf.rows_behind(entry.hessian);
            }
            first = 1;
        }
        // The same total gain must be beaten by this second scan: missing values go left unless right is better.
        let mut best = found;
        for bin in 0..n_bins - 1 {
            if bin >= first {
                let entry = self.histogram[bin];
                left_gradient += entry.gradient;
                left_hessian += entry.hessian;
                left_count += leaf.rows_behind(entry.hessian);
            }
            if !limits.admits(left_count, left_hessian) {
                continue;
            }
            let right_hessian = leaf.hessian - left_hessian;
            if !limits.admits(leaf.n_rows - left_count, right_hessian) {
                break;
            }
            if self.only_bin.is_some_and(|only| only != bin) {
                continue;
            }
            let right_gradient = leaf.sums.gradient - left_gradient;
            let gain = limits.penalty.gain(left_gradient, left_hessian)
                + limits.penalty.gain(right_gradient, right_hessian);
            if gain > best.map_or(leaf.to_beat, |best| best.left.gain) {
                let left =
                    LeftSide { gain, gradient: left_gradient, hessian: left_hessian, count: left_count };
                best = Some(Threshold { bin, default_left: false, left });
            }
        }
        best
    }
}

/// The largest of the numbers that are not NaN; minus infinity for none.
fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<4>();
    let mut lanes = [f64::NEG_INFINITY; 4];
    for chunk in chunks {
        for lane in 0..4 {
            lanes[lane] = larger(lanes[lane], chunk[lane]);
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| larger(a, b))
}

#[cfg(test)]
mod tests {
    use super::{NumericScan, ScanBuffers, largest};
    use crate::gbdt::histogram::Entry;
    use crate::gbdt::split::tests::{histogram, limits};
    use crate::gbdt::split::{BinRule, LeafSums, LeafTotals, SearchSite, Split, SplitLimits};

    fn find(scan: NumericScan<'_>, leaf: LeafSums, limits: &SplitLimits) -> Option<Split> {
        let site = SearchSite { limits, leaf: LeafTotals::new(leaf, limits), slot: 0, column: 0 };
        let mut best = None;
        let found = scan.find(&site, &mut ScanBuffers::default(), &mut best);
        assert_eq!(found, best.is_some());
        best
    }

    fn plain(histogram: &[Entry]) -> NumericScan<'_> {
        NumericScan { histogram, has_missing: false, most_freq_bin: 0, only_bin: None }
    }

    fn scan(sums: &[(f64, f64)], has_missing: bool) -> Option<Split> {
        let (entries, leaf) = histogram(sums);
        find(NumericScan { has_missing, ..plain(&entries) }, leaf, &limits())
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
        assert!(find(plain(&entries), leaf, &strict).is_none());
        let sparse = SplitLimits { min_data_in_leaf: 3.0, ..limits() };
        assert!(find(plain(&entries), leaf, &sparse).is_none());
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
