//! The report: curves, final values with ranks and sign tests, proofs and times, as a page, charts and CSV.

mod calibration;
mod csv;
mod data;
mod html;
mod markdown;
mod options;
mod outcomes;
mod progress;
mod regret;
mod scale;
mod tables;

use std::path::Path;

use crate::error::StudyError;
use crate::folder::StudyFolder;
use crate::plot::{Band, BandChart};
use leafgp::file::write_whole;
use leafgp::problem::reading::hint;

pub use options::{ReportOptions, ReportSummary};

use data::Data;
use tables::{Curve, curve};

/// Writes `report.html`, for each problem `curves/PROBLEM.svg` and `curves/PROBLEM.csv`, and the tables `final.csv`, `results.csv`, `ranks.csv`, `signs.csv`, `regret.csv`,
/// `progress.csv`, `outcomes.csv`, `calibration.csv`, `proofs.csv`, `proof_steps.csv`, `medians.md` and, where asked for, `times.csv` and `baseline.csv` into the folder `out`. The same runs give the same bytes, times apart.
///
/// # Errors
/// A folder without a study, damaged runs, an unknown baseline, an unwritable folder. Nothing is written before everything was read.
pub fn report(
    folder: &StudyFolder,
    out: &Path,
    options: &ReportOptions,
) -> Result<ReportSummary, StudyError> {
    let data = Data::load(folder)?;
    let methods: Vec<&str> = data.manifest.methods.iter().map(|m| m.name.as_str()).collect();
    if let Some(baseline) = options.baseline.as_deref().filter(|name| !methods.contains(name)) {
        let hint = hint(baseline, methods.iter().copied());
        let message = format!(
            "the study has no method {baseline:?}{hint} to be the baseline; its methods are {}",
            methods.join(", ")
        );
        return Err(StudyError::content(folder.path(), message));
    }
    let mut files: Vec<(String, String)> = Vec::new();
    let mut charts = Vec::new();
    for problem in &data.manifest.problems {
        let curves: Vec<Curve> =
            data.cases_of(&problem.name).map(curve).filter(|curve| curve.n > 0).collect();
        let svg = chart(&problem.name, &problem.objective, &curves);
        files.push((format!("curves/{}.svg", problem.name), svg.clone() + "\n"));
        files.push((format!("curves/{}.csv", problem.name), csv::curves_csv(&curves)));
        charts.push(svg);
    }
    for (name, text) in [
        ("final.csv", csv::finals_csv(&data)),
        ("results.csv", csv::results_csv(&data)),
        ("ranks.csv", csv::ranks_csv(&data)),
        ("signs.csv", csv::signs_csv(&data)),
        ("regret.csv", regret::regret_csv(&data)),
        ("progress.csv", progress::progress_csv(&data)),
        ("outcomes.csv", outcomes::outcomes_csv(&data)),
        ("calibration.csv", calibration::calibration_csv(&data)),
        ("proofs.csv", csv::proofs_csv(&data)),
        ("proof_steps.csv", csv::proof_steps_csv(&data)),
    ] {
        files.push((name.to_owned(), text));
    }
    files.push(("medians.md".to_owned(), markdown::medians(&data)));
    if let Some(baseline) = &options.baseline {
        files.push(("baseline.csv".to_owned(), csv::baseline_csv(&data, baseline)));
    }
    if options.with_times {
        files.push(("times.csv".to_owned(), csv::times_csv(&data)));
    }
    files.push(("report.html".to_owned(), html::page(&data, &charts, options)));

    let curves = out.join("curves");
    std::fs::create_dir_all(&curves).map_err(StudyError::file(&curves))?;
    for (name, text) in files {
        let path = out.join(name);
        write_whole(&path, text.as_bytes()).map_err(StudyError::file(&path))?;
    }
    Ok(ReportSummary { complete: data.complete(), planned: data.planned() })
}

/// Ratio of the largest to the smallest value from which a logarithmic axis shows more.
const LOG_RATIO: f64 = 100.0;

fn chart(problem: &str, objective: &str, curves: &[Curve]) -> String {
    let values = || curves.iter().flat_map(|c| &c.points).flatten().copied().filter(|v| v.is_finite());
    let (smallest, largest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let band = |curve: &Curve| Band {
        label: curve.method.clone(),
        x: (0..curve.points.len()).map(|k| k as f64).collect(),
        lower: curve.points.iter().map(|three| three[0]).collect(),
        median: curve.points.iter().map(|three| three[1]).collect(),
        upper: curve.points.iter().map(|three| three[2]).collect(),
    };
    BandChart {
        title: problem.to_owned(),
        x_label: "iteration".to_owned(),
        y_label: format!("best feasible {objective}"),
        bands: curves.iter().map(band).collect(),
        log_y: smallest > 0.0 && largest > LOG_RATIO * smallest,
    }
    .svg()
    .trim_end()
    .to_owned()
}
