//! Problem files.

use std::path::Path;
use std::time::{Duration, Instant};

use leafgp::engine::{Purpose, stream};
use leafgp::history::{History, csv_text};
use leafgp::problem::Problem;
use leafgp::solver::constraints::{Limits, Tolerance};

/// Few nodes, and little time even for those.
pub(crate) fn limits() -> Limits {
    Limits { nodes: 20, deadline: Some(Instant::now() + Duration::from_millis(500)), interrupt: None }
}

/// A problem file: points of its first design are feasible as printed, and a table of them is read as what was written.
pub fn problem(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Problem::from_text(Path::new("problem.toml"), text) {
        Ok(problem) => used(&problem),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn used(problem: &Problem) {
    let constraints = problem.constraints();
    let region = problem.region();
    let mut rng = stream(1, Purpose::Design, 0);
    let points = constraints.design(2, &[], &problem.log_scale(), &mut rng, limits());
    for point in &points {
        assert!(problem.check_point(point).is_ok(), "{point:?}");
        assert!(region.contains(point), "{point:?} is not in {region:?}");
        let violations = constraints.violations(point, Tolerance::Produce);
        assert!(violations.is_empty(), "{point:?}: {violations:?}");
        let named = problem.point_to_json(point);
        assert_eq!(&problem.point_from_json(&named).unwrap(), point);
    }
    let table = csv_text(problem, &points).unwrap();
    let history = History::from_bytes(table.as_bytes(), problem).unwrap();
    let read: Vec<&[f64]> = history.rows.iter().map(|row| row.point.as_slice()).collect();
    assert_eq!(read, points, "{table}");
}
