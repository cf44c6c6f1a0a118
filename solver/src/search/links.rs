//! Which blocks are tied together through which variables: the structure that messages, cell bounds and branching share.
//!
//! At a node, cells of a variable that no alive item tells apart form one *segment*. A *link* is a pair (variable, block) where the variable
//! tells items of the block apart; its items fall into *classes* with the same segments.

use std::ops::Range;

use super::blocks::Blocks;
use super::cell_set::cells_in;
use super::cells::FeatureCells;
use super::entries::{Entries, Key};
use super::index::{
    BlockId, CellId, CellRank, ClassId, FeatureId, GroupId, Id, IdVec, LinkId, LinkedId, LocalSegment,
    MemberId, Partition, PieceId, Position, RunId, SegmentCellId, SegmentId, Span,
};
use super::model::Model;
use super::pieces::Pieces;

/// A variable with at least two segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedFeature {
    pub(crate) feature: FeatureId,
    pub(crate) segments: Span<SegmentId>,
    pub(crate) links: Span<LinkId>,
    pub(crate) groups: Span<GroupId>,
    /// The pieces of its links; none where rows are kept by segment.
    pub(crate) pieces: Span<PieceId>,
}

impl LinkedFeature {
    /// True when the variable ties blocks together: one alone has nobody to exchange messages with.
    pub(crate) fn ties(&self) -> bool {
        self.links.len() >= 2
    }

    /// Number of segments.
    #[inline(always)]
    pub(crate) fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// True when the rows of its links are kept by piece.
    #[inline(always)]
    pub(crate) fn by_piece(&self) -> bool {
        self.pieces.len() > 0
    }
}

/// A block that the variable tells apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) block: BlockId,
    /// The classes of the items that the variable restricts.
    pub(crate) classes: Span<ClassId>,
    has_free: bool,
    /// Its pieces, where rows are kept by piece.
    pub(crate) pieces: Span<PieceId>,
}

impl Link {
    /// The class of the items that the variable does not restrict, if there are any: on all segments, next after the others.
    #[inline(always)]
    pub(crate) fn free(&self) -> Option<ClassId> {
        self.has_free.then_some(self.classes.end)
    }

    /// All classes, the free one included.
    #[inline(always)]
    pub(crate) fn all_classes(&self) -> Span<ClassId> {
        Span::new(self.classes.first, self.classes.end.plus(u32::from(self.has_free)))
    }
}

/// Items of a block with the same segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) runs: Span<RunId>,
    pub(crate) members: Span<MemberId>,
}

/// The links of a node.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) features: IdVec<LinkedId, LinkedFeature>,
    pub(crate) links: IdVec<LinkId, Link>,
    pub(crate) classes: IdVec<ClassId, Class>,
    /// Runs of segments of the classes.
    pub(crate) runs: IdVec<RunId, Span<LocalSegment>>,
    /// The runs of each class as bits, for variables with at most 64 segments; its pieces, for links with at most 64.
    pub(crate) class_bits: IdVec<ClassId, u64>,
    pub(crate) pieces: Pieces,
    /// Items by class.
    pub(crate) members: IdVec<MemberId, Position>,
    /// For each member of a class that is not free: which of the item's restrictions put it there.
    pub(crate) member_restriction: IdVec<MemberId, u16>,
    /// The class of each member.
    pub(crate) member_class: IdVec<MemberId, ClassId>,
    /// The members again, four at a time (the last repeated), and the class of each four.
    pub(crate) groups: IdVec<GroupId, [Position; 4]>,
    pub(crate) group_class: IdVec<GroupId, ClassId>,
    /// Cells of all segments.
    segment_cells: IdVec<SegmentCellId, CellId>,
    segments: Partition<SegmentId, SegmentCellId>,
    // Buffers.
    entries: Entries,
    /// By rank: whether a segment starts there.
    segment_starts: IdVec<CellRank, bool>,
    segment_of: IdVec<CellRank, LocalSegment>,
    /// By segment and whether a mask holds it: the segment that it becomes.
    refined: IdVec<LocalSegment, [Option<LocalSegment>; 2]>,
    segment_sizes: IdVec<LocalSegment, u32>,
    segment_next: IdVec<LocalSegment, SegmentCellId>,
    /// By class of the link at hand.
    class_keys: Vec<Key>,
    class_sizes: Vec<u32>,
    class_next: Vec<MemberId>,
    class_of: Vec<usize>,
}

impl Links {
    /// Number of segments of all variables.
    pub(crate) fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// Cells of a segment.
    #[inline(always)]
    pub(crate) fn cells(&self, segment: SegmentId) -> &[CellId] {
        &self.segment_cells[self.segments.part(segment)]
    }

    /// All classes of a variable's links, the free ones included.
    #[inline(always)]
    pub(crate) fn classes_of(&self, linked: &LinkedFeature) -> Span<ClassId> {
        Span::new(
            self.links[linked.links.first].classes.first,
            self.links[linked.links.last()].all_classes().end,
        )
    }

