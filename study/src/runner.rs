//! All runs of a study, several at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::StudyError;
use super::folder::StudyFolder;
use super::format::FORMAT;
use super::record::RunRecord;
use super::run_file::RunFile;
use super::shard::Shard;
use super::study::{Ended, RecordOf, Study};
use super::study_manifest::{PlannedRun, StudyManifest};
use leafgp::engine::Context;

/// How a study is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Runs side by side, at least 1.
    pub jobs: usize,
    /// The part to run; all when `None`.
    pub shard: Option<Shard>,
    /// Set it to stop after the steps under way were recorded or dropped.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for RunOptions {
    /// Every run, one after the other.
    fn default() -> Self {
        Self { jobs: 1, shard: None, interrupt: None }
    }
}

/// What happens while a study runs. Its steps are evaluations, or the answers of an uncertainty study.
#[derive(Debug)]
pub enum Event<'a, S: Study> {
    /// The work begins: steps to make, and runs complete already.
    Start {
        /// Steps to make.
        steps: usize,
        /// Runs to make or to continue.
        runs: usize,
        /// Runs that were complete before.
        complete: usize,
    },
    /// A step is recorded.
    Step {
        /// Of which run.
        run: S::Run,
        /// The record.
        step: &'a RecordOf<S>,
    },
    /// A run is complete.
    Complete {
        /// Which.
        run: S::Run,
        /// Its last record.
        last: Option<&'a RecordOf<S>>,
    },
    /// A run was left to another process that is at it.
    Busy {
        /// Which.
        run: S::Run,
    },
    /// A run stopped with an error; the others go on.
    Failed {
        /// Which.
        run: S::Run,
        /// Why.
        error: &'a StudyError,
    },
}

/// What became of the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Complete runs, those from before included.
    pub complete: usize,
    /// Runs of the part that was asked for.
    pub total: usize,
    /// Name and error of each run that stopped with one.
    pub failed: Vec<(String, String)>,
    /// Runs that another process is at.
    pub busy: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// Makes every run of a study that is not complete. Nothing is written before the folder is known to belong to this study. Results do not depend on the number of jobs.
///
/// # Errors
/// A folder of another study, damaged or unwritable files. An error within a run is that run's: see [`Summary::failed`].
///
/// ```
/// use leafgp_study::{Event, RunOptions, Spec, StudyFolder, run};
///
/// let text = "iterations = 2\nseeds = [1]\n[[problem]]\nfunction = \"branin\"\n[[method]]\nname = \"random\"\n";
/// let spec = Spec::from_text("branin.toml".as_ref(), text)?;
/// let folder = tempfile::tempdir()?;
/// let folder = StudyFolder::new(folder.path());
/// let summary = run(&spec, &folder, &RunOptions::default(), &|event| {
///     if let Event::Step { step, .. } = event {
///         println!("{}: {:?}, best so far {:?}", step.evaluation, step.value, step.best);
///     }
/// })?;
/// assert_eq!((summary.complete, summary.total), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run<S: Study>(
    study: &S,
    folder: &StudyFolder,
    options: &RunOptions,
    on_event: &(dyn Fn(&Event<'_, S>) + Sync),
) -> Result<Summary, StudyError> {
    let manifest = manifest(study, folder)?;
    let runs = study.runs();
    let mine = runs.iter().enumerate().filter(|(k, _)| options.shard.is_none_or(|shard| shard.holds(*k)));
    let (mut waiting, mut complete, mut steps) = (Vec::new(), 0, 0);
    for (_, &run) in mine {
        let PlannedRun { header, records } = study.planned(run);
        let known = RunRecord::<RecordOf<S>>::read_of(&folder.file_of(&header), &header)?;
        let done = known.map_or(0, |known| known.records.len());
        if done >= records {
            complete += 1;
        } else {
            steps += records - done;
            waiting.push(run);
        }
    }
    folder.write_manifest(&manifest)?;
    on_event(&Event::Start { steps, runs: waiting.len(), complete });

    let context = Context { interrupt: options.interrupt.clone(), ..Context::default() };
    let summary = Mutex::new(Summary { complete, total: complete + waiting.len(), ..Summary::default() });
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&run) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = continued(study, run, folder, &context, on_event);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(Some(file)) => {
                    summary.complete += 1;
                    on_event(&Event::Complete { run, last: file.records().last() });
                }
                Ok(None) => {
                    summary.busy += 1;
                    on_event(&Event::Busy { run });
                }
                Err(Stop::Interrupted) => {
                    summary.interrupted = true;
                    return;
                }
                Err(Stop::Failed(error)) => {
                    summary.failed.push((study.planned(run).header.name(), error.to_string()));
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

/// The manifest to write; an error when the folder is another study's.
fn manifest<S: Study>(study: &S, folder: &StudyFolder) -> Result<S::Manifest, StudyError> {
    folder.refuse_others::<S::Manifest>()?;
    let known = folder.read_manifest::<S::Manifest>()?;
    let refuse = |what: String| {
        let file = folder.file_with::<S::Manifest>();
        StudyError::Mixed(format!("{}: {what}; give another --out", file.display()))
    };
    if let Some(format) = known.as_ref().map(StudyManifest::format).filter(|&format| format != FORMAT) {
        return Err(refuse(format!(
            "the study is of format {format}, whose digests this version does not make, so that no run can be added; report and merge read it"
        )));
    }
    study.manifest_after(known.as_ref()).map_err(refuse)
}

enum Stop {
    Interrupted,
    Failed(Box<StudyError>),
}

fn failed(error: StudyError) -> Stop {
    Stop::Failed(Box::new(error))
}

/// Makes or continues a run to its end. `None` when another process is at it.
fn continued<S: Study>(
    study: &S,
    run: S::Run,
    folder: &StudyFolder,
    context: &Context,
    on_event: &(dyn Fn(&Event<'_, S>) + Sync),
) -> Result<Option<RunFile<RecordOf<S>>>, Stop> {
    let header = study.planned(run).header;
    let Some(mut file) = RunFile::open(&folder.file_of(&header), &header).map_err(failed)? else {
        return Ok(None);
    };
    let on_record = |step: &RecordOf<S>| on_event(&Event::Step { run, step });
    match study.go_on(run, folder, &mut file, context, &on_record).map_err(failed)? {
        Ended::Complete => Ok(Some(file)),
        Ended::Interrupted => Err(Stop::Interrupted),
    }
}
