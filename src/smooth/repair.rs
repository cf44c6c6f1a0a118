//! From any point to a feasible one near it, by repeated projection onto the linearised constraints.
//!
//! A constraint is met when it is violated first, and the row of its slopes there stays for the rest of the repair, or until it is violated again. Each step is the point nearest to the *target* (not to the last point) that satisfies all rows so far: on linear
//! constraints that is the exact projection, vertices included, and a gradient step followed by a repair is a step of projected gradients.

use leafgp_solver::constraints::qp::{Qp, Status};
use leafgp_solver::constraints::{Linearised, Violation};

use super::space::{Choice, Space};

const ITERATIONS: usize = 12;
/// How far inside the cube, in coordinates, slopes are taken where there are none at its edge.
const INSIDE: f64 = 1e-7;
/// No coordinate moves further in one step.
const LONGEST: f64 = 0.5;
/// Nearer than this a row aims inside, against rounding; further away at the edge itself.
const NEAR: f64 = 1e-12;

/// How far apart two points are, for a projection: `d' W d` over the reals.
#[derive(Clone, Copy, Debug)]
pub(super) enum Metric<'a> {
    Diagonal(&'a [f64]),
    /// `[reals, reals]`.
    Dense(&'a [f64]),
}

/// A linearised constraint: `slopes . u <= right`, or `=`; the slopes have length 1.
#[derive(Clone, Debug)]
struct Row {
    constraint: usize,
    slopes: Vec<f64>,
    right: f64,
}

/// On how many sides a constraint is violated. An equality has two, and a projection must stay on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Unknown,
    One,
    Both,
}