    /// All members of a variable's classes.
    #[inline(always)]
    pub(crate) fn members_of(&self, linked: &LinkedFeature) -> Span<MemberId> {
        let classes = self.classes_of(linked);
        Span::new(self.classes[classes.first].members.first, self.classes[classes.last()].members.end)
    }

    /// Runs of a class.
    #[inline(always)]
    pub(crate) fn runs_of(&self, class: ClassId) -> &[Span<LocalSegment>] {
        &self.runs[self.classes[class].runs]
    }

    /// Rebuilds the links of a filtered node.
    pub(crate) fn build(&mut self, model: &Model<'_>, cells: &[u64], blocks: &Blocks) {
        self.features.clear();
        self.links.clear();
        self.classes.clear();
        self.runs.clear();
        self.members.clear();
        self.member_restriction.clear();
        self.member_class.clear();
        self.groups.clear();
        self.group_class.clear();
        self.class_bits.clear();
        self.pieces.clear();
        self.segment_cells.clear();
        self.segments.clear();
        self.entries.collect(model, cells, blocks);
        let mut first = 0;
        for f in model.cells.features() {
            let end = self.entries.ends[f];
            if end > first {
                self.build_feature(model, cells, blocks, f, first..end);
            }
            first = end;
        }
    }

    fn build_feature(
        &mut self,
        model: &Model<'_>,
        cells: &[u64],
        blocks: &Blocks,
        f: FeatureId,
        entries: Range<usize>,
    ) {
        let cells = &cells[model.cells.words(f)];
        let n_segments = match model.cells.feature(f) {
            FeatureCells::Numeric(_) => self.number_segments(self.entries.ranks[f], &entries),
            FeatureCells::Levels(_) => {
                self.category_segments(model, cells, self.entries.ranks[f].len(), &entries)
            }
        };
        let first_segment = SegmentId::new(self.segments.len());
        self.list_segment_cells(cells, n_segments);
        let first_link = self.links.next_id();
        let first_group = self.groups.next_id();
        let first_piece = self.pieces.next_id();
        let by_piece = model.by_piece && matches!(model.cells.feature(f), FeatureCells::Numeric(_));
        let mut at = entries.start;
        while at < entries.end {
            let block = self.entries.block_of[self.entries.sorted[at].position];
            let first = at;
            while at < entries.end && self.entries.block_of[self.entries.sorted[at].position] == block {
                at += 1;
            }
            self.build_link(model, cells, blocks, (f, block, n_segments, by_piece), first..at);
        }
        self.features.push(LinkedFeature {
            feature: f,
            segments: Span::new(first_segment, SegmentId::new(self.segments.len())),
            links: Span::new(first_link, self.links.next_id()),
            groups: Span::new(first_group, self.groups.next_id()),
            pieces: Span::new(first_piece, self.pieces.next_id()),
        });
    }

    /// Segments of a number lie between the ends of its classes.
    fn number_segments(&mut self, cells: Span<CellRank>, entries: &Range<usize>) -> Span<LocalSegment> {
        self.segment_starts.refill(cells.len() + 1, false);
        for entry in &self.entries.sorted[entries.clone()] {
            let ranks = entry.key.ranks();
            self.segment_starts[ranks.first] = true;
            self.segment_starts[ranks.end] = true;
        }
        self.segment_starts[cells.first] = false;
        self.segment_of.clear();
        let mut segment = LocalSegment::default();
        for &starts in &self.segment_starts[cells] {
            segment = segment.plus(u32::from(starts));
            self.segment_of.push(segment);
        }
        Span::new(LocalSegment::default(), segment.next())
    }

    /// Segments of a category are its levels told apart by no mask: exact refinement, numbered by first level.
    fn category_segments(
        &mut self,
        model: &Model<'_>,
        cells: &[u64],
        n_cells: usize,
        entries: &Range<usize>,
    ) -> Span<LocalSegment> {
        self.segment_of.refill(n_cells, LocalSegment::default());
        let mut segments: Span<LocalSegment> = Span::up_to(1);
        let mut previous = None;
        for entry in &self.entries.sorted[entries.clone()] {
            let mask = entry.key.mask();
            if previous == Some(mask) || segments.len() == n_cells {
                continue;
            }
            previous = Some(mask);
            let mask = model.mask(mask);
            self.refined.refill(segments.len(), [None, None]);
            let mut next = LocalSegment::default();
            for (level, segment) in cells_in(cells).zip(self.segment_of.iter_mut()) {
                let side = &mut self.refined[*segment][usize::from(mask.holds(level))];
                *segment = *side.get_or_insert_with(|| {
                    let new = next;
                    next = next.next();
                    new
                });
            }
            segments.end = next;
        }
        segments
    }

