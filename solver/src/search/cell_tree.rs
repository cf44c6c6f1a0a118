//! A tree in cell space.

use crate::forest::{Node as TreeNode, Rule, Tree};

use leafgp_constraints::LevelSet;

use super::cell_set::{self, Window, fill};
use super::cells::{Cells, FeatureCells};
use super::index::{CellId, FeatureId, Id, IdVec, ItemId, LeafId, MaskId, Span, TreeNodeId};
use super::items::{Items, ItemsBuilder};

/// Nodes of a tree between two looks at the clock; they come in pairs after the root.
const STEPS_BETWEEN_LOOKS: usize = 1_001;

/// A node of a tree in cell space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CellNode {
    /// Cells below `split` of a number go left.
    Below { feature: FeatureId, split: CellId, left: TreeNodeId, right: TreeNodeId },
    /// Levels in the mask go left.
    Levels { feature: FeatureId, mask: MaskId, left: TreeNodeId, right: TreeNodeId },
    /// A leaf.
    Leaf(ItemId),
    /// A leaf that no cell reaches.
    Unreachable,
}

impl CellNode {
    /// Where a split sends the given cells, one of each variable.
    #[inline(always)]
    pub(crate) fn next(self, items: &Items, cell: &IdVec<FeatureId, CellId>) -> TreeNodeId {
        let (goes_left, left, right) = match self {
            Self::Below { feature, split, left, right } => (cell[feature] < split, left, right),
            Self::Levels { feature, mask, left, right } => {
                (items.mask(mask).holds(cell[feature]), left, right)
            }
            Self::Leaf(_) | Self::Unreachable => unreachable!("cells lead to a leaf that some cell reaches"),
        };
        if goes_left { left } else { right }
    }
}

/// What is left to do while a tree is rewritten.
enum Step {
    /// Rewrite a node into its slot.
    Visit { source: usize, slot: TreeNodeId },
    /// Go to the left or right of a split.
    Narrow { source: usize, left: bool },
    /// Come back from it.
    Back { mark: usize },
}

/// Words of the levels that go left.
fn words_of(set: &LevelSet, cells: &Cells, feature: FeatureId) -> Vec<u64> {
    let mut words = vec![0; cells.words(feature).len()];
    set.iter().for_each(|level| cell_set::insert(&mut words, CellId::new(level)));
    words
}

/// The box of cells that a path from the root leaves: a chain of a hundred thousand splits must not keep as many boxes, so that steps are taken back one by one.
struct PathBox {
    /// Cells `first..end` of each number.
    intervals: IdVec<FeatureId, Span<CellId>>,
    /// Cells of the categories, in the words of a box.
    levels: Vec<u64>,
    changes: Vec<Change>,
}

/// What was there before a step.
enum Change {
    Interval(FeatureId, Span<CellId>),
    Word(usize, u64),
}

impl PathBox {
    fn new(cells: &Cells) -> Self {
        let all = |f| Span::up_to(cells.feature(f).len());
        let intervals = cells.features().into_iter().map(all).collect();
        Self { intervals, levels: cells.full(), changes: Vec::new() }
    }

    fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all steps since the mark.
    fn back(&mut self, mark: usize) {
        for change in self.changes.drain(mark..).rev() {
            match change {
                Change::Interval(feature, interval) => self.intervals[feature] = interval,
                Change::Word(index, word) => self.levels[index] = word,
            }
        }
    }

    /// Keeps the cells that go to one side of a split.
    fn narrow(&mut self, node: &TreeNode, left: bool, cells: &Cells) {
        let TreeNode::Split { feature, rule, .. } = node else { return };
        let feature = FeatureId::new(*feature);
        match rule {
            Rule::Threshold(threshold) => {
                let split = cells.split_at(feature, *threshold);
                let interval = &mut self.intervals[feature];
                self.changes.push(Change::Interval(feature, *interval));
                if left {
                    interval.end = interval.end.min(split).max(interval.first);
                } else {
                    interval.first = interval.first.max(split).min(interval.end);
                }
            }
            Rule::Levels(set) => {
                let range = cells.words(feature);
                for ((index, word), mask) in
                    range.clone().zip(&mut self.levels[range]).zip(words_of(set, cells, feature))
                {
                    let kept = if left { *word & mask } else { *word & !mask };
                    if kept != *word {
                        self.changes.push(Change::Word(index, std::mem::replace(word, kept)));
                    }
                }
            }
        }
    }

