//! Answers as JSON: what the command writes and the Python package reads.

use leafgp_constraints::{Domain, Range, Region, Variable};
use serde_json::{Map, Value, json};

use crate::optimum::{Candidate, Optimum};
use crate::problem::{ModelCandidate, ModelOptimum, ModelProblem, ReachOutcome};

/// A coordinate: a level as its label, a whole number as an integer, other numbers as such.
///
/// ```
/// use leafgp_constraints::{Domain, Variable};
/// use leafgp_models::coordinate_to_json;
///
/// let variable = |domain, names: &[&str]| Variable { name: "v".into(), domain, level_names: names.iter().map(|n| (*n).into()).collect() };
/// assert_eq!(coordinate_to_json(&variable(Domain::Categorical { levels: 2 }, &["tin", "zinc"]), 1.0), "zinc");
/// assert_eq!(coordinate_to_json(&variable(Domain::Integer { lower: 0.0, upper: 9.0 }, &[]), 3.0), 3);
/// assert_eq!(coordinate_to_json(&variable(Domain::Continuous { lower: 0.0, upper: 9.0 }, &[]), 3.0), 3.0);
/// ```
pub fn coordinate_to_json(variable: &Variable, x: f64) -> Value {
    match (&variable.domain, variable.level_names.get(x as usize)) {
        (Domain::Categorical { .. }, Some(label)) => json!(label),
        (Domain::Integer { .. }, _) if x.fract() == 0.0 && x.abs() < 1e15 => json!(x as i64),
        _ => json!(x),
    }
}

/// A point: `{name: value}`.
pub fn point_to_json(variables: &[Variable], point: &[f64]) -> Map<String, Value> {
    let named = |(variable, &x): (&Variable, &f64)| (variable.name.clone(), coordinate_to_json(variable, x));
    variables.iter().zip(point).map(named).collect()
}

/// A box: `[lower, upper]` or the levels, by variable.
fn cell_to_json(variables: &[Variable], cell: &Region) -> Map<String, Value> {
    let range = |(variable, range): (&Variable, &Range)| {
        let range = match range {
            Range::Interval { lower, upper } => json!([lower, upper]),
            Range::Levels(levels) => {
                levels.iter().map(|level| coordinate_to_json(variable, level as f64)).collect()
            }
        };
        (variable.name.clone(), range)
    };
    variables.iter().zip(&cell.0).map(range).collect()
}

impl Candidate {
    /// `point`, `value`, `cell`.
    fn to_json(&self, variables: &[Variable]) -> Value {
        let (point, cell) = (point_to_json(variables, &self.point), cell_to_json(variables, &self.cell));
        json!({ "point": point, "value": self.value, "cell": cell })
    }
}

impl ModelCandidate {
    /// `point`, `value`, `predictions` (by model), `cell`.
    fn to_json(&self, problem: &ModelProblem) -> Value {
        let variables = problem.variables();
        json!({
            "point": point_to_json(variables, &self.point),
            "value": self.value,
            "predictions": predictions_to_json(problem, &self.predictions),
            "cell": cell_to_json(variables, &self.cell),
        })
    }
}

impl Optimum {
    /// The object of `leafgp optimize MODEL --format json`; what is infinite is null.
    pub fn to_json(&self, variables: &[Variable]) -> Value {
        let best = self.best.as_ref().map(|best| best.to_json(variables));
        let field = |key: &str| best.as_ref().map_or(Value::Null, |best| best[key].clone());
        let others: Vec<Value> = self.others.iter().map(|other| other.to_json(variables)).collect();
        json!({
            "status": self.status.as_str(),
            "stop_reason": self.stop_reason.as_str(),
            "point": field("point"),
            "value": field("value"),
            "cell": field("cell"),
            "bound": finite(self.bound),
            "gap": finite(self.gap),
            "others": others,
            "nodes": self.nodes,
            "seconds": self.seconds,
        })
    }
}

impl ModelOptimum {
    /// The object of `leafgp optimize FILE.toml --format json`; what is infinite is null.
    pub fn to_json(&self, problem: &ModelProblem) -> Value {
        let best = self.best.as_ref().map(|best| best.to_json(problem));
        let field = |key: &str| best.as_ref().map_or(Value::Null, |best| best[key].clone());
        let others: Vec<Value> = self.others.iter().map(|other| other.to_json(problem)).collect();
        json!({
            "status": self.status.as_str(),
            "stop_reason": self.stop_reason.as_str(),
            "point": field("point"),
            "value": field("value"),
            "predictions": field("predictions"),
            "cell": field("cell"),
            "bound": finite(self.bound),
            "gap": finite(self.gap),
            "others": others,
            "nodes": self.nodes,
            "seconds": self.seconds,
        })
    }
}

impl ReachOutcome {
    /// The optimum in it, and whether the target can be reached.
    pub fn optimum(&self) -> (&ModelOptimum, bool) {
        match self {
            Self::Nearest(nearest) => (nearest, true),
            Self::Unreachable(best) => (best, false),
        }
    }

    /// The object of `leafgp reach --format json`: as [`ModelOptimum::to_json`], with what changes of `from`; what is infinite is null.
    pub fn to_json(&self, problem: &ModelProblem, from: &[f64]) -> Value {
        let (optimum, reachable) = self.optimum();
        let (best, variables) = (optimum.best.as_ref(), problem.variables());
        let changed = best.map(|best| -> Map<String, Value> {
            let pairs = variables.iter().zip(from.iter().zip(&best.point));
            let change = |(variable, (&from, &to)): (&Variable, (&f64, &f64))| {
                let (from, to) = (coordinate_to_json(variable, from), coordinate_to_json(variable, to));
                (variable.name.clone(), json!({ "from": from, "to": to }))
            };
            pairs.filter(|(_, (from, to))| from != to).map(change).collect()
        });
        json!({
            "reachable": reachable,
            "status": optimum.status.as_str(),
            "stop_reason": optimum.stop_reason.as_str(),
            "point": best.map(|best| point_to_json(variables, &best.point)),
            "changes": changed,
            "distance": best.filter(|_| reachable).map(|best| best.value),
            "predictions": best.map(|best| predictions_to_json(problem, &best.predictions)),
            "bound": finite(optimum.bound),
            "gap": finite(optimum.gap),
            "nodes": optimum.nodes,
            "seconds": optimum.seconds,
        })
    }
}

fn predictions_to_json(problem: &ModelProblem, predictions: &[f64]) -> Map<String, Value> {
    problem.models().iter().zip(predictions).map(|(model, &y)| (model.name.clone(), json!(y))).collect()
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
