//! From an [`Instance`] to the problem it states.

use leafgp_solver::Domain;
use leafgp_solver::constraints::{Constraints, ConstraintsBuilder, ExprError, Variable};

use super::{Instance, InstanceError};
use crate::acquisition::{AcquisitionProblem, AgreementLimit};
use crate::gp::TreeGp;

impl Instance {
    /// The variables' allowed values, in order.
    pub fn domains(&self) -> Vec<Domain> {
        self.variables.iter().map(|v| v.domain.clone()).collect()
    }

    /// The process, conditioned on the instance's data and its pending points with its hyperparameters.
    ///
    /// # Errors
    /// [`InstanceError::Gp`].
    pub fn gp(&self) -> Result<TreeGp, InstanceError> {
        TreeGp::with_hyperparameters(&self.forest, &self.x, &self.y, self.hyperparameters)
            .map(|gp| gp.predicting(self.variance))
            .and_then(|gp| {
                if self.pending.n_rows() == 0 {
                    Ok(gp)
                } else {
                    gp.believing(&self.x, &self.y, self.pending.rows())
                }
            })
            .map_err(|source| InstanceError::Gp { name: self.name.clone(), source })
    }

    /// The compiled constraints. Expressions use the variables' names throughout, or `x0, x1, ...` throughout.
    ///
    /// # Errors
    /// [`InstanceError::Expression`] names the expression and what is wrong with it.
    pub fn constraints(&self) -> Result<Constraints, InstanceError> {
        let by_name = self.compile(self.variables.clone());
        let numbered = |i: usize, v: &Variable| Variable { name: format!("x{i}"), ..v.clone() };
        by_name.or_else(|error| {
            let variables = self.variables.iter().enumerate().map(|(i, v)| numbered(i, v)).collect();
            self.compile(variables).map_err(|_| error)
        })
    }

    /// The acquisition problem: trees, objective on leaves, domains, constraints, excluded cells and agreement limit.
    ///
    /// # Errors
    /// As [`Instance::gp`] and [`Instance::constraints`].
    pub fn problem(&self) -> Result<AcquisitionProblem, InstanceError> {
        let statement = AcquisitionProblem::new(&self.gp()?, self.constraints()?, self.kappa);
        let limit = self
            .max_agreement
            .map(|ratio| AgreementLimit::new(&self.forest, self.x.rows().chain(self.pending.rows()), ratio));
        let taken = self.pending.rows().chain(self.failed.rows());
        Ok(statement.excluding_cells_of(taken).with_agreement(limit))
    }

    fn compile(&self, variables: Vec<Variable>) -> Result<Constraints, InstanceError> {
        let refuse = |at: String, text: &str| {
            let (name, text) = (self.name.clone(), text.to_string());
            move |source: ExprError| InstanceError::Expression { name, at, text, source }
        };
        let mut builder = ConstraintsBuilder::new(variables).map_err(refuse("variables".into(), ""))?;
        for (i, define) in self.define.iter().enumerate() {
            builder
                .define(&define.name, &define.expr, define.integer)
                .map_err(refuse(format!("define[{i}]"), &define.expr))?;
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            builder
                .constrain(&constraint.name, &constraint.expr)
                .map_err(refuse(format!("constraints[{i}]"), &constraint.expr))?;
        }
        for (i, active) in self.active_if.iter().enumerate() {
            if let Some(active) = active {
                builder
                    .active_if(i, &active.condition, active.inactive_value)
                    .map_err(refuse(format!("variables[{i}].active_if"), &active.condition))?;
            }
        }
        Ok(builder.build())
    }
}
