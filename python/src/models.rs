//! Several trained models in one problem, and the smallest change that reaches a target.

use leafgp::problem::{Problem as Checked, Variable};
use leafgp_models::{Binding, Goal, ModelOptimum, ModelProblem, NamedModel, Reach, ReachOutcome, Target};
use leafgp_solver::Region;
use leafgp_solver::search::Status;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::ensemble::{Ensemble, others, search_options};
use crate::failure::Failure;
use crate::problem::Problem;
use crate::value::{from_json, point_to_json};
use crate::watched::watched;

/// The models over the variables, definitions and constraints of a problem.
fn models_problem(problem: &Checked, models: &[(String, Py<Ensemble>)]) -> Result<ModelProblem, Failure> {
    let variables: Vec<_> = problem.variables().iter().map(Variable::in_expressions).collect();
    let named = |(name, ensemble): &(String, Py<Ensemble>)| {
        let ensemble = ensemble.get().model().clone();
        let binding = Binding::by_name(&ensemble, &variables)?;
        Ok(NamedModel { name: name.clone(), ensemble, binding })
    };
    let models = models.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
    let mut together = ModelProblem::new(variables.clone(), models)?;
    for define in problem.definitions() {
        together.define(&define.name, &define.expr, define.integer)?;
    }
    for (i, variable) in problem.variables().iter().enumerate() {
        if let Some(condition) = &variable.active_if {
            together.active_if(i, condition, variable.inactive_value)?;
        }
    }
    for constraint in problem.expressions() {
        together.constrain(&constraint.name, &constraint.expr)?;
    }
    Ok(together)
}

/// The boxes that fixed values leave out.
fn excluded(problem: &Checked, fixed: &Bound<'_, PyAny>) -> PyResult<Vec<Region>> {
    let domains = problem.domains();
    let mut excluded = Vec::new();
    for (name, value) in point_to_json(fixed)? {
        excluded.extend(others(problem, &domains, &name, &value)?);
    }
    Ok(excluded)
}

fn to_json(problem: &Checked, models: &ModelProblem, optimum: &ModelOptimum) -> Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let best = optimum.best.as_ref();
    let predictions = best.map(|best| -> Map<String, Value> {
        models
            .models()
            .iter()
            .zip(&best.predictions)
            .map(|(model, &y)| (model.name.clone(), json!(y)))
            .collect()
    });
    json!({
        "point": best.map(|best| problem.point_to_json(&best.point)),
        "value": best.map(|best| best.value),
        "predictions": predictions,
        "bound": finite(optimum.bound),
        "gap": finite(optimum.gap),
        "status": optimum.status.as_str(),
        "stop_reason": optimum.stop_reason.as_str(),
        "nodes": optimum.nodes,
        "seconds": optimum.seconds,
    })
}

/// The best input of an expression over variables and models, and whether Ctrl-C came.
#[pyfunction]
pub(crate) fn _optimize_models<'py>(
    py: Python<'py>,
    problem: &Problem,
    models: Vec<(String, Py<Ensemble>)>,
    objective: &str,
    maximize: bool,
    constraints: Vec<(String, String)>,
    fixed: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let problem = problem.checked();
    let mut together = models_problem(problem, &models)?;
    for (name, expression) in &constraints {
        together.constrain(name, expression).map_err(Failure::from)?;
    }
    let excluded = excluded(problem, fixed)?;
    let goal = Goal::maximize_if(maximize);
    let optimum = watched(py, |context, _| {
        Ok(together.optimize(objective, goal, &excluded, &search_options(problem, context, 1))?)
    })?;
    if optimum.result.status == Status::Infeasible {
        return Err(Failure::new("InfeasibleError", "the constraints leave no feasible point").into());
    }
    Ok((from_json(py, &to_json(problem, &together, &optimum.result))?, optimum.is_interrupted))
}

/// The smallest change of a setting after which a model promises a target; whether it can be reached; whether Ctrl-C came.
#[pyfunction]
pub(crate) fn _reach<'py>(
    py: Python<'py>,
    problem: &Problem,
    model: (String, Py<Ensemble>),
    from: &Bound<'py, PyAny>,
    costs: &Bound<'py, PyAny>,
    target: (bool, f64),
    fixed: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, bool, bool)> {
    let from = problem.point(from)?;
    let problem = problem.checked();
    let together = models_problem(problem, &[model])?;
    let mut weights = vec![1.0; problem.variables().len()];
    for (name, cost) in point_to_json(costs)? {
        let (Some(index), Some(cost)) = (problem.index_of(&name), cost.as_f64()) else {
            let names: Vec<&str> = problem.variables().iter().map(|v| v.name.as_str()).collect();
            let expected = names.join(", ");
            return Err(Failure::request(format!(
                "costs: {name:?}; expected a number for some of {expected}"
            ))
            .into());
        };
        weights[index] = cost;
    }
    let excluded = excluded(problem, fixed)?;
    let (at_least, target) = target;
    let target = if at_least { Target::AtLeast(target) } else { Target::AtMost(target) };
    let reach = Reach { from: &from, weights: &weights, model: 0, target };
    let outcome = watched(py, |context, _| {
        Ok(together.reach(&reach, &excluded, &search_options(problem, context, 1))?)
    })?;
    let (optimum, is_reached) = match &outcome.result {
        ReachOutcome::Nearest(nearest) => (nearest, true),
        ReachOutcome::Unreachable(best) => (best, false),
    };
    Ok((from_json(py, &to_json(problem, &together, optimum))?, is_reached, outcome.is_interrupted))
}
