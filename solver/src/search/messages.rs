//! Dual decomposition: messages between blocks through the variables' segments raise the bound and prove items and cells useless.
//!
//! A message `phi_b(j)` for each link and segment, summing to 0 over the blocks of a variable, moves cost between blocks; an item pays the best
//! message among its segments, so the sum of block minima stays a lower bound.
//!
//! Where rows are kept by piece, an item that a variable leaves free pays nothing: its block as a whole pays what it would, and the others the difference.

use super::blocks::Blocks;
use super::index::{BlockId, ClassId, IdVec, LinkedId, Position, SegmentId};
use super::kernels::{Kernels, largest, largest_size, smallest};
use super::links::{Link, LinkedFeature, Links};
use super::pieces::{self, RunMinima};

/// Messages of a node and what they leave of its costs.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Cost of each item after messages.
    pub(crate) reduced: IdVec<Position, f64>,
    /// Smallest reduced cost of each block.
    pub(crate) block_min: IdVec<BlockId, f64>,
    /// Lower bound of each segment of each linked variable.
    pub(crate) segment_bound: IdVec<SegmentId, f64>,
    /// What the items of each class pay: the best message among its segments, where rows are kept by piece less that of all segments if the link has free items.
    pub(crate) values: IdVec<ClassId, f64>,
    /// What the blocks as a whole pay for the messages of each variable.
    pub(super) whole: IdVec<LinkedId, Whole>,
    /// Smallest reduced cost of each class, then the change of its value.
    pub(super) minima: IdVec<ClassId, f64>,
    /// `[n_links, n_segments]` of one variable; or the rows of its links by piece, one after another.
    pub(super) table: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) run_minima: RunMinima,
}

/// What whole blocks pay for the messages of one variable.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    pub(super) sum: f64,
    /// Sum of the terms' sizes.
    pub(super) size: f64,
}

impl Whole {
    #[inline(always)]
    pub(super) fn add(&mut self, of_block: f64) {
        self.sum += of_block;
        self.size += of_block.abs();
    }
}

impl Messages {
    /// Starts with messages of 0.
    pub(crate) fn clear(&mut self, links: &Links) {
        self.values.refill(links.classes.len(), 0.0);
        self.minima.refill(links.classes.len(), 0.0);
        self.whole.refill(links.features.len(), Whole::default());
    }

    /// Renews the messages of every variable once.
    pub(crate) fn sweep(&mut self, kernels: Kernels, links: &Links) {
        kernels.dispatch(
            #[inline(always)]
            || {
                for (number, feature) in links.features.ids().into_iter().zip(&links.features) {
                    if !feature.ties() {
                        continue;
                    }
                    if feature.by_piece() {
                        self.whole[number] = pieces::exchange(links, feature, self);
                    } else {
                        exchange(links, feature, self);
                    }
                }
            },
        );
    }

    /// `sum_b min_i` of the reduced costs.
    pub(crate) fn sum_of_minima(&mut self, blocks: &Blocks) -> f64 {
        self.block_min.clear();
        let mut sum = 0.0;
        for block in blocks.spans.parts() {
            let min = smallest(&self.reduced[block]);
            self.block_min.push(min);
            sum += min;
        }
        sum
    }

    /// What whole blocks pay: the bound is the sum of minima less this.
    pub(crate) fn paid_by_blocks(&self) -> f64 {
        self.whole.iter().map(|whole| whole.sum).sum()
    }

    /// How far rounding can put the sum of the blocks' minima above a valid bound. A mean of `n` entries errs by at most `n` roundings, in each of
    /// the `n` messages that should sum to 0; each sweep adds two roundings to every reduced cost, and taking out what a parent's messages ask two
    /// more; the sum itself one a block. The factor 4 covers what was larger on the way. By piece, the mean is a running sum of the steps of all rows: as
    /// many roundings as there are pieces. Taking out of what items pay what their block pays is one more of each; the sum of the latter, at most one of all of it a link.
    pub(crate) fn margin(&self, links: &Links, blocks: &Blocks, sweeps: usize) -> f64 {
        let sizes = [self.reduced.as_slice(), self.values.as_slice()].map(largest_size);
        let magnitude = 4.0 * largest(&sizes);
        let by_blocks: f64 = self.whole.iter().map(|whole| whole.size).sum();
        let sum_by_blocks = 2.0 * links.links.len() as f64 * by_blocks;
        let links = links.features.iter().map(|f| {
            let n = f.links.len() as f64;
            let terms = f.links.len().max(f.pieces.len()) as f64;
            n * (terms + (2 * sweeps + 6) as f64)
        });
        f64::EPSILON * (magnitude * (links.sum::<f64>() + (blocks.len() as f64).powi(2)) + sum_by_blocks)
    }
}

