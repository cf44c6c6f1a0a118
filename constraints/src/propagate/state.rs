//! Values of all nodes over a box, and their forward evaluation.

use crate::domain::Domain;
use crate::expr::Comparison;
use crate::function::whole;
use crate::interval::Interval;
use crate::level_set::LevelSet;
use crate::model::{Linear, Model, NodeId, Operation, Slack, Step, Truth, TruthId, equality_slack};

/// What a truth may still be: a set of bits.
pub(crate) const CAN_FALSE: u8 = 1;
pub(crate) const CAN_TRUE: u8 = 2;
const EITHER: u8 = CAN_FALSE | CAN_TRUE;

/// The box holds no feasible point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict;

/// Values of all nodes over a box.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// By node. Empty where the operation is undefined in the whole box.
    pub(crate) numbers: Vec<Interval>,
    /// By truth.
    pub(crate) truths: Vec<u8>,
    /// By variable; empty sets for numbers.
    pub(crate) levels: Vec<LevelSet>,
}

impl State {
    /// No nodes yet; categories at their full sets.
    pub(crate) fn new(domains: &[Domain]) -> Self {
        let levels = domains.iter().map(|d| LevelSet::full(d.levels().unwrap_or(0))).collect();
        Self { numbers: Vec::new(), truths: Vec::new(), levels }
    }

    pub(crate) fn number(&self, node: NodeId) -> Interval {
        self.numbers[node.index()]
    }

    /// Evaluates the steps in order, from the variables' values alone. Returns whether every operation is defined in the whole box.
    pub(crate) fn evaluate(&mut self, model: &Model, steps: &[Step]) -> bool {
        let mut defined = true;
        for &step in steps {
            match step {
                Step::Number(node) => {
                    defined &= self.is_defined(model, node);
                    self.numbers[node.index()] = self.forward_number(model, node);
                }
                Step::Truth(truth) => {
                    let mut bits = self.forward_truth(model, truth);
                    // The define's own node is rounded because it must be whole: ask what it rounds.
                    if let Truth::Integral(node) = model.truth(truth)
                        && let Operation::Whole(inner) = model.operation(*node)
                        && bits == CAN_TRUE
                        && !whole::image(self.number(*inner)).is_point()
                    {
                        bits = EITHER;
                    }
                    self.truths[truth.index()] = bits;
                }
            }
        }
        defined
    }

    /// True when the operation is defined for all values of its operands.
    fn is_defined(&self, model: &Model, node: NodeId) -> bool {
        let value = |n: &NodeId| self.number(*n);
        match model.operation(node) {
            Operation::Quotient(_, b) => !value(b).contains(0.0),
            Operation::Apply(function, a) => function.is_defined_over(value(a)),
            _ => true,
        }
    }

    /// The values of an operation over its operands' values.
    pub(crate) fn forward_number(&self, model: &Model, node: NodeId) -> Interval {
        let value = |n: &NodeId| self.number(*n);
        let result = match model.operation(node) {
            Operation::Constant(v) => return Interval::point(*v),
            Operation::Variable(_) => return self.number(node),
            Operation::Linear(linear) => self.sum(model, linear),
            Operation::Product(a, b) => value(a) * value(b),
            Operation::Quotient(a, b) => value(a) / value(b),
            Operation::Apply(function, a) => function.image(value(a)),
            Operation::Extreme(extreme, a, b) => extreme.image(value(a), value(b)),
            Operation::If { yes, no, a, b } => {
                let mut hull = Interval::EMPTY;
                if self.truths[yes.index()] & CAN_TRUE != 0 {
                    hull = value(a);
                }
                if self.truths[no.index()] & CAN_TRUE != 0 {
                    hull = hull.hull(value(b));
                }
                hull
            }
            Operation::Whole(a) => whole::image(value(a)),
        };
        if model.integer[node.index()] { result.rounded() } else { result }
    }

    /// The sum, rounded outward: the exact one, and the one computed as written.
    fn sum(&self, model: &Model, linear: &Linear) -> Interval {
        let mut sum = Interval::point(linear.constant);
        if linear.slack == 0.0 {
            for term in model.terms(linear) {
                sum = sum + self.number(term.node) * term.coefficient;
            }
            return sum;
        }
        let mut magnitude = linear.constant_magnitude;
        for term in model.terms(linear) {
            let value = self.number(term.node);
            sum = sum + value * term.coefficient;
            magnitude += value.magnitude() * term.magnitude;
        }
        if magnitude.is_finite() {
            return sum.widened(magnitude * linear.slack);
        }
        if let [term] = model.terms(linear)
            && term.magnitude == term.coefficient.abs()
        {
            // Monotone as written: each end is off by its own rounding, and infinity is infinity.
            let value = self.number(term.node);
            let at = |x: f64| {
                let slack = (x.abs() * term.magnitude + linear.constant_magnitude) * linear.slack;
                if slack.is_finite() { slack } else { 0.0 }
            };
            let (first, last) =
                if term.coefficient < 0.0 { (value.hi, value.lo) } else { (value.lo, value.hi) };
            return Interval::new((sum.lo - at(first)).next_down(), (sum.hi + at(last)).next_up());
        }
        self.one_signed(model, linear, sum).unwrap_or(Interval::ENTIRE)
    }

