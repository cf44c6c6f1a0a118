//! The search against problems whose answers are known, and the whole loop on the benchmark functions.

use std::time::Instant;

use leafgp_solver::constraints::{Limits, Tolerance};
use leafgp_solver::{LevelSet, Range, Region};
use proptest::prelude::{Strategy, prop, prop_assert, proptest};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::descent::Surface;
use super::search::{Found, SearchSpace, minimise, minimise_surface};
use super::space::{Reach, Space};
use super::{Coordinates, SmoothProcess, SmoothSettings};
use crate::Table;
use crate::problem::{Problem, Variable};

/// A function of points as a surface; its slopes are differences.
struct OnPoints<'a, F> {
    coordinates: &'a Coordinates,
    function: F,
}

impl<F: Fn(&[f64]) -> f64> Surface for OnPoints<'_, F> {
    fn value(&mut self, u: &[f64]) -> f64 {
        (self.function)(&self.coordinates.point(u))
    }

    fn value_and_slopes(&mut self, u: &[f64], slopes: &mut [f64]) -> f64 {
        for (j, axis) in self.coordinates.axes().iter().enumerate() {
            let at = |by: f64| {
                let mut u = u.to_vec();
                u[j] = (u[j] + by).clamp(0.0, 1.0);
                (u[j], (self.function)(&self.coordinates.point(&u)))
            };
            let ((a, up), (b, down)) = (at(1e-6), at(-1e-6));
            slopes[j] = if axis.is_category() { 0.0 } else { (up - down) / (a - b) };
        }
        self.value(u)
    }

    fn scales(&self) -> Vec<f64> {
        vec![1.0; self.coordinates.n_coordinates()]
    }
}

/// G6 of Floudas & Pardalos (1990): the crescent between two circles.
fn g6() -> Problem {
    Problem::builder("g6")
        .variable(Variable::continuous("x0", 13.0, 100.0))
        .variable(Variable::continuous("x1", 0.0, 100.0))
        .constraint("outside", "(x0 - 5)^2 + (x1 - 5)^2 >= 100")
        .constraint("inside", "(x0 - 6)^2 + (x1 - 5)^2 <= 82.81")
        .build()
        .unwrap()
}

/// Its objective; the minimum is -6961.81388.
fn g6_value(x: &[f64]) -> f64 {
    (x[0] - 10.0).powi(3) + (x[1] - 20.0).powi(3)
}

fn coordinates(problem: &Problem) -> Coordinates {
    Coordinates::new(&problem.domains(), &problem.log_scale())
}

fn search(
    problem: &Problem,
    excluded: &[Vec<f64>],
    function: impl Fn(&[f64]) -> f64,
    seed: u64,
) -> Option<Found> {
    search_in(problem, &Region::full(&problem.domains()), excluded, function, seed)
}

fn search_in(
    problem: &Problem,
    region: &Region,
    excluded: &[Vec<f64>],
    function: impl Fn(&[f64]) -> f64,
    seed: u64,
) -> Option<Found> {
    let coordinates = coordinates(problem);
    let space = SearchSpace {
        constraints: problem.constraints(),
        region,
        is_cell: *region != Region::full(&problem.domains()),
        excluded,
        best_rows: &[],
        starts: &[],
        penalised: &[],
    };
    let surface = OnPoints { coordinates: &coordinates, function };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let found = minimise_surface(surface, &coordinates, &space, &Limits::default(), &mut rng)?;
    assert!(problem.constraints().is_feasible(&found.point, Tolerance::Produce), "{found:?}");
    assert!(region.contains(&found.point) && !excluded.contains(&found.point));
    Some(found)
}

#[test]
fn a_vertex_between_a_circle_and_whole_numbers_is_reached_exactly() {
    let problem = Problem::builder("p")
        .variable(Variable::continuous("x", 0.0, 5.0))
        .variable(Variable::integer("n", 0, 5))
        .constraint("disc", "x^2 + n^2 <= 25")
        .build()
        .unwrap();
    for seed in 0..5 {
        assert_eq!(search(&problem, &[], |p| -(3.0 * p[0] + 4.0 * p[1]), seed).unwrap().point, [3.0, 4.0]);
    }
}

