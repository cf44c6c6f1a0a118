//! A node: a box of cells, the trees it has decided, the leaves still possible in the others, and a point of the relaxation.

use super::cells::first_bit;
use super::model::Model;
use super::multipliers::Multipliers;

/// A node of the search. Blocks hold the items (leaves) of one tree that are still possible, at least two.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The box.
    pub(crate) cells: Vec<u64>,
    /// Proved: no allowed point of the box has a smaller objective.
    pub(crate) bound: f64,
    /// Constant plus linear cost of the decided trees.
    pub(crate) mean: f64,
    /// Sum of the vectors of the decided trees.
    pub(crate) fixed: Vec<f64>,
    /// `fixed + sum z v`.
    pub(crate) u: Vec<f64>,
    /// Items of block `b`: `starts[b]..starts[b + 1]`.
    pub(crate) starts: Vec<u32>,
    /// Items, ascending.
    pub(crate) items: Vec<u32>,
    /// Weight of each item in the relaxation; sums to 1 in each block.
    pub(crate) z: Vec<f64>,
    /// Leaf limits: sum over the decided trees.
    pub(crate) activity: Vec<f64>,
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
        self.starts.clone_from(&source.starts);
        self.items.clone_from(&source.items);
        self.z.clone_from(&source.z);
        self.activity.clone_from(&source.activity);
        self.multipliers.clone_from(&source.multipliers);
    }
}

/// A node waiting in the queue.
#[derive(Debug)]
pub(crate) enum OpenNode {
    /// As its parent left it, with the variable whose cells were split: it goes on from its parent's weights and messages.
    Whole { node: Box<Node>, split: Option<usize> },
    /// What is needed to build it again.
    Compact {
        /// Its bound.
        bound: f64,
        /// Its box.
        cells: Box<[u64]>,
        /// The items with weight in the relaxation, and their weights in 1/255.
        weights: Box<[(u32, u8)]>,
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
        let weight = |(&item, &z): (&u32, &f64)| {
            let w = (z * 255.0).round() as u8;
            (w > 0).then_some((item, w))
        };
        Self::Compact {
            bound: node.bound,
            weights: node.items.iter().zip(&node.z).filter_map(weight).collect(),
            cells: node.cells.into_boxed_slice(),
        }
    }
}

/// Buffers of [`Node::filter`].
#[derive(Debug, Default)]
pub(crate) struct FilterScratch {
    /// Variables whose cells changed, and those that change meanwhile.
    dirty: Vec<bool>,
    next: Vec<bool>,
    /// For the union of masks: items seen for each variable, and the union.
    seen: Vec<u32>,
    touched: Vec<u32>,
    union: Vec<u64>,
    minima: Vec<f64>,
    maxima: Vec<f64>,
}

/// What has changed since a node was last filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Anything: a node just built.
    Everything,
    /// The cells of the variables marked dirty.
    Marked,
}

impl FilterScratch {
    /// Marks a variable whose cells were reduced.
    pub(crate) fn mark(&mut self, feature: usize, n_features: usize) {
        self.dirty.resize(n_features, false);
        self.dirty[feature] = true;
    }
}

/// True when the mask shares a cell with the words of the box.
pub(crate) fn overlaps(mask: &[u64], cells: &[u64]) -> bool {
    mask.iter().zip(cells).any(|(m, c)| m & c != 0)
}

