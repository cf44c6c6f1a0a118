//! The program on the variables that are not fixed, in coordinates where the metric is the identity.

use super::factor::Factor;
use super::problem::{Metric, Problem};
use super::status::{QpError, Side};
use super::vector::{add_multiple, dot, scaled_norm};

/// A row or a variable's range, as a member of the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    /// Row number.
    Row(usize),
    /// Range of a variable, by its number in the full program.
    Range(usize),
}

/// The free variables' displacement `dx` from the origin `x0` is expressed as `y = Lᵀ dx` with `W = L Lᵀ`, so that the
/// objective is `½ |y − t|²` up to a constant.
///
/// The origin is the target moved into the box: activities of rows are then `a · x0 + a · dx` with a `dx` as small as the
/// program allows, which keeps cancellation out of the constraint tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduced {
    /// Variables with `l < u`.
    pub(super) free: Vec<usize>,
    /// Position of each variable in `free`; `usize::MAX` when fixed.
    pub(super) position: Vec<usize>,
    /// `[n]`.
    pub(super) origin: Vec<f64>,
    /// Unconstrained minimum `t`, `[free]`.
    pub(super) target: Vec<f64>,
    /// Coefficients of the free variables, `[n_rows, free]`.
    rows: Vec<f64>,
    /// `a_i · x0`.
    pub(super) activity: Vec<f64>,
    /// `Σ_j |a_ij x0_j|`.
    pub(super) magnitude: Vec<f64>,
    /// `(Σ_j a_ij² / W_jj)^½`: the length of the normal (exact for a diagonal metric, a scale otherwise).
    pub(super) norm: Vec<f64>,
    /// `W_jj^½` of the free variables.
    pub(super) root: Vec<f64>,
    /// `W_jj^-½` of the free variables.
    pub(super) inverse_root: Vec<f64>,
    /// `L` of a dense metric, `[free, free]`, lower triangle; empty for a diagonal one.
    cholesky: Vec<f64>,
    dense: bool,
    work: Vec<f64>,
}

impl Reduced {
    pub(super) fn n_free(&self) -> usize {
        self.free.len()
    }

