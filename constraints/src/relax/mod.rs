//! Affine functions below and above each node over a box, by composition (McCormick): the cuts of the relaxation.
//!
//! An estimator holds at every feasible point of the box (node values may have been contracted by the constraints), up to a running
//! bound on rounding errors that the cut's right side is widened by.
//!
//! McCormick (1976), Computability of global solutions to factorable nonconvex programs, Mathematical Programming 10.

mod slopes;

pub(super) use slopes::Slopes;

use super::model::{Linear, Model, NodeId, Operation, Step, Truth, TruthId};
use super::propagate::{CAN_TRUE, State};
use crate::expr::Comparison;
use crate::function::{Function, Line, whole};
use crate::interval::Interval;

/// The columns of the relaxation: the free numeric variables of a box.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Variable of each column.
    pub(super) variables: Vec<usize>,
    /// Column of each variable.
    pub(super) of_variable: Vec<Option<u32>>,
}

/// Estimators of all nodes at one point. Row `2 * node` is below, row `2 * node + 1` above.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    columns: usize,
    /// `[2 * (nodes + 1), columns + 3]`: coefficients, constant, error, value at the point. An infinite error means "none".
    values: Vec<f64>,
    row: Vec<f64>,
    /// Largest absolute value of each column's variable.
    magnitudes: Vec<f64>,
    /// Whether a node's estimators belong to the present point.
    built: Vec<bool>,
    /// Whether an `if` with an open condition has estimators.
    switches: bool,
}

/// A division that a comparison can be multiplied out by.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleQuotient {
    /// `scale * numerator / divisor + constant` is compared with zero.
    scale: f64,
    numerator: NodeId,
    divisor: NodeId,
    constant: f64,
    /// Bound on the difference to the value as written, times the divisor.
    error: f64,
    /// Whether the divisor is negative.
    negative: bool,
}

impl SingleQuotient {
    pub(super) fn divisor(&self) -> NodeId {
        self.divisor
    }
}

/// An operand: `coefficient * node`.
type Part = (f64, NodeId);

impl Estimates {
    /// From now on, `if` is followed from one value to the other where its condition is open.
    pub(super) fn follow_switches(&mut self) {
        self.switches = true;
    }

    pub(super) fn follows_switches(&self) -> bool {
        self.switches
    }

    /// Ends what [`Self::follow_switches`] began.
    pub(super) fn leave_switches(&mut self) {
        self.switches = false;
    }

    pub(super) fn reset(&mut self, nodes: usize, columns: usize) {
        self.columns = columns;
        // One more node: the reciprocal inside a quotient.
        self.values.resize(2 * (nodes + 1) * (columns + 3), 0.0);
        self.row.resize(columns + 3, 0.0);
        self.built.resize(nodes + 1, false);
    }

    /// Forgets the estimators of the last point.
    pub(super) fn start(&mut self, model: &Model, state: &State, columns: &Columns) {
        self.built.fill(false);
        self.magnitudes.clear();
        self.magnitudes.extend(columns.variables.iter().map(|&v| {
            let variable = model.variable_nodes[v].expect("a column's variable has a node");
            state.number(variable).magnitude()
        }));
    }

    /// Coefficients, constant and error of the estimator below (or above) a node of the last run.
    pub(super) fn get(&self, node: NodeId, below: bool) -> (&[f64], f64, f64) {
        let row = self.slice(node.index(), below);
        (&row[..self.columns], row[self.columns], row[self.columns + 1])
    }

    fn slice(&self, index: usize, below: bool) -> &[f64] {
        let at = (2 * index + usize::from(!below)) * (self.columns + 3);
        &self.values[at..at + self.columns + 3]
    }

    /// The form of a difference that is one quotient and a constant, with a divisor of one sign: `n / d <= c` is `n <= c d`, which is
    /// linear where numerator and divisor are.
    pub(super) fn single_quotient(
        model: &Model,
        state: &State,
        difference: NodeId,
    ) -> Option<SingleQuotient> {
        let Operation::Linear(linear) = model.operation(difference) else { return None };
        let [term] = model.terms(linear) else { return None };
        let Operation::Quotient(numerator, divisor) = *model.operation(term.node) else { return None };
        let d = state.number(divisor);
        if d.contains(0.0) || !d.magnitude().is_finite() {
            return None;
        }
        let rounding = 4.0
            * f64::EPSILON
            * (state.number(term.node).magnitude() * term.magnitude + linear.constant.abs());
        let error = (state.slack(model, linear) + rounding) * d.magnitude();
        let (scale, constant) = (term.coefficient, linear.constant);
        error.is_finite().then_some(SingleQuotient {
            scale,
            numerator,
            divisor,
            constant,
            error,
            negative: d.hi < 0.0,
        })
    }

