//! Messages of the root polished once, for everything below it to start from.
//!
//! Exchanges of messages stick where every block's minimum is attained twice, well short of the best bound. With soft minima, `-t log sum exp(-x / t)` in place
//! of `min x` and the soft maximum in place of what an item pays, the same exchange ascends a smooth function, and for ever lower temperatures `t` it
//! ends near the best messages. Any messages are a valid start of sweeps with hard minima, which then prove the bound: nothing here needs a margin.

use super::dual::Dual;
use super::filter::{Changed, Filter};
use super::index::{ClassId, Id, IdVec, LocalSegment};
use super::links::{LinkedFeature, Links};
use super::messages::{self, Messages, Whole, class_minima, pay};
use super::model::Model;
use super::node::Node;
use super::pieces::{RunMinima, push_row};

/// The first temperature, as a share of the mean difference between a block's cheapest and costliest item.
const WARMEST: f64 = 1.0 / 16.0;
/// Temperatures, each half of the one before.
const TEMPERATURES: usize = 6;
/// Sweeps at each.
const SWEEPS: usize = 4;
/// Terms this many temperatures above a minimum are left out of its soft minimum: `exp(-40)` is less than a rounding.
const FAR: f64 = 40.0;

/// Buffers of soft exchanges.
#[derive(Debug, Default)]
struct Soft {
    /// What the soft minima and maxima of classes sum up.
    sums: IdVec<ClassId, f64>,
    /// The same of a link's pieces.
    piece_sums: Vec<f64>,
    /// Soft minima of the mean over runs of segments.
    runs: RunMinima,
}

/// The root of a sum of trees with polished messages and its bound from there, or as far as they are when it must stop; `None` when nothing of the box is left.
pub(crate) fn polished_root(
    model: &Model<'_>,
    bound: f64,
    cutoff: f64,
    must_stop: &dyn Fn() -> bool,
) -> Option<Node> {
    let (mut node, mut links) = (Node::default(), Links::default());
    node.build(model, &model.cells.full(), bound, &[]);
    if !Filter::default().run(model, &mut node, Changed::Everything) {
        return None;
    }
    links.build(model, &node.cells, &node.blocks);
    let mut dual = Dual::default();
    dual.messages.clear(&links);
    dual.place_tangent(model, &links, &mut node, None);
    let spread = |costs: &[f64]| {
        let (low, high) = costs
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        high - low
    };
    let spreads: f64 = node.blocks.spans.parts().map(|block| spread(&dual.messages.reduced[block])).sum();
    let mut temperature = WARMEST * spreads / node.blocks.len().max(1) as f64;
    let mut soft = Soft::default();
    for k in 0..TEMPERATURES * SWEEPS {
        if must_stop() || temperature <= 0.0 {
            break;
        }
        model.kernels.dispatch(
            #[inline(always)]
            || soft.sweep(&links, &mut dual.messages, temperature),
        );
        if (k + 1).is_multiple_of(SWEEPS) {
            temperature *= 0.5;
        }
    }
    dual.keep(model, &links, &mut node);
    if !node.multipliers.is_finite() {
        node.multipliers.clear();
    }
    let bound = dual.raise(model, &links, &mut node, cutoff);
    node.bound = node.bound.max(bound);
    Some(node)
}

/// The soft minimum of two numbers.
#[inline(always)]
fn softer(a: f64, b: f64, temperature: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let far = (high - low) / temperature;
    if far < FAR { low - temperature * (-far).exp().ln_1p() } else { low }
}

/// A term of a soft sum: how much a number counts beside the smallest.
#[inline(always)]
fn term(above: f64, temperature: f64) -> f64 {
    let far = above / temperature;
    if far < FAR { (-far).exp() } else { 0.0 }
}

