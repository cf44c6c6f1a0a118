//! The history: the table of experiments, a CSV file that people and spreadsheets edit too.

use std::path::Path;

use crate::problem::Problem;

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
    /// Line in the file, from 1 (the header is line 1); 0 for a row that is not in a file yet.
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
    /// What is legal but should be known, one sentence each with the rows' line numbers.
    pub warnings: Vec<String>,
}

impl History {
    /// Reads a history; a file that does not exist is an empty one.
    ///
    /// # Errors
    /// Everything that makes the file unreadable or ambiguous, with line and column.
    pub fn read(path: &Path, problem: &Problem) -> Result<Self, HistoryError> {
        let _ = (path, problem);
        unimplemented!("history file")
    }

    /// The best eligible row: the first of the best values in the problem's direction.
    pub fn best(&self, problem: &Problem) -> Option<&Row> {
        let goal = problem.objective.goal;
        self.rows.iter().filter(|row| row.is_eligible()).fold(None, |best: Option<&Row>, row| {
            match (best.and_then(Row::value), row.value()) {
                (Some(best_value), Some(value)) if !goal.is_better(value, best_value) => best,
                _ => Some(row),
            }
        })
    }
}

/// A refused history.
#[derive(Debug, thiserror::Error)]
#[error("history")]
pub struct HistoryError;