#[test]
fn the_vertex_of_a_mixture_is_reached_exactly() {
    let mut builder = Problem::builder("recipe");
    for (name, upper) in [("x1", 1.0), ("x2", 0.3), ("x3", 0.5), ("x4", 1.0)] {
        builder = builder.variable(Variable::continuous(name, 0.0, upper));
    }
    let problem = builder.constraint("whole", "x1 + x2 + x3 + x4 == 1").build().unwrap();
    for seed in 0..5 {
        let cost = |p: &[f64]| 3.0 * p[0] + p[1] + 4.0 * p[2] + 2.0 * p[3];
        assert_eq!(search(&problem, &[], cost, seed).unwrap().point, [0.0, 0.3, 0.0, 0.7]);
    }
}

#[test]
fn the_minimum_inside_a_simplex_and_on_a_sphere_is_reached() {
    let mut builder = Problem::builder("simplex");
    for name in ["a", "b", "c"] {
        builder = builder.variable(Variable::continuous(name, 0.0, 1.0));
    }
    let simplex = builder.clone().constraint("sum", "a + b + c == 1").build().unwrap();
    // Least squares to (0.7, 0.5, 0.1): the projection onto the simplex is (0.6, 0.4, 0).
    let squares = |p: &[f64]| 40.0 * ((p[0] - 0.7).powi(2) + (p[1] - 0.5).powi(2) + (p[2] + 0.1).powi(2));
    let found = search(&simplex, &[], squares, 1).unwrap();
    for (found, exact) in found.point.iter().zip([0.6, 0.4, 0.0]) {
        assert!((found - exact).abs() < 1e-5, "{found} {exact}");
    }
    let sphere = builder.constraint("sphere", "a^2 + b^2 + c^2 == 1").build().unwrap();
    let found = search(&sphere, &[], |p| -(p[0] + 2.0 * p[1] + 2.0 * p[2]), 1).unwrap();
    for (found, exact) in found.point.iter().zip([1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((found - exact).abs() < 1e-4, "{found} {exact}");
    }
}

#[test]
fn a_narrow_valley_along_an_edge_is_followed_to_its_end() {
    // The optimum of G6: where two circles meet.
    let problem = g6();
    let found = search(&problem, &[], |p| g6_value(p) / 1000.0, 3).unwrap();
    assert!((found.value * 1000.0 + 6961.81388).abs() < 1e-3, "{found:?}");
}

#[test]
fn whole_numbers_with_a_given_sum_are_exchanged() {
    let mut builder = Problem::builder("seats");
    for name in ["a", "b", "c", "d"] {
        builder = builder.variable(Variable::integer(name, 0, 9));
    }
    let problem = builder.constraint("sum", "a + b + c + d == 12").build().unwrap();
    let targets = [1.0, 7.0, 0.0, 4.0];
    let miss = |p: &[f64]| p.iter().zip(targets).map(|(x, t)| (x - t).powi(2)).sum();
    for seed in 0..3 {
        assert_eq!(search(&problem, &[], miss, seed).unwrap().point, targets);
    }
}

#[test]
fn logical_constraints_and_inactive_variables_are_respected() {
    let problem = Problem::builder("layers")
        .variable(Variable::integer("layers", 1, 3))
        .variable(Variable::continuous("second", 0.1, 1.0).active_if("layers >= 2", 0.1))
        .variable(Variable::categorical("head", ["flat", "round"]))
        .variable(Variable::continuous("radius", 1.0, 9.0))
        .constraint("flat heads are small", "head == 'flat' implies radius <= 4")
        .build()
        .unwrap();
    let function = |p: &[f64]| (p[0] - 1.0) + (p[1] - 0.8).powi(2) + 0.5 * p[2] + (p[3] - 6.0).abs();
    let found = search(&problem, &[], function, 5).unwrap();
    assert_eq!([found.point[0], found.point[1], found.point[2]], [1.0, 0.1, 1.0]);
    assert!((found.point[3] - 6.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn a_cell_is_not_left_and_a_cell_without_a_point_has_no_answer() {
    let problem = Problem::builder("p")
        .variable(Variable::continuous("x", 0.0, 1.0))
        .variable(Variable::integer("n", 0, 9))
        .variable(Variable::categorical("c", ["a", "b", "c"]))
        .constraint("cut", "x + n <= 8")
        .build()
        .unwrap();
    let cell = |n: (f64, f64), levels: &[usize]| {
        Region(vec![
            Range::Interval { lower: 0.2, upper: 0.4 },
            Range::Interval { lower: n.0, upper: n.1 },
            Range::Levels(LevelSet::from_indices(3, levels.iter().copied())),
        ])
    };
    let function = |p: &[f64]| -p[0] - p[1] - p[2];
    let found = search_in(&problem, &cell((2.5, 7.5), &[0, 1]), &[], function, 1).unwrap();
    assert_eq!(found.point, [0.4, 7.0, 1.0]);
    assert_eq!(search_in(&problem, &cell((2.2, 2.8), &[0]), &[], function, 1), None);
    assert_eq!(search_in(&problem, &cell((8.0, 9.0), &[0]), &[], function, 1), None);
}

#[test]
fn found_points_have_short_numbers_where_that_costs_nothing() {
    let problem = Problem::builder("p")
        .variable(Variable::continuous("x", 0.0, 1.0))
        .variable(Variable::continuous("y", 0.0, 1000.0))
        .build()
        .unwrap();
    let found =
        search(&problem, &[], |p| (p[0] - 1.0 / 3.0).powi(2) + (p[1] / 1000.0 - 0.123_456_7).powi(2), 1)
            .unwrap();
    for value in found.point {
        assert!(value.to_string().len() <= 8, "{value}");
    }
}

/// `[0, 1] x [0, 10] x {0, ..., 4}`: the minimum of a bowl whose bottom is at (0.5, 5, 2), these points excluded.
fn bottom_of_a_bowl(region: Option<Region>, excluded: &[[f64; 3]]) -> Vec<f64> {
    let problem = Problem::builder("p")
        .variable(Variable::continuous("x", 0.0, 1.0))
        .variable(Variable::continuous("y", 0.0, 10.0))
        .variable(Variable::integer("n", 0, 4))
        .build()
        .unwrap();
    let region = region.unwrap_or_else(|| Region::full(&problem.domains()));
    let bowl = |x: &[f64]| (x[0] - 0.5).powi(2) + (x[1] / 10.0 - 0.5).powi(2) + (x[2] - 2.0).powi(2);
    let excluded: Vec<Vec<f64>> = excluded.iter().map(|x| x.to_vec()).collect();
    search_in(&problem, &region, &excluded, bowl, 1).unwrap().point
}

#[test]
fn a_point_is_at_least_a_ten_thousandth_of_the_range_from_measured_ones() {
    let free = bottom_of_a_bowl(None, &[]);
    assert!((free[0] - 0.5).abs() < 1e-5 && (free[1] - 5.0).abs() < 1e-4 && free[2] == 2.0, "{free:?}");
    let other_n = bottom_of_a_bowl(None, &[[0.5, 5.0, 1.0]]);
    assert!((other_n[0] - 0.5).abs() < 1e-5, "another whole number is no neighbour: {other_n:?}");
    for near in [[0.5, 5.0, 2.0], [0.50003, 5.0, 2.0], [0.5, 4.9995, 2.0]] {
        let x = bottom_of_a_bowl(None, &[near]);
        let away = (x[0] - near[0]).abs().max((x[1] - near[1]).abs() / 10.0);
        assert!(x[2] == 2.0 && (1e-4..0.03).contains(&away), "{x:?} beside {near:?}");
    }
}

#[test]
fn a_point_is_outside_a_crowd_of_measured_ones() {
    let crowd = [[0.5, 5.0, 2.0], [0.502, 5.0, 2.0], [0.498, 5.0, 2.0], [0.5, 5.02, 2.0], [0.5, 4.98, 2.0]];
    let four = bottom_of_a_bowl(None, &crowd[..4]);
    assert!((four[0] - 0.5).abs() < 5e-3 && (four[1] - 5.0).abs() < 5e-2, "four are no crowd: {four:?}");
    let five = bottom_of_a_bowl(None, &crowd);
    let within =
        |x: &[f64; 3]| (x[0] - five[0]).abs() <= 1e-2 && (x[1] - five[1]).abs() <= 0.1 && x[2] == five[2];
    assert!(crowd.iter().filter(|x| within(x)).count() < 5, "{five:?}");
}

#[test]
fn in_a_region_that_is_all_neighbourhood_only_measured_points_are_left_out() {
    let region = Region(vec![
        Range::Interval { lower: 0.5, upper: 0.50004 },
        Range::Interval { lower: 5.0, upper: 5.0 },
        Range::Interval { lower: 2.0, upper: 2.0 },
    ]);
    let x = bottom_of_a_bowl(Some(region), &[[0.5, 5.0, 2.0]]);
    assert!(x[0] > 0.5 && x[0] <= 0.50004, "{x:?}");
}

#[test]
fn a_finished_deadline_still_gives_a_feasible_point() {
    let problem = g6();
    let coordinates = coordinates(&problem);
    let region = Region::full(&problem.domains());
    // Beside the optimum (14.095, 0.84296), outside one of the circles.
    let start = vec![vec![14.09, 0.84]];
    let space = SearchSpace {
        constraints: problem.constraints(),
        region: &region,
        is_cell: false,
        excluded: &[],
        best_rows: &[],
        starts: &start,
        penalised: &[],
    };
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let surface = OnPoints { coordinates: &coordinates, function: g6_value };
    let found = minimise_surface(surface, &coordinates, &space, &limits, &mut ChaCha8Rng::seed_from_u64(1));
    if let Some(found) = found {
        assert!(problem.constraints().is_feasible(&found.point, Tolerance::Produce));
    }
}

/// One step of the module alone: EI after an even number of rows, the bound after an odd one.
fn suggest(
    problem: &Problem,
    coordinates: &Coordinates,
    rows: &[Vec<f64>],
    values: &[f64],
    seed: u64,
) -> Option<Vec<f64>> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let deviation = if deviation > 0.0 { deviation } else { 1.0 };
    let y: Vec<f64> = values.iter().map(|v| (v - mean) / deviation).collect();
    let x = Table::from_rows(problem.variables().len(), rows);
    let process = SmoothProcess::fit(coordinates, &x, &y, &SmoothSettings::default()).unwrap();
    let acquisition = SmoothSettings::default().acquisition_after(rows.len());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let best_rows: Vec<Vec<f64>> = order.iter().take(5).map(|&i| rows[i].clone()).collect();
    let region = Region::full(&problem.domains());
    let space = SearchSpace {
        constraints: problem.constraints(),
        region: &region,
        is_cell: false,
        excluded: rows,
        best_rows: &best_rows,
        starts: &[],
        penalised: &[],
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ (rows.len() as u64) << 32);
    minimise(&process, acquisition, &space, &Limits::default(), &mut rng).map(|found| found.point)
}

/// Uniform points, projected.
fn first_points(problem: &Problem, coordinates: &Coordinates, n: usize, seed: u64) -> Vec<Vec<f64>> {
    let region = Region::full(&problem.domains());
    let space = Space::new(coordinates, problem.constraints(), &region, &[], Reach::Itself).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut points = Vec::new();
    for _ in 0..100 * n {
        let x = space.uniform(&mut rng);
        let x = if space.is_feasible(&x) {
            Some(x)
        } else {
            problem.constraints().project(&region, &x, 1e-4, Limits::default()).nearest.map(|(x, _)| x)
        };
        points.extend(x.filter(|x| space.is_feasible(x) && !points.contains(x)));
        if points.len() == n {
            break;
        }
    }
    points
}

#[test]
fn a_discrete_space_is_exhausted_without_a_repeat_and_then_has_no_answer() {
    let problem = Problem::builder("p")
        .variable(Variable::integer("n", 0, 4))
        .variable(Variable::categorical("c", ["a", "b", "c"]))
        .variable(Variable::discrete("d", [0.0, 12.0, 48.0]))
        .constraint("cut", "n + d / 12 <= 5")
        .build()
        .unwrap();
    let coordinates = coordinates(&problem);
    let mut all = Vec::new();
    for n in 0..5 {
        for c in 0..3 {
            all.extend([0.0, 12.0, 48.0].map(|d| vec![f64::from(n), f64::from(c), d]));
        }
    }
    all.retain(|x| problem.constraints().is_feasible(x, Tolerance::Produce));
    let mut rows = first_points(&problem, &coordinates, 3, 1);
    while rows.len() < all.len() {
        let values: Vec<f64> =
            rows.iter().map(|x| (x[0] - 2.0).powi(2) + x[1] + (x[2] / 10.0).sin()).collect();
        let point = suggest(&problem, &coordinates, &rows, &values, 7).unwrap();
        assert!(all.contains(&point) && !rows.contains(&point), "{point:?}");
        rows.push(point);
    }
    let values = vec![0.0; rows.len()];
    assert_eq!(suggest(&problem, &coordinates, &rows, &values, 7), None);
}

type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

#[test]
fn the_same_arguments_give_the_same_suggestion() {
    let mixed = Problem::builder("mixed")
        .variable(Variable::categorical("c", ["p", "q", "r"]))
        .variable(Variable::integer("n", 0, 10))
        .variable(Variable::continuous("x", 0.0, 1.0));
    let mixed_value = |x: &[f64]| x[0] + (x[1] - 4.0).powi(2) / 5.0 + (5.0 * x[2]).sin();
    let cases: [(Problem, Function<'_>); 2] = [(g6(), &g6_value), (mixed.build().unwrap(), &mixed_value)];
    for (problem, function) in cases {
        let coordinates = coordinates(&problem);
        let rows = first_points(&problem, &coordinates, 8, 3);
        let values: Vec<f64> = rows.iter().map(|x| function(x)).collect();
        let once = || suggest(&problem, &coordinates, &rows, &values, 11).unwrap();
        let first = once();
        let others = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..2).map(|_| scope.spawn(once)).collect();
            workers.into_iter().map(|w| w.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(others.iter().all(|other| *other == first));
    }
}

/// A small random problem: variables of all kinds and up to three constraints.
fn problem() -> impl Strategy<Value = Problem> {
    let coefficient = || (-4i32..=4).prop_map(|k| f64::from(k) / 2.0);
    let constraint = (0..5usize, prop::collection::vec(coefficient(), 4), -2.0..4.0f64);
    (prop::collection::vec(constraint, 0..4), 1..4i64, 2..4usize).prop_map(|(constraints, upper, levels)| {
        let mut builder = Problem::builder("random")
            .variable(Variable::continuous("x", -1.0, 1.0))
            .variable(Variable::continuous("rate", 1e-3, 1.0).log())
            .variable(Variable::integer("n", 0, upper))
            .variable(Variable::grid("g", 0.1, 0.6, 0.05).unwrap())
            .variable(Variable::categorical("c", ["p", "q", "r"].into_iter().take(levels)))
            .variable(Variable::continuous("depth", 0.5, 2.0).active_if("n >= 1", 0.5));
        for (i, (kind, a, right)) in constraints.into_iter().enumerate() {
            let sum = format!("{} * x + {} * rate + {} * n + {} * g", a[0], a[1], a[2], a[3]);
            let text = match kind {
                0 => format!("{sum} <= {right}"),
                1 => format!("({sum})^2 + depth <= {}", right.abs() + 1.0),
                2 => format!("x * depth == {}", a[0] / 4.0),
                3 => format!("c == 'p' implies {sum} <= {right}"),
                _ => format!("x + rate == {}", a[0] / 8.0),
            };
            builder = builder.constraint(format!("c{i}"), text);
        }
        builder.build().unwrap()
    })
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]
    #[test]
    fn suggestions_on_random_problems_are_feasible_and_new(problem in problem(), seed in 0..1000u64) {
        let coordinates = coordinates(&problem);
        let mut rows = first_points(&problem, &coordinates, 3, seed);
        if rows.len() == 3 {
            for _ in 0..12 {
                let value = |x: &Vec<f64>| {
                    let square: f64 = x.iter().map(|v| (v - 0.3).powi(2)).sum();
                    if seed % 5 == 0 { 1.0 } else { square + (3.0 * x[0]).sin() }
                };
                let values: Vec<f64> = rows.iter().map(value).collect();
                if let Some(point) = suggest(&problem, &coordinates, &rows, &values, seed) {
                    prop_assert!(problem.constraints().is_feasible(&point, Tolerance::Produce), "{point:?}");
                    prop_assert!(!rows.contains(&point), "{point:?}");
                    let mut at_rest = point.clone();
                    problem.constraints().deactivate(&mut at_rest);
                    prop_assert!(at_rest == point, "{point:?}");
                    rows.push(point);
                }
            }
        }
    }
}
