//! Dual decomposition: messages between blocks through the variables' segments raise the bound and prove items and cells useless.
//!
//! A message `phi_b(j)` for each link and segment, summing to 0 over the blocks of a variable, moves cost between blocks; an item pays the best
//! message among its segments, so the sum of block minima stays a lower bound. Messages are used for bounding and fixing only: branching sees the
//! plain relaxation.

use super::links::Links;
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
    /// `[n_links, n_segments]` of one variable.
    table: Vec<f64>,
    mean: Vec<f64>,
    pub(crate) sweeps: u64,
}

/// Largest number of message sweeps at a node.
const MAX_SWEEPS: usize = 20;

/// Sends messages until the cutoff is reached or progress is too slow to reach it. `g` are the items' costs, `base` the bound without the
/// blocks. Returns the bound.
pub(crate) fn send(
    links: &Links,
    node: &Node,
    g: &[f64],
    base: f64,
    cutoff: f64,
    scratch: &mut MessageScratch,
) -> f64 {
    scratch.reduced.clear();
    scratch.reduced.extend_from_slice(g);
    scratch.values.clear();
    scratch.values.resize(links.classes.len(), 0.0);
    let plain = sum_of_minima(node, &scratch.reduced, &mut scratch.block_min);
    let largest = g.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    // Rounding: each variable's messages sum to 0 within `links * eps * magnitude`; each sweep adds one rounding to every reduced cost.
    let rounding = f64::EPSILON
        * largest
        * (4.0 * links.links.len() as f64 + 8.0 * (MAX_SWEEPS * links.features.len()) as f64);
    let mut bound = base + plain;
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
        bound = base + sum_of_minima(node, &scratch.reduced, &mut scratch.block_min);
    }
    bound
}

fn sum_of_minima(node: &Node, costs: &[f64], block_min: &mut Vec<f64>) -> f64 {
    block_min.clear();
    let mut sum = 0.0;
    for b in 0..node.n_blocks() {
        let min = costs[node.block(b)].iter().fold(f64::INFINITY, |a, &x| a.min(x));
        block_min.push(min);
        sum += min;
    }
    sum
}

/// Renews the messages of one variable.
fn exchange(links: &Links, feature: &super::links::FeatureLinks, scratch: &mut MessageScratch) {
    let n = feature.n_segments as usize;
    let feature_links = links.links_of(feature);
    let MessageScratch { reduced, values, table, mean, .. } = scratch;
    table.clear();
    table.resize(feature_links.len() * n, f64::INFINITY);
    mean.clear();
    mean.resize(n, 0.0);
    for (link, row) in feature_links.iter().zip(table.chunks_exact_mut(n)) {
        for k in link.first_class as usize..link.end_class as usize {
            let class = &links.classes[k];
            let cheapest =
                links.members_of(class).iter().fold(f64::INFINITY, |a, &i| a.min(reduced[i as usize]));
            let cost = cheapest + values[k];
            for &(first, end) in links.runs_of(class) {
                for entry in &mut row[first as usize..end as usize] {
                    *entry = entry.min(cost);
                }
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
    for (link, row) in feature_links.iter().zip(table.chunks_exact_mut(n)) {
        for (entry, mean) in row.iter_mut().zip(&*mean) {
            *entry -= mean;
        }
        for k in link.first_class as usize..link.end_class as usize {
            let class = &links.classes[k];
            let mut value = f64::NEG_INFINITY;
            for &(first, end) in links.runs_of(class) {
                value = row[first as usize..end as usize].iter().fold(value, |a, &x| a.max(x));
            }
            let change = value - values[k];
            values[k] = value;
            for &i in links.members_of(class) {
                reduced[i as usize] -= change;
            }
        }
    }
}

/// Lower bound of every segment of every linked variable, from the reduced costs: `bound + sum_b (min over the segment - min)`.
pub(crate) fn bound_segments(links: &Links, bound: f64, scratch: &mut MessageScratch) {
    let MessageScratch { reduced, block_min, segment_bound, table, .. } = scratch;
    segment_bound.clear();
    segment_bound.resize(links.segment_starts.len() - 1, bound);
    for feature in &links.features {
        let n = feature.n_segments as usize;
        let bounds = &mut segment_bound[links.segments(feature)];
        for link in links.links_of(feature) {
            table.clear();
            table.resize(n, f64::INFINITY);
            for class in links.classes_of(link) {
                let cheapest =
                    links.members_of(class).iter().fold(f64::INFINITY, |a, &i| a.min(reduced[i as usize]));
                for &(first, end) in links.runs_of(class) {
                    for entry in &mut table[first as usize..end as usize] {
                        *entry = entry.min(cheapest);
                    }
                }
            }
            let min = block_min[link.block as usize];
            for (bound, entry) in bounds.iter_mut().zip(&*table) {
                *bound += entry - min;
            }
        }
    }
}
