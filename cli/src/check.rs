//! `leafgp check`: is the problem sound, is there a feasible point, what is wrong with which row?

use std::io::Write;
use std::time::{Duration, Instant};

use leafgp_solver::Region;
use leafgp_solver::constraints::{Decision, Limits, Tolerance};
use serde_json::{Value, json};

use super::Status;
use super::args::{CheckArgs, Common, Format, SolverArgs};
use super::failure::Failure;
use super::histories::{all_outside, history_file, read_history};
use super::inputs::read_problem;
use super::output::Output;
use super::suggest::best_to_json;
use super::text_table::short;
use leafgp::history::{History, Judgement, Outcome, Row, judge};
use leafgp::problem::{Goal, Problem, format_number};

/// Added to a conflict that only whole numbers, steps or lists make one.
const INTEGRALITY: &str =
    " (because of whole numbers, steps or lists: with the values between they could hold)";

/// Nodes spent on each constraint, and time on all of them, to see whether it follows from the others.
const IDLE_NODES: usize = 200;
const IDLE_TIME: Duration = Duration::from_secs(2);

/// Whether the problem has a feasible point.
#[derive(Clone, Debug, PartialEq)]
enum Feasibility {
    /// This one.
    Point(Vec<f64>),
    /// None: these constraints cannot hold together.
    Conflict {
        /// Indices of the constraints.
        constraints: Vec<usize>,
        /// Whether they could hold together if whole numbers, steps and lists took the values between, too.
        integrality: bool,
    },
    /// Not decided, and why.
    Unknown(String),
}

pub(super) fn command(args: &CheckArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let solver =
        SolverArgs { time_limit: args.time_limit, node_limit: args.node_limit, ..SolverArgs::default() };
    let problem = read_problem(&args.problem.file, common, &solver, output)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    args.problem.history.check_exists(&file)?;
    let is_there = args.problem.history.is_stdin() || file.path().exists();
    let history = if is_there { Some(read_history(&file, &problem, output)?) } else { None };
    if let Some(message) = history.as_ref().and_then(|history| all_outside(&problem, history)) {
        output.warning(&format!("{}: {message}", file.path().display()));
    }
    let limits = limits(&problem);
    let feasibility = decide(&problem, &limits);
    let feasibility = match feasibility {
        // What was measured within all rules is a point, whatever the search found.
        Feasibility::Unknown(reason) => match history.as_ref().and_then(|h| witness(&problem, h)) {
            Some(point) => Feasibility::Point(point),
            None => Feasibility::Unknown(reason),
        },
        decided => decided,
    };
    let idle = match feasibility {
        Feasibility::Point(_) => idle_constraints(&problem, &limits),
        _ => Vec::new(),
    };
    for warning in &idle {
        output.warning(&format!("{}: {warning}", args.problem.file.display()));
    }
    let floats = problem.constraints().decided_in_floats();
    for name in names(&problem, &floats) {
        output.note(&format!(
            "{}: constraint {name} is decided in f64, not in exact decimals: where its sides are equal on paper, rounding has the last word",
            args.problem.file.display()
        ));
    }
    match args.format {
        Format::Table => write_text(&problem, history.as_ref(), &feasibility, output)?,
        Format::Json => {
            let report = to_json(&problem, history.as_ref(), &feasibility, &idle);
            output.json(&report)?;
        }
    }
    let file = args.problem.file.display();
    match feasibility {
        Feasibility::Point(_) => Ok(Status::Done),
        Feasibility::Conflict { constraints, integrality } => {
            let names = names(&problem, &constraints).join(", ");
            let what = if constraints.len() == 1 {
                "this constraint cannot hold"
            } else {
                "these constraints cannot hold together"
            };
            let why = if integrality { INTEGRALITY } else { "" };
            Err(Failure::NoAnswer(format!("{file}: there is no feasible point: {what}: {names}{why}")))
        }
        Feasibility::Unknown(reason) => Err(Failure::NoAnswer(format!(
            "{file}: it is not known whether there is a feasible point: {reason}"
        ))),
    }
}

/// The limits of the whole check: its questions share one deadline, and each has the nodes.
fn limits(problem: &Problem) -> Limits {
    let solver = &problem.settings().solver;
    let nodes = solver.node_limit.map(|nodes| usize::try_from(nodes).unwrap_or(usize::MAX));
    let mut limits = Limits {
        deadline: Instant::now().checked_add(Duration::from_secs_f64(solver.time_limit)),
        ..Limits::default()
    };
    limits.nodes = nodes.unwrap_or(limits.nodes);
    limits
}

