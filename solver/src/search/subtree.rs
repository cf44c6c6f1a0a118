//! Work on one subtree: depth first from a queued node, a limited number of nodes.

mod record;

use std::time::Instant;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::certificate::{Evidence, Forward, ProofEnd};
use leafgp_constraints::{Limits, Range};

use super::blocks::Blocks;
use super::branching::{Basis, Branching};
use super::cell_set::{self, holds, remove};
use super::dual::Dual;
use super::evidence::Refuter;
use super::filter::{Changed, Filter};
use super::index::{BlockId, FeatureId, Id, IdVec, Position};
use super::learned;
use super::links::Links;
use super::local::{LocalSearch, Neighbours};
use super::messages;
use super::model::Model;
use super::node::{Node, OpenNode};
use super::options::SearchOptions;
use super::pool::{Pool, Undecided, settle};
use record::Record;

/// What every worker reads.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) neighbours: &'a Neighbours,
    pub(crate) options: &'a SearchOptions,
    pub(crate) deadline: Option<Instant>,
}

impl Context<'_> {
    /// True when the clock or the user asks to stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.options.interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { deadline: self.deadline, interrupt: self.options.interrupt.clone(), ..Limits::default() }
    }

    /// Random numbers of one use: nodes count from 0, other uses from above.
    pub(crate) fn rng(&self, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(stream);
        rng
    }

    pub(crate) fn cutoff(&self, pool: &Pool) -> f64 {
        self.options.cutoff(pool.worst())
    }

    /// The same within a node: where it lies in a cell that is listed, only better points of that are of interest.
    fn cutoff_in(&self, node: &Node, pool: &Pool) -> f64 {
        let (model, n_trees) = (self.model, self.model.problem.cell_trees());
        let is_cell = || {
            let open = node.blocks.ids().into_iter().next().map(|b| node.blocks.tree(model, b));
            open.is_none_or(|tree| tree.index() >= n_trees)
        };
        if !pool.lists_values(model.problem) || !is_cell() {
            return self.cutoff(pool);
        }
        let cells = node.first_cells(model);
        let leaf = |tree| model.items.leaf[model.descend(tree, &cells)].map(Id::index);
        let leaves: Vec<usize> = model.trees.ids().into_iter().take(n_trees).filter_map(leaf).collect();
        self.options.cutoff(pool.worst_at(&leaves))
    }
}

/// What came of a subtree.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Nodes that were not reached.
    pub(crate) open: Vec<OpenNode>,
    /// The pool it started with plus what it found.
    pub(crate) pool: Pool,
    pub(crate) undecided: Undecided,
    pub(crate) nodes: u64,
}

/// Buffers of a thread; nothing in them outlives a subtree.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    filter: Filter,
    links: Links,
    dual: Dual,
    branching: Branching,
    local: LocalSearch,
    stack: Vec<(Node, Option<FeatureId>)>,
    free: Vec<Node>,
    /// The node as it was before items were fixed.
    old_blocks: Blocks,
    old_z: IdVec<Position, f64>,
    /// Leaf combinations by their values: one item of each open block.
    candidates: Vec<(f64, [Option<Position>; 2])>,
    vector: Vec<f64>,
    products: Vec<f64>,
    words: Vec<u64>,
    /// Collects what a certificate says about the node at hand.
    record: Option<Record>,
    refuter: Refuter,
}

enum Verdict {
    Closed,
    Branch,
}

/// Rounds of bounding and fixing at a node.
const MAX_ROUNDS: usize = 4;
/// Two open blocks with at most this many pairs are enumerated.
const MAX_PAIRS: usize = 4096;
/// A local search starts at each of the first nodes of the search and then at every so many.
const FIRST_SEARCHES: u64 = 10;
const SEARCH_EVERY: u64 = 256;

