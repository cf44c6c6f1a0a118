//! Changes of single experiments by their number, as people ask for them.

use crate::problem::{Problem, ValueError};

use super::file::one_line;
use super::{History, HistoryError, HistoryFile, Outcome};

impl HistoryFile {
    /// Sets what is known of experiment `row` (from 1), whatever its point. A failed one may have a reason, for the column `failure`. One that has a value already is
    /// changed only with `replace`. Returns the whole history.
    ///
    /// # Errors
    /// No such experiment; one with a value, without `replace`; a value that is not finite; as [`HistoryFile::append`].
    pub fn set_outcome(
        &self,
        problem: &Problem,
        row: usize,
        outcome: Outcome,
        reason: Option<&str>,
        replace: bool,
    ) -> Result<History, HistoryError> {
        if let Outcome::Done(value) = outcome
            && !value.is_finite()
        {
            let message = format!("the value is {value}");
            return Err(ValueError { message, expected: "a finite number".to_owned() }.into());
        }
        let reason = reason.map(one_line);
        self.rewrite(problem, |sheet| {
            let known = numbered(&sheet.interpret(problem)?, row)?;
            if let (Outcome::Done(value), false) = (known, replace) {
                let message = format!("experiment {row} has the value {value} already");
                return Err(HistoryError::new(message, "another one, or that the value is to be replaced"));
            }
            let sheet = match (outcome, &reason) {
                (Outcome::Failed, _) | (_, Some(_)) => sheet.with_failures(problem)?,
                _ => sheet,
            };
            let sheet = sheet.with_outcome(problem, row - 1, outcome)?;
            match &reason {
                Some(reason) => sheet.with_reason(problem, Some(row - 1), reason),
                None => Ok(sheet),
            }
        })
    }

    /// Removes experiment `row` (from 1), which must be pending. Returns the whole history.
    ///
    /// # Errors
    /// No such experiment, or one that is not pending; as [`HistoryFile::append`].
    pub fn cancel_row(&self, problem: &Problem, row: usize) -> Result<History, HistoryError> {
        self.rewrite(problem, |sheet| match numbered(&sheet.interpret(problem)?, row)? {
            Outcome::Pending => sheet.without_row(problem, row - 1),
            _ => {
                let message = format!("experiment {row} is not pending");
                Err(HistoryError::new(message, "a pending one: what was measured or failed stays"))
            }
        })
    }

    /// Removes the first pending row at `point`, if there is one: the rule of [`History::cancel`]. Returns the whole history.
    ///
    /// # Errors
    /// As [`HistoryFile::append`].
    pub fn cancel(&self, problem: &Problem, point: &[f64]) -> Result<History, HistoryError> {
        self.rewrite(problem, |sheet| match sheet.interpret(problem)?.pending_at(point) {
            Some(row) => sheet.without_row(problem, row),
            None => Ok(sheet),
        })
    }
}

/// What is known of an experiment by its number, from 1.
fn numbered(history: &History, row: usize) -> Result<Outcome, HistoryError> {
    let found = row.checked_sub(1).and_then(|index| history.rows.get(index));
    found.map(|row| row.outcome).ok_or_else(|| {
        let n = history.rows.len();
        let message = format!("there is no experiment {row}");
        HistoryError::new(message, format!("a number from 1 to {n}, as `leafgp status` shows them"))
    })
}
