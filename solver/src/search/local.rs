//! Start heuristics: coordinate search over cells with incremental leaf changes.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use leafgp_constraints::{Decision, Limits};

use super::cell_set::insert;
use super::cell_tree::CellNode;
use super::cells::FeatureCells;
use super::index::{CellId, FeatureId, Id, IdVec, ItemId, Span, TreeId};
use super::learned::{CellEffort, search_cell};
use super::line::Line;
use super::model::Model;
use super::pool::{Found, centre, decide, evaluate};

/// Which trees change at which boundary of which variable.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// Trees that split each variable.
    trees_of: IdVec<FeatureId, Vec<TreeId>>,
    /// For a number: trees with a split just below each cell.
    at_boundary: IdVec<FeatureId, IdVec<CellId, Vec<TreeId>>>,
}

impl Neighbours {
    pub(crate) fn new(model: &Model<'_>) -> Self {
        let mut trees_of = IdVec::from(vec![Vec::new(); model.n_features()]);
        let boundaries = |f| match model.cells.feature(f) {
            FeatureCells::Numeric(cells) => vec![Vec::new(); cells.len()].into(),
            FeatureCells::Levels(_) => IdVec::default(),
        };
        let mut at_boundary: IdVec<FeatureId, IdVec<CellId, Vec<TreeId>>> =
            model.cells.features().into_iter().map(boundaries).collect();
        let push = |list: &mut Vec<TreeId>, tree: TreeId| {
            if list.last() != Some(&tree) {
                list.push(tree);
            }
        };
        for (t, tree) in model.trees.ids().into_iter().zip(&model.trees) {
            for node in &tree.nodes {
                match *node {
                    CellNode::Below { feature, split, .. } => {
                        push(&mut trees_of[feature], t);
                        // A threshold above all cells is no boundary.
                        if split < at_boundary[feature].next_id() {
                            push(&mut at_boundary[feature][split], t);
                        }
                    }
                    CellNode::Levels { feature, .. } => push(&mut trees_of[feature], t),
                    CellNode::Leaf(_) | CellNode::Unreachable => {}
                }
            }
        }
        Self { trees_of, at_boundary }
    }

    /// Trees that split a variable, ascending.
    pub(crate) fn trees_of(&self, feature: FeatureId) -> &[TreeId] {
        &self.trees_of[feature]
    }
}

/// A point as one cell of each variable, with the sums of its active leaves.
#[derive(Debug, Default)]
pub(crate) struct LocalSearch {
    cell: IdVec<FeatureId, CellId>,
    item: IdVec<TreeId, ItemId>,
    mean: f64,
    u: Vec<f64>,
    trial_u: Vec<f64>,
    trial_item: IdVec<TreeId, ItemId>,
    moves: Vec<(f64, CellId)>,
    order: Vec<FeatureId>,
    /// The trees' items along the variable that is scanned.
    line: Line,
}

/// Cells of a variable that are looked at between two looks at the clock.
const LOOKED_AT: u32 = 256;
/// Decisions about the value of one cell.
const LEARNED_STEPS: usize = 8;
/// Passes over all variables before a search ends at the latest.
const MAX_PASSES: usize = 30;

impl LocalSearch {
    fn value(model: &Model<'_>, mean: f64, u: &[f64]) -> f64 {
        match model.deviation {
            Some(d) => mean - d.kappa * (d.prior - model.kernels.dot(u, u)).max(0.0).sqrt(),
            None => mean,
        }
    }

    fn place(&mut self, model: &Model<'_>, cells: &IdVec<FeatureId, CellId>) {
        self.cell.clone_from(cells);
        self.item.clear();
        self.item.extend(model.trees.ids().into_iter().map(|t| model.descend(t, cells)));
        self.mean = model.constant;
        self.u.clear();
        self.u.resize(model.stride(), 0.0);
        for &item in &self.item {
            self.mean += model.cost[item];
            if model.stride() > 0 {
                model.kernels.add_scaled(&mut self.u, 1.0, model.vector(item));
            }
        }
    }

