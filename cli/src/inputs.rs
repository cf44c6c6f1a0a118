//! From what was typed to what it means: problem, effective settings.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use leafgp_solver::SearchOptions;

use super::args::{Common, PresetArgs, SolverArgs};
use super::failure::Failure;
use super::output::Output;
use super::progress::Meter;
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

/// Options of one search by the settings, watched by the meter, stopped by the flag.
pub(super) fn search_options(
    settings: &Settings,
    interrupt: &Arc<AtomicBool>,
    meter: &Meter,
) -> SearchOptions {
    let mut options = SearchOptions::default();
    options.gap = settings.solver.gap;
    options.time_limit = Some(Duration::from_secs_f64(settings.solver.time_limit));
    options.node_limit = settings.solver.node_limit;
    options.threads = settings.solver.thread_count();
    options.seed = settings.seed;
    options.interrupt = Some(Arc::clone(interrupt));
    options.progress = Some(meter.callback());
    options
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
