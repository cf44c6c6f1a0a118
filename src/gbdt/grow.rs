//! Growing one tree, best leaf first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leafgp_solver::LevelSet;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::bin_mapper::Bins;
use super::bin_matrix::BinMatrix;
use super::histogram::{Derivatives, Entry, HistogramBuilder, PARALLEL_CELLS, Rows, derive_bin, subtract};
use super::partition::Partition;
use super::split::{BinRule, LeafSums, NumericScan, Split, SplitLimits};
use super::split_categorical::CategoricalScan;
use super::tree::{Child, DecisionTree, LeafNode, SplitNode, SplitRule};

/// Rows whose gradients are summed in one go at the root; fixed, so that the sum does not depend on threads.
const SUM_ROWS: usize = 1 << 16;
/// Histogram entries below which a leaf's features are searched on the calling thread.
const PARALLEL_ENTRIES: usize = 1 << 12;

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

#[derive(Debug)]
struct Histogram {
    entries: Vec<Entry>,
    /// By slot: false once no threshold of the feature had enough gain; then no descendant looks at it again.
    is_splittable: Vec<bool>,
}

/// Grows trees on one binned table, keeping its work buffers between them.
#[derive(Debug)]
pub(super) struct TreeGrower<'a> {
    bins: &'a BinMatrix,
    limits: SplitLimits,
    shape: Shape,
    builder: HistogramBuilder,
    pub(super) partition: Partition,
    free: Vec<Vec<Entry>>,
    ordered_gradients: Vec<f32>,
    ordered_hessians: Vec<f32>,
}

/// What one search is about: sums, histogram and random numbers of a leaf.
#[derive(Clone, Copy)]
struct Search<'a> {
    sums: LeafSums,
    /// By slot, with extremely randomised trees.
    random: Option<&'a [f64]>,
}

