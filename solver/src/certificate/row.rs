//! A comparison that feasible points satisfy.

use leafgp_constraints::statement::{ConditionId, NumberId};

/// A comparison that every feasible point satisfies.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(super) condition: ConditionId,
    pub(super) a: NumberId,
    pub(super) b: NumberId,
    /// `None` for `a <= b` and `a < b`; else the relative slack of `a == b`.
    pub(super) equality: Option<f64>,
    /// Decided in whole numbers that f64 evaluation yields exactly: no slack.
    pub(super) exact: bool,
}
