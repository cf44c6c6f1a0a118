//! What a set of constraints states, as plain data: for programs that check proofs about it.

use std::collections::BTreeMap;

use crate::Domain;

pub use crate::expr::{Comparison, Condition, ConditionId, GridRow, Number, NumberId};

/// What a set of constraints states, as plain data: every feasible point lies in the domains and makes each root hold at [`Tolerance::Produce`]. A variable
/// that exists only under a condition is a root like any other.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The variables' domains.
    pub domains: &'a [Domain],
    /// Operations; operands come before their users.
    pub numbers: &'a [Number],
    /// Conditions; operands come before their users.
    pub conditions: &'a [Condition],
    /// Comparisons that are decided in whole steps.
    pub grid_rows: &'a BTreeMap<ConditionId, GridRow>,
    /// One condition for each constraint.
    pub roots: &'a [ConditionId],
}