    /// True when a variable has no cell left.
    fn is_empty(&self, cells: &Cells) -> bool {
        cells.features().into_iter().any(|f| match cells.feature(f) {
            FeatureCells::Numeric(_) => self.intervals[f].len() == 0,
            FeatureCells::Levels(_) => cell_set::is_empty(&self.levels[cells.words(f)]),
        })
    }

    /// Restricts the next item to the box.
    fn restrict(&self, cells: &Cells, items: &mut ItemsBuilder) {
        for f in cells.features() {
            match cells.feature(f) {
                FeatureCells::Numeric(all) => {
                    let interval = self.intervals[f];
                    if interval.len() < all.len() {
                        let (first, end) = (interval.first.index(), interval.end.index());
                        let first_word = first / 64;
                        let mut words = vec![0; end.div_ceil(64) - first_word];
                        fill(&mut words, first - 64 * first_word, end - 64 * first_word);
                        items.restrict(f, &Window::new(first_word, &words));
                    }
                }
                FeatureCells::Levels(n) => {
                    let words = &self.levels[cells.words(f)];
                    if cell_set::len(words) < *n {
                        items.restrict(f, &Window::new(0, words));
                    }
                }
            }
        }
    }
}

/// The nodes of a tree, root first.
#[derive(Debug)]
pub(crate) struct CellTree {
    pub(crate) nodes: IdVec<TreeNodeId, CellNode>,
}

impl CellTree {
    /// Rewrites a tree in cell space and collects its reachable leaves as items; `offset` is the forest's number of its first leaf. `None` when it must stop, which is asked now
    /// and then.
    pub(crate) fn new(
        tree: &Tree,
        offset: usize,
        cells: &Cells,
        items: &mut ItemsBuilder,
        must_stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut nodes = IdVec::default();
        let root = nodes.push(CellNode::Unreachable);
        let mut at = PathBox::new(cells);
        // Depth first, left before right; a slot is reserved before its subtree is built.
        let mut stack = vec![Step::Visit { source: 0, slot: root }];
        while let Some(step) = stack.pop() {
            if nodes.len() % STEPS_BETWEEN_LOOKS == 0 && must_stop() {
                return None;
            }
            match step {
                Step::Narrow { source, left } => at.narrow(&tree.nodes[source], left, cells),
                Step::Back { mark } => at.back(mark),
                Step::Visit { source, slot } => match &tree.nodes[source] {
                    TreeNode::Leaf { leaf, .. } => {
                        if !at.is_empty(cells) {
                            at.restrict(cells, items);
                            nodes[slot] = CellNode::Leaf(items.push(Some(LeafId::new(offset + leaf))));
                        }
                    }
                    TreeNode::Split { feature, rule, left: left_source, right: right_source } => {
                        let feature = FeatureId::new(*feature);
                        let left = nodes.push(CellNode::Unreachable);
                        let right = nodes.push(CellNode::Unreachable);
                        nodes[slot] = match rule {
                            Rule::Threshold(threshold) => {
                                let split = cells.split_at(feature, *threshold);
                                CellNode::Below { feature, split, left, right }
                            }
                            Rule::Levels(set) => {
                                let mask =
                                    items.mask(feature, &Window::new(0, &words_of(set, cells, feature)));
                                CellNode::Levels { feature, mask, left, right }
                            }
                        };
                        let mark = at.mark();
                        stack.extend([
                            Step::Back { mark },
                            Step::Visit { source: *right_source, slot: right },
                            Step::Narrow { source, left: false },
                            Step::Back { mark },
                            Step::Visit { source: *left_source, slot: left },
                            Step::Narrow { source, left: true },
                        ]);
                    }
                },
            }
        }
        Some(Self { nodes })
    }

    /// The item at the given cells, one of each variable.
    pub(crate) fn descend(&self, items: &Items, cell: &IdVec<FeatureId, CellId>) -> ItemId {
        let mut at = TreeNodeId::default();
        loop {
            at = match self.nodes[at] {
                CellNode::Leaf(item) => return item,
                node => node.next(items, cell),
            };
        }
    }
}
