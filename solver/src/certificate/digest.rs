//! A number that stands for a problem's data: the hash of bytes that are written field by field, so that no name in the code has a part in it.
//!
//! Every list is its length (8 bytes) and its items, every alternative a tag (1 byte) and its fields, numbers are little-endian: whole ones of 8 bytes, the
//! others as IEEE 754 binary64.

use crate::fnv::fnv;
use crate::forest::{Forest, Node, Rule};
use crate::learned::{LeafSum, Learned, SumLink};
use crate::limit::LeafLimit;
use crate::objective::LeafObjective;
use crate::problem::Problem;
use leafgp_constraints::statement::{Comparison, Condition, Number, Statement};
use leafgp_constraints::{Domain, LevelSet, Range, Region};

/// Names the rules by which the bytes are written: another rule, another name.
const RULES: &[u8] = b"leafgp problem 2";
/// The same for problems over predictions.
const RULES_OVER_PREDICTIONS: &[u8] = b"leafgp problem 3";

/// The number of a problem.
pub(crate) fn digest(problem: &Problem<'_>) -> u64 {
    fnv(&statement(problem))
}

/// The bytes whose hash is the digest, as `docs/certificate-format.md` states them: all that a proof stands on, for a verifier that does not fit the process itself.
/// The problem's parts must fit together.
pub fn statement(problem: &Problem<'_>) -> Vec<u8> {
    if let Some(learned) = &problem.learned {
        return statement_over_predictions(problem, learned);
    }
    let mut out = Bytes(RULES.to_vec());
    out.list(problem.domains(), Bytes::domain);
    out.forest(problem.forest());
    out.objective(problem.objective());
    match problem.constraints {
        None => out.tag(0),
        Some(constraints) => {
            out.tag(1);
            out.statement(&constraints.statement());
        }
    }
    out.list(&problem.excluded, Bytes::region);
    out.list(&problem.limits, Bytes::limit);
    out.0
}

