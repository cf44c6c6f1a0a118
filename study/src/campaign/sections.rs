//! The sections of the page.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::facts::Campaign;
use super::leaves::reasons;
use super::limits::limits;
use super::page::{Column, TableRow, figure, headline, paragraph, table};
use super::slices::slices;
use crate::escape::escape;
use crate::page::digits;
use crate::plot::{HopeChart, ImportanceChart, Predicted, PredictedChart, Progress, Size, SliceChart, Trial};
use leafgp::engine::{HeldOut, INTERVAL, Method, Suggestion, Verdict, rounded_outward};
use leafgp::history::{Outcome, Row};
use leafgp::problem::{Goal, Problem, Variable};
use leafgp_solver::Range;

/// Charts that stand two in a row on a wide screen, and can be read on a narrow one.
const CHART: Size = Size { width: 480.0, height: 340.0 };
const SMALL_CHART: Size = Size { width: 380.0, height: 260.0 };
/// Rows and leaves that are named as reasons.
const REASONS: usize = 6;

/// A value of a variable for people: six digits, a level by its name.
fn shown(variable: &Variable, x: f64) -> String {
    if variable.levels().is_empty() { digits(x) } else { variable.format_value(x) }
}

fn point_text(problem: &Problem, point: &[f64]) -> String {
    let values = problem.variables().iter().zip(point);
    values.map(|(v, &x)| format!("{} {}", v.name, shown(v, x))).collect::<Vec<_>>().join(", ")
}

fn named(variable: &Variable) -> String {
    variable.unit.as_ref().map_or_else(|| variable.name.clone(), |unit| format!("{} [{unit}]", variable.name))
}

fn plus_minus(mean: f64, std: f64) -> String {
    format!("{} \u{b1} {}", digits(mean), digits(std))
}

fn tile(text: &mut String, label: &str, value: &str, class: &str, below: &str) {
    let _ = writeln!(
        text,
        "<div class=\"tile\"><span>{}</span><b class=\"{class}\">{}</b><small>{}</small></div>",
        escape(label),
        escape(value),
        escape(below)
    );
}

/// Title and tiles: where we stand.
pub(super) fn head(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let objective = problem.objective();
    text.push_str("<header>\n");
    paragraph(text, "eyebrow", &format!("{} {}", objective.goal.as_str(), objective.name));
    let _ = writeln!(
        text,
        "<h1>{}</h1>\n</header>\n<div class=\"tiles\" id=\"standing\">",
        escape(problem.name())
    );
    match &campaign.best {
        Some(best) => tile(
            text,
            "best so far",
            &digits(best.value),
            "",
            &format!("row {}: {}", best.row + 1, point_text(problem, &best.point)),
        ),
        None => tile(text, "best so far", "\u{2013}", "", "no feasible experiment has a value yet"),
    }
    match &campaign.promise {
        Some(promise) => {
            let goal = objective.goal;
            let gain = promise
                .gain()
                .map_or_else(|| "\u{2013}".into(), |gain| rounded_outward(gain, Goal::Maximize));
            let below =
                format!("the bound is {}, proved of the trees' model", rounded_outward(promise.bound, goal));
            tile(
                text,
                "left to gain, at most",
                &gain,
                if promise.ends_at(0.0) { "warn" } else { "" },
                &below,
            );
        }
        None => tile(text, "left to gain", "\u{2013}", "", "nothing is proved yet: too little data"),
    }
    let done = campaign.count(|outcome| matches!(outcome, Outcome::Done(_)));
    let pending = campaign.count(|outcome| outcome == Outcome::Pending);
    let failed = campaign.count(|outcome| outcome == Outcome::Failed);
    tile(text, "experiments done", &done.to_string(), "", &format!("{pending} pending, {failed} failed"));
    match campaign.cross_validation.as_ref().map(|cv| cv.chooser()) {
        Some((model, errors)) => {
            let verdict = errors.verdict();
            let r_squared = errors.r_squared.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
            let n = errors.predictions.len();
            let below =
                format!("{model}: R\u{b2} {r_squared}, {} of {n} in their 95 % intervals", errors.inside);
            tile(text, "the model is", verdict.as_str(), verdict_class(verdict), &below);
        }
        None => tile(text, "the model is", "\u{2013}", "", "a model needs two measured experiments"),
    }
    text.push_str("</div>\n");
}

fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::NoSpread | Verdict::Weak => "",
        Verdict::Worthless | Verdict::TooSure => "warn",
    }
}

/// What is proved, and what that is worth.
pub(super) fn stop_sign(text: &mut String, campaign: &Campaign) {
    let Some(promise) = &campaign.promise else { return };
    let class = if promise.ends_at(0.0) { "card sign stop" } else { "card sign" };
    let _ = writeln!(text, "<section class=\"{class}\" id=\"stop-sign\">");
    let sentence = promise.sentence();
    let mut letters = sentence.chars();
    let capital: String =
        letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default();
    paragraph(text, "", &format!("{capital}."));
    if promise.ends_at(0.0) {
        paragraph(text, "warn", "Stop: nothing better than the best so far is promised anywhere.");
    }
    let mut trust = "This is a proof about the trees' model of the experiments, over every feasible setting; it is no proof about the experiments themselves.".to_owned();
    if let Some(cv) = &campaign.cross_validation {
        let _ = write!(trust, " On rows that it had not seen, that model is {}.", cv.process.sentence());
    }
    paragraph(text, "note", &trust);
    text.push_str("</section>\n");
}

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
    text.push_str("<div class=\"grid\">\n<div>\n");
    table(text, &columns, &lines);
    text.push_str("</div>\n<div>\n");
    paragraph(text, "", &why(problem, suggestion));
    if let Some(note) = &suggestion.note {
        paragraph(text, "note", &format!("Note: {note}."));
    }
    text.push_str("</div>\n</div>\n");
    tree_reasons(text, campaign, suggestion);
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

/// Which leaves, which rows agree.
fn tree_reasons(text: &mut String, campaign: &Campaign, suggestion: &Suggestion) {
    let Some(surrogate) = &campaign.surrogate else { return };
    let problem = campaign.problem();
    let (leaves, agreements) = reasons(surrogate, &suggestion.point);
    // The training set holds the measured and failed rows in order.
    let known: Vec<(usize, &Row)> =
        campaign.rows().iter().enumerate().filter(|(_, row)| row.outcome != Outcome::Pending).collect();
    text.push_str("<div class=\"grid\">\n<div>\n<h3>Rows that agree with it most</h3>\n");
    let mut columns = vec![
        Column::number("row"),
        Column::number("shared leaves"),
        Column::number(&problem.objective().name),
    ];
    columns.extend(
        problem.variables().iter().map(|v| Column { name: v.name.clone(), is_number: v.levels().is_empty() }),
    );
    let lines: Vec<TableRow> = agreements
        .iter()
        .take(REASONS)
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
    text.push_str("</div>\n<div>\n<h3>Leaves that decide</h3>\n");
    let columns = [
        Column::text("leaf of the suggestion"),
        Column::number("moves the prediction by"),
        Column::number("rows in it"),
    ];
    let lines: Vec<TableRow> = leaves
        .iter()
        .take(REASONS)
        .map(|leaf| TableRow {
            class: "",
            cells: vec![leaf.rule.clone(), signed(leaf.effect), leaf.n_rows.to_string()],
        })
        .collect();
    table(text, &columns, &lines);
    paragraph(
        text,
        "note",
        "Against the mean over all rows, in the objective's units; equal leaves of several trees are added up.",
    );
    text.push_str("</div>\n</div>\n");
}

fn signed(x: f64) -> String {
    let size = digits(format!("{:.2e}", x.abs()).parse().unwrap_or(x));
    if x < 0.0 { format!("\u{2212}{size}") } else { format!("+{size}") }
}

