//! The best split of a leaf on a categorical feature: one level against the rest, or a prefix of the levels sorted by mean
//! gradient (Fisher 1958: for the squared loss an optimal subset is such a prefix).

use smallvec::SmallVec;

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::histogram::Entry;
use super::split::{BinRule, LeftSide, SearchSite, Split};

/// The bins of one categorical feature in one leaf; bin 0 (NaN and rare levels) always goes right.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoricalScan<'a> {
    pub(super) histogram: &'a [Entry],
    /// With extremely randomised trees: a number in `[0, 1)` that picks the one candidate tried.
    pub(super) random: Option<f64>,
}

/// The left side and its bins.
type Found = (LeftSide, SmallVec<[u16; 8]>);

impl CategoricalScan<'_> {
    /// Offers the best split in place of `best`; returns whether any had enough gain.
    pub(super) fn find(&self, site: &SearchSite<'_>, best: &mut Option<Split>) -> bool {
        let one_hot = self.histogram.len() <= site.limits.max_cat_to_onehot;
        // The leaf itself is judged without the extra penalty of sorted splits.
        let mut penalty = site.limits.penalty;
        if !one_hot {
            penalty.l2 += site.limits.cat_l2;
        }
        let found = if one_hot { self.find_one_hot(site, penalty) } else { self.find_sorted(site, penalty) };
        let Some((left, bins)) = found else { return false };
        site.offer(left, penalty, || BinRule::Listed(bins), best);
        true
    }

    fn find_one_hot(&self, site: &SearchSite<'_>, penalty: Penalty) -> Option<Found> {
        let (limits, leaf) = (site.limits, site.leaf);
        let only_bin = self.random.map(|u| 1 + (u * (self.histogram.len() - 1) as f64) as usize);
        let mut best = (LeftSide { gain: leaf.to_beat, ..LeftSide::default() }, 0);
        for (bin, entry) in self.histogram.iter().enumerate().skip(1) {
            let count = leaf.rows_behind(entry.hessian);
            let other_hessian = leaf.hessian - entry.hessian - HESSIAN_EPSILON;
            if !limits.admits(count, entry.hessian)
                || !limits.admits(leaf.n_rows - count, other_hessian)
                || only_bin.is_some_and(|only| only != bin)
            {
                continue;
            }
            let (gradient, hessian) = (entry.gradient, entry.hessian + HESSIAN_EPSILON);
            let gain =
                penalty.gain(leaf.sums.gradient - gradient, other_hessian) + penalty.gain(gradient, hessian);
            if gain > best.0.gain {
                best = (LeftSide { gain, gradient, hessian, count }, bin);
            }
        }
        (best.1 > 0).then(|| (best.0, SmallVec::from_slice(&[best.1 as u16])))
    }

    fn find_sorted(&self, site: &SearchSite<'_>, penalty: Penalty) -> Option<Found> {
        let (limits, leaf) = (site.limits, site.leaf);
        let mut sorted: SmallVec<[u16; 64]> = (1..self.histogram.len())
            .filter(|&bin| leaf.rows_behind(self.histogram[bin].hessian) >= limits.cat_smooth)
            .map(|bin| bin as u16)
            .collect();
        let key = |bin: u16| {
            let entry = self.histogram[usize::from(bin)];
            entry.gradient / (entry.hessian + limits.cat_smooth)
        };
        sorted.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        let longest = limits.max_cat_threshold.min(sorted.len().div_ceil(2));
        let only_length = self.random.map(|u| 1 + (u * longest.saturating_sub(1).max(1) as f64) as usize);
        let mut best = LeftSide { gain: leaf.to_beat, ..LeftSide::default() };
        let mut best_bins = 0..0;
        for from_start in [true, false] {
            let mut left = LeftSide { hessian: HESSIAN_EPSILON, ..LeftSide::default() };
            let mut in_group = 0.0;
            for length in 1..=longest {
                let bins = if from_start { 0..length } else { sorted.len() - length..sorted.len() };
                let entry =
                    self.histogram[usize::from(sorted[if from_start { length - 1 } else { bins.start }])];
                let rows = leaf.rows_behind(entry.hessian);
                left.gradient += entry.gradient;
                left.hessian += entry.hessian;
                left.count += rows;
                in_group += rows;
                if !limits.admits(left.count, left.hessian) {
                    continue;
                }
                let right_count = leaf.n_rows - left.count;
                let right_hessian = leaf.hessian - left.hessian;
                if !limits.admits(right_count, right_hessian) || right_count < limits.min_data_per_group {
                    break;
                }
                if in_group < limits.min_data_per_group {
                    continue;
                }
                in_group = 0.0;
                if only_length.is_some_and(|only| only != length) {
                    continue;
                }
                left.gain = penalty.gain(left.gradient, left.hessian)
                    + penalty.gain(leaf.sums.gradient - left.gradient, right_hessian);
                if left.gain > best.gain {
                    (best, best_bins) = (left, bins);
                }
            }
        }
        (!best_bins.is_empty()).then(|| (best, sorted[best_bins].into()))
    }
}

