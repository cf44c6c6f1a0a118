//! What a study is: problems, methods, seeds.

use std::time::Duration;

use serde_json::{Value, json};

use crate::functions::Benchmark;
use leafgp::problem::{Problem, Settings};

/// Nodes of one proof when the spec gives no limit. The clock limits nothing in a study.
pub(super) const NODE_LIMIT: u64 = 20_000;
/// A clock limit that never fires, the largest that settings allow.
pub(super) const NO_TIME_LIMIT: f64 = 1e9;

/// A checked study.
///
/// ```
/// use leafgp_study::{ConstraintHandling, Spec};
///
/// let text = r#"
///     seeds = "101..120"
///     [[problem]]
///     function = "g1"
///     [[problem]]
///     function = "branin"
///     [[method]]
///     name = "leaf-gp"
///     [[method]]
///     name = "penalty"
///     kind = "leaf-gp-rnd"
///     constraints = "penalty"
///     lambda = 10
///     problems = ["g1"]
/// "#;
/// let spec = Spec::from_text("spec.toml".as_ref(), text)?;
/// // Two methods on g1, one on branin; twenty seeds.
/// assert_eq!((spec.cases.len(), spec.runs().len()), (3, 60));
/// assert_eq!(spec.methods[1].constraints, ConstraintHandling::Penalty { lambda: 10.0 });
/// // Mistakes are named with their place.
/// let error = Spec::from_text("spec.toml".as_ref(), &text.replace("branin", "barnin")).unwrap_err();
/// assert!(error.to_string().contains("did you mean `branin`"));
/// # Ok::<(), leafgp_study::StudyError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spec {
    /// Its name, free text.
    pub name: String,
    /// Evaluations after the first points, unless a problem has its own number.
    pub iterations: usize,
    /// First points, the same for all methods of a seed; unless a problem has its own number.
    pub initial: usize,
    /// The seeds, distinct, in the spec's order.
    pub seeds: Vec<u64>,
    /// The problems.
    pub problems: Vec<StudyProblem>,
    /// The methods.
    pub methods: Vec<Method>,
    /// Which method meets which problem, problem by problem.
    pub cases: Vec<Case>,
}

/// A problem of a study, with its black box.
#[derive(Clone, Debug)]
pub struct StudyProblem {
    /// The name in folders and reports: letters, digits, `_ . + -`.
    pub name: String,
    /// Variables, constraints, objective.
    pub problem: Problem,
    /// Where values come from.
    pub source: Source,
    /// What becomes of points that break a constraint.
    pub infeasible: Infeasible,
    /// First points.
    pub initial: usize,
    /// Evaluations after them.
    pub iterations: usize,
}

/// Where a problem's values come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A built-in function.
    Function(&'static Benchmark),
    /// A shell command, as in `leafgp run --evaluate`.
    Command {
        /// Its text.
        command: String,
        /// When one evaluation has failed.
        timeout: Option<Duration>,
    },
    /// A table: its rows are all there is.
    Table(LookUp),
}

/// What becomes of a point that a method proposes and that breaks a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infeasible {
    /// It is measured like any other.
    Measure,
    /// It has no value, and nothing is measured. A method with a penalty is told the worst value of its run so far, worsened by the penalty.
    Skip,
}

/// A black box that knows the values of a list of points and of no others.
#[derive(Clone, Debug, PartialEq)]
pub struct LookUp {
    /// The distinct points, in the table's order.
    pub points: Vec<Vec<f64>>,
    /// Their values; of repeated measurements the mean.
    pub values: Vec<f64>,
}

/// A method of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The name in folders and reports: letters, digits, `_ . + -`.
    pub name: String,
    /// How it proposes points.
    pub kind: MethodKind,
    /// What it knows of constraints.
    pub constraints: ConstraintHandling,
    /// Evaluations at a time, at least 1: each point after the first ones is proposed while the `parallel - 1` before it are still running.
    pub parallel: usize,
}

