//! Small dense convex quadratic programs: the projection of a point onto linear rows within a box.
//!
//! ```text
//! minimise   ½ (x − c)ᵀ W (x − c)
//! subject to lower_i <= a_i · x <= upper_i   rows; a missing side is infinite, equal sides make an equality
//!            l <= x <= u                     box; infinite sides allowed, l_j = u_j fixes x_j
//! ```
//!
//! `W` is a positive diagonal or a dense symmetric positive definite matrix. The method is the dual active-set method of
//! Goldfarb and Idnani: it starts at the unconstrained minimum, adds one violated constraint after the other, drops
//! those whose multiplier would turn negative, and raises the dual objective at every step. Hence it needs no feasible
//! start, proves infeasibility by multipliers, and continues from its last active set when rows were appended or the
//! target, the box or right sides were moved.
//!
//! # Example
//! ```
//! use leafgp_constraints::qp::{Qp, Status};
//!
//! // The point of x + y <= 1 within [0, 2]² that is nearest to (1, 1).
//! let mut qp = Qp::new(2);
//! qp.set_box(&[0.0, 0.0], &[2.0, 2.0]);
//! qp.set_target(&[1.0, 1.0]);
//! qp.push_le(&[1.0, 1.0], 1.0);
//! assert_eq!(qp.solve()?, Status::Optimal);
//! assert!((qp.x()[0] - 0.5).abs() < 1e-12 && (qp.row_multipliers()[0] - 0.5).abs() < 1e-12);
//!
//! // A cut is appended: the next solve starts from the active set of the last one.
//! qp.push_ge(&[1.0, 0.0], 0.75);
//! assert_eq!(qp.resume()?, Status::Optimal);
//! assert!((qp.x()[1] - 0.25).abs() < 1e-12);
//!
//! // x + y >= 3 contradicts the first row: the multipliers prove it.
//! qp.push_ge(&[1.0, 1.0], 3.0);
//! assert_eq!(qp.resume()?, Status::Infeasible { proved: true });
//! assert!(qp.infeasibility_gap(qp.row_multipliers()) > 0.0);
//! # Ok::<(), leafgp_constraints::qp::QpError>(())
//! ```
//!
//! # Signs
//! A multiplier is positive where the upper side presses, negative where the lower side does, of any sign at an equality:
//! at the optimum `W (x − c) + Σ_i λ_i a_i + μ = 0`, with `λ` from [`Qp::row_multipliers`] and `μ` from
//! [`Qp::bound_multipliers`]. After [`Status::Infeasible`] the row multipliers are a Farkas proof: every feasible point
//! satisfies the aggregated row `Σ_i λ_i a_i · x <= Σ_i λ_i s_i`, where `s_i` is the upper side when `λ_i > 0` and the
//! lower one when `λ_i < 0`, but the minimum of its left side over the box exceeds its right side.
//!
//! # References
//! - D. Goldfarb and A. Idnani (1983), A numerically stable dual method for solving strictly convex quadratic programs,
//!   Mathematical Programming 27, 1-33.
//! - G. H. Golub and C. F. Van Loan, Matrix Computations, section 6.5 (updating a QR factorisation).

mod active;
mod certificate;
mod factor;
mod outcome;
mod problem;
mod reduced;
mod solution;
mod solve;
mod status;
mod vector;

use certificate::Aggregate;
use problem::Problem;
use reduced::Constraint;
use solution::Solution;
use solve::Solver;
pub use status::{QpError, Side, Status};

/// A quadratic program together with its solver's state and work buffers.
///
/// One value serves any number of programs: [`Qp::reset`] starts the next one and keeps the memory, so that a steady
/// stream of solves does not allocate.
#[derive(Clone, Debug)]
pub struct Qp {
    problem: Problem,
    solver: Solver,
    solution: Solution,
    /// Whether the solver's active set belongs to this program.
    solved: bool,
    cutoff: f64,
    iteration_limit: Option<usize>,
}

impl Qp {
    /// A program in `n` variables: no rows, unbounded box, target 0, identity metric.
    pub fn new(n: usize) -> Self {
        let mut qp = Self {
            problem: Problem::new(n),
            solver: Solver::default(),
            solution: Solution::default(),
            solved: false,
            cutoff: f64::INFINITY,
            iteration_limit: None,
        };
        qp.solution.reset(&qp.problem);
        qp
    }

    /// Starts a new program in `n` variables as [`Qp::new`] does, keeping the settings and the memory.
    pub fn reset(&mut self, n: usize) {
        self.problem.reset(n);
        self.solution.reset(&self.problem);
        self.solved = false;
    }