/// Takes what the items pay, by class, out of their costs.
pub(crate) fn charge(links: &Links, values: &IdVec<ClassId, f64>, costs: &mut IdVec<Position, f64>) {
    for (&i, &k) in links.members.iter().zip(&links.member_class) {
        costs[i] -= values[k];
    }
}

/// Smallest cost of each class of a variable, from the costs of the items.
#[inline(always)]
pub(super) fn class_minima(
    links: &Links,
    linked: &LinkedFeature,
    costs: &IdVec<Position, f64>,
    minima: &mut IdVec<ClassId, f64>,
) {
    let (groups, classes) = (&links.groups[linked.groups], &links.group_class[linked.groups]);
    for ([a, b, c, d], &k) in groups.iter().zip(classes) {
        let [a, b, c, d] = [*a, *b, *c, *d].map(|i| costs[i]);
        let ab = if a < b { a } else { b };
        let cd = if c < d { c } else { d };
        let cost = if ab < cd { ab } else { cd };
        let min = &mut minima[k];
        *min = if cost < *min { cost } else { *min };
    }
    if linked.by_piece() {
        free_minima(links, linked, costs, minima);
    }
}

/// Smallest cost of each free class of a variable whose rows are kept by piece.
#[inline(always)]
pub(super) fn free_minima(
    links: &Links,
    linked: &LinkedFeature,
    costs: &IdVec<Position, f64>,
    minima: &mut IdVec<ClassId, f64>,
) {
    for link in &links.links[linked.links] {
        if let Some(k) = link.free() {
            minima[k] = smallest_free(links, link, costs);
        }
    }
}

/// The smallest cost of the items that a variable leaves free.
#[inline(always)]
fn smallest_free(links: &Links, link: &Link, costs: &IdVec<Position, f64>) -> f64 {
    let mut best = [f64::INFINITY; LANES];
    for (&word, costs) in links.free_words(link).iter().zip(costs[link.items].chunks(64)) {
        let mut bits = word;
        let mut lower = |four: &[f64; LANES]| {
            let penalties = &PENALTIES[(bits & 15) as usize];
            bits >>= LANES;
            for j in 0..LANES {
                let candidate = four[j] + penalties[j];
                best[j] = if candidate < best[j] { candidate } else { best[j] };
            }
        };
        let (fours, rest) = pulp::as_arrays::<LANES, _>(costs);
        fours.iter().for_each(&mut lower);
        if !rest.is_empty() {
            lower(&std::array::from_fn(|j| rest.get(j).copied().unwrap_or(f64::INFINITY)));
        }
    }
    let ab = if best[0] < best[1] { best[0] } else { best[1] };
    let cd = if best[2] < best[3] { best[2] } else { best[3] };
    if ab < cd { ab } else { cd }
}

/// What to add to four entries of a row, by whether they belong to a class.
static PENALTIES: [[f64; LANES]; 16] = {
    let mut all = [[f64::INFINITY; LANES]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut j = 0;
        while j < LANES {
            if bits >> j & 1 == 1 {
                all[bits][j] = 0.0;
            }
            j += 1;
        }
        bits += 1;
    }
    all
};

/// Lowers the entries of a row, padded, whose bits are set.
#[inline(always)]
pub(super) fn lower_by_bits(mut bits: u64, row: &mut [f64], cost: f64) {
    for chunk in row.chunks_exact_mut(LANES) {
        let penalties = &PENALTIES[(bits & 15) as usize];
        bits >>= LANES;
        for j in 0..LANES {
            let candidate = cost + penalties[j];
            chunk[j] = if candidate < chunk[j] { candidate } else { chunk[j] };
        }
    }
}