impl Worker {
    /// Works depth first from `start` for at most `budget` nodes. `number` is the count of nodes before this subtree, which decides where local
    /// searches start.
    pub(crate) fn run(
        &mut self,
        ctx: &Context<'_>,
        start: OpenNode,
        budget: u64,
        number: u64,
        pool: Pool,
    ) -> Outcome {
        let mut outcome = Outcome { open: Vec::new(), pool, undecided: Undecided::default(), nodes: 0 };
        self.open(ctx.model, start);
        while let Some((mut node, split)) = self.stack.pop() {
            if node.bound >= ctx.cutoff(&outcome.pool) {
                self.free.push(node);
                continue;
            }
            if outcome.nodes >= budget || ctx.must_stop() {
                outcome.open.push(OpenNode::Whole { node: Box::new(node), split });
                continue;
            }
            let changed = match split {
                None => Changed::Everything,
                Some(feature) => {
                    self.filter.mark(ctx.model, feature);
                    Changed::Marked
                }
            };
            let serial = number + outcome.nodes;
            outcome.nodes += 1;
            match self.process(ctx, &mut node, changed, None, serial, &mut outcome) {
                Verdict::Closed => self.free.push(node),
                Verdict::Branch => self.push_children(ctx.model, node),
            }
        }
        outcome
    }

    /// Puts a queued node on the stack.
    fn open(&mut self, model: &Model<'_>, start: OpenNode) {
        match start {
            OpenNode::Whole { node, split } => self.stack.push((*node, split)),
            OpenNode::Compact { bound, cells, weights } => {
                let mut node = self.free.pop().unwrap_or_default();
                node.build(model, &cells, bound, &weights);
                self.stack.push((node, None));
            }
        }
    }

    fn push_children(&mut self, model: &Model<'_>, mut node: Node) {
        let split = &self.branching.split;
        let mut left = self.free.pop().unwrap_or_default();
        left.clone_from(&node);
        let words = model.cells.words(split.feature);
        for (w, mask) in words.zip(&split.left) {
            left.cells[w] &= mask;
            node.cells[w] &= !mask;
        }
        left.bound = left.bound.max(split.gains[0]);
        node.bound = node.bound.max(split.gains[1]);
        let feature = Some(split.feature);
        if split.estimates[0] <= split.estimates[1] {
            self.stack.push((node, feature));
            self.stack.push((left, feature));
        } else {
            self.stack.push((left, feature));
            self.stack.push((node, feature));
        }
    }

    /// Filters and bounds a node; branching is left in `self.branching.split`, whose `gains` become whole bounds of the children.
    fn process(
        &mut self,
        ctx: &Context<'_>,
        node: &mut Node,
        mut changed: Changed,
        forward: Option<&Forward<'_>>,
        serial: u64,
        outcome: &mut Outcome,
    ) -> Verdict {
        let model = ctx.model;
        for round in 1.. {
            let possible = match forward {
                Some(forward) => self.narrow_on_record(ctx, forward, node, changed),
                None => self.narrow(ctx, node, changed, ctx.cutoff_in(node, &outcome.pool)),
            };
            if !possible {
                return Verdict::Closed;
            }
            changed = Changed::Marked;
            if self.enumerate(ctx, node, outcome) {
                if let Some(record) = &mut self.record {
                    record.proof.end = ProofEnd::Enumerated(Vec::new());
                }
                return Verdict::Closed;
            }
            let mut cutoff = ctx.cutoff_in(node, &outcome.pool);
            self.links.build(model, &node.cells, &node.blocks);
            let bound = if let Some(record) = &mut self.record {
                let (bound, proof) = self.dual.raise_on_record(model, &self.links, node, cutoff);
                record.proof.evidence.push(Evidence::Round(proof));
                bound
            } else {
                self.dual.raise(model, &self.links, node, cutoff)
            };
            node.bound = node.bound.max(bound);
            if node.bound >= cutoff {
                return Verdict::Closed;
            }
            self.dual.keep(model, &self.links, node);
            messages::bound_segments(model.kernels, &self.links, bound, &mut self.dual.messages);
            let searches = serial < FIRST_SEARCHES || serial.is_multiple_of(SEARCH_EVERY);
            if round == 1 && searches && ctx.options.local_search {
                self.search_from(ctx, node, serial, outcome);
                cutoff = ctx.cutoff_in(node, &outcome.pool);
            }
            let n_items = node.blocks.n_items();
            if !self.fix(model, node, bound, cutoff) {
                return Verdict::Closed;
            }
            let few = node.blocks.len() <= 2;
            let left = node.blocks.n_items();
            if left < n_items && ((round < MAX_ROUNDS && 10 * left < 7 * n_items) || few) {
                continue;
            }
            self.align(model, node);
            let need = cutoff - node.bound;
            let basis = Basis {
                blocks: &self.old_blocks,
                z: &self.old_z,
                g: &self.dual.guide,
                segment_bound: &self.dual.messages.segment_bound,
                curvature: self.dual.curvature,
                need: if need.is_finite() { need.max(1e-12) } else { 1.0 },
            };
            if !self.branching.choose(model, &self.links, basis) {
                // What is left does not differ within what the links still show; they are rebuilt in another round.
                continue;
            }
            for gain in &mut self.branching.split.gains {
                *gain += self.dual.guide_bound;
            }
            return Verdict::Branch;
        }
        Verdict::Closed
    }

