//! The stages of a node one at a time, so that benches can time each alone. Compiled with the feature `stages` only.

use super::branching::{self, Basis, BranchScratch};
use super::links::Links;
use super::messages::{self, MessageScratch};
use super::model::Model;
use super::node::{Changed, FilterScratch, Node};
use super::problem::Problem;
use super::relax::{RelaxScratch, Relaxation, relax};

/// A node of a problem's search and the buffers of its stages.
#[derive(Debug)]
pub struct Stages<'a> {
    model: Model<'a>,
    node: Node,
    child: Node,
    filter: FilterScratch,
    relax: RelaxScratch,
    relaxation: Relaxation,
    links: Links,
    messages: MessageScratch,
    branch: BranchScratch,
}

impl<'a> Stages<'a> {
    /// The root of the problem, filtered and bounded; `None` when its box is empty or nothing is left to branch on.
    pub fn new(problem: &'a Problem<'a>) -> Option<Self> {
        let model = Model::new(problem)?;
        let (mut node, mut filter) = (Node::default(), FilterScratch::default());
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        if !node.filter(&model, &mut filter, Changed::Everything) {
            return None;
        }
        let mut relax_scratch = RelaxScratch::default();
        let relaxation = relax(&model, &mut node, &mut relax_scratch, f64::INFINITY);
        let mut stages = Self {
            child: node.clone(),
            model,
            node,
            filter,
            relax: relax_scratch,
            relaxation,
            links: Links::default(),
            messages: MessageScratch::default(),
            branch: BranchScratch::default(),
        };
        stages.links();
        stages.messages();
        stages.branching().then_some(stages)
    }

    /// One sweep of the relaxation and its tangent bound.
    pub fn bound_pass(&mut self) -> f64 {
        // No cutoff, nothing to prune with: there is no second sweep.
        self.relaxation = relax(&self.model, &mut self.node, &mut self.relax, f64::INFINITY);
        self.relaxation.bound
    }

    /// Links of variables and blocks from nothing; returns their number.
    pub fn links(&mut self) -> usize {
        self.links.build(&self.model, &self.node);
        self.links.links.len()
    }

    /// Sweeps of messages and the bounds of all segments.
    pub fn messages(&mut self) -> f64 {
        let costs = (&self.relax.g[..], self.relaxation.base);
        let kernels = self.model.kernels;
        // A cutoff just above the bound: as many sweeps as a node gets that they may close.
        let cutoff = self.relaxation.bound + 0.05 * self.relaxation.bound.abs();
        let bound = messages::send(kernels, &self.links, &self.node, costs, cutoff, &mut self.messages);
        messages::bound_segments(kernels, &self.links, bound, &mut self.messages);
        bound
    }

    /// The choice of a split; false when there is none.
    pub fn branching(&mut self) -> bool {
        let basis = Basis {
            items: &self.node.items,
            starts: &self.node.starts,
            z: &self.node.z,
            g: &self.relax.g,
            segment_bound: &self.messages.segment_bound,
            curvature: self.relaxation.curvature,
            need: 0.1 * self.relaxation.bound.abs().max(1e-3),
        };
        branching::choose(&self.model, &self.links, basis, &mut self.branch)
    }

    /// Filters the left child of the chosen split to a fixpoint; false when it is empty.
    pub fn propagation(&mut self) -> bool {
        let split = &self.branch.split;
        self.child.clone_from(&self.node);
        for (w, mask) in self.model.cells.words(split.feature).zip(&split.left) {
            self.child.cells[w] &= mask;
        }
        self.filter.mark(split.feature, self.model.n_features());
        self.child.filter(&self.model, &mut self.filter, Changed::Marked)
    }
}
