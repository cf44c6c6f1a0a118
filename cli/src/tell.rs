//! `leafgp tell`, `fail` and `cancel`: what became of one experiment.

use super::Status;
use super::args::{CancelArgs, Common, FailArgs, ProblemArgs, SolverArgs, TellArgs};
use super::failure::Failure;
use super::histories::history_file;
use super::inputs::read_problem;
use super::output::Output;
use leafgp::history::{HistoryFile, Outcome};
use leafgp::problem::{Problem, format_number};

/// The problem, and its history, which must be there.
fn opened(
    args: &ProblemArgs,
    common: &Common,
    output: &mut Output,
) -> Result<(Problem, HistoryFile), Failure> {
    let problem = read_problem(&args.file, common, &SolverArgs::default(), output)?;
    let file = history_file(&args.history, &args.file)?;
    args.history.check_writable()?;
    if !file.path().exists() {
        return Err(Failure::file(file.path(), "there is no such file; expected the history (CSV)"));
    }
    Ok((problem, file))
}

pub(super) fn tell(args: &TellArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let (problem, file) = opened(&args.problem, common, output)?;
    file.set_outcome(&problem, args.row, Outcome::Done(args.value), None, args.replace)?;
    let (name, value) = (&problem.objective().name, format_number(args.value));
    output.note(&format!("{}: row {}: {name} = {value}", file.path().display(), args.row));
    Ok(Status::Done)
}

pub(super) fn fail(args: &FailArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let (problem, file) = opened(&args.problem, common, output)?;
    let (outcome, word) =
        if args.retry { (Outcome::Pending, "pending again") } else { (Outcome::Failed, "failed") };
    file.set_outcome(&problem, args.row, outcome, args.reason.as_deref(), args.replace)?;
    output.note(&format!("{}: row {}: {word}", file.path().display(), args.row));
    Ok(Status::Done)
}

pub(super) fn cancel(args: &CancelArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let (problem, file) = opened(&args.problem, common, output)?;
    file.cancel_row(&problem, args.row)?;
    output.note(&format!("{}: row {} is taken out; later rows move up", file.path().display(), args.row));
    Ok(Status::Done)
}
