//! Medians and quartiles over the seeds, as a table and as charts.

use super::header::problem_name;
use super::record::{AgreementRecord, AgreementRun};
use super::spec::{AgreementSpec, Targets};
use crate::page::cell;
use crate::plot::{Band, BandChart};
use crate::statistics::quartiles;
use crate::step::Status;
use leafgp::problem::format_number;

/// One row of the summary: a function, a number of training points and a ratio over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementRow {
    /// The function.
    pub function: String,
    /// Number of training points.
    pub points: usize,
    /// Largest share of agreeing trees allowed.
    pub ratio: f64,
    /// Runs with a record for it.
    pub runs: usize,
    /// Of them, those that found a point.
    pub found: usize,
    /// Of them, those proved optimal within the gap, or proved to have no point.
    pub proved: usize,
    /// First quartile, median, third quartile of the relative model error (Eq. 13); NaN when no run found a point.
    pub error: [f64; 3],
    /// The same of the predicted mean.
    pub mean: [f64; 3],
    /// The same of the predicted standard deviation.
    pub std: [f64; 3],
    /// The same of the true value.
    pub value: [f64; 3],
    /// Median of the largest agreement reached.
    pub agreement: f64,
}

/// The summary of the runs of a study, ordered by function, points, ratio.
pub fn summarise(spec: &AgreementSpec, runs: &[AgreementRun]) -> Vec<AgreementRow> {
    let mut rows = Vec::new();
    for function in &spec.functions {
        for &points in &spec.points {
            let problem = problem_name(function, points);
            let runs: Vec<_> = runs.iter().filter(|run| run.header.problem == problem).collect();
            for &ratio in &spec.ratios {
                let records: Vec<_> =
                    runs.iter().filter_map(|run| run.records.iter().find(|r| r.ratio == ratio)).collect();
                let all = |get: fn(&AgreementRecord) -> Option<f64>| {
                    quartiles(&records.iter().filter_map(|r| get(r)).collect::<Vec<f64>>())
                };
                rows.push(AgreementRow {
                    function: function.name.to_owned(),
                    points,
                    ratio,
                    runs: records.len(),
                    found: records.iter().filter(|r| r.point.is_some()).count(),
                    proved: records
                        .iter()
                        .filter(|r| matches!(r.status, Status::Optimal | Status::Infeasible))
                        .count(),
                    error: all(|r| r.error),
                    mean: all(|r| r.mean),
                    std: all(|r| r.std),
                    value: all(|r| r.value),
                    agreement: all(|r| r.agreement)[1],
                });
            }
        }
    }
    rows
}

/// The summary as CSV.
pub fn summary_csv(rows: &[AgreementRow]) -> String {
    let mut text =
        "function,points,ratio,runs,found,proved,error_q1,error_median,error_q3,mean_q1,mean_median,\
                    mean_q3,std_q1,std_median,std_q3,value_q1,value_median,value_q3,agreement_median\n"
            .to_owned();
    for row in rows {
        let mut cells = vec![row.function.clone(), row.points.to_string(), format_number(row.ratio)];
        cells.extend([row.runs, row.found, row.proved].map(|n| n.to_string()));
        for triple in [row.error, row.mean, row.std, row.value] {
            cells.extend(triple.map(nine_digits));
        }
        cells.push(nine_digits(row.agreement));
        text += &(cells.join(",") + "\n");
    }
    text
}

/// Nine significant digits; empty for no number.
fn nine_digits(x: f64) -> String {
    cell(format!("{x:.8e}").parse().unwrap_or(x))
}

/// The figures: for each function error and mean over the ratio, a band for each number of training points. File name (without ending) and chart.
pub fn charts(spec: &AgreementSpec, rows: &[AgreementRow]) -> Vec<(String, BandChart)> {
    let mut charts = Vec::new();
    for function in &spec.functions {
        let bands = |pick: fn(&AgreementRow) -> [f64; 3]| -> Vec<Band> {
            let band = |&points: &usize| {
                let mine = || rows.iter().filter(|r| r.function == function.name && r.points == points);
                Band {
                    label: format!("{points} training points"),
                    x: mine().map(|r| r.ratio).collect(),
                    lower: mine().map(|r| pick(r)[0]).collect(),
                    median: mine().map(|r| pick(r)[1]).collect(),
                    upper: mine().map(|r| pick(r)[2]).collect(),
                }
            };
            spec.points.iter().map(band).collect()
        };
        let what = match spec.targets {
            Targets::Plain => function.name.to_owned(),
            Targets::Negated => format!("negated {}", function.name),
        };
        let title = format!(
            "{what} ({} variables), median and quartiles of {} seeds",
            function.variables.len(),
            spec.seeds.len()
        );
        for (suffix, y_label, pick) in [
            ("error", "relative model error", (|r| r.error) as fn(&AgreementRow) -> [f64; 3]),
            ("mean", "predicted mean", |r| r.mean),
        ] {
            let chart = BandChart {
                title: title.clone(),
                x_label: "largest tree agreement ratio R".into(),
                y_label: y_label.into(),
                bands: bands(pick),
                log_y: false,
            };
            charts.push((format!("agreement-{}-{suffix}", function.name), chart));
        }
    }
    charts
}
