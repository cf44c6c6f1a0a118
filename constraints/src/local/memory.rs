//! Work memory of the local methods, and the subproblem as they see it.

use super::point::{Atom, Point};
use crate::limits::Limits;
use crate::model::Model;
use crate::qp::Qp;
use crate::relax::Columns;

/// Reusable memory of the local methods.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) point: Point,
    pub(crate) qp: Qp,
    pub(super) atoms: Vec<Atom>,
    pub(super) trial_atoms: Vec<Atom>,
    /// `[atoms, columns]`.
    pub(super) gradients: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) target: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) scratch: Scratch,
}

impl Local {
    pub(crate) fn new(model: &Model) -> Self {
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
            scratch: Scratch::default(),
        }
    }
}

/// A subproblem as the local methods see it.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) model: &'a Model,
    /// The roots to satisfy.
    pub(crate) roots: &'a [u32],
    /// The variables that may move.
    pub(crate) columns: &'a Columns,
    /// Their ranges.
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    /// `1 / range^2` by column.
    pub(crate) weights: &'a [f64],
    /// When to stop at the latest.
    pub(crate) limits: &'a Limits,
}

/// Iterations of a local method between two looks at the clock.
const BETWEEN_LOOKS: usize = 4;

impl Setting<'_> {
    /// True when it is time to look and the limits are reached.
    pub(super) fn must_stop(&self, iteration: usize) -> bool {
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

/// Reusable memory, by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// `[n, n]`.
    pub(super) hessian: Vec<f64>,
    pub(super) factor: Vec<f64>,
    pub(super) current: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) newton: Vec<f64>,
    pub(super) target: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) multipliers: Vec<f64>,
    /// Gradients of the atoms before the step, `[atoms, n]`.
    pub(super) before: Vec<f64>,
    pub(super) moved: Vec<f64>,
    pub(super) change: Vec<f64>,
}
