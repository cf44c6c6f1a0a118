//! From what was typed to what it means: problem, effective settings, history file.

use std::path::{Path, PathBuf};

use super::args::{Common, HistoryArgs, PresetArgs, SolverArgs};
use super::failure::Failure;
use super::output::Output;
use leafgp::history::{History, HistoryFile};
use leafgp::problem::{Problem, Settings};

/// Reads the problem file and puts the command line's settings over its own. Its warnings go to stderr.
pub(super) fn read_problem(
    file: &Path,
    common: &Common,
    solver: &SolverArgs,
    output: &mut Output,
) -> Result<Problem, Failure> {
    let problem = Problem::from_file(file)?;
    for warning in problem.warnings() {
        output.warning(&format!("{}: {warning}", file.display()));
    }
    with_overrides(problem, common, solver)
}

/// The problem with the command line's settings over its own.
pub(super) fn with_overrides(
    problem: Problem,
    common: &Common,
    solver: &SolverArgs,
) -> Result<Problem, Failure> {
    let mut settings = problem.settings().clone();
    override_settings(&mut settings, common, solver)?;
    Ok(problem.with_settings(settings)?)
}

/// The problem with the command line's preset instead of its own, and what goes with it.
pub(super) fn with_preset(problem: Problem, args: &PresetArgs) -> Result<Problem, Failure> {
    match args.preset {
        Some(preset) => Ok(problem.adjusted(|settings| settings.use_preset(preset))?),
        None => Ok(problem),
    }
}

/// Settings of the command line win.
pub(super) fn override_settings(
    settings: &mut Settings,
    common: &Common,
    solver: &SolverArgs,
) -> Result<(), Failure> {
    if let Some(seed) = common.seed {
        settings.seed = seed;
    }
    let target = &mut settings.solver;
    target.time_limit = solver.time_limit.unwrap_or(target.time_limit);
    target.gap = solver.gap.unwrap_or(target.gap);
    target.node_limit = solver.node_limit.or(target.node_limit);
    target.threads = solver.threads.unwrap_or(target.threads);
    Ok(settings.validate()?)
}

/// Where the history is: as given, else beside the problem file under its name with `.csv`.
pub(super) fn history_file(args: &HistoryArgs, problem_file: &Path) -> Result<HistoryFile, Failure> {
    let path = args.history.clone().unwrap_or_else(|| problem_file.with_extension("csv"));
    if is_same(&path, problem_file) {
        let message = format!(
            "{}: the history cannot be the problem file itself; give it with --history",
            path.display()
        );
        return Err(Failure::Input(message));
    }
    Ok(HistoryFile::new(path))
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| -> PathBuf { std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) };
    real(a) == real(b)
}

/// Reads the history; its warnings go to stderr.
pub(super) fn read_history(
    file: &HistoryFile,
    problem: &Problem,
    output: &mut Output,
) -> Result<History, Failure> {
    let history = file.read(problem)?;
    for warning in &history.warnings {
        output.warning(&format!("{}: {warning}", file.path().display()));
    }
    Ok(history)
}
