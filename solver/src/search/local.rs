//! Start heuristics: coordinate search over cells with incremental leaf changes.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use leafgp_constraints::{Decision, Limits};

use super::cells::{FeatureCells, fill};
use super::model::{CellNode, Model};
use super::pool::{Found, centre, decide, evaluate};

/// Which trees change at which boundary of which variable.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// Trees that split each variable.
    trees_of: Vec<Vec<u32>>,
    /// For a number: trees with a split between cells `k - 1` and `k`.
    at_boundary: Vec<Vec<Vec<u32>>>,
}

impl Neighbours {
    pub(crate) fn new(model: &Model<'_>) -> Self {
        let n = model.n_features();
        let mut trees_of = vec![Vec::new(); n];
        let mut at_boundary: Vec<Vec<Vec<u32>>> = (0..n)
            .map(|f| match model.cells.feature(f) {
                FeatureCells::Numeric(cells) => vec![Vec::new(); cells.len()],
                FeatureCells::Levels(_) => Vec::new(),
            })
            .collect();
        let push = |list: &mut Vec<u32>, tree: u32| {
            if list.last() != Some(&tree) {
                list.push(tree);
            }
        };
        for (t, nodes) in model.trees.iter().enumerate() {
            for node in nodes {
                match *node {
                    CellNode::Below { feature, split, .. } => {
                        push(&mut trees_of[feature as usize], t as u32);
                        if let Some(list) = at_boundary[feature as usize].get_mut(split as usize) {
                            push(list, t as u32);
                        }
                    }
                    CellNode::Levels { feature, .. } => push(&mut trees_of[feature as usize], t as u32),
                    CellNode::Leaf(_) => {}
                }
            }
        }
        Self { trees_of, at_boundary }
    }
}

/// A point as one cell of each variable, with the sums of its active leaves.
#[derive(Debug, Default)]
pub(crate) struct LocalSearch {
    cell: Vec<u32>,
    item: Vec<u32>,
    mean: f64,
    u: Vec<f64>,
    trial_u: Vec<f64>,
    trial_item: Vec<u32>,
    moves: Vec<(f64, u32)>,
    order: Vec<usize>,
}

/// Passes over all variables before a search ends at the latest.
const MAX_PASSES: usize = 30;

impl LocalSearch {
    fn value(model: &Model<'_>, mean: f64, u: &[f64]) -> f64 {
        match model.deviation {
            Some(d) => mean - d.kappa * (d.prior - model.kernels.dot(u, u)).max(0.0).sqrt(),
            None => mean,
        }
    }

    fn place(&mut self, model: &Model<'_>, cells: &[u32]) {
        self.cell.clear();
        self.cell.extend_from_slice(cells);
        self.item.clear();
        self.item.extend((0..model.trees.len()).map(|t| model.descend(t, cells)));
        self.mean = model.constant;
        self.u.clear();
        self.u.resize(model.stride, 0.0);
        for &item in &self.item {
            self.mean += model.cost[item as usize];
            if model.stride > 0 {
                model.kernels.add_scaled(&mut self.u, 1.0, model.vector(item));
            }
        }
    }

    /// Moves one variable's cell in the trial; only the listed trees can change.
    fn shift(&mut self, model: &Model<'_>, trees: &[u32], mean: &mut f64) {
        for &t in trees {
            let t = t as usize;
            let new = model.descend(t, &self.cell);
            let old = self.trial_item[t];
            if new != old {
                *mean += model.cost[new as usize] - model.cost[old as usize];
                if model.stride > 0 {
                    model.kernels.add_difference(
                        &mut self.trial_u,
                        1.0,
                        model.vector(new),
                        model.vector(old),
                    );
                }
                self.trial_item[t] = new;
            }
        }
    }

    fn reset_trial(&mut self) {
        self.trial_u.clone_from(&self.u);
        self.trial_item.clone_from(&self.item);
    }

