//! What can go wrong in a fit.

/// Why a smooth process was not fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmoothError {
    /// A setting is outside its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// The field.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// The targets do not match the points.
    #[error("{rows} points but {targets} targets; expected one target a point")]
    Length {
        /// Number of points.
        rows: usize,
        /// Number of targets.
        targets: usize,
    },
    /// The points do not match the variables.
    #[error("the points have {columns} columns; expected {expected}, one a variable")]
    Columns {
        /// Columns of the points.
        columns: usize,
        /// Number of variables.
        expected: usize,
    },
    /// There is nothing to learn from.
    #[error("the process needs at least one row")]
    NoRows,
    /// A coordinate is NaN or infinite.
    #[error("row {row}, column {column} is {value}; expected a finite number")]
    Point {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A target is too large or no number.
    #[error("target {row} is {value}; expected a standardised one, at most 1e100 in magnitude")]
    Target {
        /// Row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The correlation matrix could not be factorised, whatever the nugget.
    #[error("the correlation matrix of {rows} rows could not be factorised")]
    Factor {
        /// Number of rows.
        rows: usize,
    },
}
