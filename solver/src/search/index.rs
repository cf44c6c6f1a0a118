//! Typed indices: every index space of the search is a type, so that an item's number cannot pass for a block's.
//!
//! Numbers are stored in 32 bits. [`Id`] is the one place where they become positions in memory and back; collections are indexed by their own
//! space ([`IdVec`]), stretches of a space are [`Span`]s, and consecutive stretches a [`Partition`].

use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// A number in one index space.
pub(crate) trait Id: Copy + Ord {
    /// The id with the given number.
    fn from_raw(raw: u32) -> Self;

    /// Its number.
    fn raw(self) -> u32;

    /// The id of a position in memory.
    #[inline(always)]
    fn new(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok(), "index spaces hold fewer than 2^32 numbers");
        Self::from_raw(index as u32)
    }

    /// Its position in memory.
    #[inline(always)]
    fn index(self) -> usize {
        self.raw() as usize
    }

    /// The id after this.
    #[inline(always)]
    fn next(self) -> Self {
        self.plus(1)
    }

    /// The id before this, which is not the first.
    #[inline(always)]
    fn previous(self) -> Self {
        Self::from_raw(self.raw() - 1)
    }

    /// The id `n` further on.
    #[inline(always)]
    fn plus(self, n: u32) -> Self {
        Self::from_raw(self.raw() + n)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(u32);

        impl Id for $name {
            #[inline(always)]
            fn from_raw(raw: u32) -> Self {
                Self(raw)
            }

            #[inline(always)]
            fn raw(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// A variable of the problem.
    FeatureId;
    /// A cell of one variable, ascending by value; a level of a category.
    CellId;
    /// A level's place in an order that splits change.
    LevelPlace;
    /// A cell's rank among the cells of its variable that a box keeps.
    CellRank;
    /// A set of cells of one variable, in the model's list.
    MaskId;
    /// A tree of the forest; after the trees, an excluded region.
    TreeId;
    /// A node of one tree in cell space.
    TreeNodeId;
    /// A word in the list of all masks.
    MaskWordId;
    /// A leaf in the forest's numbering.
    LeafId;
    /// An item of the model: a reachable leaf, or a piece around an excluded region.
    ItemId;
    /// An item's restriction to some cells, in the model's list.
    RestrictionId;
    /// A limit on leaves.
    LimitId;
    /// An open block of a node: a tree, or an excluded region, with at least two items left.
    BlockId;
    /// An item's place in the list of a node.
    Position;
    /// A variable with links, in the list of the links.
    LinkedId;
    /// A pair of a variable and a block that it tells apart.
    LinkId;
    /// A segment, counted over all variables with links.
    SegmentId;
    /// A segment, counted within its variable.
    LocalSegment;
    /// A place in the list of the segments' cells.
    SegmentCellId;
    /// Items of one link with the same segments.
    ClassId;
    /// A run of segments of a class.
    RunId;
    /// A piece of a link: segments that the link does not tell apart, counted over all links.
    PieceId;
    /// A piece, counted within its link.
    LocalPiece;
    /// A place in the list of the classes' members.
    MemberId;
    /// Four members of a class.
    GroupId;
    /// A segment's rank in the order in which branching lists its variable's segments.
    Rank;
    /// A place in branching's list of restricted items with weight.
    SupportId;
}

/// Consecutive ids `first..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span<I> {
    pub(crate) first: I,
    pub(crate) end: I,
}

impl<I: Id> Span<I> {
    #[inline(always)]
    pub(crate) fn new(first: I, end: I) -> Self {
        Self { first, end }
    }

    /// The first `n` ids.
    #[inline(always)]
    pub(crate) fn up_to(n: usize) -> Self {
        Self { first: I::from_raw(0), end: I::new(n) }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.range().len()
    }

    /// The last id of a span that has one.
    #[inline(always)]
    pub(crate) fn last(self) -> I {
        self.end.previous()
    }

    /// The positions in memory.
    #[inline(always)]
    pub(crate) fn range(self) -> Range<usize> {
        self.first.index()..self.end.index()
    }
}

impl<I: Id> IntoIterator for Span<I> {
    type Item = I;
    type IntoIter = SpanIter<I>;

    #[inline(always)]
    fn into_iter(self) -> SpanIter<I> {
        SpanIter { rest: self.first.raw()..self.end.raw(), space: PhantomData }
    }
}

/// The ids of a span, ascending.
#[derive(Clone, Debug)]
pub(crate) struct SpanIter<I> {
    rest: Range<u32>,
    space: PhantomData<I>,
}

impl<I: Id> Iterator for SpanIter<I> {
    type Item = I;

    #[inline(always)]
    fn next(&mut self) -> Option<I> {
        self.rest.next().map(I::from_raw)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl<I: Id> DoubleEndedIterator for SpanIter<I> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<I> {
        self.rest.next_back().map(I::from_raw)
    }
}

impl<I: Id> ExactSizeIterator for SpanIter<I> {}

/// A vector with one entry for each id of a space, indexed by ids and spans.
pub(crate) struct IdVec<I, T> {
    entries: Vec<T>,
    space: PhantomData<I>,
}

impl<I: Id, T> IdVec<I, T> {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All ids.
    #[inline(always)]
    pub(crate) fn ids(&self) -> Span<I> {
        Span::up_to(self.entries.len())
    }

    /// The id that the next entry gets.
    #[inline(always)]
    pub(crate) fn next_id(&self) -> I {
        I::new(self.entries.len())
    }

    /// Adds an entry and returns its id.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: T) -> I {
        let id = self.next_id();
        self.entries.push(entry);
        id
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Drops the entries from the id on.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, end: I) {
        self.entries.truncate(end.index());
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.entries
    }

    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.entries
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    #[inline(always)]
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// Memory taken from the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<T>()
    }
}

