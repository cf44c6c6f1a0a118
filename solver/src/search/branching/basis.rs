//! What branching goes by.

use crate::search::blocks::Blocks;
use crate::search::index::{IdVec, Position, SegmentId};

/// A node as it was when its links were built. Items dropped since have an infinite cost and no weight, segments dropped since an infinite bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) blocks: &'a Blocks,
    /// Weights of the items.
    pub(crate) z: &'a IdVec<Position, f64>,
    /// Costs of the items: see [`crate::search::dual::Dual::guide`].
    pub(crate) g: &'a IdVec<Position, f64>,
    /// Bound of each segment, which orders the levels of a category.
    pub(crate) segment_bound: &'a IdVec<SegmentId, f64>,
    pub(crate) curvature: f64,
    /// How much a child must gain to be pruned.
    pub(crate) need: f64,
}
