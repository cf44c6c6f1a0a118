//! The spec file: TOML in, checked [`Spec`] out; every error with its place.

use std::path::Path;
use std::time::Duration;

use toml::de::DeTable;

use super::case_digest::case_digest;
use super::error::StudyError;
use super::spec::{
    Case, ConstraintHandling, Infeasible, LookUp, Method, MethodKind, Source, Spec, StudyProblem,
    deterministic,
};
use super::spec_reader::{SpecReader, parse};
use crate::functions;
use leafgp::history::History;
use leafgp::problem::reading::{Located, join};
use leafgp::problem::{Goal, Problem, ProblemError, Settings};

const KEYS: [&str; 7] = ["name", "iterations", "initial", "seeds", "settings", "problem", "method"];
const PROBLEM_KEYS: [&str; 10] = [
    "name",
    "function",
    "file",
    "evaluate",
    "timeout",
    "table",
    "infeasible",
    "iterations",
    "initial",
    "settings",
];
const METHOD_KEYS: [&str; 10] = [
    "name",
    "kind",
    "samples",
    "command",
    "timeout",
    "constraints",
    "lambda",
    "parallel",
    "problems",
    "settings",
];

/// The paper's: evaluations after the first points, first points, samples of `leaf-gp-rnd`.
const ITERATIONS: usize = 100;
const INITIAL: usize = 5;
const SAMPLES: usize = 2000;
/// Seconds for one answer of an external process.
const ANSWER_TIMEOUT: f64 = 600.0;

#[derive(Clone, Copy, Debug)]
enum Kind {
    LeafGp,
    LeafGpRnd,
    FeasRandom,
    Random,
    External,
}

const KINDS: [(&str, Kind); 5] = [
    ("leaf-gp", Kind::LeafGp),
    ("leaf-gp-rnd", Kind::LeafGpRnd),
    ("feas-random", Kind::FeasRandom),
    ("random", Kind::Random),
    ("external", Kind::External),
];

impl Spec {
    /// Reads a study file. Files it names are relative to its folder.
    ///
    /// # Errors
    /// Unreadable file, syntax, unknown keys, values out of range, problem files and tables that are refused: with file, place and field.
    pub fn from_file(path: &Path) -> Result<Self, StudyError> {
        read(&leafgp::problem::reading::Source::read(path)?)
    }

    /// Reads the text of a study file; `file` is the name for messages, and files named in the text are relative to its folder.
    ///
    /// # Errors
    /// As [`Spec::from_file`].
    pub fn from_text(file: &Path, text: &str) -> Result<Self, StudyError> {
        read(&leafgp::problem::reading::Source::new(file, text))
    }
}

fn read(source: &leafgp::problem::reading::Source) -> Result<Spec, StudyError> {
    let document = parse(source)?;
    SpecReader::new(source).spec(document.get_ref())
}

/// A problem with what its cases need.
struct ReadProblem {
    problem: StudyProblem,
    base: Settings,
}

