//! The active set: constraints held as equalities, their factorisation and their multipliers.

use super::factor::Factor;
use super::problem::Problem;
use super::reduced::{Constraint, Reduced};
use super::status::Side;
use super::vector::{add_multiple, dot};

/// One active constraint, in coordinates where its normal has length 1 and points out of the feasible side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) constraint: Constraint,
    pub(super) side: Side,
    /// Both sides are equal: the multiplier may have any sign and the member never leaves.
    pub(super) equality: bool,
    /// Length of the normal before it was scaled.
    pub(super) length: f64,
    /// Right side: the member demands `normal · y = right`.
    pub(super) right: f64,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet {
    pub(super) members: Vec<Member>,
    /// Unit normals, `[members, n_free]`.
    normals: Vec<f64>,
    /// Multipliers of the unit normals; `>= 0` except at equalities.
    pub(super) multipliers: Vec<f64>,
    pub(super) factor: Factor,
    n: usize,
    /// `Qᵀ t`, then other coordinates.
    coordinates: Vec<f64>,
    range: Vec<f64>,
    work: Vec<f64>,
    spare: Vec<Member>,
}

impl ActiveSet {
    /// Empties the set, in dimension `n`.
    pub(super) fn clear(&mut self, n: usize) {
        self.members.clear();
        self.normals.clear();
        self.multipliers.clear();
        self.restart(n);
    }

