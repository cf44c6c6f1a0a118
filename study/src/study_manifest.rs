//! What the manifests of all kinds of studies have in common.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::record::{Record, RunHeader};

/// A run of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// How its file begins.
    pub header: RunHeader,
    /// How many records make it complete.
    pub records: usize,
}

/// What a folder says of a study: enough for reports and merging, without the spec.
pub trait StudyManifest: Clone + Serialize + DeserializeOwned {
    /// A line of a run.
    type Record: Record;

    /// The file's name.
    const FILE: &'static str;
    /// What such a folder holds, for messages.
    const WHAT: &'static str;

    /// Version of the folder's layout and of its records.
    fn format(&self) -> u32;

    /// Every run.
    ///
    /// # Errors
    /// What is wrong with the manifest.
    fn planned(&self) -> Result<Vec<PlannedRun>, String>;

    /// The manifest of both studies together.
    ///
    /// # Errors
    /// What keeps them apart.
    fn united(&self, other: &Self) -> Result<Self, String>;
}
