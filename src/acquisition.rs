//! The acquisition problem: minimise the lower confidence bound over the variables' domains and the known constraints.

use leafgp_solver::constraints::Constraints;
use leafgp_solver::search::Problem;
use leafgp_solver::{Domain, Forest, LeafObjective};

use crate::gp::TreeGp;

/// Minimise `mu(x) - kappa * sigma(x)` over the domains and the constraints: the paper's upper confidence bound of the negated targets,
/// as plain data for the solver.
#[derive(Clone, Debug)]
pub struct AcquisitionProblem {
    /// The variables' allowed values, in the order of points.
    pub domains: Vec<Domain>,
    /// The trees whose leaves carry the objective.
    pub forest: Forest,
    /// The objective on leaves.
    pub objective: LeafObjective,
    /// The known constraints over the same variables.
    pub constraints: Constraints,
}

/// The acquisition and its two parts at one point, in standardised units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Expected value `mu`.
    pub mean: f64,
    /// Standard deviation `sigma`.
    pub deviation: f64,
    /// `mu - kappa * sigma`, to be minimised.
    pub value: f64,
}

impl AcquisitionProblem {
    /// States the problem for a fitted process. `kappa >= 0`; larger explores more.
    pub fn new(gp: &TreeGp, constraints: Constraints, kappa: f64) -> Self {
        Self {
            domains: constraints.domains().to_vec(),
            forest: gp.forest().clone(),
            objective: gp.leaf_objective(kappa),
            constraints,
        }
    }

    /// As the solver takes it; exclusions and limits can be added to what is returned.
    pub fn search(&self) -> Problem<'_> {
        let problem = Problem::new(&self.domains, &self.forest, &self.objective);
        if self.constraints.is_empty() { problem } else { problem.with_constraints(&self.constraints) }
    }

    /// Evaluates the true model at a point in variable order; constraints are not looked at.
    pub fn evaluate(&self, x: &[f64]) -> Evaluation {
        let leaves = self.forest.active_leaves(x);
        let (mean, deviation) = (self.objective.mean(&leaves), self.objective.deviation(&leaves));
        Evaluation { mean, deviation, value: self.objective.value(&leaves) }
    }
}
