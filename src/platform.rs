//! What operating systems do in their own ways, as far as files are concerned: the one place in this crate that asks which system it is compiled for.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// A number that changes when another file takes a file's name; 0 where the system has none.
pub(crate) fn identity(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}

/// True when the open file is still the one at `path`; where files have no identity, when there is one.
pub(crate) fn is_current(file: &File, path: &Path) -> bool {
    let same = || -> io::Result<bool> {
        let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
        #[cfg(unix)]
        let same_device = {
            use std::os::unix::fs::MetadataExt;
            ours.dev() == there.dev()
        };
        #[cfg(not(unix))]
        let same_device = true;
        Ok(same_device && identity(&ours) == identity(&there))
    };
    same().unwrap_or(false)
}

/// Asks for the permissions of any new file, which the process's mask narrows; temporary files have narrower ones by themselves.
pub(crate) fn with_usual_permissions<'a, 'b, 'c>(
    builder: &'a mut tempfile::Builder<'b, 'c>,
) -> &'a mut tempfile::Builder<'b, 'c> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// True for a process's own open streams (`/dev/stdout`): a file behind them is not ours to replace while others write to it.
pub(crate) fn is_open_stream(path: &Path) -> bool {
    cfg!(unix) && (path.starts_with("/proc") || path.starts_with("/dev/fd"))
}
