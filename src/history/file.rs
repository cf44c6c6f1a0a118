//! Writing the history without ever losing what someone else wrote.

use std::cell::{Cell, OnceCell};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::file::{Target, temporary_beside, write_beside};
use crate::platform::identity;
use crate::problem::Problem;

use super::claims::remove_dead;
use super::lock::{Lock, spreadsheet_lock};
use super::sheet::Sheet;
use super::{Forecast, History, HistoryError, Outcome, Row};

/// How often a write starts again because someone else changed the file meanwhile.
const RETRIES: usize = 50;

/// The history on disk.
///
/// ```
/// use leafgp::history::{HistoryFile, Outcome};
/// use leafgp::problem::{Problem, Variable};
///
/// let folder = tempfile::tempdir()?;
/// let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).build()?;
/// let file = HistoryFile::new(folder.path().join("p.csv"));
/// file.append(&problem, &[(vec![0.25], Outcome::Pending)])?;
/// let history = file.record(&problem, &[0.25], Outcome::Done(3.5))?;
/// assert_eq!(history.rows[0].outcome, Outcome::Done(3.5));
/// assert_eq!(std::fs::read_to_string(file.path())?, "x,objective\n0.25,3.5\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFile {
    path: PathBuf,
}

/// Experiments that were added as pending rows.
#[derive(Debug)]
pub struct Planned {
    /// The whole history with them.
    pub history: History,
    /// Why what was predicted of them could not be kept; the rows are there all the same.
    pub not_kept: Option<HistoryError>,
}

impl HistoryFile {
    /// The file at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it; a file that does not exist is an empty history with a warning.
    ///
    /// # Errors
    /// Everything that makes the file unreadable or ambiguous, with line and column.
    pub fn read(&self, problem: &Problem) -> Result<History, HistoryError> {
        let Some(bytes) = read_bytes(&self.path).map_err(|e| e.in_file(&self.path))? else {
            let warning = "does not exist yet: starting from an empty history".to_owned();
            return Ok(History { warnings: vec![warning], ..History::default() });
        };
        History::from_bytes(&bytes, problem).map_err(|e| e.in_file(&self.path))
    }

    /// Adds rows at the end of the file as it is now, in its dialect; creates it with a header when there is none. Returns the whole history
    /// with what others added meanwhile.
    ///
    /// # Errors
    /// A row that is no experiment ([`Row::new`]). The file cannot be read, locked or replaced; then nothing has changed, and the error carries the rows as CSV text.
    pub fn append(&self, problem: &Problem, rows: &[(Vec<f64>, Outcome)]) -> Result<History, HistoryError> {
        for (point, outcome) in rows {
            self.check(problem, point, *outcome)?;
        }
        self.rewrite(problem, |sheet| {
            let sheet = sheet.with_header(problem)?;
            let failed = rows.iter().any(|(_, outcome)| *outcome == Outcome::Failed);
            let sheet = if failed { sheet.with_status(problem)? } else { sheet };
            sheet.with_rows(problem, rows)
        })
        .map_err(|e| self.with_unsaved(e, problem, rows))
    }

    /// Adds pending rows as [`HistoryFile::append`] does, but only while the table has no row at a point that `known` has not: `None`, and nothing written, when somebody
    /// was faster. What was predicted of them is kept before they are there, under the same lock, so that a program that is killed leaves no row without it.
    ///
    /// # Errors
    /// As [`HistoryFile::append`].
    pub fn plan(
        &self,
        problem: &Problem,
        known: &History,
        points: &[Vec<f64>],
        forecasts: &[Forecast],
    ) -> Result<Option<Planned>, HistoryError> {
        let rows: Vec<_> = points.iter().map(|point| (point.clone(), Outcome::Pending)).collect();
        for (point, outcome) in &rows {
            self.check(problem, point, *outcome)?;
        }
        let has_new = Cell::new(false);
        let not_kept = OnceCell::new();
        let history = self
            .rewrite(problem, |sheet| {
                has_new.set(sheet.interpret(problem)?.has_points_beyond(known));
                if has_new.get() {
                    return Ok(sheet);
                }
                not_kept.get_or_init(|| self.keep_forecasts_locked(problem, forecasts).err());
                sheet.with_header(problem)?.with_rows(problem, &rows)
            })
            .map_err(|e| self.with_unsaved(e, problem, &rows))?;
        Ok((!has_new.get()).then(|| Planned { history, not_kept: not_kept.into_inner().flatten() }))
    }

    /// Fills in the outcome of the first pending row at `point`; adds a row when there is none (any more): the rule of [`History::record`]. Returns the whole history.
    ///
    /// # Errors
    /// As [`HistoryFile::append`].
    pub fn record(
        &self,
        problem: &Problem,
        point: &[f64],
        outcome: Outcome,
    ) -> Result<History, HistoryError> {
        let row = self.check(problem, point, outcome)?;
        let rows = [(point.to_vec(), outcome)];
        self.rewrite(problem, |sheet| {
            let pending = sheet.interpret(problem)?.pending_at(&row.point);
            let sheet = sheet.with_header(problem)?;
            let sheet = if outcome == Outcome::Failed { sheet.with_status(problem)? } else { sheet };
            match pending {
                Some(row) => sheet.with_outcome(problem, row, outcome),
                None => sheet.with_rows(problem, &rows),
            }
        })
        .map_err(|e| self.with_unsaved(e, problem, &rows))
    }

