//! Why a command ended early.

use std::fmt;
use std::io;
use std::path::Path;

/// Ends a command before its regular end.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something the user gave cannot be used: exit code 2.
    Input(String),
    /// It ran, but found nothing; the message says why: exit code 1.
    NoAnswer(String),
    /// Stopped by the user, with everything saved: exit code 130.
    Interrupted(String),
    /// The reader of stdout went away, as `head` does: exit code 0 without a word.
    ClosedPipe,
}

impl Failure {
    /// Bad input, in its own words.
    pub(super) fn input(error: impl fmt::Display) -> Self {
        Self::Input(error.to_string())
    }

    /// A file that cannot be used, by its name.
    pub(super) fn file(path: &Path, error: impl fmt::Display) -> Self {
        Self::Input(format!("{}: {error}", path.display()))
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::NoAnswer(_) => 1,
            Self::Input(_) => 2,
            Self::Interrupted(_) => 130,
        }
    }

    pub(super) fn message(&self) -> Option<&str> {
        match self {
            Self::Input(message) | Self::NoAnswer(message) | Self::Interrupted(message) => Some(message),
            Self::ClosedPipe => None,
        }
    }
}

impl From<io::Error> for Failure {
    /// Errors of writing to stdout.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(format!("the result cannot be written: {error}")),
        }
    }
}

impl From<leafgp::problem::ProblemError> for Failure {
    fn from(error: leafgp::problem::ProblemError) -> Self {
        Self::input(error)
    }
}

impl From<leafgp::history::HistoryError> for Failure {
    fn from(error: leafgp::history::HistoryError) -> Self {
        Self::input(error)
    }
}

impl From<leafgp::engine::EngineError> for Failure {
    /// No answer where the search ran and found none; bad input otherwise.
    fn from(error: leafgp::engine::EngineError) -> Self {
        use leafgp::engine::EngineError::{
            ExhaustedWith, FailuresInARow, Infeasible, NoCandidate, NoIncumbent, SpaceExhausted,
        };
        match error {
            FailuresInARow { .. } => Self::NoAnswer(format!("{error}; --keep-going goes on whatever fails")),
            Infeasible { .. }
            | NoIncumbent { .. }
            | SpaceExhausted
            | ExhaustedWith { .. }
            | NoCandidate { .. } => Self::NoAnswer(error.to_string()),
            _ => Self::input(error),
        }
    }
}
