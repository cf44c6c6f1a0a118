//! Growing one tree, best leaf first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leafgp_solver::LevelSet;
use pulp::Arch;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::bin_mapper::Bins;
use super::bin_matrix::BinMatrix;
use super::histogram::{Derivatives, Entry, HistogramBuilder, PARALLEL_CELLS, Rows};
use super::partition::Partition;
use super::search::{Histogram, Query, SplitFinder};
use super::split::{BinRule, LeafSums, LeafTotals, Split, SplitLimits};
use super::split_numeric::ScanBuffers;
use super::tree::{Child, DecisionTree, LeafNode, SplitNode, SplitRule};

/// Rows whose gradients are summed in one go at the root; fixed, so that the sum does not depend on threads.
const SUM_ROWS: usize = 1 << 16;

/// The shape limits of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) num_leaves: usize,
    /// Zero or less: no limit.
    pub(super) max_depth: i32,
    pub(super) extra_trees: bool,
}

/// A leaf while the tree grows.
#[derive(Debug)]
struct Leaf {
    sums: LeafSums,
    depth: i32,
    output: f64,
    /// Where the leaf hangs: the split and whether it is its left child.
    parent: Option<(usize, bool)>,
    histogram: Option<Histogram>,
    best: Option<Split>,
}

/// Grows trees on one binned table, keeping its work buffers between them.
#[derive(Debug)]
pub(super) struct TreeGrower<'a> {
    bins: &'a BinMatrix,
    limits: &'a SplitLimits,
    arch: Arch,
    shape: Shape,
    builder: HistogramBuilder,
    pub(super) partition: Partition,
    leaves: Vec<Leaf>,
    queue: BinaryHeap<QueueEntry>,
    free: Vec<Histogram>,
    buffers: ScanBuffers,
    ordered_gradients: Vec<f32>,
    ordered_hessians: Vec<f32>,
}

impl<'a> TreeGrower<'a> {
    pub(super) fn new(bins: &'a BinMatrix, limits: &'a SplitLimits, shape: Shape) -> Self {
        Self {
            bins,
            limits,
            arch: Arch::new(),
            shape,
            builder: HistogramBuilder::default(),
            partition: Partition::default(),
            leaves: Vec::new(),
            queue: BinaryHeap::new(),
            free: Vec::new(),
            buffers: ScanBuffers::default(),
            ordered_gradients: Vec::new(),
            ordered_hessians: Vec::new(),
        }
    }

    /// Grows a tree on the rows of the bag (all when `None`) with the features in `is_used` (by slot). Leaf values are the plain
    /// Newton steps; the rows of each leaf stay in `partition`.
    pub(super) fn grow(
        &mut self,
        derivatives: Derivatives<'_>,
        bag: Option<&[u32]>,
        is_used: &[bool],
        rng: &mut ChaCha8Rng,
    ) -> DecisionTree {
        self.partition.reset(self.bins.n_rows, bag);
        let sums = self.root_sums(derivatives, bag);
        let output = self.limits.penalty.output(sums.gradient, sums.hessian);
        let mut leaves = std::mem::take(&mut self.leaves);
        leaves.push(Leaf { sums, depth: 0, output, parent: None, histogram: None, best: None });
        let mut splits: Vec<SplitNode> = Vec::with_capacity(self.most_leaves() - 1);
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        self.search_root(&mut leaves[0], derivatives, bag, is_used, rng);
        enqueue(&mut queue, &leaves, 0);
        while leaves.len() < self.shape.num_leaves
            && let Some(QueueEntry { leaf: Reverse(at), .. }) = queue.pop()
        {
            let Some(split) = leaves[at].best.take() else { continue };
            // Estimated row counts and rounding in derived bins can suggest a side that has no rows.
            let Some(counts) = self.partition.split(at, self.bins, split.slot, &split.rule) else { continue };
            let new = leaves.len();
            self.attach(&mut leaves, &mut splits, at, &split, counts);
            if leaves.len() < self.shape.num_leaves {
                self.search_children(&mut leaves, at, new, derivatives, rng);
                enqueue(&mut queue, &leaves, at);
                enqueue(&mut queue, &leaves, new);
            }
        }
        for leaf in &mut leaves {
            self.free.extend(leaf.histogram.take());
        }
        let leaf_node =
            |leaf: &Leaf| LeafNode { value: leaf.output, weight: leaf.sums.hessian, count: leaf.sums.count };
        let tree = DecisionTree { splits, leaves: leaves.iter().map(leaf_node).collect(), shrinkage: 1.0 };
        leaves.clear();
        (self.leaves, self.queue) = (leaves, queue);
        tree
    }