    fn list_segment_cells(&mut self, cells: &[u64], segments: Span<LocalSegment>) {
        self.segment_sizes.refill(segments.len(), 0);
        for &segment in &self.segment_of {
            self.segment_sizes[segment] += 1;
        }
        self.segment_next.clear();
        for &size in &self.segment_sizes {
            let first = self.segments.end();
            self.segment_next.push(first);
            self.segments.push_end(first.plus(size));
        }
        self.segment_cells.resize(self.segments.end().index(), CellId::default());
        for (cell, &segment) in cells_in(cells).zip(&self.segment_of) {
            let slot = &mut self.segment_next[segment];
            self.segment_cells[*slot] = cell;
            *slot = slot.next();
        }
    }

    fn build_link(
        &mut self,
        model: &Model<'_>,
        cells: &[u64],
        blocks: &Blocks,
        (f, block, segments, by_piece): (FeatureId, BlockId, Span<LocalSegment>, bool),
        entries: Range<usize>,
    ) {
        let items = blocks.block(block);
        self.class_keys.clear();
        self.class_of.clear();
        self.class_sizes.clear();
        for entry in &self.entries.sorted[entries.clone()] {
            // Neighbouring leaves often share a key.
            let class = self.class_keys.iter().rposition(|&k| k == entry.key).unwrap_or_else(|| {
                self.class_keys.push(entry.key);
                self.class_sizes.push(0);
                self.class_keys.len() - 1
            });
            self.class_of.push(class);
            self.class_sizes[class] += 1;
        }
        let first_class = self.classes.next_id();
        let mut first_member = self.members.next_id();
        self.members.resize(first_member.index() + items.len(), Position::default());
        self.member_restriction.resize(self.members.len(), 0);
        self.class_next.clear();
        for class in 0..self.class_keys.len() {
            let runs = self.push_runs(model, f, cells, self.class_keys[class]);
            let members = Span::new(first_member, first_member.plus(self.class_sizes[class]));
            self.push_class(Class { runs, members });
            self.class_next.push(first_member);
            first_member = members.end;
        }
        for (entry, &class) in self.entries.sorted[entries.clone()].iter().zip(&self.class_of) {
            let slot = &mut self.class_next[class];
            self.members[*slot] = entry.position;
            self.member_restriction[*slot] = entry.restriction;
            *slot = slot.next();
        }
        let classes = Span::new(first_class, self.classes.next_id());
        let has_free = entries.len() < items.len();
        if has_free {
            let run = self.runs.push(segments);
            let runs = Span::new(run, run.next());
            self.push_class(Class { runs, members: Span::new(first_member, self.members.next_id()) });
            let mut restricted = self.entries.sorted[entries].iter().map(|entry| entry.position).peekable();
            let mut slot = first_member;
            for position in items {
                if restricted.next_if_eq(&position).is_none() {
                    self.members[slot] = position;
                    slot = slot.next();
                }
            }
        }
        let mut link = Link { block, classes, has_free, pieces: Span::default() };
        if by_piece {
            let classes = link.all_classes();
            let runs = self.classes[classes].iter().map(|class| self.runs[class.runs.first]);
            link.pieces = self.pieces.push_link(runs, segments.len(), &mut self.class_bits[classes]);
        }
        for k in link.all_classes() {
            for four in self.members[self.classes[k].members].chunks(4) {
                let last = four[four.len() - 1];
                self.groups.push(std::array::from_fn(|j| four.get(j).copied().unwrap_or(last)));
                self.group_class.push(k);
            }
        }
        self.links.push(link);
    }

    fn push_class(&mut self, class: Class) {
        let below = |segment: LocalSegment| {
            let k = segment.raw();
            if k >= 64 { u64::MAX } else { (1 << k) - 1 }
        };
        let runs = self.runs[class.runs].iter();
        self.class_bits.push(runs.fold(0, |bits, run| bits | (below(run.end) & !below(run.first))));
        let number = self.classes.push(class);
        self.member_class.resize(class.members.end.index(), number);
    }

    fn push_runs(&mut self, model: &Model<'_>, f: FeatureId, cells: &[u64], key: Key) -> Span<RunId> {
        let first_run = self.runs.next_id();
        match model.cells.feature(f) {
            FeatureCells::Numeric(_) => {
                let ranks = key.ranks();
                let (low, high) = (self.segment_of[ranks.first], self.segment_of[ranks.last()]);
                self.runs.push(Span::new(low, high.next()));
            }
            FeatureCells::Levels(_) => {
                let mask = model.mask(key.mask());
                // Segments are numbered by first level, so a segment is met first at its own number.
                let mut next = LocalSegment::default();
                let mut run: Option<Span<LocalSegment>> = None;
                for (level, &segment) in cells_in(cells).zip(&self.segment_of) {
                    if segment < next {
                        continue;
                    }
                    next = segment.next();
                    if mask.holds(level) {
                        match &mut run {
                            Some(run) if run.end == segment => run.end = next,
                            _ => self.runs.extend(run.replace(Span::new(segment, next))),
                        }
                    }
                }
                self.runs.extend(run);
            }
        }
        Span::new(first_run, self.runs.next_id())
    }
}
