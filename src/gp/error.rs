//! What can go wrong in a fit.

/// Why a Gaussian process was not fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpError {
    /// A setting or hyperparameter is outside its range.
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
    /// The points have too few columns for the forest.
    #[error("the points have {columns} columns; tree {tree}, node {node} asks feature {feature}")]
    Columns {
        /// Columns of the points.
        columns: usize,
        /// Tree index.
        tree: usize,
        /// Node index.
        node: usize,
        /// The feature asked.
        feature: usize,
    },
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
    /// A target is NaN or infinite.
    #[error("target {row} is {value}; expected a finite number")]
    Target {
        /// Row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The eigenvalue iteration did not converge.
    #[error("the eigendecomposition of a {size} x {size} kernel matrix did not converge")]
    Eigen {
        /// Number of rows.
        size: usize,
    },
    /// The limits ended the fit.
    #[error("the limits ended the fit")]
    Stopped,
}
