//! What an uncertainty study records of each ratio.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::record::{Record, RunRecord};
use crate::step::Status;

/// The answer for one ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRecord {
    /// Largest share of agreeing trees allowed.
    pub ratio: f64,
    /// How far the proof went; `unknown`: no point was found within the node limit.
    pub status: Status,
    /// The point by variable name.
    pub point: Option<Map<String, Value>>,
    /// Predicted value of the benchmark there.
    pub mean: Option<f64>,
    /// Its standard deviation.
    pub std: Option<f64>,
    /// True value of the benchmark.
    pub value: Option<f64>,
    /// `|mean - value| / |mean|` (Eq. 13).
    pub error: Option<f64>,
    /// Largest share of trees that agree with one training point.
    pub agreement: Option<f64>,
    /// Proved limit of the mean.
    pub bound: Option<f64>,
    /// Relative gap of the proof.
    pub gap: Option<f64>,
    /// Nodes of the search.
    pub nodes: u64,
}

impl Record for AgreementRecord {
    fn check_after(&self, before: &[Self]) -> Result<(), String> {
        match before.last() {
            Some(last) if last.ratio >= self.ratio => {
                Err(format!("the ratio {} after {}", self.ratio, last.ratio))
            }
            _ => Ok(()),
        }
    }

    fn name(&self) -> String {
        format!("ratio {}", self.ratio)
    }
}

/// A run: what it is (the problem is `FUNCTION-POINTS`, the method `agreement`), and its answers, ascending by ratio.
pub type AgreementRun = RunRecord<AgreementRecord>;
