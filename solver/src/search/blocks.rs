//! The open blocks of a node and the items that are left in them.

use super::index::{BlockId, IdVec, ItemId, Partition, Position, Span, TreeId};
use super::model::Model;

/// Items by block.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) spans: Partition<BlockId, Position>,
    /// Ascending, hence by tree.
    pub(crate) items: IdVec<Position, ItemId>,
}

impl Clone for Blocks {
    fn clone(&self) -> Self {
        Self { spans: self.spans.clone(), items: self.items.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.spans.clone_from(&source.spans);
        self.items.clone_from(&source.items);
    }
}

impl Blocks {
    /// Number of blocks.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Number of items.
    #[inline(always)]
    pub(crate) fn n_items(&self) -> usize {
        self.items.len()
    }

    /// All blocks.
    #[inline(always)]
    pub(crate) fn ids(&self) -> Span<BlockId> {
        self.spans.ids()
    }

    /// Positions of the items of a block.
    #[inline(always)]
    pub(crate) fn block(&self, block: BlockId) -> Span<Position> {
        self.spans.part(block)
    }

    /// The tree of a block: blocks are numbered anew in every node.
    pub(crate) fn tree(&self, model: &Model<'_>, block: BlockId) -> TreeId {
        model.tree_of(self.items[self.block(block).first])
    }

    /// Drops all blocks.
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.items.clear();
    }

    /// Memory taken from the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.spans.bytes() + self.items.bytes()
    }
}
