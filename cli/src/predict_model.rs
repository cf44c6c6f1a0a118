//! `leafgp predict MODEL`: what a trained model says of each row of a table.

use std::io::Write;
use std::path::Path;

use leafgp_models::{Ensemble, Feature};
use serde_json::json;

use super::Status;
use super::args::{ModelArgs, PredictArgs, SuggestionFormat};
use super::failure::Failure;
use super::model::{columns_of, in_row, read_model};
use super::output::Output;
use leafgp::history::Columns;
use leafgp::problem::format_number;

/// The column that is added.
const PREDICTION: &str = "prediction";

pub(super) fn command(args: &PredictArgs, output: &mut Output) -> Result<Status, Failure> {
    let model_args = ModelArgs { model: args.file.clone(), class: args.class, by_position: args.by_position };
    let model = read_model(&model_args)?;
    let wanted: Vec<&str> = model.features().iter().map(|feature| feature.name.as_str()).collect();
    let table = Columns::read(&args.points, &wanted)?;
    if args.format != SuggestionFormat::Json && table.names().iter().any(|name| name == PREDICTION) {
        let message =
            format!("the table has a column {PREDICTION:?} already; rename it, or use --format json");
        return Err(Failure::file(&args.points, message));
    }
    let predictions = predictions(&model_args, &model, &args.points, &table)?;
    match args.format {
        SuggestionFormat::Json => output.json(&json!({ "predictions": predictions }))?,
        SuggestionFormat::Table | SuggestionFormat::Csv => {
            let delimiter = table.delimiter();
            writeln!(output, "{}{delimiter}{PREDICTION}", table.header())?;
            for (line, &value) in table.lines().zip(&predictions) {
                let text = format_number(value);
                let text =
                    if delimiter == ';' && !line.contains('.') { text.replace('.', ",") } else { text };
                writeln!(output, "{line}{delimiter}{text}")?;
            }
        }
    }
    Ok(Status::Done)
}

fn predictions(
    args: &ModelArgs,
    model: &Ensemble,
    file: &Path,
    table: &Columns,
) -> Result<Vec<f64>, Failure> {
    let columns = columns_of(args, model, table)?;
    let cells: Vec<Vec<&str>> = columns.iter().map(|name| table.column(name).unwrap_or_default()).collect();
    let row = |i: usize| {
        let value = |((feature, name), cells): ((&Feature, &&str), &Vec<&str>)| {
            value_of(feature, cells[i])
                .map_err(|what| in_row(file, table, i + 1, format!("row {}, column {name:?}: {what}", i + 1)))
        };
        let x: Vec<f64> =
            model.features().iter().zip(&columns).zip(&cells).map(value).collect::<Result<_, _>>()?;
        Ok(model.predict(&x))
    };
    (0..table.n_rows()).map(row).collect()
}

/// A cell as the model's value; an empty cell is missing.
fn value_of(feature: &Feature, cell: &str) -> Result<f64, String> {
    if cell.is_empty() || cell.eq_ignore_ascii_case("nan") {
        return Ok(f64::NAN);
    }
    if feature.is_categorical() {
        let code = feature.code(cell);
        return code.map(|code| code as f64).ok_or_else(|| format!("the model has no category {cell:?}"));
    }
    cell.parse().map_err(|_| format!("{cell:?}; expected a number, or nothing for a missing value"))
}
