//! What can be typed.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use leafgp::problem::Preset;

mod model;
mod plot;

pub(crate) use model::{ModelArgs, OptimizeArgs};
pub(crate) use plot::{
    PictureArgs, PlotCommand, PlotConvergenceArgs, PlotImportanceArgs, PlotParallelArgs, PlotSurfaceArgs,
};

/// Bayesian optimisation over mixed variables with known constraints: every suggestion feasible, and honest about what is proved of it.
#[derive(Debug, Parser)]
#[command(name = "leafgp", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) common: Common,
    /// No progress and notes on stderr; warnings and errors stay.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Results go to stdout, messages to stderr.\n\
    Exit codes: 0 done; 1 it ran, but there is no answer; 2 bad input; 3 fewer suggestions than asked for; 130 interrupted (state saved).";

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// Seed of every random choice [default: the problem's, else 101].
    #[arg(long, global = true, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented problem file to start from.
    Init(InitArgs),
    /// Validate a problem and its history; find a feasible point or the constraints in conflict.
    Check(CheckArgs),
    /// Suggest the next experiments, and say what is proved of each.
    Suggest(SuggestArgs),
    /// Where things stand: the best so far, what is pending, what failed.
    Status(StatusArgs),
    /// What the model expects at points of a table, and which rules they break; or what a trained tree ensemble predicts there.
    Predict(PredictArgs),
    /// Write the result of an experiment into the history.
    Tell(TellArgs),
    /// Note that an experiment failed.
    Fail(FailArgs),
    /// Take a pending experiment out of the history.
    Cancel(CancelArgs),
    /// Run the closed loop: suggest, evaluate, record.
    Run(RunArgs),
    /// Judge the model: cross-validated errors and importances.
    Fit(FitArgs),
    /// Draw the model or the history as SVG.
    Plot {
        /// What to draw.
        #[command(subcommand)]
        command: PlotCommand,
    },
    /// Solve one acquisition problem to proven optimality.
    Solve(SolveArgs),
    /// Find the best input of a trained tree ensemble (LightGBM, XGBoost, CatBoost, ONNX), with proof.
    Optimize(OptimizeArgs),
    /// Compare methods on problems over many seeds: run, merge, report.
    Study {
        /// What to do with the study.
        #[command(subcommand)]
        command: StudyCommand,
    },
    /// Re-check a proof written by `solve --certificate`, in interval arithmetic.
    Verify(VerifyArgs),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Table,
    /// One JSON object.
    Json,
}

/// How suggestions are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuggestionFormat {
    /// Text for people.
    #[default]
    Table,
    /// One JSON object.
    Json,
    /// Rows for the history, with header.
    Csv,
}

/// The problem file and the history that belongs to it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProblemArgs {
    /// The problem file (TOML).
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    /// The history.
    pub(crate) history: HistoryArgs,
}

/// The history.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HistoryArgs {
    /// The table of experiments (CSV), `-` for stdin [default: FILE.csv beside FILE.toml].
    #[arg(long, value_name = "H.csv")]
    pub(crate) history: Option<PathBuf>,
    /// Go on although every measured row lies outside the bounds.
    #[arg(long)]
    pub(crate) accept_outside: bool,
}

/// Limits of a proof; each wins over the problem file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SolverArgs {
    /// Seconds for one proof [default: 100].
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) time_limit: Option<f64>,
    /// Relative gap at which a proof is complete [default: 1e-4].
    #[arg(long, value_name = "GAP", value_parser = fraction)]
    pub(crate) gap: Option<f64>,
    /// Largest number of nodes of one proof [default: none].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) node_limit: Option<u64>,
    /// Threads, 0 for one on each core; the answer does not depend on it [default: 0].
    #[arg(long, value_name = "K")]
    pub(crate) threads: Option<usize>,
}

/// The method.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PresetArgs {
    /// How suggestions are found, with all settings that go with it; it replaces those of the problem file [default: the problem's, else mixed].
    #[arg(long, value_name = "PRESET", value_parser = preset_words())]
    pub(crate) preset: Option<Preset>,
}

/// `leafgp init`.
#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// The file to write; `-` for stdout.
    #[arg(value_name = "FILE.toml", default_value = "problem.toml")]
    pub(crate) file: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

/// `leafgp check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Seconds for the whole check [default: the problem's, else 100].
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) time_limit: Option<f64>,
    /// Largest number of nodes of each of its questions [default: the problem's, else 10000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) node_limit: Option<u64>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// `leafgp suggest`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuggestArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of experiments to suggest.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub(crate) n: usize,
    /// Add the suggestions to the history as pending experiments.
    #[arg(long)]
    pub(crate) append: bool,
    /// How the suggestions are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: SuggestionFormat,
    /// Write the trees' acquisition problem after the measured experiments to a file (JSON).
    #[arg(long, value_name = "F.json")]
    pub(crate) export_instance: Option<PathBuf>,
    /// The method.
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
    /// Limits of the proof.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

