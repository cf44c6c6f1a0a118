//! Dual decomposition: messages between blocks through the variables' segments raise the bound and prove items and cells useless.
//!
//! A message `phi_b(j)` for each link and segment, summing to 0 over the blocks of a variable, moves cost between blocks; an item pays the best
//! message among its segments, so the sum of block minima stays a lower bound. Messages are used for bounding and fixing only: branching sees the
//! plain relaxation.

use super::kernels::{Kernels, largest, smallest};
use super::links::{FeatureLinks, Links};
use super::node::Node;

/// Buffers and results of [`send`].
#[derive(Debug, Default)]
pub(crate) struct MessageScratch {
    /// Cost of each item after messages.
    pub(crate) reduced: Vec<f64>,
    /// Smallest reduced cost of each block.
    pub(crate) block_min: Vec<f64>,
    /// Lower bound of each segment of each linked variable (indexed as the segments of the links).
    pub(crate) segment_bound: Vec<f64>,
    /// Message value of each class.
    values: Vec<f64>,
    /// Smallest reduced cost of each class, then the change of its value.
    minima: Vec<f64>,
    /// `[n_links, n_segments]` of one variable.
    table: Vec<f64>,
    mean: Vec<f64>,
    /// Sweeps of the last call that are part of its result.
    pub(crate) sweeps: u8,
}

/// Largest number of message sweeps at a node.
const MAX_SWEEPS: usize = 20;

/// Sends messages until the cutoff is reached or progress is too slow to reach it. `g` are the items' costs, `base` the bound without the
/// blocks. Returns the bound.
pub(crate) fn send(
    kernels: Kernels,
    links: &Links,
    node: &Node,
    (g, base): (&[f64], f64),
    cutoff: f64,
    scratch: &mut MessageScratch,
) -> f64 {
    kernels.dispatch(
        #[inline(always)]
        || send_here(links, node, (g, base), cutoff, scratch),
    )
}

#[inline(always)]
fn send_here(
    links: &Links,
    node: &Node,
    (g, base): (&[f64], f64),
    cutoff: f64,
    scratch: &mut MessageScratch,
) -> f64 {
    scratch.reduced.clear();
    scratch.reduced.extend_from_slice(g);
    scratch.values.clear();
    scratch.values.resize(links.classes.len(), 0.0);
    scratch.minima.clear();
    scratch.minima.resize(links.classes.len(), 0.0);
    let plain = sum_of_minima(node, &scratch.reduced, &mut scratch.block_min);
    // A mean of `n` entries errs by at most `n` roundings, in each of the `n` messages that should sum to 0; each sweep adds two roundings to
    // every reduced cost. The factor 4 covers costs that grow on the way.
    let magnitude = 4.0 * g.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let roundings = links.features.iter().map(|f| {
        let n = f64::from(f.end_link - f.first_link);
        n * (n + (2 * MAX_SWEEPS + 4) as f64)
    });
    let rounding = f64::EPSILON * magnitude * roundings.sum::<f64>();
    let mut bound = base + plain;
    scratch.sweeps = 0;
    if bound >= cutoff || !links.features.iter().any(|f| f.end_link - f.first_link >= 2) {
        return bound;
    }
    let mut last = bound;
    for _ in 0..MAX_SWEEPS {
        scratch.sweeps += 1;
        for feature in &links.features {
            if feature.end_link - feature.first_link >= 2 {
                exchange(links, feature, scratch);
            }
        }
        bound = base + sum_of_minima(node, &scratch.reduced, &mut scratch.block_min) - rounding;
        if bound >= cutoff || bound + 5.0 * (bound - last) < cutoff {
            break;
        }
        last = bound;
    }
    if bound < base + plain {
        scratch.reduced.clear();
        scratch.reduced.extend_from_slice(g);
        scratch.sweeps = 0;
        bound = base + sum_of_minima(node, &scratch.reduced, &mut scratch.block_min);
    }
    bound
}

#[inline(always)]
fn sum_of_minima(node: &Node, costs: &[f64], block_min: &mut Vec<f64>) -> f64 {
    block_min.clear();
    let mut sum = 0.0;
    for b in 0..node.n_blocks() {
        let min = smallest(&costs[node.block(b)]);
        block_min.push(min);
        sum += min;
    }
    sum
}

