//! Why a history was refused or could not be written.

use std::fmt;
use std::path::PathBuf;

use crate::problem::ValueError;

/// A refused history: file, line, row and column, what is wrong, what was expected.
///
/// Prints as `file:line: row N, column "name": message; expected ...`. Lines count from 1 with the header, rows count experiments from 1.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct HistoryError {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Number of the experiment, from 1.
    pub row: Option<usize>,
    /// Name of the column.
    pub column: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What was expected; empty when the message says so already.
    pub expected: String,
    /// Lines that could not be written, with their header, so that no result is lost.
    pub unsaved: Option<String>,
    /// What the operating system said.
    pub source: Option<std::io::Error>,
    /// Further mistakes in the same file, in its order.
    pub others: Vec<HistoryError>,
    /// How many more there are that are not told.
    pub n_more: usize,
}

/// Most mistakes told of one file.
const MOST: usize = 10;

impl HistoryError {
    pub(super) fn new(message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { message: message.into(), expected: expected.into(), ..Self::default() }
    }

    /// All mistakes of a file as one error, the first of them at its head; `None` without any.
    pub(super) fn all(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.others.extend(errors.by_ref().take(MOST - 1));
        first.n_more += errors.count();
        Some(first)
    }

    pub(super) fn io(message: impl Into<String>, source: std::io::Error) -> Self {
        Self { message: message.into(), source: Some(source), ..Self::default() }
    }

    pub(super) fn at_line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(super) fn at_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    pub(super) fn at_column(self, column: impl Into<String>) -> Self {
        Self { column: Some(column.into()), ..self }
    }

    /// The same in a file of that name.
    #[must_use]
    pub fn in_file(self, file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        let others = self.others.into_iter().map(|error| error.in_file(file.clone())).collect();
        Self { file: Some(file), others, ..self }
    }
}

impl From<ValueError> for HistoryError {
    fn from(error: ValueError) -> Self {
        Self::new(error.message, error.expected)
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        } else if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        let row = self.row.map(|row| format!("row {row}"));
        let column = self.column.as_ref().map(|column| format!("column {column:?}"));
        let place: Vec<String> = row.into_iter().chain(column).collect();
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&self.message)?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        for error in &self.others {
            write!(f, "\n{error}")?;
        }
        if self.n_more > 0 {
            write!(f, "\nand {} more mistakes", self.n_more)?;
        }
        if let Some(unsaved) = &self.unsaved {
            write!(f, "\nnot saved:\n{}", unsaved.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for HistoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}
