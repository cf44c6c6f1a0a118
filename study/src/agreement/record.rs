//! A run on disk: a header line, then one line a ratio. The file is always written whole, so a line is never half there.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::StudyError;
use crate::folder::if_there;
use crate::record::RunHeader;
use leafgp::file::write_whole;

/// The answer for one ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRecord {
    /// Largest share of agreeing trees allowed.
    pub ratio: f64,
    /// `optimal` or `feasible`; `infeasible`: proved that there is no such point; `unknown`: none was found within the node limit.
    pub status: String,
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

/// A run: what it is and its answers so far, ascending by ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementRun {
    /// Which run it is; the problem is `FUNCTION-POINTS`, the method `agreement`.
    pub header: RunHeader,
    /// The answers.
    pub records: Vec<AgreementRecord>,
}

impl AgreementRun {
    /// Reads a run; `None` when there is no file.
    ///
    /// # Errors
    /// Unreadable or damaged file.
    pub fn read(path: &Path) -> Result<Option<Self>, StudyError> {
        let Some(text) = if_there(path, std::fs::read_to_string(path))? else { return Ok(None) };
        let damaged = |line: usize, e: serde_json::Error| {
            let message = format!("line {} is damaged: {e}; delete the file to make the run again", line + 1);
            StudyError::content(path, message)
        };
        let mut lines = text.lines().enumerate();
        let Some((_, first)) = lines.next() else { return Ok(None) };
        let header = serde_json::from_str(first).map_err(|e| damaged(0, e))?;
        let records = lines
            .map(|(i, line)| serde_json::from_str(line).map_err(|e| damaged(i, e)))
            .collect::<Result<_, _>>()?;
        Ok(Some(Self { header, records }))
    }

    /// Writes the run, whole.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), StudyError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(StudyError::file(folder))?;
        }
        let mut text = serde_json::to_string(&self.header).expect("headers are plain data") + "\n";
        for record in &self.records {
            text += &(serde_json::to_string(record).expect("records are plain data") + "\n");
        }
        write_whole(path, text.as_bytes()).map_err(StudyError::file(path))
    }
}
