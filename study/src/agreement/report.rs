//! The report of an uncertainty study: a page, the charts, the summary as CSV.

use std::fmt::Write;
use std::path::Path;

use super::manifest::AgreementManifest;
use super::record::AgreementRun;
use super::spec::{AgreementSpec, Targets};
use super::summary::{AgreementRow, charts, summarise, summary_csv};
use crate::error::StudyError;
use crate::folder::StudyFolder;
use crate::page::{END, begin, digits, table};
use crate::report::ReportSummary;
use crate::study_manifest::{PlannedRun, StudyManifest};
use leafgp::file::write_whole;

/// Writes `report.html`, `agreement.csv` and, for each function, `agreement-FUNCTION-error.svg` and `-mean.svg` into the folder `out`. The same runs give
/// the same bytes.
///
/// # Errors
/// A folder without an uncertainty study, damaged runs, an unwritable folder. Nothing is written before everything was read.
pub fn report(folder: &StudyFolder, out: &Path) -> Result<ReportSummary, StudyError> {
    let figures = Figures::of(folder)?;
    let page = page(&figures);
    std::fs::create_dir_all(out).map_err(StudyError::file(out))?;
    figures.write(out)?;
    let path = out.join("report.html");
    write_whole(&path, page.as_bytes()).map_err(StudyError::file(&path))?;
    Ok(figures.summary)
}

/// Writes summary and figures of what is on record into the study's own folder.
///
/// # Errors
/// As [`report`].
pub fn draw(folder: &StudyFolder) -> Result<(), StudyError> {
    Figures::of(folder)?.write(folder.path())
}

/// What is drawn of a study.
struct Figures {
    spec: AgreementSpec,
    summary: ReportSummary,
    rows: Vec<AgreementRow>,
    /// File name without ending, and SVG.
    charts: Vec<(String, String)>,
}

impl Figures {
    fn of(folder: &StudyFolder) -> Result<Self, StudyError> {
        let manifest: AgreementManifest = folder.existing_manifest()?;
        let refuse = |message| StudyError::content(&folder.file_with::<AgreementManifest>(), message);
        let spec = manifest.spec().map_err(refuse)?;
        let planned = manifest.planned().map_err(refuse)?;
        let mut summary = ReportSummary { complete: 0, planned: planned.len() };
        let mut runs = Vec::new();
        for PlannedRun { header, records } in planned {
            let Some(run) = AgreementRun::read_of(&folder.file_of(&header), &header)? else { continue };
            summary.complete += usize::from(run.records.len() >= records);
            runs.push(run);
        }
        let rows = summarise(&spec, &runs);
        let charts = charts(&spec, &rows).into_iter().map(|(name, chart)| (name, chart.svg())).collect();
        Ok(Self { spec, summary, rows, charts })
    }

    fn write(&self, out: &Path) -> Result<(), StudyError> {
        let write = |name: &str, text: &str| {
            let path = out.join(name);
            write_whole(&path, text.as_bytes()).map_err(StudyError::file(&path))
        };
        write("agreement.csv", &summary_csv(&self.rows))?;
        self.charts.iter().try_for_each(|(name, svg)| write(&format!("{name}.svg"), svg))
    }
}

fn page(Figures { spec, summary, rows, charts }: &Figures) -> String {
    let mut text = begin(&spec.name);
    let what = match spec.targets {
        Targets::Plain => "the benchmark",
        Targets::Negated => "the negated benchmark",
    };
    let _ = writeln!(
        text,
        "<p>The largest predicted mean of {what} among the points that agree with every training point in at most a share R of the trees, proved; and the \
         model's relative error there, |mean - value| / |mean|. Median and quartiles over {} seeds; {} of {} runs complete. {} trees of depth {}.</p>",
        spec.seeds.len(),
        summary.complete,
        summary.planned,
        spec.settings.trees.n_trees,
        spec.settings.trees.max_depth
    );
    // Two charts a function.
    for (function, charts) in spec.functions.iter().zip(charts.chunks(2)) {
        let _ = writeln!(text, "<h2>{}</h2>", function.name);
        for (_, svg) in charts {
            let _ = writeln!(text, "{}", svg.trim_end());
        }
        let cells: Vec<Vec<String>> = rows
            .iter()
            .filter(|row| row.function == function.name)
            .map(|row| {
                let mut cells = vec![row.points.to_string(), digits(row.ratio)];
                cells.extend([row.runs, row.found, row.proved].map(|n| n.to_string()));
                cells.extend(row.error.map(digits));
                cells.extend([row.mean[1], row.std[1], row.value[1], row.agreement].map(digits));
                cells
            })
            .collect();
        let header = [
            "points",
            "R",
            "runs",
            "found",
            "proved",
            "error, quartile",
            "median",
            "quartile",
            "mean",
            "std",
            "value",
            "agreement",
        ];
        table(&mut text, &header, &cells, None);
    }
    text.push_str(END);
    text
}
