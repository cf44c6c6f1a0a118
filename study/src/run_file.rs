//! A run's file under way.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::StudyError;
use super::record::{Record, RunHeader, RunRecord};

/// How often, and how long, a locked file is waited for.
const LOCK_TRIES: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// A run's file, open for more: every line is on disk before the next step starts.
#[derive(Debug)]
pub struct RunFile<R> {
    path: PathBuf,
    file: File,
    records: Vec<R>,
}

impl<R: Record> RunFile<R> {
    /// Opens a run's file for this process alone and cuts off an interrupted write, once it is known to be this run's. `None` when another process has it.
    pub(super) fn open(path: &Path, header: &RunHeader) -> Result<Option<Self>, StudyError> {
        let fail = || StudyError::file(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(StudyError::file(folder))?;
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail())?;
        if is_locked(&file) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail())?;
        let record = RunRecord::parse_of(path, &bytes, header)?;
        let complete = record.as_ref().map_or(0, |record| record.complete_bytes);
        file.set_len(complete as u64).map_err(fail())?;
        file.seek(SeekFrom::End(0)).map_err(fail())?;
        let has_begun = record.is_some();
        let records = record.map_or(Vec::new(), |record| record.records);
        let mut run = Self { path: path.to_owned(), file, records };
        if !has_begun {
            run.write(&header.line())?;
        }
        Ok(Some(run))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is on record.
    pub(super) fn records(&self) -> &[R] {
        &self.records
    }

    /// Appends a record and waits until it is on disk.
    pub(super) fn append(&mut self, record: R) -> Result<(), StudyError> {
        self.write(&(serde_json::to_string(&record).expect("records are plain data") + "\n"))?;
        self.records.push(record);
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), StudyError> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(StudyError::file(&self.path))
    }
}

/// Tries to lock a file for this process; true when another one keeps it.
fn is_locked(file: &File) -> bool {
    // A process that was just started holds its parent's files for a moment, until it runs its own program.
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            // Some shared file systems know no locks; there the user keeps shards apart.
            Ok(()) | Err(TryLockError::Error(_)) => return false,
        }
    }
    true
}
