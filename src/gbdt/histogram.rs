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
    /// Sums the derivatives of `rows` into `out`, length `histogram_len`, overwriting it. Tiles without a feature in
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
                    out.fill(Entry::default());
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
            own.fill(Entry::default());
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
pub(super) fn subtract(parent: &mut [Entry], child: &[Entry]) {
    for (parent, child) in parent.iter_mut().zip(child) {
        parent.gradient -= child.gradient;
        parent.hessian -= child.hessian;
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
