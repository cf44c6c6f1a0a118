//! Why a model was not read, bound to variables or optimised.

use leafgp_constraints::ExprError;
use leafgp_solver::{ForestError, SearchError};

/// What can be wrong with a model file, with the variables it is bound to, or with a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be opened or read.
    #[error("{path}: {problem}")]
    File {
        /// The path given.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// The content is damaged, or is no model of a known format.
    #[error("{place}: {problem}")]
    Format {
        /// Line, tree and node, or byte.
        place: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The file is in order, but its prediction is not a sum of leaves that could be optimised, or needs a choice first.
    #[error("{kind}: {reason}")]
    Unsupported {
        /// The right name of the kind of model.
        kind: String,
        /// Why it is refused, and what to do about it.
        reason: String,
    },
    /// The model's features and the variables do not match by name.
    #[error("{problem}; the model's features: {features:?}; the variables: {variables:?}")]
    Names {
        /// Which name has no counterpart.
        problem: String,
        /// All features of the model, in its order.
        features: Vec<String>,
        /// All variables, in their order.
        variables: Vec<String>,
    },
    /// The model's categories and a variable's levels do not match by label.
    #[error("feature {feature:?}: {problem}; the model's categories: {categories:?}; the levels: {levels:?}")]
    Labels {
        /// The feature.
        feature: String,
        /// Which label has no counterpart.
        problem: String,
        /// All labels of the model.
        categories: Vec<String>,
        /// All levels of the variable.
        levels: Vec<String>,
    },
    /// The variables cannot carry the model, or a column gives no box.
    #[error("feature {feature:?}: {problem}")]
    Feature {
        /// The feature.
        feature: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// A cell of a table cannot be used.
    #[error("{error}")]
    Cell {
        /// Row, from 1.
        row: usize,
        /// What is wrong; names the row too.
        error: Box<ModelError>,
    },
    /// The trees would become too large for the box.
    #[error(
        "within this box the trees have more than {limit} leaves: splits that treat zero as missing repeat what lies below them"
    )]
    TooLarge {
        /// Largest number of leaves.
        limit: usize,
    },
    /// A constraint, definition or objective of a problem with models is refused.
    #[error("{name}: {error}")]
    Expression {
        /// Its name.
        name: String,
        /// Why, and where in its text.
        error: ExprError,
    },
    /// The solver's forest is refused.
    #[error(transparent)]
    Forest(#[from] ForestError),
    /// The search is refused.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl ModelError {
    pub(crate) fn format(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Format { place: place.into(), problem: problem.into() }
    }

    pub(crate) fn expression(name: &str, error: ExprError) -> Self {
        Self::Expression { name: name.to_owned(), error }
    }

    pub(crate) fn unsupported(kind: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Unsupported { kind: kind.into(), reason: reason.into() }
    }
}
