//! `leafgp predict`: what the model expects at given points.

use std::io::Write;

use leafgp_solver::constraints::Tolerance;
use serde_json::{Map, Value, json};

use super::Status;
use super::args::{Common, PredictArgs, SolverArgs, SuggestionFormat};
use super::failure::Failure;
use super::histories::{history_file, read_history};
use super::inputs::read_problem;
use super::output::Output;
use super::predict_model;
use super::text_table::{short, text_table};
use super::wishes::read_points;
use leafgp::engine::{EngineError, Optimizer, Prediction};
use leafgp::history::{Judgement, judge, quoted};
use leafgp::problem::{Problem, format_number};

/// A point and what is known of it.
struct Line {
    point: Vec<f64>,
    prediction: Prediction,
    /// Names of broken rules (or of variables outside their values), with the amount in their own units.
    broken: Vec<(String, f64)>,
}

pub(super) fn command(args: &PredictArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    if args.file.extension().is_none_or(|extension| extension != "toml") {
        return predict_model::command(args, output);
    }
    if args.class.is_some() || args.by_position {
        return Err(Failure::Input(
            "--class and --by-position are for trained models, not for problem files".into(),
        ));
    }
    let problem = read_problem(&args.file, common, &SolverArgs::default(), output)?;
    let file = history_file(&args.history, &args.file)?;
    args.history.check_exists(&file)?;
    let history = read_history(&file, &problem, output)?;
    args.history.check_bounds(&file, &problem, &history)?;
    let points = read_points(&args.points, &problem)?;
    let optimizer = Optimizer::with_history(problem, &history)?;
    let model = match optimizer.model() {
        Err(error @ EngineError::NoMeasuredRow) => return Err(Failure::file(file.path(), error)),
        model => model?,
    };
    let problem = optimizer.problem();
    let mut lines = Vec::new();
    for row in points.rows {
        let prediction = model.predict(&row.point).map_err(Failure::input)?;
        lines.push(Line { broken: broken_rules(problem, &row.point), point: row.point, prediction });
    }
    match args.format {
        SuggestionFormat::Table => output.write_all(table(problem, &lines).as_bytes())?,
        SuggestionFormat::Json => output.json(&json!({
            "predictions": lines.iter().map(|line| to_json(problem, line)).collect::<Vec<_>>(),
        }))?,
        SuggestionFormat::Csv => write_csv(problem, &lines, output)?,
    }
    Ok(Status::Done)
}

/// What keeps the point from being feasible, judged like a row of the history.
fn broken_rules(problem: &Problem, point: &[f64]) -> Vec<(String, f64)> {
    // A point that is planned must be on the grid; a measured one may lie beside it. Rules are told even where a variable is out of its bounds.
    let Judgement { outside, beside, violations, .. } = judge(problem, point);
    let violations = if outside.is_empty() {
        violations
    } else {
        problem.constraints().violations(point, Tolerance::Judge)
    };
    let variables = outside
        .into_iter()
        .chain(beside)
        .map(|(i, distance)| (problem.variables()[i].name.clone(), distance));
    let rules =
        violations.into_iter().map(|v| (problem.constraints().name(v.constraint).to_owned(), v.amount));
    variables.chain(rules).collect()
}

/// "`rule` by 0.5", without an amount where a rule has none.
fn broken_text(broken: &[(String, f64)]) -> String {
    let one = |(name, amount): &(String, f64)| {
        if amount.is_finite() { format!("{name} by {}", short(*amount)) } else { name.clone() }
    };
    broken.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn table(problem: &Problem, lines: &[Line]) -> String {
    let name = problem.objective().modelled_name();
    let (mean, std) = (format!("{name} predicted"), "deviation");
    let mut header: Vec<&str> = problem.variables().iter().map(|v| v.name.as_str()).collect();
    header.extend([mean.as_str(), std, "feasible", "broken"]);
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let mut cells: Vec<String> =
                problem.variables().iter().zip(&line.point).map(|(v, &x)| v.format_value(x)).collect();
            let feasible = if line.broken.is_empty() { "yes" } else { "no" };
            cells.extend([
                short(line.prediction.mean),
                short(line.prediction.std),
                feasible.to_owned(),
                broken_text(&line.broken),
            ]);
            cells
        })
        .collect();
    text_table(&header, &rows)
}

fn to_json(problem: &Problem, line: &Line) -> Value {
    let broken: Vec<Value> = line
        .broken
        .iter()
        .map(|(name, amount)| json!({ "name": name, "amount": amount.is_finite().then_some(amount) }))
        .collect();
    let mut object = Map::new();
    object.insert("point".into(), Value::Object(problem.point_to_json(&line.point)));
    object.insert("mean".into(), json!(line.prediction.mean));
    object.insert("std".into(), json!(line.prediction.std));
    object.insert("feasible".into(), json!(line.broken.is_empty()));
    object.insert("broken".into(), Value::Array(broken));
    Value::Object(object)
}

fn write_csv(problem: &Problem, lines: &[Line], output: &mut Output) -> Result<(), Failure> {
    let names = problem.variables().iter().map(|v| v.name.as_str());
    let header: Vec<String> = names
        .chain(["predicted", "deviation", "feasible", "broken"])
        .map(|name| quoted(name, ',').into_owned())
        .collect();
    writeln!(output, "{}", header.join(","))?;
    for line in lines {
        let values = problem.variables().iter().zip(&line.point);
        let mut cells: Vec<String> =
            values.map(|(v, &x)| quoted(&v.format_value(x), ',').into_owned()).collect();
        cells.push(format_number(line.prediction.mean));
        cells.push(format_number(line.prediction.std));
        cells.push(if line.broken.is_empty() { "yes" } else { "no" }.to_owned());
        cells.push(quoted(&broken_text(&line.broken), ',').into_owned());
        writeln!(output, "{}", cells.join(","))?;
    }
    Ok(())
}
