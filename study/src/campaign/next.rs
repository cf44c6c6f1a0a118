//! The next experiment, and why.

use super::facts::Campaign;
use super::leaves::{Agreement, Leaf, reasons};
use super::page::{Column, TableRow, headline, paragraph, table};
use super::words::{plus_minus, point_text, shown, signed};
use crate::page::digits;
use leafgp::engine::{Method, Suggestion, rounded_outward};
use leafgp::history::{Outcome, Row};
use leafgp::problem::Problem;
use leafgp_solver::Range;

/// Rows and leaves that are named as reasons.
const MOST_REASONS: usize = 6;

/// The next experiment and its reasons.
pub(super) fn next(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let rows = campaign.rows();
    headline(text, "next", "Next experiment");
    let pending: Vec<String> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.outcome == Outcome::Pending)
        .map(|(i, row)| format!("row {} ({})", i + 1, point_text(problem, &row.point)))
        .collect();
    if !pending.is_empty() {
        paragraph(
            text,
            "",
            &format!(
                "Planned already, without a value yet: {}. The suggestion counts on them.",
                pending.join("; ")
            ),
        );
    }
    let suggestion = match &campaign.next {
        Ok(suggestion) => suggestion,
        Err(reason) => return paragraph(text, "warn", &format!("There is none: {reason}.")),
    };
    let region = suggestion.proof.as_ref().map(|proof| &proof.region);
    let cell = |i: usize| -> String {
        match region.map(|region| &region.0[i]) {
            Some(Range::Interval { lower, upper }) => format!("{} to {}", digits(*lower), digits(*upper)),
            Some(Range::Levels(levels)) => {
                let names = levels.iter().map(|level| problem.variables()[i].format_value(level as f64));
                names.collect::<Vec<_>>().join(", ")
            }
            None => String::new(),
        }
    };
    let mut columns = vec![Column::text("variable"), Column::number("set to"), Column::text("unit")];
    if region.is_some() {
        columns.push(Column::text("equal for the trees in"));
    }
    let lines: Vec<TableRow> = problem
        .variables()
        .iter()
        .enumerate()
        .map(|(i, v)| TableRow {
            class: "",
            cells: vec![
                v.name.clone(),
                v.format_value(suggestion.point[i]),
                v.unit.clone().unwrap_or_default(),
                cell(i),
            ],
        })
        .collect();
    paragraph(text, "", &why(problem, suggestion));
    if let Some(note) = &suggestion.note {
        paragraph(text, "note", &format!("Note: {note}."));
    }
    let reasons = campaign.surrogate.as_ref().map(|surrogate| reasons(surrogate, &suggestion.point));
    text.push_str("<div class=\"grid\">\n<div>\n<h3>Set</h3>\n");
    table(text, &columns, &lines);
    text.push_str("</div>\n");
    if let Some((leaves, _)) = &reasons {
        deciding_leaves(text, leaves);
    }
    text.push_str("</div>\n");
    if let Some((_, agreements)) = &reasons {
        agreeing_rows(text, campaign, agreements);
    }
}

/// How the suggestion was found, in sentences.
fn why(problem: &Problem, suggestion: &Suggestion) -> String {
    let name = &problem.objective().name;
    let Some(prediction) = suggestion.prediction() else {
        return "A space-filling point: there is too little data for a model to decide.".to_owned();
    };
    let predicted = format!("Predicted {name}: {}.", plus_minus(prediction.mean, prediction.std));
    let by = suggestion.chosen.map_or("", |chosen| chosen.acquisition_name());
    let how = match (suggestion.method(), &suggestion.proof) {
        (Method::Cell, Some(proof)) => {
            let bound = rounded_outward(proof.promised_bound, problem.objective().goal);
            let which = if suggestion.chosen.is_some() {
                format!("; within it the smooth process chose, by {by}")
            } else {
                String::new()
            };
            format!(
                "It lies in the trees' best cell, whose score is {}; no feasible setting scores better than {bound} (proved, gap {:.1e}){which}.",
                digits(proof.promised),
                proof.gap
            )
        }
        (Method::SmoothSearch, _) => {
            format!(
                "The smooth process chose it out of all feasible settings, by {by}, with local searches: good, without a proof that there is no better one."
            )
        }
        _ => String::new(),
    };
    format!("{predicted} {how}")
}

/// Which leaves the suggestion falls into.
fn deciding_leaves(text: &mut String, leaves: &[Leaf]) {
    text.push_str("<div>\n<h3>Why: the leaves that decide</h3>\n");
    let columns = [
        Column::text("leaf of the suggestion"),
        Column::number("moves the prediction by"),
        Column::number("rows in it"),
    ];
    let line = |leaf: &Leaf| TableRow {
        class: "",
        cells: vec![leaf.rule.clone(), signed(leaf.effect), leaf.n_rows.to_string()],
    };
    let lines: Vec<TableRow> = leaves.iter().take(MOST_REASONS).map(line).collect();
    table(text, &columns, &lines);
    paragraph(
        text,
        "note",
        "Of the trees' model, against the mean over all rows, in the objective's units; equal leaves of several trees are added up.",
    );
    text.push_str("</div>\n");
}

/// Which rows share its leaves.
fn agreeing_rows(text: &mut String, campaign: &Campaign, agreements: &[Agreement]) {
    let problem = campaign.problem();
    // The training set holds the measured and failed rows in order.
    let known: Vec<(usize, &Row)> =
        campaign.rows().iter().enumerate().filter(|(_, row)| row.outcome != Outcome::Pending).collect();
    text.push_str("<h3>Why: the rows that agree with it most</h3>\n");
    let mut columns = vec![
        Column::number("row"),
        Column::number("shared leaves"),
        Column::number(&problem.objective().name),
    ];
    columns.extend(problem.variables().iter().map(Column::of));
    let lines: Vec<TableRow> = agreements
        .iter()
        .take(MOST_REASONS)
        .filter_map(|agreement| Some((agreement.share, known.get(agreement.row)?)))
        .map(|(share, (i, row))| {
            let value = row.value().map_or_else(|| "failed".into(), digits);
            let mut cells = vec![(i + 1).to_string(), format!("{:.0} %", 100.0 * share), value];
            cells.extend(problem.variables().iter().zip(&row.point).map(|(v, &x)| shown(v, x)));
            TableRow { class: "", cells }
        })
        .collect();
    table(text, &columns, &lines);
    paragraph(
        text,
        "note",
        "The share of trees in which the row and the suggestion fall into the same leaf: what the trees believe of the suggestion, they believe because of these rows.",
    );
}
