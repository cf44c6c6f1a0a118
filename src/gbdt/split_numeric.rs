//! The best split of a leaf on a numeric feature, by a scan over its histogram.

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::histogram::Entry;
use super::split::{BinRule, LeafTotals, LeftSide, SearchSite, Split};

/// Thresholds judged together.
const LANES: usize = 4;
/// Bins scanned before the best of their thresholds is looked for.
const CHUNK: usize = 256;
/// A gain computed with one division differs from the one with two by at most 11 roundings; empty bins of a histogram made by
/// subtraction hold the rounding of the sums that cancelled. Both are far less than this part of a gain.
const GAIN_MARGIN: f64 = 1e-10;

/// Counting second derivatives are whole numbers up to rounding: more than this is a row.
const HALF_ROW: f64 = 0.5;

/// Work space of a scan: for each bin, in the order of the scan, the sums on the right of its threshold and the gain there.
#[derive(Debug)]
pub(super) struct ScanBuffers {
    gradients: [f64; CHUNK],
    /// From `LANES` on; the number before is less by more than half a row, so that the first bin counts as one with rows.
    hessians: [f64; CHUNK + LANES],
    counts: [f64; CHUNK],
    gains: [f64; CHUNK],
}

impl Default for ScanBuffers {
    fn default() -> Self {
        let zeros = [0.0; CHUNK];
        Self { gradients: zeros, hessians: [-1.0; CHUNK + LANES], counts: zeros, gains: zeros }
    }
}

