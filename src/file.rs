//! Files that are complete or not there: written beside their target, synchronised, renamed. Symbolic links are followed, and what is no regular file
//! (a device, a pipe) is written through instead of replaced.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::platform::{is_open_stream, with_usual_permissions};

/// Links that lead to links, at most; as many as the usual systems follow.
const LINKS: usize = 40;
/// What temporary files are called: six letters or digits between the two.
const PREFIX: &str = ".leafgp-";
const SUFFIX: &str = ".tmp";
/// Age at which an unlocked temporary file was left by a killed program: a living one locks its file as soon as it has made it.
const STALE: Duration = Duration::from_secs(10);

/// Where the bytes for a path go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A regular file, or one that does not exist yet: replaced as a whole. No link.
    File(PathBuf),
    /// A device, a pipe or an open stream: written through.
    Stream(PathBuf),
}

impl Target {
    /// What is behind `path`, through symbolic links, also dangling ones.
    ///
    /// # Errors
    /// A folder on the way that cannot be opened, a path without a file name, links in a circle.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            if is_open_stream(&path) {
                return Ok(Self::Stream(path));
            }
            match std::fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_symlink() => {
                    path = folder_of(&path).join(std::fs::read_link(&path)?);
                }
                Ok(metadata) if metadata.is_file() || metadata.is_dir() => {
                    return Ok(Self::File(std::fs::canonicalize(&path)?));
                }
                Ok(_) => return Ok(Self::Stream(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "this is no file name");
                    let name = path.file_name().ok_or_else(no_name)?;
                    return Ok(Self::File(std::fs::canonicalize(folder_of(&path))?.join(name)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("its symbolic links lead in a circle"))
    }
}

/// Largest file that is read, and the most that is taken from a device or a pipe, in bytes.
const LARGEST: u64 = 1 << 30;
const LARGEST_STREAM: u64 = 64 << 20;
/// How long a named pipe may be without a program that writes to it.
const WAIT: Duration = Duration::from_secs(10);

/// A file's bytes. A device or a pipe is read to its end.
///
/// # Errors
/// A file that cannot be read or holds more than 1 GiB; a device or pipe that gives more than 64 MiB, or a named pipe that no program writes to within ten seconds.
pub fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    read_within(path, WAIT)
}

fn read_within(path: &Path, wait: Duration) -> io::Result<Vec<u8>> {
    let is_file = std::fs::metadata(path)?.is_file();
    let file = if is_file { File::open(path)? } else { open_within(path, wait)? };
    let largest = if is_file { LARGEST } else { LARGEST_STREAM };
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        let kind = if is_file { "it holds" } else { "it is no regular file and gives" };
        return Err(io::Error::other(format!("{kind} more than {} MiB", largest >> 20)));
    }
    Ok(bytes)
}

/// Opening a named pipe waits for a program that writes to it; another thread does the waiting.
fn open_within(path: &Path, wait: Duration) -> io::Result<File> {
    let (send, opened) = std::sync::mpsc::channel();
    let path = path.to_owned();
    // Nobody listens when the wait is over, and the thread ends with the process.
    std::thread::spawn(move || drop(send.send(File::open(path))));
    opened.recv_timeout(wait).unwrap_or_else(|_| {
        let message = format!("no program has written to this pipe within {} seconds", wait.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

/// What is said of bytes that are no text.
pub fn not_text() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8")
}

/// The folder in which a path's last component stands.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// An empty temporary file in the folder of `target`, with the permissions of any new file (the process's mask applies). It is locked while it lives, and those
/// that killed programs left are removed.
pub(crate) fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(target);
    remove_stale(folder);
    let mut builder = tempfile::Builder::new();
    let builder = with_usual_permissions(builder.prefix(PREFIX).suffix(SUFFIX));
    let temporary = builder.tempfile_in(folder)?;
    // Where there are no locks, the age alone protects it.
    let _ = temporary.as_file().try_lock();
    Ok(temporary)
}

/// Removes the temporary files that killed programs left in a folder. What cannot be looked at or removed is no concern of the writer.
fn remove_stale(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_temporary);
        let is_old = || {
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            metadata.modified().ok()?.elapsed().ok().filter(|age| *age >= STALE)
        };
        if is_ours && is_old().is_some() {
            let unlocked = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if unlocked {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// True for names that [`temporary_beside`] gives.
fn is_temporary(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| middle.len() == 6 && middle.bytes().all(|b| b.is_ascii_alphanumeric()))
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

/// Replaces a file as a whole: a reader never sees half of it, and a failed write leaves what was there. Symbolic links are followed; a device or a pipe is
/// written to.
///
/// # Errors
/// The folder cannot be written to, or the disk is full.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    match Target::of(path)? {
        Target::File(target) => {
            write_beside(&target, content)?.persist(&target).map_err(|error| error.error)?;
            Ok(())
        }
        Target::Stream(stream) => write_through(&stream, content),
    }
}

/// [`write_whole`] for a file that must not exist yet.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when it does; else as [`write_whole`]. Nothing is left of a failed write.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    match Target::of(path)? {
        Target::File(target) if target.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Target::File(target) => {
            // The system itself refuses a file that came in between.
            write_beside(&target, content)?.persist_noclobber(&target).map_err(|error| error.error)?;
            Ok(())
        }
        Target::Stream(stream) => write_through(&stream, content),
    }
}

