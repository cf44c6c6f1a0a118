//! The version of what studies write.
//!
//! Format 1 had digests of another kind, which this version does not make. Its folders can be reported and merged, since these only compare digests that are written down or follow
//! from what is; no run can be added to one.

use std::path::Path;

use super::error::StudyError;

/// The version of folders and records that are written.
pub(super) const FORMAT: u32 = 2;
/// The oldest version that is read.
pub(super) const OLDEST: u32 = 1;

/// Refuses what cannot be read.
pub(super) fn check(path: &Path, format: u32) -> Result<(), StudyError> {
    if (OLDEST..=FORMAT).contains(&format) {
        return Ok(());
    }
    let message = format!("format {format} is not format {FORMAT}, and none of an older version");
    Err(StudyError::content(path, message))
}
