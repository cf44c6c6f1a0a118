//! Why a fit or an import was refused.

use leafgp_solver::ForestError;

/// What can be wrong with the input of the trainer or with a model file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GbdtError {
    /// A setting is outside its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// Name of the field of [`GbdtSettings`](super::GbdtSettings).
        name: &'static str,
        /// The value given.
        value: String,
        /// The allowed range.
        expected: &'static str,
    },
    /// There are no rows to learn from.
    #[error("the table has no rows; a fit needs at least one")]
    NoRows,
    /// More rows than row numbers of 32 bits can hold.
    #[error("the table has {n_rows} rows; at most {limit} are supported")]
    TooManyRows {
        /// Number of rows given.
        n_rows: usize,
        /// The largest number supported.
        limit: usize,
    },
    /// Two inputs that belong together differ in length.
    #[error("{what} has length {found}; expected {expected}")]
    Length {
        /// Which input.
        what: &'static str,
        /// The length that would fit.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// A value of the table cannot be used.
    #[error("row {row}, column {column}: the value {value} {problem}")]
    Value {
        /// Row index, from 0.
        row: usize,
        /// Column index, from 0.
        column: usize,
        /// The value.
        value: f64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A target is NaN or infinite.
    #[error("row {row}: the target is {value}; expected a finite number")]
    Target {
        /// Row index, from 0.
        row: usize,
        /// The target.
        value: f64,
    },
    /// A weight is negative, NaN or too large, or all weights are zero.
    #[error(
        "row {row}: the weight is {value}; expected a number in [0, 1e30] and at least one positive weight"
    )]
    Weight {
        /// Row index, from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A tree asks for the direction of missing values, which the solver's forests do not have.
    #[error(
        "tree {tree} sends missing values in a direction of their own; a forest for the solver has no such rule"
    )]
    MissingDirection {
        /// Tree index, from 0.
        tree: usize,
    },
    /// The trees do not fit the domains.
    #[error("the trees do not fit the variables: {0}")]
    Forest(#[from] ForestError),
    /// A model file cannot be read.
    #[error("line {line}: {problem}")]
    Format {
        /// Line number, from 1; 0 when the whole file is meant.
        line: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
}
