//! A matrix with one row for each item.

use super::index::{Id, ItemId};

/// Rows of `stride` numbers by item.
#[derive(Debug, Default)]
pub(crate) struct ItemRows<T> {
    pub(crate) values: Vec<T>,
    pub(crate) stride: usize,
}

impl<T> ItemRows<T> {
    /// The row of an item.
    #[inline(always)]
    pub(crate) fn row(&self, item: ItemId) -> &[T] {
        &self.values[item.index() * self.stride..][..self.stride]
    }

    /// The rows in the order of the items; none when they are empty.
    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, T> {
        self.values.chunks_exact(self.stride.max(1))
    }
}