/// Without leaf objective and limits: they follow from the rest, and nothing is taken from them.
fn statement_over_predictions(problem: &Problem<'_>, learned: &Learned<'_>) -> Vec<u8> {
    let mut out = Bytes(RULES_OVER_PREDICTIONS.to_vec());
    out.list(learned.system.domains(), Bytes::domain);
    out.forest(problem.forest());
    out.list(learned.sums, Bytes::sum);
    out.statement(&learned.system.statement());
    out.list(&problem.excluded, Bytes::region);
    out.0
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn whole(&mut self, n: usize) {
        self.0.extend((n as u64).to_le_bytes());
    }

    fn signed(&mut self, n: i64) {
        self.0.extend(n.to_le_bytes());
    }

    fn real(&mut self, x: f64) {
        self.0.extend(x.to_le_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.whole(items.len());
        items.iter().for_each(|item| write(self, item));
    }

    fn reals(&mut self, items: &[f64]) {
        self.list(items, |out, &x| out.real(x));
    }

    /// The capacity, then the members in ascending order.
    fn levels(&mut self, set: &LevelSet) {
        self.whole(set.capacity());
        self.whole(set.len());
        (0..set.capacity()).filter(|&level| set.contains(level)).for_each(|level| self.whole(level));
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Continuous { lower, upper } => {
                self.tag(0);
                self.real(*lower);
                self.real(*upper);
            }
            Domain::Integer { lower, upper } => {
                self.tag(1);
                self.real(*lower);
                self.real(*upper);
            }
            Domain::Grid(grid) => {
                let (first, step, digits) = grid.numerators();
                self.tag(2);
                self.signed(first);
                self.signed(step);
                self.whole(digits as usize);
                self.whole(grid.count() as usize);
            }
            Domain::Discrete(values) => {
                self.tag(3);
                self.reals(values);
            }
            Domain::Categorical { levels } => {
                self.tag(4);
                self.whole(*levels);
            }
        }
    }

    fn forest(&mut self, forest: &Forest) {
        self.list(forest.trees(), |out, tree| out.list(&tree.nodes, Self::node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Split { feature, rule, left, right } => {
                self.tag(0);
                self.whole(*feature);
                match rule {
                    Rule::Threshold(threshold) => {
                        self.tag(0);
                        self.real(*threshold);
                    }
                    Rule::Levels(set) => {
                        self.tag(1);
                        self.levels(set);
                    }
                }
                self.whole(*left);
                self.whole(*right);
            }
            Node::Leaf { leaf, value } => {
                self.tag(1);
                self.whole(*leaf);
                self.real(*value);
            }
        }
    }

    fn objective(&mut self, objective: &LeafObjective) {
        self.real(objective.constant);
        self.reals(&objective.linear);
        match &objective.quadratic {
            None => self.tag(0),
            Some(q) => {
                self.tag(if q.remainder.is_some() { 2 } else { 1 });
                self.real(q.kappa);
                self.real(q.prior_variance);
                self.whole(q.dim);
                self.reals(&q.factor);
                if let Some(remainder) = &q.remainder {
                    self.reals(&remainder.noise_shares);
                    self.reals(&remainder.tree_variance);
                    self.real(remainder.constant);
                    self.real(remainder.rounding);
                }
            }
        }
    }

    fn sum(&mut self, sum: &LeafSum) {
        self.real(sum.constant);
        let terms: Vec<(usize, f64)> =
            sum.linear.iter().copied().enumerate().filter(|(_, a)| *a != 0.0).collect();
        self.list(&terms, |out, &(leaf, a)| {
            out.whole(leaf);
            out.real(a);
        });
        self.tag(match sum.link {
            SumLink::Identity => 0,
            SumLink::Logistic { .. } => 1,
            SumLink::Exp => 2,
            SumLink::SignedSquare => 3,
            SumLink::Softplus => 4,
            SumLink::Step => 5,
        });
        if let SumLink::Logistic { scale } = sum.link {
            self.real(scale);
        }
        self.real(sum.rounding);
        self.tag(u8::from(sum.is_double));
    }

    fn region(&mut self, region: &Region) {
        self.list(&region.0, |out, range| match range {
            Range::Interval { lower, upper } => {
                out.tag(0);
                out.real(*lower);
                out.real(*upper);
            }
            Range::Levels(set) => {
                out.tag(1);
                out.levels(set);
            }
        });
    }

    fn limit(&mut self, limit: &LeafLimit) {
        self.real(limit.constant);
        self.list(&limit.coefficients, |out, &(leaf, a)| {
            out.whole(leaf);
            out.real(a);
        });
        self.real(limit.lower);
        self.real(limit.upper);
    }

    /// The domains of constraints are the problem's.
    fn statement(&mut self, statement: &Statement<'_>) {
        self.list(statement.numbers, Self::number);
        self.list(statement.conditions, Self::condition);
        self.whole(statement.grid_rows.len());
        for (id, row) in statement.grid_rows {
            self.whole(id.0 as usize);
            self.list(&row.terms, |out, &(variable, scale, coefficient)| {
                out.whole(variable);
                out.real(scale);
                out.signed(coefficient);
            });
            self.signed(row.bound);
        }
        self.whole(statement.whole_rows.len());
        statement.whole_rows.iter().for_each(|id| self.whole(id.0 as usize));
        self.list(statement.roots, |out, id| out.whole(id.0 as usize));
    }

    fn number(&mut self, number: &Number) {
        let mut write = |tag: u8, operands: &[u32]| {
            self.tag(tag);
            operands.iter().for_each(|&id| self.whole(id as usize));
        };
        match *number {
            Number::Constant(value) => {
                write(0, &[]);
                self.real(value);
            }
            Number::Variable(variable) => {
                write(1, &[]);
                self.whole(variable);
            }
            Number::Add(a, b) => write(2, &[a.0, b.0]),
            Number::Subtract(a, b) => write(3, &[a.0, b.0]),
            Number::Multiply(a, b) => write(4, &[a.0, b.0]),
            Number::Divide(a, b) => write(5, &[a.0, b.0]),
            Number::Negate(a) => write(6, &[a.0]),
            Number::Power(a, exponent) => {
                write(7, &[a.0]);
                self.real(exponent);
            }
            Number::Exponential(base, a) => {
                write(8, &[a.0]);
                self.real(base);
            }
            Number::Min(a, b) => write(9, &[a.0, b.0]),
            Number::Max(a, b) => write(10, &[a.0, b.0]),
            Number::Abs(a) => write(11, &[a.0]),
            Number::Sqrt(a) => write(12, &[a.0]),
            Number::Exp(a) => write(13, &[a.0]),
            Number::Log(a) => write(14, &[a.0]),
            Number::Floor(a) => write(15, &[a.0]),
            Number::Ceil(a) => write(16, &[a.0]),
            Number::Log10(a) => write(19, &[a.0]),
            Number::If(c, a, b) => write(17, &[c.0, a.0, b.0]),
            Number::Whole(a) => write(18, &[a.0]),
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Constant(value) => {
                self.tag(0);
                self.tag(u8::from(*value));
            }
            Condition::Compare(op, a, b) => {
                self.tag(1);
                self.tag(match op {
                    Comparison::LessEqual => 0,
                    Comparison::Less => 1,
                    Comparison::Equal => 2,
                    Comparison::NotEqual => 3,
                });
                self.whole(a.0 as usize);
                self.whole(b.0 as usize);
            }
            Condition::Level(variable, set) => {
                self.tag(2);
                self.whole(*variable);
                self.levels(set);
            }
            Condition::IsWhole(a) => {
                self.tag(3);
                self.whole(a.0 as usize);
            }
            Condition::And(parts) => {
                self.tag(4);
                self.list(parts, |out, id| out.whole(id.0 as usize));
            }
            Condition::Or(parts) => {
                self.tag(5);
                self.list(parts, |out, id| out.whole(id.0 as usize));
            }
            Condition::Not(inner) => {
                self.tag(6);
                self.whole(inner.0 as usize);
            }
            Condition::Exact(inner) => {
                self.tag(7);
                self.whole(inner.0 as usize);
            }
        }
    }
}
