//! The correlation of two points: a part for each variable alone and one of all together, Matern-5/2 both, and one of trees.

use super::coordinates::{Axis, Coordinates};
use super::leaves::agreement;

const SQRT_5: f64 = 2.236_067_977_499_79;

/// Added to the diagonal besides the nugget, against rounding.
pub(super) const JITTER: f64 = 1e-10;

/// Parameters of the correlation
///
/// ```text
/// r(x, x') = (1 - rho - tau) m(sum_i delta_i^2 / l_i^2) + rho/d sum_i m(delta_i^2 / a_i^2) + tau t(x, x') ,    m(q) = (1 + sqrt(5q) + 5q/3) exp(-sqrt(5q))
/// ```
///
/// with the distances `delta_i` of coordinates (1 between two levels of a category) and the share `t` of trees in which both points are in the same leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelParameters {
    /// `l_i`, the length scales of the joint part, `[n_coordinates]`.
    pub length_scales: Vec<f64>,
    /// `a_i`, the length scales of the additive part, `[n_coordinates]`.
    pub additive_length_scales: Vec<f64>,
    /// `rho`, the share of the additive part, in [0, 1).
    pub additive_share: f64,
    /// `tau`, the share of the trees' part, in [0, 1).
    pub tree_share: f64,
    /// `g`, the variance of the noise over that of the process.
    pub nugget: f64,
}

/// `exp(-x)` for `x >= 0`, within 3e-16 relative up to 700 and constant beyond. In plain arithmetic: loops over it become vector instructions,
/// and the result is the same on every machine.
#[inline]
pub(super) fn exp_minus(x: f64) -> f64 {
    // 1.5 * 2^52: adding it rounds to a whole number, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.6931471803691238;
    const LN_2_LOW: f64 = 1.9082149292705877e-10;
    let x = -x.min(700.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let r = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        sum = sum * r + 1.0 / factorial;
    }
    sum * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

/// `m` and `(1 + s) exp(-s)` at `s = sqrt(5q)`. The second is `-6/5 dm/dq`; both are finite for every `s >= 0`.
#[inline]
pub(super) fn matern(s: f64) -> (f64, f64) {
    let s = s.min(700.0);
    let e = exp_minus(s);
    ((1.0 + s + s * s * (1.0 / 3.0)) * e, (1.0 + s) * e)
}

/// The rows of a table as coordinates, column by column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    /// `[n_coordinates][n_rows]`.
    pub(super) values: Vec<Vec<f64>>,
    /// Whether a coordinate is a category's.
    pub(super) category: Vec<bool>,
    pub(super) n_rows: usize,
    /// The leaves of each row ([`Leaves::of`](super::leaves::Leaves::of)), row by row; empty without trees.
    pub(super) leaves: Vec<u8>,
}

impl Columns {
    pub(super) fn new<'a>(coordinates: &Coordinates, points: impl Iterator<Item = &'a [f64]>) -> Self {
        let axes = coordinates.axes();
        let mut columns = Self {
            values: vec![Vec::new(); axes.len()],
            category: axes.iter().map(Axis::is_category).collect(),
            n_rows: 0,
            leaves: Vec::new(),
        };
        for x in points {
            for (column, axis) in columns.values.iter_mut().zip(axes) {
                column.push(axis.coordinate(x[axis.variable]));
            }
            columns.n_rows += 1;
        }
        columns
    }

    /// Some of the rows, in the order given.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let pick = |column: &Vec<f64>| rows.iter().map(|&i| column[i]).collect();
        Self {
            values: self.values.iter().map(pick).collect(),
            category: self.category.clone(),
            n_rows: rows.len(),
            leaves: rows.iter().flat_map(|&i| self.leaves_of(i)).copied().collect(),
        }
    }

    /// The leaves of a row.
    pub(super) fn leaves_of(&self, row: usize) -> &[u8] {
        let n_trees = self.leaves.len() / self.n_rows.max(1);
        &self.leaves[row * n_trees..(row + 1) * n_trees]
    }

    /// `|delta|` between rows of column `j`.
    #[inline]
    pub(super) fn distance(&self, j: usize, a: f64, b: f64) -> f64 {
        if self.category[j] { f64::from(u8::from(a != b)) } else { (a - b).abs() }
    }
}

