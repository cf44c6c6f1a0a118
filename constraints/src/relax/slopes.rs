//! Interval gradients: how much the slope of a node varies over a box.

use crate::interval::Interval;
use crate::model::{Model, NodeId, Operation, Root, Step};
use crate::propagate::{CAN_TRUE, State};

/// Adjoints of the nodes; reusable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slopes {
    adjoints: Vec<Interval>,
}

impl Slopes {
    /// Differentiates a node of a root over the box that `state` was evaluated on.
    pub(crate) fn run(&mut self, model: &Model, state: &State, root: &Root, node: NodeId) {
        self.adjoints.clear();
        self.adjoints.resize(model.operations.len(), Interval::point(0.0));
        self.adjoints[node.index()] = Interval::point(1.0);
        for &step in root.steps.iter().rev() {
            if let Step::Number(n) = step {
                let adjoint = self.adjoints[n.index()];
                if adjoint != Interval::point(0.0) {
                    self.push_back(model, state, n, adjoint);
                }
            }
        }
    }

    /// The range of the derivative by a variable.
    pub(crate) fn of(&self, model: &Model, variable: usize) -> Interval {
        model.variable_nodes[variable].map_or(Interval::point(0.0), |n| self.adjoints[n.index()])
    }

    fn add(&mut self, node: NodeId, slope: Interval) {
        let sum = self.adjoints[node.index()] + slope;
        self.adjoints[node.index()] = if sum.is_empty() { Interval::ENTIRE } else { sum };
    }

    fn push_back(&mut self, model: &Model, state: &State, node: NodeId, adjoint: Interval) {
        let value = |n: NodeId| state.number(n);
        match *model.operation(node) {
            Operation::Constant(_) | Operation::Variable(_) => {}
            Operation::Linear(ref linear) => {
                for term in model.terms(linear) {
                    self.add(term.node, adjoint * term.coefficient);
                }
            }
            Operation::Product(a, b) => {
                self.add(a, adjoint * value(b));
                self.add(b, adjoint * value(a));
            }
            Operation::Quotient(a, b) => {
                self.add(a, adjoint / value(b));
                self.add(b, -(adjoint * value(node) / value(b)));
            }
            Operation::Apply(function, a) => self.add(a, function.chain_over(adjoint, value(a), value(node))),
            Operation::Extreme(_, a, b) => {
                let share = Interval::new(0.0, 1.0);
                self.add(a, adjoint * share);
                self.add(b, adjoint * share);
            }
            // A staircase lies within one of its argument: its trend, a little blurred.
            Operation::Whole(a) => self.add(a, adjoint * Interval::new(0.5, 1.5)),
            Operation::If { yes, no, a, b } => {
                let possible = |t: crate::model::TruthId| state.truths[t.index()] & CAN_TRUE != 0;
                let share = |certain: bool| Interval::new(if certain { 1.0 } else { 0.0 }, 1.0);
                let (y, n) = (possible(yes), possible(no));
                if y {
                    self.add(a, adjoint * share(!n));
                }
                if n {
                    self.add(b, adjoint * share(!y));
                }
            }
        }
    }
}