    /// Values of all cells of one variable, the others fixed, that improve on `value`.
    fn scan(&mut self, model: &Model<'_>, neighbours: &Neighbours, feature: usize, value: f64) {
        self.moves.clear();
        let current = self.cell[feature];
        let n = model.cells.feature(feature).len() as u32;
        let slack = 1e-10 * value.abs().max(1.0);
        match model.cells.feature(feature) {
            FeatureCells::Numeric(_) => {
                for up in [true, false] {
                    self.reset_trial();
                    let mut mean = self.mean;
                    let mut at = current;
                    while if up { at + 1 < n } else { at > 0 } {
                        let boundary = if up { at + 1 } else { at };
                        at = if up { at + 1 } else { at - 1 };
                        self.cell[feature] = at;
                        let trees = &neighbours.at_boundary[feature][boundary as usize];
                        self.shift(model, trees, &mut mean);
                        let new = Self::value(model, mean, &self.trial_u);
                        if new < value - slack {
                            self.moves.push((new, at));
                        }
                    }
                }
            }
            FeatureCells::Levels(_) => {
                self.reset_trial();
                let mut mean = self.mean;
                for at in (0..n).filter(|&at| at != current) {
                    self.cell[feature] = at;
                    self.shift(model, &neighbours.trees_of[feature], &mut mean);
                    let new = Self::value(model, mean, &self.trial_u);
                    if new < value - slack {
                        self.moves.push((new, at));
                    }
                }
            }
        }
        self.cell[feature] = current;
        self.moves.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Improves the given cells one variable at a time until none helps, and returns the point reached if it is allowed.
    pub(crate) fn improve(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        cells: &[u32],
        limits: &Limits,
        rng: &mut impl Rng,
    ) -> Option<Found> {
        self.place(model, cells);
        let restricted =
            model.problem.constraints.is_some() || !model.excluded.is_empty() || !model.rows.is_empty();
        let mut best = if restricted { self.realise(model, limits) } else { None };
        let mut value = Self::value(model, self.mean, &self.u);
        self.order.clear();
        self.order.extend(0..model.n_features());
        let mut since = 0;
        'passes: for _ in 0..MAX_PASSES {
            let mut order = std::mem::take(&mut self.order);
            order.shuffle(rng);
            for &feature in &order {
                since += 1;
                if limits.must_stop() {
                    self.order = order;
                    break 'passes;
                }
                if model.cells.feature(feature).len() > 1 && !neighbours.trees_of[feature].is_empty() {
                    self.scan(model, neighbours, feature, value);
                    let current = self.cell[feature];
                    // Under restrictions a move counts only when a point of the new cell is allowed; from a forbidden start any better
                    // cell will do, but the first allowed one is kept.
                    for k in 0..self.moves.len().min(if restricted { 6 } else { 1 }) {
                        self.cell[feature] = self.moves[k].1;
                        if restricted {
                            let Some(found) = self.realise(model, limits) else {
                                self.cell[feature] = current;
                                continue;
                            };
                            if best.as_ref().is_none_or(|b| found.objective < b.objective) {
                                best = Some(found);
                            }
                        }
                        let moved = self.cell.clone();
                        self.place(model, &moved);
                        value = Self::value(model, self.mean, &self.u);
                        since = 0;
                        break;
                    }
                }
                if since > model.n_features() {
                    self.order = order;
                    break 'passes;
                }
            }
            self.order = order;
        }
        if restricted { best } else { self.realise(model, limits) }
    }

    /// An allowed point of the current cells.
    fn realise(&self, model: &Model<'_>, limits: &Limits) -> Option<Found> {
        let mut words = vec![0; model.cells.n_words()];
        for f in 0..model.n_features() {
            let j = self.cell[f] as usize;
            fill(&mut words[model.cells.words(f)], j, j + 1);
        }
        let mut region = model.cells.hull(&words);
        let middle = centre(model, &region);
        let found = evaluate(model, middle)?;
        let Some(constraints) = model.problem.constraints else {
            return Some(found);
        };
        if !constraints.contract(&mut region) {
            return None;
        }
        let limits = Limits { nodes: limits.nodes.min(20), ..limits.clone() };
        match decide(model, constraints, &limits, &region, &found.x) {
            Decision::Feasible(x) => evaluate(model, x),
            _ => None,
        }
    }
}

/// The cells of a point.
pub(crate) fn cells_of(model: &Model<'_>, x: &[f64]) -> Vec<u32> {
    let cell = |(f, (&v, domain)): (usize, (&f64, &crate::Domain))| {
        let (lower, upper) = domain.bounds();
        let v = if v.is_nan() {
            lower
        } else {
            domain.nearest(v.clamp(lower, upper), lower, upper).unwrap_or(lower)
        };
        model.cells.cell_of(f, v) as u32
    };
    x.iter().zip(model.problem.domains).enumerate().map(cell).collect()
}

/// Random cells, each variable's uniform.
pub(crate) fn random_cells(model: &Model<'_>, rng: &mut impl Rng) -> Vec<u32> {
    (0..model.n_features()).map(|f| rng.random_range(0..model.cells.feature(f).len() as u32)).collect()
}
