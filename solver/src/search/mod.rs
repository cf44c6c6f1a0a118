//! Branch-and-bound over the cells of a forest, to proven optimality.

mod branching;
mod cells;
mod certify;
mod driver;
mod kernels;
mod links;
mod local;
mod messages;
mod model;
mod node;
mod options;
mod pool;
mod problem;
mod relax;
mod report;
mod subtree;

pub use certify::certify;
pub use options::{ProgressCallback, SearchOptions};
pub use problem::{LeafLimit, Problem};
pub use report::{Incumbent, Progress, Report, Status, StopReason, relative_gap};

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
    /// The problem has parts that certificates do not cover.
    #[error("certificates do not cover {0}")]
    Unsupported(&'static str),
    /// A limit or interrupt ended the work, or a constrained cell could not be decided.
    #[error("the certificate was not finished within the limits")]
    Limit,
}

/// Finds the point with the smallest objective and proves it.
///
/// # Errors
/// A problem whose parts do not fit together, or an option out of range. Infeasibility and limits are outcomes, not errors.
pub fn minimize(problem: &Problem<'_>, options: &SearchOptions) -> Result<Report, SearchError> {
    options.validate()?;
    problem.validate()?;
    driver::run(problem, options)
}
