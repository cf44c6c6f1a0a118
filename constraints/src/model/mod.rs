//! The compiled model: one directed acyclic graph of shared operations, in a form made for propagation and relaxation.
//!
//! Sums are merged into n-ary linear nodes. A merged sum is another number than the sum computed in the order of the text, so each
//! linear node knows a bound on the difference ([`Linear::slack`]); intervals are widened by it and hold both. Negations are pushed down
//! to the comparisons, implications are disjunctions, conjunctions at the root are split.

mod compile;
mod equations;
mod graph;
mod lattice;
mod linear;
mod schedule;
mod size;

pub(crate) use compile::equality_slack;
pub(super) use graph::{Linear, Model, NodeId, Operation, Piece, Root, Slack, Step, Truth, TruthId};

use crate::domain::Domain;
use crate::expr::Program;

impl Model {
    /// Compiles conditions, each with the number of its constraint.
    pub(super) fn compile(program: &Program, domains: &[Domain], pieces: &[(Piece, usize)]) -> Self {
        compile::compile(program, domains, pieces)
    }
}
