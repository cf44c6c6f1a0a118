//! The digest of a run of an uncertainty study: everything that decides its results, seed apart.

use serde_json::{Value, json};

use super::spec::{AgreementSpec, Targets};
use crate::case_digest::of_settings;
use crate::digest::{Canonical, fnv1a, hexadecimal};
use crate::functions::Benchmark;

impl AgreementSpec {
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
        whole.group("settings", &of_settings(&self.settings));
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
