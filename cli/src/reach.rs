//! `leafgp reach`: the smallest change of a setting after which a model promises a target, with proof.

use std::io::Write;

use leafgp_models::{ModelOptimum, ModelProblem, NamedModel, Reach, ReachOutcome, Target};
use leafgp_solver::constraints::Variable;

use super::Status;
use super::args::{Common, Format, ReachArgs};
use super::failure::Failure;
use super::inputs::{override_settings, search_options};
use super::interrupt;
use super::model::in_row;
use super::model_space::{ModelSpace, fixings, is_problem_file};
use super::optimize::{coordinate_text, status_of};
use super::optimize_problem::{model_problem, predictions_text, read, write_proof};
use super::output::Output;
use super::progress::Meter;
use super::text_table::{short, text_table};
use leafgp::engine::interrupted;
use leafgp::history::Columns;

pub(super) fn command(args: &ReachArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let (problem, mut settings) = if is_problem_file(&args.model.model) {
        let stated = read(&args.model, &args.space, output)?;
        (model_problem(&stated)?, stated.settings().clone())
    } else {
        let space = ModelSpace::open(&args.model, &args.space, common, &args.solver, output)?;
        let settings = space.settings(common, &args.solver)?;
        (of_one_model(space)?, settings)
    };
    override_settings(&mut settings, common, &args.solver)?;
    let variables = problem.variables();
    let excluded = fixings(&args.space.fix, variables)?;
    let from = setting(args, variables)?;
    let weights = weights(&args.cost, variables)?;
    let (model, target) = target(&args.target, &problem)?;
    let interrupt = interrupt::flag();
    let meter = Meter::spinner(output);
    let options = search_options(&settings, &interrupt, &meter);
    let reach = Reach { from: &from, weights: &weights, model, target };
    let outcome = problem.reach(&reach, &excluded, &options);
    drop(meter);
    let outcome = outcome.map_err(|error| Failure::file(&args.model.model, error))?;
    match args.format {
        Format::Json => output.json(&outcome.to_json(&problem, &from))?,
        Format::Table => write_text(&problem, &from, args, &outcome, output)?,
    }
    if interrupted(Some(&interrupt)) {
        return Err(Failure::Interrupted("interrupted: this is what was found and proved so far".into()));
    }
    match outcome {
        ReachOutcome::Nearest(nearest) => status_of(nearest.status),
        ReachOutcome::Unreachable(_) => Ok(Status::NoAnswer),
    }
}

/// A problem of a single model, with the constraints of its problem file.
fn of_one_model(space: ModelSpace) -> Result<ModelProblem, Failure> {
    let ModelSpace { model, problem, variables, binding, .. } = space;
    let mut name = "prediction".to_owned();
    let taken = |name: &str| {
        let defined = problem.iter().flat_map(leafgp::problem::Problem::definitions).map(|d| d.name.as_str());
        variables.iter().map(|v| v.name.as_str()).chain(defined).any(|other| other == name)
    };
    while taken(&name) {
        name.push('_');
    }
    let models = vec![NamedModel { name, ensemble: model, binding }];
    let together = ModelProblem::new(variables, models).map_err(Failure::input)?;
    together.stating(problem.iter().flat_map(leafgp::problem::Problem::stated)).map_err(Failure::input)
}

/// The setting of `--from`: a row of the table, or a value for each variable.
fn setting(args: &ReachArgs, variables: &[Variable]) -> Result<Vec<f64>, Failure> {
    let text = args.from.trim();
    if let Ok(row) = text.parse::<usize>() {
        let Some(file) = &args.space.data else {
            return Err(Failure::Input(format!("--from {text}: a row needs its table, --data T.csv")));
        };
        let wanted: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
        let table = Columns::read(file, &wanted)?;
        if row == 0 || row > table.n_rows() {
            return Err(Failure::file(file, format!("there is no row {row}; there are {}", table.n_rows())));
        }
        let value = |(i, variable): (usize, &Variable)| {
            // By position the names of the columns do not matter.
            let name = if args.model.by_position { table.names().get(i) } else { Some(&variable.name) };
            let cells = name.and_then(|name| table.column(name)).ok_or_else(|| {
                let names = table.names();
                Failure::file(file, format!("no column is called {:?}; there are {names:?}", variable.name))
            })?;
            parse(variable, cells[row - 1])
                .map_err(|what| in_row(file, &table, row, format!("row {row}, {:?}: {what}", variable.name)))
        };
        return variables.iter().enumerate().map(value).collect();
    }
    let mut values = vec![None; variables.len()];
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let refuse = |what: String| Failure::Input(format!("--from: {part}: {what}"));
        let (index, value) = named(part, variables).map_err(refuse)?;
        let value = parse(&variables[index], value).map_err(refuse)?;
        if values[index].replace(value).is_some() {
            return Err(refuse("the variable is given twice".into()));
        }
    }
    let missing = variables.iter().zip(&values).find(|(_, value)| value.is_none());
    if let Some((variable, _)) = missing {
        return Err(Failure::Input(format!("--from {text}: there is no value for {:?}", variable.name)));
    }
    Ok(values.into_iter().flatten().collect())
}

