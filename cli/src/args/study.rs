//! Arguments of `leafgp study`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `leafgp study`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Make every run of a study that is not complete yet.
    Run(StudyRunArgs),
    /// Bring shards and parts of a study together in one folder.
    Merge(StudyMergeArgs),
    /// Write the report: page, charts and tables over the complete runs.
    Report(StudyReportArgs),
}

/// `leafgp study run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp study run study.toml --out results")]
pub(crate) struct StudyRunArgs {
    /// The study file (TOML).
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,
    /// The folder of the study's files; made if it does not exist, continued if it does.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Runs side by side, each on one thread, 0 for one on each core; results do not depend on it.
    #[arg(short, long, value_name = "K", default_value_t = 0, visible_alias = "threads")]
    pub(crate) jobs: usize,
    /// Make only part i of n of the runs, for job arrays.
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<leafgp_study::Shard>,
    /// A line for each complete run; twice, for each evaluation.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// `leafgp study merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp study merge part-1 part-2 --out results")]
pub(crate) struct StudyMergeArgs {
    /// The folders to merge.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// The folder of the merged study; one that holds the study already is completed.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// `leafgp study report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp study report results")]
pub(crate) struct StudyReportArgs {
    /// The study's folder.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The folder for the report's files [default: DIR/report].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Compare every other method to this one.
    #[arg(long, value_name = "METHOD")]
    pub(crate) baseline: Option<String>,
    /// Leave out the times, the only part that differs when the same study is made again.
    #[arg(long)]
    pub(crate) without_times: bool,
}