/// The point of a measured row that keeps every rule to the last digit.
fn witness(problem: &Problem, history: &History) -> Option<Vec<f64>> {
    let is_feasible = |x: &[f64]| problem.constraints().is_feasible(x, Tolerance::Produce);
    let mut measured = history.rows.iter().filter(|row| row.value().is_some());
    measured.find(|row| is_feasible(&row.point)).map(|row| row.point.clone())
}

fn decide(problem: &Problem, limits: &Limits) -> Feasibility {
    let constraints = problem.constraints();
    match constraints.decide(&Region::full(constraints.domains()), limits.clone()) {
        Decision::Feasible(point) => Feasibility::Point(point),
        Decision::Infeasible => {
            // All of them together are a true answer, if not the shortest one.
            let all = || (0..constraints.len()).collect();
            let conflict = constraints.conflict(limits.clone()).unwrap_or_else(all);
            let integrality = constraints.is_conflict_of_integrality(&conflict, limits.clone());
            Feasibility::Conflict { constraints: conflict, integrality }
        }
        Decision::Undecided(reason) => Feasibility::Unknown(reason),
    }
}

/// Constraints that exclude no point: likely a slip of the pen.
fn idle_constraints(problem: &Problem, limits: &Limits) -> Vec<String> {
    let constraints = problem.constraints();
    // The user's own come last, after whole-valued quantities and hierarchies, which may well exclude nothing.
    let first = constraints.len() - problem.expressions().len();
    let always = constraints.always_true();
    let own = Instant::now().checked_add(IDLE_TIME);
    let deadline = own.map(|own| limits.deadline.map_or(own, |all| all.min(own))).or(limits.deadline);
    let limits = Limits { nodes: IDLE_NODES.min(limits.nodes), deadline, ..Limits::default() };
    let mut idle = constraints.redundant(limits);
    idle.extend(&always);
    idle.sort_unstable();
    idle.dedup();
    let why = |i: usize| {
        let name = constraints.name(i);
        if always.contains(&i) {
            format!("constraint {name:?} holds everywhere: it excludes nothing")
        } else {
            format!("constraint {name:?} follows from the others: it excludes nothing more")
        }
    };
    idle.into_iter().filter(|&i| i >= first).map(why).collect()
}

fn names(problem: &Problem, constraints: &[usize]) -> Vec<String> {
    constraints.iter().map(|&i| format!("{:?}", problem.constraints().name(i))).collect()
}

fn write_text(
    problem: &Problem,
    history: Option<&History>,
    feasibility: &Feasibility,
    output: &mut Output,
) -> Result<(), Failure> {
    let (name, objective, variables) = (problem.name(), problem.objective(), problem.variables());
    let aim = match objective.goal {
        Goal::Target(target) => format!("{} as near to {target} as it can be", objective.name),
        goal => format!("{} {}", goal.as_str(), objective.name),
    };
    writeln!(output, "{name}: {aim}")?;
    let width = variables.iter().map(|v| v.name.chars().count()).max().unwrap_or(0);
    for variable in variables {
        let unit = variable.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        let condition = variable.active_if.as_ref().map_or_else(String::new, |condition| {
            format!(", active if {condition}, else {}", variable.format_value(variable.inactive_value))
        });
        writeln!(output, "  {:width$}  {}{unit}{condition}", variable.name, variable.expected())?;
    }
    let count = problem.constraints().len();
    writeln!(output, "{count} constraint{}", if count == 1 { "" } else { "s" })?;
    match feasibility {
        Feasibility::Point(point) => {
            writeln!(output, "feasible, for instance:")?;
            for (variable, &x) in variables.iter().zip(point) {
                writeln!(output, "  {:width$}  {}", variable.name, variable.format_value(x))?;
            }
        }
        Feasibility::Conflict { .. } => writeln!(output, "infeasible")?,
        Feasibility::Unknown(_) => writeln!(output, "feasibility unknown")?,
    }
    if let Some(history) = history {
        write_history(problem, history, output)?;
    }
    Ok(())
}

