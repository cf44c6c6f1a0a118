//! The runs of a folder, as far as they are complete.

use std::collections::BTreeMap;

use crate::error::StudyError;
use crate::folder::StudyFolder;
use crate::manifest::{CaseEntry, Manifest, ProblemEntry};
use crate::record::{RunHeader, RunRecord};
use crate::step::StepRecord;

/// Everything a report is made of.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) manifest: Manifest,
    /// Of each case, in the manifest's order.
    pub(super) cases: Vec<CaseData>,
}

/// The complete runs of a case.
#[derive(Debug)]
pub(super) struct CaseData {
    pub(super) problem: String,
    pub(super) method: String,
    /// The relative gap at which a proof is complete.
    pub(super) gap: f64,
    pub(super) runs: Vec<Run>,
}

/// A complete run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    /// 1 or -1: times the best value it is to be minimised.
    sign: f64,
    /// First points of the run.
    initial: usize,
    pub(super) steps: Vec<StepRecord>,
    /// Seconds of the proposals after the first points, where they are known.
    pub(super) seconds: Vec<f64>,
}

impl Data {
    pub(super) fn load(folder: &StudyFolder) -> Result<Self, StudyError> {
        let manifest: Manifest = folder.existing_manifest()?;
        let mut cases = Vec::with_capacity(manifest.cases.len());
        for case in &manifest.cases {
            let problem = manifest.problem(&case.problem).ok_or_else(|| {
                let message = format!("a case names the problem {:?}, which is not listed", case.problem);
                StudyError::content(&folder.manifest_file(), message)
            })?;
            let mut runs = Vec::new();
            for &seed in &manifest.seeds {
                runs.extend(load_run(folder, &manifest.header(case, seed), problem)?);
            }
            let CaseEntry { problem, method, .. } = case.clone();
            cases.push(CaseData { problem, method, gap: case.gap(), runs });
        }
        Ok(Self { manifest, cases })
    }

    /// Number of complete runs, which is what a report covers.
    pub(super) fn complete(&self) -> usize {
        self.cases.iter().map(|case| case.runs.len()).sum()
    }

    /// Number of all runs of the study.
    pub(super) fn planned(&self) -> usize {
        self.manifest.cases.len() * self.manifest.seeds.len()
    }

    /// The cases of a problem, in the order of methods.
    pub(super) fn cases_of<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a CaseData> {
        self.cases.iter().filter(move |case| case.problem == problem)
    }
}

/// A run, when it is complete.
fn load_run(
    folder: &StudyFolder,
    header: &RunHeader,
    problem: &ProblemEntry,
) -> Result<Option<Run>, StudyError> {
    let Some(record) = RunRecord::<StepRecord>::read_of(&folder.file_of(header), header)? else {
        return Ok(None);
    };
    let mut steps = record.records;
    if steps.len() < problem.evaluations {
        return Ok(None);
    }
    steps.truncate(problem.evaluations);
    let times = read_times(folder, header);
    let later = steps.iter().filter(|step| step.iteration > 0);
    let seconds = later.filter_map(|step| times.get(&step.evaluation).copied()).collect();
    Ok(Some(Run { seed: header.seed, sign: problem.sign(), initial: problem.initial, steps, seconds }))
}

/// Seconds of each proposal by evaluation; the last one counts. Times are a courtesy: what cannot be read is not there.
fn read_times(folder: &StudyFolder, header: &RunHeader) -> BTreeMap<usize, f64> {
    let path = folder.timing_file(&header.problem, &header.method, header.seed);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let entry = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        Some((value["evaluation"].as_u64()? as usize, value["propose_seconds"].as_f64()?))
    };
    text.lines().filter_map(entry).collect()
}

impl Run {
    /// Number of iterations after the first points.
    pub(super) fn iterations(&self) -> usize {
        self.steps.len().saturating_sub(self.initial)
    }

    /// The best feasible value after an iteration, to be minimised; infinite while there is none. Iteration 0 is the end of the first points.
    pub(super) fn best_after(&self, iteration: usize) -> f64 {
        self.best_within(self.initial + iteration)
    }

    /// The best feasible value of the first evaluations, to be minimised; infinite while there is none.
    pub(super) fn best_within(&self, evaluations: usize) -> f64 {
        let step = evaluations.min(self.steps.len()).checked_sub(1);
        step.and_then(|step| self.steps[step].best).map_or(f64::INFINITY, |best| self.sign * best)
    }

    /// The best feasible value of the whole run, to be minimised.
    pub(super) fn result(&self) -> f64 {
        self.best_after(self.iterations())
    }

    /// Turns a value to be minimised into the objective's own direction.
    pub(super) fn in_own_direction(&self, value: f64) -> f64 {
        self.sign * value
    }
}
