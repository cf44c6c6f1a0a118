//! How much a proof may cost: a hostile file must not keep the verifier busy for ever.

use std::time::Instant;

/// Work that a proof may take, in elementary steps (a cell, a leaf or an operation looked at; about a nanosecond each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkBudget {
    /// For one node.
    pub node: u64,
    /// For all nodes together.
    pub total: u64,
    /// When to stop at the latest; `None` for no matter when. Looked at between steps, so that the answer comes a fraction of a second later.
    pub deadline: Option<Instant>,
}

impl Default for WorkBudget {
    /// 2e10 a node and 1e13 in all, without a deadline.
    fn default() -> Self {
        Self { node: 20_000_000_000, total: 10_000_000_000_000, deadline: None }
    }
}

/// Why a node's evidence was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// What does not hold.
    Flaw(&'static str),
    /// The budget of the node (`true`) or of the proof ran out.
    OutOfWork { node: bool },
    /// The deadline has passed.
    OutOfTime,
}

/// Counts work down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    budget: WorkBudget,
    node: u64,
    total: u64,
}

impl Work {
    pub(super) fn new(budget: WorkBudget) -> Self {
        Self { budget, node: budget.node, total: budget.total }
    }

    /// Starts the next node.
    pub(super) fn next_node(&mut self) {
        self.node = self.budget.node;
    }

    /// Steps taken so far.
    pub(super) fn used(&self) -> u64 {
        self.budget.total - self.total
    }

    /// Pays before the work is done.
    pub(super) fn charge(&mut self, steps: usize) -> Result<(), Objection> {
        if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Objection::OutOfTime);
        }
        let steps = steps as u64;
        self.node = self.node.checked_sub(steps).ok_or(Objection::OutOfWork { node: true })?;
        self.total = self.total.checked_sub(steps).ok_or(Objection::OutOfWork { node: false })?;
        Ok(())
    }
}
