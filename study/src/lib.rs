//! Studies: problems x methods x seeds, each run resumable and reproducible, and the report over them. Start at [`run`], the runner.
//!
//! | step | here |
//! |---|---|
//! | say what | [`Spec`], read from a TOML file: problems ([`functions`], commands, tables), [`Method`]s, seeds; [`agreement::AgreementSpec`] for the uncertainty study |
//! | make the runs | [`run`] with [`RunOptions`] into a [`StudyFolder`], several at a time and in parts ([`Shard`]), told of by [`Event`]s; again after a stop it goes on |
//! | bring parts together | [`merge`] |
//! | look | [`report`], or the records themselves: [`Manifest`], [`RunRecord`], [`StepRecord`] |
//! | draw | [`plot`] |
//! | report on one problem's experiments | [`campaign`] |
//!
//! Methods differ only in how they propose the next point: the first points of a seed are the same for all, and every value is judged in one place
//! (`BlackBox`): constraints as in the problem file, or as a penalty on the value (Eq. 14).
//!
//! Both kinds of studies are made by the same runner ([`Study`]): a study is a list of runs, a run a list of records in a file of its own, and what the kinds differ in is the next record and
//! what is drawn in the end.
//!
//! ---
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod agreement;
mod black_box;
pub mod campaign;
mod case_digest;
mod command;
mod digest;
mod error;
mod escape;
mod external;
mod folder;
mod format;
pub mod functions;
mod initial;
mod jobs;
mod manifest;
mod merge;
mod optimise;
mod page;
mod platform;
pub mod plot;
mod propose;
mod read_spec;
mod record;
mod report;
mod run_file;
mod runner;
mod shard;
mod spec;
mod spec_reader;
mod statistics;
mod step;
mod study;
mod study_manifest;

pub use command::Command;
pub use error::StudyError;
pub use folder::StudyFolder;
pub use jobs::Jobs;
pub use manifest::{CaseEntry, Manifest, MethodEntry, ProblemEntry};
pub use merge::{MergeSummary, merge};
pub use record::{Record, RunHeader, RunRecord};
pub use report::{ReportOptions, ReportSummary, report};
pub use runner::{Event, RunOptions, Summary, run};
pub use shard::Shard;
pub use spec::{Case, ConstraintHandling, Infeasible, Method, MethodKind, RunId, Source, Spec, StudyProblem};
pub use step::{ProofRecord, Status, StepRecord, StopReason};
pub use study::{RecordOf, Study};
pub use study_manifest::{PlannedRun, StudyManifest};
