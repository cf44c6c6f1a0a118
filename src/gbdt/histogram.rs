//! Gradient histograms: sums of first and second derivatives per bin.

use rayon::prelude::*;

use super::bin_matrix::{BinMatrix, Tile, TileData};

/// Sums over the rows of one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub(super) struct Entry {
    /// Sum of first derivatives.
    pub(super) gradient: f64,
    /// Sum of second derivatives.
    pub(super) hessian: f64,
}

/// The rows of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows<'a> {
    /// Rows `0..n`.
    All(usize),
    /// Listed rows.
    Listed(&'a [u32]),
}

impl Rows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Listed(rows) => rows.len(),
        }
    }
}

/// First and second derivatives in the order of a leaf's rows; `hessians` is `None` when every one is 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivatives<'a> {
    pub(super) gradients: &'a [f32],
    pub(super) hessians: Option<&'a [f32]>,
}

/// Rows summed into one partial histogram. The blocks depend on the number of rows alone, never on threads, so that sums are
/// the same on any machine; up to this size the order of additions is LightGBM's.
const BLOCK_ROWS: usize = 1 << 16;
const MAX_BLOCKS: usize = 8;
/// Below this many cells (rows times features) a histogram is built on the calling thread.
pub(super) const PARALLEL_CELLS: usize = 1 << 15;

/// Listed rows fetched together before they are summed: their cache misses overlap.
const GATHER_ROWS: usize = 32;

/// Builds histograms, keeping the partial ones between calls.
#[derive(Debug, Default)]
pub(super) struct HistogramBuilder {
    partial: Vec<Entry>,
}

impl HistogramBuilder {
    /// Sums the derivatives of `rows` into `out`, length `histogram_len`, overwriting the entries of bins. Tiles without a feature in
    /// `is_used` (by slot) are left as they are.
    pub(super) fn build(
        &mut self,
        bins: &BinMatrix,
        rows: Rows<'_>,
        derivatives: Derivatives<'_>,
        is_used: &[bool],
        out: &mut [Entry],
    ) {
        let n_rows = rows.len();
        let tile_is_used =
            |tile: &Tile| is_used[tile.first_slot..tile.first_slot + tile.width].iter().any(|&used| used);
        if n_rows * bins.features.len() < PARALLEL_CELLS {
            for (t, tile) in bins.tiles.iter().enumerate() {
                if tile_is_used(tile) {
                    let out = &mut out[bins.tile_offsets[t]..bins.tile_offsets[t + 1]];
                    clear(bins, t, out);
                    accumulate(bins, t, rows, 0..n_rows, derivatives, out);
                }
            }
            return;
        }
        let n_blocks = n_rows.div_ceil(BLOCK_ROWS).clamp(1, MAX_BLOCKS);
        let block_rows = n_rows.div_ceil(n_blocks);
        self.partial.resize((n_blocks - 1) * bins.histogram_len, Entry::default());
        let mut tasks = Vec::with_capacity(n_blocks * bins.tiles.len());
        let histograms =
            std::iter::once(&mut *out).chain(self.partial.chunks_exact_mut(bins.histogram_len.max(1)));
        for (block, mut histogram) in histograms.enumerate() {
            let range = block * block_rows..((block + 1) * block_rows).min(n_rows);
            for (t, tile) in bins.tiles.iter().enumerate() {
                let (own, rest) = histogram.split_at_mut(bins.tile_offsets[t + 1] - bins.tile_offsets[t]);
                histogram = rest;
                if tile_is_used(tile) {
                    tasks.push((t, range.clone(), own));
                }
            }
        }
        tasks.into_par_iter().for_each(|(t, range, own)| {
            clear(bins, t, own);
            accumulate(bins, t, rows, range, derivatives, own);
        });
        for partial in self.partial.chunks_exact(bins.histogram_len.max(1)).take(n_blocks - 1) {
            for (t, tile) in bins.tiles.iter().enumerate() {
                let range = bins.tile_offsets[t]..bins.tile_offsets[t + 1];
                if tile_is_used(tile) {
                    for (sum, term) in out[range.clone()].iter_mut().zip(&partial[range]) {
                        sum.gradient += term.gradient;
                        sum.hessian += term.hessian;
                    }
                }
            }
        }
    }
}

/// Replaces the sums of the derived bin by the leaf's total minus the other bins, as LightGBM does for the bins it does not store.
#[inline(always)]
pub(super) fn derive_bin(histogram: &mut [Entry], derived: usize, total_gradient: f64, total_hessian: f64) {
    let mut sum = Entry { gradient: total_gradient, hessian: total_hessian };
    for (bin, entry) in histogram.iter().enumerate() {
        if bin != derived {
            sum.gradient -= entry.gradient;
            sum.hessian -= entry.hessian;
        }
    }
    histogram[derived] = sum;
}

