//! Where the bins of a numeric feature end: LightGBM's rule, with zero in a bin of its own.

use super::tree::ZERO_THRESHOLD;

/// A number strictly between two training values, `lower <= boundary < upper`: their midpoint, or `lower` where the midpoint
/// rounds onto `upper` or overflows. `lower < upper`.
pub(super) fn boundary(lower: f64, upper: f64) -> f64 {
    let sum = lower + upper;
    let middle = if sum.is_finite() { sum / 2.0 } else { lower / 2.0 + upper / 2.0 };
    if lower <= middle && middle < upper { middle } else { lower }
}

/// Distinct values in ascending order, each with its number of occurrences.
#[derive(Debug, Default)]
pub(super) struct DistinctValues {
    pub(super) values: Vec<f64>,
    pub(super) counts: Vec<usize>,
}

impl DistinctValues {
    /// Counts the finite `values` (reordered here) that are not zero, plus `n_zero` zeros. Values one float apart are the
    /// same value, the larger one standing for both: two spellings of one decimal must not be split.
    pub(super) fn count(values: &mut [f64], n_zero: usize) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let mut result = Self::default();
        let n_negative = values.partition_point(|&v| v < 0.0);
        let (negative, positive) = values.split_at(n_negative);
        result.push_all(negative);
        // The zero bin exists between negative and positive values even when no zero was seen.
        if n_zero > 0 || (!negative.is_empty() && !positive.is_empty()) || values.is_empty() {
            result.values.push(0.0);
            result.counts.push(n_zero);
        }
        result.push_all(positive);
        result
    }

    fn push_all(&mut self, sorted: &[f64]) {
        let mut previous = f64::NAN;
        for &value in sorted {
            if value <= previous.next_up() {
                let last = self.values.len() - 1;
                self.values[last] = value;
                self.counts[last] += 1;
            } else {
                self.values.push(value);
                self.counts.push(1);
            }
            previous = value;
        }
    }
}

/// Upper bounds of the bins, ascending, the last one infinite: `x` belongs to the first bin with `x <= bound`. Zero has a bin of
/// its own (perhaps empty) unless all values are negative; the other bins are shared between both sides by their row counts.
pub(super) fn numeric_bounds(distinct: &DistinctValues, max_bin: usize, min_data_in_bin: usize) -> Vec<f64> {
    let (values, counts) = (&distinct.values, &distinct.counts);
    let n_left = values.partition_point(|&v| v <= -ZERO_THRESHOLD);
    let right_start = values.partition_point(|&v| v <= ZERO_THRESHOLD);
    let rows = |range: std::ops::Range<usize>| counts[range].iter().sum::<usize>();
    let (left_rows, right_rows) = (rows(0..n_left), rows(right_start..values.len()));
    let mut bounds = Vec::new();
    if n_left > 0 && max_bin > 1 {
        let share = left_rows as f64 / (left_rows + right_rows) as f64 * (max_bin - 1) as f64;
        let left_bins = (share as usize).max(1);
        bounds = greedy_bounds(&values[..n_left], &counts[..n_left], left_bins, min_data_in_bin);
        if let Some(last) = bounds.last_mut() {
            *last = -ZERO_THRESHOLD;
        }
    }
    let right_bins = (max_bin - 1).saturating_sub(bounds.len());
    if right_start < values.len() && right_bins > 0 {
        bounds.push(ZERO_THRESHOLD);
        bounds.extend(greedy_bounds(
            &values[right_start..],
            &counts[right_start..],
            right_bins,
            min_data_in_bin,
        ));
    } else {
        bounds.push(f64::INFINITY);
    }
    bounds
}

