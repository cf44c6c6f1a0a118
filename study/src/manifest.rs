//! What a study folder says of itself: enough for reports and merging, without the spec.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spec::Spec;

/// Version of the folder's layout and of its records.
pub(super) const FORMAT: u32 = 1;

/// The content of `study.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the folder's layout.
    pub format: u32,
    /// The study's name.
    pub name: String,
    /// Version of leafgp that wrote it.
    pub leafgp: String,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// The problems, in order.
    pub problems: Vec<ProblemEntry>,
    /// The methods, in order.
    pub methods: Vec<MethodEntry>,
    /// Which method meets which problem, in order.
    pub cases: Vec<CaseEntry>,
}

/// A problem in the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemEntry {
    /// Its name.
    pub name: String,
    /// The objective's name.
    pub objective: String,
    /// `minimize` or `maximize`.
    pub goal: String,
    /// Whether there are constraints.
    pub constrained: bool,
    /// The best known value, for built-in functions.
    pub optimum: Option<f64>,
    /// First points of a run.
    pub initial: usize,
    /// All evaluations of a run.
    pub evaluations: usize,
}

/// A method in the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodEntry {
    /// Its name.
    pub name: String,
    /// What decides its proposals: kind, constraints, and what belongs to the kind.
    pub method: Value,
}

/// A case in the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseEntry {
    /// The problem's name.
    pub problem: String,
    /// The method's name.
    pub method: String,
    /// Digest of everything that decides its results, seed and length apart.
    pub fingerprint: String,
    /// The settings in force, for methods with a model.
    pub settings: Option<Value>,
}

impl ProblemEntry {
    /// 1 or -1: times a value of the objective it is to be minimised.
    pub(super) fn sign(&self) -> f64 {
        if self.goal == "maximize" { -1.0 } else { 1.0 }
    }
}

impl Manifest {
    /// The manifest of a spec.
    pub fn new(spec: &Spec) -> Self {
        let problems = spec.problems.iter().map(|p| ProblemEntry {
            name: p.name.clone(),
            objective: p.problem.objective().name.clone(),
            goal: p.problem.objective().goal.as_str().to_owned(),
            constrained: !p.problem.constraints().is_empty(),
            optimum: match &p.source {
                super::Source::Function(function) => Some(function.optimum.value),
                super::Source::Command { .. } | super::Source::Table(_) => None,
            },
            initial: p.initial,
            evaluations: p.evaluations(),
        });
        let methods = spec.methods.iter().map(|m| MethodEntry { name: m.name.clone(), method: m.to_json() });
        let cases = spec.cases.iter().map(|case| {
            let (problem, method) = (&spec.problems[case.problem], &spec.methods[case.method]);
            let settings = serde_json::to_value(&case.settings).expect("settings are plain data");
            CaseEntry {
                problem: problem.name.clone(),
                method: method.name.clone(),
                fingerprint: case.fingerprint.clone(),
                settings: method.kind.uses_model().then_some(settings),
            }
        });
        Self {
            format: FORMAT,
            name: spec.name.clone(),
            leafgp: env!("CARGO_PKG_VERSION").to_owned(),
            seeds: spec.seeds.clone(),
            problems: problems.collect(),
            methods: methods.collect(),
            cases: cases.collect(),
        }
    }

    /// The case of a problem and a method.
    pub fn case(&self, problem: &str, method: &str) -> Option<&CaseEntry> {
        self.cases.iter().find(|case| case.problem == problem && case.method == method)
    }

    /// The problem of that name.
    pub fn problem(&self, name: &str) -> Option<&ProblemEntry> {
        self.problems.iter().find(|problem| problem.name == name)
    }
}