impl Soft {
    /// Renews the messages of every variable once; those of categories by hard minima.
    #[inline(always)]
    fn sweep(&mut self, links: &Links, messages: &mut Messages, temperature: f64) {
        let tying = links.features.ids().into_iter().zip(&links.features).filter(|(_, f)| f.ties());
        for (number, feature) in tying {
            if feature.by_piece() {
                messages.whole[number] = self.exchange(links, feature, messages, temperature);
            } else {
                messages::exchange(links, feature, messages);
            }
        }
    }

    /// As [`super::pieces::exchange`], softly.
    #[inline(always)]
    fn exchange(&mut self, links: &Links, linked: &LinkedFeature, scratch: &mut Messages, t: f64) -> Whole {
        let tied = &links.links[linked.links];
        let (all, members) = (links.classes_of(linked), linked.members);
        let Messages { reduced, values, minima, table, mean, .. } = scratch;
        minima[all].fill(f64::INFINITY);
        class_minima(links, linked, reduced, minima);
        self.sums.resize(links.classes.len(), 0.0);
        self.sums[all].fill(0.0);
        for (&i, &k) in links.members[members].iter().zip(&links.member_class[members]) {
            self.sums[k] += term(reduced[i] - minima[k], t);
        }
        for link in tied {
            if let Some(k) = link.free() {
                self.sums[k] = links.free_items(link).map(|i| term(reduced[i] - minima[k], t)).sum();
            }
        }
        for (min, sum) in minima[all].iter_mut().zip(&self.sums[all]) {
            *min -= t * sum.ln();
        }
        let n = linked.n_segments();
        table.clear();
        mean.clear();
        mean.resize(n, 0.0);
        for link in tied {
            let first = push_row(links, link, table, |k| minima[k] + values[k]);
            table.truncate(first + link.pieces.len());
            let row = &mut table[first..];
            self.piece_sums.clear();
            self.piece_sums.resize(row.len(), 0.0);
            for (k, pieces) in link.all_classes().into_iter().zip(links.pieces.of_classes(link)) {
                let cost = minima[k] + values[k];
                for (sum, least) in self.piece_sums[pieces.range()].iter_mut().zip(&row[pieces.range()]) {
                    *sum += term(cost - least, t);
                }
            }
            // A piece without items counts as nothing, as with hard minima.
            let mut last = 0.0;
            let starts: &[LocalSegment] = &links.pieces.starts[link.pieces];
            for ((entry, sum), start) in row.iter_mut().zip(&self.piece_sums).zip(starts) {
                *entry = if *entry == f64::INFINITY { 0.0 } else { *entry - t * sum.ln() };
                mean[start.index()] += *entry - last;
                last = *entry;
            }
        }
        let share = 1.0 / tied.len() as f64;
        let mut sum = 0.0;
        for entry in mean.iter_mut() {
            sum += *entry;
            *entry = sum * share;
        }
        self.runs.fill(mean, |a, b| softer(a, b, t));
        let mut whole = Whole::default();
        let mut rest = table.as_mut_slice();
        for link in tied {
            let (row, others) = rest.split_at_mut(link.pieces.len());
            rest = others;
            for (entry, &[a, b]) in row.iter_mut().zip(links.pieces.minima_of(link)) {
                let (low, high) = (self.runs.levels[a as usize], self.runs.levels[b as usize]);
                // Two runs that overlap count what they share twice, which a lower temperature makes less of.
                *entry -= if a == b { low } else { softer(low, high, t) };
            }
            let best = |row: &[f64]| {
                let most = row.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
                let sum: f64 = row.iter().map(|entry| term(most - entry, t)).sum();
                most + t * sum.ln()
            };
            // Free items lie on all pieces.
            let of_block = link.free().map_or(0.0, |_| best(row));
            whole.add(of_block);
            for (k, pieces) in link.classes.into_iter().zip(links.pieces.of_classes(link)) {
                let value = best(&row[pieces.range()]) - of_block;
                minima[k] = value - values[k];
                values[k] = value;
            }
        }
        pay(links, linked, minima, reduced);
        whole
    }
}

#[cfg(test)]
mod tests;
