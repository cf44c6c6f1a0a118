//! The best split of a leaf over all features.

use rayon::prelude::*;

use super::bin_matrix::BinMatrix;
use super::histogram::{Entry, derive_bin, subtract};
use super::split::{LeafTotals, SearchSite, Split, SplitLimits};
use super::split_categorical::CategoricalScan;
use super::split_numeric::{NumericScan, ScanBuffers};
use super::tree::MissingType;

/// Histogram entries below which a leaf's features are searched on the calling thread.
const PARALLEL_ENTRIES: usize = 1 << 12;

/// The histograms of a leaf.
#[derive(Debug)]
pub(super) struct Histogram {
    pub(super) entries: Vec<Entry>,
    /// By slot: false once no threshold of the feature had enough gain; then no descendant looks at it again.
    pub(super) is_splittable: Vec<bool>,
}

/// What one search is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    pub(super) leaf: LeafTotals,
    /// By slot, with extremely randomised trees.
    pub(super) random: Option<&'a [f64]>,
}

/// Searches leaves of one binned table.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitFinder<'a> {
    pub(super) bins: &'a BinMatrix,
    pub(super) limits: &'a SplitLimits,
}

impl SplitFinder<'_> {
    /// Searches a leaf whose histogram has just been built.
    pub(super) fn search_one(
        &self,
        query: Query<'_>,
        histogram: &mut Histogram,
        buffers: &mut ScanBuffers,
    ) -> Option<Split> {
        let mut best: Option<Split> = None;
        for slot in 0..self.bins.features.len() {
            if histogram.is_splittable[slot] {
                let entries = self.feature_entries_mut(slot, &mut histogram.entries);
                histogram.is_splittable[slot] = self.search_fresh(slot, query, entries, buffers, &mut best);
            }
        }
        best
    }

    /// Searches the smaller leaf of two siblings (its histogram just built) and the larger one (holding the parent's histogram).
    pub(super) fn search_both(
        &self,
        small: Query<'_>,
        large: Query<'_>,
        of_small: &mut Histogram,
        of_large: &mut Histogram,
        buffers: &mut ScanBuffers,
    ) -> (Option<Split>, Option<Split>) {
        let mut best = (None, None);
        let search_slot = |slot: usize,
                           small_entries: &mut [Entry],
                           large_entries: &mut [Entry],
                           buffers: &mut ScanBuffers,
                           best: &mut (Option<Split>, Option<Split>)| {
            let in_small = self.search_fresh(slot, small, small_entries, buffers, &mut best.0);
            subtract(large_entries, small_entries);
            (in_small, self.search_feature(slot, large, large_entries, buffers, &mut best.1))
        };
        let n_slots = self.bins.features.len();
        let (small_flags, large_flags) = (&mut of_small.is_splittable, &mut of_large.is_splittable);
        if self.bins.histogram_len < PARALLEL_ENTRIES || rayon::current_num_threads() == 1 {
            for slot in 0..n_slots {
                if large_flags[slot] {
                    let small_entries = self.feature_entries_mut(slot, &mut of_small.entries);
                    let large_entries = self.feature_entries_mut(slot, &mut of_large.entries);
                    (small_flags[slot], large_flags[slot]) =
                        search_slot(slot, small_entries, large_entries, buffers, &mut best);
                }
            }
            return best;
        }
        let mut tasks = Vec::with_capacity(n_slots);
        let (mut small_rest, mut large_rest) = (&mut of_small.entries[..], &mut of_large.entries[..]);
        for (slot, feature) in self.bins.features.iter().enumerate() {
            let end = self.bins.features.get(slot + 1).map_or(self.bins.histogram_len, |next| next.offset);
            let (small_entries, rest) = small_rest.split_at_mut(end - feature.offset);
            small_rest = rest;
            let (large_entries, rest) = large_rest.split_at_mut(end - feature.offset);
            large_rest = rest;
            if large_flags[slot] {
                let n_bins = feature.mapper.n_bins;
                tasks.push((slot, &mut small_entries[..n_bins], &mut large_entries[..n_bins]));
            }
        }
        let found: Vec<_> = tasks
            .into_par_iter()
            .map_init(ScanBuffers::default, |buffers, (slot, small_entries, large_entries)| {
                let mut best = (None, None);
                let flags = search_slot(slot, small_entries, large_entries, buffers, &mut best);
                (slot, flags, best)
            })
            .collect();
        for (slot, flags, (in_small, in_large)) in found {
            (small_flags[slot], large_flags[slot]) = flags;
            in_small.into_iter().for_each(|split| split.offer(&mut best.0));
            in_large.into_iter().for_each(|split| split.offer(&mut best.1));
        }
        best
    }

    fn feature_entries_mut<'h>(&self, slot: usize, entries: &'h mut [Entry]) -> &'h mut [Entry] {
        let feature = &self.bins.features[slot];
        &mut entries[feature.offset..feature.offset + feature.mapper.n_bins]
    }

    /// Searches a histogram summed from rows: first the derived bin is replaced.
    fn search_fresh(
        &self,
        slot: usize,
        query: Query<'_>,
        entries: &mut [Entry],
        buffers: &mut ScanBuffers,
        best: &mut Option<Split>,
    ) -> bool {
        let derived = self.bins.features[slot].mapper.most_freq_bin;
        if derived > 0 {
            derive_bin(entries, derived, query.leaf.sums.gradient, query.leaf.sums.hessian);
        }
        self.search_feature(slot, query, entries, buffers, best)
    }

    fn search_feature(
        &self,
        slot: usize,
        query: Query<'_>,
        entries: &[Entry],
        buffers: &mut ScanBuffers,
        best: &mut Option<Split>,
    ) -> bool {
        let feature = &self.bins.features[slot];
        let site = SearchSite { limits: self.limits, leaf: query.leaf, slot, column: feature.column };
        let random = query.random.map(|numbers| numbers[slot]);
        if feature.mapper.is_categorical() {
            return CategoricalScan { histogram: entries, random }.find(&site, best);
        }
        let has_missing = feature.mapper.missing == MissingType::Nan;
        let n_thresholds = entries.len() - 1 - usize::from(has_missing && entries.len() > 2);
        let scan = NumericScan {
            histogram: entries,
            has_missing,
            most_freq_bin: feature.mapper.most_freq_bin,
            only_bin: random.map(|u| (u * n_thresholds as f64) as usize),
        };
        scan.find(&site, buffers, best)
    }
}
