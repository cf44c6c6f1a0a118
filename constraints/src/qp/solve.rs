//! The dual active-set method.
//!
//! Invariant between two outer steps: `y` minimises the objective over the active constraints and their multipliers are
//! `>= 0`, so the objective at `y` is a lower bound on the optimal value. Each outer step makes one violated constraint
//! active and raises that bound; it ends by optimality, by a proof of infeasibility or at a limit.
//!
//! # Tolerances
//! All tests act on constraints scaled to unit normals in the metric, so they do not depend on the scale of rows.
//! - A constraint counts as violated when it is by more than [`FEASIBILITY`] times
//!   `|side| + Σ_j |a_j x0_j| + |a|_{W⁻¹} |x − x0|_W`, `x0` being the target moved into the box: the rounding scale of its
//!   evaluation (plus a little for that of the active rows). When rounding brings the method back to the same test over and over, the factor grows to at most
//!   [`LOOSEST`]; [`Qp::violation`](super::Qp::violation) tells.
//! - A normal is dependent on the active ones when less than [`DEPENDENT`] of its unit length is left. Then, and when the
//!   rest is shorter than [`SUSPICIOUS`], infeasibility is claimed if the aggregated row proves it, never by the threshold.
//! - Ties are broken by the larger pivot, then by the lower index: the same input gives the same answer.

use super::active::{ActiveSet, Member, sides};
use super::certificate::Aggregate;
use super::problem::Problem;
use super::reduced::{Constraint, Reduced};
use super::solution::Solution;
use super::status::{QpError, Side, Status};
use super::vector::{dot, scaled_norm};

/// Relative violation at which a constraint is made active.
pub(super) const FEASIBILITY: f64 = 1e-12;
/// Share of the rounding scales of active rows that the others' tests inherit: the data of two rows can disagree by a few
/// units in the last place, 1e-15, where the allowance for the method's own errors is [`FEASIBILITY`].
const INHERITED: f64 = 4e-3;
/// Largest relative violation that is ever tolerated.
const LOOSEST: f64 = 1e-9;
/// Part of a unit normal that rounding may leave of a dependent one.
const DEPENDENT: f64 = 1e-12;
/// Below this a normal may be dependent: look for a proof of infeasibility.
const SUSPICIOUS: f64 = 1e-6;
/// Below this the pair is computed afresh after the constraint was added.
const DELICATE: f64 = 1e-4;
/// A multiplier may be negative by this part of the largest one.
const DUAL_FEASIBILITY: f64 = 1e-11;
/// Coefficients of the ratio test below this part of the largest one are rounding errors.
pub(super) const RATIO: f64 = 1e-12;
/// Returns from the final check to the iteration before tolerances grow.
const PATIENCE: usize = 3;

/// The method's state: kept between solves for warm starts and to save allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    pub(super) reduced: Reduced,
    pub(super) active: ActiveSet,
    /// Rows that are active or given up; the latter violate their sides by less than [`LOOSEST`].
    row_skipped: Vec<bool>,
    /// The same for ranges of the free variables.
    range_skipped: Vec<bool>,
    given_up: Vec<Constraint>,
    y: Vec<f64>,
    /// Displacement from the origin at `y`.
    pub(super) dx: Vec<f64>,
    normal: Vec<f64>,
    coordinates: Vec<f64>,
    direction: Vec<f64>,
    pub(super) ratios: Vec<f64>,
    residual: Vec<f64>,
    offset: Vec<f64>,
    pub(super) aggregate: Aggregate,
    feasibility: f64,
}

/// A violated constraint.
#[derive(Clone, Copy, Debug)]
struct Violated {
    constraint: Constraint,
    side: Side,
    /// Violation relative to the scale of its rounding errors.
    relative: f64,
}

/// How an attempt to make a constraint active ended.
pub(super) enum Step {
    /// It is active.
    Added,
    /// It was violated by rounding errors only and is given up.
    GivenUp,
    Infeasible {
        proved: bool,
    },
    /// Neither the iteration limit nor the arithmetic allows to go on.
    Stuck,
}

