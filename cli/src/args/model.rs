//! Arguments of the commands on trained models.

use std::path::PathBuf;

use clap::Args;

use super::{Format, SolverArgs};

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

/// `leafgp optimize`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp optimize strength.txt --data concrete.csv --maximize --fix age=28")]
pub(crate) struct OptimizeArgs {
    /// The model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A table (CSV) whose columns span the box: smallest to largest value, the categories that occur.
    #[arg(long, value_name = "T.csv", required_unless_present = "problem", conflicts_with = "problem")]
    pub(crate) data: Option<PathBuf>,
    /// A problem file: bounds, steps, categories and every constraint.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) problem: Option<PathBuf>,
    /// Seek the largest prediction [default: the problem's goal].
    #[arg(long, conflicts_with = "minimize")]
    pub(crate) maximize: bool,
    /// Seek the smallest prediction.
    #[arg(long)]
    pub(crate) minimize: bool,
    /// Hold a variable at a value; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) fix: Vec<String>,
    /// List this many distinct cells, best first, proved in that order.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) top: usize,
    /// Limits.
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
