//! The box of a table: what a model was, or could be, asked about.

use leafgp_constraints::{Domain, Variable};

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::feature::Feature;

/// A column of a table, as text; an empty cell is a missing value.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The header.
    pub name: &'a str,
    /// The cells.
    pub cells: &'a [&'a str],
}

/// One variable for each feature, in the features' order, spanned by the table's column of that name: a number from its smallest to its largest
/// value, a category with the levels that occur, in the order of their codes. Other columns are left out, missing cells too.
///
/// # Errors
/// A feature without a column, with both lists; a column without values; text in a column of numbers; an unknown label, with both lists.
pub fn variables_from_table(
    ensemble: &Ensemble,
    columns: &[Column<'_>],
) -> Result<Vec<Variable>, ModelError> {
    let variable = |feature: &Feature| {
        let column =
            columns.iter().find(|column| column.name == feature.name).ok_or_else(|| ModelError::Names {
                problem: format!("no column is called {:?}", feature.name),
                features: ensemble.features().iter().map(|feature| feature.name.clone()).collect(),
                variables: columns.iter().map(|column| column.name.to_string()).collect(),
            })?;
        if feature.is_categorical() { levels(feature, column) } else { interval(feature, column) }
    };
    ensemble.features().iter().map(variable).collect()
}

/// Row number, from 1, and text of each cell that is not missing.
fn filled<'a>(column: &Column<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    column
        .cells
        .iter()
        .enumerate()
        .map(|(row, cell)| (row + 1, cell.trim()))
        .filter(|(_, cell)| !cell.is_empty())
}

fn interval(feature: &Feature, column: &Column<'_>) -> Result<Variable, ModelError> {
    let wrong = |problem: String| ModelError::Feature { feature: feature.name.clone(), problem };
    let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
    for (row, cell) in filled(column) {
        let in_row = |problem: &str| {
            let error = wrong(format!("row {row} holds {cell:?}; expected {problem}"));
            ModelError::Cell { row, error: Box::new(error) }
        };
        let value: f64 = cell.parse().map_err(|_| in_row("a number"))?;
        if value.is_nan() {
            continue;
        }
        if value.is_infinite() {
            return Err(in_row("a finite number"));
        }
        (lower, upper) = (lower.min(value), upper.max(value));
    }
    if lower > upper {
        return Err(wrong("the column has no values".into()));
    }
    let domain = Domain::Continuous { lower, upper };
    Ok(Variable { name: feature.name.clone(), domain, level_names: Vec::new() })
}

fn levels(feature: &Feature, column: &Column<'_>) -> Result<Variable, ModelError> {
    let mut seen = std::collections::BTreeMap::new();
    let mut unknown: Option<(usize, &str)> = None;
    for (row, cell) in filled(column) {
        match feature.code(cell) {
            Some(code) => {
                seen.entry(code).or_insert(cell);
            }
            None => unknown = unknown.or(Some((row, cell))),
        }
    }
    if let Some((row, cell)) = unknown {
        let crate::FeatureKind::Categorical { labels } = &feature.kind else { unreachable!("a category") };
        let error = ModelError::Labels {
            feature: feature.name.clone(),
            problem: format!("the model has no category {cell:?} (row {row})"),
            categories: labels.clone().unwrap_or_default(),
            levels: seen.values().map(|cell| (*cell).to_string()).collect(),
        };
        return Err(ModelError::Cell { row, error: Box::new(error) });
    }
    if seen.is_empty() {
        let problem = "the column has no values".into();
        return Err(ModelError::Feature { feature: feature.name.clone(), problem });
    }
    let level_names: Vec<String> = seen.values().map(|cell| (*cell).to_string()).collect();
    let domain = Domain::Categorical { levels: level_names.len() };
    Ok(Variable { name: feature.name.clone(), domain, level_names })
}