#[cfg(test)]
mod tests {
    use super::CategoricalScan;
    use crate::gbdt::split::tests::{histogram, limits};
    use crate::gbdt::split::{BinRule, LeafTotals, SearchSite, Split, SplitLimits};

    fn scan(sums: &[(f64, f64)], limits: &SplitLimits) -> Option<Split> {
        let (entries, leaf) = histogram(sums);
        let site = SearchSite { limits, leaf: &LeafTotals::new(leaf, limits), slot: 0, column: 0 };
        let mut best = None;
        let found = CategoricalScan { histogram: &entries, random: None }.find(&site, &mut best);
        assert_eq!(found, best.is_some());
        best
    }

    fn listed(split: &Split) -> Vec<u16> {
        match &split.rule {
            BinRule::Listed(bins) => bins.to_vec(),
            BinRule::UpTo { .. } => panic!("expected listed bins"),
        }
    }

    #[test]
    fn few_levels_try_one_against_the_rest() {
        let split = scan(&[(0.0, 0.0), (3.0, 3.0), (-6.0, 3.0), (3.0, 3.0)], &limits()).unwrap();
        assert_eq!(listed(&split), [2]);
        assert!((split.gain - (12.0 + 6.0)).abs() < 1e-9, "{}", split.gain);
        assert!((split.left_output - 2.0).abs() < 1e-9 && (split.right_output + 1.0).abs() < 1e-9);
    }

    #[test]
    fn many_levels_are_sorted_by_mean_gradient() {
        let sums = [(0.0, 0.0), (40.0, 20.0), (-30.0, 20.0), (44.0, 20.0), (-36.0, 20.0), (-18.0, 20.0)];
        let split = scan(&sums, &limits()).unwrap();
        // {2, 4, 5} against {1, 3}: 84^2/70 + 84^2/50 with the extra penalty of 10; the ascending scan finds it first.
        assert_eq!(listed(&split), [4, 2, 5]);
        assert!((split.gain - (84.0 * 84.0 / 50.0 + 84.0 * 84.0 / 70.0)).abs() < 1e-9, "{}", split.gain);
        assert!((split.left_output - 84.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn rare_levels_stay_right_and_groups_need_their_rows() {
        let rare = [(0.0, 0.0), (9.0, 9.0), (-9.0, 9.0), (9.0, 9.0), (-9.0, 9.0)];
        assert!(scan(&rare, &limits()).is_none(), "fewer rows than cat_smooth");
        let sums = [(0.0, 0.0), (40.0, 20.0), (-30.0, 20.0), (44.0, 20.0), (-36.0, 20.0)];
        let grouped = SplitLimits { min_data_per_group: 40.0, ..limits() };
        assert_eq!(listed(&scan(&sums, &grouped).unwrap()).len(), 2);
        let strict = SplitLimits { min_data_per_group: 41.0, ..limits() };
        assert!(scan(&sums, &strict).is_none());
    }

    #[test]
    fn sorted_search_finds_the_best_subset_without_penalties() {
        // With lambda and cat_smooth at zero the prefix property is exact: compare with every subset.
        let sums: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
            .chain((0..7).map(|i| (f64::from(i * i * 5 % 17) - 8.0, f64::from(2 + i % 3))))
            .collect();
        let free = SplitLimits { cat_smooth: 0.0, cat_l2: 0.0, ..limits() };
        let split = scan(&sums, &free).unwrap();
        let total = sums.iter().fold((0.0, 0.0), |(g, h), s| (g + s.0, h + s.1));
        let mut best = f64::NEG_INFINITY;
        for subset in 1..(1 << 7) - 1 {
            let (g, h) = (0..7)
                .filter(|i| subset >> i & 1 == 1)
                .fold((0.0, 0.0), |(g, h), i| (g + sums[i + 1].0, h + sums[i + 1].1));
            let (rg, rh) = (total.0 - g, total.1 - h);
            best = best.max(g * g / h + rg * rg / rh - total.0 * total.0 / total.1);
        }
        assert!((split.gain - best).abs() < 1e-9, "{} against {best}", split.gain);
    }
}
