//! Nodes that wait.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::search::node::OpenNode;

/// A queued node; the heap pops the lowest rank, the oldest of equals.
#[derive(Debug)]
struct Queued {
    node: OpenNode,
    /// Its bound; where order is by depth, falling with the number.
    rank: f64,
    number: u64,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank.total_cmp(&self.rank).then(other.number.cmp(&self.number))
    }
}

/// Waiting nodes, the lowest bound first or the youngest.
#[derive(Debug)]
pub(super) struct Queue {
    heap: BinaryHeap<Queued>,
    depth_first: bool,
    /// Memory of the whole nodes, and how much they may take; the others are built again.
    whole_bytes: usize,
    most_whole_bytes: usize,
    numbers: u64,
}

impl Queue {
    /// The nodes with the lowest bounds come first.
    pub(super) fn best_first(most_whole_bytes: usize) -> Self {
        Self { heap: BinaryHeap::new(), depth_first: false, whole_bytes: 0, most_whole_bytes, numbers: 0 }
    }

    /// An empty one with as much memory, from which the youngest nodes come first if asked.
    pub(super) fn another(&self, depth_first: bool) -> Self {
        Self { depth_first, ..Self::best_first(self.most_whole_bytes) }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(super) fn push(&mut self, node: OpenNode) {
        let bytes = node.bytes();
        let whole = self.whole_bytes + bytes <= self.most_whole_bytes;
        let node = if whole {
            self.whole_bytes += bytes;
            node
        } else {
            node.compact()
        };
        let rank = if self.depth_first { -(self.numbers as f64) } else { node.bound() };
        self.heap.push(Queued { node, rank, number: self.numbers });
        self.numbers += 1;
    }

    /// Adds what is left of a subtree, the node that it would have gone on with last.
    pub(super) fn push_open(&mut self, nodes: Vec<OpenNode>) {
        if self.depth_first {
            nodes.into_iter().rev().for_each(|node| self.push(node));
        } else {
            nodes.into_iter().for_each(|node| self.push(node));
        }
    }

    /// The next node whose bound is below the cutoff; those that are not are dropped.
    pub(super) fn pop_below(&mut self, cutoff: f64) -> Option<OpenNode> {
        while let Some(Queued { node, .. }) = self.heap.pop() {
            self.whole_bytes -= node.bytes();
            if node.bound() < cutoff {
                return Some(node);
            }
            if !self.depth_first {
                // All others have higher bounds still.
                self.clear();
            }
        }
        None
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.whole_bytes = 0;
    }

    /// The lowest bound of all; infinite when nothing waits.
    pub(super) fn bound(&self) -> f64 {
        if self.depth_first {
            return self.heap.iter().fold(f64::INFINITY, |least, queued| least.min(queued.node.bound()));
        }
        self.heap.peek().map_or(f64::INFINITY, |queued| queued.rank)
    }

    /// The nodes in an order in which they can be pushed again: those that would be popped last first.
    pub(super) fn into_nodes(self) -> Vec<OpenNode> {
        self.heap.into_sorted_vec().into_iter().map(|queued| queued.node).collect()
    }
}