    /// [`HistoryFile::record`] of a failed experiment, with the reason in the column `failure` (one line, cut to a sensible length). The column is added when there
    /// is none, unless a variable or the objective has that name.
    ///
    /// # Errors
    /// As [`HistoryFile::append`].
    pub fn record_failure(
        &self,
        problem: &Problem,
        point: &[f64],
        reason: &str,
    ) -> Result<History, HistoryError> {
        let row = self.check(problem, point, Outcome::Failed)?;
        let rows = [(point.to_vec(), Outcome::Failed)];
        let reason = one_line(reason);
        self.rewrite(problem, |sheet| {
            let pending = sheet.interpret(problem)?.pending_at(&row.point);
            let sheet = sheet.with_header(problem)?.with_failures(problem)?;
            let sheet = match pending {
                Some(row) => sheet.with_outcome(problem, row, Outcome::Failed)?,
                None => sheet.with_rows(problem, &rows)?,
            };
            sheet.with_reason(problem, pending, &reason)
        })
        .map_err(|e| self.with_unsaved(e, problem, &rows))
    }

    /// Checks that a later write can succeed, before anything costly is started: the file can be read, its folder takes the lock and a new
    /// file, and no spreadsheet has it open.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn check_writable(&self, problem: &Problem) -> Result<(), HistoryError> {
        let check = || {
            let target = self.target()?;
            let _lock = Lock::acquire(&target)?;
            refuse_protected(&target)?;
            temporary_beside(&target).map_err(|e| HistoryError::io("its folder cannot be written to", e))?;
            read_bytes(&target)?.map_or(Ok(()), |bytes| Sheet::parse(&bytes, problem).map(|_| ()))
        };
        check().map_err(|e| e.in_file(&self.path))
    }

    /// The row, if it is an experiment of the problem.
    fn check(&self, problem: &Problem, point: &[f64], outcome: Outcome) -> Result<Row, HistoryError> {
        Row::new(problem, point, outcome).map_err(|e| HistoryError::from(e).in_file(&self.path))
    }

    /// The file behind symbolic links, also dangling ones, so that a rename replaces the file and not the link.
    pub(super) fn target(&self) -> Result<PathBuf, HistoryError> {
        match Target::of(&self.path) {
            Ok(Target::File(path)) => Ok(path),
            Ok(Target::Stream(_)) => Err(HistoryError::new("it is no regular file", "a CSV file")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(HistoryError::io("its folder cannot be opened", e))
            }
            Err(e) => Err(HistoryError::io("it cannot be opened", e)),
        }
    }

    /// Replaces the file by what `edit` makes of its newest content.
    pub(super) fn rewrite(
        &self,
        problem: &Problem,
        edit: impl Fn(Sheet) -> Result<Sheet, HistoryError>,
    ) -> Result<History, HistoryError> {
        let replace = || {
            let target = self.target()?;
            let _lock = Lock::acquire(&target)?;
            refuse_protected(&target)?;
            remove_dead(&target);
            for _ in 0..RETRIES {
                let before = Fingerprint::of(&target);
                let bytes = read_bytes(&target)?.unwrap_or_default();
                let sheet = edit(Sheet::parse(&bytes, problem)?)?;
                let history = sheet.interpret(problem)?;
                let temporary = write_beside(&target, &sheet.to_bytes())
                    .map_err(|e| HistoryError::io("it cannot be written", e))?;
                // Programs that know nothing of the lock: what they wrote meanwhile is read and kept, too.
                if Fingerprint::of(&target) != before {
                    continue;
                }
                temporary.persist(&target).map_err(|e| {
                    HistoryError::io("it cannot be replaced (is it open in another program?)", e.error)
                })?;
                sync_folder(&target);
                return Ok(history);
            }
            Err(HistoryError::new(
                "another program keeps changing it",
                "one that leaves it alone for a moment",
            ))
        };
        replace().map_err(|e| e.in_file(&self.path))
    }

    /// Puts the rows that were to be written into the error.
    fn with_unsaved(
        &self,
        error: HistoryError,
        problem: &Problem,
        rows: &[(Vec<f64>, Outcome)],
    ) -> HistoryError {
        let text = || -> Result<Vec<u8>, HistoryError> {
            let sheet = Sheet::parse(b"", problem)?.with_header(problem)?.with_status(problem)?;
            Ok(sheet.with_rows(problem, rows)?.to_bytes())
        };
        let unsaved = text().ok().and_then(|bytes| String::from_utf8(bytes).ok());
        HistoryError { unsaved, ..error }
    }
}

/// Text for one cell: without control characters, and not longer than a person reads.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    clean.trim().to_owned()
}

/// Length, time and identity of a file, to see that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    length: u64,
    modified: Option<SystemTime>,
    identity: u64,
}

impl Fingerprint {
    /// `None` when there is no such file.
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let identity = identity(&metadata);
        Some(Self { length: metadata.len(), modified: metadata.modified().ok(), identity })
    }
}

/// The file's bytes; `None` when it does not exist.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, HistoryError> {
    match crate::file::read_whole(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(HistoryError::io("it cannot be read", e)),
    }
}

/// A table that a spreadsheet has open or that is marked read-only is not to be replaced.
fn refuse_protected(target: &Path) -> Result<(), HistoryError> {
    if let Some(mark) = spreadsheet_lock(target) {
        let message = format!("it is open in a spreadsheet, says {}", mark.display());
        return Err(HistoryError::new(
            message,
            "that it is closed there (or, after a crash, that this mark is deleted)",
        ));
    }
    if std::fs::metadata(target).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err(HistoryError::new("it is read-only", "a file that may be written to"));
    }
    Ok(())
}

/// Makes the rename itself durable where the system has a notion of that; the content is safe already.
fn sync_folder(target: &Path) {
    if cfg!(unix)
        && let Some(folder) = target.parent()
        && let Ok(folder) = std::fs::File::open(folder)
    {
        let _ = folder.sync_all();
    }
}