    /// Number of variables.
    pub fn n_variables(&self) -> usize {
        self.problem.n
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.problem.n_rows()
    }

    /// Sets the box; sides may be infinite, equal sides fix a variable, crossed sides make the program infeasible.
    ///
    /// # Panics
    /// When a length differs from the number of variables.
    pub fn set_box(&mut self, lower: &[f64], upper: &[f64]) {
        self.problem.lower.copy_from_slice(lower);
        self.problem.upper.copy_from_slice(upper);
    }

    /// Sets the range of one variable.
    ///
    /// # Panics
    /// When there is no such variable.
    pub fn set_range(&mut self, variable: usize, lower: f64, upper: f64) {
        self.problem.lower[variable] = lower;
        self.problem.upper[variable] = upper;
    }

    /// Sets the target `c`; it may lie outside the box.
    ///
    /// # Panics
    /// When the length differs from the number of variables.
    pub fn set_target(&mut self, target: &[f64]) {
        self.problem.target.copy_from_slice(target);
    }

    /// Makes the metric diagonal, `W = diag(weights)`, `weights > 0`.
    ///
    /// # Panics
    /// When the length differs from the number of variables.
    pub fn set_diagonal_metric(&mut self, weights: &[f64]) {
        self.problem.set_diagonal(weights);
    }

    /// Makes the metric dense, `metric` being `W` as `[n, n]`; only its lower triangle is read.
    ///
    /// # Panics
    /// When the length is not the square of the number of variables.
    pub fn set_dense_metric(&mut self, metric: &[f64]) {
        self.problem.set_dense(metric);
    }

    /// Appends `lower <= coefficients · x <= upper` and returns its index. Infinite sides are absent, equal sides make an
    /// equality, crossed sides make the program infeasible, all coefficients may be zero.
    ///
    /// # Panics
    /// When the length differs from the number of variables.
    pub fn push_row(&mut self, coefficients: &[f64], lower: f64, upper: f64) -> usize {
        self.problem.push_row(coefficients, lower, upper)
    }

    /// Appends `coefficients · x <= right` and returns its index, see [`Qp::push_row`].
    pub fn push_le(&mut self, coefficients: &[f64], right: f64) -> usize {
        self.push_row(coefficients, f64::NEG_INFINITY, right)
    }

    /// Appends `coefficients · x >= right` and returns its index, see [`Qp::push_row`].
    pub fn push_ge(&mut self, coefficients: &[f64], right: f64) -> usize {
        self.push_row(coefficients, right, f64::INFINITY)
    }

    /// Appends `coefficients · x = right` and returns its index, see [`Qp::push_row`].
    pub fn push_eq(&mut self, coefficients: &[f64], right: f64) -> usize {
        self.push_row(coefficients, right, right)
    }

