//! Arguments of `leafgp plot`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{HistoryArgs, ProblemArgs, SolverArgs, count, pixels};

/// `leafgp plot`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PlotCommand {
    /// Mean, standard deviation and acquisition over two variables, as heat maps.
    Surface(PlotSurfaceArgs),
    /// The best value so far over the experiments, of one or more histories.
    Convergence(PlotConvergenceArgs),
    /// Every experiment as a line across the variables and the objective.
    Parallel(PlotParallelArgs),
    /// How much each variable matters: gain, splits, and the error when its values are shuffled.
    Importance(PlotImportanceArgs),
    /// Measured against predicted by the model that chooses the points, each row predicted without having been seen.
    Predictions(PlotPredictionsArgs),
}

/// Where a picture goes, and its size.
#[derive(Clone, Debug, Args)]
pub(crate) struct PictureArgs {
    /// The file to write; `-` for stdout.
    #[arg(short, long, value_name = "FILE.svg", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Width in pixels [default: what suits the picture].
    #[arg(long, value_name = "PX", value_parser = pixels)]
    pub(crate) width: Option<f64>,
    /// Height in pixels [default: what suits the picture].
    #[arg(long, value_name = "PX", value_parser = pixels)]
    pub(crate) height: Option<f64>,
    /// The title [default: the problem's name]; may be empty.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}

/// `leafgp plot surface`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp plot surface coating.toml -o surface.svg")]
pub(crate) struct PlotSurfaceArgs {
    /// The problem file (TOML); not needed with --function.
    #[arg(value_name = "FILE.toml", required_unless_present = "function")]
    pub(crate) file: Option<PathBuf>,
    /// The history.
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// A built-in benchmark function, whose contour lines are drawn.
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Instead of a history, this many uniform random points of the function.
    #[arg(long, value_name = "N", requires = "function", conflicts_with = "history", value_parser = count)]
    pub(crate) sample: Option<usize>,
    /// The horizontal variable [default: of the two that matter most, the first].
    #[arg(short, long, value_name = "NAME")]
    pub(crate) x: Option<String>,
    /// The vertical variable [default: of the two that matter most, the second].
    #[arg(short, long, value_name = "NAME")]
    pub(crate) y: Option<String>,
    /// Fix another variable at a value instead of the best experiment's; repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) at: Vec<String>,
    /// Do not look for the next experiment.
    #[arg(long)]
    pub(crate) no_suggestion: bool,
    /// Limits of the next experiment's proof.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// `leafgp plot convergence`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp plot convergence coating.toml -o progress.svg")]
pub(crate) struct PlotConvergenceArgs {
    /// The problem file (TOML).
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    /// A table of experiments (CSV); repeatable [default: FILE.csv beside FILE.toml].
    #[arg(long, value_name = "H.csv")]
    pub(crate) history: Vec<PathBuf>,
    /// Logarithmic axis of the objective.
    #[arg(long)]
    pub(crate) log: bool,
    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// `leafgp plot parallel`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp plot parallel coating.toml --best 3 -o rows.svg")]
pub(crate) struct PlotParallelArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// How many of the best experiments stand out.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count)]
    pub(crate) best: usize,
    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// `leafgp plot importance`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp plot importance coating.toml -o variables.svg")]
pub(crate) struct PlotImportanceArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// `leafgp plot predictions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp plot predictions coating.toml --cv 5 -o predictions.svg")]
pub(crate) struct PlotPredictionsArgs {
    /// Problem and history.
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// Number of folds; a row's fold is its index modulo K.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) cv: u32,
    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}
