//! What the commands on trained models share: the model, and which variable is which feature.

use std::path::Path;

use leafgp_models::{Binding, Column, Ensemble, ModelError, ReadOptions, variables_from_table};
use leafgp_solver::constraints::Variable;

use super::args::ModelArgs;
use super::failure::Failure;
use leafgp::history::Columns;

/// Reads the model file.
pub(super) fn read_model(args: &ModelArgs) -> Result<Ensemble, Failure> {
    let options = match args.class {
        Some(class) => ReadOptions::default().with_class(class),
        None => ReadOptions::default(),
    };
    Ensemble::open(&args.model, &options).map_err(|error| {
        let message = error.to_string();
        // Errors of the file itself name it already.
        let name = args.model.display().to_string();
        Failure::Input(if message.contains(&name) { message } else { format!("{name}: {message}") })
    })
}

/// Matches features and variables, by name unless the user says by position.
pub(super) fn bind(args: &ModelArgs, model: &Ensemble, variables: &[Variable]) -> Result<Binding, Failure> {
    let bound = if args.by_position {
        Binding::by_position(model, variables)
    } else {
        Binding::by_name(model, variables)
    };
    bound.map_err(|error| Failure::file(&args.model, error))
}

/// One variable for each feature, spanned by the columns of a table: by name, or the first columns in order.
pub(super) fn variables_of(
    args: &ModelArgs,
    model: &Ensemble,
    file: &Path,
    table: &Columns,
) -> Result<Vec<Variable>, Failure> {
    let names: Vec<&str> = columns_of(args, model, table)?;
    let cells: Vec<Vec<&str>> = names.iter().map(|name| table.column(name).unwrap_or_default()).collect();
    let features = model.features().iter().map(|feature| feature.name.as_str());
    let columns: Vec<Column<'_>> = features.zip(&cells).map(|(name, cells)| Column { name, cells }).collect();
    variables_from_table(model, &columns).map_err(|error| match &error {
        ModelError::Cell { row, .. } => in_row(file, table, *row, &error),
        _ => Failure::file(&args.model, error),
    })
}

/// Bad input in a row (from 1) of a table, with the line of the file.
pub(super) fn in_row(file: &Path, table: &Columns, row: usize, what: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("{}:{}: {what}", file.display(), table.line_of(row)))
}

/// The column of each feature, in the features' order.
pub(super) fn columns_of<'t>(
    args: &ModelArgs,
    model: &Ensemble,
    table: &'t Columns,
) -> Result<Vec<&'t str>, Failure> {
    let features = model.features();
    let refused = |problem: String| {
        let features: Vec<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
        Failure::Input(format!(
            "{}: {problem}; the model's features: {features:?}; the table's columns: {:?}",
            args.model.display(),
            table.names()
        ))
    };
    if args.by_position {
        if table.names().len() < features.len() {
            return Err(refused(format!("{} features, {} columns", features.len(), table.names().len())));
        }
        return Ok(table.names().iter().take(features.len()).map(String::as_str).collect());
    }
    let column = |name: &str| {
        let found = table.names().iter().find(|own| *own == name);
        found.map(String::as_str).ok_or_else(|| refused(format!("no column is called {name:?}")))
    };
    features.iter().map(|feature| column(&feature.name)).collect()
}
