//! `leafgp optimize FILE.toml`: the best input of several trained models under constraints that name them, with proof.

use std::io::Write;
use std::path::Path;

use leafgp_models::{Ensemble, ModelOptimum, ModelProblem, NamedModel, ReadOptions};
use leafgp_solver::constraints::Variable;

use super::Status;
use super::args::{Common, Format, ModelArgs, OptimizeArgs, SpaceArgs};
use super::failure::Failure;
use super::inputs::{override_settings, search_options};
use super::interrupt;
use super::model_space::{fixings, goal};
use super::optimize::{ranked_text, status_of};
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp::engine::interrupted;
use leafgp::problem::Modelled;

pub(super) fn command(args: &OptimizeArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let stated = read(&args.model, &args.space, output)?;
    refuse_beside(&[(args.space.data.is_some(), "--data")])?;
    if args.certificate.is_some() {
        return Err(no_certificates("--certificate"));
    }
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
    status_of(optimum.status)
}

/// Why there is no proof on record: the format has no place for what such a proof stands on.
pub(super) fn no_certificates(what: &str) -> Failure {
    Failure::Input(format!(
        "{what}: there are certificates of single models only, under constraints on the variables. The proof over several models also stands on \
         bounds of the expressions by sums of leaves, on a multiplier of each model's constraint, on what each model predicts over a box, and on cells \
         halved by value; docs/certificate-format.md has no place for these"
    ))
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
