//! A study in a temporary folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use leafgp_study::{Event, RunOptions, RunRecord, Shard, Spec, StepRecord, StudyFolder, Summary, run};

/// A small study of two problems and three methods.
pub(crate) const SMALL: &str = r#"
name = "small"
iterations = 4
initial = 3
seeds = [7, 8]

[settings]
preset = "paper"

[[problem]]
function = "branin"

[[problem]]
function = "g6"

[[method]]
name = "leaf-gp"

[[method]]
name = "rnd"
kind = "leaf-gp-rnd"
samples = 50
constraints = "penalty"
lambda = 10

[[method]]
name = "feas-random"
"#;

pub(crate) struct Study {
    folder: tempfile::TempDir,
}

impl Study {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn spec(&self, text: &str) -> Spec {
        Spec::from_text(&self.path("spec.toml"), text).unwrap_or_else(|e| panic!("{e}"))
    }

    pub(crate) fn out(&self, name: &str) -> StudyFolder {
        StudyFolder::new(self.path(name))
    }

    /// Runs a spec into a folder; the names of the messages of failed runs are in the summary.
    pub(crate) fn run(&self, text: &str, out: &str, jobs: usize, shard: Option<&str>) -> Summary {
        let shard = shard.map(|s| s.parse::<Shard>().unwrap());
        let options = RunOptions { jobs, shard, interrupt: None };
        let summary =
            run(&self.spec(text), &self.out(out), &options, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(summary.busy, 0, "nobody else is at it");
        summary
    }

    /// Runs and says how many evaluations were made.
    pub(crate) fn run_counting(&self, text: &str, out: &str) -> usize {
        let count = Mutex::new(0);
        let options = RunOptions { jobs: 1, shard: None, interrupt: None };
        run(&self.spec(text), &self.out(out), &options, &|event| {
            if let Event::Step { .. } = event {
                *count.lock().unwrap() += 1;
            }
        })
        .unwrap_or_else(|e| panic!("{e}"));
        count.into_inner().unwrap()
    }

    pub(crate) fn steps(&self, out: &str, problem: &str, method: &str, seed: u64) -> Vec<StepRecord> {
        let path = self.out(out).run_file(problem, method, seed);
        RunRecord::read(&path).unwrap().expect("the run exists").records
    }
}

/// Every file below a folder with its bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The runs of a study's folder: no times.
pub(crate) fn runs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files(&folder.join("runs"))
}
