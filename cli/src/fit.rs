//! `leafgp fit`: how good is the model, and which variables matter?

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::Status;
use super::args::{Common, FitArgs, Format, ModelArgs, SolverArgs};
use super::failure::Failure;
use super::histories::{history_file, read_history, refuse_input};
use super::inputs::read_problem;
use super::model::{bind, read_model};
use super::output::Output;
use super::text_table::{short, text_table};
use leafgp::engine::{
    CrossValidation, HeldOut, HeldOutErrors, Importance, ModelQuality, Optimizer, TreesQuality,
    model_quality, objective_trees, predictions_quality, trees_quality,
};
use leafgp::file::write_whole;
use leafgp::gbdt::{Ensemble, Importances};
use leafgp::history::Row;
use leafgp::problem::Problem;
use leafgp_solver::constraints::Variable;

pub(super) fn command(args: &FitArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let problem = read_problem(&args.problem.file, common, &SolverArgs::default(), output)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    if let Some(path) = &args.export {
        refuse_input(path, &[&args.problem.file, file.path()])?;
    }
    args.problem.history.check_exists(&file)?;
    let history = read_history(&file, &problem, output)?;
    args.problem.history.check_bounds(&file, &problem, &history)?;
    let optimizer = Optimizer::with_history(problem, &history)?;
    let in_file = |e: &dyn std::fmt::Display| Failure::Input(format!("{}: {e}", file.path().display()));
    if let Some(path) = &args.model {
        let quality = quality_of_file(path, optimizer.problem(), optimizer.observations(), &in_file)?;
        match args.format {
            Format::Json => output.json(&json!({
                "n_rows": quality.n_rows,
                "trees_rmse": quality.rmse,
                "importances": importances_to_json(&quality.importances),
            }))?,
            Format::Table => {
                writeln!(
                    output,
                    "{} measured rows, error of the trees {}\n",
                    quality.n_rows,
                    short(quality.rmse)
                )?;
                write_importances(&quality.importances, output)?;
            }
        }
        return Ok(Status::Done);
    }
    if let Some(path) = &args.export {
        let trees =
            objective_trees(optimizer.problem(), optimizer.observations()).map_err(|e| in_file(&e))?;
        write_whole(path, (trees.to_json() + "\n").as_bytes())
            .map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
    }
    let quality = model_quality(optimizer.problem(), optimizer.observations(), args.cv.map(|k| k as usize))
        .map_err(|e| in_file(&e))?;
    match args.format {
        Format::Json => output.json(&to_json(&quality))?,
        Format::Table => write_text(&quality, output)?,
    }
    Ok(Status::Done)
}

fn to_json(quality: &ModelQuality) -> Value {
    let cv = quality.cross_validation.as_ref();
    json!({
        "n_rows": quality.n_rows,
        "folds": cv.map(|cv| cv.folds),
        "trees_cv_rmse": cv.map(|cv| cv.trees_rmse),
        "gp_cv_rmse": cv.map(|cv| cv.gp_rmse),
        "gp_cv_log_density": cv.map(|cv| cv.gp_log_density),
        "held_out": cv.map(held_out_to_json),
        "std": quality.std,
        "signal_variance": quality.signal_variance,
        "noise_variance": quality.noise_variance,
        "importances": importances_to_json(&quality.importances),
        "training_curve": quality.training_curve,
    })
}

/// One entry a model, the one that chooses the points first.
fn held_out_to_json(cv: &CrossValidation) -> Value {
    let entry = |(i, (model, errors)): (usize, (&str, &HeldOutErrors))| {
        let prediction =
            |p: &HeldOut| json!({ "row": p.row + 1, "value": p.value, "mean": p.mean, "std": p.std });
        json!({
            "model": model,
            "chooses_the_points": i == 0,
            "verdict": errors.verdict().as_str(),
            "rmse": errors.rmse,
            "r_squared": errors.r_squared,
            "coverage": errors.coverage(),
            "log_density": errors.log_density,
            "predictions": errors.predictions.iter().map(prediction).collect::<Vec<_>>(),
        })
    };
    judged(cv).into_iter().enumerate().map(entry).collect()
}

