//! What an uncertainty study is.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::functions::{self, Benchmark};
use crate::problem::{ProblemError, Settings};
use crate::study::StudyError;
use crate::study::fingerprint::fingerprint;
use crate::study::read_spec::{DECIDED, seed_range};
use crate::study::spec::deterministic;

/// A checked uncertainty study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgreementSpec {
    /// Its name, free text.
    pub name: String,
    /// The benchmark functions.
    pub functions: Vec<&'static Benchmark>,
    /// Numbers of training points, each `>= 2`.
    pub points: Vec<usize>,
    /// The seeds, distinct.
    pub seeds: Vec<u64>,
    /// Largest shares of agreeing trees, ascending, in `[0, 1]`.
    pub ratios: Vec<f64>,
    /// What is maximised.
    pub targets: Targets,
    /// The engine's settings; the seed is each run's own.
    pub settings: Settings,
}

/// What an uncertainty study maximises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Targets {
    /// The predicted value of the benchmark.
    #[default]
    Plain,
    /// The predicted value of the negated benchmark.
    Negated,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[allow(dead_code, reason = "it led here")]
    kind: String,
    name: Option<String>,
    functions: Vec<String>,
    #[serde(default = "default_points")]
    points: Vec<usize>,
    seeds: Seeds,
    #[serde(default)]
    ratios: Ratios,
    #[serde(default)]
    targets: Targets,
    #[serde(default)]
    settings: Settings,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a list such as [101, 102], or a range with both ends such as \"101..120\"")]
