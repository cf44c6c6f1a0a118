//! Which blocks are tied together through which variables: the structure that messages, cell bounds and branching share.
//!
//! At a node, cells of a variable that no alive item tells apart form one *segment*. A *link* is a pair (variable, block) where the variable
//! tells items of the block apart; its items fall into *classes* with the same segments.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::cell_set::cells_in;
use super::cells::FeatureCells;
use super::entries::{Entries, Entry, Key};
use super::index::{
    BlockId, CellId, CellRank, ClassId, FeatureId, GroupId, Id, IdVec, LinkId, LinkedId, LocalSegment,
    MemberId, Partition, PieceId, Position, RunId, SegmentCellId, SegmentId, Span, bits_below,
};
use super::model::Model;
use super::pieces::Pieces;
use super::refinement::Refinement;

/// Classes of a link that are compared one by one; earlier ones are looked up.
const NEAR_CLASSES: usize = 16;

/// A variable with at least two segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedFeature {
    pub(crate) feature: FeatureId,
    pub(crate) segments: Span<SegmentId>,
    pub(crate) links: Span<LinkId>,
    pub(crate) groups: Span<GroupId>,
    /// The pieces of its links; none where rows are kept by segment.
    pub(crate) pieces: Span<PieceId>,
    /// The members of all its classes.
    pub(crate) members: Span<MemberId>,
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
    /// The items of the block.
    pub(crate) items: Span<Position>,
    /// The classes of the items that the variable restricts.
    pub(crate) classes: Span<ClassId>,
    has_free: bool,
    /// Where its [`Links::free_words`] start.
    free_words: usize,
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
    /// Where rows are kept by piece, the items that the variable leaves free as bits of their place in the block; they are no members there.
    free_words: Vec<u64>,
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
    refinement: Refinement,
    segment_sizes: IdVec<LocalSegment, u32>,
    segment_next: IdVec<LocalSegment, SegmentCellId>,
    /// By class of the link at hand.
    class_keys: Vec<Key>,
    /// The classes before the last few, by key.
    far_classes: BTreeMap<Key, usize>,
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

    /// The items of a link by piece that the variable leaves free, as bits of their place in the block.
    #[inline(always)]
    pub(crate) fn free_words(&self, link: &Link) -> &[u64] {
        &self.free_words[link.free_words..][..link.items.len().div_ceil(64)]
    }

    /// The same items one by one.
    pub(crate) fn free_items(&self, link: &Link) -> impl Iterator<Item = Position> {
        let words = self.free_words(link);
        let is_free = |k: &usize| words[k / 64] >> (k % 64) & 1 == 1;
        let first = link.items.first.index();
        (0..link.items.len()).filter(is_free).map(move |k| Position::new(first + k))
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
        self.free_words.clear();
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
        for f in model.cells.features() {
            // Taken out while the links are made of them.
            let entries = std::mem::take(&mut self.entries.of[f]);
            if !entries.is_empty() {
                self.build_feature(model, cells, blocks, f, &entries);
            }
            self.entries.of[f] = entries;
        }
    }

    fn build_feature(
        &mut self,
        model: &Model<'_>,
        cells: &[u64],
        blocks: &Blocks,
        f: FeatureId,
        entries: &[Entry],
    ) {
        let cells = &cells[model.cells.words(f)];
        let n_segments = match model.cells.feature(f) {
            FeatureCells::Numeric(_) => self.number_segments(self.entries.ranks[f], entries),
            FeatureCells::Levels(_) => self.category_segments(model, cells, f, entries),
        };
        let first_segment = SegmentId::new(self.segments.len());
        self.list_segment_cells(cells, n_segments);
        let first_link = self.links.next_id();
        let first_group = self.groups.next_id();
        let first_piece = self.pieces.next_id();
        let first_member = self.members.next_id();
        let by_piece = model.by_piece && matches!(model.cells.feature(f), FeatureCells::Numeric(_));
        let mut rest = entries;
        while let Some(entry) = rest.first() {
            let block = self.entries.block_of[entry.position];
            let end = blocks.block(block).end;
            let n = rest.iter().position(|entry| entry.position >= end).unwrap_or(rest.len());
            let (of_block, others) = rest.split_at(n);
            self.build_link(model, cells, blocks, (f, block, n_segments, by_piece), of_block);
            rest = others;
        }
        self.features.push(LinkedFeature {
            feature: f,
            segments: Span::new(first_segment, SegmentId::new(self.segments.len())),
            links: Span::new(first_link, self.links.next_id()),
            groups: Span::new(first_group, self.groups.next_id()),
            pieces: Span::new(first_piece, self.pieces.next_id()),
            members: Span::new(first_member, self.members.next_id()),
        });
    }

    /// Segments of a number lie between the ends of its classes.
    fn number_segments(&mut self, cells: Span<CellRank>, entries: &[Entry]) -> Span<LocalSegment> {
        self.segment_starts.refill(cells.len() + 1, false);
        for entry in entries {
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
        f: FeatureId,
        entries: &[Entry],
    ) -> Span<LocalSegment> {
        let Self { refinement, segment_of, entries: all, .. } = self;
        refinement.start(segment_of, all.ranks[f].len());
        let mut previous = None;
        for entry in entries {
            let mask = entry.key.mask();
            if previous == Some(mask) || refinement.is_finest(segment_of) {
                continue;
            }
            previous = Some(mask);
            refinement.refine(segment_of, all.ranks_in(model, cells, f, model.mask(mask)));
        }
        refinement.number(segment_of)
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
        entries: &[Entry],
    ) {
        self.class_keys.clear();
        self.far_classes.clear();
        self.class_of.clear();
        self.class_sizes.clear();
        for entry in entries {
            // Neighbouring leaves often share a key.
            let near = self.class_keys.len().saturating_sub(NEAR_CLASSES);
            let class = self.class_keys[near..].iter().rposition(|&k| k == entry.key).map(|k| near + k);
            let known = || if near > 0 { self.far_classes.get(&entry.key).copied() } else { None };
            let class = class.or_else(known).unwrap_or_else(|| {
                if near > 0 || self.class_keys.len() == NEAR_CLASSES {
                    self.far_classes.insert(self.class_keys[near], near);
                }
                self.class_keys.push(entry.key);
                self.class_sizes.push(0);
                self.class_keys.len() - 1
            });
            self.class_of.push(class);
            self.class_sizes[class] += 1;
        }
        let first_class = self.classes.next_id();
        let mut first_member = self.members.next_id();
        let end = first_member.plus(entries.len() as u32);
        self.members.resize(end.index(), Position::default());
        self.member_restriction.resize(end.index(), 0);
        self.class_next.clear();
        for class in 0..self.class_keys.len() {
            let runs = self.push_runs(model, f, cells, self.class_keys[class]);
            let members = Span::new(first_member, first_member.plus(self.class_sizes[class]));
            let class = self.classes.push(Class { runs, members });
            self.member_class.resize(members.end.index(), class);
            self.class_next.push(first_member);
            first_member = members.end;
        }
        for (entry, &class) in entries.iter().zip(&self.class_of) {
            let slot = &mut self.class_next[class];
            self.members[*slot] = entry.position;
            self.member_restriction[*slot] = entry.restriction;
            *slot = slot.next();
        }
        let classes = Span::new(first_class, self.classes.next_id());
        let items = blocks.block(block);
        let has_free = entries.len() < items.len();
        let free_words = self.free_words.len();
        if has_free {
            let run = self.runs.push(segments);
            let runs = Span::new(run, run.next());
            let first = self.members.next_id();
            if by_piece {
                self.mark_free(items, entries);
            } else {
                self.list_free(items, entries);
            }
            let class = self.classes.push(Class { runs, members: Span::new(first, self.members.next_id()) });
            self.member_class.resize(self.members.len(), class);
        }
        let mut link = Link { block, items, classes, has_free, free_words, pieces: Span::default() };
        let classes = link.all_classes();
        self.class_bits.resize(classes.end.index(), 0);
        if by_piece {
            let runs = self.classes[classes].iter().map(|class| self.runs[class.runs.first]);
            link.pieces = self.pieces.push_link(runs, segments.len(), &mut self.class_bits[classes]);
        } else {
            for (class, bits) in self.classes[classes].iter().zip(&mut self.class_bits[classes]) {
                let runs = self.runs[class.runs].iter();
                *bits = runs.fold(0, |bits, run| bits | (bits_below(run.end) & !bits_below(run.first)));
            }
        }
        for class in classes {
            self.group_members(class);
        }
        self.links.push(link);
    }

    /// Lists the items of a block that a variable leaves free: what lies between the restricted ones.
    fn list_free(&mut self, items: Span<Position>, entries: &[Entry]) {
        let mut next = items.first;
        for entry in entries {
            self.members.extend(Span::new(next, entry.position));
            next = entry.position.next();
        }
        self.members.extend(Span::new(next, items.end));
        self.member_restriction.resize(self.members.len(), 0);
    }

    /// The same as bits.
    fn mark_free(&mut self, items: Span<Position>, entries: &[Entry]) {
        let first = self.free_words.len();
        self.free_words.resize(first + items.len().div_ceil(64), u64::MAX);
        let words = &mut self.free_words[first..];
        for entry in entries {
            let k = entry.position.index() - items.first.index();
            words[k / 64] &= !(1 << (k % 64));
        }
        let beyond = 64 * words.len() - items.len();
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> beyond;
        }
    }

    fn group_members(&mut self, class: ClassId) {
        let (fours, rest) = pulp::as_arrays::<4, _>(&self.members[self.classes[class].members]);
        self.groups.extend(fours.iter().copied());
        if let &[first, .., last] = rest {
            self.groups.push([first, rest[1], last, last]);
        } else if let &[one] = rest {
            self.groups.push([one; 4]);
        }
        self.group_class.resize(self.groups.len(), class);
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
                // Segments are numbered by first level and lie in the mask or outside, so they are met in the order of their numbers.
                let mut next = LocalSegment::default();
                let mut run: Option<Span<LocalSegment>> = None;
                for rank in self.entries.ranks_in(model, cells, f, mask) {
                    let segment = self.segment_of[rank];
                    if segment < next {
                        continue;
                    }
                    next = segment.next();
                    match &mut run {
                        Some(run) if run.end == segment => run.end = next,
                        _ => self.runs.extend(run.replace(Span::new(segment, next))),
                    }
                }
                self.runs.extend(run);
            }
        }
        Span::new(first_run, self.runs.next_id())
    }
}

