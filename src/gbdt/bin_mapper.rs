//! From feature values to bins.

use leafgp_solver::Domain;

use super::bin_finder::{DistinctValues, boundary, numeric_bounds};
use super::settings::GbdtSettings;
use super::tree::{MissingType, ZERO_THRESHOLD};

/// Above this share of rows in one bin LightGBM stores the feature sparsely and derives that bin from the others.
const SPARSE_SHARE: f64 = 0.7;
/// Levels beyond this share of the rows get bins only as long as there is room.
const COVERED_SHARE: f64 = 0.99_f32 as f64;

/// How values become bins.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bins {
    /// `x` is in the first bin with `x <= upper[bin]`; the last bound is infinite. A bin for NaN may follow.
    Numeric { upper: Vec<f64> },
    /// Bin 0 holds NaN and rare levels, bin `b > 0` the level `level_of_bin[b]`, frequent levels first.
    Categorical { level_of_bin: Vec<usize>, bin_of_level: Vec<usize> },
}

/// The bins of one feature.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BinMapper {
    pub(super) bins: Bins,
    /// Number of bins, the one for NaN included.
    pub(super) n_bins: usize,
    /// `Nan` when the last bin holds NaN.
    pub(super) missing: MissingType,
    /// The bin whose sums are derived from the leaf's total and the other bins (that of zero, or a dominating one).
    pub(super) most_freq_bin: usize,
    /// Whether all rows of the sample share one bin: there is nothing to split.
    pub(super) is_constant: bool,
}

impl BinMapper {
    /// Finds the bins of a feature from a sample of its values (reordered here).
    pub(super) fn find(sample: &mut Vec<f64>, domain: &Domain, settings: &GbdtSettings) -> Self {
        let n_rows = sample.len();
        sample.retain(|value| !value.is_nan());
        let n_missing = n_rows - sample.len();
        match domain {
            Domain::Categorical { levels } => Self::find_categorical(sample, *levels, n_missing, settings),
            _ => Self::find_numeric(sample, n_missing, settings),
        }
    }

    fn find_numeric(sample: &mut Vec<f64>, n_missing: usize, settings: &GbdtSettings) -> Self {
        let n_present = sample.len();
        sample.retain(|value| value.abs() > ZERO_THRESHOLD);
        let n_zero = n_present - sample.len();
        let distinct = DistinctValues::count(sample, n_zero);
        let has_missing = n_missing > 0;
        let max_bin = (settings.max_bin - usize::from(has_missing)).max(1);
        let upper = numeric_bounds(&distinct, max_bin, settings.min_data_in_bin);
        let n_bins = upper.len() + usize::from(has_missing);
        let mut rows = vec![0; n_bins];
        for (&value, &count) in distinct.values.iter().zip(&distinct.counts) {
            rows[upper.partition_point(|&bound| bound < value)] += count;
        }
        if has_missing {
            rows[n_bins - 1] = n_missing;
        }
        let zero_bin = upper.partition_point(|&bound| bound < 0.0);
        let missing = if has_missing { MissingType::Nan } else { MissingType::None };
        let most_freq_bin = most_frequent(&rows, zero_bin);
        let is_constant = one_bin_only(&rows);
        Self { bins: Bins::Numeric { upper }, n_bins, missing, most_freq_bin, is_constant }
    }

    fn find_categorical(sample: &[f64], levels: usize, n_missing: usize, settings: &GbdtSettings) -> Self {
        let mut rows_of_level = vec![0usize; levels];
        for &value in sample {
            rows_of_level[value as usize] += 1;
        }
        let mut by_rows: Vec<usize> = (0..levels).filter(|&level| rows_of_level[level] > 0).collect();
        by_rows.sort_by_key(|&level| std::cmp::Reverse(rows_of_level[level]));
        let max_bin = settings.max_bin.min(by_rows.len() + usize::from(n_missing > 0));
        let enough = (sample.len() as f64 * COVERED_SHARE + 0.5) as usize;
        let mut level_of_bin = vec![usize::MAX];
        let mut bin_of_level = vec![0; levels];
        let mut rows = vec![0];
        let mut covered = 0;
        for (rank, &level) in by_rows.iter().enumerate() {
            let count = rows_of_level[level];
            let is_full = covered >= enough && level_of_bin.len() >= max_bin;
            if is_full || (count < settings.min_data_in_bin && rank > 1) {
                break;
            }
            bin_of_level[level] = level_of_bin.len();
            level_of_bin.push(level);
            rows.push(count);
            covered += count;
        }
        rows[0] = sample.len() + n_missing - covered;
        let zero_bin = bin_of_level.first().copied().unwrap_or(0);
        let n_bins = level_of_bin.len();
        let most_freq_bin = most_frequent(&rows, zero_bin);
        Self {
            bins: Bins::Categorical { level_of_bin, bin_of_level },
            n_bins,
            missing: MissingType::None,
            most_freq_bin,
            is_constant: one_bin_only(&rows),
        }
    }

