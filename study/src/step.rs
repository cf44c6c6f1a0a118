//! What a study of optimisers records of each evaluation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::Record;
use leafgp_solver::search;

/// One evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// Number of the evaluation, from 1.
    pub evaluation: usize,
    /// Number of the iteration, from 1; 0 for the first points.
    pub iteration: usize,
    /// The point by variable name.
    pub point: Map<String, Value>,
    /// The measured objective in its own units and direction; null for a failed evaluation.
    pub value: Option<f64>,
    /// What the method was told instead, when its constraints are a penalty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<f64>,
    /// Whether the point satisfies domains and constraints within the tolerance for rows.
    pub feasible: bool,
    /// Sum of squared violations (Eq. 14); a logical or undefined constraint counts 1.
    pub violation: f64,
    /// The best feasible value so far.
    pub best: Option<f64>,
    /// What was proved of the proposal, for methods with a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofRecord>,
}

impl Record for StepRecord {
    fn check_after(&self, before: &[Self]) -> Result<(), String> {
        match before.len() + 1 {
            expected if self.evaluation == expected => Ok(()),
            expected => Err(format!("evaluation {} where {expected} was expected", self.evaluation)),
        }
    }

    fn name(&self) -> String {
        format!("evaluation {}", self.evaluation)
    }
}

/// What the search proved of a proposal, and the model's prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofRecord {
    /// How far the proof went.
    pub status: Status,
    /// Why the search stopped; nothing where the acquisition was only sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Relative gap; null without a bound.
    pub gap: Option<f64>,
    /// Proved lower bound of the acquisition.
    pub bound: Option<f64>,
    /// In standardised minimisation units: `mean - kappa * std` of the trees; with status `local` what the smooth process minimised, that or `-ln` of the expected
    /// improvement.
    pub acquisition: f64,
    /// Predicted objective, by the model that chose the point.
    pub mean: f64,
    /// Standard deviation of the prediction.
    pub std: f64,
    /// Nodes of the search, or candidates evaluated; 0 of local searches.
    pub nodes: u64,
}

/// How far a recorded proof went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Proved optimal within the gap that was asked for.
    Optimal,
    /// There is a point, the proof is not complete.
    Feasible,
    /// Proved: there is no such point.
    Infeasible,
    /// No point, and no proof that there is none.
    Unknown,
    /// The best of some samples: nothing was searched, nothing is proved.
    Sampled,
    /// Found by local searches: nothing is proved.
    Local,
}

impl Status {
    /// The word of records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Feasible => "feasible",
            Self::Infeasible => "infeasible",
            Self::Unknown => "unknown",
            Self::Sampled => "sampled",
            Self::Local => "local",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<search::Status> for Status {
    fn from(status: search::Status) -> Self {
        match status {
            search::Status::Optimal => Self::Optimal,
            search::Status::Feasible => Self::Feasible,
            search::Status::Infeasible => Self::Infeasible,
            search::Status::Unknown => Self::Unknown,
        }
    }
}

/// Why a recorded search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The gap was reached.
    Gap,
    /// The wall-clock limit.
    TimeLimit,
    /// The node limit.
    NodeLimit,
    /// Nothing was left to search.
    Exhausted,
    /// The user stopped it.
    Interrupted,
}

impl From<search::StopReason> for StopReason {
    fn from(reason: search::StopReason) -> Self {
        match reason {
            search::StopReason::Gap => Self::Gap,
            search::StopReason::TimeLimit => Self::TimeLimit,
            search::StopReason::NodeLimit => Self::NodeLimit,
            search::StopReason::Exhausted => Self::Exhausted,
            search::StopReason::Interrupted => Self::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, StopReason};
    use leafgp_solver::search;

    #[test]
    fn words_of_records_are_those_of_the_search() {
        use search::Status::{Feasible, Infeasible, Optimal, Unknown};
        for status in [Optimal, Feasible, Infeasible, Unknown] {
            let word = serde_json::json!(Status::from(status));
            assert_eq!(word, status.as_str());
            assert_eq!(Status::from(status).to_string(), status.as_str());
        }
        for (status, word) in [(Status::Sampled, "sampled"), (Status::Local, "local")] {
            assert_eq!((serde_json::json!(status), status.as_str()), (serde_json::json!(word), word));
        }
        use search::StopReason::{Exhausted, Gap, Interrupted, NodeLimit, TimeLimit};
        for reason in [Exhausted, Gap, Interrupted, NodeLimit, TimeLimit] {
            assert_eq!(serde_json::json!(StopReason::from(reason)), reason.as_str());
        }
    }
}