impl Node {
    /// Fills the node with every item of the model, for the given box; weights from the queue where given, else even.
    pub(crate) fn build(&mut self, model: &Model<'_>, cells: &[u64], bound: f64, weights: &[(u32, u8)]) {
        self.cells.clear();
        self.cells.extend_from_slice(cells);
        self.bound = bound;
        self.mean = model.constant;
        self.fixed.clear();
        self.fixed.resize(model.stride, 0.0);
        self.activity.clear();
        self.activity.resize(model.rows.len(), 0.0);
        self.multipliers.clear();
        self.items.clear();
        self.z.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut weights = weights.iter().copied().peekable();
        for block in model.block_starts.windows(2) {
            let first = self.items.len();
            let mut total = 0.0;
            for item in block[0]..block[1] {
                let weight = match weights.peek() {
                    Some(&(i, w)) if i == item => {
                        weights.next();
                        f64::from(w)
                    }
                    _ => 0.0,
                };
                let alive = model.restrictions(item).iter().all(|r| {
                    overlaps(model.mask(r.mask), &self.cells[model.cells.words(r.feature as usize)])
                });
                if alive {
                    self.items.push(item);
                    self.z.push(weight);
                    total += weight;
                }
            }
            let n = self.items.len() - first;
            for z in &mut self.z[first..] {
                *z = if total > 0.0 { *z / total } else { 1.0 / n as f64 };
            }
            self.starts.push(self.items.len() as u32);
        }
        self.refresh(model);
    }

    /// `u` from scratch.
    fn refresh(&mut self, model: &Model<'_>) {
        self.u.clone_from(&self.fixed);
        if model.stride > 0 {
            for (&item, &z) in self.items.iter().zip(&self.z) {
                if z > 0.0 {
                    model.kernels.add_scaled(&mut self.u, z, model.vector(item));
                }
            }
        }
    }

    /// Memory in use.
    fn bytes(&self) -> usize {
        size_of_val(&*self.cells)
            + size_of_val(&*self.fixed)
            + size_of_val(&*self.u)
            + size_of_val(&*self.items)
            + size_of_val(&*self.z)
            + self.multipliers.bytes()
    }

