//! `leafgp run`: the closed loop.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use super::Status;
use super::args::{Common, Format, RunArgs};
use super::failure::Failure;
use super::histories::{history_file, read_history};
use super::inputs::{read_problem, with_overrides, with_preset};
use super::interrupt;
use super::ledger::{FileLedger, StepRow};
use super::output::Output;
use super::progress::Meter;
use super::suggest::{best_to_json, promise_to_json, stop_sign, write_promise};
use super::text_table::{short, text_table};
use super::wishes::{self, note_fixed};
use leafgp::engine::{self, Context, Ended, Evaluate, Method, Optimizer, Promise, RunSettings};
use leafgp::history::{HistoryFile, Outcome};
use leafgp::problem::Problem;
use leafgp_study::Jobs;
use leafgp_study::functions::FunctionEvaluator;
use leafgp_study::functions::{self, Benchmark};

/// Failures one after the other that end a run: the fault is then hardly the experiments'.
const FAILURES_IN_A_ROW: usize = 3;

pub(super) fn command(args: &RunArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let function = args.function.as_deref().map(functions::find).transpose().map_err(Failure::input)?;
    let (mut problem, file) = problem_and_history(args, function, common, output)?;
    problem = with_preset(problem, &args.preset)?;
    if let Some(initial) = args.initial {
        problem = problem.adjusted(|settings| settings.design.initial = initial)?;
    }
    args.history.check_name(&file)?;
    args.history.check_writable()?;
    file.check_writable(&problem)?;
    let history = read_history(&file, &problem, output)?;
    args.history.check_bounds(&file, &problem, &history)?;
    let request = wishes::fixed(&problem, &args.fix)?;
    let fixed = request.fixed.iter().filter_map(|(name, value)| Some((problem.index_of(name)?, *value)));
    let fixed: Vec<(usize, f64)> = fixed.collect();
    // A value that cannot be suggested is refused before anything is measured.
    problem.with_fixed(&fixed)?;
    let interrupt = interrupt::flag();
    let jobs = args.evaluate.as_ref().map(|command| jobs(args, command, &file, &interrupt));
    let evaluator: &dyn Evaluate = match (&jobs, function) {
        (Some(jobs), _) => jobs,
        (None, Some(function)) => &FunctionEvaluator(function),
        (None, None) => return Err(Failure::Input("give --evaluate CMD, or --function NAME".into())),
    };

    let mut optimizer = Optimizer::with_history(problem, &history)?;
    let settings = RunSettings {
        iterations: args.iterations,
        parallel: args.parallel,
        failures_in_a_row: (!args.keep_going).then_some(FAILURES_IN_A_ROW),
        until_gain: args.until_gain,
        request,
        context: Context { interrupt: Some(interrupt), ..Context::default() },
    };
    note_fixed(optimizer.problem(), &settings.request, output);
    let total = engine::planned(&optimizer, &settings);
    let meter = Meter::bar(total, output);
    let mut ledger = FileLedger::new(&file, jobs.as_ref(), fixed, total, &meter, output)?;
    ledger.sweep(optimizer.problem())?;
    let result = engine::run(&mut optimizer, evaluator, &settings, &mut ledger);
    let rows = ledger.finish(optimizer.problem())?;
    drop(meter);

    let promise = match &result {
        Ok(Ended::NoMoreGain(promise)) => Some(*promise),
        Ok(Ended::Complete) => stop_sign(&optimizer, &settings.request, &settings.context, output),
        Ok(Ended::Interrupted) | Err(_) => None,
    };
    match args.format {
        Format::Table => {
            write_text(&optimizer, &rows, output)?;
            if let Some(promise) = &promise {
                write_promise(&optimizer, promise, output)?;
            }
        }
        Format::Json => output.json(&to_json(&optimizer, &rows, promise.as_ref()))?,
    }
    let ended = result?;
    if let (Ended::NoMoreGain(promise), Some(least)) = (ended, args.until_gain) {
        let left = short(promise.gain().unwrap_or(0.0));
        output.note(&format!(
            "stopped: at most {left} is left to gain by the trees' model, no more than {}",
            short(least)
        ));
    }
    if ended == Ended::Interrupted {
        let message = format!(
            "interrupted after {} evaluations; all of them are in {}",
            rows.len(),
            file.path().display()
        );
        return Err(Failure::Interrupted(message));
    }
    // Experiments that all failed are no answer.
    Ok(if optimizer.best().is_some() { Status::Done } else { Status::NoAnswer })
}