    /// The bin of a value; for a category the value is a level index within its domain, or NaN.
    pub(super) fn bin(&self, value: f64) -> usize {
        match &self.bins {
            Bins::Numeric { upper } => match self.missing {
                MissingType::Nan if value.is_nan() => self.n_bins - 1,
                // A NaN the sample did not show is read as zero, as at prediction.
                _ => {
                    let value = if value.is_nan() { 0.0 } else { value };
                    upper.partition_point(|&bound| bound < value)
                }
            },
            Bins::Categorical { bin_of_level, .. } => {
                if value.is_nan() {
                    0
                } else {
                    bin_of_level[value as usize]
                }
            }
        }
    }

    /// Whether the bins are levels.
    pub(super) fn is_categorical(&self) -> bool {
        matches!(self.bins, Bins::Categorical { .. })
    }
}

fn one_bin_only(rows: &[usize]) -> bool {
    rows.iter().filter(|&&count| count > 0).count() <= 1
}

/// The bin with most rows, where it dominates, else the bin of zero.
fn most_frequent(rows: &[usize], zero_bin: usize) -> usize {
    let total: usize = rows.iter().sum();
    let mut best = 0;
    for (bin, &count) in rows.iter().enumerate() {
        if count > rows[best] {
            best = bin;
        }
    }
    if (rows[best] as f64) < SPARSE_SHARE * total as f64 { zero_bin } else { best }
}

/// Thresholds of a numeric feature as trees state them: entry `b` separates the training values in bins `..=b` from those
/// above by their midpoint. `extremes[b]` holds the smallest and largest training value in bin `b`, inverted when it is empty.
pub(super) fn thresholds(upper: &[f64], extremes: &[(f64, f64)]) -> Vec<f64> {
    let n_bins = upper.len();
    let mut smallest_above = vec![f64::INFINITY; n_bins];
    for bin in (0..n_bins - 1).rev() {
        smallest_above[bin] = smallest_above[bin + 1].min(extremes[bin + 1].0);
    }
    let mut largest_below = f64::NEG_INFINITY;
    (0..n_bins)
        .map(|bin| {
            largest_below = largest_below.max(extremes[bin].1);
            let above = smallest_above[bin];
            if largest_below.is_finite() && above.is_finite() {
                boundary(largest_below, above)
            } else {
                upper[bin]
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{BinMapper, Bins, thresholds};
    use crate::gbdt::GbdtSettings;
    use crate::gbdt::tree::{MissingType, ZERO_THRESHOLD};
    use leafgp_solver::Domain;

    fn find(values: &[f64], domain: &Domain, settings: &GbdtSettings) -> BinMapper {
        BinMapper::find(&mut values.to_vec(), domain, settings)
    }

    fn exact() -> GbdtSettings {
        GbdtSettings { min_data_in_bin: 1, ..GbdtSettings::default() }
    }

    #[test]
    fn nan_has_the_last_bin_and_an_unseen_nan_is_zero() {
        let domain = Domain::Continuous { lower: 0.0, upper: 9.0 };
        let mapper = find(&[1.0, f64::NAN, 2.0], &domain, &exact());
        assert_eq!((mapper.n_bins, mapper.missing), (4, MissingType::Nan));
        assert_eq!([0.0, 1.0, 1.5, 2.0, f64::NAN].map(|v| mapper.bin(v)), [0, 1, 1, 2, 3]);
        let mapper = find(&[1.0, 2.0], &domain, &exact());
        assert_eq!((mapper.missing, mapper.bin(f64::NAN)), (MissingType::None, 0));
    }

    #[test]
    fn levels_are_ordered_by_frequency_and_rare_ones_share_bin_0() {
        let domain = Domain::Categorical { levels: 6 };
        let rows = [3.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 5.0, 0.0, 0.0, 0.0, f64::NAN];
        let mapper = find(&rows, &domain, &GbdtSettings::default());
        assert_eq!(mapper.n_bins, 4, "level 5 has one row, too few for a bin");
        assert_eq!([1.0, 0.0, 3.0, 5.0, 2.0, f64::NAN].map(|v| mapper.bin(v)), [1, 2, 3, 0, 0, 0]);
        assert_eq!(mapper.most_freq_bin, 2, "no bin dominates: the bin of level 0");
    }

    #[test]
    fn a_dominating_bin_is_the_derived_one() {
        let domain = Domain::Continuous { lower: -9.0, upper: 9.0 };
        let mapper = find(&[-1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], &domain, &exact());
        assert_eq!(
            mapper.bins,
            Bins::Numeric { upper: vec![-ZERO_THRESHOLD, ZERO_THRESHOLD, 1.5, f64::INFINITY] }
        );
        assert_eq!(mapper.most_freq_bin, 3);
    }

    #[test]
    fn thresholds_are_midpoints_of_the_values_that_occur() {
        let inf = f64::INFINITY;
        let upper = [-ZERO_THRESHOLD, ZERO_THRESHOLD, 2.5, inf];
        let extremes = [(-3.0, -1.0), (inf, -inf), (1.0, 2.0), (4.0, 9.0)];
        assert_eq!(thresholds(&upper, &extremes), [0.0, 0.0, 3.0, inf]);
    }
}
