//! A node: a box of cells, the trees it has decided, the leaves still possible in the others, and a point of the relaxation.

use super::blocks::Blocks;
use super::cell_set;
use super::index::{CellId, FeatureId, IdVec, ItemId, LimitId, Position, Span};
use super::model::Model;
use super::multipliers::Multipliers;

/// A node of the search. Blocks hold the items (leaves) of one tree that are still possible, at least two.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The box.
    pub(crate) cells: Vec<u64>,
    /// Proved: no allowed point of the box has a smaller objective, unless it is at or above the cutoff.
    pub(crate) bound: f64,
    /// Constant plus linear cost of the decided trees.
    pub(crate) mean: f64,
    /// Sum of the vectors of the decided trees.
    pub(crate) fixed: Vec<f64>,
    /// `fixed + sum z v`.
    pub(crate) u: Vec<f64>,
    /// The open blocks and their items.
    pub(crate) blocks: Blocks,
    /// Weight of each item in the relaxation; sums to 1 in each block.
    pub(crate) z: IdVec<Position, f64>,
    /// Leaf limits: sum over the decided trees.
    pub(crate) activity: IdVec<LimitId, f64>,
    /// Message values of the parent, or of an earlier round.
    pub(crate) multipliers: Multipliers,
}

impl Clone for Node {
    fn clone(&self) -> Self {
        let mut node = Self::default();
        node.clone_from(self);
        node
    }

    fn clone_from(&mut self, source: &Self) {
        self.cells.clone_from(&source.cells);
        self.bound = source.bound;
        self.mean = source.mean;
        self.fixed.clone_from(&source.fixed);
        self.u.clone_from(&source.u);
        self.blocks.clone_from(&source.blocks);
        self.z.clone_from(&source.z);
        self.activity.clone_from(&source.activity);
        self.multipliers.clone_from(&source.multipliers);
    }
}

/// A node waiting in the queue.
#[derive(Debug)]
pub(crate) enum OpenNode {
    /// As its parent left it, with the variable whose cells were split: it goes on from its parent's weights and messages.
    Whole { node: Box<Node>, split: Option<FeatureId> },
    /// What is needed to build it again.
    Compact {
        /// Its bound.
        bound: f64,
        /// Its box.
        cells: Box<[u64]>,
        /// The items with weight in the relaxation, and their weights in 1/255.
        weights: Box<[(ItemId, u8)]>,
    },
}

impl OpenNode {
    /// The whole space.
    pub(crate) fn root(model: &Model<'_>, bound: f64) -> Self {
        Self::Compact { bound, cells: model.cells.full().into(), weights: Box::new([]) }
    }

    /// Its bound.
    pub(crate) fn bound(&self) -> f64 {
        match self {
            Self::Whole { node, .. } => node.bound,
            Self::Compact { bound, .. } => *bound,
        }
    }

    /// Memory that [`OpenNode::compact`] frees.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Whole { node, .. } => node.bytes(),
            Self::Compact { .. } => 0,
        }
    }

    /// The same in less memory.
    pub(crate) fn compact(self) -> Self {
        let Self::Whole { node, .. } = self else { return self };
        let weight = |(&item, &z): (&ItemId, &f64)| {
            let w = (z * 255.0).round() as u8;
            (w > 0).then_some((item, w))
        };
        Self::Compact {
            bound: node.bound,
            weights: node.blocks.items.iter().zip(&node.z).filter_map(weight).collect(),
            cells: node.cells.into_boxed_slice(),
        }
    }
}

