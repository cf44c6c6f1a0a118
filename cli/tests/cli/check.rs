use serde::Deserialize;
use serde_json::{Map, Value};

use crate::support::{Folder, PROBLEM};

/// The whole of `check --format json`; anything else in it is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    name: String,
    objective: String,
    goal: String,
    variables: usize,
    constraints: usize,
    feasible: Option<bool>,
    point: Option<Map<String, Value>>,
    conflict: Vec<String>,
    reason: Option<String>,
    rows: Vec<Value>,
    best: Option<Value>,
    in_floats: Vec<String>,
    warnings: Vec<String>,
}

fn report(folder: &Folder) -> (i32, Report) {
    let run = folder.run(&["check", "p.toml", "--format", "json"]);
    (
        run.code,
        serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr)),
    )
}

#[test]
fn a_feasible_point_satisfies_what_it_must() {
    let folder = Folder::with_problem(&format!(
        "{PROBLEM}[constraints]\na = \"x >= 0.75\"\nb = \"n == 4\"\nc = \"x > 0.5 implies head == 'round'\"\n"
    ));
    let (code, report) = report(&folder);
    assert_eq!((code, report.feasible), (0, Some(true)));
    assert_eq!((report.variables, report.constraints), (3, 3));
    assert!(report.in_floats.is_empty(), "f64 decides nothing that decimals could");
    assert_eq!(
        (report.name.as_str(), report.objective.as_str(), report.goal.as_str()),
        ("p", "cost", "minimize")
    );
    let point = report.point.unwrap();
    assert!(point["x"].as_f64().unwrap() >= 0.75, "{point:?}");
    assert_eq!((&point["n"], &point["head"]), (&Value::from(4), &Value::from("round")));
    assert!(report.conflict.is_empty() && report.reason.is_none() && report.best.is_none());
    assert!(report.rows.is_empty() && report.warnings.is_empty());
}

#[test]
fn a_contradiction_exits_1_and_names_its_constraints() {
    let folder = Folder::with_problem(&format!(
        "{PROBLEM}[constraints]\n\"high enough\" = \"x >= 0.8\"\nirrelevant = \"n >= 2\"\n\"low enough\" = \"x <= 0.7\"\n"
    ));
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("no feasible point"), "{}", run.stderr);
    assert!(run.stderr.contains("\"high enough\", \"low enough\""), "{}", run.stderr);
    assert!(!run.stderr.contains("irrelevant"), "{}", run.stderr);
    let (code, report) = report(&folder);
    assert_eq!((code, report.feasible), (1, Some(false)));
    assert_eq!(report.conflict, ["high enough", "low enough"]);
}

#[test]
fn a_constraint_that_follows_from_the_others_is_a_warning() {
    let folder = Folder::with_problem(&format!(
        "{PROBLEM}[constraints]\nstrict = \"2*x + n <= 4\"\nloose = \"2*x + n <= 4.5\"\nother = \"x >= 0.3\"\n"
    ));
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("\"loose\" follows from the others"), "{}", run.stderr);
    assert!(!run.stderr.contains("strict") && !run.stderr.contains("\"other\""), "{}", run.stderr);
    let (_, report) = report(&folder);
    assert_eq!(report.warnings.len(), 1);
}

#[test]
fn a_constraint_that_excludes_nothing_is_a_warning() {
    let folder = Folder::with_problem(&format!(
        "{PROBLEM}[constraints]\nidle = \"x + n <= 11\"\nbusy = \"x + n <= 9\"\n"
    ));
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("\"idle\" holds everywhere") && !run.stderr.contains("busy"),
        "{}",
        run.stderr
    );
    let (_, report) = report(&folder);
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
}

#[test]
fn infeasibility_by_integrality_says_so() {
    let folder = Folder::with_problem(&format!(
        "{PROBLEM}[constraints]\nthirds = \"3*n == 10\"\nsmall = \"x <= 0.5\"\n"
    ));
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("\"thirds\"") && run.stderr.contains("whole numbers"), "{}", run.stderr);
    let (_, report) = report(&folder);
    assert_eq!((report.conflict, report.reason.as_deref()), (vec!["thirds".to_owned()], Some("integrality")));
}

#[test]
fn a_list_of_constraints_is_named_by_its_texts() {
    let folder = Folder::with_problem(&format!("constraints = [\"x >= 0.8\", \"x <= 0.7\"]\n{PROBLEM}"));
    let (code, report) = report(&folder);
    assert_eq!((code, report.feasible), (1, Some(false)));
    assert_eq!(report.conflict, ["x >= 0.8", "x <= 0.7"]);
}

#[test]
fn a_division_is_refused_only_while_its_divisor_can_be_zero() {
    let unsafe_one = format!("{PROBLEM}[constraints]\nratio = \"n / (x - 0.5) <= 3\"\n");
    let folder = Folder::with_problem(&unsafe_one);
    folder.refused(&["check", "p.toml"], &["p.toml:12", "constraints.ratio", "`(x - 0.5)`", "[-0.5, 0.5]"]);
    let folder = Folder::with_problem(&(unsafe_one + "\"away from the pole\" = \"x >= 0.6\"\n"));
    let (code, report) = report(&folder);
    assert_eq!((code, report.feasible), (0, Some(true)));
}

#[test]
fn an_upper_bound_off_the_grid_is_a_warning() {
    let folder = Folder::with_problem(&PROBLEM.replace("[0.0, 1.0]", "[0.0, 1.0], step = 0.3"));
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.starts_with("warning: p.toml: variables.x:") && run.stderr.contains("0.9"),
        "{}",
        run.stderr
    );
}

#[test]
fn names_that_are_keywords_or_hold_spaces_work_in_backquotes() {
    let problem = PROBLEM.replace("x = {", "\"and\" = {").replace("n = {", "\"flow rate\" = {");
    let folder = Folder::with_problem(&format!(
        "{problem}[define]\ntwice = \"2 * `flow rate`\"\n[constraints]\nc = \"`and` * 10 >= twice and `flow rate` >= 4\"\n"
    ));
    let (code, report) = report(&folder);
    assert_eq!((code, report.feasible), (0, Some(true)));
    let point = report.point.unwrap();
    assert!(point["and"].as_f64().unwrap() * 10.0 >= 2.0 * point["flow rate"].as_f64().unwrap());
}

#[test]
fn every_printed_point_is_read_back_as_feasible() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["init", "p.toml"]).code, 0);
    let (_, first) = report(&folder);
    let point = first.point.unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let header: Vec<&str> = point.keys().map(String::as_str).collect();
    let cells: Vec<String> = point.values().map(text).collect();
    folder.write("p.csv", format!("{},gloss\n{},5\n", header.join(","), cells.join(",")));
    let (code, again) = report(&folder);
    assert_eq!((code, again.rows.len()), (0, 1));
    assert_eq!(again.rows[0]["feasible"], true, "{again:?}");
    assert_eq!(again.best.unwrap()["point"], Value::Object(point));
}