/// `name=value`: the variable and the text of the value.
fn named<'t>(text: &'t str, variables: &[Variable]) -> Result<(usize, &'t str), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let index = variables.iter().position(|variable| variable.name == name.trim()).ok_or_else(|| {
        let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
        format!("there is no variable {:?}; known are {names:?}", name.trim())
    })?;
    Ok((index, value.trim()))
}

/// A value of a variable, a level by its label. Numbers may lie outside the domain: where one is, is no matter of where one may go.
fn parse(variable: &Variable, text: &str) -> Result<f64, String> {
    if variable.domain.is_categorical() {
        let level = variable.level_names.iter().position(|label| label == text);
        return level
            .map(|level| level as f64)
            .ok_or_else(|| format!("{text:?} is no level; known are {:?}", variable.level_names));
    }
    text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("{text:?}; expected a number"))
}

fn weights(costs: &[String], variables: &[Variable]) -> Result<Vec<f64>, Failure> {
    let mut weights = vec![1.0; variables.len()];
    for text in costs {
        let refuse = |what: String| Failure::Input(format!("--cost {text}: {what}"));
        let (index, value) = named(text, variables).map_err(refuse)?;
        let weight: f64 = value.parse().map_err(|_| refuse(format!("{value:?} is no number")))?;
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(refuse("a weight is a finite number, not negative".into()));
        }
        weights[index] = weight;
    }
    Ok(weights)
}

/// The model and what it shall promise.
fn target(text: &str, problem: &ModelProblem) -> Result<(usize, Target), Failure> {
    let names: Vec<&str> = problem.models().iter().map(|model| model.name.as_str()).collect();
    let refuse =
        || Failure::Input(format!("--target {text}: expected such as \">= 60\"; the models: {names:?}"));
    let (at, make): (usize, fn(f64) -> Target) = match (text.find(">="), text.find("<=")) {
        (Some(at), None) => (at, Target::AtLeast),
        (None, Some(at)) => (at, Target::AtMost),
        _ => return Err(refuse()),
    };
    let (name, limit) = (text[..at].trim().trim_matches('`'), text[at + 2..].trim());
    let limit: f64 = limit.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(refuse)?;
    let model = match (name, names.len()) {
        ("", 1) => 0,
        _ => names.iter().position(|known| *known == name).ok_or_else(refuse)?,
    };
    Ok((model, make(limit)))
}

fn changes<'a>(
    variables: &'a [Variable],
    from: &'a [f64],
    to: &'a [f64],
) -> impl Iterator<Item = (&'a Variable, f64, f64)> {
    variables.iter().zip(from.iter().zip(to)).filter(|(_, (a, b))| a != b).map(|(v, (&a, &b))| (v, a, b))
}

fn write_text(
    problem: &ModelProblem,
    from: &[f64],
    args: &ReachArgs,
    outcome: &ReachOutcome,
    output: &mut Output,
) -> Result<(), Failure> {
    let variables = problem.variables();
    let (ReachOutcome::Nearest(optimum) | ReachOutcome::Unreachable(optimum)) = outcome;
    let ModelOptimum { best, status, stop_reason, .. } = optimum;
    match (outcome, best) {
        (ReachOutcome::Nearest(_), Some(best)) => {
            writeln!(output, "{status} ({stop_reason}); distance {}", short(best.value))?;
            let row = |(variable, a, b): (&Variable, f64, f64)| {
                vec![variable.name.clone(), coordinate_text(variable, a), coordinate_text(variable, b)]
            };
            let rows: Vec<Vec<String>> = changes(variables, from, &best.point).map(row).collect();
            if rows.is_empty() {
                writeln!(output, "nothing has to change")?;
            } else {
                output.write_all(text_table(&["variable", "from", "to"], &rows).as_bytes())?;
            }
            writeln!(output, "{}", predictions_text(problem, &best.predictions))?;
        }
        (ReachOutcome::Nearest(_), None) => writeln!(output, "{status} ({stop_reason})")?,
        (ReachOutcome::Unreachable(_), _) => {
            writeln!(output, "{} cannot be reached: that is proved", args.target.trim())?;
            match best {
                Some(best) => writeln!(
                    output,
                    "the best that can: {} ({status}), at {}",
                    short(best.value),
                    super::optimize::point_text(variables, &best.point)
                )?,
                None => writeln!(output, "the constraints leave no setting at all ({status})")?,
            }
        }
    }
    write_proof(optimum, output)
}