fn write_history(problem: &Problem, history: &History, output: &mut Output) -> Result<(), Failure> {
    let count = |is: fn(&Outcome) -> bool| history.rows.iter().filter(|row| is(&row.outcome)).count();
    writeln!(
        output,
        "history: {} done, {} pending, {} failed",
        count(|o| matches!(o, Outcome::Done(_))),
        count(|o| matches!(o, Outcome::Pending)),
        count(|o| matches!(o, Outcome::Failed)),
    )?;
    for (i, row) in history.rows.iter().enumerate() {
        for fault in faults(problem, row) {
            writeln!(output, "  row {} (line {}): {fault}", i + 1, row.line)?;
        }
        for deviation in tolerated(problem, row) {
            writeln!(output, "  row {} (line {}): accepted: {deviation}", i + 1, row.line)?;
        }
    }
    if let Some(best) = history.best(problem) {
        let (name, value) = (&problem.objective().name, format_number(best.value));
        let line = history.rows[best.row].line;
        writeln!(output, "best: {name} = {value} in row {} (line {line})", best.row + 1)?;
    }
    Ok(())
}

/// What keeps a row from being a feasible experiment.
fn faults(problem: &Problem, row: &Row) -> Vec<String> {
    let Judgement { outside, violations, .. } = judge(problem, &row.point);
    let variables = outside.into_iter().map(|(i, _)| {
        let (variable, x) = (&problem.variables()[i], row.point[i]);
        format!("{} = {} is outside {}", variable.name, variable.format_value(x), variable.expected())
    });
    let constraints = violations.into_iter().map(|violation| {
        let amount = if violation.amount.is_finite() {
            format!(" by {}", format_number(violation.amount))
        } else {
            String::new()
        };
        format!("violates {:?}{amount}", problem.constraints().name(violation.constraint))
    });
    variables.chain(constraints).collect()
}

/// What is accepted of a row although no suggestion would have it: how far it is off.
fn tolerated(problem: &Problem, row: &Row) -> Vec<String> {
    let Judgement { beside, nearly, .. } = judge(problem, &row.point);
    let variables = beside.into_iter().map(|(i, distance)| {
        let (variable, x) = (&problem.variables()[i], row.point[i]);
        format!("{} = {} is {} beside its grid", variable.name, variable.format_value(x), short(distance))
    });
    let constraints = nearly.into_iter().map(|violation| {
        format!(
            "{:?} is off by {}",
            problem.constraints().name(violation.constraint),
            short(violation.amount)
        )
    });
    variables.chain(constraints).collect()
}

fn to_json(
    problem: &Problem,
    history: Option<&History>,
    feasibility: &Feasibility,
    idle: &[String],
) -> Value {
    let (feasible, point, conflict, reason) = match feasibility {
        Feasibility::Point(point) => {
            (json!(true), json!(problem.point_to_json(point)), json!([]), Value::Null)
        }
        Feasibility::Conflict { constraints, integrality } => {
            let names: Vec<&str> = constraints.iter().map(|&i| problem.constraints().name(i)).collect();
            let reason = integrality.then_some("integrality");
            (json!(false), Value::Null, json!(names), json!(reason))
        }
        Feasibility::Unknown(reason) => (Value::Null, Value::Null, json!([]), json!(reason)),
    };
    let rows = history.map_or(&[][..], |history| &history.rows);
    let rows: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let status = match row.outcome {
                Outcome::Done(_) => "done",
                Outcome::Pending => "pending",
                Outcome::Failed => "failed",
            };
            let faults = faults(problem, row);
            json!({
                "row": i + 1, "line": row.line, "status": status, "value": row.value(),
                "feasible": faults.is_empty(), "faults": faults, "tolerated": tolerated(problem, row),
            })
        })
        .collect();
    let best = history.and_then(|history| history.best(problem)).map(|best| best_to_json(problem, &best));
    let floats = problem.constraints().decided_in_floats();
    let floats: Vec<&str> = floats.iter().map(|&i| problem.constraints().name(i)).collect();
    let mut warnings = problem.warnings().to_vec();
    warnings.extend(idle.iter().cloned());
    warnings.extend(history.into_iter().flat_map(|history| history.warnings.iter().cloned()));
    json!({
        "name": problem.name(), "objective": problem.objective().name, "goal": problem.objective().goal.as_str(),
        "variables": problem.variables().len(), "constraints": problem.constraints().len(),
        "feasible": feasible, "point": point, "conflict": conflict, "reason": reason,
        "in_floats": floats, "rows": rows, "best": best, "warnings": warnings,
    })
}
