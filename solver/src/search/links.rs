//! Which blocks are tied together through which variables: the structure that messages, cell bounds and branching share.
//!
//! At a node, cells of a variable that no alive item tells apart form one *segment*. A *link* is a pair (variable, block) where the variable
//! tells items of the block apart; its items fall into *classes* with the same segments.

use std::ops::Range;

use super::blocks::Blocks;
use super::cell_set::{cells_in, holds};
use super::cells::FeatureCells;
use super::index::{
    BlockId, CellId, CellRank, ClassId, FeatureId, GroupId, Id, IdVec, LinkId, LinkedId, LocalSegment,
    MaskId, MemberId, Partition, Position, RunId, SegmentCellId, SegmentId, Span,
};
use super::model::Model;

/// A variable with at least two segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedFeature {
    pub(crate) feature: FeatureId,
    pub(crate) segments: Span<SegmentId>,
    pub(crate) links: Span<LinkId>,
    pub(crate) groups: Span<GroupId>,
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
}

/// A block that the variable tells apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) block: BlockId,
    /// The classes of the items that the variable restricts.
    pub(crate) classes: Span<ClassId>,
    has_free: bool,
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

/// What decides an item's class, in a form that is quick to compare: for a number the ranks of its cells, for a category its mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u32, u32);

impl Key {
    /// The variable does not restrict the item within the box.
    const FREE: Self = Self(u32::MAX, u32::MAX);

    /// A number: the item's cells among those of the box.
    fn of_ranks(ranks: Span<CellRank>) -> Self {
        Self(ranks.first.raw(), ranks.end.raw())
    }

    /// A category: the item's mask.
    fn of_mask(mask: MaskId) -> Self {
        Self(mask.raw(), u32::MAX)
    }

    /// The ranks of a number's key.
    fn ranks(self) -> Span<CellRank> {
        Span::new(CellRank::from_raw(self.0), CellRank::from_raw(self.1))
    }

    /// The mask of a category's key.
    fn mask(self) -> MaskId {
        MaskId::from_raw(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    feature: FeatureId,
    position: Position,
    /// Which of the item's restrictions it is.
    restriction: u16,
    key: Key,
}

/// The links of a node.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) features: IdVec<LinkedId, LinkedFeature>,
    pub(crate) links: IdVec<LinkId, Link>,
    pub(crate) classes: IdVec<ClassId, Class>,
    /// Runs of segments of the classes.
    pub(crate) runs: IdVec<RunId, Span<LocalSegment>>,
    /// For variables with at most 64 segments: the runs of each class as bits.
    pub(crate) class_bits: IdVec<ClassId, u64>,
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
    entries: Vec<Entry>,
    sorted: Vec<Entry>,
    entry_ends: IdVec<FeatureId, usize>,
    block_of: IdVec<Position, BlockId>,
    mask_key: IdVec<MaskId, Key>,
    mask_stamp: IdVec<MaskId, u32>,
    stamp: u32,
    /// Rank of the first cell of each word of the box.
    word_rank: Vec<CellRank>,
    /// All ranks of each variable.
    ranks: IdVec<FeatureId, Span<CellRank>>,
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
        self.segment_cells.clear();
        self.segments.clear();
        self.collect_entries(model, cells, blocks);
        let mut first = 0;
        for f in model.cells.features() {
            let end = self.entry_ends[f];
            if end > first {
                self.build_feature(model, cells, blocks, f, first..end);
            }
            first = end;
        }
    }

