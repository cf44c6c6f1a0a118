//! Tables: histories, points and tables of any columns.

use std::path::Path;
use std::sync::OnceLock;

use leafgp::history::{Columns, History, Outcome, csv_text};
use leafgp::problem::Problem;

/// Variables of every kind, names that need quotes, a constraint and an inactive variable.
const PROBLEM: &str = r#"
constraints = ["x <= `flow rate`", "`if` == 1 implies head == 'flat'"]
[objective]
name = "cost of it"
goal = "maximize"
[variables]
x = { type = "continuous", bounds = [-1, 2.5] }
rate = { type = "continuous", bounds = [1e-5, 1e-1], scale = "log", unit = "1/s" }
n = { type = "integer", bounds = [1, 99] }
"if" = { type = "binary" }
dose = { type = "discrete", values = [48, 0, 12.5, 24] }
head = { type = "categorical", levels = ["flat", 6, 0.0, true, "a, \"b\"", "=1"] }
share = { type = "continuous", bounds = [0.1, 0.6], step = 0.05 }
"flow rate" = { type = "continuous", bounds = [0, 8], active_if = "n >= 2", inactive_value = 3 }
"#;

fn table_problem() -> &'static Problem {
    static PROBLEM_READ: OnceLock<Problem> = OnceLock::new();
    PROBLEM_READ.get_or_init(|| Problem::from_text(Path::new("p.toml"), PROBLEM).unwrap())
}

/// A table of a fixed problem, as history, as points and without a problem: rows that were read are points of the problem, and what is written of them is read
/// as the same points.
pub fn history(bytes: &[u8]) {
    let problem = table_problem();
    if let Ok(table) = Columns::from_bytes(bytes, &["x", "rate"]) {
        for name in table.names() {
            assert_eq!(table.column(name).map(|cells| cells.len()), Some(table.n_rows()), "{name:?}");
        }
        assert_eq!(table.lines().count(), table.n_rows());
    }
    for history in [History::from_bytes(bytes, problem), History::points_from_bytes(bytes, problem)] {
        match history {
            Ok(history) => used(&history, problem),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn used(history: &History, problem: &Problem) {
    for row in &history.rows {
        assert!(problem.check_point(&row.point).is_ok(), "{row:?}");
        assert!(!matches!(row.outcome, Outcome::Done(value) if !value.is_finite()), "{row:?}");
    }
    if let Some(best) = history.best(problem) {
        assert!(history.rows[best.row].is_eligible());
        assert!(
            history.rows.iter().filter(|row| row.is_eligible()).all(|row| row.value() <= Some(best.value))
        );
    }
    let points: Vec<Vec<f64>> = history.rows.iter().map(|row| row.point.clone()).collect();
    let text = csv_text(problem, &points).unwrap();
    let again = History::from_bytes(text.as_bytes(), problem).unwrap();
    assert_eq!(again.rows.iter().map(|row| row.point.clone()).collect::<Vec<_>>(), points, "{text}");
}
