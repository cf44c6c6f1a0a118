//! The search: the relaxation with its multipliers, and the system of all constraints.

use leafgp_constraints::{Constraints, ConstraintsBuilder, Domain, Quantity, Region, Variable};
use leafgp_solver::search::relative_gap;
use leafgp_solver::{Incumbent, Learned, Predictor, Problem, SearchOptions, Status, StopReason, minimize};

use super::predictor::Models;
use super::{ModelProblem, multipliers};
use crate::error::ModelError;
use crate::goal::Goal;

/// An input and what the models make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCandidate {
    /// The point, in the variables' order, a category as its level index; feasible as it stands.
    pub point: Vec<f64>,
    /// The objective there, from the predictions of the models' own libraries.
    pub value: f64,
    /// The predictions, in the order of the models.
    pub predictions: Vec<f64>,
    /// All points of the box in which no tree of any model changes its leaf (constraints not considered). The objective's expression may still move in it.
    pub cell: Region,
}

/// The best input, and how far it is from the best there could be.
#[derive(Clone, Debug)]
pub struct ModelOptimum {
    /// The best input found; `None` when there is none or the limits came first.
    pub best: Option<ModelCandidate>,
    /// With [`k_best`](SearchOptions::k_best) above 1, the next best cells, best first; each with its best input, within the gap once the proof is complete.
    pub others: Vec<ModelCandidate>,
    /// Proved: no feasible input has a better objective, with predictions as the libraries compute them.
    pub bound: f64,
    /// `|value - bound| / max(|value|, 1e-9)`; infinite without an input. With `k_best` above 1: of the last listed cell, against the bound of all that is not
    /// listed.
    pub gap: f64,
    /// What is known.
    pub status: Status,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// Number of nodes of the search.
    pub nodes: u64,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
}

impl ModelProblem {
    /// Finds the feasible input with the largest or smallest objective, and proves it. `excluded`: boxes of the variables that must not be entered.
    ///
    /// Points at which the objective is undefined are not feasible.
    ///
    /// # Errors
    /// An objective that is refused ([`check_objective`](Self::check_objective)) or unbounded; options out of range. An empty space and limits are outcomes.
    pub fn optimize(
        &self,
        objective: &str,
        goal: Goal,
        excluded: &[Region],
        options: &SearchOptions,
    ) -> Result<ModelOptimum, ModelError> {
        self.check_objective(objective)?;
        let expression = match goal {
            Goal::Minimize => objective.to_owned(),
            Goal::Maximize => format!("-({objective})"),
        };
        self.minimize(&expression, goal, None, excluded, options)
    }

    /// Minimises an expression; values are reported for the goal. `from` is a point on whose sides the expression differs, and whose coordinates the answer
    /// takes where that costs nothing.
    pub(super) fn minimize(
        &self,
        expression: &str,
        goal: Goal,
        from: Option<&[f64]>,
        excluded: &[Region],
        options: &SearchOptions,
    ) -> Result<ModelOptimum, ModelError> {
        let started = std::time::Instant::now();
        let quantity = self.quantity(expression)?;
        let relaxation = self.relax(&quantity, from)?;
        let system = self.system(expression, &quantity)?;
        let chosen = multipliers::choose(&relaxation, &self.domains, options)?;
        let leaf_objective = relaxation.objective.plus(&chosen, &relaxation.constraints);
        let predictor = Models(&self.models);
        let mut problem =
            Problem::new(&self.domains, &relaxation.forest, &leaf_objective).with_learned(Learned {
                predictor: &predictor,
                sums: &relaxation.sums,
                objective: &quantity,
                system: &system,
                cell_trees: relaxation.cell_trees,
            });
        for function in &relaxation.constraints {
            problem = problem.with_limit(function.at_most_zero(&relaxation.forest));
        }
        for region in excluded {
            problem = problem.excluding(region.clone());
        }
        let mut options = options.clone();
        options.time_limit = options.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        let report = minimize(&problem, &options)?;
        let value = |x: &[f64]| {
            let mut point = x.to_vec();
            point.extend(predictor.predict(x));
            quantity.value(&point)
        };
        let candidate = |incumbent: Incumbent| {
            let (mut point, mut objective) = (incumbent.x, incumbent.objective);
            for (v, &own) in from.unwrap_or_default().iter().enumerate() {
                let before = std::mem::replace(&mut point[v], own);
                let trial = if before != own && problem.allows(&point) { value(&point) } else { f64::NAN };
                if trial <= objective { objective = trial } else { point[v] = before }
            }
            let (predictions, cell) = (predictor.predict(&point), problem.level_set(&point));
            ModelCandidate { point, value: goal.sign() * objective, predictions, cell }
        };
        let best = report.incumbent.map(candidate);
        let others: Vec<_> = report.others.into_iter().map(candidate).collect();
        let gap = match &best {
            Some(best) if others.is_empty() => relative_gap(goal.sign() * best.value, report.best_bound),
            _ => report.gap,
        };
        Ok(ModelOptimum {
            bound: goal.sign() * report.best_bound,
            gap,
            status: report.status,
            stop_reason: report.stop_reason,
            nodes: report.nodes,
            seconds: started.elapsed().as_secs_f64(),
            best,
            others,
        })
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