/// Writes to what is no regular file; at the end, should one stand behind it after all (standard output into a file).
fn write_through(stream: &Path, content: &[u8]) -> io::Result<()> {
    OpenOptions::new().append(true).open(stream)?.write_all(content)
}

#[cfg(test)]
mod tests {
    use super::{STALE, is_temporary, read_whole, read_within, temporary_beside, write_new, write_whole};
    use std::fs::File;
    use std::io::ErrorKind;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["a.json"]);
        assert!(write_whole(&folder.path().join("missing/a.json"), b"x").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_without_an_end_and_pipes_without_a_writer_are_refused() {
        let message = read_whole(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(message.contains("more than 64 MiB"), "{message}");
        assert_eq!(read_whole(Path::new("/dev/null")).unwrap(), b"");
        let folder = tempfile::tempdir().unwrap();
        let make_pipe = |name: &str| {
            let pipe = folder.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            pipe
        };
        let error = read_within(&make_pipe("idle"), Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let pipe = make_pipe("pipe");
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, "x,y\n")
        });
        assert_eq!(read_whole(&pipe).unwrap(), b"x,y\n");
        writer.join().unwrap().unwrap();
        assert_eq!(read_whole(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        write_new(&path, b"first").unwrap();
        assert_eq!(write_new(&path, b"second").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(names(folder.path()), ["a.toml"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_also_dangling_ones_and_circles_end() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("far")).unwrap();
        symlink("middle", at("link")).unwrap();
        symlink("far/file", at("middle")).unwrap();
        for content in ["new", "newer"] {
            write_whole(&at("link"), content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(at("far/file")).unwrap(), content);
        }
        assert!(at("link").is_symlink() && at("middle").is_symlink());
        assert_eq!(write_new(&at("link"), b"x").unwrap_err().kind(), ErrorKind::AlreadyExists);
        symlink("there", at("here")).unwrap();
        symlink("here", at("there")).unwrap();
        assert!(write_whole(&at("here"), b"x").unwrap_err().to_string().contains("circle"));
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_written_through_and_stay() {
        use std::io::Read;
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        symlink("/dev/null", &link).unwrap();
        write_whole(&link, b"gone").unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let read = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write_whole(&pipe, b"through").unwrap();
        assert_eq!(read.join().unwrap(), "through");
        assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(names(folder.path()), ["null", "pipe"]);
    }

    #[test]
    fn only_old_unlocked_files_of_our_own_pattern_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * STALE;
        let make = |name: &str, time: SystemTime| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(time).unwrap();
            file
        };
        make(".leafgp-aB3dE6.tmp", old);
        make(".leafgp-young1.tmp", SystemTime::now());
        make(".leafgp-mine.tmp", old);
        make("leafgp-aB3dE6.tmp", old);
        let living = temporary_beside(&folder.path().join("x")).unwrap();
        living.as_file().set_modified(old).unwrap();
        let name = living.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(is_temporary(&name), "{name}");
        write_whole(&folder.path().join("a.json"), b"x").unwrap();
        let mut expected =
            [".leafgp-mine.tmp", ".leafgp-young1.tmp", "a.json", "leafgp-aB3dE6.tmp", name.as_str()];
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
    }
}
