//! Values and gradients of the nodes at a point.

use crate::expr::{Comparison, Settings};
use crate::function::whole;
use crate::model::{Model, NodeId, Operation, Root, Step, Truth, TruthId};

/// Node values at a point, and adjoints of the last gradient. Reusable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    values: Vec<f64>,
    adjoints: Vec<f64>,
    /// By how much each truth fails, 0 when it holds.
    violations: Vec<f64>,
    /// Truths that the present call of [`Point::atoms`] has been at.
    visited: Vec<bool>,
}

/// A comparison that should hold at the point: `value <= 0`, or `value == 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) node: NodeId,
    /// Which root it comes from.
    pub(crate) root: u32,
    pub(crate) equality: bool,
    /// What its tolerance is relative to at the point; 0 for an inequality.
    pub(crate) size: f64,
    /// The node's value at the point, less the whole number nearest to it for a wholeness condition.
    pub(crate) value: f64,
}

impl Atom {
    /// By how much it fails.
    pub(crate) fn excess(&self) -> f64 {
        if self.value.is_nan() {
            f64::INFINITY
        } else if self.equality {
            self.value.abs()
        } else {
            self.value.max(0.0)
        }
    }
}

impl Point {
    pub(crate) fn reset(&mut self, model: &Model) {
        self.values.resize(model.operations.len(), 0.0);
        self.adjoints.resize(model.operations.len(), 0.0);
        self.violations.resize(model.truths.len(), 0.0);
        self.visited.resize(model.truths.len(), false);
        for (i, operation) in model.operations.iter().enumerate() {
            if let Operation::Constant(v) = operation {
                self.values[i] = *v;
            }
        }
    }

    pub(crate) fn value(&self, node: NodeId) -> f64 {
        self.values[node.index()]
    }

    /// Evaluates the nodes of a root at `x`, in variable order.
    pub(crate) fn evaluate(&mut self, model: &Model, root: &Root, x: &[f64]) {
        for &v in &root.variables {
            if let Some(node) = model.variable_nodes[v] {
                self.values[node.index()] = x[v];
            }
        }
        for &step in &root.steps {
            match step {
                Step::Number(node) => self.values[node.index()] = self.operate(model, node, x),
                Step::Truth(truth) => self.violations[truth.index()] = self.failure(model, truth, x),
            }
        }
    }

    fn operate(&self, model: &Model, node: NodeId, x: &[f64]) -> f64 {
        let value = |n: &NodeId| self.values[n.index()];
        match model.operation(node) {
            Operation::Constant(v) => *v,
            Operation::Variable(v) => x[*v],
            Operation::Linear(linear) => model
                .terms(linear)
                .iter()
                .fold(linear.constant, |sum, t| sum + t.coefficient * value(&t.node)),
            Operation::Product(a, b) => value(a) * value(b),
            Operation::Quotient(a, b) => value(a) / value(b),
            Operation::Apply(function, a) => function.limit(value(a)),
            Operation::Extreme(extreme, a, b) => extreme.of_defined(value(a), value(b)),
            Operation::If { yes, a, b, .. } => {
                if self.violation(*yes) <= 0.0 {
                    value(a)
                } else {
                    value(b)
                }
            }
            Operation::Whole(a) => whole::value(value(a), Settings::PRODUCE.whole),
        }
    }

    /// By how much a truth of the root evaluated last fails, 0 when it holds.
    pub(crate) fn violation(&self, truth: TruthId) -> f64 {
        self.violations[truth.index()]
    }