impl<'a> TreeGrower<'a> {
    pub(super) fn new(bins: &'a BinMatrix, limits: SplitLimits, shape: Shape) -> Self {
        Self {
            bins,
            limits,
            shape,
            builder: HistogramBuilder::default(),
            partition: Partition::default(),
            free: Vec::new(),
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
        let mut leaves = vec![Leaf { sums, depth: 0, output, parent: None, histogram: None, best: None }];
        let mut splits: Vec<SplitNode> = Vec::new();
        let mut queue = BinaryHeap::new();
        self.search_root(&mut leaves[0], derivatives, bag, is_used, rng);
        queue.extend(queue_entry(&leaves, 0));
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
                queue.extend(queue_entry(&leaves, at));
                queue.extend(queue_entry(&leaves, new));
            }
        }
        for leaf in &mut leaves {
            self.free.extend(leaf.histogram.take().map(|histogram| histogram.entries));
        }
        let leaf_node =
            |leaf: &Leaf| LeafNode { value: leaf.output, weight: leaf.sums.hessian, count: leaf.sums.count };
        DecisionTree { splits, leaves: leaves.iter().map(leaf_node).collect(), shrinkage: 1.0 }
    }

    fn root_sums(&self, derivatives: Derivatives<'_>, bag: Option<&[u32]>) -> LeafSums {
        let total = |values: &[f32]| -> f64 {
            let parts: Vec<f64> = match bag {
                None => {
                    values.chunks(SUM_ROWS).map(|part| part.iter().map(|&v| f64::from(v)).sum()).collect()
                }
                Some(bag) => bag
                    .chunks(SUM_ROWS)
                    .map(|part| part.iter().map(|&row| f64::from(values[row as usize])).sum())
                    .collect(),
            };
            parts.iter().sum()
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

    fn new_histogram(&mut self, is_splittable: Vec<bool>) -> Histogram {
        let entries = self.free.pop().unwrap_or_else(|| vec![Entry::default(); self.bins.histogram_len]);
        Histogram { entries, is_splittable }
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
        let mut histogram = self.new_histogram(is_used.to_vec());
        if bag.is_none() {
            let rows = Rows::All(self.bins.n_rows);
            self.builder.build(self.bins, rows, derivatives, is_used, &mut histogram.entries);
        } else {
            self.build_listed(0, derivatives, &mut histogram);
        }
        let search = Search { sums: root.sums, random: random.as_deref() };
        root.best = self.search_one(search, &mut histogram);
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
            self.free.push(parent.entries);
            return;
        }
        let (small, large) = if n_left < n_right { (left, right) } else { (right, left) };
        let mut of_small = self.new_histogram(parent.is_splittable.clone());
        let mut of_large = parent;
        self.build_listed(small, derivatives, &mut of_small);
        let random = [self.random_numbers(rng), self.random_numbers(rng)];
        let search = |leaf: usize, random: &'_ Option<Vec<f64>>| (leaves[leaf].sums, random.clone());
        let (small_sums, small_random) = search(small, &random[0]);
        let (large_sums, large_random) = search(large, &random[1]);
        let small_search = Search { sums: small_sums, random: small_random.as_deref() };
        let large_search = Search { sums: large_sums, random: large_random.as_deref() };
        let (best_small, best_large) =
            self.search_both(small_search, large_search, &mut of_small, &mut of_large);
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
            self.free.extend(leaf.histogram.take().map(|histogram| histogram.entries));
        }
    }

    fn search_one(&self, search: Search<'_>, histogram: &mut Histogram) -> Option<Split> {
        let mut best: Option<Split> = None;
        for slot in 0..self.bins.features.len() {
            if histogram.is_splittable[slot] {
                let entries = self.feature_entries_mut(slot, &mut histogram.entries);
                let found = self.search_fresh(slot, search, entries);
                histogram.is_splittable[slot] = found.is_some();
                keep_better(&mut best, found);
            }
        }
        best
    }

    /// Searches the smaller leaf (its histogram just built) and the larger one (holding the parent's histogram).
    fn search_both(
        &self,
        small: Search<'_>,
        large: Search<'_>,
        of_small: &mut Histogram,
        of_large: &mut Histogram,
    ) -> (Option<Split>, Option<Split>) {
        let search_slot = |slot: usize, small_entries: &mut [Entry], large_entries: &mut [Entry]| {
            let in_small = self.search_fresh(slot, small, small_entries);
            subtract(large_entries, small_entries);
            (in_small, self.search_feature(slot, large, large_entries))
        };
        let (mut best_small, mut best_large) = (None, None);
        let is_used = of_large.is_splittable.clone();
        let (small_flags, large_flags) = (&mut of_small.is_splittable, &mut of_large.is_splittable);
        let mut keep = |slot: usize, (in_small, in_large): (Option<Split>, Option<Split>)| {
            small_flags[slot] = in_small.is_some();
            large_flags[slot] = in_large.is_some();
            keep_better(&mut best_small, in_small);
            keep_better(&mut best_large, in_large);
        };
        let n_slots = self.bins.features.len();
        if self.bins.histogram_len < PARALLEL_ENTRIES || rayon::current_num_threads() == 1 {
            for slot in 0..n_slots {
                if is_used[slot] {
                    let small_entries = self.feature_entries_mut(slot, &mut of_small.entries);
                    let large_entries = self.feature_entries_mut(slot, &mut of_large.entries);
                    let found = search_slot(slot, small_entries, large_entries);
                    keep(slot, found);
                }
            }
        } else {
            let mut tasks = Vec::with_capacity(n_slots);
            let (mut small_rest, mut large_rest) = (&mut of_small.entries[..], &mut of_large.entries[..]);
            for (slot, feature) in self.bins.features.iter().enumerate() {
                let end =
                    self.bins.features.get(slot + 1).map_or(self.bins.histogram_len, |next| next.offset);
                let (small_entries, rest) = small_rest.split_at_mut(end - feature.offset);
                small_rest = rest;
                let (large_entries, rest) = large_rest.split_at_mut(end - feature.offset);
                large_rest = rest;
                if is_used[slot] {
                    let n_bins = feature.mapper.n_bins;
                    tasks.push((slot, &mut small_entries[..n_bins], &mut large_entries[..n_bins]));
                }
            }
            let found: Vec<_> = tasks
                .into_par_iter()
                .map(|(slot, small_entries, large_entries)| {
                    (slot, search_slot(slot, small_entries, large_entries))
                })
                .collect();
            for (slot, pair) in found {
                keep(slot, pair);
            }
        }
        (best_small, best_large)
    }

    fn feature_entries_mut<'h>(&self, slot: usize, entries: &'h mut [Entry]) -> &'h mut [Entry] {
        let feature = &self.bins.features[slot];
        &mut entries[feature.offset..feature.offset + feature.mapper.n_bins]
    }

    /// Searches a histogram summed from rows: first the derived bin is replaced.
    fn search_fresh(&self, slot: usize, search: Search<'_>, entries: &mut [Entry]) -> Option<Split> {
        let derived = self.bins.features[slot].mapper.most_freq_bin;
        if derived > 0 {
            derive_bin(entries, derived, search.sums.gradient, search.sums.hessian);
        }
        self.search_feature(slot, search, entries)
    }

    fn search_feature(&self, slot: usize, search: Search<'_>, entries: &[Entry]) -> Option<Split> {
        let feature = &self.bins.features[slot];
        let random = search.random.map(|numbers| numbers[slot]);
        if feature.mapper.is_categorical() {
            let scan = CategoricalScan { histogram: entries, leaf: search.sums, random };
            return scan.find(&self.limits, slot, feature.column);
        }
        let has_missing = feature.mapper.missing == super::tree::MissingType::Nan;
        let n_thresholds = entries.len() - 1 - usize::from(has_missing && entries.len() > 2);
        let scan = NumericScan {
            histogram: entries,
            has_missing,
            most_freq_bin: feature.mapper.most_freq_bin,
            leaf: search.sums,
            only_bin: random.map(|u| (u * n_thresholds as f64) as usize),
        };
        scan.find(&self.limits, slot, feature.column)
    }
}

fn keep_better(best: &mut Option<Split>, found: Option<Split>) {
    if let Some(found) = found
        && found.beats(best.as_ref())
    {
        *best = Some(found);
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

fn queue_entry(leaves: &[Leaf], leaf: usize) -> Option<QueueEntry> {
    let best = leaves[leaf].best.as_ref()?;
    (best.gain > 0.0).then_some(QueueEntry {
        gain: best.gain,
        column: Reverse(best.column),
        leaf: Reverse(leaf),
    })
}