/// The largest entry of a row, padded, whose bit is set.
#[inline(always)]
pub(super) fn largest_by_bits(mut bits: u64, row: &[f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    for chunk in row.chunks_exact(LANES) {
        let penalties = &PENALTIES[(bits & 15) as usize];
        bits >>= LANES;
        for j in 0..LANES {
            // Padding may hold infinity or NaN; the comparison then is false.
            let candidate = chunk[j] - penalties[j];
            best[j] = if candidate > best[j] { candidate } else { best[j] };
        }
    }
    let (a, b) = (
        if best[0] > best[1] { best[0] } else { best[1] },
        if best[2] > best[3] { best[2] } else { best[3] },
    );
    if a > b { a } else { b }
}

/// Lowers the entries of a row that belong to a class. Rows of at most 64 segments are handled whole, by bits: short runs of varying length
/// would mispredict at every end.
#[inline(always)]
fn lower_class(links: &Links, k: ClassId, narrow: bool, row: &mut [f64], cost: f64) {
    if narrow {
        lower_by_bits(links.class_bits[k], row, cost);
    } else {
        for run in links.runs_of(k) {
            for entry in &mut row[run.range()] {
                *entry = if cost < *entry { cost } else { *entry };
            }
        }
    }
}

/// The largest entry of a row that belongs to a class.
#[inline(always)]
fn largest_of_class(links: &Links, k: ClassId, narrow: bool, row: &[f64]) -> f64 {
    if narrow {
        largest_by_bits(links.class_bits[k], row)
    } else {
        let mut value = f64::NEG_INFINITY;
        for run in links.runs_of(k) {
            let top = largest(&row[run.range()]);
            value = if top > value { top } else { value };
        }
        value
    }
}

/// Entries handled at a time; rows are padded to a multiple.
pub(super) const LANES: usize = 4;

/// Row length for a number of segments, and whether rows are handled by bits.
#[inline(always)]
fn row_shape(linked: &LinkedFeature) -> (usize, bool) {
    let n = linked.n_segments();
    (n.next_multiple_of(LANES), n <= 64)
}

/// Renews the messages of one variable.
#[inline(always)]
pub(super) fn exchange(links: &Links, linked: &LinkedFeature, scratch: &mut Messages) {
    let (stride, narrow) = row_shape(linked);
    let tied = &links.links[linked.links];
    let Messages { reduced, values, minima, table, mean, .. } = scratch;
    minima[links.classes_of(linked)].fill(f64::INFINITY);
    class_minima(links, linked, reduced, minima);
    table.clear();
    table.resize(tied.len() * stride, f64::INFINITY);
    mean.clear();
    mean.resize(stride, 0.0);
    for (link, row) in tied.iter().zip(table.chunks_exact_mut(stride)) {
        for k in link.classes {
            lower_class(links, k, narrow, row, minima[k] + values[k]);
        }
        if let Some(k) = link.free() {
            let cost = minima[k] + values[k];
            for entry in row.iter_mut() {
                *entry = if cost < *entry { cost } else { *entry };
            }
        }
        for (mean, entry) in mean.iter_mut().zip(&*row) {
            *mean += entry;
        }
    }
    let share = 1.0 / tied.len() as f64;
    for mean in mean.iter_mut() {
        *mean *= share;
    }
    let n = linked.n_segments();
    for (link, row) in tied.iter().zip(table.chunks_exact_mut(stride)) {
        for (entry, mean) in row.iter_mut().zip(&*mean) {
            *entry -= mean;
        }
        for k in link.classes {
            let value = largest_of_class(links, k, narrow, row);
            minima[k] = value - values[k];
            values[k] = value;
        }
        if let Some(k) = link.free() {
            let value = largest(&row[..n]);
            minima[k] = value - values[k];
            values[k] = value;
        }
    }
    // What the minima held is used up: they now hold the changes.
    pay(links, linked, minima, reduced);
}

/// Takes the changes of the classes' values out of the items' costs.
#[inline(always)]
pub(super) fn pay(
    links: &Links,
    linked: &LinkedFeature,
    changes: &IdVec<ClassId, f64>,
    costs: &mut IdVec<Position, f64>,
) {
    let members = linked.members;
    for (&i, &k) in links.members[members].iter().zip(&links.member_class[members]) {
        costs[i] -= changes[k];
    }
}

/// Lower bound of every segment of every linked variable, from the reduced costs: `bound + sum_b (min over the segment - min)`.
pub(crate) fn bound_segments(kernels: Kernels, links: &Links, bound: f64, scratch: &mut Messages) {
    kernels.dispatch(
        #[inline(always)]
        || bound_segments_here(links, bound, scratch),
    );
}

#[inline(always)]
fn bound_segments_here(links: &Links, bound: f64, scratch: &mut Messages) {
    let Messages { reduced, block_min, segment_bound, table, minima, .. } = scratch;
    segment_bound.refill(links.n_segments(), bound);
    minima.refill(links.classes.len(), f64::INFINITY);
    for linked in &links.features {
        let (stride, narrow) = row_shape(linked);
        class_minima(links, linked, reduced, minima);
        let bounds = &mut segment_bound[linked.segments];
        if linked.by_piece() {
            pieces::raise_segments(links, linked, (minima, block_min), (table, bounds));
            continue;
        }
        for link in &links.links[linked.links] {
            let free = link.free().map_or(f64::INFINITY, |k| minima[k]);
            table.clear();
            table.resize(stride, free);
            for k in link.classes {
                lower_class(links, k, narrow, table, minima[k]);
            }
            let min = block_min[link.block];
            for (bound, entry) in bounds.iter_mut().zip(&*table) {
                *bound += entry - min;
            }
        }
    }
}

#[cfg(test)]
mod tests;
