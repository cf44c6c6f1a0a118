//! What suggestions must be like: values that are fixed, a table to choose from, one value through a batch.

use std::path::Path;

use super::args::WishArgs;
use super::failure::Failure;
use super::output::Output;
use leafgp::engine::{Answer, LeftOut, Request};
use leafgp::history::History;
use leafgp::problem::Problem;
use leafgp::problem::reading::hint;

/// Candidates named one by one; beyond, only how many more there are.
const SHOWN: usize = 10;

/// What was asked for, and the lines of the table's rows.
pub(super) struct Wishes {
    pub(super) request: Request,
    lines: Vec<usize>,
}

impl WishArgs {
    /// Reads values and table.
    pub(super) fn read(&self, problem: &Problem) -> Result<Wishes, Failure> {
        let mut request = fixed(problem, &self.fix)?;
        for name in &self.same {
            let index = problem.index_of(name).ok_or_else(|| unknown(problem, "--same", name))?;
            request = request.same(&problem.variables()[index].name);
        }
        let mut lines = Vec::new();
        if let Some(path) = &self.among {
            let table = read_points(path, &with_defaults(problem, &request)?)?;
            lines = table.rows.iter().map(|row| row.line).collect();
            request = request.among(table.rows.into_iter().map(|row| row.point).collect());
        }
        Ok(Wishes { request, lines })
    }
}

/// A request for values of `--fix`.
pub(super) fn fixed(problem: &Problem, fix: &[(String, String)]) -> Result<Request, Failure> {
    let mut request = Request::default();
    for (name, text) in fix {
        let index = problem.index_of(name).ok_or_else(|| unknown(problem, "--fix", name))?;
        let variable = &problem.variables()[index];
        let value =
            variable.parse_value(text).map_err(|e| Failure::Input(format!("--fix {name}={text}: {e}")))?;
        request = request.fixed(&variable.name, value);
    }
    Ok(request)
}

/// Says what is fixed, if anything is.
pub(super) fn note_fixed(problem: &Problem, request: &Request, output: &mut Output) {
    let value = |(name, x): &(String, f64)| {
        let variable = &problem.variables()[problem.index_of(name)?];
        Some(format!("{name} = {}", variable.format_value(*x)))
    };
    let values: Vec<String> = request.fixed.iter().filter_map(value).collect();
    if !values.is_empty() {
        output.note(&format!("only with {}; what is proved is proved for that", values.join(", ")));
    }
}

impl Wishes {
    /// Says which rows of the table were left out, and why.
    pub(super) fn report(&self, answer: &Answer, output: &mut Output) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        let mut infeasible = Vec::new();
        let (mut taken, mut elsewhere) = (0, 0);
        for (i, left_out) in answer.left_out.iter().enumerate() {
            match left_out {
                Some(LeftOut::Infeasible(rules)) => infeasible.push((i, rules.join(", "))),
                Some(LeftOut::Taken) => taken += 1,
                Some(LeftOut::NotFixed) => elsewhere += 1,
                None => {}
            }
        }
        for (i, rules) in infeasible.iter().take(SHOWN) {
            let line = self.lines.get(*i).copied().unwrap_or_default();
            told.push(format!("candidate {} (line {line}) is not feasible: {rules}", i + 1));
        }
        if infeasible.len() > SHOWN {
            told.push(format!("{} more candidates are not feasible", infeasible.len() - SHOWN));
        }
        for warning in &told {
            output.warning(warning);
        }
        let counted =
            [(taken, "hold an experiment already"), (elsewhere, "have other values than those fixed")];
        for (n, what) in counted.into_iter().filter(|(n, _)| *n > 0) {
            output.note(&format!("{n} of {} candidates {what}", answer.left_out.len()));
        }
        told
    }
}

/// The problem with what is fixed as the value of columns that the table has not.
fn with_defaults(problem: &Problem, request: &Request) -> Result<Problem, Failure> {
    let mut problem = problem.clone();
    for (name, value) in &request.fixed {
        problem = problem.with_default(name, *value)?;
    }
    Ok(problem)
}

/// The rows of a table of points.
pub(super) fn read_points(path: &Path, problem: &Problem) -> Result<History, Failure> {
    let bytes = leafgp::file::read_whole(path).map_err(|e| Failure::file(path, e))?;
    History::points_from_bytes(&bytes, problem).map_err(|e| Failure::input(e.in_file(path)))
}

fn unknown(problem: &Problem, option: &str, name: &str) -> Failure {
    let names: Vec<&str> = problem.variables().iter().map(|v| v.name.as_str()).collect();
    let hint = hint(name, names.iter().copied());
    let expected = names.join(", ");
    Failure::Input(format!("{option} {name}: there is no such variable{hint}; expected one of {expected}"))
}
