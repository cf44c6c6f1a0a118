//! Where the check of a proof stands.

use leafgp_constraints::Region;

use super::cells::CellBox;

/// A node's box, and the leaves (numbers within their tree's list) still possible.
#[derive(Clone)]
pub(super) struct State {
    pub(super) on: CellBox,
    pub(super) alive: Vec<Vec<usize>>,
    /// Feasible points of the box lie here, too.
    pub(super) region: Region,
}
