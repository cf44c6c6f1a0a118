//! The first points of a seed: uniform samples, projected onto the feasible set, the same for every method.

use leafgp_solver::Region;
use leafgp_solver::constraints::Limits;
use rand::seq::index;

use super::error::StudyError;
use super::spec::{Source, StudyProblem};
use leafgp::engine::{Purpose, nearest_feasible, stream, uniform};

/// Random points tried for one point before a projection that never succeeds is an error.
pub(super) const TRIES: usize = 50;
/// Nodes of a projection.
pub(super) const PROJECTION_NODES: usize = 10_000;

pub(super) fn projection_limits() -> Limits {
    Limits { nodes: PROJECTION_NODES, ..Limits::default() }
}

/// The first points of a seed, feasible and distinct where there are so many.
pub(super) fn initial_points(problem: &StudyProblem, seed: u64) -> Result<Vec<Vec<f64>>, StudyError> {
    let n = problem.initial.min(problem.evaluations());
    let mut rng = stream(seed, Purpose::Initial, 0);
    if let Source::Table(table) = &problem.source {
        let picks = index::sample(&mut rng, table.points.len(), n);
        return Ok(picks.iter().map(|i| table.points[i].clone()).collect());
    }
    let full = Region::full(problem.problem.constraints().domains());
    let mut points: Vec<Vec<f64>> = Vec::with_capacity(n);
    while points.len() < n {
        let mut repeated = None;
        let mut found = None;
        for _ in 0..TRIES {
            let mut sample = uniform(&problem.problem, &full, &mut rng);
            problem.problem.constraints().deactivate(&mut sample);
            match nearest_feasible(&problem.problem, &full, sample, projection_limits()) {
                Some(point) if points.contains(&point) => repeated = Some(point),
                Some(point) => {
                    found = Some(point);
                    break;
                }
                None => {}
            }
        }
        // A space of few points may have no other.
        points.push(found.or(repeated).ok_or_else(|| {
            StudyError::NoInitialPoint(format!(
                "no feasible first point was found: {TRIES} random points could not be projected onto the constraints"
            ))
        })?);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::constraints::Tolerance;

    use super::initial_points;
    use crate::functions;
    use crate::spec::{Infeasible, LookUp, Source, StudyProblem};

    fn study_problem(name: &str) -> StudyProblem {
        let function = functions::find(name).unwrap();
        let problem = function.problem().unwrap();
        let source = Source::Function(function);
        let infeasible = Infeasible::Measure;
        StudyProblem { name: name.into(), problem, source, infeasible, initial: 5, iterations: 10 }
    }

    #[test]
    fn first_points_are_feasible_distinct_and_the_seeds_own() {
        for name in ["rastrigin", "g1", "g3", "g6", "alkylation", "pressure-vessel", "mixed"] {
            let problem = study_problem(name);
            let points = initial_points(&problem, 101).unwrap();
            assert_eq!(points.len(), 5);
            for (i, point) in points.iter().enumerate() {
                assert!(
                    problem.problem.constraints().is_feasible(point, Tolerance::Produce),
                    "{name} {point:?}"
                );
                assert!(!points[..i].contains(point));
            }
            assert_eq!(points, initial_points(&problem, 101).unwrap());
            assert_ne!(points, initial_points(&problem, 102).unwrap());
        }
    }

    #[test]
    fn a_table_gives_distinct_rows_and_no_more_than_it_has() {
        let mut problem = study_problem("branin");
        let points: Vec<Vec<f64>> = (0..4).map(|k| vec![f64::from(k), 0.0]).collect();
        problem.source = Source::Table(LookUp { points: points.clone(), values: vec![0.0; 4] });
        let mut drawn = initial_points(&problem, 1).unwrap();
        drawn.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(drawn, points);
    }
}
