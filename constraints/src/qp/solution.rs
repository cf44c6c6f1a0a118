//! What a solve leaves behind.

use super::problem::Problem;

/// What a solve leaves behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Solution {
    pub(super) x: Vec<f64>,
    pub(super) row_multipliers: Vec<f64>,
    pub(super) bound_multipliers: Vec<f64>,
    /// `W (x − c)`.
    pub(super) gradient: Vec<f64>,
    pub(super) value: f64,
    pub(super) violation: f64,
    pub(super) n_iterations: usize,
}

impl Solution {
    pub(super) fn reset(&mut self, problem: &Problem) {
        for (vector, length) in [
            (&mut self.x, problem.n),
            (&mut self.row_multipliers, problem.n_rows()),
            (&mut self.bound_multipliers, problem.n),
            (&mut self.gradient, problem.n),
        ] {
            vector.clear();
            vector.resize(length, 0.0);
        }
        (self.value, self.violation, self.n_iterations) = (0.0, 0.0, 0);
    }
}
