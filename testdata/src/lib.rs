//! Where the reference data of tests, benches and examples lie: in the tree, and in a shared folder of data that are not ours to copy.
//!
//! The golden sets of the tree must be there; a test that finds one empty fails. The shared folder is the one that the environment variable
//! `LEAFGP_SHARED` names, else `../shared` beside the repository. What reads it says so and goes on without when it is absent, unless
//! `LEAFGP_REQUIRE_SHARED` is set (to anything but nothing): then its absence is a failure.

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The folder `part` of the shared data, such as `instances/plain`; `None`, with a line that says so, where it is absent.
///
/// # Panics
/// Where it is absent and `LEAFGP_REQUIRE_SHARED` is set.
#[must_use]
pub fn shared(part: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("LEAFGP_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from).join(part);
    let required = std::env::var_os("LEAFGP_REQUIRE_SHARED").is_some_and(|value| !value.is_empty());
    found(folder, required)
}

fn found(folder: PathBuf, required: bool) -> Option<PathBuf> {
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(!required, "LEAFGP_REQUIRE_SHARED is set, and there is no folder {}", folder.display());
    println!("skipped: no shared data in {}", folder.display());
    None
}

/// The JSON files of a folder in order of name, without `expected.json`.
///
/// # Panics
/// Where the folder cannot be read or holds fewer than `at_least` of them.
#[must_use]
pub fn json_files(folder: &Path, at_least: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("reference data {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path())
        .filter(|path| path.extension().is_some_and(|e| e == "json") && !path.ends_with("expected.json"))
        .collect();
    files.sort();
    assert!(
        files.len() >= at_least,
        "{} holds {} of at least {at_least} reference files",
        folder.display(),
        files.len()
    );
    files
}

#[cfg(test)]
mod tests {
    use super::{found, json_files, root};

    #[test]
    fn an_absent_folder_is_skipped_or_a_failure_when_it_is_required() {
        let absent = root().join("no such folder");
        assert_eq!(found(absent.clone(), false), None);
        assert!(std::panic::catch_unwind(|| found(absent, true)).is_err());
        assert_eq!(found(root().join("testdata"), true), Some(root().join("testdata")));
    }

    #[test]
    fn missing_golden_files_are_a_failure() {
        let golden = root().join("tests/golden");
        let n_files = json_files(&golden, 1).len();
        assert!(std::panic::catch_unwind(|| json_files(&golden, n_files + 1)).is_err());
        assert!(std::panic::catch_unwind(|| json_files(&root().join("no such folder"), 0)).is_err());
    }
}
