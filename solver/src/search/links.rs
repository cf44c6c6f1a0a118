//! Which blocks are tied together through which variables: the structure that messages, cell bounds and branching share.
//!
//! At a node, cells of a variable that no alive item tells apart form one *segment*. A *link* is a pair (variable, block) where the variable
//! tells items of the block apart; its items fall into *classes* with the same segments.

use super::cells::{FeatureCells, bits, count};
use super::model::{Model, NONE};
use super::node::Node;

/// A variable with at least two segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureLinks {
    pub(crate) feature: u32,
    /// Its segments: `first_segment..first_segment + n_segments`.
    pub(crate) first_segment: u32,
    pub(crate) n_segments: u32,
    /// Its links.
    pub(crate) first_link: u32,
    pub(crate) end_link: u32,
    first_group: u32,
    end_group: u32,
}

impl FeatureLinks {
    /// True when the variable ties blocks together: one alone has nobody to exchange messages with.
    pub(crate) fn ties(&self) -> bool {
        self.end_link - self.first_link >= 2
    }
}

/// A block that the variable tells apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) block: u32,
    pub(crate) first_class: u32,
    pub(crate) end_class: u32,
    /// True when some items of the block are not restricted by the variable: they are class `end_class`, on all segments.
    pub(crate) has_free: bool,
}

/// Items of a block with the same segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) first_run: u32,
    pub(crate) end_run: u32,
    pub(crate) first_member: u32,
    pub(crate) end_member: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    feature: u32,
    position: u32,
    /// Which of the item's restrictions it is.
    restriction: u16,
    key: (u32, u32),
}

/// The links of a node.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) features: Vec<FeatureLinks>,
    pub(crate) links: Vec<Link>,
    pub(crate) classes: Vec<Class>,
    /// Runs `[first, end)` of segments, relative to the variable's first segment.
    pub(crate) runs: Vec<(u32, u32)>,
    /// For variables with at most 64 segments: the runs of each class as bits.
    pub(crate) class_bits: Vec<u64>,
    /// Positions in `node.items`, by class.
    pub(crate) members: Vec<u32>,
    /// For each member of a class that is not free: which of the item's restrictions put it there.
    pub(crate) member_restriction: Vec<u16>,
    /// The members again, four at a time (the last repeated), and the class of each four.
    pub(crate) groups: Vec<[u32; 4]>,
    pub(crate) group_class: Vec<u32>,
    /// The class of each member.
    pub(crate) member_class: Vec<u32>,
    /// Cells of all segments; segment `s` holds `segment_cells[segment_starts[s]..segment_starts[s + 1]]`.
    pub(crate) segment_cells: Vec<u32>,
    pub(crate) segment_starts: Vec<u32>,
    // Buffers.
    entries: Vec<Entry>,
    sorted: Vec<Entry>,
    feature_counts: Vec<u32>,
    block_of: Vec<u32>,
    mask_key: Vec<(u32, u32)>,
    mask_stamp: Vec<u32>,
    stamp: u32,
    word_rank: Vec<u32>,
    cell_counts: Vec<u32>,
    segment_of: Vec<u32>,
    refine: Vec<(u32, u32)>,
    class_keys: Vec<(u32, u32)>,
    class_of: Vec<u32>,
    class_fill: Vec<u32>,
}

/// The key of an item that the variable does not restrict within the box.
const FREE: (u32, u32) = (NONE, NONE);

impl Links {
    /// Segments of a variable as `segment_starts` indices.
    pub(crate) fn segments(&self, feature: &FeatureLinks) -> std::ops::Range<usize> {
        feature.first_segment as usize..(feature.first_segment + feature.n_segments) as usize
    }

    /// Cells of a segment.
    pub(crate) fn cells(&self, segment: usize) -> &[u32] {
        &self.segment_cells[self.segment_starts[segment] as usize..self.segment_starts[segment + 1] as usize]
    }

    /// Links of a variable.
    pub(crate) fn links_of(&self, feature: &FeatureLinks) -> &[Link] {
        &self.links[feature.first_link as usize..feature.end_link as usize]
    }

    /// All classes of a variable's links, the free ones included.
    pub(crate) fn feature_classes(&self, feature: &FeatureLinks) -> std::ops::Range<usize> {
        let last = &self.links[feature.end_link as usize - 1];
        self.links[feature.first_link as usize].first_class as usize
            ..last.end_class as usize + usize::from(last.has_free)
    }

