//! `leafgp fit`: how good is the model, and which variables matter?

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Status;
use super::args::{Common, FitArgs, Format, SolverArgs};
use super::failure::Failure;
use super::inputs::{history_file, read_history, read_problem};
use super::output::Output;
use super::text_table::{short, text_table};
use crate::engine::{ModelQuality, Optimizer, model_quality};

pub(super) fn command(args: &FitArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let problem = read_problem(&args.problem.file, common, &SolverArgs::default(), output)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    let history = read_history(&file, &problem, output)?;
    let optimizer = Optimizer::with_history(problem, &history);
    let quality = model_quality(optimizer.problem(), optimizer.observations(), args.cv.map(|k| k as usize))
        .map_err(|e| Failure::Input(format!("{}: {e}", file.path().display())))?;
    match args.format {
        Format::Json => output.json(&to_json(&quality))?,
        Format::Table => write_text(&quality, output)?,
    }
    Ok(Status::Done)
}

fn to_json(quality: &ModelQuality) -> Value {
    let cv = quality.cross_validation.as_ref();
    let importances: Map<String, Value> = quality
        .importances
        .iter()
        .map(|i| (i.name.clone(), json!({ "gain": i.gain, "splits": i.splits })))
        .collect();
    json!({
        "n_rows": quality.n_rows,
        "folds": cv.map(|cv| cv.folds),
        "trees_cv_rmse": cv.map(|cv| cv.trees_rmse),
        "gp_cv_rmse": cv.map(|cv| cv.gp_rmse),
        "gp_cv_log_density": cv.map(|cv| cv.gp_log_density),
        "std": quality.std,
        "signal_variance": quality.signal_variance,
        "noise_variance": quality.noise_variance,
        "importances": importances,
    })
}

fn write_text(quality: &ModelQuality, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{} measured rows, standard deviation {}", quality.n_rows, short(quality.std))?;
    if let Some(cv) = &quality.cross_validation {
        writeln!(output, "{}-fold error of the trees   {}", cv.folds, short(cv.trees_rmse))?;
        writeln!(output, "{}-fold error of the process {}", cv.folds, short(cv.gp_rmse))?;
        writeln!(output, "mean log density of held-out values {}", short(cv.gp_log_density))?;
    }
    writeln!(
        output,
        "signal variance {}, noise variance {} (standardised)\n",
        short(quality.signal_variance),
        short(quality.noise_variance)
    )?;
    let mut order: Vec<_> = quality.importances.iter().collect();
    order.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|i| vec![i.name.clone(), format!("{:.1}", 100.0 * i.gain), i.splits.to_string()])
        .collect();
    output.write_all(text_table(&["variable", "gain %", "splits"], &rows).as_bytes())?;
    Ok(())
}
