//! The history: the table of experiments, a CSV file that people and spreadsheets edit too.
//!
//! Reading never changes the file. Writing goes through [`HistoryFile`]: under a lock the file is read again, the new rows or values go into
//! that newest text, and a complete new file replaces the old one in a single rename. All other cells, blank lines, quotes, separators, decimal
//! marks and line ends stay byte for byte as they were.

mod claims;
mod columns;
mod dialect;
mod document;
mod error;
mod file;
mod forecasts;
mod header;
mod judge;
mod lock;
mod notes;
mod numbered;
mod points;
mod settle;
mod sheet;

use std::path::Path;

use crate::problem::{Problem, ValueError};

use settle::settled;

pub use claims::Claims;
pub use columns::Columns;
pub use dialect::Dialect;
pub use document::quoted;
pub use error::HistoryError;
pub use file::HistoryFile;
pub use forecasts::{Forecast, forecast_of_rows};
pub use judge::{Judgement, judge};
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
#[non_exhaustive]
pub struct Row {
    /// Line in the file, from 1 (the header is usually line 1); 0 for a row that is not in a file.
    pub line: usize,
    /// The point in variable order, a category as its level index; inactive variables hold their inactive value.
    pub point: Vec<f64>,
    /// What is known of it.
    pub outcome: Outcome,
    /// True when the point lies outside a variable's box or list, or more than half a step from its grid: kept for training, never `best`.
    pub out_of_domain: bool,
    /// True when a constraint is violated beyond the tolerance for rows ([`judge`]): kept for training, never `best`.
    pub violates: bool,
    /// Why it failed, or what else its column `failure` says; `None` for nothing.
    pub failure: Option<String>,
}

impl Row {
    /// An experiment that is in no file: inactive variables take their inactive value, and the point is judged against domains and constraints.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level, a value that is not finite.
    pub fn new(problem: &Problem, point: &[f64], outcome: Outcome) -> Result<Self, ValueError> {
        problem.check_point(point)?;
        if let Outcome::Done(value) = outcome
            && !value.is_finite()
        {
            return Err(ValueError {
                message: format!("the value is {value}"),
                expected: "a finite number (tell a failed experiment as such)".to_owned(),
            });
        }
        let domains = problem.constraints().domains();
        let mut point: Vec<f64> = domains.iter().zip(point).map(|(domain, &x)| settled(domain, x)).collect();
        problem.constraints().deactivate(&mut point);
        Ok(Self::judged(problem, 0, point, outcome))
    }

    /// A row with its judgement; inactive variables hold their inactive value already.
    fn judged(problem: &Problem, line: usize, point: Vec<f64>, outcome: Outcome) -> Self {
        let Judgement { outside, violations, .. } = judge(problem, &point);
        let (out_of_domain, violates) = (!outside.is_empty(), !violations.is_empty());
        Self { line, point, outcome, out_of_domain, violates, failure: None }
    }

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

/// The best experiment so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Index of its row, from 0.
    pub row: usize,
    /// Its point.
    pub point: Vec<f64>,
    /// The measured objective, in the user's direction.
    pub value: f64,
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

    /// A history made in code; see [`History::push`] and [`History::record`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an experiment; see [`Row::new`].
    ///
    /// # Errors
    /// As [`Row::new`]. Nothing is added then.
    pub fn push(&mut self, problem: &Problem, point: &[f64], outcome: Outcome) -> Result<(), ValueError> {
        self.rows.push(Row::new(problem, point, outcome)?);
        Ok(())
    }

    /// Tells what is known of an experiment: fills in the first pending row at the point, or adds a row when there is none (any more). The same rule as
    /// [`HistoryFile::record`] on disk.
    ///
    /// # Errors
    /// As [`Row::new`]. Nothing changes then.
    pub fn record(&mut self, problem: &Problem, point: &[f64], outcome: Outcome) -> Result<(), ValueError> {
        let row = Row::new(problem, point, outcome)?;
        match self.pending_at(&row.point) {
            Some(index) => self.rows[index].outcome = outcome,
            None => self.rows.push(row),
        }
        Ok(())
    }

    /// Takes back a planned experiment: removes the first pending row at the point. False when there is none.
    ///
    /// # Errors
    /// As [`Row::new`].
    pub fn cancel(&mut self, problem: &Problem, point: &[f64]) -> Result<bool, ValueError> {
        let row = Row::new(problem, point, Outcome::Pending)?;
        let pending = self.pending_at(&row.point);
        if let Some(index) = pending {
            self.rows.remove(index);
        }
        Ok(pending.is_some())
    }

    /// The first pending row at a point whose inactive variables hold their inactive value: the row that an outcome resolves.
    fn pending_at(&self, point: &[f64]) -> Option<usize> {
        self.rows.iter().position(|row| row.outcome == Outcome::Pending && row.point == point)
    }

    /// The best eligible row: the first of the best values in the problem's direction.
    pub fn best(&self, problem: &Problem) -> Option<Best> {
        let values = self.rows.iter().map(|row| row.value().filter(|_| row.is_eligible()));
        let (row, value) = problem.objective().goal.best(values)?;
        Some(Best { row, point: self.rows[row].point.clone(), value })
    }
}
