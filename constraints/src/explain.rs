//! Why a set is infeasible, what in it says nothing, and which divisions are unsafe.

use std::collections::BTreeSet;

use crate::domain::Domain;
use crate::expr::{Comparison, Condition, ConditionId, Number, NumberId};
use crate::interval::Interval;
use crate::model::{Model, Piece};
use crate::pool::Pool;
use crate::propagate::State;
use crate::region::{Range, Region};
use crate::{Constraints, Decision, Limits};

/// Nodes spent on the question whether a divisor can be zero.
const DIVISOR_NODES: usize = 500;

/// A divisor that may be zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Denominator {
    /// The constraint that divides.
    pub constraint: usize,
    /// The divisor as written.
    pub text: String,
    /// The values it may still take, zero among them.
    pub range: (f64, f64),
}

impl Constraints {
    fn pieces(&self, enabled: &[usize]) -> Vec<(Piece, usize)> {
        let piece = |&c: &usize| (Piece { condition: self.roots[c], negated: false, exact: false }, c);
        enabled.iter().map(piece).collect()
    }

    /// The same variables under other conditions.
    fn with_pieces(&self, pieces: &[(Piece, usize)], domains: Vec<Domain>) -> Self {
        let model = Model::compile(&self.program, &domains, pieces);
        Self {
            domains,
            program: self.program.clone(),
            stated: self.stated.clone(),
            names: self.names.clone(),
            roots: pieces.iter().map(|(p, _)| p.condition).collect(),
            hierarchy: Vec::new(),
            model,
            pool: Pool::default(),
        }
    }

    /// True when the conditions are proved to have no common point.
    fn is_refuted(&self, pieces: &[(Piece, usize)], domains: Vec<Domain>, limits: Limits) -> bool {
        let full = Region::full(&domains);
        self.with_pieces(pieces, domains).decide(&full, limits) == Decision::Infeasible
    }

    /// An irreducible set of constraints that cannot hold together, in ascending order; `None` when no infeasibility is proved within
    /// the limits. The limits hold for each of the trials, one for each constraint. Deletion filter: a constraint is dropped when the
    /// others are infeasible without it.
    pub fn conflict(&self, limits: Limits) -> Option<Vec<usize>> {
        let mut kept: Vec<usize> = (0..self.len()).collect();
        let refuted =
            |s: &Self, set: &[usize]| s.is_refuted(&s.pieces(set), s.domains.clone(), limits.clone());
        if !refuted(self, &kept) {
            return None;
        }
        let mut i = kept.len();
        while i > 0 {
            i -= 1;
            let mut fewer = kept.clone();
            fewer.remove(i);
            if refuted(self, &fewer) {
                kept = fewer;
            }
        }
        Some(kept)
    }

    /// True when a set of constraints that cannot hold together could, if integers, steps, lists and whole-valued defines took any value
    /// between: the conflict is one of integrality.
    pub fn is_conflict_of_integrality(&self, conflict: &[usize], limits: Limits) -> bool {
        let relaxed: Vec<Domain> = self
            .domains
            .iter()
            .map(|domain| {
                let (lower, upper) = domain.bounds();
                if domain.is_categorical() { domain.clone() } else { Domain::Continuous { lower, upper } }
            })
            .collect();
        let is_whole = |c: usize| {
            matches!(self.program.get_condition(self.roots[c]), crate::expr::Condition::IsWhole(_))
        };
        let rest: Vec<usize> = conflict.iter().copied().filter(|&c| !is_whole(c)).collect();
        let full = Region::full(&relaxed);
        // What is decided in whole numbers would not be outside of them.
        let mut real = self.clone();
        real.program.grid_rows.clear();
        real.program.whole_rows.clear();
        let relaxed_set = real.with_pieces(&real.pieces(&rest), relaxed);
        matches!(relaxed_set.decide(&full, limits), Decision::Feasible(_))
    }

    /// Whether a constraint is defined, and whether it holds, at every point of the domains (`false`: perhaps not).
    fn over_the_domains(&self, constraint: usize) -> (bool, bool) {
        let model = Model::compile(&self.program, &self.domains, &self.pieces(&[constraint]));
        let mut state = State::new(&self.domains);
        state.numbers.clone_from(&model.initial);
        state.truths = vec![0; model.truths.len()];
        let (mut defined, mut holds) = (true, true);
        for root in &model.roots {
            defined &= state.evaluate(&model, &root.steps);
            holds &= state.truths[root.truth.index()] == crate::propagate::CAN_TRUE;
        }
        (defined, holds)
    }

    /// Constraints that every point of the domains satisfies.
    pub fn always_true(&self) -> Vec<usize> {
        let holds_everywhere = |&c: &usize| self.over_the_domains(c) == (true, true);
        (0..self.len()).filter(holds_everywhere).collect()
    }

    /// Constraints with a comparison of grids, whole numbers and lists alone that f64 decides, not exact decimals: where both sides are equal on paper, rounding
    /// has the last word. Exact are sums with short decimals as coefficients, and all that yields whole numbers of whole numbers.
    pub fn decided_in_floats(&self) -> Vec<usize> {
        (0..self.len()).filter(|&c| self.has_rounded_comparison(self.roots[c])).collect()
    }