/// How a method proposes points.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodKind {
    /// The engine: the acquisition's proven optimum.
    LeafGp,
    /// The engine's model, its acquisition at random samples only.
    LeafGpRnd {
        /// How many samples; the paper's number is 2000.
        samples: usize,
    },
    /// Uniform samples projected onto the feasible set.
    FeasRandom,
    /// Uniform samples of the box.
    Random,
    /// Another program, asked and told over its standard streams.
    External {
        /// The shell command that starts it, once for each run.
        command: String,
        /// How long one answer may take.
        timeout: Duration,
    },
}

impl MethodKind {
    /// The word of the spec.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::LeafGp => "leaf-gp",
            Self::LeafGpRnd { .. } => "leaf-gp-rnd",
            Self::FeasRandom => "feas-random",
            Self::Random => "random",
            Self::External { .. } => "external",
        }
    }

    /// True when it fits the engine's model, so that settings matter.
    pub fn uses_model(&self) -> bool {
        matches!(self, Self::LeafGp | Self::LeafGpRnd { .. })
    }
}

/// What a method is told of the constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstraintHandling {
    /// It knows them, and gets the plain values.
    Exact,
    /// It sees the box only, and its values are worsened by `lambda` times the sum of squared violations (Eq. 14).
    Penalty {
        /// The weight, `>= 0`.
        lambda: f64,
    },
}

/// One method on one problem.
#[derive(Clone, Debug)]
pub struct Case {
    /// Index of the problem.
    pub problem: usize,
    /// Index of the method.
    pub method: usize,
    /// The settings in force; the seed is each run's own.
    pub settings: Settings,
    /// Digest of everything that decides a run's results, but for its seed and length.
    pub fingerprint: String,
}

/// One run: a case and a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId {
    /// Index of the case.
    pub case: usize,
    /// The seed.
    pub seed: u64,
}

impl Spec {
    /// Every run, seed by seed, so that early results cover all cases.
    pub fn runs(&self) -> Vec<RunId> {
        let cases = 0..self.cases.len();
        self.seeds.iter().flat_map(|&seed| cases.clone().map(move |case| RunId { case, seed })).collect()
    }

    /// The problem and the method of a case.
    pub fn parts(&self, case: usize) -> (&StudyProblem, &Method) {
        let case = &self.cases[case];
        (&self.problems[case.problem], &self.methods[case.method])
    }

    /// `problem/method/seed`.
    pub fn run_name(&self, run: RunId) -> String {
        let (problem, method) = self.parts(run.case);
        format!("{}/{}/{}", problem.name, method.name, run.seed)
    }
}

impl StudyProblem {
    /// Evaluations of a run: first points and iterations, no more than a table has points.
    pub fn evaluations(&self) -> usize {
        let planned = self.initial + self.iterations;
        match &self.source {
            Source::Table(table) => planned.min(table.points.len()),
            Source::Function(_) | Source::Command { .. } => planned,
        }
    }
}

impl Method {
    /// What decides its proposals.
    pub(super) fn to_json(&self) -> Value {
        let mut object = json!({ "kind": self.kind.as_str() });
        match &self.kind {
            MethodKind::LeafGpRnd { samples } => object["samples"] = json!(samples),
            MethodKind::External { command, timeout } => {
                object["command"] = json!(command);
                object["timeout"] = json!(timeout.as_secs_f64());
            }
            MethodKind::LeafGp | MethodKind::FeasRandom | MethodKind::Random => {}
        }
        match self.constraints {
            ConstraintHandling::Exact => object["constraints"] = json!("exact"),
            ConstraintHandling::Penalty { lambda } => {
                object["constraints"] = json!("penalty");
                object["lambda"] = json!(lambda);
            }
        }
        // Not where it is one at a time: manifests of old studies do not have it.
        if self.parallel > 1 {
            object["parallel"] = json!(self.parallel);
        }
        object
    }
}

/// One thread, nodes in place of the clock, and no design: the first points are the study's.
pub(super) fn deterministic(mut settings: Settings) -> Settings {
    settings.seed = 0;
    settings.design.initial = 1;
    settings.solver.threads = 1;
    settings.solver.time_limit = NO_TIME_LIMIT;
    settings.solver.node_limit.get_or_insert(NODE_LIMIT);
    settings
}