    /// Filter and, with constraints, contraction of the box, to a common fixpoint (at most a few turns).
    fn narrow(&mut self, ctx: &Context<'_>, node: &mut Node, changed: Changed, cutoff: f64) -> bool {
        let model = ctx.model;
        if !self.filter.run(model, node, changed) {
            return false;
        }
        let learned = model.problem.learned.as_ref();
        let Some(constraints) = learned.map(|learned| learned.system).or(model.problem.constraints) else {
            return true;
        };
        for _ in 0..3 {
            let mut region = model.cells.hull(&node.cells);
            if learned.is_some_and(|learned| !learned::extend(model, learned, node, cutoff, &mut region)) {
                return false;
            }
            if !constraints.contract(&mut region) {
                return false;
            }
            if let (Some(_), Some(Range::Interval { lower, .. })) = (learned, region.0.last()) {
                node.bound = node.bound.max(*lower);
            }
            let mut any = false;
            for (f, range) in model.cells.features().into_iter().zip(&region.0) {
                let outside = match range {
                    Range::Interval { lower, upper } => lower > upper,
                    Range::Levels(set) => set.is_empty(),
                };
                if outside {
                    return false;
                }
                if model.cells.intersect(f, range, &mut node.cells) {
                    if cell_set::is_empty(&node.cells[model.cells.words(f)]) {
                        return false;
                    }
                    self.filter.mark(model, f);
                    any = true;
                }
            }
            if !any {
                return true;
            }
            if !self.filter.run(model, node, Changed::Marked) {
                return false;
            }
        }
        true
    }

    /// Drops items and cells whose bound reaches the cutoff, and filters. False when nothing is left.
    fn fix(&mut self, model: &Model<'_>, node: &mut Node, bound: f64, cutoff: f64) -> bool {
        self.old_blocks.clone_from(&node.blocks);
        let mut dropped = false;
        for b in node.blocks.ids() {
            let threshold = cutoff - bound + self.dual.messages.block_min[b];
            for i in node.blocks.block(b) {
                if self.dual.messages.reduced[i] >= threshold {
                    node.drop_item(model, i);
                    dropped = true;
                }
            }
        }
        let mut any_cell = false;
        for linked in &self.links.features {
            let f = linked.feature;
            let mut smallest = f64::INFINITY;
            let mut cut = false;
            for segment in linked.segments {
                let segment_bound = self.dual.messages.segment_bound[segment];
                if segment_bound >= cutoff {
                    cut = true;
                    let words = &mut node.cells[model.cells.words(f)];
                    self.links.cells(segment).iter().for_each(|&cell| remove(words, cell));
                } else {
                    smallest = smallest.min(segment_bound);
                }
            }
            if smallest == f64::INFINITY {
                return false;
            }
            node.bound = node.bound.max(smallest);
            if cut {
                any_cell = true;
                self.filter.mark(model, f);
            }
        }
        if node.bound >= cutoff || (dropped && !self.filter.remove_dropped(model, node)) {
            return false;
        }
        !(dropped || any_cell) || self.filter.run(model, node, Changed::Marked)
    }

    /// Brings what the relaxation and the links hold in line with a node that lost items and cells since.
    fn align(&mut self, model: &Model<'_>, node: &Node) {
        if self.old_blocks.n_items() == node.blocks.n_items() {
            self.old_z.clone_from(&node.z);
        } else {
            self.old_z.clear();
            let mut kept = node.blocks.items.iter().zip(&node.z).peekable();
            for (&item, guide) in self.old_blocks.items.iter().zip(self.dual.guide.iter_mut()) {
                match kept.next_if(|&(&next, _)| next == item) {
                    Some((_, &z)) => {
                        self.old_z.push(z);
                    }
                    None => {
                        self.old_z.push(0.0);
                        *guide = f64::INFINITY;
                    }
                }
            }
            // The one item left of a decided block is not in the node any more.
            for block in self.old_blocks.spans.parts() {
                let guide = &mut self.dual.guide[block];
                if guide.iter().all(|&g| g == f64::INFINITY) {
                    guide.fill(0.0);
                }
            }
        }
        for linked in &self.links.features {
            let words = &node.cells[model.cells.words(linked.feature)];
            for segment in linked.segments {
                if !holds(words, self.links.cells(segment)[0]) {
                    self.dual.messages.segment_bound[segment] = f64::INFINITY;
                }
            }
        }
    }