    fn has_rounded_comparison(&self, root: ConditionId) -> bool {
        let program = &self.program;
        let mut seen = BTreeSet::new();
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            match program.get_condition(id) {
                Condition::Compare(_, a, b) => {
                    let (variables, conditions) = program.reads(&[*a, *b]);
                    pending.extend(conditions);
                    let is_exact = program.grid_rows.contains_key(&id) || program.whole_rows.contains(&id);
                    // A value next to another as it is written needs no arithmetic.
                    let is_plain =
                        |&id: &NumberId| matches!(program.get(id), Number::Variable(_) | Number::Constant(_));
                    let is_arithmetic = ![a, b].into_iter().all(is_plain);
                    let is_discrete = !variables.is_empty()
                        && variables
                            .iter()
                            .all(|&v| self.domains[v].is_discrete() && !self.domains[v].is_categorical());
                    if is_arithmetic && is_discrete && !is_exact {
                        return true;
                    }
                }
                Condition::And(parts) | Condition::Or(parts) => pending.extend(parts),
                Condition::Not(inner) | Condition::Exact(inner) => pending.push(*inner),
                Condition::Constant(_) | Condition::Level(..) | Condition::IsWhole(_) => {}
            }
        }
        false
    }

    /// Constraints that follow from the others (always true ones included). Each is judged against all others; of two that say the
    /// same, the later is listed. Conditions of variables' activity and constraints that may be undefined (which the others need not
    /// exclude) are not judged; of an infeasible set, only what is always true is listed. The node limit holds for each trial, one for
    /// each constraint; what they do not decide is not listed.
    pub fn redundant(&self, limits: Limits) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..self.len()).collect();
        if self.decide(&Region::full(&self.domains), limits.clone()) == Decision::Infeasible {
            return self.always_true();
        }
        let mut found = Vec::new();
        for c in (0..self.len()).rev() {
            if limits.must_stop() {
                break;
            }
            let is_hierarchy = self.hierarchy.iter().any(|h| h.constraint == c);
            let (defined, _) = self.over_the_domains(c);
            if !defined
                || is_hierarchy
                || matches!(self.program.get_condition(self.roots[c]), crate::expr::Condition::IsWhole(_))
            {
                continue;
            }
            let others: Vec<usize> = kept.iter().copied().filter(|&k| k != c).collect();
            let mut pieces = self.pieces(&others);
            pieces.push((Piece { condition: self.roots[c], negated: true, exact: false }, c));
            if self.is_refuted(&pieces, self.domains.clone(), limits.clone()) {
                found.push(c);
                kept = others;
            }
        }
        found.reverse();
        found
    }

    /// Divisors that are not proved to differ from zero wherever the other constraints hold. Divisions inside alternatives
    /// (`or`, `implies`, `if`) are not listed: where they are undefined, the alternative does not hold.
    pub fn check_denominators(&self) -> Vec<Denominator> {
        let mut found = Vec::new();
        for divisor in &self.model.divisors {
            let others: Vec<usize> = (0..self.len()).filter(|&c| c != divisor.constraint).collect();
            let mut region = Region::full(&self.domains);
            if !self.with_pieces(&self.pieces(&others), self.domains.clone()).contract(&mut region) {
                continue;
            }
            let mut state = self.state_over(&region);
            state.evaluate(&self.model, &divisor.steps);
            let value = state.number(divisor.node);
            if value.contains(0.0) {
                let text = divisor.text.clone();
                if self.is_never_zero(&others, divisor.number) {
                    continue;
                }
                found.push(Denominator { constraint: divisor.constraint, text, range: (value.lo, value.hi) });
            }
        }
        found
    }

    /// True when it is proved that a number is zero nowhere on the allowed points of some constraints.
    fn is_never_zero(&self, others: &[usize], number: NumberId) -> bool {
        let mut set = self.clone();
        let zero = set.program.number(Number::Constant(0.0));
        let condition = set.program.condition(Condition::Compare(Comparison::Equal, number, zero));
        let mut pieces = set.pieces(others);
        pieces.push((Piece { condition, negated: false, exact: true }, others.len()));
        let limits = Limits { nodes: DIVISOR_NODES, ..Limits::default() };
        set.is_refuted(&pieces, set.domains.clone(), limits)
    }

    /// A propagation state whose variables have the ranges of a box and whose other nodes know nothing.
    fn state_over(&self, region: &Region) -> State {
        let mut state = State::new(&self.domains);
        state.numbers.clone_from(&self.model.initial);
        state.truths =
            vec![crate::propagate::CAN_FALSE | crate::propagate::CAN_TRUE; self.model.truths.len()];
        for (v, range) in region.0.iter().enumerate() {
            match (range, self.model.variable_nodes[v]) {
                (Range::Interval { lower, upper }, Some(node)) => {
                    state.numbers[node.index()] = Interval::new(*lower, *upper);
                }
                (Range::Levels(levels), _) => state.levels[v].clone_from(levels),
                _ => {}
            }
        }
        state
    }
}
