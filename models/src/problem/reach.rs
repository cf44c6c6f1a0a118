//! The smallest change of a setting after which a model promises a target.

use leafgp_constraints::{Domain, Region, Variable};
use leafgp_solver::{SearchOptions, Status};

use super::{ModelOptimum, ModelProblem};
use crate::error::ModelError;
use crate::goal::Goal;

/// What a prediction shall be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this much.
    AtLeast(f64),
    /// At most this much.
    AtMost(f64),
}

/// A setting and what a change of it costs.
#[derive(Clone, Debug)]
pub struct Reach<'a> {
    /// The setting to start from, in the variables' order.
    pub from: &'a [f64],
    /// What a change costs: of a number by its whole range, of a category by any other level. Not negative; shape `[n_variables]`.
    pub weights: &'a [f64],
    /// Number of the model that must promise the target.
    pub model: usize,
    /// The target.
    pub target: Target,
}

/// What came of it. The objective is the distance `sum of weight * |change| / range`, with 1 for a changed level.
#[derive(Clone, Debug)]
pub enum ReachOutcome {
    /// The nearest setting found, and what is proved of its distance.
    Nearest(ModelOptimum),
    /// Proved: no feasible setting reaches the target. With it, the best prediction that one can have; the objective is the prediction.
    Unreachable(ModelOptimum),
}

impl ModelProblem {
    /// Finds the feasible setting nearest to `from` whose prediction reaches the target, and proves it; or proves that there is none.
    ///
    /// # Errors
    /// Shapes that do not fit, numbers that are not finite, a category without names, more than one setting asked for; then as [`optimize`](Self::optimize).
    pub fn reach(
        &self,
        reach: &Reach<'_>,
        excluded: &[Region],
        options: &SearchOptions,
    ) -> Result<ReachOutcome, ModelError> {
        let refuse = |problem: String| Err(ModelError::format("reach", problem));
        let n = self.variables.len();
        if reach.from.len() != n || reach.weights.len() != n {
            return refuse(format!("the setting and the weights need {n} numbers each"));
        }
        let (Target::AtLeast(limit) | Target::AtMost(limit)) = reach.target;
        let numbers = reach.from.iter().chain(reach.weights).chain([&limit]);
        if numbers.into_iter().any(|x| !x.is_finite()) || reach.weights.iter().any(|w| *w < 0.0) {
            return refuse("setting, weights and target must be finite, weights not negative".into());
        }
        if options.k_best > 1 {
            return refuse("only the nearest setting is sought".into());
        }
        let Some(model) = self.models.get(reach.model) else {
            return refuse(format!("there is no model number {}", reach.model));
        };
        let mut terms = Vec::new();
        for (v, variable) in self.variables.iter().enumerate() {
            if let Some(term) = distance(variable, reach.from[v], reach.weights[v])? {
                terms.push(term);
            }
        }
        let distance = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        let name = quoted(&model.name);
        let (goal, condition) = match reach.target {
            Target::AtLeast(limit) => (Goal::Maximize, format!("{name} >= {limit}")),
            Target::AtMost(limit) => (Goal::Minimize, format!("{name} <= {limit}")),
        };
        let mut promised = self.clone();
        promised.constrain("the target", &condition)?;
        let nearest = promised.minimize(&distance, Goal::Minimize, Some(reach.from), excluded, options)?;
        if nearest.status != Status::Infeasible {
            return Ok(ReachOutcome::Nearest(nearest));
        }
        Ok(ReachOutcome::Unreachable(self.optimize(&name, goal, excluded, options)?))
    }
}

/// What a change of one variable costs, as an expression; `None` when it costs nothing or cannot be changed.
fn distance(variable: &Variable, from: f64, weight: f64) -> Result<Option<String>, ModelError> {
    let name = quoted(&variable.name);
    if weight == 0.0 {
        return Ok(None);
    }
    if let Domain::Categorical { levels } = variable.domain {
        let Some(level) = variable.level_names.get(from as usize).filter(|_| from >= 0.0) else {
            let problem =
                format!("{from} is no level; there are {levels}, with the names {:?}", variable.level_names);
            return Err(ModelError::Feature { feature: variable.name.clone(), problem });
        };
        return Ok(Some(format!("if({name} == '{}', 0, {weight})", level.replace('\'', "''"))));
    }
    let (lower, upper) = variable.domain.bounds();
    let range = upper - lower;
    Ok((range > 0.0).then(|| format!("{weight} * abs({name} - ({from})) / {range}")))
}

/// A name as expressions write it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
