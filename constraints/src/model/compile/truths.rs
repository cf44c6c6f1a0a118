//! Conditions: negations are pushed down to the comparisons, and a comparison becomes one difference.

use smallvec::SmallVec;

use super::{Compiler, TruthKey, equality_slack};
use crate::expr::{Comparison, Condition, ConditionId, Number, NumberId, negation};
use crate::model::linear::LinearForm;
use crate::model::{NodeId, Slack, Truth, TruthId};

impl Compiler<'_> {
    /// The truth of a condition, or of its negation, in negation normal form. `exact`: without tolerances.
    pub(super) fn truth(&mut self, id: ConditionId, negated: bool, exact: bool) -> TruthId {
        if let Some(&truth) = self.truths.get(&(id, negated, exact)) {
            return truth;
        }
        let program = self.program;
        let truth = match program.get_condition(id) {
            Condition::Constant(value) => Truth::Constant(*value != negated),
            Condition::Not(inner) => return self.truth(*inner, !negated, exact),
            Condition::Exact(inner) => return self.truth(*inner, negated, true),
            Condition::Level(variable, set) => {
                let set = if negated { set.complement() } else { set.clone() };
                Truth::Level(*variable, set)
            }
            // "Not whole" excludes no box.
            Condition::IsWhole(_) if negated => Truth::Constant(true),
            Condition::IsWhole(id) => {
                let node = self.number_node(*id);
                Truth::Integral(node)
            }
            Condition::Compare(op, a, b) => {
                let (op, swapped) = if negated { negation(*op) } else { (*op, false) };
                let (a, b) = if swapped { (*b, *a) } else { (*a, *b) };
                let exact = exact || program.whole_rows.contains(&id);
                self.comparison(op, a, b, exact)
            }
            Condition::And(parts) | Condition::Or(parts) => {
                let conjunction = matches!(program.get_condition(id), Condition::And(_)) != negated;
                self.connective(parts, conjunction, negated, exact)
            }
        };
        let key = key(&truth);
        let found = self.known_truths.get(&key).copied();
        let result = found.unwrap_or(TruthId(self.model.truths.len() as u32));
        if found.is_none() {
            self.known_truths.insert(key, result);
            self.model.truths.push(truth);
            self.state.truths.push(0);
            self.state.truths[result.index()] = self.state.forward_truth(&self.model, result);
        }
        self.truths.insert((id, negated, exact), result);
        result
    }

    fn connective(&mut self, parts: &[ConditionId], conjunction: bool, negated: bool, exact: bool) -> Truth {
        let mut children: SmallVec<[TruthId; 4]> = SmallVec::new();
        for &part in parts {
            let child = self.truth(part, negated, exact);
            match self.model.truth(child).clone() {
                Truth::Constant(value) if value == conjunction => {}
                Truth::Constant(value) => return Truth::Constant(value),
                Truth::And(inner) if conjunction => children.extend(inner),
                Truth::Or(inner) if !conjunction => children.extend(inner),
                _ => children.push(child),
            }
        }
        children.sort_unstable();
        children.dedup();
        match children.len() {
            0 => Truth::Constant(conjunction),
            1 => self.model.truth(children[0]).clone(),
            _ if conjunction => Truth::And(children),
            _ => Truth::Or(children),
        }
    }

    fn comparison(&mut self, op: Comparison, a: NumberId, b: NumberId, exact: bool) -> Truth {
        let (left, right) = (self.form(a), self.form(b));
        if let (Some(a), Some(b)) = (left.as_constant(), right.as_constant()) {
            return Truth::Constant(match op {
                Comparison::LessEqual => a <= b,
                Comparison::Less => a < b,
                Comparison::Equal => {
                    let size = left.constant_magnitude.max(right.constant_magnitude);
                    (a - b).abs() <= if exact { 0.0 } else { equality_slack(size) }
                }
                Comparison::NotEqual => a != b,
            });
        }
        if a == b {
            // The same number on both sides: where it is undefined, no comparison holds.
            match op {
                Comparison::Less | Comparison::NotEqual => return Truth::Constant(false),
                _ if matches!(self.program.get(a), Number::Variable(_)) => return Truth::Constant(true),
                _ => {}
            }
        }
        let mut difference = left.clone();
        difference.add(&right, -1.0);
        if !difference.is_finite() {
            difference = LinearForm::node(self.node_of(&left));
            difference.add(&LinearForm::node(self.node_of(&right)), -1.0);
        }
        let node = self.node_of(&difference);
        let slack = if op == Comparison::Equal && !exact {
            self.slack_of_equality(&difference, node)
        } else {
            Slack::Fixed(0.0)
        };
        Truth::Compare { op, difference: node, slack }
    }

    /// The slack of an equality: a number where the terms' size hardly depends on the box.
    fn slack_of_equality(&self, difference: &LinearForm, node: NodeId) -> Slack {
        let size = self.model.size_of_terms(node, |node| self.state.numbers[node.index()]);
        let slack = equality_slack(size);
        let is_integer = self.model.integer[node.index()] && slack < 0.5;
        if is_integer || size <= STEADY * difference.constant.abs() {
            Slack::Fixed(slack)
        } else {
            Slack::Relative
        }
    }
}

/// Terms at most this much larger than a row's constant over the whole domains: the slack need not follow the box.
const STEADY: f64 = 4.0;

fn key(truth: &Truth) -> TruthKey {
    let parts =
        |kind: u64, parts: &[TruthId]| [kind].into_iter().chain(parts.iter().map(|p| p.0.into())).collect();
    match truth {
        Truth::Constant(value) => (vec![0, u64::from(*value)], None),
        Truth::Compare { op, difference, slack } => {
            let (a, b) = match slack {
                Slack::Fixed(value) => (0, value.to_bits()),
                Slack::Relative => (u64::MAX, u64::MAX),
            };
            (vec![1, *op as u64, difference.0.into(), a, b], None)
        }
        Truth::Level(variable, set) => (vec![2, *variable as u64], Some(set.clone())),
        Truth::Integral(node) => (vec![3, node.0.into()], None),
        Truth::And(children) => (parts(4, children), None),
        Truth::Or(children) => (parts(5, children), None),
    }
}