    /// Number of blocks.
    pub(crate) fn n_blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Positions of the items of a block.
    pub(crate) fn block(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// Drops items outside the box and cells that no item of some block supports, to a fixpoint; blocks with one item left join the decided
    /// part. False when the box is proved to hold no allowed point.
    pub(crate) fn filter(
        &mut self,
        model: &Model<'_>,
        scratch: &mut FilterScratch,
        changed: Changed,
    ) -> bool {
        let n_features = model.n_features();
        scratch.dirty.resize(n_features, false);
        scratch.next.resize(n_features, false);
        scratch.seen.resize(n_features, 0);
        scratch.union.resize(model.cells.n_words(), 0);
        let mut everything = changed == Changed::Everything;
        loop {
            let possible = self.filter_once(model, scratch, everything);
            everything = false;
            std::mem::swap(&mut scratch.dirty, &mut scratch.next);
            scratch.next.fill(false);
            if !possible {
                scratch.dirty.fill(false);
                return false;
            }
            if !scratch.dirty.contains(&true) && !self.filter_rows(model, scratch) {
                scratch.dirty.fill(false);
                return false;
            }
            if !scratch.dirty.contains(&true) {
                return true;
            }
        }
    }

    fn filter_once(&mut self, model: &Model<'_>, scratch: &mut FilterScratch, everything: bool) -> bool {
        let dirty_bits = if everything {
            u64::MAX
        } else {
            scratch.dirty.iter().enumerate().fold(0, |bits, (f, &d)| bits | u64::from(d) << (f % 64))
        };
        let n_blocks = self.n_blocks();
        let (mut end, mut kept, mut kept_blocks) = (0, 0, 0);
        for b in 0..n_blocks {
            let first = end;
            end = self.starts[b + 1] as usize;
            let new_first = kept;
            let mut lost = 0.0;
            for i in first..end {
                let item = self.items[i];
                let alive = model.feature_bits[item as usize] & dirty_bits == 0
                    || model.restrictions(item).iter().all(|r| {
                        let f = r.feature as usize;
                        !(everything || scratch.dirty[f])
                            || overlaps(model.mask(r.mask), &self.cells[model.cells.words(f)])
                    });
                if alive {
                    self.items[kept] = item;
                    self.z[kept] = self.z[i];
                    kept += 1;
                } else if self.z[i] > 0.0 {
                    lost += self.z[i];
                    if model.stride > 0 {
                        model.kernels.add_scaled(&mut self.u, -self.z[i], model.vector(item));
                    }
                }
            }
            let n = kept - new_first;
            if n == 0 {
                return false;
            }
            if lost > 0.0 {
                self.rescale(model, new_first..kept, 1.0 - lost);
            }
            if (n < end - first || everything || n == 1)
                && !self.shrink_to_union(model, scratch, new_first..kept)
            {
                return false;
            }
            if n == 1 {
                let item = self.items[new_first];
                self.mean += model.cost[item as usize];
                if model.stride > 0 {
                    model.kernels.add_scaled(&mut self.fixed, 1.0, model.vector(item));
                }
                for (row, activity) in self.activity.iter_mut().enumerate() {
                    *activity += model.row_coefficient(row, item);
                }
                kept = new_first;
            } else {
                kept_blocks += 1;
                self.starts[kept_blocks] = kept as u32;
            }
        }
        self.items.truncate(kept);
        self.z.truncate(kept);
        self.starts.truncate(kept_blocks + 1);
        true
    }

    /// Brings the weights of a block that kept the mass `left` back to 1.
    fn rescale(&mut self, model: &Model<'_>, block: std::ops::Range<usize>, left: f64) {
        if left > 1e-3 {
            for i in block {
                if self.z[i] > 0.0 {
                    let z = self.z[i] / left;
                    if model.stride > 0 {
                        model.kernels.add_scaled(&mut self.u, z - self.z[i], model.vector(self.items[i]));
                    }
                    self.z[i] = z;
                }
            }
            return;
        }
        let mut best = block.start;
        for i in block.clone() {
            if model.cost[self.items[i] as usize] < model.cost[self.items[best] as usize] {
                best = i;
            }
        }
        for i in block {
            let z = if i == best { 1.0 } else { 0.0 };
            if z != self.z[i] {
                if model.stride > 0 {
                    model.kernels.add_scaled(&mut self.u, z - self.z[i], model.vector(self.items[i]));
                }
                self.z[i] = z;
            }
        }
    }

    /// Keeps the cells that some item of the block supports. False when a variable has none left.
    fn shrink_to_union(
        &mut self,
        model: &Model<'_>,
        scratch: &mut FilterScratch,
        block: std::ops::Range<usize>,
    ) -> bool {
        let n = block.len() as u32;
        scratch.touched.clear();
        for (k, i) in block.enumerate() {
            for r in model.restrictions(self.items[i]) {
                let f = r.feature as usize;
                let words = model.cells.words(f);
                if scratch.seen[f] == 0 {
                    // A variable that an earlier item leaves free is not restricted by the block.
                    if k > 0 {
                        continue;
                    }
                    scratch.touched.push(r.feature);
                    scratch.union[words.clone()].fill(0);
                }
                scratch.seen[f] += 1;
                for (union, mask) in scratch.union[words].iter_mut().zip(model.mask(r.mask)) {
                    *union |= mask;
                }
            }
        }
        let mut possible = true;
        for &f in &scratch.touched {
            let f = f as usize;
            if scratch.seen[f] == n {
                let words = model.cells.words(f);
                let mut any = 0;
                for (cells, union) in self.cells[words.clone()].iter_mut().zip(&scratch.union[words]) {
                    if *cells & !union != 0 {
                        *cells &= union;
                        scratch.next[f] = true;
                    }
                    any |= *cells;
                }
                possible &= any != 0;
            }
            scratch.seen[f] = 0;
        }
        possible
    }

    /// Drops items that a leaf limit forbids; their blocks are cleaned up through marking all variables of the dropped items' trees. False when
    /// a limit cannot hold.
    fn filter_rows(&mut self, model: &Model<'_>, scratch: &mut FilterScratch) -> bool {
        if model.rows.is_empty() {
            return true;
        }
        let n_blocks = self.n_blocks();
        let mut dropped = false;
        for (r, row) in model.rows.iter().enumerate() {
            let coefficients = &model.row_coefficients[r * model.n_items()..(r + 1) * model.n_items()];
            scratch.minima.clear();
            scratch.maxima.clear();
            let (mut low, mut high) = (self.activity[r], self.activity[r]);
            for b in 0..n_blocks {
                let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
                for i in self.block(b) {
                    // A dropped item is marked by a negative weight.
                    if self.z[i] >= 0.0 {
                        let a = coefficients[self.items[i] as usize];
                        min = min.min(a);
                        max = max.max(a);
                    }
                }
                scratch.minima.push(min);
                scratch.maxima.push(max);
                low += min;
                high += max;
            }
            if low > row.upper + row.margin || high < row.lower - row.margin {
                return false;
            }
            for b in 0..n_blocks {
                if low - scratch.minima[b] + scratch.maxima[b] <= row.upper
                    && high - scratch.maxima[b] + scratch.minima[b] >= row.lower
                {
                    continue;
                }
                for i in self.block(b) {
                    if self.z[i] >= 0.0 {
                        let a = coefficients[self.items[i] as usize];
                        if low - scratch.minima[b] + a > row.upper + row.margin
                            || high - scratch.maxima[b] + a < row.lower - row.margin
                        {
                            self.drop_item(model, i);
                            dropped = true;
                        }
                    }
                }
            }
        }
        !dropped || self.remove_dropped(model, scratch)
    }

    /// Marks an item as gone and takes its weight out of `u`.
    pub(crate) fn drop_item(&mut self, model: &Model<'_>, position: usize) {
        if self.z[position] > 0.0 && model.stride > 0 {
            model.kernels.add_scaled(&mut self.u, -self.z[position], model.vector(self.items[position]));
        }
        self.z[position] = -1.0;
    }

    /// Removes the items marked by [`Node::drop_item`], shrinks the box to what remains and marks the changed variables for the next
    /// [`Node::filter`]. False when a block has nothing left.
    pub(crate) fn remove_dropped(&mut self, model: &Model<'_>, scratch: &mut FilterScratch) -> bool {
        let n_features = model.n_features();
        scratch.next.resize(n_features, false);
        scratch.dirty.resize(n_features, false);
        scratch.seen.resize(n_features, 0);
        scratch.union.resize(model.cells.n_words(), 0);
        let n_blocks = self.n_blocks();
        let (mut end, mut kept) = (0, 0);
        let mut possible = true;
        for b in 0..n_blocks {
            let first = end;
            end = self.starts[b + 1] as usize;
            let new_first = kept;
            let mut mass = 0.0;
            for i in first..end {
                if self.z[i] >= 0.0 {
                    self.items[kept] = self.items[i];
                    self.z[kept] = self.z[i];
                    mass += self.z[i];
                    kept += 1;
                }
            }
            self.starts[b + 1] = kept as u32;
            if kept == new_first {
                possible = false;
                break;
            }
            if kept - new_first < end - first {
                self.rescale(model, new_first..kept, mass);
                possible = self.shrink_to_union(model, scratch, new_first..kept);
                if !possible {
                    break;
                }
                if kept - new_first == 1 {
                    // The block joins the decided part in the next filter; any of its variables triggers that.
                    for r in model.restrictions(self.items[new_first]) {
                        scratch.next[r.feature as usize] = true;
                    }
                    if model.restrictions(self.items[new_first]).is_empty() {
                        scratch.next[0] = true;
                    }
                }
            }
        }
        self.items.truncate(kept);
        self.z.truncate(kept);
        for (d, n) in scratch.dirty.iter_mut().zip(&mut scratch.next) {
            *d |= std::mem::replace(n, false);
        }
        possible
    }

    /// Any cell of each variable, for an evaluation at a decided box.
    pub(crate) fn first_cells(&self, model: &Model<'_>) -> Vec<u32> {
        (0..model.n_features())
            .map(|f| {
                first_bit(&self.cells[model.cells.words(f)]).expect("a box keeps a cell of every variable")
                    as u32
            })
            .collect()
    }
}