/// `parent -= child`: what is left is the histogram of the other child.
#[inline(always)]
pub(super) fn subtract(parent: &mut [Entry], child: &[Entry]) {
    for (parent, child) in parent.iter_mut().zip(child) {
        parent.gradient -= child.gradient;
        parent.hessian -= child.hessian;
    }
}

/// Sets the entries that a tile's features use to zero.
fn clear(bins: &BinMatrix, tile: usize, out: &mut [Entry]) {
    let tile = &bins.tiles[tile];
    let members = &bins.features[tile.first_slot..tile.first_slot + tile.width];
    for member in members {
        let start = member.offset - members[0].offset;
        out[start..start + member.mapper.n_bins].fill(Entry::default());
    }
}

/// Adds rows `range` (positions in `rows`) of one tile to its histograms.
fn accumulate(
    bins: &BinMatrix,
    tile: usize,
    rows: Rows<'_>,
    range: std::ops::Range<usize>,
    derivatives: Derivatives<'_>,
    out: &mut [Entry],
) {
    let tile_data = &bins.tiles[tile];
    let gradients = &derivatives.gradients[range.clone()];
    let hessians = derivatives.hessians.map(|hessians| &hessians[range.clone()]);
    match &tile_data.data {
        TileData::Narrow(data) => {
            let call = NarrowCall { data, rows, range, gradients, hessians };
            match (tile_data.width, bins.stride) {
                (1, 16) => call.run::<1, 16>(out),
                (2, 16) => call.run::<2, 16>(out),
                (3, 16) => call.run::<3, 16>(out),
                (4, 16) => call.run::<4, 16>(out),
                (1, 64) => call.run::<1, 64>(out),
                (2, 64) => call.run::<2, 64>(out),
                (3, 64) => call.run::<3, 64>(out),
                (4, 64) => call.run::<4, 64>(out),
                (1, _) => call.run::<1, 256>(out),
                (2, _) => call.run::<2, 256>(out),
                (3, _) => call.run::<3, 256>(out),
                _ => call.run::<4, 256>(out),
            }
        }
        TileData::Wide(data) => {
            let width = tile_data.width;
            let members = &bins.features[tile_data.first_slot..tile_data.first_slot + width];
            let base = members[0].offset;
            for (i, position) in range.enumerate() {
                let row = match rows {
                    Rows::All(_) => position,
                    Rows::Listed(rows) => rows[position] as usize,
                };
                let (gradient, hessian) =
                    (f64::from(gradients[i]), hessians.map_or(1.0, |h| f64::from(h[i])));
                for (member, &bin) in members.iter().zip(&data[row * width..(row + 1) * width]) {
                    let entry = &mut out[member.offset - base + usize::from(bin)];
                    entry.gradient += gradient;
                    entry.hessian += hessian;
                }
            }
        }
    }
}

struct NarrowCall<'a> {
    data: &'a [u8],
    rows: Rows<'a>,
    range: std::ops::Range<usize>,
    gradients: &'a [f32],
    hessians: Option<&'a [f32]>,
}