    /// Estimator of `quotient * divisor`, from below or from above, after [`Self::run`] at the same point: coefficients, constant, error.
    /// The sides swap when the divisor is negative.
    pub(super) fn multiplied_out(
        &mut self,
        model: &Model,
        state: &State,
        columns: &Columns,
        form: &SingleQuotient,
        below: bool,
    ) -> (&[f64], f64, f64) {
        let build = Build { model, state, columns, z: &[] };
        let below = below != form.negative;
        self.row.fill(0.0);
        build.accumulate(self, form.scale, form.numerator, below);
        build.accumulate(self, form.constant, form.divisor, below);
        let n = self.columns;
        let mut magnitude = self.row[n].abs();
        for (coefficient, size) in self.row.iter().zip(&self.magnitudes) {
            magnitude += coefficient.abs() * size;
        }
        let error = self.row[n + 1] + form.error + 4.0 * f64::EPSILON * (n as f64 + 4.0) * magnitude;
        if form.negative {
            self.row.iter_mut().for_each(|v| *v = -*v);
        }
        (&self.row[..n], self.row[n], error)
    }

    /// Builds the estimators of the steps' nodes at point `z` (one value a column), unless that was done since [`Self::start`].
    pub(super) fn run(&mut self, model: &Model, state: &State, columns: &Columns, steps: &[Step], z: &[f64]) {
        let build = Build { model, state, columns, z };
        for &step in steps {
            if let Step::Number(node) = step
                && !std::mem::replace(&mut self.built[node.index()], true)
            {
                build.node(self, node);
            }
        }
    }
}

struct Build<'a> {
    model: &'a Model,
    state: &'a State,
    columns: &'a Columns,
    z: &'a [f64],
}