    /// Coefficients of a row, `[n]`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        self.problem.row(row)
    }

    /// Lower and upper side of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row_sides(&self, row: usize) -> (f64, f64) {
        (self.problem.row_lower[row], self.problem.row_upper[row])
    }

    /// Replaces a row; whether it was active is kept as a guess for [`Qp::resume`].
    ///
    /// # Panics
    /// When there is no such row, or the length differs from the number of variables.
    pub fn replace_row(&mut self, row: usize, coefficients: &[f64], lower: f64, upper: f64) {
        self.problem.replace_row(row, coefficients);
        self.set_row_sides(row, lower, upper);
    }

    /// Moves the sides of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn set_row_sides(&mut self, row: usize, lower: f64, upper: f64) {
        self.problem.row_lower[row] = lower;
        self.problem.row_upper[row] = upper;
    }

    /// Keeps the first `n_rows` rows only.
    pub fn truncate_rows(&mut self, n_rows: usize) {
        self.problem.truncate_rows(n_rows);
    }

    /// Stops with [`Status::Cutoff`] once the optimal value is known to exceed `cutoff`; infinite by default.
    pub fn set_cutoff(&mut self, cutoff: f64) {
        self.cutoff = cutoff;
    }

    /// Largest number of constraints added or dropped in a solve; by default `200 + 20 (n + n_rows)`, restored by `None`.
    pub fn set_iteration_limit(&mut self, limit: Option<usize>) {
        self.iteration_limit = limit;
    }

    /// Solves the program without regard to earlier solves.
    ///
    /// # Errors
    /// Data that are not finite; a metric that is not positive definite.
    pub fn solve(&mut self) -> Result<Status, QpError> {
        self.run(false)
    }

    /// Solves the program starting from the last active set. Any data may have been changed since: constraints that no
    /// longer fit (removed, now dependent, wrong sign of the multiplier) leave the set first. Without an earlier solve
    /// this is [`Qp::solve`]. The answer is that of [`Qp::solve`] up to rounding.
    ///
    /// # Errors
    /// As [`Qp::solve`].
    pub fn resume(&mut self) -> Result<Status, QpError> {
        self.run(self.solved)
    }

    /// The point of the last solve, always within the box after [`Status::Optimal`].
    pub fn x(&self) -> &[f64] {
        &self.solution.x
    }

    /// Its value `½ (x − c)ᵀ W (x − c)`.
    pub fn value(&self) -> f64 {
        self.solution.value
    }

    /// Largest violation of a row at [`Qp::x`] relative to the rounding scale of the row,
    /// `|side| + Σ_j |a_j x0_j| + |a|_{W⁻¹} |x − x0|_W`, where `x0` is the target moved into the box: about 1e-12 at most,
    /// and never above 1e-9, after [`Status::Optimal`].
    pub fn violation(&self) -> f64 {
        self.solution.violation
    }

    /// Multipliers of the rows, or the Farkas multipliers after [`Status::Infeasible`]; signs as in the [module](self).
    pub fn row_multipliers(&self) -> &[f64] {
        &self.solution.row_multipliers
    }

    /// Multipliers of the bounds; zero after [`Status::Infeasible`].
    pub fn bound_multipliers(&self) -> &[f64] {
        &self.solution.bound_multipliers
    }

    /// The side at which a row is in the active set of the last solve.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn active_row(&self, row: usize) -> Option<Side> {
        assert!(row < self.n_rows(), "there is no row {row}");
        self.solver.active_side(Constraint::Row(row))
    }

    /// The bound of a variable that is in the active set of the last solve; [`Side::Upper`] for a fixed variable.
    ///
    /// # Panics
    /// When there is no such variable.
    pub fn active_bound(&self, variable: usize) -> Option<Side> {
        if self.problem.lower[variable] == self.problem.upper[variable] {
            return Some(Side::Upper);
        }
        self.solver.active_side(Constraint::Range(variable))
    }

    /// Constraints added and dropped in the last solve.
    pub fn n_iterations(&self) -> usize {
        self.solution.n_iterations
    }

    /// By how much the aggregated row `Σ_i λ_i a_i · x <= Σ_i λ_i s_i` (see [module](self)) is violated everywhere in
    /// the box, less a bound on all rounding errors of this evaluation: positive means that infeasibility is proved by
    /// these multipliers, whatever their origin. Negative infinity when a multiplier asks for an infinite side.
    ///
    /// # Panics
    /// When the length differs from the number of rows.
    pub fn infeasibility_gap(&self, row_multipliers: &[f64]) -> f64 {
        let mut aggregate = Aggregate::default();
        aggregate.compute(&self.problem, row_multipliers);
        aggregate.gap(&self.problem, row_multipliers, 0.0)
    }

    /// Weak-duality lower bound on the optimal value from row multipliers,
    /// `min over the box of ½ (x − c)ᵀ W (x − c) + Σ_i λ_i (a_i · x − s_i)`, less a bound on the rounding errors: exact
    /// minimum for a diagonal metric. A dense objective is replaced by its tangent at [`Qp::x`], which lies below it: this
    /// is exact at the optimum, but needs a bound on every side where the tangent descends.
    /// Negative infinity when a multiplier asks for an infinite side.
    ///
    /// # Panics
    /// When the length differs from the number of rows.
    pub fn dual_value(&self, row_multipliers: &[f64]) -> f64 {
        let (mut gradient, mut offset) = (Vec::new(), Vec::new());
        let value = self.problem.gradient(&self.solution.x, &mut gradient, &mut offset);
        let mut aggregate = Aggregate::default();
        aggregate.compute(&self.problem, row_multipliers);
        aggregate.dual_value(&self.problem, &self.solution.x, &gradient, value)
    }

    fn run(&mut self, warm: bool) -> Result<Status, QpError> {
        self.problem.check()?;
        let limit = self.iteration_limit.unwrap_or(200 + 20 * (self.n_variables() + self.n_rows()));
        self.solved = false;
        let status = self.solver.run(&self.problem, warm, self.cutoff, limit, &mut self.solution)?;
        self.problem.metric_changed = false;
        self.problem.replaced.fill(false);
        self.solved = true;
        Ok(status)
    }
}
