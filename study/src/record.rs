//! A run on disk: one JSON object a line, the first one says which run it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::StudyError;
use super::folder::if_there;
use super::manifest::FORMAT;

/// How often, and how long, a locked file is waited for.
const LOCK_TRIES: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// The first line of a run's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunHeader {
    /// Version of the format.
    pub format: u32,
    /// The problem's name.
    pub problem: String,
    /// The method's name.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The case's digest.
    pub fingerprint: String,
}

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

/// What the search proved of a proposal, and the model's prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofRecord {
    /// `optimal` or `feasible`; `sampled` when the acquisition was sampled only.
    pub status: String,
    /// Why the search stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Relative gap; null without a bound.
    pub gap: Option<f64>,
    /// Proved lower bound of the acquisition.
    pub bound: Option<f64>,
    /// `mean - kappa * std` in standardised minimisation units.
    pub acquisition: f64,
    /// Predicted objective.
    pub mean: f64,
    /// Standard deviation of the prediction.
    pub std: f64,
    /// Nodes of the search, or candidates evaluated.
    pub nodes: u64,
}

impl RunHeader {
    pub(super) fn new(problem: &str, method: &str, seed: u64, fingerprint: &str) -> Self {
        Self {
            format: FORMAT,
            problem: problem.to_owned(),
            method: method.to_owned(),
            seed,
            fingerprint: fingerprint.to_owned(),
        }
    }
}

/// What a run's file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Which run it is.
    pub header: RunHeader,
    /// Its evaluations, without gaps.
    pub steps: Vec<StepRecord>,
    /// Bytes of the complete lines; what follows is an interrupted write.
    pub complete_bytes: usize,
}

impl RunRecord {
    /// Reads a run; `None` when there is no file or not even a complete first line.
    ///
    /// # Errors
    /// Unreadable file, damage other than an interrupted last write.
    pub fn read(path: &Path) -> Result<Option<Self>, StudyError> {
        let Some(bytes) = if_there(path, std::fs::read(path))? else { return Ok(None) };
        Self::parse(path, &bytes)
    }

    /// Takes the complete lines. The last line may be anything: a write that was cut off.
    fn parse(path: &Path, bytes: &[u8]) -> Result<Option<Self>, StudyError> {
        let mut record: Option<Self> = None;
        let mut start = 0;
        let mut number = 0;
        while let Some(length) = bytes[start..].iter().position(|&b| b == b'\n') {
            let (line, end) = (&bytes[start..start + length], start + length + 1);
            number += 1;
            let is_last = end == bytes.len();
            let damaged = |what: String| {
                StudyError::content(
                    path,
                    format!("line {number} is damaged: {what}; delete the file to make the run again"),
                )
            };
            match &mut record {
                None => match serde_json::from_slice::<RunHeader>(line) {
                    Ok(header) => record = Some(Self { header, steps: Vec::new(), complete_bytes: end }),
                    Err(_) if is_last => break,
                    Err(error) => return Err(damaged(error.to_string())),
                },
                Some(record) => match serde_json::from_slice::<StepRecord>(line) {
                    Ok(step) if step.evaluation == record.steps.len() + 1 => {
                        record.steps.push(step);
                        record.complete_bytes = end;
                    }
                    Ok(step) => {
                        return Err(damaged(format!(
                            "evaluation {} where {} was expected",
                            step.evaluation,
                            record.steps.len() + 1
                        )));
                    }
                    Err(_) if is_last => break,
                    Err(error) => return Err(damaged(error.to_string())),
                },
            }
            start = end;
        }
        if let Some(record) = &record
            && record.header.format != FORMAT
        {
            let message = format!("format {} is not format {FORMAT}", record.header.format);
            return Err(StudyError::content(path, message));
        }
        Ok(record)
    }
}

/// A run's file, open for more: every line is on disk before the next evaluation starts.
#[derive(Debug)]
pub(super) struct RunFile {
    path: PathBuf,
    file: File,
}

impl RunFile {
    /// Opens a run's file for this process alone and cuts off an interrupted write. `None` when another process has it.
    pub(super) fn open(
        path: &Path,
        header: &RunHeader,
    ) -> Result<Option<(Self, Vec<StepRecord>)>, StudyError> {
        let fail = || StudyError::file(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(StudyError::file(folder))?;
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail())?;
        if is_locked(&file) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail())?;
        let record = RunRecord::parse(path, &bytes)?;
        let complete = record.as_ref().map_or(0, |record| record.complete_bytes);
        file.set_len(complete as u64).map_err(fail())?;
        file.seek(SeekFrom::End(0)).map_err(fail())?;
        let mut run = Self { path: path.to_owned(), file };
        let steps = match record {
            None => {
                run.append(header)?;
                Vec::new()
            }
            Some(record) if record.header == *header => record.steps,
            Some(record) => return Err(mixed(path, &record.header, header)),
        };
        Ok(Some((run, steps)))
    }

    /// Appends one line and waits until it is on disk.
    pub(super) fn append(&mut self, line: &impl Serialize) -> Result<(), StudyError> {
        let text = serde_json::to_string(line).expect("records are plain data") + "\n";
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(StudyError::file(&self.path))
    }
}

/// Tries to lock a file for this process; true when another one keeps it.
fn is_locked(file: &File) -> bool {
    // A process that was just started holds its parent's files for a moment, until it runs its own program.
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            // Some shared file systems know no locks; there the user keeps shards apart.
            Ok(()) | Err(TryLockError::Error(_)) => return false,
        }
    }
    true
}

/// The error of a file that belongs to another set-up.
pub(super) fn mixed(path: &Path, found: &RunHeader, expected: &RunHeader) -> StudyError {
    let what = if found.fingerprint == expected.fingerprint {
        format!("it is run {}/{}/{}", found.problem, found.method, found.seed)
    } else {
        "it was made with another problem, method or settings".to_owned()
    };
    StudyError::content(
        path,
        format!("{what}; results are not mixed: give another --out, or delete the file"),
    )
}
