//! `leafgp optimize`: the best input of a trained model, with proof.

use std::io::Write;

use leafgp_models::{Candidate, Ensemble, Goal as ModelGoal, Optimum, Space};
use leafgp_solver::constraints::Variable;
use leafgp_solver::search::Status as SearchStatus;
use leafgp_solver::{Domain, LevelSet, Range, Region};
use serde_json::{Map, Value, json};

use super::Status;
use super::args::{Common, Format, OptimizeArgs};
use super::failure::Failure;
use super::inputs::{override_settings, read_problem, search_options};
use super::interrupt;
use super::model::{bind, read_model, variables_of};
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp::engine::interrupted;
use leafgp::history::Columns;
use leafgp::problem::{Goal, Problem, Settings, format_number};

pub(super) fn command(args: &OptimizeArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let model = read_model(&args.model)?;
    let problem = match &args.problem {
        Some(file) => Some(read_problem(file, common, &args.solver, output)?),
        None => None,
    };
    let goal = goal(args, problem.as_ref())?;
    let variables = match (&problem, &args.data) {
        (Some(problem), _) => {
            problem.variables().iter().map(leafgp::problem::Variable::in_expressions).collect()
        }
        (None, Some(file)) => {
            let wanted: Vec<&str> = model.features().iter().map(|feature| feature.name.as_str()).collect();
            variables_of(&args.model, &model, &Columns::read(file, &wanted)?)?
        }
        (None, None) => unreachable!("the arguments demand one of the two"),
    };
    let binding = bind(&args.model, &model, &variables)?;
    let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
    let name_of = |text: &str| text.split('=').next().unwrap_or_default().trim().to_owned();
    for (i, text) in args.fix.iter().enumerate() {
        if args.fix[..i].iter().any(|other| name_of(other) == name_of(text)) {
            return Err(Failure::Input(format!("--fix {text}: the variable is fixed twice")));
        }
    }
    let excluded =
        args.fix.iter().map(|text| fixed(text, &variables)).collect::<Result<Vec<_>, _>>()?.concat();
    let mut space = Space::new(&domains, &binding).excluding(&excluded);
    if let Some(problem) = problem.as_ref().filter(|problem| !problem.constraints().is_empty()) {
        space = space.with_constraints(problem.constraints());
    }

    let mut settings = problem.as_ref().map_or_else(Settings::default, |problem| problem.settings().clone());
    override_settings(&mut settings, common, &args.solver)?;
    let interrupt = interrupt::flag();
    let meter = Meter::spinner(output);
    let mut options = search_options(&settings, &interrupt, &meter);
    options.k_best = args.top.max(1);
    let optimum = model.optimize(&space, goal, &options);
    drop(meter);
    let optimum = optimum.map_err(|error| Failure::file(&args.model.model, error))?;
    match args.format {
        Format::Json => output.json(&to_json(&variables, &optimum))?,
        Format::Table => write_text(&model, &variables, &optimum, output)?,
    }
    if interrupted(Some(&interrupt)) {
        return Err(Failure::Interrupted("interrupted: this is what was found and proved so far".into()));
    }
    match optimum.status {
        SearchStatus::Optimal | SearchStatus::Feasible => Ok(Status::Done),
        SearchStatus::Infeasible | SearchStatus::Unknown => Ok(Status::NoAnswer),
    }
}

/// What was asked for, else the problem's own direction.
fn goal(args: &OptimizeArgs, problem: Option<&Problem>) -> Result<ModelGoal, Failure> {
    if args.maximize {
        return Ok(ModelGoal::Maximize);
    }
    if args.minimize {
        return Ok(ModelGoal::Minimize);
    }
    match problem.map(|problem| problem.objective().goal) {
        Some(Goal::Maximize) => Ok(ModelGoal::Maximize),
        Some(Goal::Minimize) => Ok(ModelGoal::Minimize),
        Some(Goal::Target(_)) => Err(Failure::Input(
            "the problem's goal is a target, which is not sought in a trained model; give --maximize or --minimize".into(),
        )),
        None => Err(Failure::Input("give --maximize or --minimize".into())),
    }
}