impl Node {
    /// Fills the node with every item of the model, for the given box; weights from the queue where given, else even.
    pub(crate) fn build(&mut self, model: &Model<'_>, cells: &[u64], bound: f64, weights: &[(ItemId, u8)]) {
        self.cells.clear();
        self.cells.extend_from_slice(cells);
        self.bound = bound;
        self.mean = model.constant;
        self.fixed.clear();
        self.fixed.resize(model.stride(), 0.0);
        self.activity.refill(model.limits.len(), 0.0);
        self.multipliers.clear();
        self.blocks.clear();
        self.z.clear();
        let mut weights = weights.iter().copied().peekable();
        for tree in model.tree_items.parts() {
            let first = self.z.next_id();
            let mut total = 0.0;
            for item in tree {
                let weight = weights.next_if(|&(i, _)| i == item).map_or(0.0, |(_, w)| f64::from(w));
                let alive = model
                    .restrictions(item)
                    .iter()
                    .all(|r| model.mask(r.mask).overlaps(&self.cells[model.cells.words(r.feature)]));
                if alive {
                    self.blocks.items.push(item);
                    self.z.push(weight);
                    total += weight;
                }
            }
            let block = Span::new(first, self.z.next_id());
            for z in &mut self.z[block] {
                *z = if total > 0.0 { *z / total } else { 1.0 / block.len() as f64 };
            }
            self.blocks.spans.push_end(block.end);
        }
        self.refresh(model);
    }

    /// `u` from scratch.
    fn refresh(&mut self, model: &Model<'_>) {
        self.u.clone_from(&self.fixed);
        if model.stride() > 0 {
            for (&item, &z) in self.blocks.items.iter().zip(&self.z) {
                if z > 0.0 {
                    model.kernels.add_scaled(&mut self.u, z, model.vector(item));
                }
            }
        }
    }

    /// Memory that the node takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.cells.capacity() * size_of::<u64>()
            + (self.fixed.capacity() + self.u.capacity()) * size_of::<f64>()
            + self.blocks.bytes()
            + self.z.bytes()
            + self.activity.bytes()
            + self.multipliers.bytes()
    }

    /// Joins the one item left of a block to the decided part.
    pub(crate) fn decide(&mut self, model: &Model<'_>, item: ItemId) {
        self.mean += model.cost[item];
        if model.stride() > 0 {
            model.kernels.add_scaled(&mut self.fixed, 1.0, model.vector(item));
        }
        for (activity, limit) in self.activity.iter_mut().zip(&model.limits) {
            *activity += limit.coefficients[item];
        }
    }

    /// Brings the weights of a block that kept the mass `left` back to 1.
    pub(crate) fn rescale(&mut self, model: &Model<'_>, block: Span<Position>, left: f64) {
        if left > 1e-3 {
            for i in block {
                if self.z[i] > 0.0 {
                    self.set_weight(model, i, self.z[i] / left);
                }
            }
            return;
        }
        let mut best = block.first;
        for i in block {
            if model.cost[self.blocks.items[i]] < model.cost[self.blocks.items[best]] {
                best = i;
            }
        }
        for i in block {
            let z = if i == best { 1.0 } else { 0.0 };
            if z != self.z[i] {
                self.set_weight(model, i, z);
            }
        }
    }

    fn set_weight(&mut self, model: &Model<'_>, position: Position, z: f64) {
        if model.stride() > 0 {
            let vector = model.vector(self.blocks.items[position]);
            model.kernels.add_scaled(&mut self.u, z - self.z[position], vector);
        }
        self.z[position] = z;
    }

    /// Marks an item as gone and takes its weight out of `u`.
    pub(crate) fn drop_item(&mut self, model: &Model<'_>, position: Position) {
        if self.z[position] > 0.0 && model.stride() > 0 {
            let vector = model.vector(self.blocks.items[position]);
            model.kernels.add_scaled(&mut self.u, -self.z[position], vector);
        }
        self.z[position] = -1.0;
    }

    /// Any cell of each variable, for an evaluation at a decided box.
    pub(crate) fn first_cells(&self, model: &Model<'_>) -> IdVec<FeatureId, CellId> {
        let first = |f| {
            cell_set::first(&self.cells[model.cells.words(f)]).expect("a box keeps a cell of every variable")
        };
        model.cells.features().into_iter().map(first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Node;

    /// Nodes are reused, so what one holds is often more than what it uses.
    #[test]
    fn bytes_count_what_is_held_not_what_is_used() {
        let mut node = Node::default();
        let empty = node.bytes();
        node.cells.reserve_exact(100);
        assert_eq!(node.bytes() - empty, 800);
        node.u = vec![0.0; 50];
        node.u.clear();
        assert_eq!(node.bytes() - empty, 1_200);
        node.activity.push(1.0);
        node.blocks.spans.push_end(super::Position::default());
        assert!(node.bytes() - empty >= 1_212);
    }
}