    fn failure(&self, model: &Model, truth: TruthId, x: &[f64]) -> f64 {
        match model.truth(truth) {
            Truth::Constant(value) => {
                if *value {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Truth::Level(v, set) => {
                if set.contains(x[*v] as usize) {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Truth::Integral(_) => 0.0,
            Truth::Compare { op, difference, .. } => {
                let value = self.value(*difference);
                match op {
                    _ if value.is_nan() => f64::INFINITY,
                    Comparison::LessEqual => value.max(0.0),
                    Comparison::Less if value >= 0.0 => value.max(f64::MIN_POSITIVE),
                    Comparison::Less => 0.0,
                    Comparison::Equal => value.abs(),
                    Comparison::NotEqual => {
                        if value == 0.0 {
                            f64::MIN_POSITIVE
                        } else {
                            0.0
                        }
                    }
                }
            }
            Truth::And(parts) => parts.iter().fold(0.0, |m, &p| self.violation(p).max(m)),
            Truth::Or(parts) => parts.iter().fold(f64::INFINITY, |m, &p| self.violation(p).min(m)),
        }
    }

    /// The comparisons to satisfy at the point of the last evaluation: of a disjunction, the part that fails least among those `possible`.
    pub(crate) fn atoms(
        &mut self,
        model: &Model,
        root: u32,
        possible: &impl Fn(TruthId) -> bool,
        out: &mut Vec<Atom>,
    ) {
        let stated = &model.roots[root as usize];
        for &step in &stated.steps {
            if let Step::Truth(truth) = step {
                self.visited[truth.index()] = false;
            }
        }
        self.collect(model, root, stated.truth, possible, out);
    }

    fn collect(
        &mut self,
        model: &Model,
        root: u32,
        truth: TruthId,
        possible: &impl Fn(TruthId) -> bool,
        out: &mut Vec<Atom>,
    ) {
        if std::mem::replace(&mut self.visited[truth.index()], true) {
            return;
        }
        match model.truth(truth) {
            Truth::Compare { op, difference, .. } => {
                let equality = *op == Comparison::Equal;
                if *op != Comparison::NotEqual {
                    let size =
                        if equality { model.size_at(*difference, |node| self.value(node)) } else { 0.0 };
                    let value = self.value(*difference);
                    out.push(Atom { node: *difference, root, equality, size, value });
                }
            }
            Truth::Integral(node) => {
                if !model.discrete[node.index()] {
                    let value = self.value(*node);
                    let (size, value) = (value.abs().max(1.0), value - value.round());
                    out.push(Atom { node: *node, root, equality: true, size, value });
                }
            }
            Truth::And(parts) => parts.iter().for_each(|&p| self.collect(model, root, p, possible, out)),
            Truth::Or(parts) => {
                let least = parts
                    .iter()
                    .filter(|&&p| possible(p))
                    .map(|&p| (self.violation(p), p))
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                if let Some((_, part)) = least {
                    self.collect(model, root, part, possible, out);
                }
            }
            Truth::Constant(_) | Truth::Level(..) => {}
        }
    }

    /// Writes the gradient of a node of a root at the point of the last evaluation; `gradient[column]` by `column_of[variable]`.
    pub(crate) fn gradient(
        &mut self,
        model: &Model,
        root: &Root,
        node: NodeId,
        column_of: &[Option<u32>],
        gradient: &mut [f64],
    ) {
        for &step in &root.steps {
            if let Step::Number(n) = step {
                self.adjoints[n.index()] = 0.0;
            }
        }
        for &v in &root.variables {
            if let Some(n) = model.variable_nodes[v] {
                self.adjoints[n.index()] = 0.0;
            }
        }
        self.adjoints[node.index()] = 1.0;
        for &step in root.steps.iter().rev() {
            let Step::Number(n) = step else { continue };
            let adjoint = self.adjoints[n.index()];
            if adjoint != 0.0 {
                self.push_back(model, n, adjoint);
            }
        }
        gradient.fill(0.0);
        for &v in &root.variables {
            if let (Some(n), Some(column)) = (model.variable_nodes[v], column_of[v]) {
                gradient[column as usize] = self.adjoints[n.index()];
            }
        }
    }

    fn push_back(&mut self, model: &Model, node: NodeId, adjoint: f64) {
        let own = self.value(node);
        match model.operation(node) {
            Operation::Constant(_) | Operation::Variable(_) => {}
            Operation::Linear(linear) => {
                for term in model.terms(linear) {
                    self.adjoints[term.node.index()] += adjoint * term.coefficient;
                }
            }
            Operation::Product(a, b) => {
                let (va, vb) = (self.value(*a), self.value(*b));
                self.adjoints[a.index()] += adjoint * vb;
                self.adjoints[b.index()] += adjoint * va;
            }
            Operation::Quotient(a, b) => {
                let vb = self.value(*b);
                self.adjoints[a.index()] += adjoint / vb;
                self.adjoints[b.index()] -= adjoint * own / vb;
            }
            Operation::Apply(function, a) => {
                self.adjoints[a.index()] += function.chain(adjoint, self.value(*a), own);
            }
            Operation::Extreme(extreme, a, b) => {
                let chosen = if extreme.takes_first(self.value(*a), self.value(*b)) { a } else { b };
                self.adjoints[chosen.index()] += adjoint;
            }
            // Steps have no slope; the trend is what a search direction can use.
            Operation::Whole(a) => self.adjoints[a.index()] += adjoint,
            Operation::If { yes, a, b, .. } => {
                let chosen = if self.violation(*yes) <= 0.0 { a } else { b };
                self.adjoints[chosen.index()] += adjoint;
            }
        }
    }
}
