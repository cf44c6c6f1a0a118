//! The history: the table of experiments, a CSV file that people and spreadsheets edit too.
//!
//! Reading never changes the file. Writing goes through [`HistoryFile`]: under a lock the file is read again, the new rows or values go into
//! that newest text, and a complete new file replaces the old one in a single rename. All other cells, blank lines, quotes, separators, decimal
//! marks and line ends stay byte for byte as they were.

mod dialect;
mod document;
mod error;
mod file;
mod lock;
mod sheet;

use std::path::Path;

use crate::problem::Problem;

pub use dialect::Dialect;
pub use error::HistoryError;
pub use file::HistoryFile;
pub use sheet::csv_text;

/// What is known of one experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It was run and gave this value, in the objective's own units and direction.
    Done(f64),
    /// It is planned or running.
    Pending,
    /// It was run and gave no value.
    Failed,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Line in the file, from 1 (the header is usually line 1); 0 for a row that is not in a file.
    pub line: usize,
    /// The point in variable order; inactive variables hold their inactive value.
    pub point: Vec<f64>,
    /// What is known of it.
    pub outcome: Outcome,
    /// True when the point lies outside a variable's box, grid or list: kept for training, never `best`.
    pub out_of_domain: bool,
    /// True when a constraint is violated beyond the tolerance for rows ([`Tolerance::Judge`](leafgp_solver::constraints::Tolerance)):
    /// kept for training, never `best`.
    pub violates: bool,
}

impl Row {
    /// The value, when the experiment is done.
    pub fn value(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Done(value) => Some(value),
            _ => None,
        }
    }

    /// True when the row may be `best`: done, in the domains, feasible.
    pub fn is_eligible(&self) -> bool {
        self.value().is_some() && !self.out_of_domain && !self.violates
    }
}

/// The experiments known so far.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct History {
    /// The experiments, in file order.
    pub rows: Vec<Row>,
    /// How the file is written.
    pub dialect: Dialect,
    /// What is legal but should be known, one sentence each with the numbers of the rows.
    pub warnings: Vec<String>,
}

impl History {
    /// Reads a history; a file that does not exist is an empty history with a warning.
    ///
    /// # Errors
    /// Everything that makes the file unreadable or ambiguous, with line and column.
    pub fn read(path: &Path, problem: &Problem) -> Result<Self, HistoryError> {
        HistoryFile::new(path).read(problem)
    }

    /// Reads a history from the bytes of a file.
    ///
    /// # Errors
    /// As [`History::read`], without the file's name.
    pub fn from_bytes(bytes: &[u8], problem: &Problem) -> Result<Self, HistoryError> {
        sheet::Sheet::parse(bytes, problem)?.interpret(problem)
    }

    /// A history made in code; see [`History::push`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an experiment; inactive variables take their inactive value, and the row is judged against the domains and constraints.
    ///
    /// # Panics
    /// When the point's length is not the number of variables.
    pub fn push(&mut self, problem: &Problem, point: &[f64], outcome: Outcome) {
        assert_eq!(point.len(), problem.variables.len(), "one coordinate for each variable");
        let mut point = point.to_vec();
        problem.constraints.deactivate(&mut point);
        self.rows.push(sheet::judged(problem, 0, point, outcome));
    }

    /// The best eligible row: the first of the best values in the problem's direction.
    pub fn best(&self, problem: &Problem) -> Option<&Row> {
        let goal = problem.objective.goal;
        let better = |value: f64, best: Option<&Row>| {
            best.and_then(Row::value).is_none_or(|best_value| goal.is_better(value, best_value))
        };
        self.rows.iter().filter(|row| row.is_eligible()).fold(None, |best, row| match row.value() {
            Some(value) if better(value, best) => Some(row),
            _ => best,
        })
    }
}
