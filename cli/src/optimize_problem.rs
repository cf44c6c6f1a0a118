//! `leafgp optimize FILE.toml`: the best input of several trained models under constraints that name them, with proof.

use std::io::Write;
use std::path::Path;

use leafgp_models::{Ensemble, ModelError, ModelOptimum, ModelProblem, NamedModel, ReadOptions};
use leafgp_solver::certificate::{Certificate, Refusal, Verified};
use leafgp_solver::constraints::Variable;

use super::Status;
use super::args::{Common, Format, ModelArgs, OptimizeArgs, SpaceArgs, VerifyArgs};
use super::failure::Failure;
use super::inputs::{override_settings, search_options};
use super::interrupt;
use super::model_space::{fixings, goal};
use super::optimize::{ranked_text, status_of};
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp::engine::interrupted;
use leafgp::file::write_whole;
use leafgp::problem::Modelled;

pub(super) fn command(args: &OptimizeArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let stated = read(&args.model, &args.space, output)?;
    refuse_beside(&[(args.space.data.is_some(), "--data")])?;
    let problem = model_problem(&stated)?;
    let goal = goal(args.goal, Some(stated.goal())).expect("the file has a goal");
    let excluded = fixings(&args.space.fix, problem.variables())?;
    let mut settings = stated.settings().clone();
    override_settings(&mut settings, common, &args.solver)?;
    let interrupt = interrupt::flag();
    let meter = Meter::spinner(output);
    let mut options = search_options(&settings, &interrupt, &meter);
    options.k_best = args.top.max(1);
    let optimum = problem.optimize(&stated.objective().expr, goal, &excluded, &options);
    drop(meter);
    let optimum = optimum.map_err(|error| Failure::file(&args.model.model, error))?;
    match args.format {
        Format::Json => output.json(&optimum.to_json(&problem))?,
        Format::Table => write_text(&stated.objective().name, &problem, &optimum, output)?,
    }
    if interrupted(Some(&interrupt)) {
        return Err(Failure::Interrupted("interrupted: this is what was found and proved so far".into()));
    }
    if let Some(path) = &args.certificate {
        let certificate = problem
            .certify(&stated.objective().expr, goal, &excluded, &optimum, &options)
            .map_err(|error| Failure::NoAnswer(format!("{}: {error}", path.display())))?;
        write_whole(path, &certificate.write()).map_err(|e| Failure::file(path, e))?;
    }
    status_of(optimum.status)
}

/// `leafgp verify` of such a problem's proof.
pub(super) fn check(
    model: &ModelArgs,
    args: &VerifyArgs,
    certificate: impl FnOnce() -> Result<Certificate, Failure>,
    output: &mut Output,
) -> Result<Result<Verified, Refusal>, Failure> {
    let stated = read(model, &args.space, output)?;
    refuse_beside(&[(args.space.data.is_some(), "--data")])?;
    let problem = model_problem(&stated)?;
    let goal = goal(args.goal, Some(stated.goal())).expect("the file has a goal");
    let excluded = fixings(&args.space.fix, problem.variables())?;
    let objective = &stated.objective().expr;
    let refused = |error: ModelError| Failure::file(&args.instance, error);
    let certificate = certificate()?;
    let checked = problem.verify(objective, goal, &excluded, &certificate, args.budget()).map_err(refused)?;
    if let (Some(file), Ok(_)) = (&args.statement, &checked) {
        let statement = problem.statement(objective, goal, &excluded).map_err(refused)?;
        write_whole(file, &statement).map_err(|e| Failure::file(file, e))?;
    }
    Ok(checked)
}

fn refuse_beside(options: &[(bool, &str)]) -> Result<(), Failure> {
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::Input(format!("{option} does not go with a problem over models"))),
        None => Ok(()),
    }
}

/// Reads the problem file that stands where a model could.
pub(super) fn read(args: &ModelArgs, space: &SpaceArgs, output: &mut Output) -> Result<Modelled, Failure> {
    refuse_beside(&[
        (args.class.is_some(), "--class"),
        (args.by_position, "--by-position"),
        (space.problem.is_some(), "--problem"),
    ])?;
    let Some(stated) = Modelled::from_file(&args.model)? else {
        let message = "the problem file has no [models]; one of a single model goes behind the model: \
                       leafgp optimize MODEL --problem FILE.toml";
        return Err(Failure::file(&args.model, message));
    };
    for warning in stated.warnings() {
        output.warning(&format!("{}: {warning}", args.model.display()));
    }
    Ok(stated)
}

/// The models of the file, bound to its variables, and everything that it states.
pub(super) fn model_problem(stated: &Modelled) -> Result<ModelProblem, Failure> {
    let variables: Vec<Variable> =
        stated.variables().iter().map(leafgp::problem::Variable::in_expressions).collect();
    let mut models = Vec::new();
    for (i, entry) in stated.models().iter().enumerate() {
        let refuse = |error: leafgp_models::ModelError| {
            let (message, file) = (error.to_string(), entry.file.display().to_string());
            let message = if message.contains(&file) { message } else { format!("{file}: {message}") };
            Failure::from(stated.refuse_model(i, message))
        };
        let options = match entry.class {
            Some(class) => ReadOptions::default().with_class(class),
            None => ReadOptions::default(),
        };
        let ensemble = Ensemble::open(Path::new(&entry.file), &options).map_err(refuse)?;
        let named = NamedModel::bind(entry.name.as_str(), ensemble, &variables, entry.by_position);
        models.push(named.map_err(refuse)?);
    }
    let problem = ModelProblem::new(variables, models).map_err(Failure::input)?;
    problem.stating(stated.stated()).map_err(Failure::input)
}

fn write_text(
    objective: &str,
    problem: &ModelProblem,
    optimum: &ModelOptimum,
    output: &mut Output,
) -> Result<(), Failure> {
    writeln!(output, "{} ({}); {} models", optimum.status, optimum.stop_reason, problem.models().len())?;
    for (rank, candidate) in optimum.best.iter().chain(&optimum.others).enumerate() {
        let line = ranked_text(objective, rank, candidate.value, problem.variables(), &candidate.point);
        writeln!(output, "{line}")?;
        writeln!(output, "{}", predictions_text(problem, &candidate.predictions))?;
    }
    write_proof(optimum, output)
}

/// "name = prediction, ...".
pub(super) fn predictions_text(problem: &ModelProblem, predictions: &[f64]) -> String {
    let one = |(model, &y): (&NamedModel, &f64)| format!("{} = {}", model.name, short(y));
    problem.models().iter().zip(predictions).map(one).collect::<Vec<_>>().join(", ")
}

/// The last line: what is proved, and at what cost.
pub(super) fn write_proof(optimum: &ModelOptimum, output: &mut Output) -> Result<(), Failure> {
    writeln!(
        output,
        "bound {}, gap {:.2e}, {} nodes, {:.3} s",
        optimum.bound, optimum.gap, optimum.nodes, optimum.seconds
    )?;
    Ok(())
}
