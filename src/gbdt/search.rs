//! The best split of a leaf over all features.

use pulp::{Arch, Simd, WithSimd};
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
    /// The widest instructions of the machine, which change no result.
    pub(super) arch: Arch,
}

/// The search of one feature in a leaf whose histogram was summed from rows, and in its sibling with the parent's histogram, if any.
struct FeatureSearch<'t, 'a> {
    finder: &'t SplitFinder<'a>,
    slot: usize,
    fresh: &'t Query<'a>,
    entries: &'t mut [Entry],
    sibling: Option<(&'t Query<'a>, &'t mut [Entry])>,
    buffers: &'t mut ScanBuffers,
    /// Best splits of the leaf and the sibling so far.
    best: &'t mut (Option<Split>, Option<Split>),
}

impl WithSimd for FeatureSearch<'_, '_> {
    /// For the leaf and the sibling whether any threshold had enough gain.
    type Output = (bool, bool);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (bool, bool) {
        let Self { finder, slot, fresh, entries, sibling, buffers, best } = self;
        let derived = finder.bins.features[slot].mapper.most_freq_bin;
        if derived > 0 {
            derive_bin(entries, derived, fresh.leaf.sums.gradient, fresh.leaf.sums.hessian);
        }
        let in_fresh = finder.search_feature(slot, fresh, entries, buffers, &mut best.0);
        let Some((query, of_sibling)) = sibling else { return (in_fresh, false) };
        subtract(of_sibling, entries);
        (in_fresh, finder.search_feature(slot, query, of_sibling, buffers, &mut best.1))
    }
}

impl SplitFinder<'_> {
    /// Searches a leaf whose histogram has just been built.
    pub(super) fn search_one(
        &self,
        query: Query<'_>,
        histogram: &mut Histogram,
        buffers: &mut ScanBuffers,
    ) -> Option<Split> {
        let mut best = (None, None);
        for slot in 0..self.bins.features.len() {
            if histogram.is_splittable[slot] {
                let entries = self.feature_entries_mut(slot, &mut histogram.entries);
                let (fresh, best) = (&query, &mut best);
                let search =
                    FeatureSearch { finder: self, slot, fresh, entries, sibling: None, buffers, best };
                (histogram.is_splittable[slot], _) = self.arch.dispatch(search);
            }
        }
        best.0
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
                           entries: &mut [Entry],
                           large_entries: &mut [Entry],
                           buffers: &mut ScanBuffers,
                           best: &mut (Option<Split>, Option<Split>)| {
            let sibling = Some((&large, large_entries));
            self.arch.dispatch(FeatureSearch {
                finder: self,
                slot,
                fresh: &small,
                entries,
                sibling,
                buffers,
                best,
            })
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

    #[inline(always)]
    fn search_feature(
        &self,
        slot: usize,
        query: &Query<'_>,
        entries: &[Entry],
        buffers: &mut ScanBuffers,
        best: &mut Option<Split>,
    ) -> bool {
        let feature = &self.bins.features[slot];
        let site = SearchSite { limits: self.limits, leaf: &query.leaf, slot, column: feature.column };
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