/// Smallest cost of each class of a variable, from the costs of the items.
#[inline(always)]
fn class_minima(links: &Links, feature: &FeatureLinks, costs: &[f64], minima: &mut [f64]) {
    let groups = links.feature_groups(feature);
    for ([a, b, c, d], &k) in links.groups[groups.clone()].iter().zip(&links.group_class[groups]) {
        let [a, b, c, d] = [*a, *b, *c, *d].map(|i| costs[i as usize]);
        let ab = if a < b { a } else { b };
        let cd = if c < d { c } else { d };
        let cost = if ab < cd { ab } else { cd };
        let min = &mut minima[k as usize];
        *min = if cost < *min { cost } else { *min };
    }
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

/// Lowers the entries of a row that belong to a class. Rows of at most 64 segments are handled whole, by bits: short runs of varying length
/// would mispredict at every end.
#[inline(always)]
fn lower_class(links: &Links, k: usize, narrow: bool, row: &mut [f64], cost: f64) {
    if narrow {
        let mut bits = links.class_bits[k];
        for chunk in row.chunks_exact_mut(LANES) {
            let penalties = &PENALTIES[(bits & 15) as usize];
            bits >>= LANES;
            for j in 0..LANES {
                let candidate = cost + penalties[j];
                chunk[j] = if candidate < chunk[j] { candidate } else { chunk[j] };
            }
        }
    } else {
        for &(first, end) in links.runs_of(&links.classes[k]) {
            for entry in &mut row[first as usize..end as usize] {
                *entry = if cost < *entry { cost } else { *entry };
            }
        }
    }
}

/// The largest entry of a row that belongs to a class.
#[inline(always)]
fn largest_of_class(links: &Links, k: usize, narrow: bool, row: &[f64]) -> f64 {
    if narrow {
        let mut best = [f64::NEG_INFINITY; LANES];
        let mut bits = links.class_bits[k];
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
    } else {
        let mut value = f64::NEG_INFINITY;
        for &(first, end) in links.runs_of(&links.classes[k]) {
            let top = largest(&row[first as usize..end as usize]);
            value = if top > value { top } else { value };
        }
        value
    }
}

/// Entries handled at a time; rows are padded to a multiple.
const LANES: usize = 4;

/// Row length for a number of segments, and whether rows are handled by bits.
#[inline(always)]
fn row_shape(feature: &FeatureLinks) -> (usize, bool) {
    let n = feature.n_segments as usize;
    (n.next_multiple_of(LANES), n <= 64)
}

/// Renews the messages of one variable.
#[inline(always)]
fn exchange(links: &Links, feature: &FeatureLinks, scratch: &mut MessageScratch) {
    let (stride, narrow) = row_shape(feature);
    let feature_links = links.links_of(feature);
    let classes = links.feature_classes(feature);
    let MessageScratch { reduced, values, minima, table, mean, .. } = scratch;
    minima[classes.clone()].fill(f64::INFINITY);
    class_minima(links, feature, reduced, minima);
    table.clear();
    table.resize(feature_links.len() * stride, f64::INFINITY);
    mean.clear();
    mean.resize(stride, 0.0);
    for (link, row) in feature_links.iter().zip(table.chunks_exact_mut(stride)) {
        for k in link.first_class as usize..link.end_class as usize {
            lower_class(links, k, narrow, row, minima[k] + values[k]);
        }
        if link.has_free {
            let k = link.end_class as usize;
            let cost = minima[k] + values[k];
            for entry in row.iter_mut() {
                *entry = if cost < *entry { cost } else { *entry };
            }
        }
        for (mean, entry) in mean.iter_mut().zip(&*row) {
            *mean += entry;
        }
    }
    let share = 1.0 / feature_links.len() as f64;
    for mean in mean.iter_mut() {
        *mean *= share;
    }
    let n = feature.n_segments as usize;
    for (link, row) in feature_links.iter().zip(table.chunks_exact_mut(stride)) {
        for (entry, mean) in row.iter_mut().zip(&*mean) {
            *entry -= mean;
        }
        for k in link.first_class as usize..link.end_class as usize {
            let value = largest_of_class(links, k, narrow, row);
            minima[k] = value - values[k];
            values[k] = value;
        }
        if link.has_free {
            let k = link.end_class as usize;
            let value = largest(&row[..n]);
            minima[k] = value - values[k];
            values[k] = value;
        }
    }
    // What the minima held is used up: they now hold the changes.
    let members = links.feature_members(feature);
    for (&i, &k) in links.members[members.clone()].iter().zip(&links.member_class[members]) {
        reduced[i as usize] -= minima[k as usize];
    }
}

/// Lower bound of every segment of every linked variable, from the reduced costs: `bound + sum_b (min over the segment - min)`.
pub(crate) fn bound_segments(kernels: Kernels, links: &Links, bound: f64, scratch: &mut MessageScratch) {
    kernels.dispatch(
        #[inline(always)]
        || bound_segments_here(links, bound, scratch),
    );
}

#[inline(always)]
fn bound_segments_here(links: &Links, bound: f64, scratch: &mut MessageScratch) {
    let MessageScratch { reduced, block_min, segment_bound, table, minima, .. } = scratch;
    segment_bound.clear();
    segment_bound.resize(links.segment_starts.len() - 1, bound);
    minima.clear();
    minima.resize(links.classes.len(), f64::INFINITY);
    for feature in &links.features {
        let (stride, narrow) = row_shape(feature);
        class_minima(links, feature, reduced, minima);
        let bounds = &mut segment_bound[links.segments(feature)];
        for link in links.links_of(feature) {
            let free = if link.has_free { minima[link.end_class as usize] } else { f64::INFINITY };
            table.clear();
            table.resize(stride, free);
            for k in link.first_class as usize..link.end_class as usize {
                lower_class(links, k, narrow, table, minima[k]);
            }
            let min = block_min[link.block as usize];
            for (bound, entry) in bounds.iter_mut().zip(&*table) {
                *bound += entry - min;
            }
        }
    }
}