/// Progress with the proved hope, and measured against predicted.
pub(super) fn progress_and_model(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let objective = problem.objective();
    headline(text, "progress", "Progress and model");
    text.push_str("<div class=\"grid\">\n");
    let run = campaign.rows().iter().filter(|row| row.outcome != Outcome::Pending);
    let trials = run.map(|row| Trial { value: row.value(), eligible: row.is_eligible() }).collect();
    let chart = HopeChart {
        title: "Progress".into(),
        objective: objective.name.clone(),
        goal: objective.goal,
        progress: Progress { label: String::new(), trials },
        bounds: campaign.bounds.clone(),
    };
    let caption = if campaign.bounds.is_empty() {
        "The best value so far. A proved bound comes with more data."
    } else {
        "The best value so far, and what the trees' model of the experiments up to there proves to be the most that any feasible setting promises."
    };
    figure(text, "figure-progress", &chart.svg_sized(CHART), caption);
    if let Some((model, errors)) = campaign.cross_validation.as_ref().map(|cv| cv.chooser()) {
        let point = |p: &HeldOut| Predicted {
            label: format!("row {}", p.row + 1),
            value: p.value,
            mean: p.mean,
            half_width: INTERVAL * p.std,
        };
        let chart = PredictedChart {
            title: "Measured against predicted".into(),
            objective: objective.name.clone(),
            points: errors.predictions.iter().map(point).collect(),
        };
        let caption = format!(
            "Each row predicted by a {model} that had not seen it, with 95 % intervals. The model is {}.",
            errors.sentence()
        );
        figure(text, "figure-held-out", &chart.svg_sized(CHART), &caption);
    }
    promises(text, campaign);
    text.push_str("</div>\n");
}

/// Did it come out as promised?
fn promises(text: &mut String, campaign: &Campaign) {
    let rows = campaign.rows().iter().enumerate();
    let known = rows.zip(&campaign.forecasts).filter_map(|((i, row), forecast)| {
        let forecast = forecast.as_ref()?;
        Some((
            forecast.is_kept_by(row.value()?),
            Predicted {
                label: format!("row {}", i + 1),
                value: row.value()?,
                mean: forecast.mean,
                half_width: INTERVAL * forecast.deviation(),
            },
        ))
    });
    let (kept, points): (Vec<bool>, Vec<Predicted>) = known.unzip();
    if points.is_empty() {
        return;
    }
    let n = points.len();
    let kept = kept.iter().filter(|&&kept| kept).count();
    let chart = PredictedChart {
        title: "Did it come out as promised?".into(),
        objective: campaign.problem().objective().name.clone(),
        points,
    };
    let caption = format!(
        "What was predicted when each experiment was suggested, and what came of it: {kept} of {n} results lie in their 95 % intervals."
    );
    figure(text, "figure-promises", &chart.svg_sized(CHART), &caption);
}

/// Importances and slices.
pub(super) fn variables(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    if campaign.importances.is_empty() {
        return;
    }
    headline(text, "variables", "What matters");
    let names: Vec<String> = problem.variables().iter().map(|v| v.name.clone()).collect();
    let height = 80.0 + 24.0 * names.len() as f64;
    let chart = ImportanceChart {
        title: "Importance".into(),
        names,
        measures: vec![
            ("gain %".into(), campaign.importances.iter().map(|i| 100.0 * i.gain).collect()),
            ("error when shuffled".into(), campaign.shuffled.clone()),
        ],
    };
    text.push_str("<div class=\"grid\">\n");
    let caption = "Gain: share of what the trees' splits on the variable explain. Shuffled: growth of the error when its values are exchanged between the rows.";
    figure(text, "figure-importance", &chart.svg_sized(Size::new(CHART.width, height)), caption);
    text.push_str("</div>\n");
    let (Some(model), Some(best)) = (&campaign.model, &campaign.best) else { return };
    let (slices, left_out) = slices(problem, model, best, &campaign.importances);
    let _ = writeln!(text, "<h3>Through the best point, one variable at a time</h3>");
    let mut note = format!(
        "The {} with its 95 % interval; all other settings as in row {}; hatched where a rule forbids it.",
        model.name(),
        best.row + 1
    );
    if left_out > 0 {
        let _ = write!(note, " {left_out} variables that matter less are left out.");
    }
    paragraph(text, "note", &note);
    text.push_str("<div class=\"grid small\">\n");
    for (k, slice) in slices.iter().enumerate() {
        let chart: &SliceChart = &slice.chart;
        let caption = if slice.is_tied {
            format!("{} (moved alone it breaks a rule; others would have to follow)", chart.variable)
        } else {
            chart.variable.clone()
        };
        figure(text, &format!("figure-slice-{}", k + 1), &chart.svg_sized(SMALL_CHART), &caption);
    }
    text.push_str("</div>\n");
}

