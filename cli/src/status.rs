//! `leafgp status`: where things stand.

use std::io::Write;

use serde_json::{Value, json};

use super::args::{Common, Format, SolverArgs, StatusArgs};
use super::failure::Failure;
use super::histories::{history_file, read_history};
use super::inputs::read_problem;
use super::output::Output;
use super::suggest::best_to_json;
use leafgp::history::{History, Outcome, Row};
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
    match args.format {
        Format::Table => write_text(&problem, &history, output)?,
        Format::Json => output.json(&to_json(&problem, &history))?,
    }
    Ok(super::Status::Done)
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
