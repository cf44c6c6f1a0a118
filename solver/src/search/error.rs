//! Why a search or a certificate was refused.

use crate::problem::ProblemError;

/// Why a search was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The problem's parts do not fit together.
    #[error("problem: {0}")]
    Problem(String),
    /// A setting is out of range.
    #[error("search options: {0}")]
    Options(String),
}

impl From<ProblemError> for SearchError {
    fn from(error: ProblemError) -> Self {
        Self::Problem(error.0)
    }
}

/// Why a certificate was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The problem or the options are refused.
    #[error(transparent)]
    Search(SearchError),
    /// The report's status is neither optimal nor infeasible.
    #[error("only a finished proof (status optimal or infeasible) can be certified")]
    NotProved,
    /// Forward evaluation finds no lower bound of an objective over predictions, or of it with a constraint's multiple.
    #[error("the objective has no bound over the whole box that a certificate could start from")]
    Learned,
    /// A limit or interrupt ended the work, or a constrained cell could not be decided.
    #[error("the certificate was not finished within the limits")]
    Limit,
}