impl Solver {
    /// Solves a problem that passed [`Problem::check`].
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        warm: bool,
        cutoff: f64,
        limit: usize,
        solution: &mut Solution,
    ) -> Result<Status, QpError> {
        solution.reset(problem);
        if problem.has_crossed_sides() {
            self.active.clear(0);
            self.reduced.invalidate();
            return Ok(Status::Infeasible { proved: true });
        }
        let same_coordinates = self.reduced.prepare(problem)?;
        let n = self.reduced.n_free();
        for buffer in [
            &mut self.y,
            &mut self.dx,
            &mut self.normal,
            &mut self.coordinates,
            &mut self.direction,
            &mut self.ratios,
            &mut self.residual,
        ] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.feasibility = FEASIBILITY;
        if warm {
            self.active.adapt(problem, &self.reduced, same_coordinates);
        } else {
            self.active.start_from_box(problem, &self.reduced);
        }
        self.given_up.clear();
        self.repair(problem, solution);
        let status = self.iterate(problem, cutoff, limit, solution);
        self.place(problem);
        self.write_point(problem, solution);
        solution.value = problem.gradient(&solution.x, &mut solution.gradient, &mut self.offset);
        solution.violation = self.violation(problem, &solution.x);
        if status == Status::Optimal {
            self.write_optimum(problem, solution);
            // Overflow on the way leaves infinities or NaN: no answer then.
            let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
            let is_sound = solution.value.is_finite()
                && solution.violation <= LOOSEST
                && finite(&self.y)
                && finite(&solution.row_multipliers)
                && finite(&solution.bound_multipliers);
            if !is_sound {
                return Ok(Status::Unsolved);
            }
        }
        Ok(status)
    }

    fn iterate(&mut self, problem: &Problem, cutoff: f64, limit: usize, solution: &mut Solution) -> Status {
        if let Some((row, side)) = self.violated_constant_row(problem) {
            solution.row_multipliers[row] = side.sign();
            return self.claim_infeasible(problem, solution).unwrap_or(Status::Unsolved);
        }
        let mut checks = 0;
        loop {
            self.place(problem);
            if cutoff < f64::INFINITY && self.exceeds(problem, cutoff, solution) {
                return Status::Cutoff;
            }
            let Some(violated) = self.most_violated(problem) else {
                // Optimal up to the errors collected on the way: compute the pair afresh and look again.
                if self.passes_check(problem, checks, solution) {
                    return Status::Optimal;
                }
                checks += 1;
                if solution.n_iterations > limit || self.feasibility > LOOSEST {
                    self.write_multipliers(solution, None);
                    return Status::Unsolved;
                }
                continue;
            };
            match self.activate(problem, violated, limit, solution) {
                Step::Added => {}
                Step::GivenUp => {
                    self.given_up.push(violated.constraint);
                    self.repair(problem, solution);
                }
                Step::Infeasible { proved } => return Status::Infeasible { proved },
                Step::Stuck => return Status::Unsolved,
            }
        }
    }

    /// A row without free variables that cannot hold, and its violated side.
    fn violated_constant_row(&self, problem: &Problem) -> Option<(usize, Side)> {
        (0..problem.n_rows()).filter(|&row| self.reduced.norm[row] == 0.0).find_map(|row| {
            let (excess, side) =
                excess_of(self.reduced.activity[row], problem.row_lower[row], problem.row_upper[row]);
            let bound = if side == Side::Upper { problem.row_upper[row] } else { problem.row_lower[row] };
            (excess > FEASIBILITY * (bound.abs() + self.reduced.magnitude[row])).then_some((row, side))
        })
    }

    /// Makes a violated constraint active: moves along the step direction in primal and dual space at once, dropping the
    /// members whose multipliers reach zero on the way.
    fn activate(
        &mut self,
        problem: &Problem,
        violated: Violated,
        limit: usize,
        solution: &mut Solution,
    ) -> Step {
        let Violated { constraint, side, relative } = violated;
        let length = self.reduced.normal(constraint, side, &mut self.normal);
        let right = self.reduced.right(problem, constraint, side, length);
        let (lower, upper) = sides(problem, constraint);
        let member = Member { constraint, side, equality: lower == upper, length, right };
        let factor = &self.active.factor;
        self.reduced.normal_coordinates(factor, constraint, side, &self.normal, &mut self.coordinates);
        let mut multiplier = 0.0;
        loop {
            solution.n_iterations += 1;
            if solution.n_iterations > limit {
                self.write_multipliers(solution, Some((member, multiplier)));
                return Step::Stuck;
            }
            let q = self.active.len();
            let norm_sq = self.active.factor.null_part(&self.coordinates, &mut self.direction);
            self.ratios[..q].copy_from_slice(&self.coordinates[..q]);
            self.active.factor.solve(&mut self.ratios[..q]);
            let (dual_step, leaver) = self.ratio_test();
            if norm_sq <= SUSPICIOUS * SUSPICIOUS && leaver.is_none() {
                if let Some(step) = self.try_farkas(problem, member, solution) {
                    return step;
                }
                if norm_sq <= DEPENDENT * DEPENDENT {
                    if relative <= LOOSEST {
                        return Step::GivenUp;
                    }
                    self.write_multipliers(solution, Some((member, multiplier)));
                    return Step::Stuck;
                }
            }
            let excess = ActiveSet::excess(&self.normal, right, &self.y).max(0.0);
            let full_step = if norm_sq > DEPENDENT * DEPENDENT { excess / norm_sq } else { f64::INFINITY };
            let step = dual_step.min(full_step);
            for k in 0..q {
                self.active.multipliers[k] -= step * self.ratios[k];
            }
            multiplier += step;
            if full_step < f64::INFINITY {
                for (y, direction) in self.y.iter_mut().zip(&self.direction) {
                    *y -= step * direction;
                }
            }
            match leaver {
                Some(position) if dual_step < full_step => {
                    let left = self.active.remove(position, &mut self.coordinates);
                    *self.skipped(left.constraint) = false;
                }
                _ => {
                    let Self { active, normal, coordinates, direction, .. } = self;
                    active.add(member, normal, multiplier, coordinates, direction, norm_sq);
                    *self.skipped(constraint) = true;
                    if norm_sq < DELICATE * DELICATE {
                        self.repair(problem, solution);
                    }
                    return Step::Added;
                }
            }
        }
    }

    /// Largest dual step that keeps the multipliers `>= 0`, and the member that stops it.
    fn ratio_test(&self) -> (f64, Option<usize>) {
        let ratios = &self.ratios[..self.active.len()];
        let largest = ratios.iter().fold(1.0, |largest: f64, r| largest.max(r.abs()));
        let (mut step, mut leaver, mut pivot) = (f64::INFINITY, None, 0.0);
        for (position, (&ratio, member)) in ratios.iter().zip(&self.active.members).enumerate() {
            if member.equality || ratio <= RATIO * largest {
                continue;
            }
            let candidate = self.active.multipliers[position].max(0.0) / ratio;
            if candidate < step || (candidate == step && ratio > pivot) {
                (step, leaver, pivot) = (candidate, Some(position), ratio);
            }
        }
        (step, leaver)
    }

    /// Displacement at `y`, with active bounds exact.
    fn place(&mut self, problem: &Problem) {
        self.reduced.displacement(&self.y, &mut self.dx);
        for member in &self.active.members {
            if let Constraint::Range(j) = member.constraint {
                let bound = if member.side == Side::Upper { problem.upper[j] } else { problem.lower[j] };
                self.dx[self.reduced.position[j]] = bound - self.reduced.origin[j];
            }
        }
    }

    /// Scale of the rounding errors of the displacement, as a length in the metric: its own length and what the rounding
    /// of the active rows contributes.
    pub(super) fn size(&self, problem: &Problem) -> f64 {
        let mut inherited: f64 = 0.0;
        for member in &self.active.members {
            if let Constraint::Row(row) = member.constraint {
                let bound =
                    if member.side == Side::Upper { problem.row_upper[row] } else { problem.row_lower[row] };
                inherited =
                    inherited.max((bound.abs() + self.reduced.magnitude[row]) / self.reduced.norm[row]);
            }
        }
        scaled_norm(&self.dx, &self.reduced.root) + INHERITED * inherited
    }

    /// Scale of the rounding errors in the test of a side of a row.
    pub(super) fn row_scale(&self, row: usize, bound: f64, size: f64) -> f64 {
        bound.abs() + self.reduced.magnitude[row] + self.reduced.norm[row] * size
    }

    /// The constraint violated most, equalities first; distances are measured in the metric.
    fn most_violated(&self, problem: &Problem) -> Option<Violated> {
        let size = self.size(problem);
        let mut worst: Option<Violated> = None;
        let (mut largest, mut equality_found) = (0.0, false);
        for row in 0..problem.n_rows() {
            let norm = self.reduced.norm[row];
            if self.row_skipped[row] || norm == 0.0 {
                continue;
            }
            let activity = self.reduced.activity[row] + dot(self.reduced.row(row), &self.dx);
            let (lower, upper) = (problem.row_lower[row], problem.row_upper[row]);
            let (excess, side) = excess_of(activity, lower, upper);
            let equality = lower == upper;
            if excess > 0.0 && (excess > largest * norm || (equality && !equality_found)) {
                let bound = if side == Side::Upper { upper } else { lower };
                let relative = excess / self.row_scale(row, bound, size);
                if relative > self.feasibility && (equality || !equality_found) {
                    worst = Some(Violated { constraint: Constraint::Row(row), side, relative });
                    (largest, equality_found) = (excess / norm, equality);
                }
            }
        }
        if equality_found {
            return worst;
        }
        for (k, &j) in self.reduced.free.iter().enumerate() {
            if self.range_skipped[k] {
                continue;
            }
            let origin = self.reduced.origin[j];
            let (lower, upper) = (problem.lower[j], problem.upper[j]);
            let (excess, side) = excess_of(self.dx[k], lower - origin, upper - origin);
            if excess > 0.0 && excess * self.reduced.root[k] > largest {
                let bound = if side == Side::Upper { upper } else { lower };
                let relative = excess / (bound.abs() + origin.abs() + size * self.reduced.inverse_root[k]);
                if relative > self.feasibility {
                    worst = Some(Violated { constraint: Constraint::Range(j), side, relative });
                    largest = excess * self.reduced.root[k];
                }
            }
        }
        worst
    }

    /// Computes the pair afresh with one step of refinement; whether it is optimal.
    fn passes_check(&mut self, problem: &Problem, checks: usize, solution: &mut Solution) -> bool {
        if checks > 0 && checks.is_multiple_of(PATIENCE) {
            self.feasibility *= 10.0;
        }
        let dual_feasibility = DUAL_FEASIBILITY * (self.feasibility / FEASIBILITY);
        self.active.solve(&self.reduced.target, &mut self.y);
        self.reduced.displacement(&self.y, &mut self.dx);
        for (position, member) in self.active.members.iter().enumerate() {
            let activity = match member.constraint {
                Constraint::Row(row) => dot(self.reduced.row(row), &self.dx),
                Constraint::Range(j) => self.dx[self.reduced.position[j]],
            };
            self.residual[position] = member.right - member.side.sign() * activity / member.length;
        }
        self.active.refine(&self.reduced.target, &mut self.residual, &mut self.y);
        if self.active.most_negative(dual_feasibility).is_some() {
            solution.n_iterations += self.active.repair(&self.reduced.target, dual_feasibility, &mut self.y);
            self.mark_active(problem);
            return false;
        }
        self.place(problem);
        self.most_violated(problem).is_none()
    }

    /// Computes the pair of the active set afresh and makes it dual feasible.
    fn repair(&mut self, problem: &Problem, solution: &mut Solution) {
        solution.n_iterations += self.active.repair(&self.reduced.target, DUAL_FEASIBILITY, &mut self.y);
        self.mark_active(problem);
    }

    /// Whether the multipliers prove that the optimal value exceeds the cutoff.
    fn exceeds(&mut self, problem: &Problem, cutoff: f64, solution: &mut Solution) -> bool {
        self.write_point(problem, solution);
        solution.value = problem.gradient(&solution.x, &mut solution.gradient, &mut self.offset);
        if solution.value <= cutoff {
            return false;
        }
        self.write_multipliers(solution, None);
        self.aggregate.compute(problem, &solution.row_multipliers);
        self.aggregate.dual_value(problem, &solution.x, &solution.gradient, solution.value) > cutoff
    }

    fn skipped(&mut self, constraint: Constraint) -> &mut bool {
        match constraint {
            Constraint::Row(row) => &mut self.row_skipped[row],
            Constraint::Range(j) => &mut self.range_skipped[self.reduced.position[j]],
        }
    }

    /// Marks the members and the constraints given up as skipped, no others.
    fn mark_active(&mut self, problem: &Problem) {
        self.row_skipped.clear();
        self.row_skipped.resize(problem.n_rows(), false);
        self.range_skipped.clear();
        self.range_skipped.resize(self.reduced.n_free(), false);
        for position in 0..self.active.len() {
            *self.skipped(self.active.members[position].constraint) = true;
        }
        for position in 0..self.given_up.len() {
            *self.skipped(self.given_up[position]) = true;
        }
    }

    /// The side at which a constraint is active.
    pub(super) fn active_side(&self, constraint: Constraint) -> Option<Side> {
        let member = self.active.members.iter().find(|member| member.constraint == constraint)?;
        Some(if member.equality { Side::Upper } else { member.side })
    }
}

/// By how much a range is exceeded (nonpositive inside), and on which side.
pub(super) fn excess_of(activity: f64, lower: f64, upper: f64) -> (f64, Side) {
    let (over, under) = (activity - upper, lower - activity);
    if over >= under { (over, Side::Upper) } else { (under, Side::Lower) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_names_the_side() {
        assert_eq!(excess_of(3.0, 0.0, 1.0), (2.0, Side::Upper));
        assert_eq!(excess_of(-3.0, 0.0, 1.0), (3.0, Side::Lower));
        assert_eq!(excess_of(0.25, 0.0, 1.0), (-0.25, Side::Lower));
        assert_eq!(excess_of(5.0, f64::NEG_INFINITY, f64::INFINITY).0, f64::NEG_INFINITY);
    }
}
