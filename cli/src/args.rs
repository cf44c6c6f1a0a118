//! What can be typed.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use leafgp::problem::Preset;

mod model;
mod plot;
mod shell;
mod study;
mod wishes;

pub(crate) use model::{GoalArgs, ModelArgs, OptimizeArgs, ReachArgs, SpaceArgs, VerifyArgs};
pub(crate) use plot::{
    PictureArgs, PlotCommand, PlotConvergenceArgs, PlotImportanceArgs, PlotParallelArgs, PlotPredictionsArgs,
    PlotSurfaceArgs,
};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use study::{StudyCommand, StudyMergeArgs, StudyReportArgs, StudyRunArgs};
pub(crate) use wishes::WishArgs;

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
    /// One page about where the experiments stand: HTML, complete in itself, for screen and paper.
    Report(ReportArgs),
    /// Solve one acquisition problem to proven optimality.
    Solve(SolveArgs),
    /// Find the best input of a trained tree ensemble (LightGBM, XGBoost, CatBoost, ONNX), with proof.
    Optimize(OptimizeArgs),
    /// Find the smallest change of a setting after which a trained model promises a target, with proof; or prove that none does.
    Reach(ReachArgs),
    /// Compare methods on problems over many seeds: run, merge, report.
    Study {
        /// What to do with the study.
        #[command(subcommand)]
        command: StudyCommand,
    },
    /// Re-check a proof written by `solve --certificate` or `optimize --certificate`, in interval arithmetic.
    Verify(VerifyArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command.
    Man(ManArgs),
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
#[command(
    after_help = "Examples: leafgp init coating.toml\n          leafgp init --from experiments.csv --goal hardness --maximize"
)]
pub(crate) struct InitArgs {
    /// The file to write; `-` for stdout [default: problem.toml, or the table's name with .toml].
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    /// Make the variables from a table of experiments (CSV): types, bounds with a margin, steps, lists and levels.
    #[arg(long, value_name = "TABLE.csv")]
    pub(crate) from: Option<PathBuf>,
    /// The table's column that holds the result; asked for on a terminal.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) goal: Option<String>,
    /// The goal is to be large.
    #[arg(long, conflicts_with = "minimize")]
    pub(crate) maximize: bool,
    /// The goal is to be small [default].
    #[arg(long)]
    pub(crate) minimize: bool,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

/// `leafgp check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp check coating.toml")]
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
#[command(
    after_help = "Examples: leafgp suggest coating.toml -n 3 --append\n          leafgp suggest coating.toml --fix temperature=95 --fix solvent=water\n          leafgp suggest screen.toml -n 8 --among catalysts.csv --same temperature"
)]
pub(crate) struct SuggestArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of experiments to suggest.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub(crate) n: usize,
    /// What they must be like.
    #[command(flatten)]
    pub(crate) wishes: WishArgs,
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
#[command(after_help = "Example: leafgp status coating.toml")]
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
#[command(after_help = "Example: leafgp tell coating.toml 14 61.5")]
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
#[command(after_help = "Example: leafgp fail coating.toml 15 --reason 'stirrer stuck'")]
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
#[command(after_help = "Example: leafgp cancel coating.toml 16")]
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
#[command(
    after_help = "Examples: leafgp run coating.toml --iterations 20 --evaluate ./measure.sh --until-gain 0.5\n          leafgp run --function branin --iterations 20"
)]
#[command(group = clap::ArgGroup::new("objective").required(true).args(["evaluate", "function"]))]
pub(crate) struct RunArgs {
    /// The problem file (TOML); not needed with --function.
    #[arg(value_name = "FILE.toml", required_unless_present = "function")]
    pub(crate) file: Option<PathBuf>,
    /// The history.
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Number of evaluations after what is missing of the first design; pending rows are measured first, and count.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) iterations: usize,
    /// Shell command that gets a point as a JSON object on stdin and prints the objective as its last line.
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) evaluate: Option<String>,
    /// A built-in benchmark function.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Measure only with this value of a variable; may be given several times. Pending rows with another value are left alone.
    #[arg(long, value_name = "NAME=VALUE", value_parser = wishes::assignment)]
    pub(crate) fix: Vec<(String, String)>,
    /// Number of experiments before the model decides [default: 5].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) initial: Option<usize>,
    /// Evaluations at the same time.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = count)]
    pub(crate) parallel: usize,
    /// Seconds after which an evaluation is stopped and has failed [default: none].
    #[arg(long, value_name = "S", value_parser = positive, requires = "evaluate")]
    pub(crate) timeout: Option<f64>,
    /// Stop as soon as no feasible setting promises to be better than the best value by more than this, in the objective's units: proved by the trees' model.
    #[arg(long, value_name = "G", value_parser = gain)]
    pub(crate) until_gain: Option<f64>,
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
#[command(after_help = "Example: leafgp fit coating.toml --cv 5")]
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

/// `leafgp report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp report coating.toml -o report.html")]
pub(crate) struct ReportArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The file to write; `-` for stdout.
    #[arg(short, long, value_name = "FILE.html", default_value = "-")]
    pub(crate) output: PathBuf,
    /// The method.
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

/// `leafgp solve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp solve instance.json --certificate proof")]
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

fn gain(text: &str) -> Result<f64, String> {
    number(text).ok().filter(|x| *x >= 0.0).ok_or_else(|| "expected a finite number, at least 0".to_owned())
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
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// The commands without commands of their own, with their names from the first on.
    fn commands(command: &clap::Command, name: &str) -> Vec<(String, clap::Command)> {
        let below: Vec<_> = command
            .get_subcommands()
            .flat_map(|sub| commands(sub, &format!("{name} {}", sub.get_name())))
            .collect();
        if below.is_empty() { vec![(name.to_owned(), command.clone())] } else { below }
    }

    /// The words of a line as a shell makes them, up to where its output goes.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, '>') => break,
                (None, ' ') => words.extend(word.take()),
                _ => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_help_has_an_example_of_its_command_that_can_be_typed() {
        let all = commands(&Arguments::command(), "leafgp");
        assert!(all.len() >= 24, "{}", all.len());
        for (name, command) in all {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help
                .lines()
                .map(|line| line.trim_start_matches("Examples: ").trim_start_matches("Example: ").trim())
                .collect();
            assert!(!examples.is_empty(), "{name} has no example");
            for example in examples {
                assert!(example.starts_with(&name), "{name}: {example}");
                let parsed = Arguments::try_parse_from(words(example));
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }
}
