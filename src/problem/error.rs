//! Why a problem was refused, and where.

use std::fmt;
use std::path::PathBuf;

/// A refused problem: file, place, field, what is wrong, what was expected.
///
/// Prints as `file:line:column: field: message; expected ...`, followed by the line with a caret when the problem came from text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ProblemError {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// Line and column, both from 1, columns in characters.
    pub position: Option<(usize, usize)>,
    /// The field, for instance `variables.radius.bounds`; empty when the file as a whole is meant.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What was expected; empty when the message says so already.
    pub expected: String,
    /// The offending line and carets under the offending part, ready to print.
    pub excerpt: Option<String>,
}

impl ProblemError {
    /// An error about a field, without a place.
    pub(crate) fn new(
        field: impl Into<String>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), message: message.into(), expected: expected.into(), ..Self::default() }
    }
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some((line, column)) = self.position {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProblemError {}