/// Work space of repairs in one space.
#[derive(Debug)]
pub(super) struct Repair<'s, 'a> {
    space: &'s Space<'a>,
    /// The coordinates of reals.
    reals: Vec<usize>,
    qp: Qp,
    rows: Vec<Row>,
    /// What is known of each constraint.
    sides: Vec<Sides>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl<'s, 'a> Repair<'s, 'a> {
    pub(super) fn new(space: &'s Space<'a>) -> Self {
        let reals: Vec<usize> =
            (0..space.n_coordinates()).filter(|&j| matches!(space.choices[j], Choice::Real { .. })).collect();
        Self {
            space,
            qp: Qp::new(reals.len()),
            reals,
            rows: Vec::new(),
            sides: vec![Sides::Unknown; space.constraints.len()],
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }

    /// The coordinates of reals, in the order of metrics.
    pub(super) fn reals(&self) -> &[usize] {
        &self.reals
    }

    /// Whether a constraint was seen to be an equality.
    pub(super) fn is_equality(&self, constraint: usize) -> bool {
        self.sides[constraint] == Sides::Both
    }

    /// A feasible point of the region near `target` that differs from it, discrete variables moved into the region, in reals alone; `held` reals (by
    /// coordinate) keep the target's value. `None` when none is found.
    pub(super) fn nearest(&mut self, target: &[f64], metric: Metric<'_>, held: &[usize]) -> Option<Vec<f64>> {
        let x = self.space.clamp(target);
        if self.space.is_feasible(&x) {
            return Some(x);
        }
        let goal = self.values(&x);
        let free = self.free(&x, held);
        self.rows.clear();
        self.run(x, &goal, metric, &free)
    }

    /// The feasible point nearest to `goal`, coordinates of the reals that may lie anywhere, that has the discrete values of `x`, a point of the region.
    pub(super) fn towards(&mut self, x: &[f64], goal: &[f64], metric: Metric<'_>) -> Option<Vec<f64>> {
        let mut x = x.to_vec();
        let free = self.free(&x, &[]);
        let here = self.values(&x);
        self.rows.clear();
        self.bound(&here, goal, &free);
        let to = self.project(goal, metric, 0)?;
        self.place(&mut x, &to, &free);
        self.run(x, goal, metric, &free)
    }

    fn free(&self, x: &[f64], held: &[usize]) -> Vec<bool> {
        let space = self.space;
        let is_free = |j: &usize| !held.contains(j) && space.constraints.is_active(space.variable(*j), x);
        self.reals.iter().map(is_free).collect()
    }

    fn place(&self, x: &mut [f64], to: &[f64], free: &[bool]) {
        for (r, &j) in self.reals.iter().enumerate() {
            if free[r] {
                x[self.space.variable(j)] = self.space.real_value(j, to[r]);
            }
        }
        self.space.constraints.deactivate(x);
    }

    /// Judges in f64 on the way, though some points that it refuses are feasible in decimals: they cost more than another step, which aims inside.
    fn run(&mut self, mut x: Vec<f64>, goal: &[f64], metric: Metric<'_>, free: &[bool]) -> Option<Vec<f64>> {
        for iteration in 0..=ITERATIONS {
            let violated = self.space.constraints.linearised(&x);
            if violated.is_empty() {
                return self.space.is_feasible(&x).then_some(x);
            }
            let here = self.values(&x);
            let old = self.linearise(&x, &here, violated, free, iteration)?;
            self.bound(&here, goal, free);
            let mut to = self.project(goal, metric, 0);
            if to.is_none() {
                // Rows from far away may be wrong here, and the target out of reach: what is violated now, from here.
                self.bound(&here, &here, free);
                to = self.project(&here, metric, old);
                self.rows.drain(..old);
            }
            let to = to?;
            self.place(&mut x, &to, free);
            if !self.space.region.contains(&x) {
                return None;
            }
        }
        None
    }

    /// Coordinates of the reals.
    pub(super) fn values(&self, x: &[f64]) -> Vec<f64> {
        let axes = self.space.coordinates.axes();
        self.reals.iter().map(|&j| axes[j].coordinate(x[axes[j].variable])).collect()
    }

    /// The box of the next step.
    fn bound(&mut self, here: &[f64], goal: &[f64], free: &[bool]) {
        self.lower.clear();
        self.upper.clear();
        for (r, &j) in self.reals.iter().enumerate() {
            let (lower, upper) = match self.space.choices[j] {
                Choice::Real { lower, upper } if free[r] => {
                    ((here[r] - LONGEST).min(goal[r]).max(lower), (here[r] + LONGEST).max(goal[r]).min(upper))
                }
                _ => (here[r], here[r]),
            };
            self.lower.push(lower);
            self.upper.push(upper.max(lower));
        }
    }

    /// Adds or renews the rows of the violated constraints, which then come last, and returns how many others there are. `None` when nothing can be done about
    /// a violation.
    fn linearise(
        &mut self,
        x: &[f64],
        here: &[f64],
        violated: Vec<Linearised>,
        free: &[bool],
        iteration: usize,
    ) -> Option<usize> {
        let n_rows = violated.iter().filter(|v| v.slopes.is_some()).count();
        if n_rows == 0 {
            return None;
        }
        let mut inside = None;
        for Linearised { violation, slopes } in violated {
            let Some(mut by_value) = slopes else { continue };
            let c = violation.constraint;
            if by_value.iter().any(|s| !s.is_finite()) {
                let inside =
                    inside.get_or_insert_with(|| self.space.constraints.linearised(&self.inside(x, here)));
                by_value = inside.iter().find(|v| v.violation.constraint == c)?.slopes.clone()?;
            }
            let mut slopes = self.slopes(x, &by_value, free);
            let length = slopes.iter().map(|s| s * s).sum::<f64>().sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return None;
            }
            slopes.iter_mut().for_each(|s| *s /= length);
            if let Some(k) = self.rows.iter().position(|row| row.constraint == c) {
                let old = self.rows.remove(k);
                let cosine: f64 = old.slopes.iter().zip(&slopes).map(|(a, b)| a * b).sum();
                if cosine < -0.5 {
                    // An equality, crossed.
                    self.sides[c] = Sides::Both;
                }
            }
            let distance = violation.amount / length;
            let at: f64 = slopes.iter().zip(here).map(|(s, u)| s * u).sum();
            if self.sides[c] == Sides::Unknown {
                self.sides[c] = self.look_beyond(x, here, &violation, &slopes, distance);
            }
            let margin = if self.is_equality(c) || distance > NEAR {
                0.0
            } else {
                4.0 * distance + 1e-16 * 10f64.powi(iteration as i32)
            };
            self.rows.push(Row { constraint: c, right: at - distance - margin, slopes });
        }
        Some(self.rows.len() - n_rows)
    }

    /// Whether a constraint is violated again on the other side of its edge, a little or as far away as here.
    fn look_beyond(
        &self,
        x: &[f64],
        here: &[f64],
        violation: &Violation,
        slopes: &[f64],
        distance: f64,
    ) -> Sides {
        let axes = self.space.coordinates.axes();
        let mut moved = x.to_vec();
        for beyond in [1.0, 0.1, 1e-3] {
            let mut is_inside = true;
            for (r, &j) in self.reals.iter().enumerate() {
                let u = here[r] - (1.0 + beyond) * distance * slopes[r];
                is_inside &= slopes[r] == 0.0 || (0.0..=1.0).contains(&u);
                moved[axes[j].variable] =
                    if slopes[r] == 0.0 { x[axes[j].variable] } else { axes[j].value(u) };
            }
            if !is_inside {
                continue;
            }
            let there = self.space.constraints.amounts(&moved);
            let Some(found) = there.iter().find(|w| w.constraint == violation.constraint) else {
                return Sides::One;
            };
            let expected = beyond * violation.amount;
            if found.amount > 0.5 * expected && found.amount < 2.0 * expected {
                return Sides::Both;
            }
        }
        Sides::Unknown
    }

    /// Slopes by coordinate, over the reals, of slopes by value.
    fn slopes(&self, x: &[f64], by_value: &[f64], free: &[bool]) -> Vec<f64> {
        let axes = self.space.coordinates.axes();
        let slope = |(&j, &is_free): (&usize, &bool)| {
            let v = axes[j].variable;
            if is_free && by_value[v] != 0.0 { by_value[v] * axes[j].stretch(x[v]) } else { 0.0 }
        };
        self.reals.iter().zip(free).map(slope).collect()
    }

    /// A point beside `x` that lies on no edge of the cube.
    fn inside(&self, x: &[f64], here: &[f64]) -> Vec<f64> {
        let axes = self.space.coordinates.axes();
        let mut moved = x.to_vec();
        for (&j, u) in self.reals.iter().zip(here) {
            moved[axes[j].variable] = axes[j].value(u.clamp(INSIDE, 1.0 - INSIDE));
        }
        moved
    }

    /// The point of the box nearest to `goal` that satisfies the rows from `first` on.
    fn project(&mut self, goal: &[f64], metric: Metric<'_>, first: usize) -> Option<Vec<f64>> {
        self.qp.reset(self.reals.len());
        self.qp.set_box(&self.lower, &self.upper);
        self.qp.set_target(goal);
        match metric {
            Metric::Diagonal(weights) => self.qp.set_diagonal_metric(weights),
            Metric::Dense(matrix) => self.qp.set_dense_metric(matrix),
        }
        for row in &self.rows[first..] {
            if self.is_equality(row.constraint) {
                self.qp.push_eq(&row.slopes, row.right);
            } else {
                self.qp.push_le(&row.slopes, row.right);
            }
        }
        (self.qp.solve() == Ok(Status::Optimal)).then(|| self.qp.x().to_vec())
    }
}
