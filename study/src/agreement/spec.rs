//! What an uncertainty study is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::functions::Benchmark;
use leafgp::problem::{ProblemError, Settings};

/// A checked uncertainty study.
///
/// ```
/// use leafgp_study::agreement::{AgreementSpec, report};
/// use leafgp_study::{RunOptions, StudyFolder, run};
///
/// let text = "kind = \"agreement\"\nfunctions = [\"branin\"]\npoints = [12]\nseeds = [1]\nratios = [0.5, 1.0]\n";
/// let spec = AgreementSpec::from_text("uncertainty.toml".as_ref(), text)?;
/// let place = tempfile::tempdir()?;
/// let folder = StudyFolder::new(place.path());
/// let summary = run(&spec, &folder, &RunOptions::default(), &|_| {})?;
/// assert_eq!((summary.complete, summary.total), (1, 1));
/// report(&folder, &place.path().join("report"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// One run of an uncertainty study.
#[derive(Clone, Copy, Debug)]
pub struct AgreementRunId {
    /// The function.
    pub function: &'static Benchmark,
    /// Number of training points.
    pub points: usize,
    /// The seed.
    pub seed: u64,
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

impl AgreementSpec {
    /// All runs, seed by seed.
    pub(super) fn all_runs(&self) -> Vec<AgreementRunId> {
        let mut runs = Vec::new();
        for &seed in &self.seeds {
            for &points in &self.points {
                for &function in &self.functions {
                    runs.push(AgreementRunId { function, points, seed });
                }
            }
        }
        runs
    }

    pub(super) fn validate(&self) -> Result<(), ProblemError> {
        let refuse =
            |field: &str, message: &str, expected: &str| Err(ProblemError::new(field, message, expected));
        if self.functions.is_empty() {
            return refuse("functions", "the list is empty", "functions = [\"rastrigin\", \"schwefel\"]");
        }
        let names: BTreeSet<_> = self.functions.iter().map(|f| f.name).collect();
        if names.len() < self.functions.len() {
            return refuse("functions", "one stands twice", "distinct functions");
        }
        let points: BTreeSet<_> = self.points.iter().collect();
        let in_range = self.points.iter().all(|n| (2..=100_000).contains(n));
        if self.points.is_empty() || points.len() < self.points.len() || !in_range {
            return refuse(
                "points",
                "a number of training points is out of range, or stands twice",
                "distinct whole numbers in 2..=100000",
            );
        }
        let seeds: BTreeSet<_> = self.seeds.iter().collect();
        if self.seeds.is_empty() || seeds.len() < self.seeds.len() {
            return refuse("seeds", "there is none, or one stands twice", "distinct seeds");
        }
        let ascending = self.ratios.windows(2).all(|w| w[0] < w[1]);
        if self.ratios.is_empty() || !ascending || self.ratios.iter().any(|r| !(0.0..=1.0).contains(r)) {
            return refuse("ratios", "the ratios are out of range", "ascending numbers in [0, 1]");
        }
        self.settings.validate()
    }
}