    /// Moves one variable's cell in the trial; only the listed trees can change.
    fn shift(&mut self, model: &Model<'_>, feature: FeatureId, trees: &[TreeId], mean: &mut f64) {
        for &t in trees {
            let new = self.line.item(model, t, &self.cell, feature);
            let old = self.trial_item[t];
            if new != old {
                *mean += model.cost[new] - model.cost[old];
                if model.stride() > 0 {
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

    /// Values of all cells of one variable, the others fixed, that improve on `value`; of those looked at when the time is up.
    fn scan(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        feature: FeatureId,
        value: f64,
        limits: &Limits,
    ) {
        let mut looked_at = 0_u32;
        let mut is_over = || {
            looked_at += 1;
            looked_at.is_multiple_of(LOOKED_AT) && limits.must_stop()
        };
        self.moves.clear();
        let current = self.cell[feature];
        let end = CellId::new(model.cells.feature(feature).len());
        let slack = 1e-10 * value.abs().max(1.0);
        self.line.draw(model, &neighbours.trees_of[feature], &self.cell, feature);
        match model.cells.feature(feature) {
            FeatureCells::Numeric(_) => {
                for up in [true, false] {
                    self.reset_trial();
                    let mut mean = self.mean;
                    let mut at = current;
                    while if up { at.next() < end } else { at > CellId::default() } {
                        let (next, boundary) = if up { (at.next(), at.next()) } else { (at.previous(), at) };
                        at = next;
                        self.cell[feature] = at;
                        let trees = &neighbours.at_boundary[feature][boundary];
                        self.shift(model, feature, trees, &mut mean);
                        let new = Self::value(model, mean, &self.trial_u);
                        if new < value - slack {
                            self.moves.push((new, at));
                        }
                        if is_over() {
                            break;
                        }
                    }
                }
            }
            FeatureCells::Levels(_) => {
                self.reset_trial();
                let mut mean = self.mean;
                for at in Span::new(CellId::default(), end).into_iter().filter(|&at| at != current) {
                    self.cell[feature] = at;
                    self.shift(model, feature, &neighbours.trees_of[feature], &mut mean);
                    let new = Self::value(model, mean, &self.trial_u);
                    if new < value - slack {
                        self.moves.push((new, at));
                    }
                    if is_over() {
                        break;
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
        cells: &IdVec<FeatureId, CellId>,
        limits: &Limits,
        rng: &mut impl Rng,
    ) -> Option<Found> {
        self.place(model, cells);
        let restricted = model.is_restricted();
        let mut best = if restricted { realise(model, &self.cell, limits) } else { None };
        let mut value = Self::value(model, self.mean, &self.u);
        self.order.clear();
        self.order.extend(model.cells.features());
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
                    self.scan(model, neighbours, feature, value, limits);
                    let current = self.cell[feature];
                    // Under restrictions a move counts only when a point of the new cell is allowed; from a forbidden start any better
                    // cell will do, but the first allowed one is kept.
                    for k in 0..self.moves.len().min(if restricted { 6 } else { 1 }) {
                        self.cell[feature] = self.moves[k].1;
                        if restricted {
                            let Some(found) = realise(model, &self.cell, limits) else {
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
        if restricted { best } else { realise(model, &self.cell, limits) }
    }
}

/// An allowed point of the given cells, one of each variable.
pub(crate) fn realise(model: &Model<'_>, cells: &IdVec<FeatureId, CellId>, limits: &Limits) -> Option<Found> {
    let mut words = vec![0; model.cells.n_words()];
    for (f, &cell) in model.cells.features().into_iter().zip(cells) {
        insert(&mut words[model.cells.words(f)], cell);
    }
    let mut region = model.cells.hull(&words);
    if let Some(learned) = &model.problem.learned {
        let effort = CellEffort { limits, nodes: 20, steps: LEARNED_STEPS };
        let nearly = |value: f64| value - 1e-3 * value.abs();
        return search_cell(model, learned, region, |_| f64::INFINITY, nearly, &effort)?.best;
    }
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

/// The cells of a point.
pub(crate) fn cells_of(model: &Model<'_>, x: &[f64]) -> IdVec<FeatureId, CellId> {
    let cell = |(f, (&v, domain)): (FeatureId, (&f64, &crate::Domain))| {
        let (lower, upper) = domain.bounds();
        let v = if v.is_nan() {
            lower
        } else {
            domain.nearest(v.clamp(lower, upper), lower, upper).unwrap_or(lower)
        };
        model.cells.cell_of(f, v)
    };
    model.cells.features().into_iter().zip(x.iter().zip(model.problem.domains)).map(cell).collect()
}

/// Random cells, each variable's uniform.
pub(crate) fn random_cells(model: &Model<'_>, rng: &mut impl Rng) -> IdVec<FeatureId, CellId> {
    let random = |f| CellId::from_raw(rng.random_range(0..model.cells.feature(f).len() as u32));
    model.cells.features().into_iter().map(random).collect()
}
