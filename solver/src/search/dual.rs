//! The bound of a node: its messages and the point of its tangent, raised in turns.
//!
//! With `q = kappa u / s`, the tangent bound of [`super::relax`] with messages reads
//!
//! `mean + q.uf - sqrt(s2 (|q|^2 + kappa^2)) + sum_b min_i (c_i + v_i.q - S_i)`,
//!
//! where `S_i` is what item `i` pays for messages: a lower bound for every `q` and all messages, and concave in both together. Sweeps of messages
//! raise it for a fixed `q`; a pass of Frank-Wolfe steps on the costs `c_i - S_i` moves `q`. A node starts from the messages and the weights of its
//! parent, so a few sweeps go as far as dozens from nothing.

use crate::certificate::{ProofRound, Steps};

use super::index::{IdVec, Position};
use super::links::{LinkedFeature, Links};
use super::messages::{self, Messages};
use super::model::{Deviation, Model};
use super::node::Node;
use super::relax::{self, Directions, Relaxation};

/// How long a bound is raised.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Most sweeps.
    sweeps: usize,
    /// Sweeps before patience may end.
    least: usize,
    /// Sweeps as good as the last that the bound may still be short of the cutoff.
    patience: f64,
}

impl Effort {
    /// From a parent's messages a few sweeps are enough. Without a deviation there is no tangent to wait for: the messages are all of the bound. Of a sum of
    /// trees even a node that will not close gets a few: its bound and what they fix pass to all below it.
    fn of(model: &Model<'_>, warm: bool) -> Self {
        let least = if model.deviation.is_none() && warm { LEAST_SWEEPS } else { 0 };
        let (sweeps, patience) = match (convex(model).is_some(), warm) {
            (true, true) => (20, 10.0),
            (true, false) => (40, 20.0),
            (false, true) => (20, 20.0),
            (false, false) => (60, 30.0),
        };
        Self { sweeps, least, patience }
    }
}

/// Sweeps of a warm node of a sum of trees before patience may end.
const LEAST_SWEEPS: usize = 5;
/// Sweeps between two moves of the tangent.
const SWEEPS_PER_MOVE: usize = 3;

/// Buffers and results.
#[derive(Debug, Default)]
pub(crate) struct Dual {
    pub(crate) messages: Messages,
    /// `kappa / s` at the last tangent.
    pub(crate) curvature: f64,
    /// The costs that branching goes by, and what they bound with every block at its cheapest: with a convex deviation those after the messages;
    /// otherwise those before, since where messages tie the leaves, nothing says where they disagree.
    pub(crate) guide: IdVec<Position, f64>,
    pub(crate) guide_bound: f64,
    /// Costs of the items less messages, without the deviation's part.
    cost: IdVec<Position, f64>,
    coarse_u: Vec<f32>,
    products: IdVec<Position, f64>,
    starts: IdVec<Position, usize>,
}

impl Dual {
    /// Raises the node's bound until it reaches the cutoff or is not going to, and moves the node's weights. Returns the bound.
    pub(crate) fn raise(&mut self, model: &Model<'_>, links: &Links, node: &mut Node, cutoff: f64) -> f64 {
        self.messages.clear(links);
        let warm = !node.multipliers.is_empty();
        if warm {
            node.multipliers.load(model, links, &node.blocks, &mut self.messages.values, &mut self.starts);
        }
        let base = self.place_tangent(model, links, node, Some(Directions::Renewed));
        let effort = Effort::of(model, warm);
        self.climb(model, links, node, (base, true), effort, cutoff).0
    }

    /// As [`Dual::raise`], and then once more as the checker of a certificate does: from nothing, at the node's `u` as it stands in the file. Returns
    /// that bound and what the file says of it.
    pub(crate) fn raise_on_record(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        node: &mut Node,
        cutoff: f64,
    ) -> (f64, ProofRound) {
        let dim = match (convex(model), &model.problem.objective.quadratic) {
            (Some(_), Some(quadratic)) => {
                self.raise(model, links, node, cutoff);
                quadratic.dim
            }
            _ => 0,
        };
        let exact = node.u.clone();
        let u = Steps::near(&node.u[..dim]);
        node.u[..dim].copy_from_slice(&u.vector());
        self.messages.clear(links);
        let base = self.place_tangent(model, links, node, None);
        let (bound, sweeps) = self.climb(model, links, node, (base, false), Effort::of(model, false), cutoff);
        // The node's weights belong to the exact vector.
        node.u = exact;
        (bound, ProofRound { u, sweeps: sweeps as u8 })
    }

