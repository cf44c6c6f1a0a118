//! Why a study cannot go on.

use std::io;
use std::path::{Path, PathBuf};

use leafgp::engine::EngineError;
use leafgp::history::HistoryError;
use leafgp::problem::ProblemError;

/// Why a study, or one of its runs, ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The spec, or a problem file it names, is refused: file, field, what was expected.
    #[error(transparent)]
    Spec(#[from] ProblemError),
    /// A table it names is refused.
    #[error(transparent)]
    Table(#[from] HistoryError),
    /// A file or folder of the study cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the study holds something else than it should.
    #[error("{}: {message}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// The engine has no next point.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An external process broke the protocol, ended or fell silent.
    #[error("{0}")]
    External(String),
    /// Studies or shards that do not belong together.
    #[error("{0}")]
    Mixed(String),
    /// No feasible first points were found.
    #[error("{0}")]
    NoInitialPoint(String),
}

impl StudyError {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }

    pub(super) fn content(path: &Path, message: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), message: message.into() }
    }
}

/// What was read from a file; `None` when there is no such file.
pub(super) fn if_there<T>(path: &Path, content: io::Result<T>) -> Result<Option<T>, StudyError> {
    match content {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StudyError::file(path)(error)),
    }
}