/// Correlations of one point with rows, and what their slopes need. Reused from point to point.
#[derive(Clone, Debug, Default)]
pub(super) struct Correlations {
    /// `r(x, row i)`, `[n_rows]`.
    pub(super) values: Vec<f64>,
    /// `(1 + s) exp(-s)` of the joint part, `[n_rows]`.
    joint_slope: Vec<f64>,
    /// The same of the additive parts, `[n_coordinates * n_rows]`.
    additive_slope: Vec<f64>,
    sum: Vec<f64>,
}

impl Correlations {
    /// Computes the correlations of coordinates `u` in `leaves` with the rows from `first` on.
    pub(super) fn compute(
        &mut self,
        columns: &Columns,
        parameters: &KernelParameters,
        u: &[f64],
        leaves: &[u8],
        first: usize,
    ) {
        let (d, n) = (u.len(), columns.n_rows - first);
        let (rho, tau) = (parameters.additive_share, parameters.tree_share);
        for buffer in [&mut self.sum, &mut self.values] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.joint_slope.resize(n, 0.0);
        self.additive_slope.resize(d * n, 0.0);
        let share = rho / d.max(1) as f64;
        for j in 0..d {
            let inverse = parameters.length_scales[j].powi(-2);
            let scale = SQRT_5 / parameters.additive_length_scales[j];
            let (column, at) = (&columns.values[j][first..], u[j]);
            if columns.category[j] {
                // Only two distances occur.
                let (different, slope) = matern(scale);
                for i in 0..n {
                    let apart = column[i] != at;
                    self.sum[i] += if apart { inverse } else { 0.0 };
                    self.values[i] += share * if apart { different } else { 1.0 };
                    self.additive_slope[j * n + i] = if apart { slope } else { 1.0 };
                }
                continue;
            }
            for i in 0..n {
                let delta = column[i] - at;
                self.sum[i] += delta * delta * inverse;
            }
            if rho > 0.0 {
                let slopes = &mut self.additive_slope[j * n..(j + 1) * n];
                for ((value, slope), &row) in self.values.iter_mut().zip(slopes).zip(column) {
                    let (m, h) = matern(scale * (row - at).abs());
                    *value += share * m;
                    *slope = h;
                }
            }
        }
        for ((value, slope), &sum) in self.values.iter_mut().zip(&mut self.joint_slope).zip(&self.sum) {
            let (m, h) = matern((5.0 * sum).sqrt());
            *value += (1.0 - rho - tau) * m;
            *slope = h;
        }
        if tau > 0.0 {
            for (i, value) in self.values.iter_mut().enumerate() {
                *value += tau * agreement(leaves, columns.leaves_of(first + i));
            }
        }
    }

    /// `sum_i weight_i dr(x, row i) / du_j` at the point of the last [`Correlations::compute`] with all rows; 0 for a category. The trees' part is flat but at thresholds.
    pub(super) fn slope(
        &self,
        columns: &Columns,
        parameters: &KernelParameters,
        u: &[f64],
        j: usize,
        weight: &[f64],
    ) -> f64 {
        if columns.category[j] {
            return 0.0;
        }
        let n = columns.n_rows;
        let rho = parameters.additive_share;
        let joint = (1.0 - rho - parameters.tree_share) * parameters.length_scales[j].powi(-2);
        let additive = rho / u.len() as f64 * parameters.additive_length_scales[j].powi(-2);
        let mut total = 0.0;
        for i in 0..n {
            let own = if rho > 0.0 { additive * self.additive_slope[j * n + i] } else { 0.0 };
            total += weight[i] * (u[j] - columns.values[j][i]) * (joint * self.joint_slope[i] + own);
        }
        -5.0 / 3.0 * total
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Correlations, KernelParameters, exp_minus, matern};