    fn restart(&mut self, n: usize) {
        self.n = n;
        self.factor.reset(n);
        for vector in [&mut self.coordinates, &mut self.range, &mut self.work] {
            vector.clear();
            vector.resize(n, 0.0);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Appends a constraint whose normal has the given coordinates and null part, see [`Factor::add`].
    pub(super) fn add(
        &mut self,
        member: Member,
        normal: &[f64],
        multiplier: f64,
        coordinates: &[f64],
        null_part: &[f64],
        norm_sq: f64,
    ) {
        self.factor.add(coordinates, null_part, norm_sq);
        self.members.push(member);
        self.normals.extend_from_slice(normal);
        self.multipliers.push(multiplier);
    }

    /// Drops a member; `coordinates` follow the change of basis.
    pub(super) fn remove(&mut self, position: usize, coordinates: &mut [f64]) -> Member {
        self.factor.drop(position, coordinates);
        self.normals.copy_within((position + 1) * self.n.., position * self.n);
        self.normals.truncate(self.normals.len() - self.n);
        self.multipliers.remove(position);
        self.members.remove(position)
    }

    /// Adds a constraint unless its normal depends on those present (its null part is shorter than `shortest`).
    fn try_add(
        &mut self,
        problem: &Problem,
        reduced: &Reduced,
        constraint: Constraint,
        side: Side,
        shortest: f64,
    ) -> bool {
        if self.len() == self.n {
            return false;
        }
        let mut normal = std::mem::take(&mut self.work);
        let mut null_part = std::mem::take(&mut self.range);
        let mut coordinates = std::mem::take(&mut self.coordinates);
        let length = reduced.normal(constraint, side, &mut normal);
        reduced.normal_coordinates(&self.factor, constraint, side, &normal, &mut coordinates);
        let norm_sq = self.factor.null_part(&coordinates, &mut null_part);
        let independent = norm_sq > shortest * shortest;
        if independent {
            let member = Member { constraint, side, equality: false, length, right: 0.0 };
            self.add(
                Self::completed(problem, reduced, member),
                &normal,
                0.0,
                &coordinates,
                &null_part,
                norm_sq,
            );
        }
        (self.work, self.range, self.coordinates) = (normal, null_part, coordinates);
        independent
    }

    /// The member with its right side and kind as the problem has them now.
    fn completed(problem: &Problem, reduced: &Reduced, member: Member) -> Member {
        let (lower, upper) = sides(problem, member.constraint);
        let right = reduced.right(problem, member.constraint, member.side, member.length);
        Member { equality: lower == upper, right, ..member }
    }

    /// Starts with the bounds that the target violates. For a diagonal metric their multipliers are the violations, so the
    /// set is dual feasible at once.
    pub(super) fn start_from_box(&mut self, problem: &Problem, reduced: &Reduced) {
        self.clear(reduced.n_free());
        if !reduced.is_diagonal() {
            return;
        }
        for (k, &j) in reduced.free.iter().enumerate() {
            let side = if reduced.target[k] > 0.0 {
                Side::Upper
            } else if reduced.target[k] < 0.0 {
                Side::Lower
            } else {
                continue;
            };
            let added = self.try_add(problem, reduced, Constraint::Range(j), side, 0.5);
            debug_assert!(added, "axes are independent");
        }
    }

    /// Adapts the last active set to changed data: drops what no longer fits, refactorises when coordinates changed.
    pub(super) fn adapt(&mut self, problem: &Problem, reduced: &Reduced, same_coordinates: bool) {
        let fits = |member: &Member| {
            let exists = match member.constraint {
                Constraint::Row(row) => row < problem.n_rows() && reduced.norm[row] > 0.0,
                Constraint::Range(j) => j < problem.n && problem.lower[j] < problem.upper[j],
            };
            exists && {
                let (lower, upper) = sides(problem, member.constraint);
                if member.side == Side::Lower { lower.is_finite() } else { upper.is_finite() }
            }
        };
        let replaced = |member: &Member| match member.constraint {
            Constraint::Row(row) => problem.replaced.get(row).copied().unwrap_or(false),
            Constraint::Range(_) => false,
        };
        let keep = same_coordinates
            && self.n == reduced.n_free()
            && self.factor.updates() < MAX_UPDATES
            && !self.members.iter().any(replaced);
        if keep {
            let mut coordinates = std::mem::take(&mut self.coordinates);
            for position in (0..self.len()).rev() {
                if fits(&self.members[position]) {
                    self.members[position] = Self::completed(problem, reduced, self.members[position]);
                } else {
                    self.remove(position, &mut coordinates);
                }
            }
            self.coordinates = coordinates;
        } else {
            self.restart(reduced.n_free());
            let mut old = std::mem::take(&mut self.spare);
            std::mem::swap(&mut old, &mut self.members);
            self.normals.clear();
            self.multipliers.clear();
            for member in old.drain(..) {
                if fits(&member) {
                    self.try_add(problem, reduced, member.constraint, member.side, SHORTEST_GUESS);
                }
            }
            self.spare = old;
        }
    }

    /// Computes the minimiser `y` over the members as equalities and their multipliers afresh.
    pub(super) fn solve(&mut self, target: &[f64], y: &mut [f64]) {
        let q = self.len();
        self.factor.coordinates(target, &mut self.coordinates);
        self.factor.null_part(&self.coordinates, y);
        self.range.clear();
        self.range.extend(self.members.iter().map(|member| member.right));
        self.factor.solve_transposed(&mut self.range);
        self.factor.add_range_part(&self.range, y);
        for k in 0..q {
            self.multipliers[k] = self.coordinates[k] - self.range[k];
        }
        self.factor.solve(&mut self.multipliers);
        self.range.resize(self.n, 0.0);
    }

    /// One step of iterative refinement of a pair that [`ActiveSet::solve`] computed. `residual` are the members' right
    /// sides less their activities, over the lengths of the normals; it is used up.
    pub(super) fn refine(&mut self, target: &[f64], residual: &mut [f64], y: &mut [f64]) {
        let q = self.len();
        self.factor.solve_transposed(residual);
        self.factor.add_range_part(residual, y);
        self.work.clear();
        self.work.extend(target.iter().zip(&*y).map(|(t, y)| t - y));
        for k in 0..q {
            add_multiple(-self.multipliers[k], &self.normals[k * self.n..(k + 1) * self.n], &mut self.work);
        }
        self.factor.coordinates(&self.work, &mut self.coordinates);
        self.factor.solve(&mut self.coordinates);
        for k in 0..q {
            self.multipliers[k] += self.coordinates[k];
        }
    }

    /// The member to leave first because its multiplier is below `-tolerance * largest multiplier`.
    pub(super) fn most_negative(&self, tolerance: f64) -> Option<usize> {
        let largest = self.multipliers.iter().fold(0.0, |largest: f64, u| largest.max(u.abs()));
        let mut worst = None;
        let mut least = -tolerance * largest;
        for (position, (&multiplier, member)) in self.multipliers.iter().zip(&self.members).enumerate() {
            if !member.equality && multiplier < least {
                (worst, least) = (Some(position), multiplier);
            }
        }
        worst
    }

    /// Drops members with negative multipliers until the pair is dual feasible; returns the number dropped.
    pub(super) fn repair(&mut self, target: &[f64], tolerance: f64, y: &mut [f64]) -> usize {
        let mut dropped = 0;
        self.solve(target, y);
        while let Some(position) = self.most_negative(tolerance) {
            let mut coordinates = std::mem::take(&mut self.coordinates);
            self.remove(position, &mut coordinates);
            self.coordinates = coordinates;
            self.solve(target, y);
            dropped += 1;
        }
        dropped
    }

    /// `normal · y − right` of a constraint outside the set.
    pub(super) fn excess(normal: &[f64], right: f64, y: &[f64]) -> f64 {
        dot(normal, y) - right
    }
}

/// Lower and upper side of a constraint.
pub(super) fn sides(problem: &Problem, constraint: Constraint) -> (f64, f64) {
    match constraint {
        Constraint::Row(row) => (problem.row_lower[row], problem.row_upper[row]),
        Constraint::Range(j) => (problem.lower[j], problem.upper[j]),
    }
}

/// Members of an old active set are taken over into a new factorisation only when they are this independent.
const SHORTEST_GUESS: f64 = 1e-5;

/// Updates of a factorisation before it is built afresh.
const MAX_UPDATES: usize = 2000;