    /// Bounds on a sum, as written, whose terms and constant have one sign: nothing cancels, so that the error is relative to the exact
    /// `sum` and infinity is infinity.
    fn one_signed(&self, model: &Model, linear: &Linear, sum: Interval) -> Option<Interval> {
        let has_sign = |sign: f64| {
            linear.constant * sign >= 0.0
                && linear.constant_magnitude == linear.constant.abs()
                && model.terms(linear).iter().all(|term| {
                    let value = self.number(term.node) * (term.coefficient * sign);
                    value.lo >= 0.0 && term.magnitude == term.coefficient.abs()
                })
        };
        let nearest = |end: f64| (end.abs() * (1.0 - 2.0 * linear.slack)).next_down().max(0.0);
        if has_sign(1.0) {
            Some(Interval::new(nearest(sum.lo), f64::INFINITY))
        } else if has_sign(-1.0) {
            Some(Interval::new(f64::NEG_INFINITY, -nearest(sum.hi)))
        } else {
            None
        }
    }

    /// How far the sum as written may be from the exact one.
    pub(crate) fn slack(&self, model: &Model, linear: &Linear) -> f64 {
        if linear.slack == 0.0 {
            return 0.0;
        }
        let mut magnitude = linear.constant_magnitude;
        for term in model.terms(linear) {
            magnitude += self.number(term.node).magnitude() * term.magnitude;
        }
        if magnitude.is_finite() { magnitude * linear.slack } else { f64::INFINITY }
    }

    /// How far from zero a difference may be for the comparison to hold.
    pub(crate) fn tolerance(&self, model: &Model, difference: NodeId, slack: Slack) -> f64 {
        match slack {
            Slack::Fixed(value) => value,
            Slack::Relative => equality_slack(model.size_of_terms(difference, |node| self.number(node))),
        }
    }

    /// The divisor test: false when no choice of the discrete values makes a sum, as written, differ from a multiple of `modulus` (from
    /// zero, if that is 0) by at most `tolerance`.
    fn can_reach(&self, model: &Model, node: NodeId, tolerance: f64, modulus: i128) -> bool {
        if model.lattices.is_empty() {
            return true;
        }
        let (Some(lattice), Operation::Linear(linear)) = (model.lattices.get(&node), model.operation(node))
        else {
            return true;
        };
        let values = model.terms(linear).iter().map(|term| self.number(term.node));
        lattice.can_reach(values, tolerance + self.slack(model, linear), modulus)
    }

    /// What a truth may be over its operands' values.
    pub(crate) fn forward_truth(&self, model: &Model, truth: TruthId) -> u8 {
        match model.truth(truth) {
            Truth::Constant(value) => {
                if *value {
                    CAN_TRUE
                } else {
                    CAN_FALSE
                }
            }
            Truth::Level(variable, set) => {
                let levels = &self.levels[*variable];
                if levels.is_subset(set) {
                    CAN_TRUE
                } else if levels.intersects(set) {
                    EITHER
                } else {
                    CAN_FALSE
                }
            }
            Truth::Integral(node) => {
                let x = self.number(*node);
                let (inner, slack) = match *model.operation(*node) {
                    Operation::Whole(inner) => (inner, whole::snap(self.number(inner).magnitude())),
                    _ => (*node, 0.0),
                };
                if x.rounded().is_empty() || !self.can_reach(model, inner, slack, 1) {
                    CAN_FALSE
                } else if x.is_point() {
                    CAN_TRUE
                } else {
                    EITHER
                }
            }
            Truth::Compare { op, difference, slack } => {
                let d = self.number(*difference);
                // Undefined everywhere: no comparison holds.
                if d.is_empty() {
                    return CAN_FALSE;
                }
                let (all, none) = match op {
                    Comparison::LessEqual => (d.hi <= 0.0, d.lo > 0.0),
                    Comparison::Less => (d.hi < 0.0, d.lo >= 0.0),
                    Comparison::Equal => {
                        let tolerance = self.tolerance(model, *difference, *slack);
                        let reached = d.lo <= tolerance
                            && d.hi >= -tolerance
                            && self.can_reach(model, *difference, tolerance, 0);
                        (d.lo == 0.0 && d.hi == 0.0, !reached)
                    }
                    Comparison::NotEqual => (d.lo > 0.0 || d.hi < 0.0, d.lo == 0.0 && d.hi == 0.0),
                };
                if all {
                    CAN_TRUE
                } else if none {
                    CAN_FALSE
                } else {
                    EITHER
                }
            }
            Truth::And(parts) => {
                let parts = parts.iter().map(|p| self.truths[p.index()]);
                parts.fold(CAN_TRUE, |sum, p| (sum & p & CAN_TRUE) | ((sum | p) & CAN_FALSE))
            }
            Truth::Or(parts) => {
                let parts = parts.iter().map(|p| self.truths[p.index()]);
                parts.fold(CAN_FALSE, |sum, p| ((sum | p) & CAN_TRUE) | (sum & p & CAN_FALSE))
            }
        }
    }
}
