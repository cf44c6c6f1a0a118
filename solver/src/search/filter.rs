//! Filters a node: items outside its box, cells that no item supports, and items that a leaf limit forbids go, to a fixpoint.

use super::index::{BlockId, FeatureId, Id, IdVec, Position, Span};
use super::items::feature_bit;
use super::model::Model;
use super::node::Node;

/// Variables marked for the next filter, and buffers.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Variables whose cells changed, and those that change meanwhile.
    dirty: IdVec<FeatureId, bool>,
    next: IdVec<FeatureId, bool>,
    /// For the union of masks: items seen for each variable, and the union.
    seen: IdVec<FeatureId, u32>,
    touched: Vec<FeatureId>,
    union: Vec<u64>,
    minima: IdVec<BlockId, f64>,
    maxima: IdVec<BlockId, f64>,
}

/// What has changed since a node was last filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Anything: a node just built.
    Everything,
    /// The cells of the variables marked dirty.
    Marked,
}

impl Filter {
    /// Marks a variable whose cells were reduced.
    pub(crate) fn mark(&mut self, model: &Model<'_>, feature: FeatureId) {
        self.dirty.resize(model.n_features(), false);
        self.dirty[feature] = true;
    }

    fn resize(&mut self, model: &Model<'_>) {
        self.dirty.resize(model.n_features(), false);
        self.next.resize(model.n_features(), false);
        self.seen.resize(model.n_features(), 0);
        self.union.resize(model.cells.n_words(), 0);
    }

    fn any_dirty(&self) -> bool {
        self.dirty.as_slice().contains(&true)
    }

    /// Drops items outside the box and cells that no item of some block supports, to a fixpoint; blocks with one item left join the decided
    /// part. False when the box is proved to hold no allowed point.
    pub(crate) fn run(&mut self, model: &Model<'_>, node: &mut Node, changed: Changed) -> bool {
        self.resize(model);
        let mut everything = changed == Changed::Everything;
        loop {
            let possible = self.filter_cells(model, node, everything);
            everything = false;
            std::mem::swap(&mut self.dirty, &mut self.next);
            self.next.as_mut_slice().fill(false);
            if !possible {
                self.dirty.as_mut_slice().fill(false);
                return false;
            }
            if !self.any_dirty() && !self.filter_limits(model, node) {
                self.dirty.as_mut_slice().fill(false);
                return false;
            }
            if !self.any_dirty() {
                return true;
            }
        }
    }

    fn filter_cells(&mut self, model: &Model<'_>, node: &mut Node, everything: bool) -> bool {
        let dirty_bits = if everything {
            u64::MAX
        } else {
            let bits = self.dirty.ids().into_iter().zip(&self.dirty);
            bits.fold(0, |bits, (f, &dirty)| if dirty { bits | feature_bit(f) } else { bits })
        };
        let (mut end, mut kept, mut kept_blocks) =
            (Position::default(), Position::default(), BlockId::default());
        for b in node.blocks.ids() {
            let old = Span::new(end, node.blocks.block(b).end);
            end = old.end;
            let new_first = kept;
            let mut lost = 0.0;
            for i in old {
                let item = node.blocks.items[i];
                let alive = model.items.feature_bits[item] & dirty_bits == 0
                    || model.restrictions(item).iter().all(|r| {
                        !(everything || self.dirty[r.feature])
                            || model.mask(r.mask).overlaps(&node.cells[model.cells.words(r.feature)])
                    });
                if alive {
                    node.blocks.items[kept] = item;
                    node.z[kept] = node.z[i];
                    kept = kept.next();
                } else if node.z[i] > 0.0 {
                    lost += node.z[i];
                    if model.stride() > 0 {
                        model.kernels.add_scaled(&mut node.u, -node.z[i], model.vector(item));
                    }
                }
            }
            let block = Span::new(new_first, kept);
            if block.len() == 0 {
                return false;
            }
            if lost > 0.0 {
                node.rescale(model, block, 1.0 - lost);
            }
            if (block.len() < old.len() || everything || block.len() == 1)
                && !self.shrink_to_union(model, node, block)
            {
                return false;
            }
            if block.len() == 1 {
                node.decide(model, node.blocks.items[new_first]);
                kept = new_first;
            } else {
                node.blocks.spans.set_end(kept_blocks, kept);
                kept_blocks = kept_blocks.next();
            }
        }
        node.blocks.items.truncate(kept);
        node.z.truncate(kept);
        node.blocks.spans.truncate(kept_blocks);
        true
    }

