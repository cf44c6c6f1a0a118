//! Inverse evaluation: from what a node may be to what its operands may be.

use super::Propagator;
use super::state::{CAN_FALSE, CAN_TRUE, Conflict};
use crate::expr::Comparison;
use crate::function::{Extreme, whole};
use crate::interval::Interval;
use crate::model::{Linear, Model, NodeId, Operation, Step, Truth, TruthId};

impl Propagator {
    /// Demands that a truth holds.
    fn force(&mut self, truth: TruthId) -> Result<(), Conflict> {
        if self.state.truths[truth.index()] & CAN_TRUE == 0 {
            return Err(Conflict);
        }
        self.forced[truth.index()] = true;
        self.state.truths[truth.index()] = CAN_TRUE;
        Ok(())
    }

    /// Restricts a node whose value matters.
    fn tighten(&mut self, model: &Model, node: NodeId, to: Interval) -> Result<(), Conflict> {
        let i = node.index();
        self.needed[i] = true;
        let old = self.state.numbers[i];
        let mut value = old.intersect(to);
        if value == old {
            return if value.is_empty() { Err(Conflict) } else { Ok(()) };
        }
        if model.integer[i] {
            value = value.rounded();
        }
        self.cut[i] |= value != old;
        self.state.numbers[i] = value;
        if value.is_empty() { Err(Conflict) } else { Ok(()) }
    }

    pub(super) fn backward_truth(&mut self, model: &Model, truth: TruthId) -> Result<(), Conflict> {
        if !self.forced[truth.index()] {
            return Ok(());
        }
        match model.truth(truth) {
            Truth::Constant(value) => {
                if *value {
                    Ok(())
                } else {
                    Err(Conflict)
                }
            }
            Truth::Level(variable, set) => {
                self.state.levels[*variable].intersect_with(set);
                if self.state.levels[*variable].is_empty() { Err(Conflict) } else { Ok(()) }
            }
            Truth::And(parts) => parts.iter().try_for_each(|&p| self.force(p)),
            Truth::Or(parts) => {
                let mut possible = None;
                for &part in parts {
                    let bits = self.state.truths[part.index()];
                    if bits & CAN_TRUE != 0 {
                        if bits & CAN_FALSE == 0 || possible.is_some() {
                            return Ok(());
                        }
                        possible = Some(part);
                    }
                }
                self.force(possible.ok_or(Conflict)?)
            }
            Truth::Integral(node) => {
                let whole = self.state.number(*node).rounded();
                self.tighten(model, *node, whole)
            }
            Truth::Compare { op, difference, slack } => {
                let node = *difference;
                let d = self.state.number(node);
                let integer = model.integer[node.index()];
                let allowed = match op {
                    Comparison::LessEqual => Interval::new(f64::NEG_INFINITY, 0.0),
                    Comparison::Less => Interval::new(f64::NEG_INFINITY, if integer { -1.0 } else { 0.0 }),
                    Comparison::Equal => {
                        let tolerance = self.state.tolerance(model, node, *slack);
                        Interval::new(-tolerance, tolerance)
                    }
                    Comparison::NotEqual => {
                        let (cut_low, cut_high) = (integer && d.lo == 0.0, integer && d.hi == 0.0);
                        if d.lo == 0.0 && d.hi == 0.0 {
                            return Err(Conflict);
                        }
                        Interval::new(if cut_low { 1.0 } else { d.lo }, if cut_high { -1.0 } else { d.hi })
                    }
                };
                self.tighten(model, node, allowed)
            }
        }
    }

