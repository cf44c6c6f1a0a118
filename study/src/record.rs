//! A run on disk: one JSON object a line, the first one says which run it is.

use std::fmt::Debug;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::{StudyError, if_there};
use super::format::{self, FORMAT};

/// A line of a run after the first.
pub trait Record: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// Checks that it may stand after the records before it.
    ///
    /// # Errors
    /// What is wrong with its place.
    fn check_after(&self, before: &[Self]) -> Result<(), String>;

    /// Which of its run it is, for messages: `evaluation 5`.
    fn name(&self) -> String;
}

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

    /// `problem/method/seed`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.problem, self.method, self.seed)
    }

    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).expect("headers are plain data") + "\n"
    }
}

/// What a run's file holds.
///
/// ```
/// use leafgp_study::{RunRecord, StepRecord, StudyFolder};
///
/// let file = StudyFolder::new("results").run_file("g1", "leaf-gp", 101);
/// if let Some(run) = RunRecord::<StepRecord>::read(&file)? {
///     println!("{}: {:?}", run.header.name(), run.records.last().and_then(|step| step.best));
/// }
/// # Ok::<(), leafgp_study::StudyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord<R> {
    /// Which run it is.
    pub header: RunHeader,
    /// Its records, without gaps.
    pub records: Vec<R>,
    /// Bytes of the complete lines; what follows is an interrupted write.
    pub complete_bytes: usize,
}

impl<R: Record> RunRecord<R> {
    /// Reads a run; `None` when there is no file or not even a complete first line.
    ///
    /// # Errors
    /// Unreadable file, damage other than an interrupted last write.
    pub fn read(path: &Path) -> Result<Option<Self>, StudyError> {
        let Some(bytes) = if_there(path, std::fs::read(path))? else { return Ok(None) };
        Self::from_bytes(path, &bytes)
    }

    /// Reads the run that should be in a file; `None` when it has not begun.
    ///
    /// # Errors
    /// As [`RunRecord::read`], and the file of another run or set-up.
    pub(super) fn read_of(path: &Path, header: &RunHeader) -> Result<Option<Self>, StudyError> {
        let Some(bytes) = if_there(path, std::fs::read(path))? else { return Ok(None) };
        Self::parse_of(path, &bytes, header)
    }

    /// [`RunRecord::read_of`] of the bytes of the file.
    pub(super) fn parse_of(
        path: &Path,
        bytes: &[u8],
        header: &RunHeader,
    ) -> Result<Option<Self>, StudyError> {
        match Self::from_bytes(path, bytes)? {
            Some(record) if record.header == *header => Ok(Some(record)),
            Some(record) => Err(mixed(path, &record.header, header)),
            None => {
                // A first line that was cut off is the beginning of this run's; a crash may leave zeros in place of its end.
                let line = header.line();
                let written = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
                if line.as_bytes().starts_with(&bytes[..written]) {
                    return Ok(None);
                }
                let message = "the first line is no run's; delete the file to make the run again";
                Err(StudyError::content(path, message))
            }
        }
    }

    /// [`RunRecord::read`] of the bytes of the file, which messages call `path`. Takes the complete lines; the last line may be anything: a write that was cut off.
    ///
    /// # Errors
    /// As [`RunRecord::read`].
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Option<Self>, StudyError> {
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
                    Ok(header) => {
                        format::check(path, header.format)?;
                        record = Some(Self { header, records: Vec::new(), complete_bytes: end });
                    }
                    Err(_) if is_last => break,
                    Err(error) => return Err(damaged(error.to_string())),
                },
                Some(record) => match serde_json::from_slice::<R>(line) {
                    Ok(next) => {
                        next.check_after(&record.records).map_err(damaged)?;
                        record.records.push(next);
                        record.complete_bytes = end;
                    }
                    Err(_) if is_last => break,
                    Err(error) => return Err(damaged(error.to_string())),
                },
            }
            start = end;
        }
        Ok(record)
    }
}

/// The error of a file that belongs to another set-up.
fn mixed(path: &Path, found: &RunHeader, expected: &RunHeader) -> StudyError {
    let what = if found.format != expected.format {
        format!("it is of format {}, the study of format {}", found.format, expected.format)
    } else if found.fingerprint == expected.fingerprint {
        format!("it is run {}", found.name())
    } else {
        "it was made with another problem, method or settings".to_owned()
    };
    StudyError::content(
        path,
        format!("{what}; results are not mixed: give another --out, or delete the file"),
    )
}