impl ScanBuffers {
    /// Adds the bins to `right`, from the last one, and keeps the sums on the way; a last block is filled up with the final ones.
    #[inline(always)]
    fn sum<const ESTIMATE: bool>(&mut self, entries: &[Entry], leaf: &LeafTotals, right: &mut LeftSide) {
        let (front, blocks) = entries.as_rchunks::<LANES>();
        let mut front_block = [Entry::default(); LANES];
        front_block[LANES - front.len()..].copy_from_slice(front);
        let mut sum = *right;
        let mut add = |block: &[Entry; LANES], gradients: &mut [f64; LANES], hessians: &mut [f64; LANES]| {
            for k in 0..LANES {
                let entry = block[LANES - 1 - k];
                sum.gradient += entry.gradient;
                sum.hessian += entry.hessian;
                (gradients[k], hessians[k]) = (sum.gradient, sum.hessian);
            }
        };
        let (gradients, _) = self.gradients.as_chunks_mut::<LANES>();
        let (hessians, _) = self.hessians[LANES..].as_chunks_mut::<LANES>();
        let (gradients, last_gradients) = gradients.split_at_mut(blocks.len());
        let (hessians, last_hessians) = hessians.split_at_mut(blocks.len());
        for ((block, gradients), hessians) in blocks.iter().rev().zip(gradients).zip(hessians) {
            add(block, gradients, hessians);
        }
        if let ([_, ..], [gradients, ..], [hessians, ..]) = (front, last_gradients, last_hessians) {
            add(&front_block, gradients, hessians);
        }
        if ESTIMATE {
            for (entry, count) in entries.iter().rev().zip(&mut self.counts) {
                sum.count += leaf.rows_behind(entry.hessian);
                *count = sum.count;
            }
            self.counts[entries.len()..entries.len().next_multiple_of(LANES)].fill(sum.count);
        }
        *right = sum;
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
    #[inline(always)]
    pub(super) fn find(
        &self,
        site: &SearchSite<'_>,
        buffers: &mut ScanBuffers,
        best: &mut Option<Split>,
    ) -> bool {
        let n_bins = self.histogram.len();
        let (mut has_gain, mut found);
        if self.has_missing && n_bins > 2 {
            (has_gain, found) = self.scan_down(site, n_bins - 2, 0.0, buffers);
            found = self.scan_up(site, found);
            has_gain |= found.is_some();
        } else {
            let rival = best.as_ref().map_or(0.0, |best| best.gain + site.leaf.to_beat);
            (has_gain, found) = self.scan_down(site, n_bins - 1, rival, buffers);
            if let Some(found) = &mut found {
                // Of two bins, the second one NaN, the missing values are the right side itself.
                found.default_left = !self.has_missing;
            }
        }
        if let Some(Threshold { bin, default_left, left }) = found {
            site.offer(left, site.limits.penalty, || BinRule::UpTo { bin, default_left }, best);
        }
        has_gain
    }

    /// Thresholds from the right, missing values (bins beyond `last_bin`) on the left: whether any has enough gain, and the best
    /// unless it stays below the gain `rival`.
    #[inline(always)]
    fn scan_down(
        &self,
        site: &SearchSite<'_>,
        last_bin: usize,
        rival: f64,
        buffers: &mut ScanBuffers,
    ) -> (bool, Option<Threshold>) {
        let is_penalised = site.limits.penalty.l1 > 0.0 || site.limits.penalty.l2 > 0.0;
        match (site.limits.estimates_rows, is_penalised) {
            (false, false) => self.scan_down_with::<false, false>(site, last_bin, rival, buffers),
            (false, true) => self.scan_down_with::<false, true>(site, last_bin, rival, buffers),
            (true, false) => self.scan_down_with::<true, false>(site, last_bin, rival, buffers),
            (true, true) => self.scan_down_with::<true, true>(site, last_bin, rival, buffers),
        }
    }

    /// `ESTIMATE`: row counts are estimated per bin, else the second derivatives count rows. `PENALISED`: there is a penalty.
    ///
    /// First running sums; then the gains of the thresholds next to rows, with a single division, several at a time and without
    /// branches; then, for the few thresholds within rounding of the best, the gain as LightGBM computes it, which decides.
    #[inline(always)]
    fn scan_down_with<const ESTIMATE: bool, const PENALISED: bool>(
        &self,
        site: &SearchSite<'_>,
        last_bin: usize,
        rival: f64,
        buffers: &mut ScanBuffers,
    ) -> (bool, Option<Threshold>) {
        let (limits, leaf) = (site.limits, site.leaf);
        let penalty = if PENALISED { limits.penalty } else { Penalty { l1: 0.0, l2: 0.0 } };
        let (total_gradient, total_hessian) = (leaf.sums.gradient, leaf.hessian);
        // Counting second derivatives are whole up to rounding, so that half a row decides both limits at once.
        let least_hessian = if ESTIMATE {
            limits.min_sum_hessian_in_leaf
        } else {
            limits.min_sum_hessian_in_leaf.max(limits.min_data_in_leaf - HALF_ROW)
        };
        let mut right = LeftSide { hessian: HESSIAN_EPSILON, ..LeftSide::default() };
        let mut best = LeftSide { gain: leaf.to_beat, ..LeftSide::default() };
        let (mut has_gain, mut best_bin) = (false, None);
        // The threshold at place `i` of a chunk is the upper end of bin `last - 1 - i`.
        let mut last = last_bin;
        for entries in self.histogram[1..=last_bin].rchunks(CHUNK) {
            let n = entries.len();
            buffers.sum::<ESTIMATE>(entries, leaf, &mut right);
            let ScanBuffers { gradients, hessians, counts, gains } = buffers;
            let padded = n.next_multiple_of(LANES);
            let before = hessians[LANES - 1..][..padded].as_chunks::<LANES>().0;
            let hessians = &hessians[LANES..][..padded];
            let mut largest = [0.0; LANES];
            for ((((g, h), before), c), gain) in (gradients[..padded].as_chunks::<LANES>().0.iter())
                .zip(hessians.as_chunks::<LANES>().0)
                .zip(before)
                .zip(counts[..padded].as_chunks::<LANES>().0)
                .zip(gains[..padded].as_chunks_mut::<LANES>().0)
            {
                let mut pair = [0.0; LANES];
                for k in 0..LANES {
                    let left_hessian = total_hessian - h[k];
                    let smaller = if h[k] < left_hessian { h[k] } else { left_hessian };
                    let both = penalty.gain_of_pair(total_gradient - g[k], left_hessian, g[k], h[k]);
                    // A threshold counts where its bin has rows: those of the empty bins after it share its sums. A gain of
                    // zero beats nothing.
                    let has_rows = ESTIMATE | (h[k] - before[k] > HALF_ROW);
                    pair[k] = if (smaller >= least_hessian) & has_rows { both } else { 0.0 };
                }
                if ESTIMATE {
                    for k in 0..LANES {
                        let left_count = leaf.n_rows - c[k];
                        let smaller = if c[k] < left_count { c[k] } else { left_count };
                        pair[k] = if smaller >= limits.min_data_in_leaf { pair[k] } else { 0.0 };
                    }
                }
                for k in 0..LANES {
                    largest[k] = if pair[k] > largest[k] { pair[k] } else { largest[k] };
                }
                *gain = pair;
            }
            let mut largest = largest.iter().fold(0.0, |a: f64, &b| if b > a { b } else { a });
            let has_rows = |place: usize| ESTIMATE || place == 0 || entries[n - 1 - place].hessian > HALF_ROW;
            // The places that share the sums of a threshold that counts: its own and those of the empty bins after it.
            let shared = |place: usize| place..(place + 1..n).find(|&next| has_rows(next)).unwrap_or(n);
            // With a single threshold to try, only the bin with rows whose sums it shares counts.
            let only_place = self.only_bin.map(|only| (last - 1).wrapping_sub(only));
            if let Some(only) = only_place {
                largest = 0.0;
                for i in 0..n {
                    if has_rows(i) && shared(i).contains(&only) {
                        largest = gains[i];
                    } else {
                        gains[i] = 0.0;
                    }
                }
            }
            let surely_has_gain = largest > leaf.to_beat * (1.0 + GAIN_MARGIN);
            has_gain |= surely_has_gain;
            // A gain below the rival's by more than the margin needs no exact value, unless it may be no gain at all.
            let rival = if surely_has_gain { rival } else { 0.0 };
            let limit = largest.max(best.gain).max(rival) * (1.0 - GAIN_MARGIN);
            if largest > 0.0 && largest >= limit {
                for (step, gains) in gains[..padded].as_chunks::<LANES>().0.iter().enumerate() {
                    if gains.iter().fold(true, |below, &gain| below & (gain < limit)) {
                        continue;
                    }
                    for i in step * LANES..n.min((step + 1) * LANES) {
                        if gains[i % LANES] < limit {
                            continue;
                        }
                        for place in shared(i) {
                            let (g, h) = (gradients[place], hessians[place]);
                            let (gradient, hessian) = (total_gradient - g, total_hessian - h);
                            let gain = penalty.gain(gradient, hessian) + penalty.gain(g, h);
                            if gain > best.gain && only_place.is_none_or(|only| only == place) {
                                let count = if ESTIMATE {
                                    leaf.n_rows - counts[place]
                                } else {
                                    ((hessian + 0.5) as u64) as f64
                                };
                                best = LeftSide { gain, gradient, hessian, count };
                                best_bin = Some(last - 1 - place);
                            }
                        }
                    }
                }
            }
            if total_hessian - right.hessian < limits.min_sum_hessian_in_leaf {
                break;
            }
            last -= entries.len();
        }
        let found = best_bin.map(|bin| Threshold { bin, default_left: true, left: best });
        (has_gain || found.is_some(), found)
    }

    /// Thresholds from the left, missing values (the last bin) on the right; `found` is the best with missing values on the left.
    fn scan_up(&self, site: &SearchSite<'_>, found: Option<Threshold>) -> Option<Threshold> {
        let (limits, leaf) = (site.limits, site.leaf);
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

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::{NumericScan, ScanBuffers};
    use crate::gbdt::gain::{HESSIAN_EPSILON, Penalty};
    use crate::gbdt::histogram::Entry;
    use crate::gbdt::split::tests::{histogram, limits};
    use crate::gbdt::split::{BinRule, LeafSums, LeafTotals, SearchSite, Split, SplitLimits};

    fn find(scan: NumericScan<'_>, leaf: LeafSums, limits: &SplitLimits) -> Option<Split> {
        let site = SearchSite { limits, leaf: &LeafTotals::new(leaf, limits), slot: 0, column: 0 };
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

    /// One threshold after the other, two divisions each: `(gain, bin)` of the first best.
    fn one_by_one(entries: &[Entry], leaf: LeafSums, limits: &SplitLimits) -> Option<(f64, usize)> {
        let totals = LeafTotals::new(leaf, limits);
        let (mut gradient, mut hessian, mut count) = (0.0, HESSIAN_EPSILON, 0.0);
        let (mut largest, mut at) = (totals.to_beat, None);
        for bin in (1..entries.len()).rev() {
            gradient += entries[bin].gradient;
            hessian += entries[bin].hessian;
            count += totals.rows_behind(entries[bin].hessian);
            let left_hessian = totals.hessian - hessian;
            if !limits.admits(count, hessian) || !limits.admits(totals.n_rows - count, left_hessian) {
                continue;
            }
            let gain = limits.penalty.gain(leaf.gradient - gradient, left_hessian)
                + limits.penalty.gain(gradient, hessian);
            if gain > largest {
                (largest, at) = (gain, Some(bin - 1));
            }
        }
        at.map(|bin| (largest - totals.to_beat, bin))
    }

    #[test]
    fn scans_decide_as_one_threshold_after_the_other() {
        let mut rng = ChaCha8Rng::seed_from_u64(21);
        let mut n_found = 0;
        for round in 0..400 {
            let n_bins = [2, 3, 6, 40, 255, 257, 258, 700][round % 8];
            let occupied = [1.0, 0.5, 0.1, 0.02][round / 8 % 4];
            let is_weighted = round % 3 == 0;
            let entries: Vec<Entry> = (0..n_bins)
                .map(|_| {
                    // Empty bins hold rounding, as after a subtraction; few distinct gradients make ties.
                    let rounding = f64::from(rng.random_range(-2..3)) * 1e-16;
                    if !rng.random_bool(occupied) {
                        return Entry { gradient: rounding, hessian: 0.0 };
                    }
                    let rows = f64::from(rng.random_range(1..4));
                    let hessian = if is_weighted { rows * rng.random_range(0.5..2.0) } else { rows };
                    Entry { gradient: f64::from(rng.random_range(-2..3)) * rows + rounding, hessian }
                })
                .collect();
            let mut leaf = LeafSums::default();
            for entry in &entries {
                leaf.gradient += entry.gradient;
                leaf.hessian += entry.hessian;
            }
            leaf.count = leaf.hessian.round() as usize;
            let penalty = [Penalty { l1: 0.0, l2: 0.0 }, Penalty { l1: 0.7, l2: 2.0 }][round % 2];
            let strict = SplitLimits {
                min_data_in_leaf: [1.0, 5.0][round / 2 % 2],
                estimates_rows: is_weighted,
                penalty,
                ..limits()
            };
            let found = find(plain(&entries), leaf, &strict).map(|split| {
                let BinRule::UpTo { bin, default_left: true } = split.rule else {
                    panic!("a numeric rule without missing values")
                };
                (split.gain, bin)
            });
            let expected = one_by_one(&entries, leaf, &strict);
            assert_eq!(found, expected, "round {round}");
            n_found += usize::from(found.is_some());
            // With one threshold allowed, that one or none.
            if let Some((gain, bin)) = expected {
                for only in [bin, (bin + 1).min(n_bins - 2), 0] {
                    let scan = NumericScan { only_bin: Some(only), ..plain(&entries) };
                    let split = find(scan, leaf, &strict);
                    assert!(split.as_ref().is_none_or(|split| {
                        split.rule == BinRule::UpTo { bin: only, default_left: true } && split.gain <= gain
                    }));
                    assert!(only != bin || split.is_some_and(|split| split.gain == gain));
                }
            }
        }
        assert!(n_found > 200, "{n_found}");
    }
}
