//! From the program, as written, to the graph.

mod truths;

use std::collections::{BTreeMap, BTreeSet};

use super::equations::find_lattices;
use super::graph::{Divisor, Linear, Model, NodeId, Operation, Piece, Root, Step, Term, Truth, TruthId};
use super::linear::LinearForm;
use super::schedule::{describe, schedule, shared};
use crate::domain::Domain;
use crate::expr::{Condition, ConditionId, Number, NumberId, Program, Settings};
use crate::function::Function;
use crate::interval::Interval;
use crate::level_set::LevelSet;
use crate::propagate::State;

/// Tolerance of equalities in what is printed, relative to the size of their terms.
const EQUALITY: f64 = Settings::PRODUCE.equality;

/// How far from zero the difference of two sides may be that are equal within [`EQUALITY`], when their terms have at most this size: a little more, for the
/// roundings of sizes.
pub(crate) fn equality_slack(size: f64) -> f64 {
    EQUALITY * (1.0 + 1e-8) * size
}

/// Whole values are trusted to be exact below this.
const EXACT_BELOW: f64 = 4_503_599_627_370_496.0;

/// Numbers that no other truth has, and the levels of a test of a category.
type TruthKey = (Vec<u64>, Option<LevelSet>);

struct Compiler<'a> {
    program: &'a Program,
    domains: &'a [Domain],
    model: Model,
    /// The nodes so far, to find equal ones.
    known: BTreeMap<Vec<u64>, NodeId>,
    nodes: Vec<Option<NodeId>>,
    forms: BTreeMap<NumberId, LinearForm>,
    shared: Vec<bool>,
    truths: BTreeMap<(ConditionId, bool, bool), TruthId>,
    /// The truths so far, to find equal ones.
    known_truths: BTreeMap<TruthKey, TruthId>,
    /// Pieces that were split, and truths that are roots.
    split: BTreeSet<(ConditionId, bool, bool)>,
    rooted: BTreeSet<TruthId>,
    whole: Vec<bool>,
    state: State,
}

pub(super) fn compile(program: &Program, domains: &[Domain], pieces: &[(Piece, usize)]) -> Model {
    let mut compiler = Compiler {
        program,
        domains,
        model: Model {
            variable_nodes: vec![None; domains.len()],
            least_sizes: (0..domains.len()).map(|v| program.least_size_of(v)).collect(),
            ..Model::default()
        },
        known: BTreeMap::new(),
        nodes: vec![None; program.numbers.len()],
        forms: BTreeMap::new(),
        shared: shared(program),
        truths: BTreeMap::new(),
        known_truths: BTreeMap::new(),
        split: BTreeSet::new(),
        rooted: BTreeSet::new(),
        whole: vec![false; program.numbers.len()],
        state: State::new(domains),
    };
    for (piece, _) in pieces {
        if let (Condition::IsWhole(id), false) = (program.get_condition(piece.condition), piece.negated) {
            compiler.whole[id.0 as usize] = true;
        }
    }
    for &(piece, _) in pieces {
        compiler.split(piece);
    }
    for &(piece, constraint) in pieces {
        compiler.find_divisors(piece, constraint);
    }
    let mut model = compiler.model;
    model.initial = compiler.state.numbers;
    for d in 0..model.divisors.len() {
        model.divisors[d].steps = schedule(&model, Step::Number(model.divisors[d].node)).0;
    }
    model.users = vec![Vec::new(); domains.len()];
    describe(&mut model, domains);
    find_lattices(&mut model, domains);
    for r in 0..model.roots.len() {
        let (steps, variables) = schedule(&model, Step::Truth(model.roots[r].truth));
        for &v in &variables {
            model.users[v].push(r as u32);
        }
        model.roots[r].steps = steps;
        model.roots[r].variables = variables;
    }
    model
}