/// Bounds between distinct values such that bins hold at least `min_data_in_bin` rows and, when there are more values than bins,
/// about equally many rows; values with more rows than a bin's share get a bin of their own.
fn greedy_bounds(values: &[f64], counts: &[usize], max_bin: usize, min_data_in_bin: usize) -> Vec<f64> {
    let mut bounds = Vec::new();
    if values.len() <= max_bin {
        let mut in_bin = 0;
        for i in 0..values.len().saturating_sub(1) {
            in_bin += counts[i];
            if in_bin >= min_data_in_bin {
                bounds.push(boundary(values[i], values[i + 1]));
                in_bin = 0;
            }
        }
        bounds.push(f64::INFINITY);
        return bounds;
    }
    let n_rows: usize = counts.iter().sum();
    let max_bin = max_bin.min(n_rows / min_data_in_bin).max(1);
    let mean_size = n_rows as f64 / max_bin as f64;
    let is_big: Vec<bool> = counts.iter().map(|&count| count as f64 >= mean_size).collect();
    let mut bins_left = max_bin as f64;
    let mut rows_left = n_rows as f64;
    for (&count, _) in counts.iter().zip(&is_big).filter(|(_, big)| **big) {
        bins_left -= 1.0;
        rows_left -= count as f64;
    }
    // With every bin taken by a big value this is not finite and no further bin of small values opens.
    let mut mean_size = rows_left / bins_left;
    let mut in_bin = 0;
    for i in 0..values.len() - 1 {
        if bounds.len() + 1 >= max_bin {
            break;
        }
        if !is_big[i] {
            rows_left -= counts[i] as f64;
        }
        in_bin += counts[i];
        let size = in_bin as f64;
        if is_big[i] || size >= mean_size || (is_big[i + 1] && size >= (mean_size * 0.5).max(1.0)) {
            bounds.push(boundary(values[i], values[i + 1]));
            in_bin = 0;
            if !is_big[i] {
                bins_left -= 1.0;
                mean_size = rows_left / bins_left;
            }
        }
    }
    bounds.push(f64::INFINITY);
    bounds
}

#[cfg(test)]
mod tests {
    use super::{DistinctValues, boundary, numeric_bounds};
    use crate::gbdt::tree::ZERO_THRESHOLD;

    fn bounds(values: &[f64], n_zero: usize, max_bin: usize, min_data_in_bin: usize) -> Vec<f64> {
        numeric_bounds(&DistinctValues::count(&mut values.to_vec(), n_zero), max_bin, min_data_in_bin)
    }

    #[test]
    fn a_boundary_separates_even_neighbouring_floats_and_huge_numbers() {
        assert_eq!(boundary(1.0, 2.0), 1.5);
        for lower in [1.0, -1.0, 1e300, 5e-324, -f64::MAX, 0.1] {
            let upper = f64::next_up(lower);
            let middle = boundary(lower, upper);
            assert!(lower <= middle && middle < upper, "{lower}");
        }
        assert_eq!(boundary(-f64::MAX, f64::MAX), 0.0);
        assert_eq!(boundary(1.5e308, 1.7e308), 1.6e308);
    }

    #[test]
    fn every_value_gets_a_bin_when_one_row_suffices() {
        let (zero, inf) = (ZERO_THRESHOLD, f64::INFINITY);
        // Zero always separates the signs; here its bin is empty.
        assert_eq!(bounds(&[-1.0, -2.0, 3.0, 4.0], 0, 255, 1), [-1.5, -zero, zero, 3.5, inf]);
        assert_eq!(bounds(&[3.0, 4.0, 4.0, 8.0], 0, 255, 1), [zero, 3.5, 6.0, inf]);
        assert_eq!(bounds(&[-3.0, -4.0], 0, 255, 1), [-3.5, -zero, inf]);
        assert_eq!(bounds(&[], 7, 255, 1), [inf]);
    }

    #[test]
    fn a_bin_collects_values_until_it_has_enough_rows() {
        assert_eq!(
            bounds(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0, 255, 3),
            [ZERO_THRESHOLD, 3.5, 6.5, f64::INFINITY]
        );
    }

    #[test]
    fn too_many_values_share_bins_by_rows_and_a_frequent_value_ends_its_bin() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = bounds(&values, 0, 11, 1);
        assert_eq!(found.len(), 11);
        assert_eq!(found[1], 10.5, "ten bins of ten values after the zero bin");
        let mut skewed = values.clone();
        skewed.extend([50.0; 100]);
        let found = bounds(&skewed, 0, 11, 1);
        assert!(found.contains(&50.5), "{found:?}");
    }

    #[test]
    fn two_spellings_of_a_decimal_are_one_value() {
        let distinct = DistinctValues::count(&mut [0.1 + 0.2, 0.3, 0.5, -0.5], 2);
        assert_eq!(distinct.values, [-0.5, 0.0, 0.1 + 0.2, 0.5]);
        assert_eq!(distinct.counts, [1, 2, 2, 1]);
    }
}
