//! A temporary folder in which the binary runs.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A small sound problem.
pub(crate) const PROBLEM: &str = r#"name = "p"

[objective]
name = "cost"
goal = "minimize"

[variables]
x = { type = "continuous", bounds = [0.0, 1.0] }
n = { type = "integer", bounds = [1, 9] }
head = { type = "categorical", levels = ["flat", "round"] }
"#;

/// A folder of its own for each test.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

/// What a run of the binary left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The JSON value on stdout of a run that succeeded.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with `p.toml`.
    pub(crate) fn with_problem(text: &str) -> Self {
        let folder = Self::new();
        folder.write("p.toml", text);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every file with its bytes, in order of names.
    pub(crate) fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        let mut files: Vec<(String, Vec<u8>)> = entries
            .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap_or_default()))
            .collect();
        files.sort();
        files
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leafgp"));
        // No home, no terminal: nothing outside the folder may matter.
        command.current_dir(self.folder.path()).args(arguments).env_clear().stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Run {
            code: status.code().expect("ends by itself"),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs and expects bad input: exit code 2, nothing on stdout, no file changed, and a message with all of these parts.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let before = self.contents();
        let run = self.run(arguments);
        assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "nothing is printed for bad input");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "the message should contain {part:?}:\n{}", run.stderr);
        }
        assert!(self.contents() == before, "nothing is written");
    }
}
