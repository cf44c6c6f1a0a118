//! Feasible points near a start: Gauss-Newton on the violated constraints, steps to vertices where it gets stuck, and sequential quadratic
//! programming towards the centre.

mod ascent;
mod gauss_newton;
mod point;
mod sqp;

pub(super) use ascent::ascend;
pub(super) use gauss_newton::gauss_newton;
pub(super) use point::{Atom, Point};
pub(super) use sqp::sqp;

use super::Limits;
use super::model::Model;
use super::relax::Columns;
use crate::qp::Qp;

/// Reusable memory of the local methods.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) point: Point,
    pub(super) qp: Qp,
    atoms: Vec<Atom>,
    trial_atoms: Vec<Atom>,
    /// `[atoms, columns]`.
    gradients: Vec<f64>,
    trial: Vec<f64>,
    target: Vec<f64>,
    step: Vec<f64>,
    scratch: sqp::Scratch,
}

impl Local {
    pub(super) fn new(model: &Model) -> Self {
        let mut point = Point::default();
        point.reset(model);
        Self {
            point,
            qp: Qp::new(0),
            atoms: Vec::new(),
            trial_atoms: Vec::new(),
            gradients: Vec::new(),
            trial: Vec::new(),
            target: Vec::new(),
            step: Vec::new(),
            scratch: sqp::Scratch::default(),
        }
    }
}

/// A subproblem as the local methods see it.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) model: &'a Model,
    /// The roots to satisfy.
    pub(super) roots: &'a [u32],
    /// The variables that may move.
    pub(super) columns: &'a Columns,
    /// Their ranges.
    pub(super) lower: &'a [f64],
    pub(super) upper: &'a [f64],
    /// `1 / range^2` by column.
    pub(super) weights: &'a [f64],
    /// When to stop at the latest.
    pub(super) limits: &'a Limits,
}

/// Iterations of a local method between two looks at the clock.
const BETWEEN_LOOKS: usize = 4;

impl Setting<'_> {
    /// True when it is time to look and the limits are reached.
    fn must_stop(&self, iteration: usize) -> bool {
        iteration % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 && self.limits.must_stop()
    }
}

impl std::fmt::Debug for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting")
            .field("roots", &self.roots)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}
