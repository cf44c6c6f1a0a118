//! Acquisition instances: one proposal step as a JSON file.
//!
//! An instance holds everything the solver needs to repeat one step: variables, trees, training data, hyperparameters and constraints. The
//! problem is to minimise `mu(x) - kappa * sigma(x)` of the [tree-kernel process](crate::gp) over the variables' domains and the
//! constraints. One object with the keys
//!
//! | key | meaning |
//! |---|---|
//! | `name` | text |
//! | `kappa` | weight of the deviation, a number `>= 0` |
//! | `signal_variance`, `noise_variance` | hyperparameters, numbers from 1e-90 to 1e90 |
//! | `variables` | list of `{type, ...}`, see below |
//! | `trees` | list of trees; a tree is a list of nodes, node 0 the root: `{feature, threshold, left, right}` (`<=` goes left), `{feature, categories, left, right}` (listed levels go left) or `{leaf, value}` |
//! | `X`, `y` | training points `[n_rows, n_variables]` (a category stands as its level index) and standardised targets `[n_rows]` |
//! | `constraints` | optional list of expressions over `x0, x1, ...` or over the variables' names; an entry may also be `{name, expr}` |
//! | `define` | optional list of `{name, expr, integer}`: quantities that later expressions may name |
//! | `mean` | optional prior mean, default 0 |
//! | `variance` | optional, `"latent"` (default) or `"observed"` |
//! | `pending` | optional list of points: experiments under way, believed at their predicted means; no answer lies in their cells |
//! | `failed` | optional list of points: no answer lies in their cells |
//! | `max_agreement` | optional number in `[0, 1]`: largest share of trees in which the answer may share a leaf with any one point of `X` or `pending` |
//! | `sampled` | optional, ignored, kept |
//!
//! A variable is `{type: "continuous" | "integer", lower, upper}`, a continuous one optionally with `step` (only `lower + k * step`),
//! `{type: "binary"}`, `{type: "discrete", values}` (ascending numbers) or `{type: "categorical", categories: K}` with levels `0..K-1`,
//! optionally with their names in `levels`. Every variable may have a `name` (default `x0`, `x1`, ...) and, when it is hierarchical,
//! `active_if` (an expression) with `inactive_value`. Any other key is refused.

mod build;
mod read;
mod write;

use std::path::{Path, PathBuf};

use leafgp_solver::Forest;
use leafgp_solver::constraints::Variable;

use crate::Table;
use crate::file::{not_text, read_whole, write_whole};
use crate::gp::{Hyperparameters, VarianceKind};

pub use crate::problem::{Definition, NamedExpression};

/// One acquisition problem as read from or written to a file.
///
/// ```
/// use leafgp::instance::Instance;
/// use leafgp::solver::{SearchOptions, minimize};
///
/// let text = r#"{"name": "step", "kappa": 0.0, "signal_variance": 1.0, "noise_variance": 0.1,
///   "variables": [{"type": "continuous", "lower": 0, "upper": 1}],
///   "trees": [[{"feature": 0, "threshold": 0.5, "left": 1, "right": 2}, {"leaf": 0, "value": 0}, {"leaf": 1, "value": 0}]],
///   "X": [[0.2], [0.9]], "y": [1.1, -1.1]}"#;
/// let instance = Instance::parse(text, "step.json")?;
/// let problem = instance.problem()?;
/// // One row a leaf: the mean is the target, shrunk by the noise.
/// assert!((problem.evaluate(&[0.9]).mean + 1.0).abs() < 1e-9);
/// let report = minimize(&problem.search(), &SearchOptions::default()).unwrap();
/// assert!(report.incumbent.unwrap().x[0] > 0.5);
/// assert_eq!(Instance::parse(&instance.to_json(), "again")?, instance);
/// # Ok::<(), leafgp::instance::InstanceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Weight of the deviation, `>= 0`.
    pub kappa: f64,
    /// The kernel's hyperparameters and the prior mean.
    pub hyperparameters: Hyperparameters,
    /// Whose variance the deviation belongs to.
    pub variance: VarianceKind,
    /// The variables, in the order of points.
    pub variables: Vec<Variable>,
    /// For each variable, where it is active; `None` for always.
    pub active_if: Vec<Option<ActiveIf>>,
    /// The trees.
    pub forest: Forest,
    /// Training points, `[n_rows, n_variables]`.
    pub x: Table,
    /// Standardised targets, `[n_rows]`.
    pub y: Vec<f64>,
    /// Named quantities for the expressions, in order.
    pub define: Vec<Definition>,
    /// The known constraints.
    pub constraints: Vec<NamedExpression>,
    /// Experiments under way, `[n_pending, n_variables]`: believed at their predicted means, their cells excluded.
    pub pending: Table,
    /// Experiments without a value, `[n_failed, n_variables]`: their cells are excluded.
    pub failed: Table,
    /// Largest share of trees in which the answer may share a leaf with any one row of `x` or `pending`, `[0, 1]`; `None` for no limit.
    pub max_agreement: Option<f64>,
    /// The key `sampled` as found: a sampled point for comparison.
    pub sampled: Option<serde_json::Value>,
}