impl SpecReader<'_> {
    fn spec(&mut self, root: &DeTable<'_>) -> Result<Spec, StudyError> {
        self.reader.check_keys(root, "", &KEYS)?;
        let name = self.title(root)?;
        let iterations = self.count("iterations", root.get("iterations"), 0)?.unwrap_or(ITERATIONS);
        let initial = self.count("initial", root.get("initial"), 1)?.unwrap_or(INITIAL);
        let seeds = self.seeds(root)?;
        let defaults = (initial, iterations);

        let mut problems: Vec<ReadProblem> = Vec::new();
        for (i, value) in self.tables(root, "problem", "function = \"rastrigin\"")?.into_iter().enumerate() {
            let field = format!("problem[{i}]");
            let read = self.problem(&field, value, root.get("settings"), defaults)?;
            let names = problems.iter().map(|p| p.problem.name.as_str());
            self.check_distinct(&field, value, &read.problem.name, names)?;
            problems.push(read);
        }
        let mut methods = Vec::new();
        let mut cases_of: Vec<Vec<(usize, Settings)>> = vec![Vec::new(); problems.len()];
        for (i, value) in self.tables(root, "method", "name = \"leaf-gp\"")?.into_iter().enumerate() {
            let field = format!("method[{i}]");
            let table = self.reader.table(&field, value, "name = \"leaf-gp\"")?;
            let method = self.method(&field, value)?;
            self.check_distinct(
                &field,
                value,
                &method.name,
                methods.iter().map(|m: &Method| m.name.as_str()),
            )?;
            let only = self.restriction(&field, table, &problems)?;
            for (p, read) in problems.iter().enumerate() {
                if only.as_ref().is_some_and(|only| !only.contains(&p)) {
                    continue;
                }
                let settings = self.overlay(&field, table.get("settings"), &read.base)?;
                if method.kind.uses_model() {
                    self.check_fits(&field, value, &method, read)?;
                }
                cases_of[p].push((i, settings));
            }
            if let (Some(settings), false) = (table.get("settings"), method.kind.uses_model()) {
                let message = format!("{} has no model, so settings mean nothing", method.kind.as_str());
                return Err(self
                    .refuse(settings, &join(&field, "settings"), message, "no such table")
                    .into());
            }
            methods.push(method);
        }
        let problems: Vec<StudyProblem> = problems.into_iter().map(|read| read.problem).collect();
        let mut cases = Vec::new();
        for (p, list) in cases_of.into_iter().enumerate() {
            for (m, settings) in list {
                let settings = deterministic(settings);
                let fingerprint = case_digest(&problems[p], &methods[m], &settings);
                cases.push(Case { problem: p, method: m, settings, fingerprint });
            }
        }
        Ok(Spec { name, iterations, initial, seeds, problems, methods, cases })
    }

    fn problem(
        &mut self,
        field: &str,
        value: &Located<'_>,
        shared: Option<&Located<'_>>,
        (initial, iterations): (usize, usize),
    ) -> Result<ReadProblem, StudyError> {
        let table = self.reader.table(field, value, "function = \"rastrigin\"")?;
        self.reader.check_keys(table, field, &PROBLEM_KEYS)?;
        let function = match table.get("function") {
            Some(value) => {
                let at = join(field, "function");
                let name = self.reader.text(&at, value, "\"rastrigin\"")?;
                Some(functions::find(&name).map_err(|_| {
                    let hint = leafgp::problem::reading::hint(&name, functions::names());
                    let message = format!("there is no function {name:?}{hint}");
                    self.refuse(value, &at, message, format!("one of {}", functions::names().join(", ")))
                })?)
            }
            None => None,
        };
        let (base, file) = match (table.get("file"), function) {
            (Some(value), _) => {
                let path = self.path(&join(field, "file"), value, "\"problem.toml\"")?;
                (Problem::from_file(&path)?, Some(path))
            }
            (None, Some(function)) => (function.problem()?, None),
            (None, None) => {
                let message = "the problem has neither `function` nor `file`";
                return Err(self
                    .refuse(value, field, message, "function = \"rastrigin\" or file = \"problem.toml\"")
                    .into());
            }
        };
        if let Goal::Target(_) = base.objective().goal {
            let message =
                "the problem's goal is a target: studies compare values that are minimised or maximised";
            return Err(self
                .refuse(value, field, message, "goal = \"minimize\" or goal = \"maximize\"")
                .into());
        }
        if let (Some(function), Some(file)) = (function, &file) {
            function.check_fits(&base).map_err(|what| {
                self.refuse(value, &join(field, "function"), format!("{}: {what}", file.display()), "")
            })?;
        }
        let source = self.source(field, value, table, function, &base)?;
        let infeasible = self.infeasible(field, table, &base)?;
        let default_name = match (function, &file) {
            (_, Some(file)) => {
                file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
            }
            (Some(function), None) => function.name.to_owned(),
            (None, None) => String::new(),
        };
        let name = self.name(field, value, table, default_name)?;
        let initial = self.count(&join(field, "initial"), table.get("initial"), 1)?.unwrap_or(initial);
        let iterations =
            self.count(&join(field, "iterations"), table.get("iterations"), 0)?.unwrap_or(iterations);
        let settings = self.overlay("", shared, base.settings())?;
        let settings = self.overlay(field, table.get("settings"), &settings)?;
        let base = base.with_settings(settings.clone())?;
        let problem = StudyProblem { name, problem: base, source, infeasible, initial, iterations };
        Ok(ReadProblem { problem, base: settings })
    }

    /// Exactly one source of values.
    fn source(
        &mut self,
        field: &str,
        whole: &Located<'_>,
        table: &DeTable<'_>,
        function: Option<&'static functions::Benchmark>,
        problem: &Problem,
    ) -> Result<Source, StudyError> {
        const EXPECTED: &str = "exactly one of `function`, `evaluate` and `table`";
        let given: Vec<&str> =
            ["function", "evaluate", "table"].into_iter().filter(|key| table.get(*key).is_some()).collect();
        if given.len() != 1 {
            let message = match given.as_slice() {
                [] => "nothing says where values come from".to_owned(),
                several => format!("{} are given", several.join(" and ")),
            };
            return Err(self.refuse(whole, field, message, EXPECTED).into());
        }
        let timeout = self.seconds(&join(field, "timeout"), table.get("timeout"))?;
        if let (Some(value), None) = (table.get("timeout"), table.get("evaluate")) {
            let message = "only an `evaluate` command can time out";
            return Err(self.refuse(value, &join(field, "timeout"), message, "no such line").into());
        }
        if let Some(value) = table.get("evaluate") {
            let command = self.reader.text(&join(field, "evaluate"), value, "\"python3 measure.py\"")?;
            return Ok(Source::Command { command, timeout });
        }
        if let Some(value) = table.get("table") {
            let at = join(field, "table");
            let path = self.path(&at, value, "\"measurements.csv\"")?;
            if !path.exists() {
                let message = format!("{} does not exist", path.display());
                return Err(self.refuse(value, &at, message, "a CSV file, relative to this file").into());
            }
            let look_up = look_up(&History::read(&path, problem)?);
            if look_up.points.len() < 2 {
                let message = format!(
                    "{} has {} distinct feasible points with a value",
                    path.display(),
                    look_up.points.len()
                );
                return Err(self.refuse(value, &at, message, "at least 2").into());
            }
            return Ok(Source::Table(look_up));
        }
        Ok(Source::Function(function.expect("the one source given is the function")))
    }

    fn infeasible(
        &mut self,
        field: &str,
        table: &DeTable<'_>,
        problem: &Problem,
    ) -> Result<Infeasible, ProblemError> {
        const WORDS: [(&str, Infeasible); 2] = [("measure", Infeasible::Measure), ("skip", Infeasible::Skip)];
        let at = join(field, "infeasible");
        let Some(value) = table.get("infeasible") else { return Ok(Infeasible::Measure) };
        let infeasible = self.reader.word(&at, value, &WORDS)?;
        let nothing = if table.get("table").is_some() {
            Some("a table's candidates are its feasible rows")
        } else {
            problem.constraints().is_empty().then_some("the problem has no constraints")
        };
        match nothing {
            Some(why) => Err(self.refuse(value, &at, why, "no such line")),
            None => Ok(infeasible),
        }
    }

    fn method(&mut self, field: &str, value: &Located<'_>) -> Result<Method, StudyError> {
        let table = self.reader.table(field, value, "name = \"leaf-gp\"")?;
        self.reader.check_keys(table, field, &METHOD_KEYS)?;
        let kind = match (table.get("kind"), table.get("name").and_then(|name| name.get_ref().as_str())) {
            (Some(kind), _) => self.reader.word(&join(field, "kind"), kind, &KINDS)?,
            // The name of a kind needs no further word.
            (None, Some(name)) if KINDS.iter().any(|(word, _)| *word == name) => {
                KINDS.iter().find(|(word, _)| *word == name).map_or(Kind::Random, |(_, kind)| *kind)
            }
            (None, _) => {
                let words = KINDS.map(|(word, _)| format!("`{word}`")).join(", ");
                return Err(self.refuse(value, &join(field, "kind"), "`kind` is missing", words).into());
            }
        };
        let word = KINDS[kind as usize].0;
        let name = self.name(field, value, table, word.to_owned())?;
        for (key, owner, belongs) in [
            ("samples", "leaf-gp-rnd", matches!(kind, Kind::LeafGpRnd)),
            ("command", "external", matches!(kind, Kind::External)),
            ("timeout", "external", matches!(kind, Kind::External)),
        ] {
            if let (Some(value), false) = (table.get(key), belongs) {
                let message = format!("`{key}` belongs to kind {owner:?}, this is {word:?}");
                return Err(self.refuse(value, &join(field, key), message, "no such line").into());
            }
        }
        let kind = match kind {
            Kind::LeafGp => MethodKind::LeafGp,
            Kind::LeafGpRnd => {
                let samples = self.count(&join(field, "samples"), table.get("samples"), 1)?;
                MethodKind::LeafGpRnd { samples: samples.unwrap_or(SAMPLES) }
            }
            Kind::FeasRandom => MethodKind::FeasRandom,
            Kind::Random => MethodKind::Random,
            Kind::External => {
                let at = join(field, "command");
                let Some(command) = table.get("command") else {
                    let expected = "the command that starts the process, command = \"python3 peer.py\"";
                    return Err(self.refuse(value, &at, "`command` is missing", expected).into());
                };
                let command = self.reader.text(&at, command, "\"python3 peer.py\"")?;
                let timeout = self.seconds(&join(field, "timeout"), table.get("timeout"))?;
                let timeout = timeout.unwrap_or(Duration::from_secs_f64(ANSWER_TIMEOUT));
                MethodKind::External { command, timeout }
            }
        };
        let constraints = self.handling(field, table, &kind)?;
        let at = join(field, "parallel");
        let parallel = self.count(&at, table.get("parallel"), 1)?.unwrap_or(1);
        if let (Some(value), MethodKind::External { .. }, 2..) = (table.get("parallel"), &kind, parallel) {
            let message = "an external process is asked for one point at a time";
            return Err(self.refuse(value, &at, message, "no such line").into());
        }
        Ok(Method { name, kind, constraints, parallel })
    }

    fn handling(
        &mut self,
        field: &str,
        table: &DeTable<'_>,
        kind: &MethodKind,
    ) -> Result<ConstraintHandling, ProblemError> {
        let (at, at_lambda) = (join(field, "constraints"), join(field, "lambda"));
        let penalty = match table.get("constraints") {
            Some(value) => {
                if matches!(kind, MethodKind::FeasRandom | MethodKind::Random) {
                    let message = format!("{} does not look at values", kind.as_str());
                    return Err(self.refuse(value, &at, message, "no such line"));
                }
                self.reader.word(&at, value, &[("exact", false), ("penalty", true)])?
            }
            None => false,
        };
        let lambda = match table.get("lambda") {
            Some(value) if !penalty => {
                let message = "`lambda` is the weight of a penalty";
                return Err(self.refuse(value, &at_lambda, message, "constraints = \"penalty\" beside it"));
            }
            Some(value) => {
                let lambda = self.reader.number(&at_lambda, value)?;
                if !(0.0..=1e30).contains(&lambda) {
                    let message = format!("{lambda} is out of range");
                    return Err(self.refuse(value, &at_lambda, message, "a number in [0, 1e30]"));
                }
                lambda
            }
            None if penalty => {
                let value = table.get("constraints").expect("it says penalty");
                let message = "a penalty needs its weight";
                return Err(self.refuse(value, &at_lambda, message, "lambda = 10 beside it"));
            }
            None => 0.0,
        };
        Ok(if penalty { ConstraintHandling::Penalty { lambda } } else { ConstraintHandling::Exact })
    }

    /// Indices of the problems a method is restricted to.
    fn restriction(
        &mut self,
        field: &str,
        table: &DeTable<'_>,
        problems: &[ReadProblem],
    ) -> Result<Option<Vec<usize>>, ProblemError> {
        let Some(list) = table.get("problems") else { return Ok(None) };
        let at = join(field, "problems");
        let mut only = Vec::new();
        for (k, value) in self.reader.array(&at, list, "[\"g1\", \"g3\"]")?.into_iter().enumerate() {
            let at = format!("{at}[{k}]");
            let name = self.reader.text(&at, value, "\"g1\"")?;
            let names: Vec<&str> = problems.iter().map(|p| p.problem.name.as_str()).collect();
            match names.iter().position(|n| *n == name) {
                Some(index) => only.push(index),
                None => {
                    let hint = leafgp::problem::reading::hint(&name, names.iter().copied());
                    let message = format!("the study has no problem {name:?}{hint}");
                    return Err(self.refuse(value, &at, message, format!("one of {}", names.join(", "))));
                }
            }
        }
        Ok(Some(only))
    }

    /// Settings of the engine that would have no effect in a case are mistakes.
    fn check_fits(
        &mut self,
        field: &str,
        value: &Located<'_>,
        method: &Method,
        read: &ReadProblem,
    ) -> Result<(), ProblemError> {
        let MethodKind::LeafGpRnd { samples } = method.kind else { return Ok(()) };
        let variables = read.problem.problem.variables().len();
        if samples.saturating_mul(variables) > 100_000_000 {
            let message = format!("{samples} samples of {variables} variables do not fit into memory");
            return Err(self.refuse(value, &join(field, "samples"), message, "fewer samples"));
        }
        Ok(())
    }

    /// The name of a problem or method; it names folders too.
    fn name(
        &mut self,
        field: &str,
        whole: &Located<'_>,
        table: &DeTable<'_>,
        default: String,
    ) -> Result<String, ProblemError> {
        let at = join(field, "name");
        let name = match table.get("name") {
            Some(value) => self.reader.text(&at, value, "\"leaf-gp\"")?,
            None => default,
        };
        let sound = |b: u8| b.is_ascii_alphanumeric() || b"_.+-".contains(&b);
        if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.bytes().all(sound) {
            let place = table.get("name").unwrap_or(whole);
            let expected =
                "a name of letters, digits and `_ . + -`, no dot first, at most 100: folders bear it";
            return Err(self.refuse(place, &at, format!("{name:?} cannot name a folder"), expected));
        }
        Ok(name)
    }

    /// Some file systems do not tell capitals apart.
    fn check_distinct<'n>(
        &self,
        field: &str,
        value: &Located<'_>,
        name: &str,
        mut before: impl Iterator<Item = &'n str>,
    ) -> Result<(), ProblemError> {
        if before.any(|other| other.eq_ignore_ascii_case(name)) {
            let message = format!("two have the name {name:?}");
            return Err(self.refuse(value, &join(field, "name"), message, "a name of its own"));
        }
        Ok(())
    }

    /// The tables of `[[key]]`, at least one.
    fn tables<'t>(
        &mut self,
        root: &'t DeTable<'_>,
        key: &str,
        example: &str,
    ) -> Result<Vec<&'t Located<'t>>, ProblemError> {
        let example = format!("[[{key}]] {example}");
        let missing =
            ProblemError::new(key, format!("the study has no [[{key}]]"), format!("such as {example}"));
        let Some(value) = root.get(key) else { return Err(self.reader.locate(missing)) };
        if value.get_ref().is_table() {
            let message = format!("[{key}] is a single table");
            return Err(self.refuse(value, key, message, format!("[[{key}]], with two brackets")));
        }
        let tables = self.reader.array(key, value, &example)?;
        if tables.is_empty() { Err(self.reader.locate(missing)) } else { Ok(tables) }
    }
}

/// The distinct feasible points of a table and their values.
fn look_up(history: &History) -> LookUp {
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut measured: Vec<Vec<f64>> = Vec::new();
    for row in history.rows.iter().filter(|row| row.is_eligible()) {
        let Some(value) = row.value() else { continue };
        match points.iter().position(|point| *point == row.point) {
            Some(known) => measured[known].push(value),
            None => {
                points.push(row.point.clone());
                measured.push(vec![value]);
            }
        }
    }
    let values = measured.iter().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect();
    LookUp { points, values }
}