/// From the files; or the function's own problem, with its history beside the current folder's files.
fn problem_and_history(
    args: &RunArgs,
    function: Option<&'static Benchmark>,
    common: &Common,
    output: &mut Output,
) -> Result<(Problem, HistoryFile), Failure> {
    match (&args.file, function) {
        (Some(path), _) => {
            let problem = read_problem(path, common, &args.solver, output)?;
            if let Some(function) = function {
                function
                    .check_fits(&problem)
                    .map_err(|what| Failure::Input(format!("{}: {what}", path.display())))?;
            }
            let file = history_file(&args.history, path)?;
            Ok((problem, file))
        }
        (None, Some(function)) => {
            let problem = with_overrides(function.problem()?, common, &args.solver)?;
            let path = args
                .history
                .history
                .clone()
                .unwrap_or_else(|| PathBuf::from(format!("{}.csv", function.name)));
            Ok((problem, HistoryFile::new(path)))
        }
        (None, None) => Err(Failure::Input("give a problem file, or --function NAME".into())),
    }
}

/// The command's evaluations, which live on when this program is killed.
fn jobs(args: &RunArgs, command: &str, file: &HistoryFile, interrupt: &Arc<AtomicBool>) -> Jobs {
    let command = leafgp_study::Command {
        command: command.to_owned(),
        timeout: args.timeout.map(Duration::from_secs_f64),
        interrupt: Some(Arc::clone(interrupt)),
    };
    Jobs::new(command, file.jobs_path())
}

fn write_text(optimizer: &Optimizer, rows: &[StepRow], output: &mut Output) -> Result<(), Failure> {
    let problem = optimizer.problem();
    let mut header = vec!["step"];
    header.extend(problem.variables().iter().map(|v| v.name.as_str()));
    header.extend([problem.objective().name.as_str(), "best", "proof", "gap", "nodes", "seconds"]);
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|StepRow { step, best }| {
            let mut cells = vec![step.number.to_string()];
            cells.extend(
                problem
                    .variables()
                    .iter()
                    .zip(&step.suggestion.point)
                    .map(|(v, &x)| if v.levels().is_empty() { short(x) } else { v.format_value(x) }),
            );
            cells.push(match step.outcome {
                Outcome::Done(value) => short(value),
                Outcome::Failed => "failed".into(),
                Outcome::Pending => "pending".into(),
            });
            cells.push(best.map_or("-".into(), short));
            match &step.suggestion.proof {
                Some(proof) => cells.extend([
                    proof.status.to_string(),
                    format!("{:.1e}", proof.gap),
                    proof.nodes.to_string(),
                ]),
                None => {
                    let kind = match step.suggestion.method() {
                        _ if step.suggestion.is_planned() => "pending row",
                        Method::SmoothSearch => "local search",
                        Method::Design | Method::Cell | Method::Listed => "first design",
                    };
                    cells.extend([kind.into(), "-".into(), "-".into()]);
                }
            }
            cells.push(format!("{:.3}", step.seconds));
            cells
        })
        .collect();
    output.write_all(text_table(&header, &body).as_bytes())?;

    let proved = rows.iter().filter_map(|row| row.step.suggestion.proof.as_ref());
    let (proofs, optimal) =
        proved.fold((0, 0), |(n, k), p| (n + 1, k + usize::from(p.status.as_str() == "optimal")));
    let searched = rows.iter().filter(|row| row.step.suggestion.method() == Method::SmoothSearch).count();
    if searched == 0 {
        writeln!(output, "\n{optimal} of {proofs} model-based steps proved optimal")?;
    } else {
        writeln!(output, "\n{searched} steps by local search; {optimal} of {proofs} cells proved optimal")?;
    }
    for row in rows {
        if let Some(failure) = &row.step.failure {
            writeln!(output, "step {} failed: {failure}", row.step.number)?;
        }
    }
    match optimizer.best() {
        Some(best) => {
            let point: Vec<String> = problem
                .variables()
                .iter()
                .zip(&best.point)
                .map(|(v, &x)| format!("{} = {}", v.name, v.format_value(x)))
                .collect();
            writeln!(output, "best: {} = {} at {}", problem.objective().name, best.value, point.join(", "))?;
        }
        None => writeln!(output, "no feasible experiment has a value yet")?,
    }
    Ok(())
}

fn to_json(optimizer: &Optimizer, rows: &[StepRow], promise: Option<&Promise>) -> Value {
    let problem = optimizer.problem();
    let steps: Vec<Value> = rows
        .iter()
        .map(|StepRow { step, best }| {
            let mut object = step.suggestion.to_json(problem);
            let value = match step.outcome {
                Outcome::Done(value) => Some(value),
                Outcome::Failed | Outcome::Pending => None,
            };
            object["step"] = json!(step.number);
            object["value"] = json!(value);
            object["best"] = json!(best);
            object["failure"] = json!(step.failure);
            object["nodes"] = json!(step.suggestion.proof.as_ref().map(|proof| proof.nodes));
            object["seconds"] = json!(step.seconds);
            object
        })
        .collect();
    json!({
        "steps": steps,
        "best": optimizer.best().map(|best| best_to_json(problem, &best)),
        "promise": promise.map(promise_to_json),
    })
}