/// The models that were judged, the one that chooses the points first.
fn judged(cv: &CrossValidation) -> Vec<(&'static str, &HeldOutErrors)> {
    let mut models = vec![cv.chooser()];
    if cv.smooth.is_some() {
        models.push(("trees' process", &cv.process));
    }
    models
}

fn importances_to_json(importances: &[Importance]) -> Map<String, Value> {
    importances.iter().map(|i| (i.name.clone(), json!({ "gain": i.gain, "splits": i.splits }))).collect()
}

/// How well the trees of a file predict the measured rows: trees that `fit --export` wrote, by position, or a model of another library, its features matched
/// by name and its categories by label.
fn quality_of_file(
    path: &Path,
    problem: &Problem,
    rows: &[Row],
    in_history: &dyn Fn(&dyn std::fmt::Display) -> Failure,
) -> Result<TreesQuality, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::file(path, e))?;
    if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|text| Ensemble::is_json(text)) {
        let trees = Ensemble::from_json(text).map_err(|e| Failure::file(path, e))?;
        return trees_quality(problem, rows, &trees).map_err(|e| in_history(&e));
    }
    let args = ModelArgs { model: path.to_owned(), class: None, by_position: false };
    let model = read_model(&args)?;
    let variables: Vec<Variable> =
        problem.variables().iter().map(leafgp::problem::Variable::in_expressions).collect();
    let binding = bind(&args, &model, &variables)?;
    let of_features = model.importances();
    let n = variables.len();
    let mut of_variables = Importances { gain: vec![0.0; n], split: vec![0; n] };
    for (variable, (gain, splits)) in
        binding.variables().zip(of_features.gain.into_iter().zip(of_features.splits))
    {
        of_variables.gain[variable] = gain;
        of_variables.split[variable] = splits;
    }
    let predict = |point: &[f64]| model.predict(&binding.features_of(point));
    predictions_quality(problem, rows, predict, &of_variables).map_err(|e| in_history(&e))
}

fn write_text(quality: &ModelQuality, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{} measured rows, standard deviation {}", quality.n_rows, short(quality.std))?;
    if let Some(cv) = &quality.cross_validation {
        writeln!(output, "{}-fold error of the trees   {}", cv.folds, short(cv.trees_rmse))?;
        writeln!(output, "{}-fold error of the process {}", cv.folds, short(cv.gp_rmse))?;
        writeln!(output, "mean log density of held-out values {}\n", short(cv.gp_log_density))?;
        for (i, (model, errors)) in judged(cv).into_iter().enumerate() {
            let role = if i == 0 { "chooses the points" } else { "what is proved is proved of it" };
            writeln!(output, "the {model} ({role}) is {}", errors.sentence())?;
        }
        writeln!(output)?;
    }
    writeln!(
        output,
        "signal variance {}, noise variance {} (standardised)",
        short(quality.signal_variance),
        short(quality.noise_variance)
    )?;
    if let (Some(first), Some(last)) = (quality.training_curve.first(), quality.training_curve.last()) {
        let n_trees = quality.training_curve.len();
        writeln!(
            output,
            "error on the rows themselves: {} after 1 tree, {} after {n_trees}\n",
            short(*first),
            short(*last)
        )?;
    }
    write_importances(&quality.importances, output)
}

fn write_importances(importances: &[Importance], output: &mut Output) -> Result<(), Failure> {
    let mut order: Vec<_> = importances.iter().collect();
    order.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|i| vec![i.name.clone(), format!("{:.1}", 100.0 * i.gain), i.splits.to_string()])
        .collect();
    output.write_all(text_table(&["variable", "gain %", "splits"], &rows).as_bytes())?;
    Ok(())
}
