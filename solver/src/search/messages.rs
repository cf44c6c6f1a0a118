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
    /// Message value of each class, and of the free items of each link.
    values: Vec<f64>,
    free_values: Vec<f64>,
    /// `[n_links, n_segments]` of one variable.
    table: Vec<f64>,
    mean: Vec<f64>,
    /// Reduced costs of the members of one variable's classes while they are masked.
    saved: Vec<f64>,
    pub(crate) sweeps: u64,
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
    scratch.free_values.clear();
    scratch.free_values.resize(links.links.len(), 0.0);
    let plain = sum_of_minima(node, &scratch.reduced, &mut scratch.block_min);
    let magnitude = g.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    // Rounding: each variable's messages sum to 0 within `links * eps * magnitude`; each sweep adds one rounding to every reduced cost.
    let rounding = f64::EPSILON
        * magnitude
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
                exchange(links, node, feature, scratch);
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

/// Lowers the entries of a run to `cost`.
#[inline(always)]
fn lower_to(entries: &mut [f64], cost: f64) {
    for entry in entries {
        *entry = if cost < *entry { cost } else { *entry };
    }
}

/// Renews the messages of one variable. While its costs are looked at, restricted items of a block are masked with infinity, so that what
/// remains of the block's contiguous costs are the free items.
#[inline(always)]
fn exchange(links: &Links, node: &Node, feature: &FeatureLinks, scratch: &mut MessageScratch) {
    let n = feature.n_segments as usize;
    let numbers = feature.first_link as usize..feature.end_link as usize;
    let MessageScratch { reduced, values, free_values, table, mean, saved, .. } = scratch;
    table.clear();
    table.resize(numbers.len() * n, f64::INFINITY);
    mean.clear();
    mean.resize(n, 0.0);
    saved.clear();
    for (number, row) in numbers.clone().zip(table.chunks_exact_mut(n)) {
        let link = &links.links[number];
        for k in link.first_class as usize..link.end_class as usize {
            let class = &links.classes[k];
            let mut cheapest = f64::INFINITY;
            for &i in links.members_of(class) {
                let cost = std::mem::replace(&mut reduced[i as usize], f64::INFINITY);
                saved.push(cost);
                cheapest = if cost < cheapest { cost } else { cheapest };
            }
            let cost = cheapest + values[k];
            for &(first, end) in links.runs_of(class) {
                lower_to(&mut row[first as usize..end as usize], cost);
            }
        }
        if link.has_free {
            let free = smallest(&reduced[node.block(link.block as usize)]);
            lower_to(row, free + free_values[number]);
        }
        for (mean, entry) in mean.iter_mut().zip(&*row) {
            *mean += entry;
        }
    }
    let share = 1.0 / numbers.len() as f64;
    for mean in mean.iter_mut() {
        *mean *= share;
    }
    let mut saved = saved.iter();
    for (number, row) in numbers.zip(table.chunks_exact_mut(n)) {
        let link = &links.links[number];
        for (entry, mean) in row.iter_mut().zip(&*mean) {
            *entry -= mean;
        }
        if link.has_free {
            let value = largest(row);
            let change = value - free_values[number];
            free_values[number] = value;
            for cost in &mut reduced[node.block(link.block as usize)] {
                *cost -= change;
            }
        }
        for k in link.first_class as usize..link.end_class as usize {
            let class = &links.classes[k];
            let mut value = f64::NEG_INFINITY;
            for &(first, end) in links.runs_of(class) {
                let top = largest(&row[first as usize..end as usize]);
                value = if top > value { top } else { value };
            }
            let change = value - values[k];
            values[k] = value;
            for (&i, cost) in links.members_of(class).iter().zip(&mut saved) {
                reduced[i as usize] = cost - change;
            }
        }
    }
}

/// Lower bound of every segment of every linked variable, from the reduced costs: `bound + sum_b (min over the segment - min)`.
pub(crate) fn bound_segments(
    kernels: Kernels,
    links: &Links,
    node: &Node,
    bound: f64,
    scratch: &mut MessageScratch,
) {
    kernels.dispatch(
        #[inline(always)]
        || bound_segments_here(links, node, bound, scratch),
    );
}

#[inline(always)]
fn bound_segments_here(links: &Links, node: &Node, bound: f64, scratch: &mut MessageScratch) {
    let MessageScratch { reduced, block_min, segment_bound, table, saved, .. } = scratch;
    segment_bound.clear();
    segment_bound.resize(links.segment_starts.len() - 1, bound);
    for feature in &links.features {
        let n = feature.n_segments as usize;
        let bounds = &mut segment_bound[links.segments(feature)];
        for link in links.links_of(feature) {
            table.clear();
            table.resize(n, f64::INFINITY);
            saved.clear();
            for class in links.classes_of(link) {
                let mut cheapest = f64::INFINITY;
                for &i in links.members_of(class) {
                    let cost = std::mem::replace(&mut reduced[i as usize], f64::INFINITY);
                    saved.push(cost);
                    cheapest = if cost < cheapest { cost } else { cheapest };
                }
                for &(first, end) in links.runs_of(class) {
                    lower_to(&mut table[first as usize..end as usize], cheapest);
                }
            }
            if link.has_free {
                lower_to(table, smallest(&reduced[node.block(link.block as usize)]));
            }
            let mut saved = saved.iter();
            for class in links.classes_of(link) {
                for (&i, &cost) in links.members_of(class).iter().zip(&mut saved) {
                    reduced[i as usize] = cost;
                }
            }
            let min = block_min[link.block as usize];
            for (bound, entry) in bounds.iter_mut().zip(&*table) {
                *bound += entry - min;
            }
        }
    }
}
