//! The folder of a study: what is where.

use std::path::{Path, PathBuf};

use super::error::{StudyError, if_there};
use super::format;
use super::manifest::Manifest;
use super::record::RunHeader;
use super::study_manifest::StudyManifest;
use leafgp::file::write_whole;

/// The files by which a folder says what kind of study it holds.
const KINDS: [(&str, &str); 2] =
    [("study.json", "a study of optimisers"), ("agreement.json", "an uncertainty study")];

/// The folder of a study.
///
/// `study.json` says what it is (`agreement.json` for an uncertainty study), `runs/PROBLEM/METHOD/SEED.jsonl` are the runs, `timings/` holds files of the same names with the times of
/// each step.
///
/// ```
/// use leafgp_study::StudyFolder;
///
/// let folder = StudyFolder::new("results");
/// assert_eq!(folder.run_file("g1", "leaf-gp", 101), std::path::Path::new("results/runs/g1/leaf-gp/101.jsonl"));
/// assert!(StudyFolder::new("there/is/none").manifest()?.is_none());
/// # Ok::<(), leafgp_study::StudyError>(())
/// ```
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

    /// The file of the run with a header.
    pub(super) fn file_of(&self, header: &RunHeader) -> PathBuf {
        self.run_file(&header.problem, &header.method, header.seed)
    }

    /// Where the manifest of a study of optimisers is.
    pub fn manifest_file(&self) -> PathBuf {
        self.file_with::<Manifest>()
    }

    /// The manifest of a study of optimisers; `None` when there is none.
    ///
    /// # Errors
    /// An unreadable or foreign file.
    pub fn manifest(&self) -> Result<Option<Manifest>, StudyError> {
        self.read_manifest()
    }

    /// Where the manifest of a kind of study is.
    pub(super) fn file_with<M: StudyManifest>(&self) -> PathBuf {
        self.path.join(M::FILE)
    }

    /// True when the folder is that of a kind of study.
    pub(super) fn holds<M: StudyManifest>(&self) -> bool {
        self.file_with::<M>().exists()
    }

    /// The manifest of a kind of study; `None` when there is none.
    pub(super) fn read_manifest<M: StudyManifest>(&self) -> Result<Option<M>, StudyError> {
        let path = self.file_with::<M>();
        let Some(text) = if_there(&path, std::fs::read_to_string(&path))? else { return Ok(None) };
        let manifest: M = serde_json::from_str(&text)
            .map_err(|e| StudyError::content(&path, format!("this is no {} of leafgp: {e}", M::WHAT)))?;
        format::check(&path, manifest.format())?;
        Ok(Some(manifest))
    }

    /// The manifest of a folder that must be a study's.
    pub(super) fn existing_manifest<M: StudyManifest>(&self) -> Result<M, StudyError> {
        let what = M::WHAT;
        self.read_manifest()?.ok_or_else(|| {
            let message = format!("there is no such file: this is no {what}'s folder");
            StudyError::content(&self.file_with::<M>(), message)
        })
    }

    /// An error where the folder holds another kind of study.
    pub(super) fn refuse_others<M: StudyManifest>(&self) -> Result<(), StudyError> {
        for (file, what) in KINDS.into_iter().filter(|(file, _)| *file != M::FILE) {
            let path = self.path.join(file);
            if path.exists() {
                return Err(StudyError::content(
                    &path,
                    format!("{what} is in this folder; take another one"),
                ));
            }
        }
        Ok(())
    }

    /// Writes the manifest, whole.
    pub(super) fn write_manifest<M: StudyManifest>(&self, manifest: &M) -> Result<(), StudyError> {
        std::fs::create_dir_all(&self.path).map_err(StudyError::file(&self.path))?;
        let path = self.file_with::<M>();
        let value = serde_json::to_value(manifest).expect("a manifest is plain data");
        write_whole(&path, format!("{value:#}\n").as_bytes()).map_err(StudyError::file(&path))
    }
}
