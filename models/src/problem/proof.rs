//! Proofs on file: certificates of optima over models.

use leafgp_constraints::Region;
use leafgp_solver::certificate::{Certificate, Refusal, Verified, WorkBudget, statement, verify_within};
use leafgp_solver::search::{CertifyError, certify};
use leafgp_solver::{SearchError, SearchOptions};

use super::compiled::Compiled;
use super::solve::minimized;
use super::{ModelOptimum, ModelProblem};
use crate::error::ModelError;
use crate::goal::Goal;

impl ModelProblem {
    /// The proof of an optimum that was found for the same objective, goal and excluded boxes: see [`leafgp_solver::search::certify`]. Objective and bound in
    /// it are those of the search, turned round for a maximum.
    ///
    /// # Errors
    /// An optimum that is not proved, an objective that forward evaluation does not bound, or a limit reached.
    pub fn certify(
        &self,
        objective: &str,
        goal: Goal,
        excluded: &[Region],
        optimum: &ModelOptimum,
        options: &SearchOptions,
    ) -> Result<Certificate, CertifyError> {
        let refused = |error: ModelError| CertifyError::Search(SearchError::Problem(error.to_string()));
        let chosen = |_: &_| Ok(optimum.multipliers.clone());
        let compiled = self.compile(&minimized(objective, goal), None, chosen).map_err(refused)?;
        certify(&compiled.problem(excluded), &optimum.report, options)
    }

    /// Checks a proof without the search, with as much work as stated; the outer error is an objective that is refused.
    ///
    /// # Errors
    /// As [`check_objective`](Self::check_objective); an unbounded objective.
    pub fn verify(
        &self,
        objective: &str,
        goal: Goal,
        excluded: &[Region],
        certificate: &Certificate,
        budget: WorkBudget,
    ) -> Result<Result<Verified, Refusal>, ModelError> {
        let compiled = self.without_multipliers(objective, goal)?;
        Ok(verify_within(&compiled.problem(excluded), certificate, budget))
    }

    /// The bytes whose hash ties a proof to the problem, see [`statement`].
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn statement(&self, objective: &str, goal: Goal, excluded: &[Region]) -> Result<Vec<u8>, ModelError> {
        Ok(statement(&self.without_multipliers(objective, goal)?.problem(excluded)))
    }

    /// For a proof, which has multipliers of its own.
    fn without_multipliers(&self, objective: &str, goal: Goal) -> Result<Compiled<'_>, ModelError> {
        self.check_objective(objective)?;
        self.compile(&minimized(objective, goal), None, |_| Ok(Vec::new()))
    }
}
