//! The folder of a study: what is where.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StudyError;
use super::manifest::{FORMAT, Manifest};
use leafgp::file::write_whole;

/// The folder of a study.
///
/// `study.json` says what it is, `runs/PROBLEM/METHOD/SEED.jsonl` are the runs, `timings/` holds files of the same names with the times of each step.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    path: PathBuf,
}

impl StudyFolder {
    /// The folder at a path, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a run.
    pub fn run_file(&self, problem: &str, method: &str, seed: u64) -> PathBuf {
        self.path.join("runs").join(problem).join(method).join(format!("{seed}.jsonl"))
    }

    /// The file of a run's times.
    pub fn timing_file(&self, problem: &str, method: &str, seed: u64) -> PathBuf {
        self.path.join("timings").join(problem).join(method).join(format!("{seed}.jsonl"))
    }

    /// Where the manifest is.
    pub fn manifest_file(&self) -> PathBuf {
        self.path.join("study.json")
    }

    /// The manifest; `None` when there is none.
    ///
    /// # Errors
    /// An unreadable or foreign file.
    pub fn manifest(&self) -> Result<Option<Manifest>, StudyError> {
        read_json(&self.manifest_file(), "study", |manifest: &Manifest| manifest.format)
    }

    /// The manifest of a folder that must be a study's.
    pub(super) fn existing_manifest(&self) -> Result<Manifest, StudyError> {
        self.manifest()?.ok_or_else(|| {
            StudyError::content(&self.manifest_file(), "there is no such file: this is no study's folder")
        })
    }

    /// What an uncertainty study has in place of the manifest.
    pub(super) fn agreement_file(&self) -> PathBuf {
        self.path.join("agreement.json")
    }

    /// An error where the folder is an uncertainty study's.
    pub(super) fn refuse_agreement(&self) -> Result<(), StudyError> {
        if self.agreement_file().exists() {
            let message = "an uncertainty study is in this folder; take another one";
            return Err(StudyError::content(&self.agreement_file(), message));
        }
        Ok(())
    }

    /// An error where the folder is an ordinary study's.
    pub(super) fn refuse_ordinary(&self) -> Result<(), StudyError> {
        if self.manifest_file().exists() {
            let message = "a study of optimisers is in this folder; take another one";
            return Err(StudyError::content(&self.manifest_file(), message));
        }
        Ok(())
    }

    /// Writes the manifest, whole.
    pub(super) fn write_manifest(&self, manifest: &Manifest) -> Result<(), StudyError> {
        self.refuse_agreement()?;
        self.write_json(&self.manifest_file(), manifest)
    }

    /// Writes what says what the study is, whole.
    pub(super) fn write_json(&self, path: &Path, manifest: &impl Serialize) -> Result<(), StudyError> {
        std::fs::create_dir_all(&self.path).map_err(StudyError::file(&self.path))?;
        let value = serde_json::to_value(manifest).expect("a manifest is plain data");
        write_whole(path, format!("{value:#}\n").as_bytes()).map_err(StudyError::file(path))
    }
}

/// Reads what says what a study is; `None` when there is no such file.
pub(super) fn read_json<T: DeserializeOwned>(
    path: &Path,
    what: &str,
    format: impl Fn(&T) -> u32,
) -> Result<Option<T>, StudyError> {
    let Some(text) = if_there(path, std::fs::read_to_string(path))? else { return Ok(None) };
    let manifest = serde_json::from_str(&text)
        .map_err(|e| StudyError::content(path, format!("this is no {what} of leafgp: {e}")))?;
    match format(&manifest) {
        FORMAT => Ok(Some(manifest)),
        other => Err(StudyError::content(path, format!("format {other} is not format {FORMAT}"))),
    }
}

/// What was read from a file; `None` when there is no such file.
pub(super) fn if_there<T>(path: &Path, content: io::Result<T>) -> Result<Option<T>, StudyError> {
    match content {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StudyError::file(path)(error)),
    }
}