impl Build<'_> {
    fn node(&self, out: &mut Estimates, node: NodeId) {
        let value = |n: NodeId| self.state.number(n);
        for below in [true, false] {
            self.constant(out, node, below);
            match *self.model.operation(node) {
                Operation::Constant(_) | Operation::Variable(_) => {}
                Operation::Linear(ref linear) => self.linear(out, node, linear, below),
                Operation::Product(a, b) => self.product(out, node, (a, value(a)), (b, value(b)), below),
                Operation::Quotient(a, b) => {
                    if !value(b).contains(0.0) {
                        let reciprocal = NodeId(self.model.operations.len() as u32);
                        let range = Interval::point(1.0) / value(b);
                        for side in [true, false] {
                            self.fill_constant(out, reciprocal, range, side);
                            self.univariate(out, reciprocal, range, Function::power(-1.0), b, side);
                        }
                        self.product(out, node, (a, value(a)), (reciprocal, range), below);
                    }
                }
                Operation::Apply(function, a) => self.univariate(out, node, value(node), function, a, below),
                Operation::Extreme(extreme, a, b) => {
                    for plane in extreme.estimators(value(a), value(b), below).into_iter().flatten() {
                        let parts = [(plane.a, a), (plane.b, b)];
                        self.offer(out, node, &parts, plane.constant, plane.error, below);
                    }
                }
                Operation::Whole(a) => {
                    self.offer(out, node, &[(1.0, a)], 0.0, whole::distance(value(node)), below);
                }
                Operation::If { yes, no, a, b } => {
                    let possible = |t: super::model::TruthId| self.state.truths[t.index()] & CAN_TRUE != 0;
                    match (possible(yes), possible(no)) {
                        (true, false) => self.offer(out, node, &[(1.0, a)], 0.0, 0.0, below),
                        (false, true) => self.offer(out, node, &[(1.0, b)], 0.0, 0.0, below),
                        (true, true) if out.switches => {
                            self.switch(out, node, yes, [value(a), value(b)], below);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// `if(d <= 0, a, b)` lies on one side of the line through its value at `d = 0` and the one at an end of `d`: the convex (concave) envelope of a step.
    fn switch(&self, out: &mut Estimates, node: NodeId, yes: TruthId, [a, b]: [Interval; 2], below: bool) {
        let Truth::Compare { op: Comparison::LessEqual | Comparison::Less, difference, .. } =
            *self.model.truth(yes)
        else {
            return;
        };
        let d = self.state.number(difference);
        let (a, b) = if below { (a.lo, b.lo) } else { (a.hi, b.hi) };
        // The line leaves the value that is looser at zero, towards the tighter one.
        let rises = (b > a) == below;
        let (at_zero, at_end, end) = if rises { (a, b, d.hi) } else { (b, a, d.lo) };
        let slope = (at_end - at_zero) / end;
        if end != 0.0 && slope.is_finite() && d.contains(0.0) {
            self.offer(
                out,
                node,
                &[(slope, difference)],
                at_zero,
                2.0 * f64::EPSILON * (slope * end).abs(),
                below,
            );
        }
    }

    /// Starts from the node's own bound.
    fn constant(&self, out: &mut Estimates, node: NodeId, below: bool) {
        self.fill_constant(out, node, self.state.number(node), below);
    }

    fn fill_constant(&self, out: &mut Estimates, node: NodeId, range: Interval, below: bool) {
        let n = out.columns;
        let at = (2 * node.index() + usize::from(!below)) * (n + 3);
        let row = &mut out.values[at..at + n + 3];
        row[..n].fill(0.0);
        let bound = if below { range.lo } else { range.hi };
        (row[n], row[n + 1]) = if bound.is_finite() { (bound, 0.0) } else { (0.0, f64::INFINITY) };
        row[n + 2] = row[n];
    }

    /// Replaces the estimator by `sum of parts + constant` when that is closer at `z`.
    fn offer(
        &self,
        out: &mut Estimates,
        node: NodeId,
        parts: &[Part],
        constant: f64,
        error: f64,
        below: bool,
    ) {
        let n = out.columns;
        out.row.fill(0.0);
        out.row[n] = constant;
        out.row[n + 1] = error;
        for &(coefficient, part) in parts {
            self.accumulate(out, coefficient, part, below);
        }
        self.settle(out, node, below);
    }

    /// Adds `coefficient * node` to the row under construction.
    fn accumulate(&self, out: &mut Estimates, coefficient: f64, node: NodeId, below: bool) {
        if coefficient == 0.0 {
            return;
        }
        let n = out.columns;
        if node.index() < self.model.operations.len() {
            match *self.model.operation(node) {
                Operation::Constant(v) => {
                    out.row[n] += coefficient * v;
                    return;
                }
                Operation::Variable(v) => {
                    match self.columns.of_variable[v] {
                        Some(column) => out.row[column as usize] += coefficient,
                        // Fixed, or too narrow to be a column.
                        None => {
                            let x = self.state.number(node);
                            out.row[n] += coefficient * x.lo;
                            out.row[n + 1] += coefficient.abs() * (x.hi - x.lo);
                        }
                    }
                    return;
                }
                _ => {}
            }
        }
        let at = (2 * node.index() + usize::from((coefficient > 0.0) != below)) * (n + 3);
        let source = &out.values[at..at + n + 3];
        for (target, value) in out.row[..=n].iter_mut().zip(source) {
            *target += coefficient * value;
        }
        out.row[n + 1] += coefficient.abs() * source[n + 1];
    }

    /// Closes the row under construction: adds its rounding errors and keeps it when it beats the present one at `z`.
    fn settle(&self, out: &mut Estimates, node: NodeId, below: bool) {
        let n = out.columns;
        let mut value = out.row[n];
        let mut magnitude = out.row[n].abs();
        for ((coefficient, z), size) in out.row[..n].iter().zip(self.z).zip(&out.magnitudes) {
            value += coefficient * z;
            magnitude += coefficient.abs() * size;
        }
        out.row[n + 1] += 4.0 * f64::EPSILON * (n as f64 + 4.0) * magnitude;
        // Not finite either when a coefficient is not.
        if !(value.is_finite() && out.row[n + 1].is_finite()) {
            return;
        }
        out.row[n + 2] = value;
        let at = (2 * node.index() + usize::from(!below)) * (n + 3);
        let present = &mut out.values[at..at + n + 3];
        let old = present[n + 2];
        if present[n + 1].is_infinite() || if below { value > old } else { value < old } {
            present.copy_from_slice(&out.row);
        }
    }

    fn linear(&self, out: &mut Estimates, node: NodeId, linear: &Linear, below: bool) {
        let n = out.columns;
        out.row.fill(0.0);
        out.row[n] = linear.constant;
        out.row[n + 1] = self.state.slack(self.model, linear);
        for term in self.model.terms(linear) {
            self.accumulate(out, term.coefficient, term.node, below);
        }
        self.settle(out, node, below);
    }

    /// The two McCormick planes.
    fn product(
        &self,
        out: &mut Estimates,
        node: NodeId,
        (a, x): (NodeId, Interval),
        (b, y): (NodeId, Interval),
        below: bool,
    ) {
        // a b >= p b + q a - p q for (p, q) both lower or both upper ends; <= for mixed ends.
        let ends = if below { [(x.lo, y.lo), (x.hi, y.hi)] } else { [(x.lo, y.hi), (x.hi, y.lo)] };
        for (p, q) in ends {
            if p.is_finite() && q.is_finite() {
                let error = 4.0 * f64::EPSILON * (p * q).abs();
                self.offer(out, node, &[(p, b), (q, a)], -p * q, error, below);
            }
        }
    }

    fn univariate(
        &self,
        out: &mut Estimates,
        node: NodeId,
        range: Interval,
        function: Function,
        a: NodeId,
        below: bool,
    ) {
        let x = self.state.number(a);
        let at = self.value(out, a).unwrap_or_else(|| x.middle());
        if let Some(Line { slope, constant, error }) = function.estimator(x, range, at, below) {
            self.offer(out, node, &[(slope, a)], constant, error, below);
        }
    }

    /// A value of the node at `z`: the middle of its estimators.
    fn value(&self, out: &Estimates, node: NodeId) -> Option<f64> {
        match *self.model.operation(node) {
            Operation::Constant(v) => return Some(v),
            Operation::Variable(v) => {
                let fixed = self.state.number(node).lo;
                return Some(self.columns.of_variable[v].map_or(fixed, |c| self.z[c as usize]));
            }
            _ => {}
        }
        let side = |below: bool| {
            let row = out.slice(node.index(), below);
            let n = out.columns;
            if row[n + 1].is_infinite() {
                return None;
            }
            Some(row[n + 2])
        };
        Some(0.5 * (side(true)? + side(false)?))
    }
}