    /// A bound on the number of leaves, to reserve space.
    fn most_leaves(&self) -> usize {
        let by_depth =
            if (1..16).contains(&self.shape.max_depth) { 1 << self.shape.max_depth } else { 1 << 16 };
        self.shape.num_leaves.min(by_depth).min(self.bins.n_rows.max(1))
    }

    fn root_sums(&self, derivatives: Derivatives<'_>, bag: Option<&[u32]>) -> LeafSums {
        let total = |values: &[f32]| -> f64 {
            match bag {
                None => {
                    let sum = |part: &[f32]| part.iter().map(|&v| f64::from(v)).sum::<f64>();
                    values.chunks(SUM_ROWS).map(sum).sum()
                }
                Some(bag) => {
                    let sum =
                        |part: &[u32]| part.iter().map(|&row| f64::from(values[row as usize])).sum::<f64>();
                    bag.chunks(SUM_ROWS).map(sum).sum()
                }
            }
        };
        let count = bag.map_or(self.bins.n_rows, <[u32]>::len);
        let hessian = derivatives.hessians.map_or(count as f64, total);
        LeafSums { gradient: total(derivatives.gradients), hessian, count }
    }

    /// Replaces leaf `at` by a split with two leaves: the left one keeps the number, the right one gets the next.
    fn attach(
        &self,
        leaves: &mut Vec<Leaf>,
        splits: &mut Vec<SplitNode>,
        at: usize,
        split: &Split,
        counts: (usize, usize),
    ) {
        let node = splits.len();
        let new = leaves.len();
        let parent = &leaves[at];
        if let Some((above, is_left)) = parent.parent {
            let slot = if is_left { &mut splits[above].left } else { &mut splits[above].right };
            *slot = Child::Split(node);
        }
        splits.push(SplitNode {
            feature: split.column,
            rule: self.rule(split),
            left: Child::Leaf(at),
            right: Child::Leaf(new),
            gain: split.gain + self.limits.min_gain_to_split,
            value: parent.output,
            weight: parent.sums.hessian,
            count: parent.sums.count,
        });
        let depth = parent.depth + 1;
        let child = |sums: LeafSums, count: usize, output: f64, is_left: bool| Leaf {
            sums: LeafSums { count, ..sums },
            depth,
            output: if output.is_nan() { 0.0 } else { output },
            parent: Some((node, is_left)),
            histogram: None,
            best: None,
        };
        let mut left = child(split.left, counts.0, split.left_output, true);
        left.histogram = leaves[at].histogram.take();
        leaves[at] = left;
        leaves.push(child(split.right, counts.1, split.right_output, false));
    }

    fn rule(&self, split: &Split) -> SplitRule {
        let feature = &self.bins.features[split.slot];
        match (&split.rule, &feature.mapper.bins) {
            (BinRule::UpTo { bin, default_left }, _) => SplitRule::Threshold {
                threshold: feature.thresholds[*bin],
                missing: feature.mapper.missing,
                default_left: *default_left,
            },
            (BinRule::Listed(bins), Bins::Categorical { level_of_bin, bin_of_level }) => {
                let levels = bins.iter().map(|&bin| level_of_bin[usize::from(bin)]);
                SplitRule::Levels(LevelSet::from_indices(bin_of_level.len(), levels))
            }
            (BinRule::Listed(_), Bins::Numeric { .. }) => {
                unreachable!("a numeric feature has no listed bins")
            }
        }
    }

    fn new_histogram(&mut self, is_splittable: &[bool]) -> Histogram {
        match self.free.pop() {
            Some(mut histogram) => {
                histogram.is_splittable.copy_from_slice(is_splittable);
                histogram
            }
            None => Histogram {
                entries: vec![Entry::default(); self.bins.histogram_len],
                is_splittable: is_splittable.to_vec(),
            },
        }
    }