    pub(super) fn backward_number(&mut self, model: &Model, node: NodeId) -> Result<(), Conflict> {
        if !self.needed[node.index()] {
            return Ok(());
        }
        let exact = self.state.number(node);
        if exact.is_empty() {
            return Err(Conflict);
        }
        if !self.cut[node.index()] && !restricts_its_operands(model.operation(node)) {
            // Every value of every operand is reached: nothing to take away, but the operands must be defined, too.
            model.children(node, |child| {
                if let Step::Number(n) = child {
                    self.needed[n.index()] = true;
                }
            });
            return Ok(());
        }
        // The value as printed is a rounded result: its exact preimage is a little wider.
        let z = if model.integer[node.index()] { exact } else { exact.loosened() };
        let value = |s: &Self, n: NodeId| s.state.number(n);
        match *model.operation(node) {
            Operation::Constant(_) | Operation::Variable(_) => Ok(()),
            Operation::Linear(ref linear) => self.backward_linear(model, linear, exact),
            Operation::Product(a, b) => {
                let to = value(self, a).intersect_quotient(product_by(z, value(self, b)), value(self, b));
                self.tighten(model, a, to)?;
                let to = value(self, b).intersect_quotient(product_by(z, value(self, a)), value(self, a));
                self.tighten(model, b, to)
            }
            Operation::Quotient(a, b) => {
                let divisor = self.without_zero(model, b);
                self.tighten(model, b, divisor)?;
                // A quotient by more than one may round to zero though the dividend is not zero.
                let z = if value(self, b).magnitude() > 1.0 { z.underflown() } else { z };
                self.tighten(model, a, z * value(self, b))?;
                let to = value(self, b).intersect_quotient(value(self, a), z);
                self.tighten(model, b, to)
            }
            Operation::Apply(function, a) => {
                if function.divides() {
                    let divisor = self.without_zero(model, a);
                    self.tighten(model, a, divisor)?;
                }
                let to = function.inverse(value(self, a), exact, z);
                self.tighten(model, a, to)
            }
            Operation::Extreme(extreme, a, b) => self.backward_extreme(model, extreme, (a, b), z),
            Operation::If { yes, no, a, b } => {
                let possible = |s: &Self, t: TruthId, n: NodeId| {
                    s.state.truths[t.index()] & CAN_TRUE != 0 && !value(s, n).intersect(exact).is_empty()
                };
                match (possible(self, yes, a), possible(self, no, b)) {
                    (false, false) => Err(Conflict),
                    (true, true) => Ok(()),
                    (true, false) => {
                        self.force(yes)?;
                        self.tighten(model, a, exact)
                    }
                    (false, true) => {
                        self.force(no)?;
                        self.tighten(model, b, exact)
                    }
                }
            }
            Operation::Whole(a) => self.tighten(model, a, whole::inverse(exact)),
        }
    }

    /// A divisor's values without zero at an end: whole numbers next to zero are one away.
    fn without_zero(&self, model: &Model, node: NodeId) -> Interval {
        let x = self.state.number(node);
        let least = if model.integer[node.index()] { 1.0 } else { 0.0_f64.next_up() };
        Interval::new(if x.lo == 0.0 { least } else { x.lo }, if x.hi == 0.0 { -least } else { x.hi })
    }

    fn backward_extreme(
        &mut self,
        model: &Model,
        extreme: Extreme,
        (a, b): (NodeId, NodeId),
        z: Interval,
    ) -> Result<(), Conflict> {
        let limits = extreme.limits(z);
        self.tighten(model, a, limits)?;
        self.tighten(model, b, limits)?;
        // One of the two attains the value.
        let attains = |s: &Self, n: NodeId| !s.state.number(n).intersect(z).is_empty();
        match (attains(self, a), attains(self, b)) {
            (false, false) => Err(Conflict),
            (true, false) => self.tighten(model, a, z),
            (false, true) => self.tighten(model, b, z),
            (true, true) => Ok(()),
        }
    }

    /// Each term is what the sum leaves to it.
    fn backward_linear(&mut self, model: &Model, linear: &Linear, value: Interval) -> Result<(), Conflict> {
        let target = value.widened(self.state.slack(model, linear));
        let terms = model.terms(linear);
        let n = terms.len();
        self.own.clear();
        self.own.extend(terms.iter().map(|term| self.state.number(term.node) * term.coefficient));
        // suffix[i]: sum of the terms after i.
        self.suffix.clear();
        self.suffix.resize(n, Interval::point(0.0));
        for i in (1..n).rev() {
            self.suffix[i - 1] = self.suffix[i] + self.own[i];
        }
        let mut before = Interval::point(linear.constant);
        for i in 0..n {
            let term = terms[i];
            let mut own = self.own[i];
            if term.coefficient != 0.0 {
                let mut left = target - (before + self.suffix[i]);
                if term.coefficient.abs() < 1.0 {
                    left = left.underflown();
                }
                if !own.is_subset(left) {
                    let to = left / Interval::point(term.coefficient);
                    self.tighten(model, term.node, to)?;
                    own = self.state.number(term.node) * term.coefficient;
                }
            }
            self.needed[term.node.index()] = true;
            before = before + own;
        }
        Ok(())
    }
}

/// What a product may be for all that is known: by a factor below one it may round to zero and not be zero.
fn product_by(z: Interval, factor: Interval) -> Interval {
    if factor.least_magnitude() < 1.0 { z.underflown() } else { z }
}

/// True for operations that are undefined somewhere, round, or choose: they restrict their operands whatever their own value.
fn restricts_its_operands(operation: &Operation) -> bool {
    match operation {
        Operation::Quotient(..) | Operation::Whole(_) | Operation::If { .. } => true,
        Operation::Apply(function, _) => !function.is_total(),
        Operation::Constant(_)
        | Operation::Variable(_)
        | Operation::Linear(_)
        | Operation::Product(..)
        | Operation::Extreme(..) => false,
    }
}
