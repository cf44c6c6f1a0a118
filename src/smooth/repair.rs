//! From any point to a feasible one near it, by repeated projection onto the linearised constraints.
//!
//! Only amounts of violated constraints are known, so a constraint is met when it is violated first: its slopes are taken by differences, and the row that
//! follows stays for the rest of the repair. Each step is the point nearest to the *target* (not to the last point) that satisfies all rows so far: on linear
//! constraints that is the exact projection, vertices included, and a gradient step followed by a repair is a step of projected gradients.

use leafgp_solver::constraints::Violation;
use leafgp_solver::constraints::qp::{Qp, Status};

use super::space::{Choice, Space};

const ITERATIONS: usize = 12;
/// Step of the differences, in coordinates.
const DIFFERENCE: f64 = 1e-7;
/// No coordinate moves further in one step.
const LONGEST: f64 = 0.5;
/// A violation that shrank to this share keeps the slopes it was treated with.
const CHORD: f64 = 0.1;
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
    /// The amount of the violation it was made for, and its slope along `slopes`.
    amount: f64,
    length: f64,
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
        if self.space.is_feasible(&x) {
            return Some(x);
        }
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

    fn run(&mut self, mut x: Vec<f64>, goal: &[f64], metric: Metric<'_>, free: &[bool]) -> Option<Vec<f64>> {
        for iteration in 0..ITERATIONS {
            let here = self.values(&x);
            let violations = self.space.constraints.amounts(&x);
            let old = self.linearise(&x, &here, &violations, free, iteration)?;
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
            if self.space.is_feasible(&x) {
                return Some(x);
            }
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
        violations: &[Violation],
        free: &[bool],
        iteration: usize,
    ) -> Option<usize> {
        if !violations.iter().any(|v| v.amount.is_finite()) {
            return None;
        }
        let finite = violations.iter().filter(|v| v.amount.is_finite());
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for violation in finite {
            let k = self.rows.iter().position(|row| row.constraint == violation.constraint);
            match k.map(|k| self.rows.remove(k)) {
                // The old slopes served well: differences are the dearer part. An equality may have been crossed.
                Some(row) if violation.amount <= CHORD * row.amount && !self.is_equality(row.constraint) => {
                    known.push((violation, row.slopes, row.length));
                }
                old => unknown.push((violation, old)),
            }
        }
        let measured: Vec<&Violation> = unknown.iter().map(|(violation, _)| *violation).collect();
        let slopes = self.slopes(x, here, &measured, free);
        for ((violation, old), mut slopes) in unknown.into_iter().zip(slopes) {
            let length = slopes.iter().map(|s| s * s).sum::<f64>().sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return None;
            }
            slopes.iter_mut().for_each(|s| *s /= length);
            if let Some(old) = old {
                let cosine: f64 = old.slopes.iter().zip(&slopes).map(|(a, b)| a * b).sum();
                if cosine < -0.5 {
                    self.sides[violation.constraint] = Sides::Both;
                }
            }
            known.push((violation, slopes, length));
        }
        let old = self.rows.len();
        for (violation, slopes, length) in known {
            let distance = violation.amount / length;
            let c = violation.constraint;
            let at: f64 = slopes.iter().zip(here).map(|(s, u)| s * u).sum();
            if self.sides[c] == Sides::Unknown {
                self.sides[c] = self.look_beyond(x, here, violation, &slopes, distance);
            }
            let inside = if self.is_equality(c) || distance > NEAR {
                0.0
            } else {
                4.0 * distance + 1e-16 * 10f64.powi(iteration as i32)
            };
            let right = at - distance - inside;
            self.rows.push(Row { constraint: c, right, amount: violation.amount, length, slopes });
        }
        Some(old)
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

    /// Slopes of the amounts, one vector over the reals a violation.
    fn slopes(&self, x: &[f64], here: &[f64], violations: &[&Violation], free: &[bool]) -> Vec<Vec<f64>> {
        let mut slopes = vec![vec![0.0; self.reals.len()]; violations.len()];
        if violations.is_empty() {
            return slopes;
        }
        let mut moved = x.to_vec();
        let axes = self.space.coordinates.axes();
        for (r, &j) in self.reals.iter().enumerate() {
            if !free[r] {
                continue;
            }
            let axis = &axes[j];
            let v = axis.variable;
            let mut pending: Vec<usize> = (0..violations.len()).collect();
            // An amount is cut off at 0 and bent at an equality: where it is small, only the side on which it grows (most) tells the slope.
            let mut most = vec![f64::NEG_INFINITY; violations.len()];
            for by in [DIFFERENCE, -DIFFERENCE] {
                let u = here[r] + by;
                if pending.is_empty() || !(0.0..=1.0).contains(&u) {
                    continue;
                }
                moved[v] = axis.value(u);
                let step = axis.coordinate(moved[v]) - here[r];
                let there = self.space.constraints.amounts(&moved);
                pending.retain(|&c| {
                    let found = there.iter().find(|w| w.constraint == violations[c].constraint);
                    let change = found.map_or(0.0, |w| w.amount) - violations[c].amount;
                    if change.is_finite() && step != 0.0 && change > most[c] {
                        most[c] = change;
                        slopes[c][r] = change / step;
                    }
                    change.is_nan() || change.abs() > 0.5 * violations[c].amount
                });
            }
            moved[v] = x[v];
        }
        slopes
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
