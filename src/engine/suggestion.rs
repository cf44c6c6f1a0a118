//! A suggested experiment and what is known about it.

use leafgp_solver::search::{Status, StopReason};
use leafgp_solver::{Range, Region};
use serde_json::{Map, Value, json};

use crate::problem::Problem;

/// The note of an experiment that was planned before.
const PLANNED: &str = "pending in the history, taken up";

/// The next experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The point, in variable order; a category stands as its level index.
    pub point: Vec<f64>,
    /// What the model and the search say of it; `None` for a point of the space-filling first design.
    pub proof: Option<Proof>,
    /// Why this kind of suggestion was made, when it is not the plain case.
    pub note: Option<String>,
}

/// The model's prediction and the search's proof at a suggested point.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The cell in which every tree keeps its leaf: all its points are equal to the model.
    pub region: Region,
    /// Predicted objective, in the objective's units and direction.
    pub mean: f64,
    /// Standard deviation of the prediction, in the objective's units.
    pub std: f64,
    /// `mean - kappa * std` in standardised minimisation units.
    pub acquisition: f64,
    /// No feasible point has a smaller acquisition than this: proved.
    pub bound: f64,
    /// `(acquisition - bound) / max(|acquisition|, 1e-9)`.
    pub gap: f64,
    /// How the search ended.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Nodes of the search.
    pub nodes: u64,
}

impl Suggestion {
    /// An experiment that was planned before: only its point is known.
    pub fn planned(point: Vec<f64>) -> Self {
        Self { point, proof: None, note: Some(PLANNED.to_owned()) }
    }

    /// True for [`Suggestion::planned`].
    pub fn is_planned(&self) -> bool {
        self.note.as_deref() == Some(PLANNED)
    }

    /// The suggestion as the contract's JSON object.
    pub fn to_json(&self, problem: &Problem) -> Value {
        let mut object = Map::new();
        object.insert("point".into(), Value::Object(problem.point_to_json(&self.point)));
        match &self.proof {
            Some(proof) => {
                object.insert("region".into(), region_to_json(problem, &proof.region));
                object.insert("mean".into(), json!(proof.mean));
                object.insert("std".into(), json!(proof.std));
                object.insert("acquisition".into(), json!(proof.acquisition));
                object.insert("bound".into(), json!(proof.bound));
                object.insert("gap".into(), json!(proof.gap));
                object.insert("status".into(), json!(proof.status.as_str()));
                object.insert("stop_reason".into(), json!(proof.stop_reason.as_str()));
            }
            None => {
                for key in ["region", "mean", "std", "acquisition", "bound", "gap"] {
                    object.insert(key.into(), Value::Null);
                }
                object.insert("status".into(), json!(Status::Feasible.as_str()));
                object.insert("stop_reason".into(), Value::Null);
            }
        }
        Value::Object(object)
    }
}

/// A region by variable name: `[lower, upper]`, or the names of the levels.
fn region_to_json(problem: &Problem, region: &Region) -> Value {
    let entries = problem.variables().iter().zip(&region.0).map(|(variable, range)| {
        let value = match range {
            Range::Interval { lower, upper } => json!([variable.to_json(*lower), variable.to_json(*upper)]),
            Range::Levels(levels) => levels.iter().map(|level| variable.to_json(level as f64)).collect(),
        };
        (variable.name.clone(), value)
    });
    Value::Object(entries.collect())
}
