//! Why a problem was refused, and where.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use leafgp_solver::constraints::ExprError;

use super::source::excerpt;

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
    /// Byte range of the offending part within an expression.
    pub(crate) expression_part: Option<Range<usize>>,
    /// Further mistakes of the same problem, in the order of their places.
    pub others: Vec<ProblemError>,
    /// How many more there are that are not told.
    pub n_more: usize,
}

/// Most mistakes told of one problem.
const MOST: usize = 10;

/// Mistakes that are found one after the other, so that all of them can be told at once.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    errors: Vec<ProblemError>,
    /// More of them, which nobody is told of.
    n_more: usize,
}

impl Mistakes {
    /// What was asked for; or nothing, and its mistakes are noted.
    pub(super) fn note<T>(&mut self, result: Result<T, ProblemError>) -> Option<T> {
        let mut error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let others = std::mem::take(&mut error.others);
        self.n_more += std::mem::take(&mut error.n_more);
        self.errors.push(error);
        self.errors.extend(others);
        None
    }

    /// [`Mistakes::note`], but a mistake that only follows from earlier ones is not told.
    pub(super) fn note_unless<T>(
        &mut self,
        result: Result<T, ProblemError>,
        follows: impl FnOnce(&ProblemError) -> bool,
    ) -> Option<T> {
        if result.as_ref().is_err_and(follows) { None } else { self.note(result) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn append(&mut self, mut others: Self) {
        self.errors.append(&mut others.errors);
        self.n_more += others.n_more;
    }

    /// The value, if nothing was wrong; else all mistakes as one error, the first by its place at the head.
    pub(super) fn none_in<T>(mut self, value: Option<T>) -> Result<T, ProblemError> {
        // Those without a place are about the problem as a whole.
        self.errors.sort_by_key(|error| error.position);
        let mut mistakes = self.errors.into_iter();
        let mut first = match (mistakes.next(), value) {
            (None, Some(value)) => return Ok(value),
            (first, _) => first.unwrap_or_default(),
        };
        first.others.extend(mistakes.by_ref().take(MOST - 1));
        first.n_more = self.n_more + mistakes.count();
        Err(first)
    }
}

/// The name as part of a field: quoted unless it is a bare key of TOML.
pub(crate) fn field_name(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { format!("{name:?}") }
}

impl ProblemError {
    /// A mistake in a field (a path such as `variables.x.bounds`; empty for the whole file): what is wrong, and what was expected.
    pub fn new(field: impl Into<String>, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), expected: expected.into(), ..Self::default() }
    }

    /// An error about a part of an expression; shows the expression with carets.
    pub(crate) fn in_expression(field: String, expression: &str, error: ExprError) -> Self {
        let before = expression.get(..error.span.start).unwrap_or(expression);
        let part = expression.get(error.span.clone()).unwrap_or("");
        // Of an expression over several lines, the line that holds the start of the part.
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = expression[line_start..].lines().next().unwrap_or("");
        let column = before[line_start..].chars().count();
        let excerpt = excerpt(line, column, part.lines().next().unwrap_or("").chars().count(), "      | ");
        Self {
            excerpt: Some(excerpt),
            expression_part: Some(error.span),
            ..Self::new(field, error.message, "")
        }
    }

    /// Puts `outer` before the field.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        self.field = if self.field.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.field) };
        self
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
        for error in &self.others {
            write!(f, "\n{error}")?;
        }
        if self.n_more > 0 {
            write!(f, "\nand {} more mistakes", self.n_more)?;
        }
        Ok(())
    }
}

impl std::error::Error for ProblemError {}
