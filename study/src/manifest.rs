//! What a study folder says of itself: enough for reports and merging, without the spec.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format::FORMAT;
use super::record::RunHeader;
use super::spec::{Source, Spec};
use super::step::StepRecord;
use super::study_manifest::{PlannedRun, StudyManifest};
use leafgp::problem::{Goal, Settings};

/// The content of `study.json`.
///
/// ```
/// use leafgp_study::{Manifest, Spec};
///
/// let text = "seeds = [1, 2]\n[[problem]]\nfunction = \"g6\"\n[[method]]\nname = \"leaf-gp\"\n";
/// let manifest = Manifest::new(&Spec::from_text("g6.toml".as_ref(), text)?);
/// assert_eq!(manifest.problem("g6").map(|problem| problem.evaluations), Some(105));
/// assert_eq!(manifest.case("g6", "leaf-gp").map(|case| case.gap()), Some(1e-4));
/// # Ok::<(), leafgp_study::StudyError>(())
/// ```
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
    /// Which direction is better.
    pub goal: Goal,
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
        self.goal.sign()
    }
}

impl CaseEntry {
    /// The relative gap at which a proof of its steps is complete, `solver.gap`.
    pub fn gap(&self) -> f64 {
        let written = self.settings.as_ref().and_then(|settings| settings["solver"]["gap"].as_f64());
        written.unwrap_or_else(|| Settings::default().solver.gap)
    }
}

impl Manifest {
    /// The manifest of a spec.
    pub fn new(spec: &Spec) -> Self {
        let problems = spec.problems.iter().map(|p| ProblemEntry {
            name: p.name.clone(),
            objective: p.problem.objective().name.clone(),
            goal: p.problem.objective().goal,
            constrained: !p.problem.constraints().is_empty(),
            optimum: match &p.source {
                Source::Function(function) => Some(function.optimum.value),
                Source::Command { .. } | Source::Table(_) => None,
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

    /// The first line of a run.
    pub(super) fn header(&self, case: &CaseEntry, seed: u64) -> RunHeader {
        let header = RunHeader::new(&case.problem, &case.method, seed, &case.fingerprint);
        RunHeader { format: self.format, ..header }
    }

    /// The problem of that name.
    pub fn problem(&self, name: &str) -> Option<&ProblemEntry> {
        self.problems.iter().find(|problem| problem.name == name)
    }
}

impl StudyManifest for Manifest {
    type Record = StepRecord;

    const FILE: &'static str = "study.json";
    const WHAT: &'static str = "study";

    fn format(&self) -> u32 {
        self.format
    }

    fn planned(&self) -> Result<Vec<PlannedRun>, String> {
        let mut runs = Vec::new();
        for &seed in &self.seeds {
            for case in &self.cases {
                let problem = self.problem(&case.problem).ok_or_else(|| {
                    format!("a case names the problem {:?}, which is not listed", case.problem)
                })?;
                runs.push(PlannedRun { header: self.header(case, seed), records: problem.evaluations });
            }
        }
        Ok(runs)
    }

    /// In order of appearance, seeds ascending when they were in each.
    fn united(&self, other: &Self) -> Result<Self, String> {
        let mut united = self.clone();
        if other.name != united.name {
            return Err(format!("their names are {:?} and {:?}", united.name, other.name));
        }
        for problem in &other.problems {
            match united.problem(&problem.name) {
                Some(known) if known == problem => {}
                Some(_) => return Err(format!("the problem {:?} is not the same", problem.name)),
                None => united.problems.push(problem.clone()),
            }
        }
        for method in &other.methods {
            match united.methods.iter().find(|known| known.name == method.name) {
                Some(known) if known == method => {}
                Some(_) => return Err(format!("the method {:?} is not the same", method.name)),
                None => united.methods.push(method.clone()),
            }
        }
        for case in &other.cases {
            match united.case(&case.problem, &case.method) {
                Some(known) if known.fingerprint == case.fingerprint => {}
                Some(_) => {
                    return Err(format!("{}/{} was made with other settings", case.problem, case.method));
                }
                None => united.cases.push(case.clone()),
            }
        }
        united.seeds = union(&self.seeds, &other.seeds);
        // Cases stand problem by problem, methods in their order, as in a spec.
        let place = |case: &CaseEntry| {
            (
                united.problems.iter().position(|p| p.name == case.problem),
                united.methods.iter().position(|m| m.name == case.method),
            )
        };
        let mut cases = united.cases.clone();
        cases.sort_by_key(place);
        Ok(Self { cases, ..united })
    }
}

/// Both lists without repetitions, in order of appearance; ascending when both are.
pub(super) fn union<T: Copy + Ord>(known: &[T], more: &[T]) -> Vec<T> {
    let new = more.iter().filter(|item| !known.contains(item));
    let mut all: Vec<T> = known.iter().chain(new).copied().collect();
    if known.is_sorted() && more.is_sorted() {
        all.sort_unstable();
    }
    all
}