    /// All members of a variable's classes.
    pub(crate) fn feature_members(&self, feature: &FeatureLinks) -> std::ops::Range<usize> {
        let classes = self.feature_classes(feature);
        self.classes[classes.start].first_member as usize..self.classes[classes.end - 1].end_member as usize
    }

    /// Runs of a class.
    pub(crate) fn runs_of(&self, class: &Class) -> &[(u32, u32)] {
        &self.runs[class.first_run as usize..class.end_run as usize]
    }

    /// Positions of the items of a class.
    pub(crate) fn members_of(&self, class: &Class) -> &[u32] {
        &self.members[class.first_member as usize..class.end_member as usize]
    }

    /// Groups of four of a variable's members.
    pub(crate) fn feature_groups(&self, feature: &FeatureLinks) -> std::ops::Range<usize> {
        feature.first_group as usize..feature.end_group as usize
    }

    /// Rebuilds the links of a filtered node.
    pub(crate) fn build(&mut self, model: &Model<'_>, node: &Node) {
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
        self.segment_starts.clear();
        self.segment_starts.push(0);
        self.collect_entries(model, node);
        let mut first = 0;
        for f in 0..model.n_features() {
            let end = self.feature_counts[f] as usize;
            if end > first {
                self.build_feature(model, node, f, first..end);
            }
            first = end;
        }
    }

