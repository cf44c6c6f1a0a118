//! Proofs that multipliers give: infeasibility and lower bounds, in plain arithmetic with all rounding errors bounded.

use super::problem::{Metric, Problem};
use super::vector::add_multiple;

/// Row multipliers aggregated: `Σ_i λ_i a_i · x <= right` holds at every feasible point.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregate {
    /// `Σ_i λ_i a_i`.
    coefficients: Vec<f64>,
    /// `Σ_i |λ_i a_i|`.
    magnitudes: Vec<f64>,
    /// `Σ_i λ_i s_i`; infinite when an absent side has a multiplier.
    right: f64,
    /// `Σ_i |λ_i s_i|`.
    right_magnitude: f64,
    /// Relative error bound of a sum of that many products.
    unit: f64,
}

impl Aggregate {
    /// Aggregates the rows of a problem with `multipliers`, `[n_rows]`.
    pub(super) fn compute(&mut self, problem: &Problem, multipliers: &[f64]) {
        assert_eq!(multipliers.len(), problem.n_rows(), "one multiplier for each row");
        self.coefficients.clear();
        self.coefficients.resize(problem.n, 0.0);
        self.magnitudes.clear();
        self.magnitudes.resize(problem.n, 0.0);
        (self.right, self.right_magnitude) = (0.0, 0.0);
        for (row, &multiplier) in multipliers.iter().enumerate() {
            if multiplier == 0.0 {
                continue;
            }
            let side = if multiplier > 0.0 { problem.row_upper[row] } else { problem.row_lower[row] };
            self.right += multiplier * side;
            self.right_magnitude += (multiplier * side).abs();
            add_multiple(multiplier, problem.row(row), &mut self.coefficients);
            for (magnitude, a) in self.magnitudes.iter_mut().zip(problem.row(row)) {
                *magnitude += (multiplier * a).abs();
            }
        }
        // Twice the first-order bound (k + 2 roundings for k terms, one more for the margin itself).
        self.unit = (2 * (problem.n_rows() + problem.n) + 8) as f64 * f64::EPSILON;
    }

    /// Bound on the rounding error of coefficient `j`.
    fn error(&self, j: usize) -> f64 {
        self.unit * self.magnitudes[j] + f64::MIN_POSITIVE
    }

    /// By how much the aggregated row is violated everywhere in the box, less the rounding errors. A coefficient below
    /// `ignored * Σ_i |λ_i a_i|` counts as 0; only with `ignored = 0` is a positive answer a proof.
    /// `multipliers` are those of [`Aggregate::compute`].
    pub(super) fn gap(&self, problem: &Problem, multipliers: &[f64], ignored: f64) -> f64 {
        if problem.has_crossed_sides() {
            return f64::INFINITY;
        }
        if !self.right.is_finite() {
            return f64::NEG_INFINITY;
        }
        let (mut minimum, mut magnitude) = (0.0, 0.0);
        for j in 0..problem.n {
            if self.magnitudes[j] == 0.0 {
                continue;
            }
            let (coefficient, error) = (self.coefficients[j], self.error(j));
            let bound = if coefficient > 0.0 { problem.lower[j] } else { problem.upper[j] };
            let other = if coefficient > 0.0 { problem.upper[j] } else { problem.lower[j] };
            // With the sign of the coefficient certain the other bound does not matter.
            let width = if coefficient.abs() >= error { bound.abs() } else { bound.abs().max(other.abs()) };
            if ignored > 0.0 && coefficient.abs() <= ignored * self.magnitudes[j] {
                continue;
            }
            if width.is_infinite() {
                if coefficient == 0.0 && is_exactly_zero(problem, multipliers, j) {
                    continue;
                }
                return f64::NEG_INFINITY;
            }
            let least = coefficient * bound;
            minimum += least;
            magnitude += least.abs() + width * error / self.unit;
        }
        minimum - self.right - self.unit * (magnitude + self.right_magnitude) - f64::MIN_POSITIVE
    }

    /// Lower bound on the optimal value: the minimum over the box of the objective plus the aggregated row. For a dense
    /// metric the objective is replaced by its tangent at `x`, which lies below it (`gradient` and `value` belong to `x`).
    pub(super) fn dual_value(&self, problem: &Problem, x: &[f64], gradient: &[f64], value: f64) -> f64 {
        if problem.has_crossed_sides() {
            return f64::INFINITY;
        }
        if !self.right.is_finite() {
            return f64::NEG_INFINITY;
        }
        let (mut sum, mut magnitude) = (-self.right, self.right_magnitude);
        match &problem.metric {
            Metric::Diagonal(weights) => {
                for j in 0..problem.n {
                    let (w, c, g) = (weights[j], problem.target[j], self.coefficients[j]);
                    let best = (c - g / w).max(problem.lower[j]).min(problem.upper[j]);
                    let offset = best - c;
                    sum += 0.5 * w * offset * offset + g * best;
                    // The computed minimiser is off by `shift` at most, which costs its square only.
                    let error = self.error(j);
                    let shift = error / w + 4.0 * f64::EPSILON * (c.abs() + (g / w).abs());
                    magnitude += 0.5 * w * offset * offset
                        + (g * best).abs()
                        + (error * (best.abs() + shift) + w * shift * shift) / self.unit;
                }
            }
            Metric::Dense(matrix) => {
                sum += value;
                magnitude += value.abs();
                for j in 0..problem.n {
                    let g = self.coefficients[j];
                    // Least value of the tangent's slope along the variable, and the slope's own error.
                    let slope = gradient[j] + g;
                    let mut terms = gradient[j].abs();
                    for k in 0..problem.n {
                        let entry = matrix[j.max(k) * problem.n + j.min(k)];
                        terms += (entry * (x[k] - problem.target[k])).abs();
                    }
                    let slope_error = self.error(j) + self.unit * terms;
                    let end = if slope > 0.0 { problem.lower[j] } else { problem.upper[j] };
                    let other = if slope > 0.0 { problem.upper[j] } else { problem.lower[j] };
                    let reach = if slope.abs() >= slope_error {
                        (end - x[j]).abs()
                    } else {
                        (end - x[j]).abs().max((other - x[j]).abs())
                    };
                    if !reach.is_finite() {
                        return f64::NEG_INFINITY;
                    }
                    let step = slope * (end - x[j]);
                    sum += step + g * x[j];
                    magnitude += step.abs()
                        + (g * x[j]).abs()
                        + (slope_error * reach + self.error(j) * x[j].abs()) / self.unit
                        + terms * (x[j] - problem.target[j]).abs();
                }
            }
        }
        sum - self.unit * magnitude - f64::MIN_POSITIVE
    }
}