    /// A local search from the most promising cell of each variable.
    fn search_from(&mut self, ctx: &Context<'_>, node: &Node, serial: u64, outcome: &mut Outcome) {
        let mut cells = node.first_cells(ctx.model);
        for linked in &self.links.features {
            let bounds = &self.dual.messages.segment_bound;
            let by_bound = linked.segments.into_iter().min_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
            cells[linked.feature] = self.links.cells(by_bound.expect("at least two segments"))[0];
        }
        let mut rng = ctx.rng(serial);
        if let Some(found) = self.local.improve(ctx.model, ctx.neighbours, &cells, &ctx.limits(), &mut rng) {
            outcome.pool.insert(&found);
        }
    }

    /// Evaluates every leaf combination of a node with at most one open block, or two with few pairs. False when there are more.
    fn enumerate(&mut self, ctx: &Context<'_>, node: &Node, outcome: &mut Outcome) -> bool {
        let model = ctx.model;
        let (first, second) = match node.blocks.len() {
            0 => (None, None),
            1 => (Some(node.blocks.block(BlockId::new(0))), None),
            2 => (Some(node.blocks.block(BlockId::new(0))), Some(node.blocks.block(BlockId::new(1)))),
            _ => return false,
        };
        if first.zip(second).is_some_and(|(first, second)| first.len() * second.len() > MAX_PAIRS) {
            return false;
        }
        if self.record.is_some() && (model.problem.constraints.is_some() || model.problem.learned.is_some()) {
            // The claims about each combination are made in the verifier's order, once all nodes are known.
            return true;
        }
        let Self { candidates, vector, products, words, .. } = self;
        candidates.clear();
        let items = &node.blocks.items;
        let value = |mean: f64, norm_sq: f64| match model.deviation {
            Some(d) => mean - d.kappa * (d.prior - norm_sq).max(0.0).sqrt(),
            None => mean,
        };
        let mut list = |i: Option<Position>| {
            let mut mean = node.mean;
            vector.clone_from(&node.fixed);
            if let Some(i) = i {
                mean += model.cost[items[i]];
                if model.stride() > 0 {
                    model.kernels.add_scaled(vector, 1.0, model.vector(items[i]));
                }
            }
            let norm_sq = model.kernels.dot(vector, vector);
            let Some(block) = second else {
                candidates.push((value(mean, norm_sq), [i, None]));
                return;
            };
            products.clear();
            products.resize(block.len(), 0.0);
            model.kernels.row_dots(&model.factor, &items[block], vector, products);
            for (j, product) in block.into_iter().zip(&*products) {
                let joint = norm_sq + 2.0 * product + model.norm_sq[items[j]];
                candidates.push((value(mean + model.cost[items[j]], joint), [i, Some(j)]));
            }
        };
        match first {
            None => list(None),
            Some(block) => block.into_iter().for_each(|i| list(Some(i))),
        }
        let slack =
            1e-9 * (1.0 + node.mean.abs() + model.deviation.map_or(0.0, |d| d.kappa.abs() * d.prior.sqrt()));
        let mut cutoff = ctx.cutoff(&outcome.pool);
        candidates.retain(|c| c.0 < cutoff + slack);
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(estimate, chosen) in &*candidates {
            if estimate >= cutoff + slack {
                break;
            }
            words.clone_from(&node.cells);
            let consistent = chosen.into_iter().flatten().all(|position| {
                model.restrictions(items[position]).iter().all(|r| {
                    let range = model.cells.words(r.feature);
                    let mask = model.mask(r.mask);
                    let any = mask.overlaps(&words[range.clone()]);
                    mask.restrict(&mut words[range]);
                    any
                })
            });
            if consistent
                && settle(model, ctx.options, &ctx.limits(), words, &mut outcome.pool, &mut outcome.undecided)
            {
                cutoff = ctx.cutoff(&outcome.pool);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
