//! The stages of a node one at a time, so that benches can time each alone. Compiled with the feature `stages` only.

use super::branching::{Basis, Branching};
use super::dual::Dual;
use super::filter::{Changed, Filter};
use super::links::Links;
use super::messages;
use super::model::Model;
use super::node::Node;
use super::relax::Directions;
use crate::problem::Problem;

/// A node of a problem's search and the buffers of its stages.
#[derive(Debug)]
pub struct Stages<'a> {
    model: Model<'a>,
    node: Node,
    child: Node,
    filter: Filter,
    links: Links,
    dual: Dual,
    bound: f64,
    branching: Branching,
}

impl<'a> Stages<'a> {
    /// The root of the problem, filtered and bounded; `None` when its box is empty or nothing is left to branch on.
    pub fn new(problem: &'a Problem<'a>) -> Option<Self> {
        let model = Model::new(problem)?;
        let (mut node, mut filter) = (Node::default(), Filter::default());
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        if !filter.run(&model, &mut node, Changed::Everything) {
            return None;
        }
        let mut stages = Self {
            child: node.clone(),
            model,
            node,
            filter,
            links: Links::default(),
            dual: Dual::default(),
            bound: 0.0,
            branching: Branching::default(),
        };
        stages.links();
        stages.bound = stages.dual.raise(&stages.model, &stages.links, &mut stages.node, f64::INFINITY);
        stages.messages();
        stages.branching().then_some(stages)
    }

    /// One pass of steps of the weights and its tangent.
    pub fn bound_pass(&mut self) -> f64 {
        self.dual.place_tangent(&self.model, &self.links, &mut self.node, Some(Directions::Renewed))
    }

    /// Links of variables and blocks from nothing; returns their number.
    pub fn links(&mut self) -> usize {
        self.links.build(&self.model, &self.node.cells, &self.node.blocks);
        self.links.links.len()
    }

    /// The whole bound of a node from nothing (sweeps of messages, moves of the tangent) and the bounds of all segments.
    pub fn messages(&mut self) -> f64 {
        // A cutoff just above the bound: as many sweeps as a node gets that they may close.
        let cutoff = self.bound + 0.05 * self.bound.abs();
        let bound = self.dual.raise(&self.model, &self.links, &mut self.node, cutoff);
        messages::bound_segments(self.model.kernels, &self.links, bound, &mut self.dual.messages);
        bound
    }

    /// The choice of a split; false when there is none.
    pub fn branching(&mut self) -> bool {
        let basis = Basis {
            blocks: &self.node.blocks,
            z: &self.node.z,
            g: &self.dual.guide,
            segment_bound: &self.dual.messages.segment_bound,
            curvature: self.dual.curvature,
            need: 0.1 * self.bound.abs().max(1e-3),
        };
        self.branching.choose(&self.model, &self.links, basis)
    }

    /// Filters the left child of the chosen split to a fixpoint; false when it is empty.
    pub fn propagation(&mut self) -> bool {
        let split = &self.branching.split;
        self.child.clone_from(&self.node);
        for (w, mask) in self.model.cells.words(split.feature).zip(&split.left) {
            self.child.cells[w] &= mask;
        }
        self.filter.mark(&self.model, split.feature);
        self.filter.run(&self.model, &mut self.child, Changed::Marked)
    }
}
