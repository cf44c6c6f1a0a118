//! Bounds on the size of a row's terms (`expr/size.rs`) over boxes.
//!
//! The graph merges sums: a linear node keeps the sum of the magnitudes that were merged into each coefficient, which is no less than the largest of them.

use smallvec::SmallVec;

use super::graph::{Model, NodeId, Operation};
use crate::expr::times;
use crate::interval::Interval;

/// Operations looked at for one size; beyond them it may be anything.
const FUEL: u32 = 10_000;

/// A size.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// No less than the size.
    most: f64,
    /// No less than the size wherever it is more than the magnitude of the node's value.
    beyond_value: f64,
}

impl Size {
    const ANY: Self = Self { most: f64::INFINITY, beyond_value: f64::INFINITY };

    /// That of a number that may be the result of a cancellation.
    fn of_terms(most: f64) -> Self {
        Self { most, beyond_value: most }
    }

    fn max(self, other: Self) -> Self {
        Self { most: self.most.max(other.most), beyond_value: self.beyond_value.max(other.beyond_value) }
    }
}

impl Model {
    /// The largest size of a difference's terms at the points of a box where the difference is zero within 1e-6 of that size; `value` are the nodes' values
    /// there.
    pub(crate) fn size_of_terms(&self, difference: NodeId, value: impl Fn(NodeId) -> Interval) -> f64 {
        let Operation::Linear(linear) = self.operation(difference) else {
            // The value itself is next to nothing.
            return self.size(difference, &value, &mut FUEL.clone()).beyond_value;
        };
        let terms = self.terms(linear);
        let mut own: SmallVec<[Interval; 8]> = SmallVec::new();
        own.extend(terms.iter().map(|term| value(term.node) * term.coefficient));
        // after[i]: the sum of the terms after i.
        let mut after: SmallVec<[Interval; 8]> = SmallVec::from_elem(Interval::point(0.0), terms.len());
        for i in (1..terms.len()).rev() {
            after[i - 1] = after[i] + own[i];
        }
        let mut before = Interval::point(linear.constant);
        let mut largest = linear.constant_magnitude;
        let mut fuel = FUEL;
        for (i, term) in terms.iter().enumerate() {
            let size = self.size(term.node, &value, &mut fuel);
            let most = times(term.magnitude, size.most);
            let mut bound = most;
            if term.magnitude == term.coefficient.abs() {
                // Where the term is no larger than its value: what the others leave to it.
                let rest = before + after[i];
                let value = own[i].hi.min(-rest.lo).max((-own[i].lo).min(rest.hi)).max(0.0);
                bound = bound.min(value.max(times(term.magnitude, size.beyond_value)));
            }
            largest = largest.max(bound);
            before = before + own[i];
        }
        // What the others leave is off by the tolerance itself.
        largest * (1.0 + 1e-5)
    }

    /// The size of a node's value at a point, as far as the graph knows it.
    pub(crate) fn size_at(&self, node: NodeId, value: impl Fn(NodeId) -> f64) -> f64 {
        self.size(node, &|node| Interval::point(value(node)), &mut FUEL.clone()).most
    }

    fn size(&self, node: NodeId, value: &dyn Fn(NodeId) -> Interval, fuel: &mut u32) -> Size {
        if *fuel == 0 {
            return Size::ANY;
        }
        *fuel -= 1;
        let magnitude = || value(node).magnitude();
        let mut of = |node: &NodeId| self.size(*node, value, fuel);
        match self.operation(node) {
            Operation::Constant(value) => Size { most: value.abs(), beyond_value: 0.0 },
            Operation::Variable(v) => {
                let least = self.least_sizes[*v];
                Size { most: magnitude().max(least), beyond_value: least }
            }
            Operation::Linear(linear) => {
                let sizes = self.terms(linear).iter().map(|term| times(term.magnitude, of(&term.node).most));
                Size::of_terms(sizes.fold(linear.constant_magnitude, f64::max))
            }
            Operation::Product(a, b) => {
                let (a, b) = (of(a), of(b));
                Size {
                    most: times(a.most, b.most),
                    beyond_value: times(a.beyond_value, b.most).max(times(a.most, b.beyond_value)),
                }
            }
            Operation::Quotient(a, b) => match self.operation(*b) {
                Operation::Constant(divisor) => {
                    let a = of(a);
                    let (most, beyond_value) = (a.most / divisor.abs(), a.beyond_value / divisor.abs());
                    Size { most: most.max(magnitude()), beyond_value }
                }
                _ => Size { most: magnitude(), beyond_value: 0.0 },
            },
            Operation::Apply(function, a) => {
                let a = of(a);
                Size {
                    most: function.size(a.most, magnitude()),
                    beyond_value: function.size(a.beyond_value, 0.0),
                }
            }
            Operation::Extreme(_, a, b) => Size::of_terms(of(a).max(of(b)).most),
            Operation::If { a, b, .. } => of(a).max(of(b)),
            Operation::Whole(a) => Size::of_terms(of(a).most),
        }
    }
}
