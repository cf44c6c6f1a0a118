//! The best split of a leaf on a categorical feature: one level against the rest, or a prefix of the levels sorted by mean
//! gradient (Fisher 1958: for the squared loss an optimal subset is such a prefix).

use smallvec::SmallVec;

use super::gain::{HESSIAN_EPSILON, Penalty};
use super::histogram::Entry;
use super::split::{BinRule, LeafSums, Split, SplitLimits, count_of};

/// The bins of one categorical feature in one leaf; bin 0 (NaN and rare levels) always goes right.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoricalScan<'a> {
    pub(super) histogram: &'a [Entry],
    pub(super) leaf: LeafSums,
    /// With extremely randomised trees: a number in `[0, 1)` that picks the one candidate tried.
    pub(super) random: Option<f64>,
}

struct Best {
    gain: f64,
    bins: SmallVec<[u16; 8]>,
    gradient: f64,
    hessian: f64,
    count: f64,
}

impl CategoricalScan<'_> {
    /// The best split, if one has enough gain.
    pub(super) fn find(&self, limits: &SplitLimits, slot: usize, column: usize) -> Option<Split> {
        let total_hessian = self.leaf.hessian + 2.0 * HESSIAN_EPSILON;
        // The leaf itself is judged without the extra penalty of sorted splits.
        let to_beat = limits.gain_to_beat(self.leaf.gradient, total_hessian);
        let one_hot = self.histogram.len() <= limits.max_cat_to_onehot;
        let mut penalty = limits.penalty;
        if !one_hot {
            penalty.l2 += limits.cat_l2;
        }
        let best = if one_hot {
            self.find_one_hot(limits, penalty, total_hessian, to_beat)
        } else {
            self.find_sorted(limits, penalty, total_hessian, to_beat)
        }?;
        let right_gradient = self.leaf.gradient - best.gradient;
        let right_hessian = total_hessian - best.hessian;
        Some(Split {
            gain: best.gain - to_beat,
            slot,
            column,
            rule: BinRule::Listed(best.bins),
            left: LeafSums {
                gradient: best.gradient,
                hessian: best.hessian - HESSIAN_EPSILON,
                count: best.count as usize,
            },
            right: LeafSums {
                gradient: right_gradient,
                hessian: right_hessian - HESSIAN_EPSILON,
                count: (self.leaf.count as f64 - best.count) as usize,
            },
            left_output: penalty.output(best.gradient, best.hessian),
            right_output: penalty.output(right_gradient, right_hessian),
        })
    }

    fn find_one_hot(
        &self,
        limits: &SplitLimits,
        penalty: Penalty,
        total_hessian: f64,
        to_beat: f64,
    ) -> Option<Best> {
        let n_rows = self.leaf.count as f64;
        let per_hessian = n_rows / total_hessian;
        let only_bin = self.random.map(|u| 1 + (u * (self.histogram.len() - 1) as f64) as usize);
        let mut best: Option<Best> = None;
        for (bin, entry) in self.histogram.iter().enumerate().skip(1) {
            let count = count_of(entry.hessian, per_hessian);
            let other_hessian = total_hessian - entry.hessian - HESSIAN_EPSILON;
            if count < limits.min_data_in_leaf
                || entry.hessian < limits.min_sum_hessian_in_leaf
                || n_rows - count < limits.min_data_in_leaf
                || other_hessian < limits.min_sum_hessian_in_leaf
                || only_bin.is_some_and(|only| only != bin)
            {
                continue;
            }
            let hessian = entry.hessian + HESSIAN_EPSILON;
            let gain = penalty.gain(self.leaf.gradient - entry.gradient, other_hessian)
                + penalty.gain(entry.gradient, hessian);
            if gain > to_beat && best.as_ref().is_none_or(|best| gain > best.gain) {
                let bins = SmallVec::from_slice(&[bin as u16]);
                best = Some(Best { gain, bins, gradient: entry.gradient, hessian, count });
            }
        }
        best
    }

    fn find_sorted(
        &self,
        limits: &SplitLimits,
        penalty: Penalty,
        total_hessian: f64,
        to_beat: f64,
    ) -> Option<Best> {
        let n_rows = self.leaf.count as f64;
        let per_hessian = n_rows / total_hessian;
        let mut sorted: SmallVec<[u16; 64]> = (1..self.histogram.len())
            .filter(|&bin| count_of(self.histogram[bin].hessian, per_hessian) >= limits.cat_smooth)
            .map(|bin| bin as u16)
            .collect();
        let key = |bin: u16| {
            let entry = self.histogram[usize::from(bin)];
            entry.gradient / (entry.hessian + limits.cat_smooth)
        };
        sorted.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        let longest = limits.max_cat_threshold.min(sorted.len().div_ceil(2));
        let only_length = self.random.map(|u| 1 + (u * longest.saturating_sub(1).max(1) as f64) as usize);
        let mut best: Option<(Best, bool, usize)> = None;
        for from_start in [true, false] {
            let (mut gradient, mut hessian, mut count) = (0.0, HESSIAN_EPSILON, 0.0);
            let mut in_group = 0.0;
            for length in 1..=longest {
                let bin = if from_start { sorted[length - 1] } else { sorted[sorted.len() - length] };
                let entry = self.histogram[usize::from(bin)];
                let rows = count_of(entry.hessian, per_hessian);
                gradient += entry.gradient;
                hessian += entry.hessian;
                count += rows;
                in_group += rows;
                if count < limits.min_data_in_leaf || hessian < limits.min_sum_hessian_in_leaf {
                    continue;
                }
                let right_count = n_rows - count;
                let right_hessian = total_hessian - hessian;
                if right_count < limits.min_data_in_leaf
                    || right_count < limits.min_data_per_group
                    || right_hessian < limits.min_sum_hessian_in_leaf
                {
                    break;
                }
                if in_group < limits.min_data_per_group {
                    continue;
                }
                in_group = 0.0;
                if only_length.is_some_and(|only| only != length) {
                    continue;
                }
                let gain = penalty.gain(gradient, hessian)
                    + penalty.gain(self.leaf.gradient - gradient, right_hessian);
                if gain > to_beat && best.as_ref().is_none_or(|(best, ..)| gain > best.gain) {
                    best = Some((
                        Best { gain, bins: SmallVec::new(), gradient, hessian, count },
                        from_start,
                        length,
                    ));
                }
            }
        }
        let (mut best, from_start, length) = best?;
        best.bins = if from_start { sorted[..length].into() } else { sorted[sorted.len() - length..].into() };
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::CategoricalScan;
    use crate::gbdt::split::tests::{histogram, limits};
    use crate::gbdt::split::{BinRule, Split, SplitLimits};

    fn scan(sums: &[(f64, f64)], limits: &SplitLimits) -> Option<Split> {
        let (entries, leaf) = histogram(sums);
        CategoricalScan { histogram: &entries, leaf, random: None }.find(limits, 0, 0)
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
