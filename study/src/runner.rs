//! All runs of a study, several at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::manifest::Manifest;
use super::record::{RunHeader, RunRecord, StepRecord, mixed};
use super::run_one::{Ended, run_one};
use super::spec::{RunId, Spec};
use super::{StudyError, StudyFolder};
use leafgp::engine::Context;

/// A part of a study's runs: number `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, `1..=count`.
    pub index: usize,
    /// How many parts.
    pub count: usize,
}

impl Shard {
    /// True when the run at a position of [`Spec::runs`] belongs to the part: dealt out in turn, so that parts are alike.
    pub fn holds(self, position: usize) -> bool {
        position % self.count == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `i/n`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("expected i/n with 1 <= i <= n, such as 3/20".to_owned()),
        }
    }
}

/// How a study is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Runs side by side, at least 1.
    pub jobs: usize,
    /// The part to run; all when `None`.
    pub shard: Option<Shard>,
    /// Set it to stop after the evaluations under way were recorded or dropped.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// What happens while a study runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The work begins: evaluations to make, and runs complete already.
    Start {
        /// Evaluations to make.
        evaluations: usize,
        /// Runs to make or to continue.
        runs: usize,
        /// Runs that were complete before.
        complete: usize,
    },
    /// An evaluation is recorded.
    Step {
        /// Of which run.
        run: RunId,
        /// The record.
        step: &'a StepRecord,
    },
    /// A run is complete.
    Complete {
        /// Which.
        run: RunId,
        /// Its best feasible value.
        best: Option<f64>,
    },
    /// A run was left to another process that is at it.
    Busy {
        /// Which.
        run: RunId,
    },
    /// A run stopped with an error; the others go on.
    Failed {
        /// Which.
        run: RunId,
        /// Why.
        error: &'a StudyError,
    },
}

/// What became of a study's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Runs complete now, those from before included.
    pub complete: usize,
    /// Runs of the part.
    pub total: usize,
    /// Runs that stopped with an error: name and message.
    pub failed: Vec<(String, String)>,
    /// Runs that another process is at.
    pub busy: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// Makes every run of a study that is not complete. Nothing is written before the folder is known to belong to this spec.
///
/// # Errors
/// A folder of another study, damaged or unwritable files. An error within a run is that run's: see [`Summary::failed`].
pub fn run(
    spec: &Spec,
    folder: &StudyFolder,
    options: &RunOptions,
    on_event: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Summary, StudyError> {
    check_manifest(spec, folder)?;
    let runs = spec.runs();
    let mine = runs.iter().enumerate().filter(|(k, _)| options.shard.is_none_or(|shard| shard.holds(*k)));
    let (mut waiting, mut complete, mut evaluations) = (Vec::new(), 0, 0);
    for (_, &run) in mine {
        let done = recorded(spec, run, folder)?;
        let needed = spec.parts(run.case).0.evaluations();
        if done >= needed {
            complete += 1;
        } else {
            evaluations += needed - done;
            waiting.push(run);
        }
    }
    folder.write_manifest(&Manifest::new(spec))?;
    on_event(&Event::Start { evaluations, runs: waiting.len(), complete });

    let context = Context { interrupt: options.interrupt.clone(), progress: None };
    let summary = Mutex::new(Summary { complete, total: complete + waiting.len(), ..Summary::default() });
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&run) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = run_one(spec, run, folder, &context, on_event);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(Ended::Complete { best }) => {
                    summary.complete += 1;
                    on_event(&Event::Complete { run, best });
                }
                Ok(Ended::Busy) => {
                    summary.busy += 1;
                    on_event(&Event::Busy { run });
                }
                Ok(Ended::Interrupted) => {
                    summary.interrupted = true;
                    return;
                }
                Err(error) => {
                    summary.failed.push((spec.run_name(run), error.to_string()));
                    on_event(&Event::Failed { run, error: &error });
                }
            }
        }
    };
    let jobs = options.jobs.clamp(1, waiting.len().max(1));
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.failed.sort();
    Ok(summary)
}

/// The folder must be new or hold the same study.
fn check_manifest(spec: &Spec, folder: &StudyFolder) -> Result<(), StudyError> {
    match folder.manifest()? {
        Some(manifest) if manifest.name != spec.name => Err(StudyError::Mixed(format!(
            "{}: the folder holds the study {:?}, the spec is {:?}; give another --out",
            folder.path().display(),
            manifest.name,
            spec.name
        ))),
        _ => Ok(()),
    }
}

/// Number of evaluations on record; an error when they are of another set-up.
fn recorded(spec: &Spec, run: RunId, folder: &StudyFolder) -> Result<usize, StudyError> {
    let (problem, method) = spec.parts(run.case);
    let path = folder.run_file(&problem.name, &method.name, run.seed);
    let Some(record) = RunRecord::read(&path)? else { return Ok(0) };
    let header = RunHeader::new(&problem.name, &method.name, run.seed, &spec.cases[run.case].fingerprint);
    if record.header != header {
        return Err(mixed(&path, &record.header, &header));
    }
    Ok(record.steps.len())
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_a_partition() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for position in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(position)).count(), 1);
        }
        for bad in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
