//! Who measures what: loops that work on one history at the same time.
//!
//! Each loop holds a hidden file beside the table (`.NAME.run-XXXXXX`), locked as long as it lives, with the points that it is measuring. A pending row whose point
//! stands in no such file is free. A file without a lock belonged to a killed program: its rows are free again, and the file is removed by the next writer, whoever
//! that is. All of this happens under the table's own lock.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::problem::Problem;

use super::lock::{Lock, beside};
use super::{Forecast, History, HistoryError, HistoryFile, Outcome, Planned};

/// The points that one loop is measuring; given back when dropped.
#[derive(Debug)]
pub struct Claims {
    file: HistoryFile,
    /// Ours, locked.
    own: NamedTempFile,
    /// What it says.
    points: Vec<Vec<f64>>,
}

/// Points by their bits: what one program writes, another one reads back the same.
type Points = Vec<Vec<u64>>;

impl Claims {
    /// A loop on the history, which measures nothing yet.
    ///
    /// # Errors
    /// The folder cannot be written to, or locked.
    pub fn new(file: &HistoryFile) -> Result<Self, HistoryError> {
        let make = || {
            let target = file.target()?;
            let _lock = Lock::acquire(&target)?;
            let folder = target.parent().unwrap_or(Path::new("."));
            let fail = |e| HistoryError::io("its folder cannot be written to", e);
            let own = tempfile::Builder::new().prefix(&prefix(&target)).tempfile_in(folder).map_err(fail)?;
            own.as_file().try_lock().map_err(|e| HistoryError::io("it cannot be locked", e.into()))?;
            Ok(Self { file: file.clone(), own, points: Vec::new() })
        };
        make().map_err(|e: HistoryError| e.in_file(file.path()))
    }

    /// Claims up to `n` more pending rows that no loop is measuring and that have the values given by index: first those that come first in `order`, whatever is
    /// smallest, and among equals those that come first in the table. Returns the history as it is, and their points.
    ///
    /// # Errors
    /// The history cannot be read or locked.
    pub fn take<K: Ord>(
        &mut self,
        problem: &Problem,
        fixed: &[(usize, f64)],
        n: usize,
        order: impl Fn(&[f64]) -> K,
    ) -> Result<(History, Vec<Vec<f64>>), HistoryError> {
        let file = self.file.clone();
        let mut take = || {
            let target = file.target()?;
            let _lock = Lock::acquire(&target)?;
            let history = file.read(problem)?;
            let others = self.others(&target)?;
            let mut points: Vec<Vec<f64>> = Vec::new();
            for row in history.rows.iter().filter(|row| row.outcome == Outcome::Pending) {
                // A row that is no experiment of this problem any more is left to people.
                let is_free = !row.out_of_domain && !row.violates && !others.contains(&bits(&row.point));
                let is_meant = fixed.iter().all(|&(i, value)| row.point.get(i) == Some(&value));
                let is_ours = self.points.contains(&row.point) || points.contains(&row.point);
                if is_free && is_meant && !is_ours {
                    points.push(row.point.clone());
                }
            }
            points.sort_by_key(|point| order(point));
            points.truncate(n);
            self.points.extend_from_slice(&points);
            self.write()?;
            Ok((history, points))
        };
        take().map_err(|e: HistoryError| if e.file.is_some() { e } else { e.in_file(file.path()) })
    }

    /// Adds the points as pending rows and claims them, as [`HistoryFile::plan`] does it.
    ///
    /// # Errors
    /// As [`HistoryFile::plan`].
    pub fn reserve(
        &mut self,
        problem: &Problem,
        known: &History,
        points: &[Vec<f64>],
        forecasts: &[Forecast],
    ) -> Result<Option<Planned>, HistoryError> {
        // Claimed first: from the moment a row is there, it is taken.
        let n_before = self.points.len();
        self.points.extend_from_slice(points);
        self.write_locked()?;
        let planned = self.file.plan(problem, known, points, forecasts);
        if !matches!(planned, Ok(Some(_))) {
            self.points.truncate(n_before);
        }
        planned
    }

    /// Gives back a point that has its outcome.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn release(&mut self, point: &[f64]) -> Result<(), HistoryError> {
        if let Some(i) = self.points.iter().position(|ours| ours == point) {
            self.points.remove(i);
        }
        self.write_locked()
    }

    /// [`Claims::write`] while no other loop reads it: it is empty for a moment.
    fn write_locked(&mut self) -> Result<(), HistoryError> {
        let file = self.file.clone();
        let mut write = || {
            let _lock = Lock::acquire(&file.target()?)?;
            self.write()
        };
        write().map_err(|e| e.in_file(file.path()))
    }

    /// Writes down what this loop is measuring; under the table's lock.
    fn write(&mut self) -> Result<(), HistoryError> {
        let points: Points = self.points.iter().map(|point| bits(point)).collect();
        let mut replace = || -> std::io::Result<()> {
            let text = serde_json::to_vec(&points)?;
            let file = self.own.as_file_mut();
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&text)?;
            file.flush()
        };
        replace().map_err(|e| HistoryError::io("what is being measured cannot be noted beside it", e))
    }

    /// What the other living loops on this table are measuring; files of dead ones are removed.
    fn others(&self, target: &Path) -> Result<Points, HistoryError> {
        let fail = |e| HistoryError::io("its folder cannot be read", e);
        let mut points = Vec::new();
        for mut file in living(target, Some(self.own.path())).map_err(fail)? {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(fail)?;
            // Empty until its first claim.
            points.extend(serde_json::from_slice::<Points>(&bytes).unwrap_or_default());
        }
        Ok(points)
    }
}

/// Removes the files of loops on a table that were killed; under the table's lock. What cannot be looked at is no concern of a writer.
pub(super) fn remove_dead(target: &Path) {
    let _ = living(target, None);
}

/// The files of the living loops on a table but `own`; those of dead ones are removed.
fn living(target: &Path, own: Option<&Path>) -> std::io::Result<Vec<File>> {
    let (folder, prefix) = (target.parent().unwrap_or(Path::new(".")), prefix(target));
    let mut living = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_one = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes()));
        if !is_one || Some(path.as_path()) == own {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = std::fs::remove_file(&path);
        } else {
            living.push(file);
        }
    }
    Ok(living)
}

/// How the names of all loops' files on a table begin.
fn prefix(target: &Path) -> std::ffi::OsString {
    beside(target, ".", ".run-").file_name().unwrap_or_default().to_owned()
}

fn bits(point: &[f64]) -> Vec<u64> {
    // Both zeros are one point.
    point.iter().map(|x| (x + 0.0).to_bits()).collect()
}