/// `leafgp status`.
#[derive(Clone, Debug, Args)]
pub(crate) struct StatusArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// `leafgp predict`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples: leafgp predict reactor.toml points.csv\n          leafgp predict strength.txt recipes.csv --format csv > predicted.csv"
)]
pub(crate) struct PredictArgs {
    /// A problem file (TOML), whose history is learnt from; or a trained model: LightGBM text, XGBoost JSON or UBJ, CatBoost JSON, ONNX.
    #[arg(value_name = "FILE.toml|MODEL")]
    pub(crate) file: PathBuf,
    /// The history of a problem.
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// The points (CSV): a column for each variable or feature; to a trained model an empty cell is a missing value.
    #[arg(value_name = "POINTS.csv")]
    pub(crate) points: PathBuf,
    /// The class (or target) of a trained model of several, from 0.
    #[arg(long, value_name = "K")]
    pub(crate) class: Option<usize>,
    /// Take the first feature of a trained model to be the first column, and so on, whatever the names.
    #[arg(long)]
    pub(crate) by_position: bool,
    /// How the predictions are printed. For a trained model `table` and `csv` are the given table with a column `prediction`.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: SuggestionFormat,
}

/// `leafgp tell`.
#[derive(Clone, Debug, Args)]
pub(crate) struct TellArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of the experiment, from 1, as `leafgp status` shows it.
    #[arg(value_name = "ROW", value_parser = count)]
    pub(crate) row: usize,
    /// The objective.
    #[arg(value_name = "VALUE", value_parser = number, allow_negative_numbers = true)]
    pub(crate) value: f64,
    /// Replace a value that is there already.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// `leafgp fail`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FailArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of the experiment, from 1, as `leafgp status` shows it.
    #[arg(value_name = "ROW", value_parser = count)]
    pub(crate) row: usize,
    /// Why, for the history's column `failure`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// It is to be run again: the experiment is pending, not failed.
    #[arg(long)]
    pub(crate) retry: bool,
    /// Also when it has a value already.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// `leafgp cancel`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CancelArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of the experiment, from 1, as `leafgp status` shows it.
    #[arg(value_name = "ROW", value_parser = count)]
    pub(crate) row: usize,
}

/// `leafgp run`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("objective").required(true).args(["evaluate", "function"]))]
pub(crate) struct RunArgs {
    /// The problem file (TOML); not needed with --function.
    #[arg(value_name = "FILE.toml", required_unless_present = "function")]
    pub(crate) file: Option<PathBuf>,
    /// The history.
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Number of evaluations that the model suggests; the first design and pending rows come besides.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) iterations: usize,
    /// Shell command that gets a point as a JSON object on stdin and prints the objective as its last line.
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) evaluate: Option<String>,
    /// A built-in benchmark function.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Number of experiments before the model decides [default: 5].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) initial: Option<usize>,
    /// Evaluations at the same time.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = count)]
    pub(crate) parallel: usize,
    /// Seconds after which an evaluation is stopped and has failed [default: none].
    #[arg(long, value_name = "S", value_parser = positive, requires = "evaluate")]
    pub(crate) timeout: Option<f64>,
    /// Go on however many evaluations fail one after the other; otherwise three end the run.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// The method.
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
    /// Limits of each proof.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

/// `leafgp fit`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FitArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Cross-validate with K folds; a row's fold is its index modulo K.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) cv: Option<u32>,
    /// Write the trees, fitted to all measured rows in the objective's units, to a file (JSON).
    #[arg(long, value_name = "MODEL.json")]
    pub(crate) export: Option<PathBuf>,
    /// Instead of fitting, judge the trees of a file on the rows: written by --export, or by LightGBM (text).
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["cv", "export"])]
    pub(crate) model: Option<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// `leafgp solve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SolveArgs {
    /// The acquisition problem (JSON).
    #[arg(value_name = "INSTANCE.json")]
    pub(crate) instance: PathBuf,
    /// Write the proof to a file that `leafgp verify` re-checks; only for a finished proof.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// How the report is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Limits of the proof.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

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

/// `leafgp verify`.
#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The acquisition problem (JSON).
    #[arg(value_name = "INSTANCE.json")]
    pub(crate) instance: PathBuf,
    /// The proof.
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

fn preset_words() -> impl TypedValueParser<Value = Preset> {
    let words = Preset::WORDS.map(|(word, _)| word);
    PossibleValuesParser::new(words).map(|word| {
        let named = Preset::WORDS.into_iter().find(|(known, _)| *known == word);
        named.map_or(Preset::DEFAULT, |(_, preset)| preset)
    })
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| "expected a finite number".to_owned())
}

fn pixels(text: &str) -> Result<f64, String> {
    number(text)
        .ok()
        .filter(|x| (leafgp_study::plot::Size::SMALLEST..=20_000.0).contains(x))
        .ok_or_else(|| format!("expected pixels in {}..=20000", leafgp_study::plot::Size::SMALLEST))
}

fn positive(text: &str) -> Result<f64, String> {
    number(text)?;
    number(text)
        .ok()
        .filter(|x| *x > 0.0 && *x <= 1e9)
        .ok_or_else(|| "expected seconds above 0, at most 1e9".to_owned())
}

fn fraction(text: &str) -> Result<f64, String> {
    number(text)
        .ok()
        .filter(|x| (0.0..=1.0).contains(x))
        .ok_or_else(|| "expected a number in [0, 1]".to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    const LARGEST: usize = 1_000_000;
    let found: Option<usize> = text.parse().ok();
    found
        .filter(|n| (1..=LARGEST).contains(n))
        .ok_or_else(|| format!("expected a whole number in 1..={LARGEST}"))
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }
}
