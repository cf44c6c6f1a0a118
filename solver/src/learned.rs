//! Predictions that constraints and the objective name like variables: learned constraints, learned objectives.

use std::fmt::Debug;

use leafgp_constraints::{Constraints, Domain, Quantity, Tolerance};

use crate::forest::Forest;
use crate::problem::ProblemError;

/// Predictions of one or more models at a point. Each depends on the active leaves of the problem's forest alone.
pub trait Predictor: Debug + Sync {
    /// Number of predictions.
    fn n_predictions(&self) -> usize;

    /// The predictions at a point, in order.
    fn predict(&self, x: &[f64]) -> Vec<f64>;

    /// Proved: prediction `k` wherever its [`LeafSum`] lies between the two numbers.
    fn enclose(&self, k: usize, lower: f64, upper: f64) -> (f64, f64);
}

/// `constant + sum of the active leaves' coefficients`, in exact arithmetic, and how a prediction follows from it, as data.
#[derive(Clone, Debug)]
pub struct LeafSum {
    /// Added to the sum.
    pub constant: f64,
    /// Coefficient of each leaf, shape `[n_leaves]` of the forest.
    pub linear: Vec<f64>,
    /// From the sum to the prediction.
    pub link: SumLink,
    /// How far what the library adds up may lie from the exact sum.
    pub rounding: f64,
    /// Whether the library computes the link in f64; else in f32.
    pub is_double: bool,
}

/// A nondecreasing function from a sum to a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SumLink {
    /// The sum itself.
    Identity,
    /// `1 / (1 + exp(-scale * sum))`.
    Logistic {
        /// Above 0.
        scale: f64,
    },
    /// `exp(sum)`.
    Exp,
    /// `sign(sum) * sum^2`.
    SignedSquare,
    /// `log(1 + exp(sum))`.
    Softplus,
    /// 1 for a positive sum, else 0.
    Step,
}

/// What replaces the leaf objective as the value of a point, and what the constraints know besides the variables.
///
/// The value to minimise is `objective` at `(x, predictions)`. The problem's [`LeafObjective`](crate::LeafObjective) becomes a lower bound of it: at every
/// feasible point the objective must be at least the leaf objective's value (its proof is the caller's). `system` states everything over `(x, predictions,
/// value)`: all constraints, and `objective <= value`. Points must have an objective between the ends of the last domain of `system`.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'a> {
    /// The predictions.
    pub predictor: &'a dyn Predictor,
    /// The sum that each prediction follows from.
    pub sums: &'a [LeafSum],
    /// The objective, over the variables and then the predictions.
    pub objective: &'a Quantity,
    /// Everything that restricts a point.
    pub system: &'a Constraints,
    /// Number of the forest's first trees that the predictions come from. Their leaves make the cells that a list tells apart; the other trees only bound.
    pub cell_trees: usize,
    /// With which multiple each of the problem's limits ("at most 0") is part of the leaf objective. A certificate starts from these; nothing else depends on them.
    pub multipliers: &'a [f64],
}

impl Learned<'_> {
    /// Variables, predictions and value of a point as the system sees them: `None` when the objective is undefined there or not between its ends.
    pub(crate) fn extended(&self, x: &[f64]) -> Option<(Vec<f64>, f64)> {
        let mut point = x.to_vec();
        point.extend(self.predictor.predict(x));
        let value = self.objective.value(&point);
        let (lower, upper) = self.value_ends();
        (lower <= value && value <= upper).then(|| {
            point.push(upper);
            (point, value)
        })
    }

    /// The smallest and largest objective.
    pub(crate) fn value_ends(&self) -> (f64, f64) {
        self.system.domains().last().map_or((0.0, 0.0), Domain::bounds)
    }

    /// The objective at a point, when nothing forbids it.
    pub(crate) fn value(&self, x: &[f64]) -> Option<f64> {
        let (point, value) = self.extended(x)?;
        self.system.is_feasible(&point, Tolerance::Produce).then_some(value)
    }

    /// Checks the shapes.
    pub(crate) fn validate(&self, domains: &[Domain], forest: &Forest) -> Result<(), ProblemError> {
        let (n_trees, n_leaves) = (forest.n_trees(), forest.n_leaves());
        let refuse = |message: String| Err(ProblemError(message));
        let (n, k) = (domains.len(), self.predictor.n_predictions());
        let of_system = self.system.domains();
        let extra_are_intervals = || of_system[n..].iter().all(|d| matches!(d, Domain::Continuous { .. }));
        if of_system.len() != n + k + 1 || &of_system[..n] != domains || !extra_are_intervals() {
            return refuse(format!(
                "the system needs the {n} variables, then an interval for each of {k} predictions and for the value"
            ));
        }
        let finite = |sum: &LeafSum| {
            let scale = if let SumLink::Logistic { scale } = sum.link { scale } else { 1.0 };
            let numbers = [sum.constant, sum.rounding, scale];
            numbers.iter().chain(&sum.linear).all(|a| a.is_finite()) && sum.rounding >= 0.0 && scale > 0.0
        };
        if self.sums.len() != k || !self.sums.iter().all(|sum| sum.linear.len() == n_leaves && finite(sum)) {
            return refuse(format!("each of {k} predictions needs a sum of {n_leaves} finite coefficients"));
        }
        if self.cell_trees > n_trees {
            return refuse(format!("cells by {} trees; the forest has {n_trees}", self.cell_trees));
        }
        Ok(())
    }
}