#[cfg(test)]
mod tests {
    use leafgp_constraints::{Domain, LevelSet};

    use super::Links;
    use crate::forest::{Forest, Node as TreeNode, Rule, Tree};
    use crate::problem::Problem;
    use crate::search::filter::{Changed, Filter};
    use crate::search::model::Model;
    use crate::search::node::Node;
    use crate::testing::wavy_objective;

    /// A chain that splits off one pair of levels after the other; the pairs of tree `t` begin at level `t`.
    fn chain(t: usize, levels: usize) -> Tree {
        let n_splits = levels / 2 - 1;
        let mut nodes = Vec::new();
        for k in 0..n_splits {
            let pair = [(2 * k + t) % levels, (2 * k + t + 1) % levels];
            let rule = Rule::Levels(LevelSet::from_indices(levels, pair));
            nodes.push(TreeNode::Split { feature: 0, rule, left: 2 * k + 1, right: 2 * k + 2 });
            nodes.push(TreeNode::Leaf { leaf: k, value: 0.0 });
        }
        nodes.push(TreeNode::Leaf { leaf: n_splits, value: 0.0 });
        Tree { nodes }
    }

    /// Each level is looked at once a tree, however many masks there are.
    #[test]
    fn links_of_thousands_of_splits_on_one_category_cost_a_look_at_each_level() {
        let (n_trees, levels) = (4, 4_000);
        let domains = [Domain::Categorical { levels }];
        let forest = Forest::new((0..n_trees).map(|t| chain(t, levels)).collect(), &domains).unwrap();
        let objective = wavy_objective(forest.n_leaves());
        let problem = Problem::new(&domains, &forest, &objective);
        let model = Model::new(&problem).unwrap();
        let (mut node, mut links) = (Node::default(), Links::default());
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        assert!(Filter::default().run(&model, &mut node, Changed::Everything));
        links.build(&model, &node.cells, &node.blocks);
        // Even and odd trees pair the levels differently: two trees tell all levels apart.
        assert_eq!((links.features.len(), links.links.len(), links.n_segments()), (1, n_trees, levels));
        assert_eq!(links.classes.len(), n_trees * levels / 2);
        assert!(links.refinement.steps <= n_trees * levels, "{} steps", links.refinement.steps);
        // A pair is one run, but for the one at the end of the levels, whose first level is the first of all.
        assert_eq!(links.runs.len(), n_trees * levels / 2 + (1..n_trees).filter(|t| t % 2 == 1).count());
    }
}
