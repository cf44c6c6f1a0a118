//! The compiled model: one directed acyclic graph of shared operations, in a form made for propagation and relaxation.
//!
//! Sums are merged into n-ary linear nodes. A merged sum is another number than the sum computed in the order of the text, so each
//! linear node knows a bound on the difference ([`Linear::slack`]); intervals are widened by it and hold both. Negations are pushed down
//! to the comparisons, implications are disjunctions, conjunctions at the root are split.

mod compile;
mod lattice;
mod linear;
mod schedule;

use std::collections::BTreeMap;

pub(crate) use compile::equality_slack;
use lattice::Lattice;
use smallvec::SmallVec;

use crate::domain::Domain;
use crate::expr::{Comparison, ConditionId, Program};
use crate::interval::Interval;
use crate::level_set::LevelSet;

/// Index of a numeric node; children come before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(pub(super) u32);

/// Index of a truth node; children come before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TruthId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl TruthId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A numeric node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Constant(f64),
    Variable(usize),
    Linear(Linear),
    Product(NodeId, NodeId),
    Quotient(NodeId, NodeId),
    /// Constant exponent, not 0 or 1.
    Power(NodeId, f64),
    /// Constant positive base.
    Exponential(f64, NodeId),
    Min(NodeId, NodeId),
    Max(NodeId, NodeId),
    Abs(NodeId),
    Sqrt(NodeId),
    Exp(NodeId),
    Log(NodeId),
    Floor(NodeId),
    Ceil(NodeId),
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
pub(super) struct Linear {
    /// Range of the terms in [`Model::terms`].
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) constant: f64,
    /// Sum of the absolute values of the constants that were merged.
    pub(super) constant_magnitude: f64,
    /// Relative bound on the difference between this sum and the one computed as written; 0 when both are exact.
    pub(super) slack: f64,
}

/// A term of a linear node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) node: NodeId,
    pub(super) coefficient: f64,
    /// Sum of the absolute values of the coefficients that were merged.
    pub(super) magnitude: f64,
}

/// How far from zero the difference of two sides may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slack {
    /// At most this.
    Fixed(f64),
    /// Relative to the smaller of the two sides' magnitudes and to 1.
    Relative(NodeId, NodeId),
}

/// A truth node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
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
pub(super) enum Step {
    Number(NodeId),
    Truth(TruthId),
}

/// A condition of the program, possibly negated, possibly without tolerances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) condition: ConditionId,
    pub(super) negated: bool,
    pub(super) exact: bool,
}

/// One conjunct of a user's constraint.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) truth: TruthId,
    /// The conjunct in the program, for exact checks.
    pub(super) piece: Piece,
    /// The nodes it needs, children first; variables and constants are left out.
    pub(super) steps: Vec<Step>,
    /// The variables it reads, ascending.
    pub(super) variables: Vec<usize>,
}

/// A divisor that some constraint needs whatever alternatives it takes.
#[derive(Clone, Debug)]
pub(super) struct Divisor {
    /// The divisor in the program.
    pub(super) number: crate::expr::NumberId,
    pub(super) node: NodeId,
    pub(super) constraint: usize,
    pub(super) text: String,
    pub(super) steps: Vec<Step>,
}

/// The whole graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) operations: Vec<Operation>,
    /// Whether a node takes whole values only.
    pub(super) integer: Vec<bool>,
    pub(super) terms: Vec<Term>,
    pub(super) truths: Vec<Truth>,
    pub(super) roots: Vec<Root>,
    /// The node of each numeric variable that occurs.
    pub(super) variable_nodes: Vec<Option<NodeId>>,
    /// Whether a node depends on discrete variables only.
    pub(super) discrete: Vec<bool>,
    /// Whether a node is an affine function of the variables.
    pub(super) affine: Vec<bool>,
    /// The roots that read each variable, ascending.
    pub(super) users: Vec<Vec<u32>>,
    /// Divisors to check for zero.
    pub(super) divisors: Vec<Divisor>,
    /// Values over the whole domains.
    pub(super) initial: Vec<Interval>,
    /// Of each node that must be zero, or whole, and is a sum over discrete values: what it can come to.
    pub(super) lattices: BTreeMap<NodeId, Lattice>,
}

impl Model {
    /// Compiles conditions, each with the number of its constraint.
    pub(super) fn compile(program: &Program, domains: &[Domain], pieces: &[(Piece, usize)]) -> Self {
        compile::compile(program, domains, pieces)
    }

    /// Finds the sums over discrete values that an equation or a demand to be whole is about.
    fn find_lattices(&mut self, domains: &[Domain]) {
        for truth in &self.truths {
            let node = match *truth {
                Truth::Compare { op: Comparison::Equal, difference, .. } => difference,
                Truth::Integral(node) => match *self.operation(node) {
                    Operation::Whole(inner) => inner,
                    _ => node,
                },
                _ => continue,
            };
            if let Operation::Linear(linear) = self.operation(node)
                && let Some(lattice) = Lattice::new(self, domains, linear)
            {
                self.lattices.insert(node, lattice);
            }
        }
    }

    pub(super) fn operation(&self, node: NodeId) -> &Operation {
        &self.operations[node.index()]
    }

    pub(super) fn truth(&self, truth: TruthId) -> &Truth {
        &self.truths[truth.index()]
    }

    pub(super) fn terms(&self, linear: &Linear) -> &[Term] {
        &self.terms[linear.first as usize..linear.last as usize]
    }

    /// Calls `f` for each child of a numeric node.
    pub(super) fn children(&self, node: NodeId, mut f: impl FnMut(Step)) {
        match self.operation(node) {
            Operation::Constant(_) | Operation::Variable(_) => {}
            Operation::Linear(linear) => self.terms(linear).iter().for_each(|t| f(Step::Number(t.node))),
            Operation::Product(a, b)
            | Operation::Quotient(a, b)
            | Operation::Min(a, b)
            | Operation::Max(a, b) => {
                f(Step::Number(*a));
                f(Step::Number(*b));
            }
            Operation::Power(a, _)
            | Operation::Exponential(_, a)
            | Operation::Abs(a)
            | Operation::Sqrt(a)
            | Operation::Exp(a)
            | Operation::Log(a)
            | Operation::Floor(a)
            | Operation::Ceil(a)
            | Operation::Whole(a) => f(Step::Number(*a)),
            Operation::If { yes, no, a, b } => {
                f(Step::Truth(*yes));
                f(Step::Truth(*no));
                f(Step::Number(*a));
                f(Step::Number(*b));
            }
        }
    }

    /// Calls `f` for each child of a truth node.
    pub(super) fn truth_children(&self, truth: TruthId, mut f: impl FnMut(Step)) {
        match self.truth(truth) {
            Truth::Constant(_) | Truth::Level(..) => {}
            Truth::Compare { difference, slack, .. } => {
                if let Slack::Relative(a, b) = slack {
                    f(Step::Number(*a));
                    f(Step::Number(*b));
                }
                f(Step::Number(*difference));
            }
            Truth::Integral(a) => f(Step::Number(*a)),
            Truth::And(parts) | Truth::Or(parts) => parts.iter().for_each(|&p| f(Step::Truth(p))),
        }
    }
}

/// Deduplicates nodes while compiling.
#[derive(Debug, Default)]
struct Known {
    operations: BTreeMap<Vec<u64>, NodeId>,
}
