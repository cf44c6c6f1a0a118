//! `leafgp report`: one page about where the experiments stand.

use std::io::Write;
use std::path::Path;

use super::Status;
use super::args::{Common, ReportArgs, SolverArgs};
use super::failure::Failure;
use super::histories::{history_file, read_history, refuse_input};
use super::inputs::{read_problem, with_preset};
use super::interrupt;
use super::output::Output;
use super::progress::Meter;
use leafgp::engine::{Context, Optimizer};
use leafgp::file::write_whole;
use leafgp_study::campaign::{Campaign, page};

pub(super) fn command(args: &ReportArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let problem = read_problem(&args.problem.file, common, &SolverArgs::default(), output)?;
    let problem = with_preset(problem, &args.preset)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    let is_stdout = args.output == Path::new("-");
    if !is_stdout {
        refuse_input(&args.output, &[&args.problem.file, file.path(), &file.forecasts_path()])?;
    }
    args.problem.history.check_exists(&file)?;
    let history = read_history(&file, &problem, output)?;
    args.problem.history.check_bounds(&file, &problem, &history)?;
    let forecasts = if args.problem.history.is_stdin() { Ok(Vec::new()) } else { file.forecasts(&problem) };
    let forecasts = forecasts.unwrap_or_else(|error| {
        output.warning(&error.to_string());
        Vec::new()
    });
    let interrupt = interrupt::flag();
    let context = Context { interrupt: Some(interrupt), ..Context::default() };
    let meter = Meter::spinner(output);
    let campaign = Campaign::new(Optimizer::with_history(problem, &history)?, &forecasts, &context)?;
    drop(meter);
    if context.is_interrupted() {
        return Err(Failure::Interrupted("interrupted: no report is written".into()));
    }
    let html = page(&campaign);
    if is_stdout {
        output.write_all(html.as_bytes())?;
    } else {
        write_whole(&args.output, html.as_bytes()).map_err(|e| Failure::file(&args.output, e))?;
        output.note(&format!("{} is written", args.output.display()));
    }
    Ok(Status::Done)
}