    /// Keeps the cells that some item of the block supports. False when a variable has none left.
    fn shrink_to_union(&mut self, model: &Model<'_>, node: &mut Node, block: Span<Position>) -> bool {
        let n = block.len() as u32;
        self.touched.clear();
        for (k, &item) in node.blocks.items[block].iter().enumerate() {
            for r in model.restrictions(item) {
                let f = r.feature;
                let words = model.cells.words(f);
                if self.seen[f] == 0 {
                    // A variable that an earlier item leaves free is not restricted by the block.
                    if k > 0 {
                        continue;
                    }
                    self.touched.push(f);
                    self.union[words.clone()].fill(0);
                }
                self.seen[f] += 1;
                model.mask(r.mask).add_to(&mut self.union[words]);
            }
        }
        let mut possible = true;
        for &f in &self.touched {
            if self.seen[f] == n {
                let words = model.cells.words(f);
                let mut any = 0;
                for (cells, union) in node.cells[words.clone()].iter_mut().zip(&self.union[words]) {
                    if *cells & !union != 0 {
                        *cells &= union;
                        self.next[f] = true;
                    }
                    any |= *cells;
                }
                possible &= any != 0;
            }
            self.seen[f] = 0;
        }
        possible
    }

    /// Drops items that a leaf limit forbids; their blocks are cleaned up through marking all variables of the dropped items' trees. False when
    /// a limit cannot hold.
    fn filter_limits(&mut self, model: &Model<'_>, node: &mut Node) -> bool {
        if model.limits.is_empty() {
            return true;
        }
        let mut dropped = false;
        for (l, limit) in model.limits.ids().into_iter().zip(&model.limits) {
            self.minima.clear();
            self.maxima.clear();
            let (mut low, mut high) = (node.activity[l], node.activity[l]);
            for b in node.blocks.ids() {
                let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
                for i in node.blocks.block(b) {
                    // A dropped item is marked by a negative weight.
                    if node.z[i] >= 0.0 {
                        let a = limit.coefficients[node.blocks.items[i]];
                        min = min.min(a);
                        max = max.max(a);
                    }
                }
                self.minima.push(min);
                self.maxima.push(max);
                low += min;
                high += max;
            }
            if low > limit.upper + limit.margin || high < limit.lower - limit.margin {
                return false;
            }
            for b in node.blocks.ids() {
                if low - self.minima[b] + self.maxima[b] <= limit.upper
                    && high - self.maxima[b] + self.minima[b] >= limit.lower
                {
                    continue;
                }
                for i in node.blocks.block(b) {
                    if node.z[i] >= 0.0 {
                        let a = limit.coefficients[node.blocks.items[i]];
                        if low - self.minima[b] + a > limit.upper + limit.margin
                            || high - self.maxima[b] + a < limit.lower - limit.margin
                        {
                            node.drop_item(model, i);
                            dropped = true;
                        }
                    }
                }
            }
        }
        !dropped || self.remove_dropped(model, node)
    }

    /// Removes the items marked by [`Node::drop_item`], shrinks the box to what remains and marks the changed variables for the next
    /// [`Filter::run`]. False when a block has nothing left.
    pub(crate) fn remove_dropped(&mut self, model: &Model<'_>, node: &mut Node) -> bool {
        self.resize(model);
        let (mut end, mut kept) = (Position::default(), Position::default());
        let mut possible = true;
        for b in node.blocks.ids() {
            let old = Span::new(end, node.blocks.block(b).end);
            end = old.end;
            let new_first = kept;
            let mut mass = 0.0;
            for i in old {
                if node.z[i] >= 0.0 {
                    node.blocks.items[kept] = node.blocks.items[i];
                    node.z[kept] = node.z[i];
                    mass += node.z[i];
                    kept = kept.next();
                }
            }
            node.blocks.spans.set_end(b, kept);
            let block = Span::new(new_first, kept);
            if block.len() == 0 {
                possible = false;
                break;
            }
            if block.len() < old.len() {
                node.rescale(model, block, mass);
                possible = self.shrink_to_union(model, node, block);
                if !possible {
                    break;
                }
                if block.len() == 1 {
                    // The block joins the decided part in the next filter; any of its variables triggers that.
                    let restrictions = model.restrictions(node.blocks.items[new_first]);
                    for r in restrictions {
                        self.next[r.feature] = true;
                    }
                    if restrictions.is_empty() {
                        self.next[FeatureId::default()] = true;
                    }
                }
            }
        }
        node.blocks.items.truncate(kept);
        node.z.truncate(kept);
        for (d, n) in self.dirty.iter_mut().zip(self.next.iter_mut()) {
            *d |= std::mem::replace(n, false);
        }
        possible
    }
}