impl NarrowCall<'_> {
    /// `W` features of `S` bins each, `S` a power of two: the mask replaces a bounds check.
    fn run<const W: usize, const S: usize>(self, out: &mut [Entry]) {
        let (data, _) = self.data.as_chunks::<W>();
        let (histograms, _) = out.as_chunks_mut::<S>();
        let Ok(histograms) = <&mut [[Entry; S]; W]>::try_from(histograms) else {
            unreachable!("a tile's histograms are W times S entries")
        };
        match (self.rows, self.hessians) {
            (Rows::All(_), None) => {
                for (bins, &gradient) in data[self.range].iter().zip(self.gradients) {
                    add(histograms, bins, gradient, 1.0);
                }
            }
            (Rows::All(_), Some(hessians)) => {
                for ((bins, &gradient), &hessian) in data[self.range].iter().zip(self.gradients).zip(hessians)
                {
                    add(histograms, bins, gradient, hessian);
                }
            }
            (Rows::Listed(rows), hessians) => {
                let rows = &rows[self.range];
                let mut gathered = [[0u8; W]; GATHER_ROWS];
                for (chunk, (rows, gradients)) in
                    rows.chunks(GATHER_ROWS).zip(self.gradients.chunks(GATHER_ROWS)).enumerate()
                {
                    for (bins, &row) in gathered.iter_mut().zip(rows) {
                        *bins = data[row as usize];
                    }
                    match hessians {
                        None => {
                            for (bins, &gradient) in gathered.iter().zip(gradients) {
                                add(histograms, bins, gradient, 1.0);
                            }
                        }
                        Some(hessians) => {
                            let hessians = &hessians[chunk * GATHER_ROWS..];
                            for ((bins, &gradient), &hessian) in gathered.iter().zip(gradients).zip(hessians)
                            {
                                add(histograms, bins, gradient, hessian);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add<const W: usize, const S: usize>(
    histograms: &mut [[Entry; S]; W],
    bins: &[u8; W],
    gradient: f32,
    hessian: f32,
) {
    let (gradient, hessian) = (f64::from(gradient), f64::from(hessian));
    for lane in 0..W {
        let entry = &mut histograms[lane][bins[lane] as usize & (S - 1)];
        entry.gradient += gradient;
        entry.hessian += hessian;
    }
}

#[cfg(test)]
mod tests {
    use super::{Derivatives, Entry, HistogramBuilder, Rows, derive_bin, subtract};
    use crate::Table;
    use crate::gbdt::GbdtSettings;
    use crate::gbdt::bin_matrix::BinMatrix;
    use leafgp_solver::Domain;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// Five narrow features and a wide one; gradients are whole numbers, so that sums are exact in any order.
    fn setting(n_rows: usize) -> (BinMatrix, Vec<f32>, Vec<f32>) {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut x = Table::new(6);
        for i in 0..n_rows {
            let mut row = [0.0; 6];
            row.fill_with(|| rng.random_range(-5..6).into());
            row[5] = i as f64;
            x.push(&row);
        }
        let domains = vec![Domain::Continuous { lower: -1e9, upper: 1e9 }; 6];
        let settings = GbdtSettings { max_bin: 500, min_data_in_bin: 1, ..GbdtSettings::default() };
        let bins = BinMatrix::new(&x, &domains, &settings, &mut rng);
        let mut whole = |least: i8| (0..n_rows).map(|_| f32::from(rng.random_range(least..9))).collect();
        (bins, whole(-9), whole(1))
    }

    /// Entry by entry from the definition.
    fn twin(bins: &BinMatrix, rows: &[u32], gradients: &[f32], hessians: Option<&[f32]>) -> Vec<Entry> {
        let mut sums = vec![Entry::default(); bins.histogram_len];
        for (slot, feature) in bins.features.iter().enumerate() {
            for &row in rows {
                let entry = &mut sums[feature.offset + bins.bin(slot, row as usize)];
                entry.gradient += f64::from(gradients[row as usize]);
                entry.hessian += hessians.map_or(1.0, |h| f64::from(h[row as usize]));
            }
        }
        sums
    }

    #[test]
    fn every_path_agrees_with_the_definition_and_children_sum_to_their_parent() {
        // The sizes cover the sequential path, one block and several blocks.
        for n_rows in [40, 20_000, 140_000] {
            let (bins, gradients, hessians) = setting(n_rows);
            let used = vec![true; bins.features.len()];
            let all: Vec<u32> = (0..n_rows as u32).collect();
            let (left, right): (Vec<u32>, Vec<u32>) = all.iter().partition(|&&row| row % 3 == 0);
            for weights in [None, Some(&hessians[..])] {
                let mut builder = HistogramBuilder::default();
                let mut build = |rows: &[u32]| {
                    let pick =
                        |values: &[f32]| -> Vec<f32> { rows.iter().map(|&r| values[r as usize]).collect() };
                    let (gradients, hessians) = (pick(&gradients), weights.map(pick));
                    let derivatives = Derivatives { gradients: &gradients, hessians: hessians.as_deref() };
                    let mut out = vec![Entry::default(); bins.histogram_len];
                    for feature in &bins.features {
                        let stale = Entry { gradient: 7.0, hessian: 7.0 };
                        out[feature.offset..][..feature.mapper.n_bins].fill(stale);
                    }
                    builder.build(&bins, Rows::Listed(rows), derivatives, &used, &mut out);
                    out
                };
                let (parent, small, large) = (build(&all), build(&left), build(&right));
                assert_eq!(parent, twin(&bins, &all, &gradients, weights));
                assert_eq!(small, twin(&bins, &left, &gradients, weights));
                let mut rest = parent.clone();
                subtract(&mut rest, &small);
                assert_eq!(rest, large);
                let derivatives = Derivatives { gradients: &gradients, hessians: weights };
                let mut whole = vec![Entry::default(); bins.histogram_len];
                builder.build(&bins, Rows::All(n_rows), derivatives, &used, &mut whole);
                assert_eq!(whole, parent);
            }
        }
    }

    #[test]
    fn a_derived_bin_is_what_the_others_leave() {
        let entry = |gradient, hessian| Entry { gradient, hessian };
        let mut histogram = [entry(1.0, 2.0), entry(99.0, 99.0), entry(-4.0, 3.0)];
        derive_bin(&mut histogram, 1, 10.0, 9.0);
        assert_eq!(histogram[1], entry(13.0, 4.0));
    }
}
