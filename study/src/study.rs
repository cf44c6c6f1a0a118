//! What the kinds of studies have in common: a list of runs, each of them a list of records.

use std::fmt::Debug;

use super::error::StudyError;
use super::folder::StudyFolder;
use super::run_file::RunFile;
use super::study_manifest::{PlannedRun, StudyManifest};
use leafgp::engine::Context;

/// How the work on a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is complete.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// A study that can be run: [`Spec`](crate::Spec), of optimisers, or [`AgreementSpec`](crate::agreement::AgreementSpec), of uncertainty.
pub trait Study: Sync {
    /// What its folder says of it.
    type Manifest: StudyManifest;
    /// One of its runs.
    type Run: Copy + Debug + Send + Sync;

    /// Every run, in the order in which they are made.
    fn runs(&self) -> Vec<Self::Run>;

    /// Header and length of a run.
    fn planned(&self, run: Self::Run) -> PlannedRun;

    /// The manifest to write into a folder that has the given one, of the same format.
    ///
    /// # Errors
    /// Why the study does not belong into the folder.
    fn manifest_after(&self, known: Option<&Self::Manifest>) -> Result<Self::Manifest, String>;

    /// Continues a run until it is complete or interrupted; every record is appended to its file and told.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn go_on(
        &self,
        run: Self::Run,
        folder: &StudyFolder,
        file: &mut RunFile<RecordOf<Self>>,
        context: &Context,
        on_record: &dyn Fn(&RecordOf<Self>),
    ) -> Result<Ended, StudyError>;
}

/// The records of a study's runs.
pub type RecordOf<S> = <<S as Study>::Manifest as StudyManifest>::Record;