/// Whether `Σ_i λ_i a_ij` is zero in exact arithmetic: the products and sums are kept as unevaluated expansions of
/// floating-point numbers (Shewchuk 1997). `false` on overflow or underflow.
fn is_exactly_zero(problem: &Problem, multipliers: &[f64], j: usize) -> bool {
    let mut expansion: Vec<f64> = Vec::new();
    for (row, &multiplier) in multipliers.iter().enumerate() {
        let a = problem.row(row)[j];
        let product = multiplier * a;
        if product == 0.0 && (multiplier == 0.0 || a == 0.0) {
            continue;
        }
        if !(product.abs() > 1e-250 && product.abs() < 1e250) {
            return false;
        }
        for term in [multiplier.mul_add(a, -product), product] {
            let mut carry = term;
            for component in &mut expansion {
                let sum = carry + *component;
                let virtual_part = sum - carry;
                let rest = (carry - (sum - virtual_part)) + (*component - virtual_part);
                (*component, carry) = (rest, sum);
            }
            expansion.push(carry);
            expansion.retain(|component| *component != 0.0);
        }
    }
    expansion.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(problem: &Problem, multipliers: &[f64]) -> f64 {
        let mut aggregate = Aggregate::default();
        aggregate.compute(problem, multipliers);
        aggregate.gap(problem, multipliers, 0.0)
    }

    #[test]
    fn gap_of_a_hand_made_proof() {
        // x + y <= 1, x - y >= 1.5 in [0, 2]²: 2x... aggregated with (1, -1): 2y <= -0.5, least value 0: gap 0.5.
        let mut problem = Problem::new(2);
        (problem.lower, problem.upper) = (vec![0.0; 2], vec![2.0; 2]);
        problem.push_row(&[1.0, 1.0], f64::NEG_INFINITY, 1.0);
        problem.push_row(&[1.0, -1.0], 1.5, f64::INFINITY);
        let found = gap(&problem, &[1.0, -1.0]);
        assert!(found < 0.5 && found > 0.5 - 1e-12);
        assert!(gap(&problem, &[1.0, 0.0]) < 0.0);
        assert_eq!(gap(&problem, &[-1.0, 0.0]), f64::NEG_INFINITY, "absent side");
        problem.upper[1] = f64::INFINITY;
        assert!(gap(&problem, &[1.0, -1.0]) > 0.49, "only the lower bound of y matters");
        problem.lower[1] = f64::NEG_INFINITY;
        assert_eq!(gap(&problem, &[1.0, -1.0]), f64::NEG_INFINITY);
    }

    #[test]
    fn unbounded_variables_need_exact_cancellation() {
        let mut problem = Problem::new(1);
        problem.push_row(&[0.1], f64::NEG_INFINITY, 1.0);
        problem.push_row(&[0.3], 4.0, f64::INFINITY);
        assert_eq!(gap(&problem, &[3.0, -1.0]), f64::NEG_INFINITY, "3 * 0.1 is not 0.3");
        problem.replace_row(1, &[0.2]);
        assert!(gap(&problem, &[2.0, -1.0]) > 1.9);
    }

    #[test]
    fn dual_values_by_hand() {
        // Nearest point of x + y >= 4 to the origin within [0, 1] x [0, 9], w = (1, 1): (1, 3), value 5, multiplier -3.
        let mut problem = Problem::new(2);
        (problem.lower, problem.upper) = (vec![0.0; 2], vec![1.0, 9.0]);
        problem.push_row(&[1.0, 1.0], 4.0, f64::INFINITY);
        let (mut gradient, mut offset) = (Vec::new(), Vec::new());
        for dense in [false, true] {
            if dense {
                problem.set_dense(&[1.0, 0.0, 0.0, 1.0]);
            }
            let value = problem.gradient(&[1.0, 3.0], &mut gradient, &mut offset);
            let mut aggregate = Aggregate::default();
            aggregate.compute(&problem, &[-3.0]);
            let dual = aggregate.dual_value(&problem, &[1.0, 3.0], &gradient, value);
            assert!(value == 5.0 && dual <= 5.0 && dual > 5.0 - 1e-12, "{dual}");
            aggregate.compute(&problem, &[-2.0]);
            assert!(aggregate.dual_value(&problem, &[1.0, 3.0], &gradient, value) < 5.0);
        }
    }
}
