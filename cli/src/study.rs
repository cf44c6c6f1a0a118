//! `leafgp study`: runs a study, merges shards, writes the report.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::Status;
use super::args::{Common, StudyCommand, StudyMergeArgs, StudyReportArgs, StudyRunArgs};
use super::failure::Failure;
use super::interrupt;
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp_study::agreement::{self, AgreementSpec};
use leafgp_study::{
    Event, RecordOf, ReportOptions, RunOptions, Spec, Study, StudyError, StudyFolder, Summary,
};

pub(super) fn command(
    command: &StudyCommand,
    common: &Common,
    output: &mut Output,
) -> Result<Status, Failure> {
    if common.seed.is_some() {
        return Err(Failure::Input("--seed: a study's seeds stand in its spec, seeds = \"101..120\"".into()));
    }
    match command {
        StudyCommand::Run(args) => run(args, output),
        StudyCommand::Merge(args) => merge(args, output),
        StudyCommand::Report(args) => report(args, output),
    }
}

fn merge(args: &StudyMergeArgs, output: &mut Output) -> Result<Status, Failure> {
    let folders: Vec<StudyFolder> = args.folders.iter().map(StudyFolder::new).collect();
    let summary = leafgp_study::merge(&folders, &StudyFolder::new(&args.out))?;
    writeln!(
        output,
        "{} runs in {}, {} of them complete",
        summary.runs,
        args.out.display(),
        summary.complete
    )?;
    Ok(Status::Done)
}

fn report(args: &StudyReportArgs, output: &mut Output) -> Result<Status, Failure> {
    let out = args.out.clone().unwrap_or_else(|| args.folder.join("report"));
    let folder = StudyFolder::new(&args.folder);
    let summary = if AgreementSpec::is_in(&folder) {
        let refuse = |why: &str| Err(Failure::file(&args.folder, format!("an uncertainty study {why}")));
        if args.baseline.is_some() {
            return refuse("has no methods to compare: --baseline does not apply");
        }
        if args.without_times {
            return refuse("has no times in its report: --without-times does not apply");
        }
        agreement::report(&folder, &out)?
    } else {
        let options = ReportOptions { with_times: !args.without_times, baseline: args.baseline.clone() };
        leafgp_study::report(&folder, &out, &options)?
    };
    if summary.complete < summary.planned {
        output.note(&format!(
            "the report covers the {} complete runs of {}",
            summary.complete, summary.planned
        ));
    }
    writeln!(output, "{}", out.join("report.html").display())?;
    Ok(Status::Done)
}

fn run(args: &StudyRunArgs, output: &mut Output) -> Result<Status, Failure> {
    if std::fs::read_to_string(&args.spec).is_ok_and(|text| AgreementSpec::is_meant(&text)) {
        return run_agreement(args, output);
    }
    let spec = Spec::from_file(&args.spec)?;
    for problem in &spec.problems {
        for warning in problem.problem.warnings() {
            output.warning(&format!("{}: {warning}", problem.name));
        }
    }
    let words: Words<'_, Spec> = Words {
        steps: "evaluations",
        step: &|step| {
            let best = step.best.map_or("none".to_owned(), short);
            format!("evaluation {}: best {best}", step.evaluation)
        },
        complete: &|last| match last.and_then(|step| step.best) {
            Some(best) => format!("best {}", short(best)),
            None => "no feasible value".to_owned(),
        },
    };
    let summary = run_all(&spec, args, &words, output)?;
    writeln!(output, "{} of {} runs complete in {}", summary.complete, summary.total, args.out.display())?;
    ended(&summary)
}

/// The uncertainty study: its runs, then summary and figures of what is on record.
fn run_agreement(args: &StudyRunArgs, output: &mut Output) -> Result<Status, Failure> {
    let spec = AgreementSpec::from_file(&args.spec)?;
    let number = |x: Option<f64>| x.map_or("-".to_owned(), short);
    let words: Words<'_, AgreementSpec> = Words {
        steps: "answers",
        step: &|answer| {
            format!(
                "ratio {}: {}, mean {}, error {}, {} nodes",
                answer.ratio,
                answer.status,
                number(answer.mean),
                number(answer.error),
                answer.nodes
            )
        },
        complete: &|last| format!("mean {}", number(last.and_then(|answer| answer.mean))),
    };
    let summary = run_all(&spec, args, &words, output)?;
    agreement::draw(&StudyFolder::new(&args.out))?;
    writeln!(
        output,
        "{} of {} runs complete; summary and figures in {}",
        summary.complete,
        summary.total,
        args.out.display()
    )?;
    ended(&summary)
}

/// What messages say of a study's steps.
struct Words<'a, S: Study> {
    /// What they are called.
    steps: &'a str,
    /// One of them.
    step: &'a (dyn Fn(&RecordOf<S>) -> String + Sync),
    /// A run, by its last one.
    complete: &'a (dyn Fn(Option<&RecordOf<S>>) -> String + Sync),
}

/// Makes the runs, telling of them as they go.
fn run_all<S: Study>(
    study: &S,
    args: &StudyRunArgs,
    words: &Words<'_, S>,
    output: &mut Output,
) -> Result<Summary, Failure> {
    let folder = StudyFolder::new(&args.out);
    let options = run_options(args);
    let terminal = Terminal::new(0, output);
    let tell = |line: String| terminal.write(|output| output.note(&line));
    let name = |run: S::Run| study.planned(run).header.name();
    let summary = leafgp_study::run(study, &folder, &options, &|event| match event {
        Event::Start { steps, runs, complete } => {
            terminal.meter.set_length(*steps);
            tell(format!("{runs} runs with {steps} {} to make; {complete} runs are complete", words.steps));
        }
        Event::Step { run, step } => {
            terminal.meter.step(name(*run));
            if args.verbose > 1 {
                tell(format!("{} {}", name(*run), (words.step)(step)));
            }
        }
        Event::Complete { run, last } => {
            if args.verbose > 0 {
                tell(format!("{} complete: {}", name(*run), (words.complete)(*last)));
            }
        }
        Event::Busy { run } => tell(format!("{} is left to another process", name(*run))),
        Event::Failed { run, error } => {
            let line = format!("run {}: {error}", name(*run));
            terminal.write(|output| output.warning(&line));
        }
    });
    drop(terminal);
    let summary = summary?;
    if summary.interrupted {
        return Err(interrupted(summary.complete, summary.total));
    }
    Ok(summary)
}

fn ended(summary: &Summary) -> Result<Status, Failure> {
    if summary.failed.is_empty() {
        return Ok(Status::Done);
    }
    Err(Failure::NoAnswer(format!(
        "{} runs stopped with an error; the same command tries them again",
        summary.failed.len()
    )))
}

/// The meter of a study and its messages: they come from all threads, the terminal is one.
struct Terminal<'a> {
    meter: Meter,
    output: Mutex<&'a mut Output>,
}

impl<'a> Terminal<'a> {
    fn new(steps: usize, output: &'a mut Output) -> Self {
        Self { meter: Meter::bar(steps, output), output: Mutex::new(output) }
    }

    fn write(&self, message: impl FnOnce(&mut Output)) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let output: &mut Output = &mut output;
        self.meter.suspend(|| message(output));
    }
}

fn interrupted(complete: usize, total: usize) -> Failure {
    Failure::Interrupted(format!(
        "interrupted with {complete} of {total} runs complete; the same command goes on from here"
    ))
}

fn run_options(args: &StudyRunArgs) -> RunOptions {
    RunOptions {
        jobs: match args.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        },
        shard: args.shard,
        interrupt: Some(interrupt::flag()),
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        Self::input(error)
    }
}