impl<I: Id, T: Clone> IdVec<I, T> {
    #[inline(always)]
    pub(crate) fn resize(&mut self, n: usize, entry: T) {
        self.entries.resize(n, entry);
    }

    /// `n` copies of an entry in place of what was there.
    #[inline(always)]
    pub(crate) fn refill(&mut self, n: usize, entry: T) {
        self.entries.clear();
        self.entries.resize(n, entry);
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), space: PhantomData }
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), space: PhantomData }
    }

    fn clone_from(&mut self, source: &Self) {
        self.entries.clone_from(&source.entries);
    }
}

impl<I, T: PartialEq> PartialEq for IdVec<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<I, T: std::fmt::Debug> std::fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.entries.fmt(f)
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, space: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Self {
        Self { entries: entries.into_iter().collect(), space: PhantomData }
    }
}

impl<I, T> Extend<T> for IdVec<I, T> {
    #[inline(always)]
    fn extend<E: IntoIterator<Item = T>>(&mut self, entries: E) {
        self.entries.extend(entries);
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

impl<I: Id, T> Index<Span<I>> for IdVec<I, T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, span: Span<I>) -> &[T] {
        &self.entries[span.range()]
    }
}

impl<I: Id, T> IndexMut<Span<I>> for IdVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, span: Span<I>) -> &mut [T] {
        &mut self.entries[span.range()]
    }
}

/// The bits of the ids before the given one, among the first 64.
#[inline(always)]
pub(crate) fn bits_below<I: Id>(id: I) -> u64 {
    if id.raw() >= 64 { u64::MAX } else { (1 << id.raw()) - 1 }
}

/// Consecutive spans of one space, one for each id of another, from the space's start.
#[derive(Debug)]
pub(crate) struct Partition<I, J> {
    /// Part `i` is `starts[i]..starts[i + 1]`.
    starts: Vec<J>,
    space: PhantomData<I>,
}

impl<I: Id, J: Id> Partition<I, J> {
    /// Number of parts.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The parts' ids.
    #[inline(always)]
    pub(crate) fn ids(&self) -> Span<I> {
        Span::up_to(self.len())
    }

    /// Drops all parts.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.starts.truncate(1);
    }

    /// Where the next part starts.
    #[inline(always)]
    pub(crate) fn end(&self) -> J {
        self.starts[self.starts.len() - 1]
    }

    /// Adds the part from the last one's end to `end`.
    #[inline(always)]
    pub(crate) fn push_end(&mut self, end: J) {
        self.starts.push(end);
    }

    /// Moves the end of a part, which is where the next one starts.
    #[inline(always)]
    pub(crate) fn set_end(&mut self, part: I, end: J) {
        self.starts[part.index() + 1] = end;
    }

    /// Drops the parts from the id on.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, end: I) {
        self.starts.truncate(end.index() + 1);
    }

    /// A part.
    #[inline(always)]
    pub(crate) fn part(&self, part: I) -> Span<J> {
        Span::new(self.starts[part.index()], self.starts[part.index() + 1])
    }

    /// All parts in order.
    #[inline(always)]
    pub(crate) fn parts(&self) -> impl Iterator<Item = Span<J>> + '_ {
        self.starts.windows(2).map(|w| Span::new(w[0], w[1]))
    }

    /// Memory taken from the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<J>()
    }
}

impl<I, J: Id> Default for Partition<I, J> {
    fn default() -> Self {
        Self { starts: vec![J::from_raw(0)], space: PhantomData }
    }
}

impl<I, J: Clone> Clone for Partition<I, J> {
    fn clone(&self) -> Self {
        Self { starts: self.starts.clone(), space: PhantomData }
    }

    fn clone_from(&mut self, source: &Self) {
        self.starts.clone_from(&source.starts);
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockId, Id, IdVec, Partition, Position, Span};

    #[test]
    fn parts_of_a_partition_follow_each_other() {
        let mut blocks: Partition<BlockId, Position> = Partition::default();
        for end in [3, 3, 7] {
            blocks.push_end(Position::new(end));
        }
        assert_eq!((blocks.len(), blocks.end()), (3, Position::new(7)));
        let parts: Vec<_> = blocks.ids().into_iter().map(|b| blocks.part(b).range()).collect();
        assert_eq!(parts, [0..3, 3..3, 3..7]);
        blocks.set_end(BlockId::new(0), Position::new(1));
        blocks.truncate(BlockId::new(1));
        assert_eq!(blocks.parts().map(Span::len).collect::<Vec<_>>(), [1]);
        blocks.clear();
        assert_eq!(blocks.len(), 0);
    }

    #[test]
    fn spans_cut_vectors_and_run_both_ways() {
        let squares: IdVec<Position, usize> = (0..6).map(|k| k * k).collect();
        let span = Span::new(Position::new(2), Position::new(5));
        assert_eq!(&squares[span], [4, 9, 16]);
        assert_eq!(span.into_iter().rev().map(|p| squares[p]).collect::<Vec<_>>(), [16, 9, 4]);
        assert_eq!((span.len(), squares.next_id().index()), (3, 6));
    }
}