/// What holds the best point and the suggestion back.
pub(super) fn active_limits(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let best = campaign.best.as_ref().map(|best| ("the best so far", best.point.as_slice()));
    let next = campaign.next.as_ref().ok().map(|next| ("the next experiment", next.point.as_slice()));
    let points: Vec<(&str, &[f64])> = best.into_iter().chain(next).collect();
    if points.is_empty() {
        return;
    }
    headline(text, "limits", "Limits that are reached");
    let columns = [Column::text("at"), Column::text("rule"), Column::text("forbids")];
    let mut lines = Vec::new();
    for (at, point) in points {
        let mut forbidden: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        for limit in limits(problem, point) {
            forbidden.entry(limit.rule).or_default().push(limit.forbids);
        }
        for (rule, forbids) in forbidden {
            let rule = rule.unwrap_or_else(|| "bounds of the variables".to_owned());
            lines.push(TableRow { class: "", cells: vec![at.to_owned(), rule, forbids.join(", ")] });
        }
    }
    if lines.is_empty() {
        return paragraph(text, "", "None: every variable can be moved a little to both sides.");
    }
    table(text, &columns, &lines);
    paragraph(
        text,
        "note",
        "A limit is reached where a hundredth of a variable's range, the next allowed value or another level breaks it. Where better settings are promised beyond one, ask whether it must be.",
    );
}

/// Every row.
pub(super) fn data(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    headline(text, "data", "All experiments");
    let has_forecasts = campaign.forecasts.iter().any(Option::is_some);
    let mut columns = vec![Column::number("row")];
    columns.extend(
        problem.variables().iter().map(|v| Column { name: named(v), is_number: v.levels().is_empty() }),
    );
    columns.push(Column::number(&problem.objective().name));
    if has_forecasts {
        columns.push(Column::number("predicted"));
    }
    columns.push(Column::text("remarks"));
    let best = campaign.best.as_ref().map(|best| best.row);
    let lines: Vec<TableRow> = campaign
        .rows()
        .iter()
        .zip(&campaign.forecasts)
        .enumerate()
        .map(|(i, (row, forecast))| {
            let mut cells = vec![(i + 1).to_string()];
            cells.extend(problem.variables().iter().zip(&row.point).map(|(v, &x)| shown(v, x)));
            cells.push(row.value().map_or_else(String::new, digits));
            if has_forecasts {
                cells.push(forecast.as_ref().map_or_else(String::new, |f| plus_minus(f.mean, f.deviation())));
            }
            cells.push(remarks(campaign, i, row));
            let class = match row.outcome {
                _ if best == Some(i) => "best",
                Outcome::Pending => "pending",
                _ => "",
            };
            TableRow { class, cells }
        })
        .collect();
    let _ = writeln!(text, "<details open><summary>{} rows</summary>", lines.len());
    table(text, &columns, &lines);
    text.push_str("</details>\n");
}

fn remarks(campaign: &Campaign, i: usize, row: &Row) -> String {
    let mut remarks: Vec<String> = Vec::new();
    if campaign.best.as_ref().is_some_and(|best| best.row == i) {
        remarks.push("best".into());
    }
    match row.outcome {
        Outcome::Pending => remarks.push("pending".into()),
        Outcome::Failed => {
            remarks.push(row.failure.as_ref().map_or_else(|| "failed".into(), |why| format!("failed: {why}")))
        }
        Outcome::Done(value) => {
            if let Some(forecast) =
                campaign.forecasts[i].as_ref().filter(|forecast| !forecast.is_kept_by(value))
            {
                let goal = campaign.problem().objective().goal;
                let word = if goal.is_better(value, forecast.mean) { "better" } else { "worse" };
                remarks.push(format!("{word} than predicted"));
            }
        }
    }
    if row.out_of_domain {
        remarks.push("outside the variables' values".into());
    } else if row.violates {
        remarks.push("breaks a rule".into());
    }
    remarks.join(", ")
}