/// Where a hierarchical variable is active, and what it is elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveIf {
    /// A condition on other variables.
    pub condition: String,
    /// The value (or level index) it takes when the condition is false.
    pub inactive_value: f64,
}

/// Why an instance was refused. Every message names the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is no JSON.
    #[error("{file}: no valid JSON: {message}")]
    Json {
        /// The file's name.
        file: String,
        /// What and where (line and column).
        message: String,
    },
    /// A value is missing, of the wrong kind or out of range.
    #[error("{file}: {at}: {problem}")]
    Value {
        /// The file's name.
        file: String,
        /// Where, as a path of keys and indices such as `trees[3][5].threshold`.
        at: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A tree is malformed.
    #[error("{file}: {source}")]
    Forest {
        /// The file's name.
        file: String,
        /// Which tree and node, and why.
        source: leafgp_solver::ForestError,
    },
    /// The process cannot be conditioned on the data.
    #[error("{name}: {source}")]
    Gp {
        /// The instance's name.
        name: String,
        /// The reason.
        source: crate::gp::GpError,
    },
    /// An expression was refused.
    #[error("{name}: {at} `{text}`: {source}")]
    Expression {
        /// The instance's name.
        name: String,
        /// Which expression, such as `constraints[2]`.
        at: String,
        /// The expression.
        text: String,
        /// What is wrong.
        source: leafgp_solver::constraints::ExprError,
    },
}

impl Instance {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// An unreadable file, invalid JSON, an unknown or missing key, a value of the wrong kind or out of range, a malformed tree: with the
    /// file and the place in it. Expressions are checked by [`Instance::constraints`].
    pub fn read(path: &Path) -> Result<Self, InstanceError> {
        let file = |source| InstanceError::File { path: path.to_path_buf(), source };
        let bytes = read_whole(path).map_err(file)?;
        let text = String::from_utf8(bytes).map_err(|_| file(not_text()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads and checks an instance from its text; `file` stands in messages.
    ///
    /// # Errors
    /// As [`Instance::read`].
    pub fn parse(text: &str, file: &str) -> Result<Self, InstanceError> {
        read::parse(text, file)
    }

    /// The text of the file: one JSON object, numbers with all digits that matter.
    pub fn to_json(&self) -> String {
        write::to_value(self).to_string()
    }

    /// Writes the file, through a temporary file in the same folder that is renamed when complete.
    ///
    /// # Errors
    /// The system's reason when the folder or file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), InstanceError> {
        let text = self.to_json() + "\n";
        write_whole(path, text.as_bytes())
            .map_err(|source| InstanceError::File { path: path.to_path_buf(), source })
    }
}

#[cfg(test)]
mod tests;
