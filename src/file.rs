//! Files that are complete or not there: written beside their target, synchronised, renamed.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// An empty temporary file in the folder of `target`, with the permissions of any new file (the process's mask applies).
pub(crate) fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".leafgp-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// A complete, synchronised temporary file with this content in the folder of `target`, with its permissions if it exists.
pub(crate) fn write_beside(target: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut temporary = temporary_beside(target)?;
    temporary.write_all(content)?;
    if let Ok(metadata) = std::fs::metadata(target) {
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Replaces a file as a whole: a reader never sees half of it, and a failed write leaves what was there.
///
/// # Errors
/// The folder cannot be written to, or the disk is full.
pub fn write_whole(target: &Path, content: &[u8]) -> io::Result<()> {
    write_beside(target, content)?.persist(target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write_whole;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(&folder.path().join("missing/a.json"), b"x").is_err());
    }
}
