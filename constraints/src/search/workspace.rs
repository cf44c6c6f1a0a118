//! Reusable memory of a search.

use crate::domain::Domain;
use crate::expr::Evaluation;
use crate::interval::Interval;
use crate::limits::Limits;
use crate::local::{Local, Setting};
use crate::model::Model;
use crate::propagate::{Propagator, State};
use crate::qp::Qp;
use crate::relax::{Columns, Estimates, Slopes};

/// Reusable memory.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) propagator: Propagator,
    pub(super) natural: State,
    pub(super) estimates: Estimates,
    pub(super) slopes: Slopes,
    pub(super) local: Local,
    pub(super) qp: Qp,
    pub(super) columns: Columns,
    pub(super) pass: Pass,
    pub(super) frame: Frame,
    pub(super) evaluation: Evaluation,
}

impl Workspace {
    pub(crate) fn new(model: &Model, domains: &[Domain]) -> Self {
        let propagator = Propagator::for_model(model, domains);
        Self {
            natural: propagator.state.clone(),
            propagator,
            estimates: Estimates::default(),
            slopes: Slopes::default(),
            local: Local::new(model),
            qp: Qp::new(0),
            columns: Columns { variables: Vec::new(), of_variable: vec![None; domains.len()] },
            pass: Pass::default(),
            frame: Frame::default(),
            evaluation: Evaluation::default(),
        }
    }
}

/// Scratch of a pass, by column of the relaxation.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) centre: Vec<f64>,
    /// `2 weights`, the metric of the quadratic program.
    pub(super) metric: Vec<f64>,
    /// Where estimators are built.
    pub(super) z: Vec<f64>,
    pub(super) ranges: Vec<Interval>,
    /// The row that the multipliers add up to.
    pub(super) aggregate: Vec<f64>,
    /// Of each row of the quadratic program, `coefficients x <= right`: propagation sees it anyway.
    pub(super) affine: Vec<bool>,
    /// The row under construction.
    pub(super) row: Vec<f64>,
}

impl Pass {
    pub(super) fn start_at_centre(&mut self) {
        let Self { lower, upper, centre, z, .. } = self;
        z.clear();
        z.extend(centre.iter().zip(lower.iter().zip(upper.iter())).map(|(c, (&l, &u))| c.clamp(l, u)));
    }
}

/// The free numeric variables of a box, with what the local methods need. Reusable.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) columns: Columns,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// By variable: whether a root reads it.
    pub(super) read: Vec<bool>,
}

impl Frame {
    pub(super) fn setting<'a>(
        &'a self,
        model: &'a Model,
        roots: &'a [u32],
        limits: &'a Limits,
    ) -> Setting<'a> {
        let Self { columns, lower, upper, weights, .. } = self;
        Setting { model, roots, columns, lower, upper, weights, limits }
    }
}
