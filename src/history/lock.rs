//! One writer at a time.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::HistoryError;
use crate::platform::is_current;

/// How long to wait for another writer, who needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// An exclusive lock on a file, held until dropped.
///
/// The lock is taken on a hidden file beside the table (`.NAME.lock`), since the table itself is replaced by every write. The file is removed
/// again on release; one that is left by a killed program holds no lock and does no harm.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Waits for the lock of `table`.
    pub(super) fn acquire(table: &Path) -> Result<Self, HistoryError> {
        let path = beside(table, ".", ".lock");
        let start = Instant::now();
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(|e| HistoryError::io("its folder cannot be written to", e))?;
            match file.try_lock() {
                // A former holder may have removed the file between our opening and locking it.
                Ok(()) if is_current(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another program keeps the lock {}", path.display());
                    return Err(HistoryError::new(message, "one writer at a time"));
                }
                Err(TryLockError::Error(e)) => return Err(HistoryError::io("it cannot be locked", e)),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removing while the lock is held is what `is_current` relies on; where that is impossible the file simply stays.
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// `folder/{before}NAME{after}` for a file `folder/NAME`.
pub(super) fn beside(file: &Path, before: &str, after: &str) -> PathBuf {
    let mut name = OsString::from(before);
    name.push(file.file_name().unwrap_or_default());
    name.push(after);
    file.with_file_name(name)
}

/// The program that has the table open, if it left its mark beside it.
pub(super) fn spreadsheet_lock(table: &Path) -> Option<PathBuf> {
    [beside(table, ".~lock.", "#"), beside(table, "~$", "")].into_iter().find(|mark| mark.exists())
}

#[cfg(test)]
mod tests {
    use super::{Lock, beside};

    #[test]
    fn writers_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("h.csv");
        let counter = folder.path().join("counter");
        std::fs::write(&counter, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _lock = Lock::acquire(&table).unwrap();
                        let n: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
                        std::fs::write(&counter, (n + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&counter).unwrap(), "100");
        assert!(!cfg!(unix) || !beside(&table, ".", ".lock").exists(), "the lock file is removed");
    }
}