    /// Every restriction of an item that matters within the box, sorted by variable (in the order of items).
    fn collect_entries(&mut self, model: &Model<'_>, node: &Node) {
        let n_features = model.n_features();
        self.mask_key.resize(model.n_masks(), FREE);
        self.mask_stamp.resize(model.n_masks(), 0);
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.mask_stamp.fill(0);
            self.stamp = 1;
        }
        self.word_rank.clear();
        self.cell_counts.clear();
        for f in 0..n_features {
            let mut rank = 0;
            for &word in &node.cells[model.cells.words(f)] {
                self.word_rank.push(rank);
                rank += word.count_ones();
            }
            self.cell_counts.push(rank);
        }
        self.entries.clear();
        self.feature_counts.clear();
        self.feature_counts.resize(n_features + 1, 0);
        self.block_of.clear();
        for b in 0..node.n_blocks() {
            for position in node.block(b) {
                self.block_of.push(b as u32);
                for (number, r) in model.restrictions(node.items[position]).iter().enumerate() {
                    let f = r.feature as usize;
                    if self.cell_counts[f] < 2 {
                        continue;
                    }
                    let key = self.key(model, node, f, r.mask);
                    if key != FREE {
                        let (position, restriction) = (position as u32, number as u16);
                        self.entries.push(Entry { feature: r.feature, position, restriction, key });
                        self.feature_counts[f + 1] += 1;
                    }
                }
            }
        }
        for f in 0..n_features {
            self.feature_counts[f + 1] += self.feature_counts[f];
        }
        let blank = Entry { feature: 0, position: 0, restriction: 0, key: FREE };
        self.sorted.clear();
        self.sorted.resize(self.entries.len(), blank);
        for entry in &self.entries {
            let slot = &mut self.feature_counts[entry.feature as usize];
            self.sorted[*slot as usize] = *entry;
            *slot += 1;
        }
        // Each count now is the end of its own variable.
    }

    /// For a number: ranks `[low, high)` of the mask's cells within the box; for a category: the mask's number.
    fn key(&mut self, model: &Model<'_>, node: &Node, f: usize, mask: u32) -> (u32, u32) {
        let m = mask as usize;
        if self.mask_stamp[m] == self.stamp {
            return self.mask_key[m];
        }
        let words = model.cells.words(f);
        let cells = &node.cells[words.clone()];
        let mask_words = model.mask(mask);
        let key = match model.cells.feature(f) {
            FeatureCells::Numeric(_) => {
                let mut low = u32::MAX;
                let mut high = 0;
                for (w, (c, m)) in cells.iter().zip(mask_words).enumerate() {
                    let both = c & m;
                    if both != 0 {
                        let rank = self.word_rank[words.start + w];
                        if low == u32::MAX {
                            low = rank + (c & ((1 << both.trailing_zeros()) - 1)).count_ones();
                        }
                        high = rank + (c & (u64::MAX >> both.leading_zeros())).count_ones();
                    }
                }
                if low == 0 && high == self.cell_counts[f] { FREE } else { (low, high) }
            }
            FeatureCells::Levels(_) => {
                if cells.iter().zip(mask_words).all(|(c, m)| c & !m == 0) {
                    FREE
                } else {
                    (mask, NONE)
                }
            }
        };
        self.mask_stamp[m] = self.stamp;
        self.mask_key[m] = key;
        key
    }

    fn build_feature(&mut self, model: &Model<'_>, node: &Node, f: usize, entries: std::ops::Range<usize>) {
        let n_cells = self.cell_counts[f] as usize;
        let numeric = matches!(model.cells.feature(f), FeatureCells::Numeric(_));
        let n_segments = if numeric {
            self.number_segments(n_cells, &entries)
        } else {
            self.category_segments(model, node, f, &entries)
        };
        let first_segment = self.segment_starts.len() - 1;
        self.list_segment_cells(model, node, f, n_segments);
        let first_link = self.links.len() as u32;
        let first_group = self.groups.len() as u32;
        let mut at = entries.start;
        while at < entries.end {
            let block = self.block_of[self.sorted[at].position as usize];
            let first = at;
            while at < entries.end && self.block_of[self.sorted[at].position as usize] == block {
                at += 1;
            }
            self.build_link(model, node, (f, n_segments as u32), block, first..at);
        }
        self.features.push(FeatureLinks {
            feature: f as u32,
            first_segment: first_segment as u32,
            n_segments: n_segments as u32,
            first_link,
            end_link: self.links.len() as u32,
            first_group,
            end_group: self.groups.len() as u32,
        });
    }

    /// Segments of a number lie between the ends of its classes.
    fn number_segments(&mut self, n_cells: usize, entries: &std::ops::Range<usize>) -> usize {
        self.segment_of.clear();
        self.segment_of.resize(n_cells + 1, 0);
        for entry in &self.sorted[entries.clone()] {
            self.segment_of[entry.key.0 as usize] = 1;
            self.segment_of[entry.key.1 as usize] = 1;
        }
        let mut segment = 0;
        self.segment_of[0] = 0;
        for mark in &mut self.segment_of[..n_cells] {
            segment += *mark;
            *mark = segment;
        }
        self.segment_of[n_cells] = segment + 1;
        segment as usize + 1
    }

    /// Segments of a category are its levels told apart by no mask: exact refinement, numbered by first level.
    fn category_segments(
        &mut self,
        model: &Model<'_>,
        node: &Node,
        f: usize,
        entries: &std::ops::Range<usize>,
    ) -> usize {
        let cells = &node.cells[model.cells.words(f)];
        let n_cells = count(cells);
        self.segment_of.clear();
        self.segment_of.resize(n_cells, 0);
        let mut n_segments = 1;
        let mut previous = NONE;
        for k in entries.clone() {
            let mask = self.sorted[k].key.0;
            if mask == previous || n_segments == n_cells {
                continue;
            }
            previous = mask;
            let mask = model.mask(mask);
            // (segment, inside) -> new segment, in order of first level.
            self.refine.clear();
            self.refine.resize(n_segments, (NONE, NONE));
            let mut next = 0;
            for (level, segment) in bits(cells).zip(&mut self.segment_of) {
                let slot = &mut self.refine[*segment as usize];
                let side = if mask[level / 64] >> (level % 64) & 1 == 1 { &mut slot.0 } else { &mut slot.1 };
                if *side == NONE {
                    *side = next;
                    next += 1;
                }
                *segment = *side;
            }
            n_segments = next as usize;
        }
        n_segments
    }

    fn list_segment_cells(&mut self, model: &Model<'_>, node: &Node, f: usize, n_segments: usize) {
        let cells = &node.cells[model.cells.words(f)];
        let first = self.segment_starts.len() - 1;
        let base = self.segment_starts[first];
        self.segment_starts.resize(first + n_segments + 1, 0);
        self.segment_starts[first + 1..].fill(0);
        let n_cells = self.cell_counts[f] as usize;
        for &segment in &self.segment_of[..n_cells] {
            self.segment_starts[first + 1 + segment as usize] += 1;
        }
        for s in first..first + n_segments {
            self.segment_starts[s + 1] += self.segment_starts[s];
        }
        self.segment_cells.resize((base as usize) + n_cells, 0);
        self.class_fill.clear();
        self.class_fill.extend_from_slice(&self.segment_starts[first..first + n_segments]);
        let mut rank = 0;
        for (w, &word) in cells.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let cell = 64 * w as u32 + rest.trailing_zeros();
                rest &= rest - 1;
                let slot = &mut self.class_fill[self.segment_of[rank] as usize];
                rank += 1;
                self.segment_cells[*slot as usize] = cell;
                *slot += 1;
            }
        }
    }

    fn build_link(
        &mut self,
        model: &Model<'_>,
        node: &Node,
        (f, n_segments): (usize, u32),
        block: u32,
        entries: std::ops::Range<usize>,
    ) {
        let entries_end = entries.end;
        let items = node.block(block as usize);
        self.class_keys.clear();
        self.class_of.clear();
        self.class_fill.clear();
        for entry in &self.sorted[entries.clone()] {
            // Neighbouring leaves often share a key.
            let class = self.class_keys.iter().rposition(|&k| k == entry.key).unwrap_or_else(|| {
                self.class_keys.push(entry.key);
                self.class_fill.push(0);
                self.class_keys.len() - 1
            });
            self.class_of.push(class as u32);
            self.class_fill[class] += 1;
        }
        let first_class = self.classes.len() as u32;
        let first_entry = entries.start;
        let mut first_member = self.members.len() as u32;
        self.members.resize(first_member as usize + items.len(), 0);
        self.member_restriction.resize(self.members.len(), 0);
        for class in 0..self.class_keys.len() {
            let (first_run, end_run) = self.push_runs(model, node, f, self.class_keys[class]);
            let n = self.class_fill[class];
            self.push_class(Class { first_run, end_run, first_member, end_member: first_member + n });
            self.class_fill[class] = first_member;
            first_member += n;
        }
        for (entry, &class) in self.sorted[entries].iter().zip(&self.class_of) {
            let slot = &mut self.class_fill[class as usize];
            self.members[*slot as usize] = entry.position;
            self.member_restriction[*slot as usize] = entry.restriction;
            *slot += 1;
        }
        let end_class = self.classes.len() as u32;
        let has_free = self.class_of.len() < items.len();
        if has_free {
            let first_run = self.runs.len() as u32;
            self.runs.push((0, n_segments));
            let end_member = self.members.len() as u32;
            self.push_class(Class { first_run, end_run: first_run + 1, first_member, end_member });
            let mut at = first_entry;
            let mut slot = first_member as usize;
            for position in items {
                if at < entries_end && self.sorted[at].position as usize == position {
                    at += 1;
                } else {
                    self.members[slot] = position as u32;
                    slot += 1;
                }
            }
        }
        for k in first_class..self.classes.len() as u32 {
            let class = &self.classes[k as usize];
            for four in self.members[class.first_member as usize..class.end_member as usize].chunks(4) {
                let last = four[four.len() - 1];
                self.groups.push(std::array::from_fn(|j| four.get(j).copied().unwrap_or(last)));
                self.group_class.push(k);
            }
        }
        self.links.push(Link { block, first_class, end_class, has_free });
    }

    fn push_class(&mut self, class: Class) {
        let number = self.classes.len() as u32;
        let bits = self.runs[class.first_run as usize..class.end_run as usize].iter().fold(
            0,
            |bits, &(first, end)| {
                let below = |k: u32| if k >= 64 { u64::MAX } else { (1 << k) - 1 };
                bits | (below(end) & !below(first))
            },
        );
        self.class_bits.push(bits);
        self.member_class.resize(class.end_member as usize, number);
        self.classes.push(class);
    }

    fn push_runs(&mut self, model: &Model<'_>, node: &Node, f: usize, key: (u32, u32)) -> (u32, u32) {
        let first_run = self.runs.len() as u32;
        if key.1 != NONE {
            let (low, high) = (self.segment_of[key.0 as usize], self.segment_of[key.1 as usize - 1] + 1);
            self.runs.push((low, high));
            return (first_run, first_run + 1);
        }
        let cells = &node.cells[model.cells.words(f)];
        let mask = model.mask(key.0);
        // Segments are numbered by first level, so a segment is met first at its own number.
        let mut next = 0;
        for (level, &segment) in bits(cells).zip(&self.segment_of) {
            if segment < next {
                continue;
            }
            next = segment + 1;
            if mask[level / 64] >> (level % 64) & 1 == 1 {
                match self.runs[first_run as usize..].last_mut() {
                    Some(run) if run.1 == segment => run.1 += 1,
                    _ => self.runs.push((segment, segment + 1)),
                }
            }
        }
        (first_run, self.runs.len() as u32)
    }
}
