//! Writes what a solve leaves behind: the point, the multipliers and the proof of infeasibility, in the caller's units.

use super::active::Member;
use super::problem::Problem;
use super::reduced::Constraint;
use super::solution::Solution;
use super::solve::{FEASIBILITY, RATIO, Solver, Step, excess_of};
use super::status::{Side, Status};
use super::vector::dot;

impl Solver {
    /// The violated constraint is a nonpositive combination of active ones (almost): writes the multipliers of the
    /// aggregated row and claims infeasibility if they prove it.
    pub(super) fn try_farkas(
        &mut self,
        problem: &Problem,
        member: Member,
        solution: &mut Solution,
    ) -> Option<Step> {
        let zero = |multipliers: &mut Vec<f64>| multipliers.iter_mut().for_each(|m| *m = 0.0);
        zero(&mut solution.row_multipliers);
        // In units of the violated row, so that simple data give simple multipliers.
        if let Constraint::Row(row) = member.constraint {
            solution.row_multipliers[row] = member.side.sign();
        }
        for (position, active) in self.active.members.iter().enumerate() {
            if let Constraint::Row(row) = active.constraint {
                let weight =
                    if active.equality { -self.ratios[position] } else { (-self.ratios[position]).max(0.0) };
                solution.row_multipliers[row] = weight * active.side.sign() * (member.length / active.length);
            }
        }
        let status = self.claim_infeasible(problem, solution);
        if let Some(Status::Infeasible { proved }) = status {
            return Some(Step::Infeasible { proved });
        }
        zero(&mut solution.row_multipliers);
        None
    }

    /// Checks Farkas multipliers. Unbounded variables need exact cancellation: multipliers of rounding size must go, and
    /// shorter ones may provide it.
    pub(super) fn claim_infeasible(&mut self, problem: &Problem, solution: &mut Solution) -> Option<Status> {
        let multipliers = &mut solution.row_multipliers;
        self.aggregate.compute(problem, multipliers);
        if self.aggregate.gap(problem, multipliers, 0.0) > 0.0 {
            return Some(Status::Infeasible { proved: true });
        }
        let weights = || multipliers.iter().zip(&self.reduced.norm).map(|(m, norm)| m.abs() * norm);
        let largest = weights().fold(0.0, f64::max);
        let mut trial: Vec<f64> = multipliers
            .iter()
            .zip(weights())
            .map(|(m, w)| if w > RATIO * largest { *m } else { 0.0 })
            .collect();
        self.aggregate.compute(problem, &trial);
        if self.aggregate.gap(problem, &trial, FEASIBILITY) <= 0.0 {
            return None;
        }
        multipliers.copy_from_slice(&trial);
        for bits in [52, 44, 32, 20] {
            trial.iter_mut().for_each(|m| *m = rounded_to(*m, bits));
            self.aggregate.compute(problem, &trial);
            if self.aggregate.gap(problem, &trial, 0.0) > 0.0 {
                multipliers.copy_from_slice(&trial);
                return Some(Status::Infeasible { proved: true });
            }
        }
        Some(Status::Infeasible { proved: false })
    }

    /// The current point, within the box to the last bit.
    pub(super) fn write_point(&self, problem: &Problem, solution: &mut Solution) {
        solution.x.copy_from_slice(&self.reduced.origin);
        for (&j, dx) in self.reduced.free.iter().zip(&self.dx) {
            solution.x[j] = (solution.x[j] + dx).max(problem.lower[j]).min(problem.upper[j]);
        }
        for member in &self.active.members {
            if let Constraint::Range(j) = member.constraint {
                solution.x[j] = if member.side == Side::Upper { problem.upper[j] } else { problem.lower[j] };
            }
        }
    }

    /// Multipliers of the members, and of a constraint about to become one, in the caller's units.
    pub(super) fn write_multipliers(&self, solution: &mut Solution, pending: Option<(Member, f64)>) {
        solution.row_multipliers.fill(0.0);
        solution.bound_multipliers.fill(0.0);
        let members = self.active.members.iter().copied().zip(self.active.multipliers.iter().copied());
        for (member, multiplier) in members.chain(pending) {
            let multiplier = if member.equality { multiplier } else { multiplier.max(0.0) };
            let value = member.side.sign() * multiplier / member.length;
            match member.constraint {
                Constraint::Row(row) => solution.row_multipliers[row] = value,
                Constraint::Range(j) => solution.bound_multipliers[j] = value,
            }
        }
    }

    /// Writes all multipliers, those of fixed variables included.
    pub(super) fn write_optimum(&self, problem: &Problem, solution: &mut Solution) {
        self.write_multipliers(solution, None);
        for j in (0..problem.n).filter(|&j| self.reduced.position[j] == usize::MAX) {
            let mut pull = solution.gradient[j];
            for (row, multiplier) in solution.row_multipliers.iter().enumerate() {
                pull += multiplier * problem.row(row)[j];
            }
            solution.bound_multipliers[j] = -pull;
        }
    }

    /// Largest violation of a row relative to the scale of its rounding errors; infinite when an activity overflows.
    pub(super) fn violation(&self, problem: &Problem, x: &[f64]) -> f64 {
        let size = self.size(problem);
        let mut worst: f64 = 0.0;
        for row in 0..problem.n_rows() {
            let activity = dot(problem.row(row), x);
            if !activity.is_finite() {
                return f64::INFINITY;
            }
            let (excess, side) = excess_of(activity, problem.row_lower[row], problem.row_upper[row]);
            if excess > 0.0 {
                let bound = if side == Side::Upper { problem.row_upper[row] } else { problem.row_lower[row] };
                worst = worst.max(excess / self.row_scale(row, bound, size));
            }
        }
        worst
    }
}

/// A number rounded to `bits` bits after the leading one.
fn rounded_to(value: f64, bits: u32) -> f64 {
    let unit = 1u64 << (52 - bits);
    f64::from_bits((value.to_bits().saturating_add(unit / 2)) & !(unit - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_shortens_the_mantissa() {
        assert_eq!(rounded_to(2.0 + 4.0 * f64::EPSILON, 44), 2.0);
        assert_eq!(rounded_to(-(3.0 - 4.0 * f64::EPSILON), 44), -3.0);
        assert_eq!(rounded_to(0.0, 20), 0.0);
    }
}
