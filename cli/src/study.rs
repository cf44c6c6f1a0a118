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
use leafgp_study::{Event, ReportOptions, RunOptions, Spec, StudyError, StudyFolder};

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
    let out = StudyFolder::new(&args.out);
    let summary = if folders.iter().chain([&out]).any(AgreementSpec::is_in) {
        agreement::merge(&folders, &out)?
    } else {
        leafgp_study::merge(&folders, &out)?
    };
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
        if args.baseline.is_some() {
            let message = "an uncertainty study has no methods to compare: --baseline does not apply";
            return Err(Failure::file(&args.folder, message));
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
    let folder = StudyFolder::new(&args.out);
    let options = run_options(args);
    let terminal = Terminal::new(0, output);
    let tell = |line: String| terminal.write(|output| output.note(&line));
    let summary = leafgp_study::run(&spec, &folder, &options, &|event| match event {
        Event::Start { evaluations, runs, complete } => {
            terminal.meter.set_length(*evaluations);
            tell(format!("{runs} runs with {evaluations} evaluations to make; {complete} runs are complete"));
        }
        Event::Step { run, step } => {
            terminal.meter.step(spec.run_name(*run));
            if args.verbose > 1 {
                let best = step.best.map_or("none".to_owned(), short);
                tell(format!("{} evaluation {}: best {best}", spec.run_name(*run), step.evaluation));
            }
        }
        Event::Complete { run, best } => {
            if args.verbose > 0 {
                let best =
                    best.map_or("no feasible value".to_owned(), |best| format!("best {}", short(best)));
                tell(format!("{} complete: {best}", spec.run_name(*run)));
            }
        }
        Event::Busy { run } => tell(format!("{} is left to another process", spec.run_name(*run))),
        Event::Failed { run, error } => {
            let line = format!("run {}: {error}", spec.run_name(*run));
            terminal.write(|output| output.warning(&line));
        }
    });
    let output = terminal.close();
    let summary = summary?;
    if summary.interrupted {
        return Err(interrupted(summary.complete, summary.total));
    }
    writeln!(output, "{} of {} runs complete in {}", summary.complete, summary.total, args.out.display())?;
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

    /// Takes the meter away and gives the output back.
    fn close(self) -> &'a mut Output {
        drop(self.meter);
        self.output.into_inner().unwrap_or_else(PoisonError::into_inner)
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

/// The uncertainty study: its runs, then summary and figures of what is on record.
fn run_agreement(args: &StudyRunArgs, output: &mut Output) -> Result<Status, Failure> {
    let spec = AgreementSpec::from_file(&args.spec)?;
    let folder = StudyFolder::new(&args.out);
    let options = run_options(args);
    let terminal = Terminal::new(spec.missing_answers(&folder, &options)?, output);
    let summary = agreement::run(&spec, &folder, &options, &|run, answer| {
        terminal.meter.step(run.to_owned());
        if args.verbose > 0 {
            let number = |x: Option<f64>| x.map_or("-".to_owned(), short);
            let line = format!(
                "{run} ratio {}: {}, mean {}, error {}, {} nodes",
                answer.ratio,
                answer.status,
                number(answer.mean),
                number(answer.error),
                answer.nodes
            );
            terminal.write(|output| output.note(&line));
        }
    });
    let output = terminal.close();
    let summary = summary?;
    if summary.interrupted {
        return Err(interrupted(summary.complete, summary.total));
    }
    agreement::draw(&folder)?;
    writeln!(
        output,
        "{} of {} runs complete; summary and figures in {}",
        summary.complete,
        summary.total,
        args.out.display()
    )?;
    Ok(Status::Done)
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        Self::input(error)
    }
}