    #[test]
    fn the_exponential_agrees_with_the_librarys() {
        for k in 0..70_000 {
            let x = f64::from(k) * 0.01;
            assert!((exp_minus(x) / (-x).exp() - 1.0).abs() < 4e-16, "{x}");
        }
        assert_eq!(exp_minus(0.0), 1.0);
        assert!(exp_minus(f64::INFINITY) < 1e-303 && exp_minus(1e300) > 0.0);
    }

    #[test]
    fn matern_is_one_at_zero_falls_and_has_the_slope_stated() {
        assert_eq!(matern(0.0), (1.0, 1.0));
        let m = |q: f64| matern((5.0 * q).sqrt()).0;
        for q in [1e-3, 0.1, 1.0, 7.0, 200.0] {
            let h = 1e-5 * q;
            let slope = (m(q + h) - m(q - h)) / (2.0 * h);
            let stated = -5.0 / 6.0 * matern((5.0 * q).sqrt()).1;
            assert!((slope - stated).abs() <= 1e-7 * stated.abs() + 1e-12, "{q}: {slope} {stated}");
        }
        assert!(matern(f64::INFINITY).0 < 1e-290 && matern(f64::INFINITY).1.is_finite());
    }

    #[test]
    fn correlations_are_those_of_the_definition_and_their_slopes_its_differences() {
        let columns = Columns {
            values: vec![vec![0.1, 0.5, -0.3], vec![0.0, 2.0, 1.0], vec![0.9, 0.2, 0.4]],
            category: vec![false, true, false],
            n_rows: 3,
            leaves: vec![0, 2, 2, 2, 0, 1],
        };
        // In one of two trees with row 0, in none with row 1, in both with row 2.
        let leaves = [0, 1];
        for (rho, tau) in [(0.0, 0.0), (0.6, 0.0), (0.5, 0.3), (0.0, 0.2)] {
            let parameters = KernelParameters {
                length_scales: vec![0.4, 1.3, 2.0],
                additive_length_scales: vec![0.3, 0.8, 1.1],
                additive_share: rho,
                tree_share: tau,
                nugget: 0.0,
            };
            let definition = |u: &[f64], i: usize| {
                let m = |q: f64| (1.0 + (5.0 * q).sqrt() + 5.0 * q / 3.0) * (-(5.0 * q).sqrt()).exp();
                let delta2 = |j: usize| {
                    let row = columns.values[j][i];
                    if j == 1 { f64::from(u8::from(row != u[j])) } else { (row - u[j]).powi(2) }
                };
                let joint = m((0..3).map(|j| delta2(j) / parameters.length_scales[j].powi(2)).sum());
                let own = (0..3).map(|j| m(delta2(j) / parameters.additive_length_scales[j].powi(2)));
                let agreement = [0.5, 0.0, 1.0][i];
                (1.0 - rho - tau) * joint + rho / 3.0 * own.sum::<f64>() + tau * agreement
            };
            let u = [0.35, 2.0, 0.6];
            let mut correlations = Correlations::default();
            correlations.compute(&columns, &parameters, &u, &leaves, 0);
            for i in 0..3 {
                assert!((correlations.values[i] - definition(&u, i)).abs() < 1e-14);
            }
            let weight = [0.7, -1.2, 0.4];
            for j in [0, 2] {
                let moved = |by: f64| {
                    let mut u = u;
                    u[j] += by;
                    (0..3).map(|i| weight[i] * definition(&u, i)).sum::<f64>()
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let slope = correlations.slope(&columns, &parameters, &u, j, &weight);
                assert!((slope - difference).abs() < 1e-8, "{j}: {slope} {difference}");
            }
            assert_eq!(correlations.slope(&columns, &parameters, &u, 1, &weight), 0.0);
        }
    }
}