/// What `name=value` leaves out: all other values of that variable.
fn fixed(text: &str, variables: &[Variable]) -> Result<Vec<Region>, Failure> {
    let refused = |what: String| Failure::Input(format!("--fix {text}: {what}"));
    let (name, value) = text.split_once('=').ok_or_else(|| refused("expected NAME=VALUE".into()))?;
    let (name, value) = (name.trim(), value.trim());
    let index = variables.iter().position(|variable| variable.name == name).ok_or_else(|| {
        let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
        refused(format!("there is no variable {name:?}; known are {names:?}"))
    })?;
    let variable = &variables[index];
    let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
    let without = |range: Range| {
        let mut region = Region::full(&domains);
        region.0[index] = range;
        region
    };
    if let Some(levels) = variable.domain.levels() {
        let level = variable.level_names.iter().position(|label| label == value);
        let level = level
            .ok_or_else(|| refused(format!("{value:?} is no level; known are {:?}", variable.level_names)))?;
        let others = LevelSet::from_indices(levels, (0..levels).filter(|&other| other != level));
        return Ok(if levels > 1 { vec![without(Range::Levels(others))] } else { Vec::new() });
    }
    let number: f64 = value.parse().map_err(|_| refused(format!("{value:?} is no number")))?;
    let (lower, upper) = variable.domain.bounds();
    if !variable.domain.contains(number) {
        let allowed = match &variable.domain {
            Domain::Discrete(values) => format!("its values are {values:?}"),
            Domain::Continuous { .. } => format!("its bounds are {lower} and {upper}"),
            _ => format!("its values are whole numbers or steps from {lower} to {upper}"),
        };
        return Err(refused(format!("{value} is not allowed; {allowed}")));
    }
    let mut regions = Vec::new();
    if number > lower {
        regions.push(without(Range::Interval { lower, upper: number.next_down() }));
    }
    if number < upper {
        regions.push(without(Range::Interval { lower: number.next_up(), upper }));
    }
    Ok(regions)
}

fn coordinate(variable: &Variable, x: f64) -> Value {
    match variable.level_names.get(x as usize) {
        Some(label) if variable.domain.is_categorical() => json!(label),
        _ if x.fract() == 0.0 && x.abs() < 1e15 && matches!(variable.domain, Domain::Integer { .. }) => {
            json!(x as i64)
        }
        _ => json!(x),
    }
}

fn candidate_to_json(variables: &[Variable], candidate: &Candidate) -> Value {
    let named = |f: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        variables.iter().enumerate().map(|(i, variable)| (variable.name.clone(), f(i))).collect()
    };
    let range = |i: usize| match &candidate.cell.0[i] {
        Range::Interval { lower, upper } => json!([lower, upper]),
        Range::Levels(levels) => {
            levels.iter().map(|level| coordinate(&variables[i], level as f64)).collect::<Value>()
        }
    };
    json!({
        "point": named(&|i| coordinate(&variables[i], candidate.point[i])),
        "value": candidate.value,
        "cell": named(&range),
    })
}

fn to_json(variables: &[Variable], optimum: &Optimum) -> Value {
    let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let best = optimum.best.as_ref().map(|best| candidate_to_json(variables, best));
    let field = |key: &str| best.as_ref().map_or(Value::Null, |best| best[key].clone());
    json!({
        "status": optimum.status.as_str(),
        "stop_reason": optimum.stop_reason.as_str(),
        "point": field("point"),
        "value": field("value"),
        "cell": field("cell"),
        "bound": finite(optimum.bound),
        "gap": finite(optimum.gap),
        "others": optimum.others.iter().map(|c| candidate_to_json(variables, c)).collect::<Vec<_>>(),
        "nodes": optimum.nodes,
        "seconds": optimum.seconds,
    })
}

fn write_text(
    model: &Ensemble,
    variables: &[Variable],
    optimum: &Optimum,
    output: &mut Output,
) -> Result<(), Failure> {
    writeln!(output, "{} ({}); {} trees", optimum.status, optimum.stop_reason, model.n_trees())?;
    for (rank, candidate) in optimum.best.iter().chain(&optimum.others).enumerate() {
        let point: Vec<String> = variables
            .iter()
            .zip(&candidate.point)
            .map(|(variable, &x)| match coordinate(variable, x) {
                Value::String(label) => format!("{} = {label}", variable.name),
                _ => format!("{} = {}", variable.name, format_number(x)),
            })
            .collect();
        let label = if rank == 0 { "best".to_owned() } else { format!("{}.", rank + 1) };
        writeln!(output, "{label}: {} at {}", short(candidate.value), point.join(", "))?;
    }
    let seconds = optimum.seconds;
    writeln!(
        output,
        "bound {}, gap {:.2e}, {} nodes, {seconds:.3} s",
        optimum.bound, optimum.gap, optimum.nodes
    )?;
    Ok(())
}
