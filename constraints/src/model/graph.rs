//! The nodes of the compiled model.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::lattice::Lattice;
use crate::expr::{Comparison, ConditionId};
use crate::function::{Extreme, Function};
use crate::interval::Interval;
use crate::level_set::LevelSet;

/// Index of a numeric node; children come before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

/// Index of a truth node; children come before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TruthId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl TruthId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A numeric node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    Constant(f64),
    Variable(usize),
    Linear(Linear),
    Product(NodeId, NodeId),
    Quotient(NodeId, NodeId),
    /// A function of one argument; a power's exponent is not 0 or 1.
    Apply(Function, NodeId),
    Extreme(Extreme, NodeId, NodeId),
    /// `a` where `yes` holds, `b` where `no` holds; `no` is the negation of `yes`.
    If {
        yes: TruthId,
        no: TruthId,
        a: NodeId,
        b: NodeId,
    },
    Whole(NodeId),
}

/// `constant + sum coefficient_i * node_i`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Linear {
    /// Range of the terms in [`Model::terms`].
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) constant: f64,
    /// Sum of the absolute values of the constants that were merged.
    pub(crate) constant_magnitude: f64,
    /// Relative bound on the difference between this sum and the one computed as written; 0 when both are exact.
    pub(crate) slack: f64,
}

/// A term of a linear node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) node: NodeId,
    pub(crate) coefficient: f64,
    /// Sum of the absolute values of the coefficients that were merged.
    pub(crate) magnitude: f64,
}

/// How far from zero the difference of two sides may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slack {
    /// At most this.
    Fixed(f64),
    /// Relative to the size of the difference's terms over the box at hand.
    Relative,
}

/// A truth node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Truth {
    Constant(bool),
    /// The node compared with zero.
    Compare {
        op: Comparison,
        difference: NodeId,
        slack: Slack,
    },
    /// The category's level is in the set.
    Level(usize, LevelSet),
    /// The node is whole.
    Integral(NodeId),
    And(SmallVec<[TruthId; 4]>),
    Or(SmallVec<[TruthId; 4]>),
}

/// A step of a constraint's evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Number(NodeId),
    Truth(TruthId),
}

/// A condition of the program, possibly negated, possibly without tolerances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) condition: ConditionId,
    pub(crate) negated: bool,
    pub(crate) exact: bool,
}

/// One conjunct of a user's constraint.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) truth: TruthId,
    /// The conjunct in the program, for exact checks.
    pub(crate) piece: Piece,
    /// The nodes it needs, children first; variables and constants are left out.
    pub(crate) steps: Vec<Step>,
    /// The variables it reads, ascending.
    pub(crate) variables: Vec<usize>,
}

/// A divisor that some constraint needs whatever alternatives it takes.
#[derive(Clone, Debug)]
pub(crate) struct Divisor {
    /// The divisor in the program.
    pub(crate) number: crate::expr::NumberId,
    pub(crate) node: NodeId,
    pub(crate) constraint: usize,
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
}

/// The whole graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) operations: Vec<Operation>,
    /// Whether a node takes whole values only.
    pub(crate) integer: Vec<bool>,
    pub(crate) terms: Vec<Term>,
    pub(crate) truths: Vec<Truth>,
    pub(crate) roots: Vec<Root>,
    /// The node of each numeric variable that occurs.
    pub(crate) variable_nodes: Vec<Option<NodeId>>,
    /// Whether a node depends on discrete variables only.
    pub(crate) discrete: Vec<bool>,
    /// Whether a node is an affine function of the variables.
    pub(crate) affine: Vec<bool>,
    /// The roots that read each variable, ascending.
    pub(crate) users: Vec<Vec<u32>>,
    /// Divisors to check for zero.
    pub(crate) divisors: Vec<Divisor>,
    /// Values over the whole domains.
    pub(crate) initial: Vec<Interval>,
    /// Least size by variable.
    pub(crate) least_sizes: Vec<f64>,
    /// Of each node that must be zero, or whole, and is a sum over discrete values: what it can come to.
    pub(crate) lattices: BTreeMap<NodeId, Lattice>,
}

impl Model {
    pub(crate) fn operation(&self, node: NodeId) -> &Operation {
        &self.operations[node.index()]
    }

    pub(crate) fn truth(&self, truth: TruthId) -> &Truth {
        &self.truths[truth.index()]
    }

    pub(crate) fn terms(&self, linear: &Linear) -> &[Term] {
        &self.terms[linear.first as usize..linear.last as usize]
    }

    /// Calls `f` for each child of a numeric node.
    pub(crate) fn children(&self, node: NodeId, mut f: impl FnMut(Step)) {
        match self.operation(node) {
            Operation::Constant(_) | Operation::Variable(_) => {}
            Operation::Linear(linear) => self.terms(linear).iter().for_each(|t| f(Step::Number(t.node))),
            Operation::Product(a, b) | Operation::Quotient(a, b) | Operation::Extreme(_, a, b) => {
                f(Step::Number(*a));
                f(Step::Number(*b));
            }
            Operation::Apply(_, a) | Operation::Whole(a) => f(Step::Number(*a)),
            Operation::If { yes, no, a, b } => {
                f(Step::Truth(*yes));
                f(Step::Truth(*no));
                f(Step::Number(*a));
                f(Step::Number(*b));
            }
        }
    }

    /// Calls `f` for each child of a truth node.
    pub(crate) fn truth_children(&self, truth: TruthId, mut f: impl FnMut(Step)) {
        match self.truth(truth) {
            Truth::Constant(_) | Truth::Level(..) => {}
            Truth::Compare { difference: a, .. } | Truth::Integral(a) => f(Step::Number(*a)),
            Truth::And(parts) | Truth::Or(parts) => parts.iter().for_each(|&p| f(Step::Truth(p))),
        }
    }
}
