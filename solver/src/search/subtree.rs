//! Work on one subtree: depth first from a queued node, a limited number of nodes.

use std::time::Instant;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::constraints::Limits;
use crate::region::Range;

use super::branching::{self, Basis, BranchScratch};
use super::links::Links;
use super::local::{LocalSearch, Neighbours};
use super::messages::{self, MessageScratch};
use super::model::Model;
use super::node::{Changed, FilterScratch, Node, OpenNode, overlaps};
use super::options::SearchOptions;
use super::pool::{Pool, Undecided, settle};
use super::relax::{RelaxScratch, relax};

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
        Limits { deadline: self.deadline, ..Limits::default() }
    }

    pub(crate) fn cutoff(&self, pool: &Pool) -> f64 {
        self.options.cutoff(pool.worst())
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
    filter: FilterScratch,
    relax: RelaxScratch,
    links: Links,
    messages: MessageScratch,
    branch: BranchScratch,
    local: LocalSearch,
    stack: Vec<(Node, Option<usize>)>,
    free: Vec<Node>,
    old_items: Vec<u32>,
    candidates: Vec<(f64, u32, u32)>,
    vector: Vec<f64>,
    products: Vec<f64>,
    words: Vec<u64>,
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
        start: &OpenNode,
        budget: u64,
        number: u64,
        pool: Pool,
    ) -> Outcome {
        let mut outcome = Outcome { open: Vec::new(), pool, undecided: Undecided::default(), nodes: 0 };
        let mut root = self.free.pop().unwrap_or_default();
        root.build(ctx.model, &start.cells, start.bound, &start.weights);
        self.stack.push((root, None));
        while let Some((mut node, split)) = self.stack.pop() {
            if node.bound >= ctx.cutoff(&outcome.pool) {
                self.free.push(node);
                continue;
            }
            if outcome.nodes >= budget || ctx.must_stop() {
                outcome.open.push(node.to_open());
                self.free.push(node);
                continue;
            }
            let changed = match split {
                None => Changed::Everything,
                Some(feature) => {
                    self.filter.mark(feature, ctx.model.n_features());
                    Changed::Marked
                }
            };
            let serial = number + outcome.nodes;
            outcome.nodes += 1;
            match self.process(ctx, &mut node, changed, serial, &mut outcome) {
                Verdict::Closed => self.free.push(node),
                Verdict::Branch => self.push_children(ctx.model, node),
            }
        }
        outcome
    }

    fn push_children(&mut self, model: &Model<'_>, mut node: Node) {
        let split = &self.branch.split;
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

    /// Filters and bounds a node; branching is left in `self.branch.split`, whose `gains` become whole bounds of the children.
    fn process(
        &mut self,
        ctx: &Context<'_>,
        node: &mut Node,
        mut changed: Changed,
        serial: u64,
        outcome: &mut Outcome,
    ) -> Verdict {
        let model = ctx.model;
        for round in 1.. {
            if !self.narrow(ctx, node, changed) {
                return Verdict::Closed;
            }
            changed = Changed::Marked;
            if self.enumerate(ctx, node, outcome) {
                return Verdict::Closed;
            }
            let mut cutoff = ctx.cutoff(&outcome.pool);
            let relaxation = relax(model, node, &mut self.relax, cutoff);
            node.bound = node.bound.max(relaxation.bound);
            if node.bound >= cutoff {
                return Verdict::Closed;
            }
            self.links.build(model, node);
            let costs = (&self.relax.g[..], relaxation.base);
            let bound = messages::send(model.kernels, &self.links, node, costs, cutoff, &mut self.messages);
            node.bound = node.bound.max(bound);
            if node.bound >= cutoff {
                return Verdict::Closed;
            }
            messages::bound_segments(model.kernels, &self.links, bound, &mut self.messages);
            if round == 1 && (serial < FIRST_SEARCHES || serial % SEARCH_EVERY == 0) {
                self.search_from(ctx, node, serial, outcome);
                cutoff = ctx.cutoff(&outcome.pool);
            }
            let n_items = node.items.len();
            if !self.fix(model, node, bound, cutoff) {
                return Verdict::Closed;
            }
            if node.items.len() < n_items {
                let pairs = node.n_blocks() <= 2;
                if (round < MAX_ROUNDS && 10 * node.items.len() < 7 * n_items) || pairs {
                    continue;
                }
                self.align_costs(model, node);
                self.links.build(model, node);
                messages::bound_segments(model.kernels, &self.links, bound, &mut self.messages);
            }
            let basis = Basis {
                g: &self.relax.g,
                segment_bound: &self.messages.segment_bound,
                curvature: relaxation.curvature,
                need: (cutoff - node.bound).max(1e-12),
            };
            let basis = Basis { need: if basis.need.is_finite() { basis.need } else { 1.0 }, ..basis };
            if !branching::choose(model, node, &self.links, basis, &mut self.branch) {
                debug_assert!(false, "two leaves of a tree within one box differ in some variable");
                return Verdict::Closed;
            }
            for gain in &mut self.branch.split.gains {
                *gain += relaxation.bound;
            }
            return Verdict::Branch;
        }
        Verdict::Closed
    }

    /// Filter and, with constraints, contraction of the box, to a common fixpoint (at most a few turns).
    fn narrow(&mut self, ctx: &Context<'_>, node: &mut Node, changed: Changed) -> bool {
        let model = ctx.model;
        if !node.filter(model, &mut self.filter, changed) {
            return false;
        }
        let Some(constraints) = model.problem.constraints else {
            return true;
        };
        for _ in 0..3 {
            let mut region = model.cells.hull(&node.cells);
            if !constraints.contract(&mut region) {
                return false;
            }
            let mut any = false;
            for (f, range) in region.0.iter().enumerate() {
                let outside = match range {
                    Range::Interval { lower, upper } => !(lower <= upper),
                    Range::Levels(set) => set.is_empty(),
                };
                if outside {
                    return false;
                }
                if model.cells.intersect(f, range, &mut node.cells) {
                    if node.cells[model.cells.words(f)].iter().all(|&w| w == 0) {
                        return false;
                    }
                    self.filter.mark(f, model.n_features());
                    any = true;
                }
            }
            if !any {
                return true;
            }
            if !node.filter(model, &mut self.filter, Changed::Marked) {
                return false;
            }
        }
        true
    }

    /// Drops items and cells whose bound reaches the cutoff, and filters. False when nothing is left.
    fn fix(&mut self, model: &Model<'_>, node: &mut Node, bound: f64, cutoff: f64) -> bool {
        self.old_items.clear();
        self.old_items.extend_from_slice(&node.items);
        let mut dropped = false;
        for b in 0..node.n_blocks() {
            let threshold = cutoff - bound + self.messages.block_min[b];
            for i in node.block(b) {
                if self.messages.reduced[i] >= threshold {
                    node.drop_item(model, i);
                    dropped = true;
                }
            }
        }
        let mut any_cell = false;
        for feature in &self.links.features {
            let f = feature.feature as usize;
            let mut smallest = f64::INFINITY;
            let mut cut = false;
            for segment in self.links.segments(feature) {
                let segment_bound = self.messages.segment_bound[segment];
                if segment_bound >= cutoff {
                    cut = true;
                    let words = &mut node.cells[model.cells.words(f)];
                    for &cell in self.links.cells(segment) {
                        words[cell as usize / 64] &= !(1 << (cell % 64));
                    }
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
                self.filter.mark(f, model.n_features());
            }
        }
        if node.bound >= cutoff || (dropped && !node.remove_dropped(model, &mut self.filter)) {
            return false;
        }
        !(dropped || any_cell) || node.filter(model, &mut self.filter, Changed::Marked)
    }

    /// Brings the costs kept from the relaxation in line with the items that are left.
    fn align_costs(&mut self, model: &Model<'_>, node: &Node) {
        let _ = model;
        let mut old = 0;
        for (new, &item) in node.items.iter().enumerate() {
            while self.old_items[old] != item {
                old += 1;
            }
            self.relax.g[new] = self.relax.g[old];
            self.messages.reduced[new] = self.messages.reduced[old];
            old += 1;
        }
        self.relax.g.truncate(node.items.len());
        self.messages.reduced.truncate(node.items.len());
        self.messages.block_min.clear();
        for b in 0..node.n_blocks() {
            let min = self.messages.reduced[node.block(b)].iter().fold(f64::INFINITY, |a, &x| a.min(x));
            self.messages.block_min.push(min);
        }
    }

    /// A local search from the most promising cell of each variable.
    fn search_from(&mut self, ctx: &Context<'_>, node: &Node, serial: u64, outcome: &mut Outcome) {
        let mut cells = node.first_cells(ctx.model);
        for feature in &self.links.features {
            let segments = self.links.segments(feature);
            let bounds = &self.messages.segment_bound;
            let best =
                segments.min_by(|&a, &b| bounds[a].total_cmp(&bounds[b])).expect("at least two segments");
            cells[feature.feature as usize] = self.links.cells(best)[0];
        }
        let mut rng = ChaCha8Rng::seed_from_u64(ctx.options.seed);
        rng.set_stream(2 + serial);
        if let Some(found) = self.local.improve(ctx.model, ctx.neighbours, &cells, ctx.limits(), &mut rng) {
            outcome.pool.insert(&found);
        }
    }

    /// Evaluates every leaf combination of a node with at most one open block, or two with few pairs. False when there are more.
    fn enumerate(&mut self, ctx: &Context<'_>, node: &Node, outcome: &mut Outcome) -> bool {
        let model = ctx.model;
        let n_blocks = node.n_blocks();
        if n_blocks > 2 || (n_blocks == 2 && node.block(0).len() * node.block(1).len() > MAX_PAIRS) {
            return false;
        }
        let Self { candidates, vector, products, words, .. } = self;
        candidates.clear();
        let value = |mean: f64, norm_sq: f64| match model.deviation {
            Some(d) => mean - d.kappa * (d.prior - norm_sq).max(0.0).sqrt(),
            None => mean,
        };
        let first = if n_blocks == 0 { 0..1 } else { node.block(0) };
        for i in first {
            let mut mean = node.mean;
            vector.clone_from(&node.fixed);
            if n_blocks > 0 {
                let item = node.items[i];
                mean += model.cost[item as usize];
                if model.stride > 0 {
                    model.kernels.add_scaled(vector, 1.0, model.vector(item));
                }
            }
            let norm_sq = model.kernels.dot(vector, vector);
            if n_blocks < 2 {
                candidates.push((value(mean, norm_sq), i as u32, u32::MAX));
                continue;
            }
            let block = node.block(1);
            products.clear();
            products.resize(block.len(), 0.0);
            model.kernels.row_dots(&model.factor, model.stride, &node.items[block.clone()], vector, products);
            for (j, product) in block.zip(&*products) {
                let item = node.items[j] as usize;
                let joint = norm_sq + 2.0 * product + model.norm_sq[item];
                candidates.push((value(mean + model.cost[item], joint), i as u32, j as u32));
            }
        }
        let slack =
            1e-9 * (1.0 + node.mean.abs() + model.deviation.map_or(0.0, |d| d.kappa.abs() * d.prior.sqrt()));
        let mut cutoff = ctx.cutoff(&outcome.pool);
        candidates.retain(|c| c.0 < cutoff + slack);
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for &(estimate, i, j) in &*candidates {
            if estimate >= cutoff + slack {
                break;
            }
            words.clone_from(&node.cells);
            let consistent = [i, j].iter().take(n_blocks).all(|&position| {
                model.restrictions(node.items[position as usize]).iter().all(|r| {
                    let range = model.cells.words(r.feature as usize);
                    let mask = model.mask(r.mask);
                    let any = overlaps(mask, &words[range.clone()]);
                    words[range].iter_mut().zip(mask).for_each(|(w, m)| *w &= m);
                    any
                })
            });
            if consistent
                && settle(model, ctx.options, ctx.limits(), words, &mut outcome.pool, &mut outcome.undecided)
            {
                cutoff = ctx.cutoff(&outcome.pool);
            }
        }
        true
    }
}
