//! Arguments of the commands on trained models.

use std::path::PathBuf;

use clap::Args;

use super::{Format, SolverArgs, positive};

/// A trained model.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArgs {
    /// The model: LightGBM text, XGBoost JSON or UBJ, CatBoost JSON, ONNX.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The class (or target) of a model of several, from 0.
    #[arg(long, value_name = "K")]
    pub(crate) class: Option<usize>,
    /// Take the first feature to be the first variable or column, and so on, whatever the names.
    #[arg(long)]
    pub(crate) by_position: bool,
}

/// Where a model is asked.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SpaceArgs {
    /// A table (CSV) whose columns span the box: smallest to largest value, the categories that occur.
    #[arg(long, value_name = "T.csv")]
    pub(crate) data: Option<PathBuf>,
    /// A problem file: bounds, steps, categories and every constraint.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) problem: Option<PathBuf>,
    /// Hold a variable at a value; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) fix: Vec<String>,
}

/// Which end is sought.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct GoalArgs {
    /// Seek the largest prediction [default: the problem's goal].
    #[arg(long, conflicts_with = "minimize")]
    pub(crate) maximize: bool,
    /// Seek the smallest prediction.
    #[arg(long)]
    pub(crate) minimize: bool,
}

/// `leafgp optimize`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples: leafgp optimize strength.txt --data concrete.csv --maximize --fix age=28\n          \
              leafgp optimize recipe.toml"
)]
pub(crate) struct OptimizeArgs {
    /// The model; or a problem file with [models].
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The box.
    #[command(flatten)]
    pub(crate) space: SpaceArgs,
    /// The direction.
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// List this many distinct cells, best first, proved in that order.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) top: usize,
    /// Write the proof to a file that `leafgp verify` re-checks; only for a finished proof.
    #[arg(long, value_name = "FILE", conflicts_with = "top")]
    pub(crate) certificate: Option<PathBuf>,
    /// Limits.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// `leafgp reach`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples: leafgp reach strength.txt --data concrete.csv --from 17 --target \">= 60\" --fix age=28\n          \
              leafgp reach recipe.toml --from \"cement=300, water=180\" --target \"strength >= 60\""
)]
pub(crate) struct ReachArgs {
    /// The model; or a problem file with [models].
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The box.
    #[command(flatten)]
    pub(crate) space: SpaceArgs,
    /// The setting to start from: a row of --data, from 1; or a value for each variable, as in "flow=3, temp=60".
    #[arg(long, value_name = "ROW")]
    pub(crate) from: String,
    /// What the prediction shall be: ">= 60", "<= 3"; with several models "strength >= 60".
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    /// What a change of a variable by its whole range (or to another level) costs [default: 1]; may be given several times.
    #[arg(long, value_name = "NAME=WEIGHT")]
    pub(crate) cost: Vec<String>,
    /// Limits.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// `leafgp verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples: leafgp verify instance.json instance.proof\n          \
              leafgp verify recipe.toml recipe.proof")]
pub(crate) struct VerifyArgs {
    /// The acquisition problem (JSON); or a trained model or a problem file with [models], with the options that `optimize` had.
    #[arg(value_name = "INSTANCE.json")]
    pub(crate) instance: PathBuf,
    /// The proof.
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,
    /// Seconds after which the check is given up, the proof neither accepted nor wrong; not of a single model [default: none].
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) time_limit: Option<f64>,
    /// Write what the proof stands on (docs/certificate-format.md), for a second verifier such as peers/verify.py; not of a single model.
    #[arg(long, value_name = "FILE")]
    pub(crate) statement: Option<PathBuf>,
    /// Of a trained model: the box.
    #[command(flatten)]
    pub(crate) space: SpaceArgs,
    /// Of a trained model: the direction.
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// Of a trained model: the class, from 0.
    #[arg(long, value_name = "K")]
    pub(crate) class: Option<usize>,
    /// Of a trained model: features by position.
    #[arg(long)]
    pub(crate) by_position: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
