//! A folder, and the binary in it.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A temporary folder in which commands run.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with `problem.toml` and, unless it is empty, `problem.csv`.
    pub(crate) fn with(problem: &str, history: &str) -> Self {
        let folder = Self::new();
        folder.write("problem.toml", problem);
        if !history.is_empty() {
            folder.write("problem.csv", history);
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leafgp"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::from(self.command(arguments).output().unwrap())
    }
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The JSON object on stdout of a command that succeeded.
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// A mixed problem with a categorical implication, a grid and a sum.
pub(crate) const MIXED: &str = r#"
name = "mixed"

[objective]
name = "hardness"
goal = "maximize"

[variables]
resin = { type = "continuous", bounds = [0.2, 0.8] }
filler = { type = "continuous", bounds = [0.0, 0.6], step = 0.05 }
solvent = { type = "categorical", levels = ["xylene", "butanol", "water"] }
passes = { type = "integer", bounds = [1, 5] }
"bake temperature" = { type = "continuous", bounds = [60.0, 180.0] }

[constraints]
"room for solvent" = "resin + filler <= 0.9"
"water boils" = "solvent == 'water' implies `bake temperature` <= 95"

[settings]
seed = 3
"#;

/// Measured rows of [`MIXED`], from a made-up formula.
pub(crate) fn mixed_history(n_rows: usize) -> String {
    let mut text = "resin,filler,solvent,passes,bake temperature,hardness\n".to_owned();
    for i in 0..n_rows {
        let resin = 0.2 + 0.6 * (0.37 * i as f64).fract();
        let filler = (20 * i % 65) as f64 / 100.0 / 2.0;
        let filler = (filler / 0.05).floor() * 5.0 / 100.0;
        let (solvent, offset) = [("xylene", 1.0), ("butanol", 0.4), ("water", 1.6)][i % 3];
        let bake = if solvent == "water" { 60.0 + (7 * i % 35) as f64 } else { 60.0 + (17 * i % 120) as f64 };
        let passes = 1 + i % 5;
        let value = offset - (resin - 0.5).powi(2) - filler + 0.1 * passes as f64 + 0.002 * bake;
        let resin = resin.min(0.9 - filler);
        text += &format!("{resin},{filler},{solvent},{passes},{bake},{value}\n");
    }
    text
}