    /// Keeps the messages for the node's next round and its children.
    pub(crate) fn keep(&mut self, model: &Model<'_>, links: &Links, node: &mut Node) {
        node.multipliers.keep(model, links, &node.blocks, &self.messages.values, &mut self.starts);
    }

    /// Sweeps, with moves of the tangent between them where allowed. Returns the bound and the number of sweeps.
    fn climb(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        node: &mut Node,
        (mut base, moves): (f64, bool),
        Effort { sweeps, least, patience }: Effort,
        cutoff: f64,
    ) -> (f64, usize) {
        let tied = links.features.iter().any(LinkedFeature::ties);
        let moves = moves && convex(model).is_some();
        let mut last = f64::NEG_INFINITY;
        for sweep in 1.. {
            if tied {
                self.messages.sweep(model.kernels, links);
            }
            let minima = self.messages.sum_of_minima(&node.blocks) - self.messages.paid_by_blocks();
            let bound = base + minima - self.messages.margin(links, &node.blocks, sweep);
            if bound >= cutoff
                || sweep >= sweeps
                || (sweep >= least && bound + patience * (bound - last) < cutoff)
                || !(tied || moves)
            {
                if convex(model).is_some() {
                    self.guide.clone_from(&self.messages.reduced);
                    self.guide_bound = bound;
                }
                return (bound, if tied { sweep } else { 0 });
            }
            last = bound;
            if moves && (!tied || sweep.is_multiple_of(SWEEPS_PER_MOVE)) {
                base = self.place_tangent(model, links, node, Some(Directions::Given));
            }
        }
        unreachable!("the loop ends by its number of sweeps")
    }

    /// Puts the tangent at the node's `u`, after a pass of steps of the node's weights where directions are given and the deviation is convex, and fills
    /// in the reduced costs. Returns the base of the bound.
    pub(crate) fn place_tangent(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        node: &mut Node,
        directions: Option<Directions>,
    ) -> f64 {
        let Self { messages, cost, coarse_u, .. } = self;
        let Relaxation { base, curvature } = if let Some(deviation) = convex(model) {
            cost.clear();
            cost.extend(node.blocks.items.iter().map(|&item| model.cost[item]));
            messages::charge(links, &messages.values, cost);
            let reduced = &mut messages.reduced;
            reduced.resize(node.blocks.n_items(), 0.0);
            if let Some(directions) = directions {
                relax::descend(model, node, cost, (reduced, coarse_u), directions, deviation);
            }
            relax::tangent(model, node, cost, reduced, deviation)
        } else {
            let reduced = &mut messages.reduced;
            let relaxation = match model.deviation {
                Some(deviation) => {
                    relax::relax_concave(model, node, (reduced, &mut self.products), deviation)
                }
                None => relax::relax_linear(model, node, reduced),
            };
            self.guide.clone_from(reduced);
            let minima = messages.sum_of_minima(&node.blocks);
            self.guide_bound = relaxation.base + minima - messages.margin(links, &node.blocks, 0);
            messages::charge(links, &messages.values, &mut messages.reduced);
            relaxation
        };
        self.curvature = curvature;
        base
    }
}

/// The deviation, when its part of the objective is convex.
fn convex(model: &Model<'_>) -> Option<Deviation> {
    model.deviation.filter(|deviation| deviation.kappa > 0.0)
}

#[cfg(test)]
mod tests {
    use super::Dual;
    use crate::Problem;
    use crate::search::filter::{Changed, Filter};
    use crate::search::links::Links;
    use crate::search::model::Model;
    use crate::search::node::Node;
    use crate::search::relax::Directions;
    use crate::testing::{crossing_trees, wavy_objective};

    #[test]
    fn the_weights_go_on_moving_while_messages_are_raised() {
        let (domains, forest) = crossing_trees(40, 4, 23);
        let objective = wavy_objective(forest.n_leaves());
        let problem = Problem::new(&domains, &forest, &objective);
        let model = Model::new(&problem).unwrap();
        let (mut node, mut links) = (Node::default(), Links::default());
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        assert!(Filter::default().run(&model, &mut node, Changed::Everything));
        links.build(&model, &node.cells, &node.blocks);
        let mut dual = Dual::default();
        let mut once = node.clone();
        dual.messages.clear(&links);
        let base = dual.place_tangent(&model, &links, &mut once, Some(Directions::Renewed));
        let start = base + dual.messages.sum_of_minima(&once.blocks);
        let bound = dual.raise(&model, &links, &mut node, start + 5.0);
        assert!(bound > start + 1.0, "messages raise {start} to {bound}");
        let moved: f64 = once.z.iter().zip(&node.z).map(|(a, b)| (a - b).abs()).sum();
        assert!(moved > 0.1, "the weights moved by {moved} after the first pass");
    }
}
