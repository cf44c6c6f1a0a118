//! Which run a file is: names, seed, and the digest of everything that decides its results, seed apart.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::spec::{AgreementRunId, AgreementSpec, Targets};
use crate::case_digest::of_settings;
use crate::digest::{Canonical, fnv1a, hexadecimal};
use crate::folder::StudyFolder;
use crate::functions::Benchmark;
use crate::record::RunHeader;
use leafgp::problem::Preset;
use leafgp::smooth::SmoothSettings;

/// The method's name in folders and headers.
const METHOD: &str = "agreement";

/// The problem's name in folders and headers.
pub(super) fn problem_name(function: &Benchmark, points: usize) -> String {
    format!("{}-{points}", function.name)
}

impl AgreementSpec {
    /// The first line of a run.
    pub(super) fn header(&self, run: AgreementRunId) -> RunHeader {
        let AgreementRunId { function, points, seed } = run;
        RunHeader::new(&problem_name(function, points), METHOD, seed, &self.fingerprint(function, points))
    }

    /// The file of a run.
    pub fn run_file(&self, folder: &StudyFolder, run: AgreementRunId) -> PathBuf {
        folder.file_of(&self.header(run))
    }

    /// Digest of everything that decides a run's results, seed apart.
    pub fn fingerprint(&self, function: &Benchmark, points: usize) -> String {
        let targets = match self.targets {
            Targets::Plain => "plain",
            Targets::Negated => "negated",
        };
        let mut whole = Canonical::default();
        whole.text("kind", "agreement").text("function", function.name).count("points", points as u64);
        // The answer for a ratio starts from those for smaller ones.
        whole.text("targets", targets).numbers("ratios", &self.ratios);
        // Of what presets decide, trees and their process alone have a part in it.
        let mut settings = self.settings.clone();
        settings.preset = Preset::Paper;
        settings.repeats = true;
        settings.smooth = SmoothSettings::default();
        whole.group("settings", &of_settings(&settings));
        whole.digest()
    }
}

/// The digest of format 1, for records that have it. `settings` are as they stand in the folder, so that it does not change with the settings there are.
pub(super) fn of_format_1(
    function: &str,
    points: usize,
    targets: Targets,
    ratios: &[f64],
    settings: &Value,
) -> String {
    let whole = json!({
        "kind": "agreement",
        "function": function,
        "points": points,
        "targets": targets,
        "ratios": ratios,
        "settings": settings,
    });
    hexadecimal(fnv1a(whole.to_string().as_bytes()))
}
