//! What a search does for good points and a good root before its rounds and between them.

use rayon::ThreadPool;

use super::{MOVES, Search, each_of};
use crate::search::index::{CellId, FeatureId, Id, IdVec};
use crate::search::local::{LocalSearch, cells_of, random_cells};
use crate::search::moves::{Moves, Reach};
use crate::search::polish::polished_root;
use crate::search::pool::{Found, Undecided};
use crate::search::subtree::Context;

/// Local searches from random cells, beside those from the start points.
const RANDOM_STARTS: usize = 20;
/// Kicks of each chain.
const KICKS: usize = 3;
/// First of the chains' streams of random numbers, descending, away from those of nodes and of the start.
const MOVE_STREAM: u64 = u64::MAX / 2;
/// Start points used at most, best first.
const MAX_START_POINTS: usize = 10;

impl Search<'_> {
    /// Local searches from the best start points and from random cells.
    pub(super) fn start(&mut self, context: &Context<'_>, threads: Option<&ThreadPool>) {
        let model = context.model;
        let mut starts: Vec<(f64, IdVec<FeatureId, CellId>)> = Vec::new();
        for x in self.options.start_points.iter().filter(|x| x.len() == model.n_features()) {
            let cells = cells_of(model, x);
            let leaf = |tree| model.items.leaf[model.descend(tree, &cells)].map(Id::index);
            let leaves: Vec<usize> = model.trees.ids().into_iter().filter_map(leaf).collect();
            let value = self.problem.value(x, &leaves);
            if self.problem.allows(x) {
                self.pool.insert(&Found { objective: value, leaves, x: x.clone() });
            }
            starts.push((value, cells));
        }
        if self.options.local_search {
            starts.sort_by(|a, b| a.0.total_cmp(&b.0));
            starts.dedup();
            starts.truncate(MAX_START_POINTS);
            let random = (0..RANDOM_STARTS).map(|_| None);
            let starts: Vec<_> = starts.into_iter().map(|(_, cells)| Some(cells)).chain(random).collect();
            // The first runs whatever the clock says.
            let improve = |(k, start): (usize, Option<IdVec<FeatureId, CellId>>)| {
                if k > 0 && context.must_stop() {
                    return None;
                }
                let mut rng = context.rng(u64::MAX - k as u64);
                let cells = start.unwrap_or_else(|| random_cells(model, &mut rng));
                let limits = context.limits();
                LocalSearch::default().improve(model, context.neighbours, &cells, &limits, &mut rng)
            };
            for found in each_of(threads, starts, improve).iter().flatten() {
                self.pool.insert(found);
            }
            if self.pool.found.is_empty() {
                self.start_within_limits(context);
            }
        }
        self.announce();
    }

    /// Chains of exact moves: the first from the best point, the others from random cells.
    pub(super) fn moves(&mut self, context: &Context<'_>, threads: Option<&ThreadPool>, stage: usize) {
        let model = context.model;
        let chain = |k: usize, start: Option<&Found>, effort: (usize, Reach)| {
            let mut rng = context.rng(MOVE_STREAM - (stage * 1000 + k) as u64);
            let start = match start {
                Some(best) => cells_of(model, &best.x),
                None => random_cells(model, &mut rng),
            };
            Moves::default().chain(model, context.neighbours, start, effort, &context.limits(), &mut rng)
        };
        let (_, chains) = MOVES[stage];
        let best = self.pool.found.first();
        let run = |(k, ()): (usize, ())| chain(k, best.filter(|_| k == 0), (KICKS, Reach::Pairs));
        let mut found = each_of(threads, vec![(); chains], run);
        if stage + 1 == MOVES.len() {
            found.iter().flatten().for_each(|found| _ = self.pool.insert(found));
            found.push(chain(chains, self.pool.found.first(), (0, Reach::Triples)));
        }
        found.iter().flatten().for_each(|found| _ = self.pool.insert(found));
        self.announce();
    }

    /// Polishes the messages of the root, and starts again from there if they bound more than what waits.
    pub(super) fn polish(&mut self, context: &Context<'_>) {
        let must_stop = || context.must_stop();
        let polished = polished_root(context.model, self.trivial_bound(), self.cutoff(), &must_stop);
        let waiting = self.queue.bound();
        let Some(root) = polished.filter(|root| root.bound > waiting && !context.must_stop()) else { return };
        self.root = Some(root);
        self.queue.clear();
        self.undecided = Undecided::default();
        self.queue.push(self.root(context.model));
    }
}
