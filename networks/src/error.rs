//! Why there is no value.

use std::path::{Path, PathBuf};

/// Why a point has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The architecture cannot be built; `rule` is the name of the constraint in the problem file, `NAME is whole` for a quantity that must be whole.
    #[error("no such network, by the rule {rule:?}: {why}")]
    Rule {
        /// Name in the problem file.
        rule: String,
        /// The numbers that break it.
        why: String,
    },
    /// The point is not one of the search space.
    #[error("the point is not one of this search space: {0}")]
    Point(String),
    /// Training left the numbers: the learning rate is too high for this architecture.
    #[error("training diverged: the loss is {0}")]
    Diverged(f64),
    /// A data file cannot be read or is not what its name says.
    #[error("{file}: {what}")]
    Data {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An argument without a meaning.
    #[error("{0}")]
    Argument(String),
    /// Of the library for tensors.
    #[error(transparent)]
    Tensor(#[from] candle_core::Error),
}

impl Error {
    pub(crate) fn rule(rule: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Rule { rule: rule.into(), why: why.into() }
    }

    pub(crate) fn data(file: &Path, what: impl ToString) -> Self {
        Self::Data { file: file.to_owned(), what: what.to_string() }
    }
}
