//! `leafgp optimize`: the best input of a trained model, with proof.

use std::io::Write;

use leafgp_models::{Ensemble, Optimum, coordinate_to_json};
use leafgp_solver::constraints::Variable;
use leafgp_solver::search::Status as SearchStatus;
use serde_json::Value;

use super::Status;
use super::args::{Common, Format, OptimizeArgs};
use super::failure::Failure;
use super::inputs::search_options;
use super::interrupt;
use super::model_space::{ModelSpace, is_problem_file};
use super::optimize_problem;
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp::engine::interrupted;
use leafgp::file::write_whole;
use leafgp::problem::format_number;

pub(super) fn command(args: &OptimizeArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    if is_problem_file(&args.model.model) {
        return optimize_problem::command(args, common, output);
    }
    ModelSpace::check_one_box(&args.space)?;
    let space = ModelSpace::open(&args.model, &args.space, common, &args.solver, output)?;
    let goal = space.goal(args.goal)?;
    let settings = space.settings(common, &args.solver)?;
    let interrupt = interrupt::flag();
    let meter = Meter::spinner(output);
    let mut options = search_options(&settings, &interrupt, &meter);
    options.k_best = args.top.max(1);
    let (model, variables) = (&space.model, &space.variables);
    let optimum = model.optimize(&space.space(), goal, &options);
    drop(meter);
    let optimum = optimum.map_err(|error| Failure::file(&args.model.model, error))?;
    match args.format {
        Format::Json => output.json(&optimum.to_json(variables))?,
        Format::Table => write_text(model, variables, &optimum, output)?,
    }
    if interrupted(Some(&interrupt)) {
        return Err(Failure::Interrupted("interrupted: this is what was found and proved so far".into()));
    }
    if let Some(path) = &args.certificate {
        let certificate = model
            .certify(&space.space(), goal, &optimum, &options)
            .map_err(|error| Failure::NoAnswer(format!("{}: {error}", path.display())))?;
        write_whole(path, &certificate.write()).map_err(|e| Failure::file(path, e))?;
    }
    status_of(optimum.status)
}

/// Exit code of a search.
pub(super) fn status_of(status: SearchStatus) -> Result<Status, Failure> {
    match status {
        SearchStatus::Optimal | SearchStatus::Feasible => Ok(Status::Done),
        SearchStatus::Infeasible | SearchStatus::Unknown => Ok(Status::NoAnswer),
    }
}

/// A line of the list of cells: "first: value at name = value, ...", from the second on with its rank in place of `first`.
pub(super) fn ranked_text(
    first: &str,
    rank: usize,
    value: f64,
    variables: &[Variable],
    point: &[f64],
) -> String {
    let label = if rank == 0 { first.to_owned() } else { format!("{}.", rank + 1) };
    format!("{label}: {} at {}", short(value), point_text(variables, point))
}

/// "name = value, ...".
pub(super) fn point_text(variables: &[Variable], point: &[f64]) -> String {
    let one =
        |(variable, &x): (&Variable, &f64)| format!("{} = {}", variable.name, coordinate_text(variable, x));
    variables.iter().zip(point).map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn coordinate_text(variable: &Variable, x: f64) -> String {
    match coordinate_to_json(variable, x) {
        Value::String(label) => label,
        _ => format_number(x),
    }
}

fn write_text(
    model: &Ensemble,
    variables: &[Variable],
    optimum: &Optimum,
    output: &mut Output,
) -> Result<(), Failure> {
    writeln!(output, "{} ({}); {} trees", optimum.status, optimum.stop_reason, model.n_trees())?;
    for (rank, candidate) in optimum.best.iter().chain(&optimum.others).enumerate() {
        writeln!(output, "{}", ranked_text("best", rank, candidate.value, variables, &candidate.point))?;
    }
    let seconds = optimum.seconds;
    writeln!(
        output,
        "bound {}, gap {:.2e}, {} nodes, {seconds:.3} s",
        optimum.bound, optimum.gap, optimum.nodes
    )?;
    Ok(())
}
