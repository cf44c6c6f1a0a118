//! The sections of the page.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::facts::Campaign;
use super::limits::limits;
use super::page::{Column, TableRow, figure, headline, paragraph, table};
use super::slices::slices;
use super::words::{plus_minus, point_text, shown, squared};
use crate::escape::escape;
use crate::page::digits;
use crate::plot::{HopeChart, ImportanceChart, Predicted, PredictedChart, Progress, Size, Trial};
use leafgp::engine::{CrossValidation, INTERVAL, Verdict, rounded_outward};
use leafgp::history::{Outcome, Row};
use leafgp::problem::Goal;

/// Charts that stand two in a row on a wide screen, and can be read on a narrow one.
const CHART: Size = Size { width: 480.0, height: 340.0 };
const SMALL_CHART: Size = Size { width: 380.0, height: 260.0 };

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
    match campaign.cross_validation.as_ref().map(CrossValidation::chooser) {
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
        let verdict = campaign.cross_validation.as_ref().map(|cv| cv.process.verdict());
        let advice = match verdict.filter(|verdict| !verdict.is_to_be_trusted()) {
            None => "Stop: nothing better than the best so far is promised anywhere.".to_owned(),
            Some(verdict) => format!(
                "Nothing better than the best so far is promised anywhere, but the model that says so is {}: alone that is no reason to stop.",
                verdict.as_str()
            ),
        };
        paragraph(text, "warn", &advice);
    }
    let mut trust = "This is a proof about the trees' model of the experiments, over every feasible setting; it is no proof about the experiments themselves.".to_owned();
    if let Some(cv) = &campaign.cross_validation {
        let _ = write!(
            trust,
            " On rows that it had not seen, that model is {}.",
            squared(&cv.process.sentence())
        );
    }
    paragraph(text, "note", &trust);
    text.push_str("</section>\n");
}

/// Progress with the proved hope, and measured against predicted.
pub(super) fn progress_and_model(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let objective = problem.objective();
    headline(text, "progress", "Progress, model and variables");
    text.push_str("<div class=\"grid\">\n");
    let run = campaign.rows().iter().filter(|row| row.outcome != Outcome::Pending);
    // Bounds are about what is modelled: of a target, the distance from it.
    let goal = objective.goal;
    let value = |row: &Row| row.value().map(|y| goal.modelled(y));
    let trials = run.map(|row| Trial { value: value(row), eligible: row.is_eligible() }).collect();
    let chart = HopeChart {
        title: "Progress".into(),
        objective: objective.modelled_name(),
        goal: goal.of_modelled(),
        progress: Progress { label: String::new(), trials },
        bounds: campaign.bounds.clone(),
    };
    let caption = if campaign.bounds.is_empty() {
        "The best value so far. A proved bound comes with more data."
    } else {
        "The best value so far, and what the trees' model of the experiments up to there proves to be the most that any feasible setting promises."
    };
    figure(text, "figure-progress", &chart.svg_sized(CHART), caption);
    if let Some((model, errors)) = campaign.cross_validation.as_ref().map(CrossValidation::chooser) {
        let chart = PredictedChart {
            title: "Measured against predicted".into(),
            objective: objective.modelled_name(),
            points: errors.predictions.iter().map(Predicted::from).collect(),
        };
        let caption = format!(
            "Each row predicted by a {model} that had not seen it, with 95 % intervals. The model is {}.",
            squared(&errors.sentence())
        );
        figure(text, "figure-held-out", &chart.svg_sized(CHART), &caption);
    }
    promises(text, campaign);
    importance(text, campaign);
    text.push_str("</div>\n");
}

/// Did it come out as promised?
fn promises(text: &mut String, campaign: &Campaign) {
    let objective = campaign.problem().objective();
    let rows = campaign.rows().iter().enumerate();
    let known = rows.zip(&campaign.forecasts).filter_map(|((i, row), forecast)| {
        let forecast = forecast.as_ref()?;
        let value = objective.goal.modelled(row.value()?);
        Some((
            forecast.is_kept_by(value),
            Predicted {
                label: format!("row {}", i + 1),
                value,
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
        objective: objective.modelled_name(),
        points,
    };
    let caption = format!(
        "What was predicted when each experiment was suggested, and what came of it: {kept} of {n} results lie in their 95 % intervals."
    );
    figure(text, "figure-promises", &chart.svg_sized(CHART), &caption);
}

/// How much each variable matters.
fn importance(text: &mut String, campaign: &Campaign) {
    if campaign.importances.is_empty() {
        return;
    }
    let names: Vec<String> = campaign.problem().variables().iter().map(|v| v.name.clone()).collect();
    let height = (80.0 + 26.0 * names.len() as f64).max(200.0);
    let chart = ImportanceChart {
        title: "What matters".into(),
        names,
        measures: vec![
            ("gain %".into(), campaign.importances.iter().map(|i| 100.0 * i.gain).collect()),
            ("error when shuffled".into(), campaign.shuffled.clone()),
        ],
    };
    let caption = "Gain: share of what the trees' splits on the variable explain. Shuffled: growth of the trees' error when its values are exchanged between the rows.";
    figure(text, "figure-importance", &chart.svg_sized(Size::new(CHART.width, height)), caption);
}

/// Slices through the best point.
pub(super) fn variables(text: &mut String, campaign: &Campaign) {
    let problem = campaign.problem();
    let (Some(model), Some(best)) = (&campaign.model, &campaign.best) else { return };
    let (slices, left_out) = slices(problem, model, best, &campaign.importances);
    headline(text, "variables", "Through the best point, one variable at a time");
    let mut note = format!(
        "What the {} expects, with its 95 % interval, when one setting of row {} is changed; the most important first.",
        model.name(),
        best.row + 1
    );
    if left_out > 0 {
        let _ = write!(note, " {left_out} variables that matter less are left out.");
    }
    paragraph(text, "note", &note);
    text.push_str("<div class=\"grid small\">\n");
    for (k, slice) in slices.iter().enumerate() {
        let caption =
            if slice.is_tied { "Moved alone it breaks a rule: others would have to follow." } else { "" };
        figure(text, &format!("figure-slice-{}", k + 1), &slice.chart.svg_sized(SMALL_CHART), caption);
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
    columns.extend(problem.variables().iter().map(Column::of));
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
    let _ = writeln!(text, "<details open=\"open\"><summary>{} rows</summary>", lines.len());
    table(text, &columns, &lines);
    text.push_str("</details>\n");
}

fn remarks(campaign: &Campaign, i: usize, row: &Row) -> String {
    let goal = campaign.problem().objective().goal;
    let mut remarks: Vec<String> = Vec::new();
    if campaign.best.as_ref().is_some_and(|best| best.row == i) {
        remarks.push("best".into());
    }
    match row.outcome {
        Outcome::Pending => remarks.push("pending".into()),
        Outcome::Failed => {
            remarks
                .push(row.failure.as_ref().map_or_else(|| "failed".into(), |why| format!("failed: {why}")));
        }
        Outcome::Done(value) => {
            if let Some(forecast) =
                campaign.forecasts[i].as_ref().filter(|forecast| !forecast.is_kept_by(goal.modelled(value)))
            {
                let is_better = goal.of_modelled().is_better(goal.modelled(value), forecast.mean);
                let word = if is_better { "better" } else { "worse" };
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
