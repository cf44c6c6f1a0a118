//! A tree in cell space.

use crate::forest::{Node as TreeNode, Rule, Tree};

use super::cell_set::{self, fill};
use super::cells::Cells;
use super::index::{CellId, FeatureId, Id, IdVec, ItemId, LeafId, MaskId, TreeNodeId};
use super::items::{Items, ItemsBuilder};

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

/// The nodes of a tree, root first.
#[derive(Debug)]
pub(crate) struct CellTree {
    pub(crate) nodes: IdVec<TreeNodeId, CellNode>,
}

impl CellTree {
    /// Rewrites a tree in cell space and collects its reachable leaves as items; `offset` is the forest's number of its first leaf.
    pub(crate) fn new(
        tree: &Tree,
        offset: usize,
        cells: &Cells,
        full: &[u64],
        items: &mut ItemsBuilder,
    ) -> Self {
        let mut nodes = IdVec::default();
        let root = nodes.push(CellNode::Unreachable);
        // Depth first, left before right; a slot is reserved before its subtree is built.
        let mut stack = vec![(0, root, full.to_vec())];
        while let Some((source, slot, at)) = stack.pop() {
            match &tree.nodes[source] {
                TreeNode::Leaf { leaf, .. } => {
                    let empty = |f| cell_set::is_empty(&at[cells.words(f)]);
                    if !cells.features().into_iter().any(empty) {
                        let leaf = LeafId::new(offset + leaf);
                        nodes[slot] = CellNode::Leaf(items.push(cells, full, &at, Some(leaf)));
                    }
                }
                TreeNode::Split { feature, rule, left: left_source, right: right_source } => {
                    let feature = FeatureId::new(*feature);
                    let words = cells.words(feature);
                    let mut left_mask = vec![0; words.len()];
                    let left = nodes.push(CellNode::Unreachable);
                    let right = nodes.push(CellNode::Unreachable);
                    nodes[slot] = match rule {
                        Rule::Threshold(threshold) => {
                            let split = cells.split_at(feature, *threshold);
                            fill(&mut left_mask, 0, split.index());
                            CellNode::Below { feature, split, left, right }
                        }
                        Rule::Levels(set) => {
                            for level in set.iter() {
                                cell_set::insert(&mut left_mask, CellId::new(level));
                            }
                            let mask = items.mask(feature, &left_mask);
                            CellNode::Levels { feature, mask, left, right }
                        }
                    };
                    let mut left_box = at.clone();
                    let mut right_box = at;
                    for (w, m) in words.zip(&left_mask) {
                        left_box[w] &= m;
                        right_box[w] &= !m;
                    }
                    stack.push((*right_source, right, right_box));
                    stack.push((*left_source, left, left_box));
                }
            }
        }
        Self { nodes }
    }

    /// The item at the given cells, one of each variable.
    pub(crate) fn descend(&self, items: &Items, cell: &IdVec<FeatureId, CellId>) -> ItemId {
        let mut at = TreeNodeId::default();
        loop {
            at = match self.nodes[at] {
                CellNode::Leaf(item) => return item,
                CellNode::Below { feature, split, left, right } => {
                    if cell[feature] < split {
                        left
                    } else {
                        right
                    }
                }
                CellNode::Levels { feature, mask, left, right } => {
                    if cell_set::holds(items.mask(mask), cell[feature]) { left } else { right }
                }
                CellNode::Unreachable => unreachable!("cells lead to a leaf that some cell reaches"),
            };
        }
    }
}
