//! What the solver is given: the relaxation with its multipliers, and the system of all constraints.

use leafgp_constraints::{Constraints, ConstraintsBuilder, Domain, Quantity, Region, Variable};
use leafgp_solver::{LeafObjective, Learned, Predictor, Problem};

use super::ModelProblem;
use super::predictor::Models;
use super::relaxation::LeafRelaxation;
use crate::error::ModelError;

/// A problem over models with an expression to minimise, ready for the solver.
#[derive(Debug)]
pub(super) struct Compiled<'a> {
    domains: &'a [Domain],
    pub(super) predictor: Models<'a>,
    quantity: Quantity,
    relaxation: LeafRelaxation,
    /// Of each constraint of the relaxation.
    pub(super) multipliers: Vec<f64>,
    objective: LeafObjective,
    system: Constraints,
}

impl Compiled<'_> {
    /// The solver's problem without the points of some regions.
    pub(super) fn problem(&self, excluded: &[Region]) -> Problem<'_> {
        let relaxation = &self.relaxation;
        let mut problem =
            Problem::new(self.domains, &relaxation.forest, &self.objective).with_learned(Learned {
                predictor: &self.predictor,
                sums: &relaxation.sums,
                objective: &self.quantity,
                system: &self.system,
                cell_trees: relaxation.cell_trees,
                multipliers: &self.multipliers,
            });
        for function in &relaxation.constraints {
            problem = problem.with_limit(function.at_most_zero(&relaxation.forest));
        }
        for region in excluded {
            problem = problem.excluding(region.clone());
        }
        problem
    }

    /// The expression at a point.
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let mut point = x.to_vec();
        point.extend(self.predictor.predict(x));
        self.quantity.value(&point)
    }
}

impl ModelProblem {
    /// Compiles an expression that is minimised. `from` is a point on whose sides it differs; `choose` gives the multipliers of the relaxation's constraints.
    pub(super) fn compile(
        &self,
        expression: &str,
        from: Option<&[f64]>,
        choose: impl FnOnce(&LeafRelaxation) -> Result<Vec<f64>, ModelError>,
    ) -> Result<Compiled<'_>, ModelError> {
        let quantity = self.quantity(expression)?;
        let relaxation = self.relax(&quantity, from)?;
        let system = self.system(expression, &quantity)?;
        let multipliers = choose(&relaxation)?;
        let objective = relaxation.objective.plus(&multipliers, &relaxation.constraints);
        let (domains, predictor) = (&self.domains, Models(&self.models));
        Ok(Compiled { domains, predictor, quantity, relaxation, multipliers, objective, system })
    }

    /// All constraints and "objective at most value" over the variables, the predictions and the value.
    fn system(&self, expression: &str, quantity: &Quantity) -> Result<Constraints, ModelError> {
        let (lower, upper) = quantity.over_boxes().range(&self.whole()).unwrap_or((0.0, 0.0));
        if !(lower.is_finite() && upper.is_finite()) {
            let reason = "its values are unbounded over the variables' box".into();
            return Err(ModelError::Unsupported { kind: "objective".into(), reason });
        }
        let mut name = "value of the objective".to_owned();
        let taken = |name: &str| self.variables.iter().chain(&self.outputs).any(|v| v.name == name);
        while taken(&name) {
            name.push('\'');
        }
        let domain = Domain::Continuous { lower, upper };
        let value = Variable { name: name.clone(), domain, level_names: Vec::new() };
        let all = self.variables.iter().chain(&self.outputs).cloned().chain([value]).collect();
        let refuse = |name: &str| {
            let name = name.to_owned();
            move |error| ModelError::expression(&name, error)
        };
        let mut builder = ConstraintsBuilder::new(all).map_err(refuse("names"))?;
        for stated in &self.stated {
            builder.state(stated).map_err(refuse(stated.name()))?;
        }
        builder
            .constrain("objective", &format!("({expression}) <= `{name}`"))
            .map_err(refuse("objective"))?;
        Ok(builder.build())
    }
}