enum Seeds {
    List(Vec<u64>),
    Range(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a list of numbers, or a table { from, to, step }")]
enum Ratios {
    List(Vec<f64>),
    Range { from: f64, to: f64, step: f64 },
}

impl Default for Ratios {
    /// The paper's.
    fn default() -> Self {
        Self::Range { from: 0.35, to: 1.0, step: 0.05 }
    }
}

/// The paper does not give the number; 100 is the middle.
fn default_points() -> Vec<usize> {
    vec![50, 100, 200]
}

impl AgreementSpec {
    /// True when the text of a study file asks for this kind of study: `kind = "agreement"`.
    pub fn is_meant(text: &str) -> bool {
        let table: Option<toml::Table> = text.parse().ok();
        table.is_some_and(|table| table.get("kind").and_then(toml::Value::as_str) == Some("agreement"))
    }

    /// Reads a study file.
    ///
    /// # Errors
    /// Unreadable file, syntax, unknown keys, values out of range.
    pub fn from_file(path: &Path) -> Result<Self, StudyError> {
        let text = std::fs::read_to_string(path).map_err(StudyError::file(path))?;
        Self::from_text(path, &text)
    }

    /// Reads the text of a study file; `path` is the name for messages.
    ///
    /// # Errors
    /// As [`AgreementSpec::from_file`].
    pub fn from_text(path: &Path, text: &str) -> Result<Self, StudyError> {
        let refuse = |message: String| StudyError::content(path, message);
        let file: File =
            toml::from_str(text).map_err(|e| refuse(format!("not a study of agreement: {e}")))?;
        let whole: toml::Table =
            text.parse().map_err(|e| refuse(format!("not a study of agreement: {e}")))?;
        let settings = whole.get("settings");
        for (section, key, message, _) in DECIDED {
            let table = if section.is_empty() { settings } else { settings.and_then(|s| s.get(section)) };
            if table.is_some_and(|table| table.get(key).is_some()) {
                let dot = if section.is_empty() { "" } else { "." };
                return Err(refuse(format!("settings.{section}{dot}{key}: {message}")));
            }
        }
        let mut known = Vec::with_capacity(file.functions.len());
        for name in &file.functions {
            let function = functions::find(name).map_err(|e| refuse(e.to_string()))?;
            if known.iter().any(|k: &&Benchmark| k.name == function.name) {
                return Err(refuse(format!("functions: {name} stands twice")));
            }
            known.push(function);
        }
        let seeds = match file.seeds {
            Seeds::List(seeds) => seeds,
            Seeds::Range(range) => seed_range(&range)
                .map(|(first, last)| (first..=last).collect())
                .ok_or_else(|| refuse(format!("seeds: {range:?} is no range such as \"101..120\"")))?,
        };
        let ratios = match file.ratios {
            Ratios::List(ratios) => ratios,
            Ratios::Range { from, to, step } => {
                if !(step > 0.0 && from <= to && (to - from) / step <= 1000.0) {
                    return Err(refuse("ratios: from <= to and a step > 0 are expected".into()));
                }
                let count = ((to - from) / step + 1e-9).floor() as usize;
                // Twelve decimals: 0.35 + 2 * 0.05 is meant to be 0.45.
                (0..=count).map(|k| ((from + k as f64 * step) * 1e12).round() / 1e12).collect()
            }
        };
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let spec = Self {
            name: file.name.unwrap_or(stem),
            functions: known,
            points: file.points,
            seeds,
            ratios,
            targets: file.targets,
            settings: deterministic(file.settings),
        };
        spec.validate().map_err(|e| refuse(e.to_string()))?;
        Ok(spec)
    }

    pub(super) fn validate(&self) -> Result<(), ProblemError> {
        let refuse =
            |field: &str, message: &str, expected: &str| Err(ProblemError::new(field, message, expected));
        if self.functions.is_empty() {
            return refuse("functions", "the list is empty", "functions = [\"rastrigin\", \"schwefel\"]");
        }
        if self.points.is_empty() || self.points.iter().any(|n| !(2..=100_000).contains(n)) {
            return refuse(
                "points",
                "a number of training points is out of range",
                "whole numbers in 2..=100000",
            );
        }
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        if self.seeds.is_empty() || seeds.len() < self.seeds.len() {
            return refuse("seeds", "there is none, or one stands twice", "distinct seeds");
        }
        let ascending = self.ratios.windows(2).all(|w| w[0] < w[1]);
        if self.ratios.is_empty() || !ascending || self.ratios.iter().any(|r| !(0.0..=1.0).contains(r)) {
            return refuse("ratios", "the ratios are out of range", "ascending numbers in [0, 1]");
        }
        self.settings.validate()
    }

    /// Digest of everything that decides a run's results, seed apart.
    pub fn fingerprint(&self, function: &Benchmark, points: usize) -> String {
        let whole = json!({
            "kind": "agreement",
            "function": function.name,
            "points": points,
            "targets": self.targets,
            "settings": self.settings,
        });
        fingerprint(&whole.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{AgreementSpec, Targets};

    fn read(text: &str) -> Result<AgreementSpec, String> {
        AgreementSpec::from_text(Path::new("study.toml"), text).map_err(|e| e.to_string())
    }

    const GOOD: &str = "kind = \"agreement\"\nfunctions = [\"rastrigin\"]\nseeds = \"101..103\"\n";

    #[test]
    fn defaults_are_the_papers() {
        assert!(AgreementSpec::is_meant(GOOD) && !AgreementSpec::is_meant("name = \"x\""));
        let spec = read(GOOD).unwrap();
        assert_eq!((spec.name.as_str(), spec.seeds.as_slice()), ("study", &[101, 102, 103][..]));
        assert_eq!(spec.points, [50, 100, 200]);
        assert_eq!(spec.ratios.len(), 14);
        assert_eq!((spec.ratios[0], spec.ratios[2], spec.ratios[13]), (0.35, 0.45, 1.0));
        assert_eq!(spec.targets, Targets::Plain);
    }

    #[test]
    fn settings_reach_the_engine_and_the_digest() {
        let spec = read(&format!("{GOOD}[settings]\ntrees = {{ n_trees = 100, max_depth = 5 }}\n")).unwrap();
        assert_eq!((spec.settings.trees.n_trees, spec.settings.trees.max_depth), (100, 5));
        let plain = read(GOOD).unwrap();
        let function = spec.functions[0];
        assert_ne!(spec.fingerprint(function, 50), plain.fingerprint(function, 50));
        assert_ne!(plain.fingerprint(function, 100), plain.fingerprint(function, 50));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            (GOOD.replace("rastrigin", "rastrgin"), "rastrgin"),
            (GOOD.replace("101..103", "103..101"), "103..101"),
            (format!("{GOOD}point = [3]\n"), "point"),
            (format!("{GOOD}points = [1]\n"), "points"),
            (format!("{GOOD}ratios = [0.5, 0.4]\n"), "ratios"),
            (format!("{GOOD}ratios = {{ from = 0.4, to = 1.0, step = 0.0 }}\n"), "step"),
            (format!("{GOOD}[settings]\nkappa = -1.0\n"), "kappa"),
            (format!("{GOOD}[settings]\nseed = 3\n"), "settings.seed: the study's seeds decide"),
            (format!("{GOOD}[settings]\nsolver = {{ time_limit = 3 }}\n"), "settings.solver.time_limit"),
        ] {
            let message = read(&text).unwrap_err();
            assert!(message.contains(expected) && message.contains("study.toml"), "{message}");
        }
    }
}
