//! `leafgp status`: where things stand.

use std::io::Write;

use serde_json::{Value, json};

use super::args::{Common, Format, HistoryArgs, SolverArgs, StatusArgs};
use super::failure::Failure;
use super::histories::{history_file, read_history};
use super::inputs::read_problem;
use super::output::Output;
use super::suggest::{best_to_json, promise_to_json, stop_sign, write_promise};
use super::text_table::short;
use leafgp::engine::{Context, Optimizer};
use leafgp::history::{Forecast, History, HistoryFile, Outcome, Row, forecast_of_rows};
use leafgp::problem::{Problem, format_number};

pub(super) fn command(
    args: &StatusArgs,
    common: &Common,
    output: &mut Output,
) -> Result<super::Status, Failure> {
    let problem = read_problem(&args.problem.file, common, &SolverArgs::default(), output)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    args.problem.history.check_exists(&file)?;
    let history = read_history(&file, &problem, output)?;
    let optimizer = Optimizer::with_history(problem.clone(), &history)?;
    let promise = stop_sign(&optimizer, &Context::default(), output);
    let promises = kept_promises(&args.problem.history, &file, &problem, &history, output);
    match args.format {
        Format::Table => {
            write_text(&problem, &history, output)?;
            if let Some(promise) = &promise {
                write_promise(&optimizer, promise, output)?;
            }
            write_kept(&problem, &promises, output)?;
        }
        Format::Json => {
            let mut object = to_json(&problem, &history);
            object["promise"] = json!(promise.as_ref().map(promise_to_json));
            object["predictions"] = promises.iter().map(Kept::to_json).collect();
            output.json(&object)?;
        }
    }
    Ok(super::Status::Done)
}

/// A result, of a target its distance from it, and what was predicted of it.
pub(super) struct Kept {
    /// Number of the experiment, from 1.
    pub(super) row: usize,
    pub(super) value: f64,
    pub(super) forecast: Forecast,
}

impl Kept {
    fn is_kept(&self) -> bool {
        self.forecast.is_kept_by(self.value)
    }

    fn to_json(&self) -> Value {
        let forecast = &self.forecast;
        json!({
            "row": self.row, "value": self.value, "predicted": forecast.mean, "deviation": forecast.deviation(), "as_predicted": self.is_kept(),
            "bound": forecast.bound, "method": forecast.method, "seed": forecast.seed, "version": forecast.version,
        })
    }
}

/// The results of which a prediction was kept. A table of predictions that cannot be read is a warning.
fn kept_promises(
    args: &HistoryArgs,
    file: &HistoryFile,
    problem: &Problem,
    history: &History,
    output: &mut Output,
) -> Vec<Kept> {
    if args.is_stdin() {
        return Vec::new();
    }
    let forecasts = file.forecasts(problem).unwrap_or_else(|error| {
        output.warning(&error.to_string());
        Vec::new()
    });
    let found = forecast_of_rows(problem, history, &forecasts);
    let kept = history.rows.iter().zip(found).enumerate().filter_map(|(i, (row, forecast))| {
        let value = problem.objective().goal.modelled(row.value()?);
        Some(Kept { row: i + 1, value, forecast: forecast?.clone() })
    });
    kept.collect()
}

/// Did it come out as promised?
fn write_kept(problem: &Problem, promises: &[Kept], output: &mut Output) -> Result<(), Failure> {
    const SHOWN: usize = 10;
    if promises.is_empty() {
        return Ok(());
    }
    let missed: Vec<&Kept> = promises.iter().filter(|promise| !promise.is_kept()).collect();
    writeln!(
        output,
        "as predicted: {} of {} results lie within 1.96 deviations of what was predicted for them (of 20, 19 should)",
        promises.len() - missed.len(),
        promises.len()
    )?;
    for promise in missed.iter().rev().take(SHOWN) {
        let better = problem.objective().goal.of_modelled().is_better(promise.value, promise.forecast.mean);
        writeln!(
            output,
            "{} than predicted: row {}: {}, predicted {} +- {}",
            if better { "better" } else { "worse" },
            promise.row,
            short(promise.value),
            short(promise.forecast.mean),
            short(promise.forecast.deviation())
        )?;
    }
    Ok(())
}

/// The experiments of a kind with their numbers, from 1.
fn rows_with(history: &History, is: fn(Outcome) -> bool) -> Vec<(usize, &Row)> {
    history.rows.iter().enumerate().filter(|(_, row)| is(row.outcome)).map(|(i, row)| (i + 1, row)).collect()
}

fn write_text(problem: &Problem, history: &History, output: &mut Output) -> Result<(), Failure> {
    let done = rows_with(history, |outcome| matches!(outcome, Outcome::Done(_)));
    let pending = rows_with(history, |outcome| outcome == Outcome::Pending);
    let failed = rows_with(history, |outcome| outcome == Outcome::Failed);
    writeln!(output, "{} done, {} pending, {} failed", done.len(), pending.len(), failed.len())?;
    match history.best(problem) {
        Some(best) => {
            let (name, value) = (&problem.objective().name, format_number(best.value));
            let point = point_text(problem, &best.point);
            writeln!(output, "best so far: {name} = {value} in row {} at {point}", best.row + 1)?;
        }
        None => writeln!(output, "no feasible experiment has a value yet")?,
    }
    for (word, rows) in [("pending", pending), ("failed", failed)] {
        for (number, row) in rows {
            let reason = row.failure.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
            let point = point_text(problem, &row.point);
            writeln!(output, "{word}: row {number} (line {}): {point}{reason}", row.line)?;
        }
    }
    Ok(())
}

fn point_text(problem: &Problem, point: &[f64]) -> String {
    let values = problem.variables().iter().zip(point);
    let values: Vec<String> = values.map(|(v, &x)| format!("{} = {}", v.name, v.format_value(x))).collect();
    values.join(", ")
}

fn to_json(problem: &Problem, history: &History) -> Value {
    let listed = |is| -> Vec<Value> {
        let entry = |(number, row): (usize, &Row)| {
            json!({
                "row": number, "line": row.line, "point": problem.point_to_json(&row.point), "failure": row.failure,
            })
        };
        rows_with(history, is).into_iter().map(entry).collect()
    };
    json!({
        "done": rows_with(history, |outcome| matches!(outcome, Outcome::Done(_))).len(),
        "pending": listed(|outcome| outcome == Outcome::Pending),
        "failed": listed(|outcome| outcome == Outcome::Failed),
        "best": history.best(problem).map(|best| best_to_json(problem, &best)),
    })
}