    /// Every restriction of an item that matters within the box, sorted by variable (in the order of items).
    fn collect_entries(&mut self, model: &Model<'_>, cells: &[u64], blocks: &Blocks) {
        self.mask_key.resize(model.items.n_masks(), Key::FREE);
        self.mask_stamp.resize(model.items.n_masks(), 0);
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.mask_stamp.as_mut_slice().fill(0);
            self.stamp = 1;
        }
        self.word_rank.clear();
        self.ranks.clear();
        for f in model.cells.features() {
            let mut rank = CellRank::default();
            for &word in &cells[model.cells.words(f)] {
                self.word_rank.push(rank);
                rank = rank.plus(word.count_ones());
            }
            self.ranks.push(Span::new(CellRank::default(), rank));
        }
        self.entries.clear();
        self.entry_ends.refill(model.n_features(), 0);
        self.block_of.clear();
        for block in blocks.ids() {
            for position in blocks.block(block) {
                self.block_of.push(block);
                for (number, r) in model.restrictions(blocks.items[position]).iter().enumerate() {
                    let feature = r.feature;
                    if self.ranks[feature].len() < 2 {
                        continue;
                    }
                    let key = self.key(model, cells, feature, r.mask);
                    if key != Key::FREE {
                        self.entries.push(Entry { feature, position, restriction: number as u16, key });
                        self.entry_ends[feature] += 1;
                    }
                }
            }
        }
        let mut start = 0;
        for count in self.entry_ends.iter_mut() {
            start += std::mem::replace(count, start);
        }
        let blank = Entry {
            feature: FeatureId::default(),
            position: Position::default(),
            restriction: 0,
            key: Key::FREE,
        };
        self.sorted.clear();
        self.sorted.resize(self.entries.len(), blank);
        for entry in &self.entries {
            let slot = &mut self.entry_ends[entry.feature];
            self.sorted[*slot] = *entry;
            *slot += 1;
        }
    }

    fn key(&mut self, model: &Model<'_>, cells: &[u64], f: FeatureId, mask: MaskId) -> Key {
        if self.mask_stamp[mask] == self.stamp {
            return self.mask_key[mask];
        }
        let words = model.cells.words(f);
        let cells = &cells[words.clone()];
        let mask_words = model.mask(mask);
        let key = match model.cells.feature(f) {
            FeatureCells::Numeric(_) => {
                let mut low = None;
                let mut high = CellRank::default();
                for (w, (c, m)) in cells.iter().zip(mask_words).enumerate() {
                    let both = c & m;
                    if both != 0 {
                        let rank = self.word_rank[words.start + w];
                        low = low.or_else(|| {
                            Some(rank.plus((c & ((1 << both.trailing_zeros()) - 1)).count_ones()))
                        });
                        high = rank.plus((c & (u64::MAX >> both.leading_zeros())).count_ones());
                    }
                }
                let ranks = Span::new(low.expect("a filtered item meets the box"), high);
                if ranks == self.ranks[f] { Key::FREE } else { Key::of_ranks(ranks) }
            }
            FeatureCells::Levels(_) => {
                if cells.iter().zip(mask_words).all(|(c, m)| c & !m == 0) {
                    Key::FREE
                } else {
                    Key::of_mask(mask)
                }
            }
        };
        self.mask_stamp[mask] = self.stamp;
        self.mask_key[mask] = key;
        key
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
            FeatureCells::Numeric(_) => self.number_segments(self.ranks[f], &entries),
            FeatureCells::Levels(_) => self.category_segments(model, cells, self.ranks[f].len(), &entries),
        };
        let first_segment = SegmentId::new(self.segments.len());
        self.list_segment_cells(cells, n_segments);
        let first_link = self.links.next_id();
        let first_group = self.groups.next_id();
        let mut at = entries.start;
        while at < entries.end {
            let block = self.block_of[self.sorted[at].position];
            let first = at;
            while at < entries.end && self.block_of[self.sorted[at].position] == block {
                at += 1;
            }
            self.build_link(model, cells, blocks, (f, block, n_segments), first..at);
        }
        self.features.push(LinkedFeature {
            feature: f,
            segments: Span::new(first_segment, SegmentId::new(self.segments.len())),
            links: Span::new(first_link, self.links.next_id()),
            groups: Span::new(first_group, self.groups.next_id()),
        });
    }

    /// Segments of a number lie between the ends of its classes.
    fn number_segments(&mut self, cells: Span<CellRank>, entries: &Range<usize>) -> Span<LocalSegment> {
        self.segment_starts.refill(cells.len() + 1, false);
        for entry in &self.sorted[entries.clone()] {
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
        for entry in &self.sorted[entries.clone()] {
            let mask = entry.key.mask();
            if previous == Some(mask) || segments.len() == n_cells {
                continue;
            }
            previous = Some(mask);
            let mask = model.mask(mask);
            self.refined.refill(segments.len(), [None, None]);
            let mut next = LocalSegment::default();
            for (level, segment) in cells_in(cells).zip(self.segment_of.iter_mut()) {
                let side = &mut self.refined[*segment][usize::from(holds(mask, level))];
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
        (f, block, segments): (FeatureId, BlockId, Span<LocalSegment>),
        entries: Range<usize>,
    ) {
        let items = blocks.block(block);
        self.class_keys.clear();
        self.class_of.clear();
        self.class_sizes.clear();
        for entry in &self.sorted[entries.clone()] {
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
        for (entry, &class) in self.sorted[entries.clone()].iter().zip(&self.class_of) {
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
            let mut restricted = self.sorted[entries].iter().map(|entry| entry.position).peekable();
            let mut slot = first_member;
            for position in items {
                if restricted.next_if_eq(&position).is_none() {
                    self.members[slot] = position;
                    slot = slot.next();
                }
            }
        }
        let link = Link { block, classes, has_free };
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
                    if holds(mask, level) {
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