impl Compiler<'_> {
    /// Splits conjunctions, so that each root can be checked, and finished with, on its own.
    fn split(&mut self, piece: Piece) {
        let Piece { condition, negated, exact } = piece;
        if !self.split.insert((condition, negated, exact)) {
            return;
        }
        let program = self.program;
        match program.get_condition(condition) {
            Condition::Not(inner) => self.split(Piece { condition: *inner, negated: !negated, exact }),
            Condition::Exact(inner) => self.split(Piece { condition: *inner, negated, exact: true }),
            Condition::And(parts) if !negated => {
                parts.iter().for_each(|&p| self.split(Piece { condition: p, ..piece }));
            }
            Condition::Or(parts) if negated => {
                parts.iter().for_each(|&p| self.split(Piece { condition: p, ..piece }));
            }
            _ => {
                let truth = self.truth(condition, negated, exact);
                if *self.model.truth(truth) != Truth::Constant(true) && self.rooted.insert(truth) {
                    let (steps, variables) = (Vec::new(), Vec::new());
                    self.model.roots.push(Root { truth, piece, steps, variables });
                }
            }
        }
    }

    /// The divisors that a conjunct needs whichever alternatives hold.
    fn find_divisors(&mut self, piece: Piece, constraint: usize) {
        let program = self.program;
        let mut numbers = Vec::new();
        let mut conditions = vec![(piece.condition, piece.negated)];
        let mut looked_at = BTreeSet::new();
        while let Some((id, negated)) = conditions.pop() {
            if !looked_at.insert((id, negated)) {
                continue;
            }
            match program.get_condition(id) {
                Condition::Not(inner) => conditions.push((*inner, !negated)),
                Condition::Exact(inner) => conditions.push((*inner, negated)),
                Condition::And(parts) if !negated => conditions.extend(parts.iter().map(|&p| (p, negated))),
                Condition::Or(parts) if negated => conditions.extend(parts.iter().map(|&p| (p, negated))),
                Condition::Compare(_, a, b) => numbers.extend([*a, *b]),
                Condition::IsWhole(a) => numbers.push(*a),
                _ => {}
            }
        }
        let mut seen = vec![false; program.numbers.len()];
        while let Some(id) = numbers.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            if let Number::Divide(_, divisor) = *program.get(id)
                && let Some(text) = program.divisors.get(&divisor)
                && program.constant(divisor).is_none()
                && !self.model.divisors.iter().any(|d| d.text == *text)
            {
                let node = self.number_node(divisor);
                let steps = Vec::new();
                self.model.divisors.push(Divisor {
                    number: divisor,
                    node,
                    constraint,
                    text: text.clone(),
                    steps,
                });
            }
            program.operands(id, |operand| numbers.push(operand));
        }
    }

    fn operation(&mut self, operation: Operation) -> NodeId {
        let key = self.key(&operation);
        if let Some(&node) = self.known.get(&key) {
            return node;
        }
        let node = NodeId(u32::try_from(self.model.operations.len()).expect("fewer than 2^32 nodes"));
        self.known.insert(key, node);
        let value = match operation {
            Operation::Constant(v) => Interval::point(v),
            Operation::Variable(v) => {
                self.model.variable_nodes[v] = Some(node);
                let (lower, upper) = self.domains[v].bounds();
                Interval::new(lower, upper)
            }
            _ => Interval::ENTIRE,
        };
        self.state.numbers.push(value);
        let integer = self.is_integer(&operation);
        self.model.operations.push(operation);
        self.model.integer.push(integer);
        if !matches!(self.model.operation(node), Operation::Constant(_) | Operation::Variable(_)) {
            let value = self.state.forward_number(&self.model, node);
            // Whole numbers this large are no longer exact in f64.
            if value.magnitude() >= EXACT_BELOW {
                self.model.integer[node.index()] = false;
            } else if integer && let Operation::Linear(linear) = &mut self.model.operations[node.index()] {
                linear.slack = 0.0;
            }
            self.state.numbers[node.index()] = self.state.forward_number(&self.model, node);
        }
        node
    }

    fn key(&self, operation: &Operation) -> Vec<u64> {
        let n = |node: &NodeId| u64::from(node.0);
        match operation {
            Operation::Constant(v) => vec![0, v.to_bits()],
            Operation::Variable(v) => vec![1, *v as u64],
            Operation::Linear(linear) => {
                let mut key = vec![2, linear.constant.to_bits(), linear.constant_magnitude.to_bits()];
                key.push(linear.slack.to_bits());
                for term in self.model.terms(linear) {
                    key.extend([n(&term.node), term.coefficient.to_bits(), term.magnitude.to_bits()]);
                }
                key
            }
            Operation::Product(a, b) => vec![3, n(a), n(b)],
            Operation::Quotient(a, b) => vec![4, n(a), n(b)],
            Operation::Apply(function, a) => [5, n(a)].into_iter().chain(function.key()).collect(),
            Operation::Extreme(extreme, a, b) => vec![6, *extreme as u64, n(a), n(b)],
            Operation::If { yes, no, a, b } => vec![7, yes.0.into(), no.0.into(), n(a), n(b)],
            Operation::Whole(a) => vec![8, n(a)],
        }
    }

    fn is_integer(&self, operation: &Operation) -> bool {
        let integer = |node: &NodeId| self.model.integer[node.index()];
        match operation {
            Operation::Constant(v) => v.fract() == 0.0 && v.abs() < EXACT_BELOW,
            Operation::Variable(v) => match &self.domains[*v] {
                Domain::Integer { .. } => true,
                Domain::Discrete(values) => values.iter().all(|v| v.fract() == 0.0),
                Domain::Grid(grid) => grid.numerators().2 == 0,
                _ => false,
            },
            Operation::Linear(linear) => {
                let terms = self.model.terms(linear);
                linear.constant.fract() == 0.0
                    && linear.constant_magnitude.fract() == 0.0
                    && terms.iter().all(|t| {
                        integer(&t.node) && t.coefficient.fract() == 0.0 && t.magnitude.fract() == 0.0
                    })
            }
            Operation::Product(a, b) | Operation::Extreme(_, a, b) => integer(a) && integer(b),
            Operation::Apply(function, a) => function.is_whole(integer(a)),
            Operation::If { a, b, .. } => integer(a) && integer(b),
            // Set by the caller when the define is demanded to be whole.
            Operation::Whole(a) => integer(a),
            Operation::Quotient(..) => false,
        }
    }

    /// The node of a sum.
    fn node_of(&mut self, form: &LinearForm) -> NodeId {
        // A sum of constants that cancel keeps their size.
        if let Some(value) = form.as_constant().filter(|value| value.abs() == form.constant_magnitude) {
            return self.operation(Operation::Constant(value));
        }
        if let Some((node, 1.0)) = form.as_single() {
            return node;
        }
        let first = self.model.terms.len() as u32;
        self.model.terms.extend(form.terms.iter().map(|(&node, &(coefficient, magnitude))| Term {
            node,
            coefficient,
            magnitude,
        }));
        let last = self.model.terms.len() as u32;
        let slack = 2.0 * f64::from(form.operations) * f64::EPSILON;
        let operations = self.model.operations.len();
        let linear = Linear {
            first,
            last,
            constant: form.constant,
            constant_magnitude: form.constant_magnitude,
            slack,
        };
        let node = self.operation(Operation::Linear(linear));
        if self.model.operations.len() == operations {
            self.model.terms.truncate(first as usize);
        }
        node
    }

    fn number_node(&mut self, id: NumberId) -> NodeId {
        if let Some(node) = self.nodes[id.0 as usize] {
            return node;
        }
        let form = self.form(id);
        let node = self.node_of(&form);
        self.nodes[id.0 as usize] = Some(node);
        node
    }

    /// The linear form of an operation. Sums are walked in a loop; shared ones are kept.
    fn form(&mut self, id: NumberId) -> LinearForm {
        if let Some(form) = self.forms.get(&id) {
            return form.clone();
        }
        let mut sum = LinearForm::default();
        let mut pending = vec![(id, 1.0)];
        while let Some((part, factor)) = pending.pop() {
            if part != id && self.shared[part.0 as usize] {
                let form = self.form(part);
                sum.add(&form, factor);
                continue;
            }
            match *self.program.get(part) {
                Number::Add(a, b) => {
                    pending.extend([(b, factor), (a, factor)]);
                    sum.count(1);
                }
                Number::Subtract(a, b) => {
                    pending.extend([(b, -factor), (a, factor)]);
                    sum.count(1);
                }
                Number::Negate(a) => pending.push((a, -factor)),
                _ => {
                    let form = self.term(part);
                    sum.add(&form, factor);
                }
            }
        }
        if !sum.is_finite() {
            // Coefficients that overflow when merged: the parts stay as they are.
            sum = match *self.program.get(id) {
                Number::Add(a, b) => self.unmerged(a, b, 1.0),
                Number::Subtract(a, b) => self.unmerged(a, b, -1.0),
                _ => sum,
            };
        }
        if self.shared[id.0 as usize] {
            self.forms.insert(id, sum.clone());
        }
        sum
    }

    /// `a + factor * b` as a sum of two nodes.
    fn unmerged(&mut self, a: NumberId, b: NumberId, factor: f64) -> LinearForm {
        let mut sum = LinearForm::node(self.number_node(a));
        sum.add(&LinearForm::node(self.number_node(b)), factor);
        sum.rounded(1)
    }

    /// The form of an operation that is no sum.
    fn term(&mut self, id: NumberId) -> LinearForm {
        let program = self.program;
        let node = match *program.get(id) {
            Number::Constant(value) => return LinearForm::constant(value),
            Number::Variable(v) => Operation::Variable(v),
            Number::Add(..) | Number::Subtract(..) | Number::Negate(_) => return self.form(id),
            Number::Multiply(a, b) => return self.product(a, b),
            Number::Divide(a, b) => return self.quotient(a, b),
            Number::Apply(function, a) => match function.exponent() {
                Some(exponent) => return self.power(a, exponent),
                None => Operation::Apply(function, self.number_node(a)),
            },
            Number::Extreme(extreme, a, b) => {
                let (a, b) = (self.number_node(a), self.number_node(b));
                Operation::Extreme(extreme, a.min(b), a.max(b))
            }
            Number::If(condition, a, b) => {
                let (yes, no) = (self.truth(condition, false, true), self.truth(condition, true, true));
                match (self.model.truth(yes), self.model.truth(no)) {
                    (Truth::Constant(true), _) => return self.form(a),
                    (_, Truth::Constant(true)) => return self.form(b),
                    _ => {}
                }
                Operation::If { yes, no, a: self.number_node(a), b: self.number_node(b) }
            }
            Number::Whole(a) => {
                let node = self.number_node(a);
                if self.model.integer[node.index()] {
                    return LinearForm::node(node);
                }
                let node = self.operation(Operation::Whole(node));
                if self.whole[id.0 as usize] && self.state.numbers[node.index()].magnitude() < EXACT_BELOW {
                    self.model.integer[node.index()] = true;
                }
                return LinearForm::node(node);
            }
        };
        LinearForm::node(self.operation(node))
    }

    fn product(&mut self, a: NumberId, b: NumberId) -> LinearForm {
        let (first, second) = (self.form(a), self.form(b));
        for (form, other) in [(&first, &second), (&second, &first)] {
            let Some(factor) = other.as_constant() else { continue };
            let scaled = form.scaled(factor).with_magnitude(form, other.constant_magnitude);
            if scaled.is_finite() {
                return scaled.rounded(other.operations.saturating_add(1));
            }
            // An overflow of the coefficients need not be one of the values.
            let (node, factor) = (self.node_of(form), self.operation(Operation::Constant(factor)));
            return LinearForm::node(self.operation(Operation::Product(node.min(factor), node.max(factor))));
        }
        let operations = first.operations.saturating_add(second.operations).saturating_add(1);
        let (node_a, factor_a) = self.factored(&first);
        let (node_b, factor_b) = self.factored(&second);
        let node = if node_a == node_b {
            self.operation(Operation::Apply(Function::power(2.0), node_a))
        } else {
            self.operation(Operation::Product(node_a.min(node_b), node_a.max(node_b)))
        };
        let factor = factor_a * factor_b;
        if factor == 1.0 {
            return LinearForm::node(node);
        }
        if !factor.is_normal() {
            let (a, b) = (self.node_of(&first), self.node_of(&second));
            return LinearForm::node(self.operation(Operation::Product(a.min(b), a.max(b))));
        }
        LinearForm::node(node).scaled(factor).rounded(operations.saturating_add(1))
    }

    /// Node and constant factor.
    fn factored(&mut self, form: &LinearForm) -> (NodeId, f64) {
        match form.as_single() {
            Some((node, factor)) => (node, factor),
            None => (self.node_of(form), 1.0),
        }
    }

    fn quotient(&mut self, a: NumberId, b: NumberId) -> LinearForm {
        let form = self.simplified_quotient(a, b);
        if form.is_finite() {
            return form;
        }
        let (above, below) = (self.number_node(a), self.number_node(b));
        LinearForm::node(self.operation(Operation::Quotient(above, below)))
    }

    /// The quotient with constant factors and the divisor's own term taken out, not finite where one of them cannot be.
    fn simplified_quotient(&mut self, a: NumberId, b: NumberId) -> LinearForm {
        let (mut above, below) = (self.form(a), self.form(b));
        if let Some(divisor) = below.as_constant() {
            let mut quotient = above.clone().divided(divisor);
            if self.program.constant(b).is_none() {
                quotient.cover_the_sum();
            }
            return quotient;
        }
        let operations = above.operations.saturating_add(below.operations).saturating_add(3);
        let (divisor, scale) = self.factored(&below);
        // (rest + q d) / d = rest / d + q: the divisor's own term is not evaluated twice.
        let own = above.take(divisor);
        if above.terms.is_empty() && above.constant_magnitude == 0.0 {
            let (q, magnitude) = own.unwrap_or((0.0, 0.0));
            let mut form = LinearForm::constant(q / scale);
            form.constant_magnitude = magnitude / scale.abs();
            // The quotient is undefined where the divisor is zero: keep the division.
            let nothing = self.operation(Operation::Constant(0.0));
            let zero = self.operation(Operation::Quotient(nothing, divisor));
            form.add(&LinearForm::node(zero), 1.0);
            return form.rounded(operations);
        }
        above.operations = operations - 2;
        let (numerator, factor) = self.factored(&above);
        let node = self.operation(Operation::Quotient(numerator, divisor));
        let mut form = LinearForm::node(node);
        if factor != scale {
            let ratio = factor / scale;
            form = form.scaled(if ratio.is_normal() { ratio } else { f64::INFINITY }).rounded(operations);
        } else if factor != 1.0 {
            form = form.rounded(operations);
        }
        if let Some((q, magnitude)) = own {
            let mut constant = LinearForm::constant(q / scale);
            constant.constant_magnitude = magnitude / scale.abs();
            form.add(&constant, 1.0);
            form = form.rounded(operations);
            form.cover_the_sum();
        }
        form
    }

    fn power(&mut self, a: NumberId, exponent: f64) -> LinearForm {
        if exponent == 0.0 {
            return LinearForm::constant(1.0);
        }
        let form = self.form(a);
        if exponent == 1.0 {
            return form;
        }
        if exponent == 0.5 {
            let node = self.node_of(&form);
            return LinearForm::node(self.operation(Operation::Apply(Function::SQRT, node)));
        }
        let operations = form.operations;
        let (mut node, mut factor) =
            if exponent.fract() == 0.0 { self.factored(&form) } else { (self.node_of(&form), 1.0) };
        let scale = factor.powf(exponent);
        if !scale.is_normal() {
            (node, factor) = (self.node_of(&form), 1.0);
        }
        let power = self.operation(Operation::Apply(Function::power(exponent), node));
        if factor == 1.0 {
            LinearForm::node(power)
        } else {
            // A relative error of the base is multiplied by the exponent.
            let rounds = operations.saturating_add(3).saturating_mul(exponent.abs().min(1e6) as u32 + 1);
            LinearForm::node(power).scaled(scale).rounded(rounds)
        }
    }
}