    fn finder(&self) -> SplitFinder<'a> {
        SplitFinder { bins: self.bins, limits: self.limits, arch: self.arch }
    }

    fn random_numbers(&self, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        self.shape.extra_trees.then(|| self.bins.features.iter().map(|_| rng.random::<f64>()).collect())
    }

    fn search_root(
        &mut self,
        root: &mut Leaf,
        derivatives: Derivatives<'_>,
        bag: Option<&[u32]>,
        is_used: &[bool],
        rng: &mut ChaCha8Rng,
    ) {
        let random = self.random_numbers(rng);
        if (root.sums.count as f64) < 2.0 * self.limits.min_data_in_leaf || !is_used.iter().any(|&used| used)
        {
            return;
        }
        let mut histogram = self.new_histogram(is_used);
        if bag.is_none() {
            let rows = Rows::All(self.bins.n_rows);
            self.builder.build(self.bins, rows, derivatives, is_used, &mut histogram.entries);
        } else {
            self.build_listed(0, derivatives, &mut histogram);
        }
        let query = Query { leaf: LeafTotals::new(root.sums, self.limits), random: random.as_deref() };
        root.best = self.finder().search_one(query, &mut histogram, &mut self.buffers);
        root.histogram = Some(histogram);
        self.release_if_done(root);
    }

    /// Builds the histogram of a leaf from its row list.
    fn build_listed(&mut self, leaf: usize, derivatives: Derivatives<'_>, histogram: &mut Histogram) {
        let rows = self.partition.rows(leaf);
        let parallel = rows.len() * self.bins.features.len() >= PARALLEL_CELLS;
        gather(derivatives.gradients, rows, &mut self.ordered_gradients, parallel);
        if let Some(hessians) = derivatives.hessians {
            gather(hessians, rows, &mut self.ordered_hessians, parallel);
        }
        let ordered = Derivatives {
            gradients: &self.ordered_gradients,
            hessians: derivatives.hessians.map(|_| self.ordered_hessians.as_slice()),
        };
        let used = &histogram.is_splittable;
        self.builder.build(self.bins, Rows::Listed(rows), ordered, used, &mut histogram.entries);
    }

    /// Finds the best splits of the two leaves a split has just made. The left one holds the parent's histogram.
    fn search_children(
        &mut self,
        leaves: &mut [Leaf],
        left: usize,
        right: usize,
        derivatives: Derivatives<'_>,
        rng: &mut ChaCha8Rng,
    ) {
        let Some(parent) = leaves[left].histogram.take() else { return };
        let (n_left, n_right) = (leaves[left].sums.count, leaves[right].sums.count);
        let too_deep = self.shape.max_depth > 0 && leaves[left].depth >= self.shape.max_depth;
        if too_deep || (n_left.max(n_right) as f64) < 2.0 * self.limits.min_data_in_leaf {
            self.free.push(parent);
            return;
        }
        let (small, large) = if n_left < n_right { (left, right) } else { (right, left) };
        let mut of_small = self.new_histogram(&parent.is_splittable);
        let mut of_large = parent;
        self.build_listed(small, derivatives, &mut of_small);
        let random = [self.random_numbers(rng), self.random_numbers(rng)];
        let totals = [small, large].map(|leaf| LeafTotals::new(leaves[leaf].sums, self.limits));
        let (best_small, best_large) = self.finder().search_both(
            Query { leaf: totals[0], random: random[0].as_deref() },
            Query { leaf: totals[1], random: random[1].as_deref() },
            &mut of_small,
            &mut of_large,
            &mut self.buffers,
        );
        leaves[small].best = best_small;
        leaves[small].histogram = Some(of_small);
        leaves[large].best = best_large;
        leaves[large].histogram = Some(of_large);
        self.release_if_done(&mut leaves[small]);
        self.release_if_done(&mut leaves[large]);
    }

    /// A leaf that cannot be split needs no histogram.
    fn release_if_done(&mut self, leaf: &mut Leaf) {
        if leaf.best.is_none() {
            self.free.extend(leaf.histogram.take());
        }
    }
}

/// `values[rows]` into `out`.
fn gather(values: &[f32], rows: &[u32], out: &mut Vec<f32>, parallel: bool) {
    out.resize(rows.len(), 0.0);
    let copy = |(out, rows): (&mut [f32], &[u32])| {
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = values[row as usize];
        }
    };
    if parallel {
        out.par_chunks_mut(1 << 14).zip(rows.par_chunks(1 << 14)).for_each(copy);
    } else {
        copy((out.as_mut_slice(), rows));
    }
}

/// A leaf waiting to be split: largest gain first, then the smaller column, then the older leaf.
#[derive(Debug, PartialEq)]
struct QueueEntry {
    gain: f64,
    column: Reverse<usize>,
    leaf: Reverse<usize>,
}

impl Eq for QueueEntry {}

impl Ord for QueueEntry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(self.column.cmp(&other.column)).then(self.leaf.cmp(&other.leaf))
    }
}

impl PartialOrd for QueueEntry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Queues the leaf if it has a split worth making.
fn enqueue(queue: &mut BinaryHeap<QueueEntry>, leaves: &[Leaf], leaf: usize) {
    if let Some(best) = &leaves[leaf].best
        && best.gain > 0.0
    {
        queue.push(QueueEntry { gain: best.gain, column: Reverse(best.column), leaf: Reverse(leaf) });
    }
}