    /// Whether the metric is diagonal, so that bounds are parallel to the axes of `y`.
    pub(super) fn is_diagonal(&self) -> bool {
        !self.dense
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.free.len()..(row + 1) * self.free.len()]
    }

    /// Builds the reduced program; returns whether normals and coordinates of the last one are still those of this one
    /// (same free variables, same metric).
    pub(super) fn prepare(&mut self, problem: &Problem) -> Result<bool, QpError> {
        let n = problem.n;
        let is_free = |j: usize| problem.lower[j] < problem.upper[j];
        let same_free = !problem.metric_changed
            && self.position.len() == n
            && (0..n).all(|j| is_free(j) == (self.position[j] != usize::MAX));
        if !same_free {
            self.free.clear();
            self.free.extend((0..n).filter(|&j| is_free(j)));
            self.position.clear();
            self.position.resize(n, usize::MAX);
            for (k, &j) in self.free.iter().enumerate() {
                self.position[j] = k;
            }
            self.dense = matches!(problem.metric, Metric::Dense(_));
            self.factorise(problem)?;
            self.root.clear();
            self.root.extend(self.free.iter().map(|&j| problem.metric_at(j, j).sqrt()));
            self.inverse_root.clear();
            self.inverse_root.extend(self.root.iter().map(|root| 1.0 / root));
        }
        self.origin.clear();
        let inside = |j: usize| problem.target[j].max(problem.lower[j]).min(problem.upper[j]);
        self.origin.extend((0..n).map(inside));
        self.place_target(problem);
        self.place_rows(problem);
        Ok(same_free)
    }

    /// Makes the next [`Reduced::prepare`] start afresh.
    pub(super) fn invalidate(&mut self) {
        self.position.clear();
    }

    /// Cholesky factor of a dense metric on the free variables.
    fn factorise(&mut self, problem: &Problem) -> Result<(), QpError> {
        self.cholesky.clear();
        if !self.dense {
            return Ok(());
        }
        let n = self.free.len();
        self.cholesky.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                let (before, line) = self.cholesky.split_at_mut(i * n);
                let entry = problem.metric_at(self.free[i], self.free[j]);
                if i == j {
                    let pivot = entry - dot(&line[..i], &line[..i]);
                    // Below this the pivot is rounding error of the subtraction.
                    if pivot.is_nan() || pivot <= 1e-14 * entry.abs() {
                        // The factor is unusable: make the next call start afresh.
                        let variable = self.free[i];
                        self.invalidate();
                        return Err(QpError::NotPositiveDefinite { variable, pivot });
                    }
                    line[i] = pivot.sqrt();
                } else {
                    line[j] = (entry - dot(&line[..j], &before[j * n..j * n + j])) / before[j * n + j];
                }
            }
        }
        Ok(())
    }

    /// `t = Lᵀ (c − x0) − L⁻¹ W_FX (x0 − c)_X` for free variables F and fixed ones X.
    fn place_target(&mut self, problem: &Problem) {
        let n = self.free.len();
        let (mut target, mut work) = (std::mem::take(&mut self.target), std::mem::take(&mut self.work));
        target.clear();
        target.resize(n, 0.0);
        work.clear();
        work.extend(self.free.iter().map(|&j| problem.target[j] - self.origin[j]));
        if self.dense {
            self.to_coordinates(&work, &mut target);
            if n < problem.n {
                work.fill(0.0);
                for j in (0..problem.n).filter(|&j| self.position[j] == usize::MAX) {
                    let offset = self.origin[j] - problem.target[j];
                    for (pull, &i) in work.iter_mut().zip(&self.free) {
                        *pull += problem.metric_at(i, j) * offset;
                    }
                }
                self.solve_lower(&mut work);
                add_multiple(-1.0, &work, &mut target);
            }
        } else {
            for ((target, offset), root) in target.iter_mut().zip(&work).zip(&self.root) {
                *target = offset * root;
            }
        }
        (self.target, self.work) = (target, work);
    }

    fn place_rows(&mut self, problem: &Problem) {
        self.rows.clear();
        self.activity.clear();
        self.magnitude.clear();
        self.norm.clear();
        let all_free = self.free.len() == problem.n;
        for row in 0..problem.n_rows() {
            let coefficients = problem.row(row);
            if all_free {
                self.rows.extend_from_slice(coefficients);
            } else {
                self.rows.extend(self.free.iter().map(|&j| coefficients[j]));
            }
            self.activity.push(dot(coefficients, &self.origin));
            self.magnitude.push(coefficients.iter().zip(&self.origin).map(|(a, x)| (a * x).abs()).sum());
            let start = self.rows.len() - self.free.len();
            self.norm.push(scaled_norm(&self.rows[start..], &self.inverse_root));
        }
    }

    /// Solves `L s = right` in place.
    fn solve_lower(&self, right: &mut [f64]) {
        let n = self.free.len();
        for i in 0..n {
            let line = &self.cholesky[i * n..i * n + n];
            right[i] = (right[i] - dot(&line[..i], &right[..i])) / line[i];
        }
    }

    /// `y = Lᵀ dx`.
    fn to_coordinates(&self, displacement: &[f64], y: &mut [f64]) {
        let n = self.free.len();
        y.fill(0.0);
        for i in 0..n {
            add_multiple(displacement[i], &self.cholesky[i * n..=i * n + i], &mut y[..=i]);
        }
    }

    /// `dx = L⁻ᵀ y`.
    pub(super) fn displacement(&self, y: &[f64], displacement: &mut [f64]) {
        displacement.copy_from_slice(y);
        if self.dense {
            let n = self.free.len();
            for i in (0..n).rev() {
                let line = &self.cholesky[i * n..=i * n + i];
                displacement[i] /= line[i];
                let value = displacement[i];
                add_multiple(-value, &line[..i], &mut displacement[..i]);
            }
        } else {
            for (d, inverse_root) in displacement.iter_mut().zip(&self.inverse_root) {
                *d *= inverse_root;
            }
        }
    }

    /// The unit normal of a constraint in `y`, pointing out of its feasible side; returns the length it had before.
    pub(super) fn normal(&self, constraint: Constraint, side: Side, normal: &mut [f64]) -> f64 {
        let sign = side.sign();
        match constraint {
            Constraint::Row(row) => normal.copy_from_slice(self.row(row)),
            Constraint::Range(variable) => {
                normal.fill(0.0);
                let position = self.position[variable];
                if !self.dense {
                    normal[position] = sign;
                    return self.inverse_root[position];
                }
                normal[position] = 1.0;
            }
        }
        let length = if self.dense {
            self.solve_lower(normal);
            dot(normal, normal).sqrt()
        } else {
            let Constraint::Row(row) = constraint else { unreachable!("ranges returned above") };
            for (value, inverse_root) in normal.iter_mut().zip(&self.inverse_root) {
                *value *= inverse_root;
            }
            self.norm[row]
        };
        for value in normal.iter_mut() {
            *value *= sign / length;
        }
        length
    }

    /// Coordinates of a normal in the basis of a factorisation.
    pub(super) fn normal_coordinates(
        &self,
        factor: &Factor,
        constraint: Constraint,
        side: Side,
        normal: &[f64],
        coordinates: &mut [f64],
    ) {
        match constraint {
            Constraint::Range(j) if !self.dense => {
                factor.axis_coordinates(self.position[j], side.sign(), coordinates);
            }
            _ => factor.coordinates(normal, coordinates),
        }
    }

    /// `side − a · x0` of a constraint, times the sign of the side, over the length of its normal.
    pub(super) fn right(&self, problem: &Problem, constraint: Constraint, side: Side, length: f64) -> f64 {
        let (lower, upper, activity) = match constraint {
            Constraint::Row(row) => (problem.row_lower[row], problem.row_upper[row], self.activity[row]),
            Constraint::Range(j) => (problem.lower[j], problem.upper[j], self.origin[j]),
        };
        match side {
            Side::Lower => (activity - lower) / length,
            Side::Upper => (upper - activity) / length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_variables_leave_the_dense_program() {
        // W = [[2, 1], [1, 2]], c = (0, 0), x1 fixed at 1: the minimum over x0 is -1/2.
        let mut problem = Problem::new(2);
        problem.set_dense(&[2.0, 9.0, 1.0, 2.0]);
        (problem.lower[1], problem.upper[1]) = (1.0, 1.0);
        let mut reduced = Reduced::default();
        assert_eq!(reduced.prepare(&problem), Ok(false));
        assert_eq!((reduced.free.as_slice(), reduced.position.as_slice()), (&[0][..], &[0, usize::MAX][..]));
        let mut displacement = [0.0];
        reduced.displacement(&reduced.target, &mut displacement);
        assert!((displacement[0] + 0.5).abs() < 1e-15);
        problem.metric_changed = false;
        assert_eq!(reduced.prepare(&problem), Ok(true));
        problem.upper[0] = 3.0;
        assert_eq!(reduced.prepare(&problem), Ok(true), "still free");
    }

    #[test]
    fn indefinite_metric_is_refused() {
        let mut problem = Problem::new(2);
        problem.set_dense(&[1.0, 2.0, 2.0, 1.0]);
        let mut reduced = Reduced::default();
        assert_eq!(
            reduced.prepare(&problem),
            Err(QpError::NotPositiveDefinite { variable: 1, pivot: -3.0 }),
            "1 - 2 * 2"
        );
    }

    #[test]
    fn normals_have_unit_length_in_both_metrics() {
        let mut problem = Problem::new(2);
        problem.push_row(&[3.0, 8.0], f64::NEG_INFINITY, 25.0);
        problem.set_diagonal(&[1.0, 4.0]);
        let mut reduced = Reduced::default();
        let mut normal = [0.0; 2];
        for dense in [false, true] {
            if dense {
                problem.set_dense(&[1.0, 0.0, 0.0, 4.0]);
            }
            reduced.prepare(&problem).unwrap();
            let length = reduced.normal(Constraint::Row(0), Side::Lower, &mut normal);
            assert!((length - 5.0).abs() < 1e-14);
            assert!((normal[0] + 0.6).abs() < 1e-15 && (normal[1] + 0.8).abs() < 1e-15);
            assert!((reduced.right(&problem, Constraint::Row(0), Side::Upper, length) - 5.0).abs() < 1e-14);
            let length = reduced.normal(Constraint::Range(1), Side::Upper, &mut normal);
            assert_eq!((length, normal), (0.5, [0.0, 1.0]));
        }
    }
}
