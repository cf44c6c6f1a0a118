//! From the optimal cell to a point: its centre (Eq. 9, 10), projected onto the constraints when there are any (Eq. 11), in few decimals.

use leafgp_solver::constraints::{Limits, Tolerance};
use leafgp_solver::{Domain, Range, Region};
use rand::{Rng, RngExt};

use super::sample::{nearest_feasible, part_of, random_level, uniform};
use crate::Table;
use crate::problem::{PointChoice, Problem, Scale};

/// Random points drawn before the fallback is taken.
const RANDOM_TRIES: usize = 4;
/// Random points compared when the point is to lie away from the measured ones; fewer where each one needs a projection.
const AWAY_CANDIDATES: usize = 32;
const AWAY_CANDIDATES_CONSTRAINED: usize = 8;
/// How far rounding may move a coordinate, as a share of its cell: readable numbers are worth more than the exact middle.
const ROUNDING_SHARE: f64 = 1e-3;
/// Most decimals tried before a number is left as it is; more can not be shorter than 17 significant digits.
const MAX_DECIMALS: i32 = 20;

/// The point suggested for a cell: its centre or another one ([`PointChoice`]), moved to the nearest feasible point, with as few decimals as the constraints allow.
/// `measured` are the points of the training set, `fallback` is a feasible point of the cell, returned when the projection finds none within its limits.
pub(super) fn point_of_cell(
    problem: &Problem,
    cell: &Region,
    fallback: &[f64],
    measured: &Table,
    rng: &mut impl Rng,
    limits: Limits,
) -> Vec<f64> {
    let feasible = |point: Vec<f64>| nearest_feasible(problem, cell, point, limits.clone());
    let taken: Vec<&[f64]> = match problem.settings().point {
        PointChoice::Away => measured.rows().filter(|x| cell.contains(x)).collect(),
        PointChoice::Centre | PointChoice::Random => Vec::new(),
    };
    let exact = match problem.settings().point {
        PointChoice::Random => (0..RANDOM_TRIES).find_map(|_| feasible(random_point(problem, cell, rng))),
        PointChoice::Away if !taken.is_empty() => {
            let n =
                if problem.constraints().is_empty() { AWAY_CANDIDATES } else { AWAY_CANDIDATES_CONSTRAINED };
            let mut best: Option<(f64, Vec<f64>)> = None;
            for k in 0..=n {
                let drawn =
                    if k == 0 { centre(problem, cell, rng) } else { random_point(problem, cell, rng) };
                let Some(point) = feasible(drawn) else { continue };
                let distance = taken.iter().map(|x| distance(cell, x, &point)).fold(f64::INFINITY, f64::min);
                if best.as_ref().is_none_or(|(farthest, _)| distance > *farthest) {
                    best = Some((distance, point));
                }
            }
            best.map(|(_, point)| point)
        }
        PointChoice::Centre | PointChoice::Away => feasible(centre(problem, cell, rng)),
    };
    let exact = exact.unwrap_or_else(|| fallback.to_vec());
    let short = shorten(problem, cell, exact.clone());
    // Few decimals are no reason to measure the same point again.
    if taken.contains(&short.as_slice()) { exact } else { short }
}

/// A random point of a cell. Inactive variables keep their value: the constraints say so.
fn random_point(problem: &Problem, cell: &Region, rng: &mut impl Rng) -> Vec<f64> {
    let mut point = uniform(problem, cell, rng);
    problem.constraints().deactivate(&mut point);
    point
}

/// Squared distance within a cell, each coordinate in units of the cell; a changed category counts 1.
fn distance(cell: &Region, a: &[f64], b: &[f64]) -> f64 {
    let term = |((range, &a), &b): ((&Range, &f64), &f64)| match range {
        Range::Levels(_) => f64::from(u8::from(a != b)),
        Range::Interval { lower, upper } if upper > lower => ((a - b) / (upper - lower)).powi(2),
        Range::Interval { .. } => 0.0,
    };
    cell.0.iter().zip(a).zip(b).map(term).sum()
}

/// The centre of a cell. Continuous: the midpoint, geometric on a log scale (Eq. 9). Integers, grids and lists: the allowed value nearest to the
/// midpoint of the cell's allowed values, a tie is a coin. Categories: uniform among the cell's levels (Eq. 10). Semi-continuous: a coin between 0 and the middle of the rest.
pub(super) fn centre(problem: &Problem, cell: &Region, rng: &mut impl Rng) -> Vec<f64> {
    let mut point = Vec::with_capacity(cell.0.len());
    for (variable, range) in problem.variables().iter().zip(&cell.0) {
        point.push(match range {
            Range::Levels(levels) => random_level(levels, rng),
            Range::Interval { lower, upper } => {
                let domain = variable.domain();
                let part = part_of(variable, *lower, *upper, rng);
                match part.and_then(|(lower, upper)| domain.within(lower, upper)) {
                    None => *lower,
                    Some((first, last)) => interval_centre(&domain, variable.scale, first, last, rng),
                }
            }
        });
    }
    point
}

fn interval_centre(domain: &Domain, scale: Scale, first: f64, last: f64, rng: &mut impl Rng) -> f64 {
    let middle = match scale {
        Scale::Linear => 0.5 * first + 0.5 * last,
        Scale::Log => (0.5 * (first.ln() + last.ln())).exp(),
    }
    .clamp(first, last);
    let (Some(below), Some(above)) = (domain.floor(middle), domain.ceil(middle)) else { return first };
    let (down, up) = (middle - below, above - middle);
    // Midpoints of decimal grids carry rounding errors: what is a tie on paper must be one here.
    if (down - up).abs() <= 1e-9 * (above - below) && above > below {
        if rng.random_bool(0.5) { above } else { below }
    } else if up < down {
        above
    } else {
        below
    }
}

/// A feasible point with as few decimals as the constraints allow, none of which moves a coordinate by more than a thousandth of the room that it has.
pub(super) fn shorten_point(problem: &Problem, point: Vec<f64>) -> Vec<f64> {
    shorten(problem, &problem.constraints().room(), point)
}

/// Rounds each continuous coordinate to the fewest decimals that stay within a thousandth of the cell and keep the point feasible.
fn shorten(problem: &Problem, cell: &Region, mut point: Vec<f64>) -> Vec<f64> {
    for i in 0..point.len() {
        let (Domain::Continuous { .. }, Range::Interval { lower, upper }) =
            (problem.variables()[i].domain(), &cell.0[i])
        else {
            continue;
        };
        let exact = point[i];
        let mut reach = ROUNDING_SHARE * (upper - lower);
        if problem.variables()[i].scale == Scale::Log {
            reach = reach.min(ROUNDING_SHARE * exact.abs());
        }
        'decimals: for decimals in -MAX_DECIMALS..=MAX_DECIMALS {
            for rounded in roundings(exact, decimals) {
                if (rounded - exact).abs() > reach || rounded < *lower || rounded > *upper {
                    continue;
                }
                point[i] = rounded;
                if problem.constraints().is_empty()
                    || problem.constraints().is_feasible(&point, Tolerance::Produce)
                {
                    break 'decimals;
                }
            }
            point[i] = exact;
        }
    }
    point
}

/// `x` rounded to a number of decimals (negative: tens, hundreds): to nearest, down and up, each the f64 nearest to its decimal.
fn roundings(x: f64, decimals: i32) -> [f64; 3] {
    let scale = 10f64.powi(decimals.abs());
    let unscale = |n: f64| if decimals >= 0 { n / scale } else { n * scale };
    let scaled = if decimals >= 0 { x * scale } else { x / scale };
    // Adding zero turns -0 into 0.
    [scaled.round(), scaled.floor(), scaled.ceil()].map(|n| unscale(n) + 0.0)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::{LevelSet, Range, Region};
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::{centre, point_of_cell, roundings};
    use crate::Table;
    use crate::problem::{PointChoice, Problem, Variable};

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    fn problem(variables: Vec<Variable>) -> Problem {
        let mut builder = Problem::builder("test");
        for variable in variables {
            builder = builder.variable(variable);
        }
        builder.build().unwrap()
    }

    #[test]
    fn integer_ties_take_both_sides_and_nothing_else() {
        let problem = problem(vec![Variable::integer("n", 0, 9)]);
        let cell = Region(vec![Range::Interval { lower: 3.5f64.next_up(), upper: 7.5 }]);
        let picks: Vec<f64> = (0..40).map(|seed| centre(&problem, &cell, &mut rng(seed))[0]).collect();
        assert!(picks.contains(&5.0) && picks.contains(&6.0));
        assert!(picks.iter().all(|p| *p == 5.0 || *p == 6.0));
    }

    #[test]
    fn log_scale_takes_the_geometric_middle_and_levels_are_uniform_over_the_cell() {
        let problem = problem(vec![
            Variable::continuous("rate", 1e-5, 1e-1).log(),
            Variable::categorical("c", ["a", "b", "d"]),
        ]);
        let cell = Region(vec![
            Range::Interval { lower: 1e-4, upper: 1e-2 },
            Range::Levels(LevelSet::from_indices(3, [0, 2])),
        ]);
        let mut seen = [0; 3];
        for seed in 0..100 {
            let point = centre(&problem, &cell, &mut rng(seed));
            assert!((point[0] - 1e-3).abs() < 1e-15);
            seen[point[1] as usize] += 1;
        }
        assert!(seen[1] == 0 && seen[0] > 25 && seen[2] > 25);
    }

    #[test]
    fn grid_centres_are_grid_values() {
        let problem = problem(vec![Variable::grid("share", 0.1, 0.6, 0.05).unwrap()]);
        let cell = Region(vec![Range::Interval { lower: 0.125, upper: 0.475 }]);
        let x = centre(&problem, &cell, &mut rng(1))[0];
        assert_eq!(x, 0.3);
        assert!(problem.variables()[0].domain().contains(x));
    }

    #[test]
    fn unconstrained_points_are_short_and_stay_in_the_cell() {
        let problem = problem(vec![Variable::continuous("x", 0.0, 1.0)]);
        let cell = Region(vec![Range::Interval { lower: 0.123_456_789, upper: 0.345_678_9 }]);
        let x = point_of_cell(&problem, &cell, &[0.2], &Table::new(1), &mut rng(1), Default::default())[0];
        assert_eq!(x, 0.2346);
        let sliver = Region(vec![Range::Interval { lower: 0.5f64.next_up(), upper: 0.5f64.next_up() }]);
        assert_eq!(
            point_of_cell(
                &problem,
                &sliver,
                &[0.5f64.next_up()],
                &Table::new(1),
                &mut rng(1),
                Default::default()
            )[0],
            0.5f64.next_up()
        );
    }

    #[test]
    fn away_from_measurements_means_never_twice_the_same_and_the_centre_of_an_unmeasured_cell() {
        let problem = problem(vec![Variable::continuous("x", 0.0, 1.0), Variable::integer("n", 0, 9)])
            .adjusted(|settings| settings.point = PointChoice::Away)
            .unwrap();
        let interval = |lower, upper| Range::Interval { lower, upper };
        let cell = Region(vec![interval(0.2, 0.4), interval(2.5, 5.5)]);
        let point = |measured: &Table, seed| {
            point_of_cell(&problem, &cell, &[0.3, 4.0], measured, &mut rng(seed), Default::default())
        };
        let elsewhere = Table::from_rows(2, &[[0.5, 4.0], [0.3, 6.0]]);
        assert_eq!(point(&elsewhere, 1), [0.3, 4.0]);
        // Measured at the centre: at least a third of the cell away in some coordinate.
        let mut measured = Table::from_rows(2, &[[0.3, 4.0]]);
        for seed in 0..20 {
            let next = point(&measured, seed);
            assert!(cell.contains(&next) && measured.rows().all(|x| x != next), "{next:?}");
            if seed == 0 {
                assert!((next[0] - 0.3).abs() > 0.05 || next[1] != 4.0, "{next:?}");
            }
            measured.push(&next);
        }
        // A cell of a single point has no other.
        let single = Region(vec![interval(0.3, 0.3), interval(3.5, 4.5)]);
        let again = point_of_cell(&problem, &single, &[0.3, 4.0], &measured, &mut rng(1), Default::default());
        assert_eq!(again, [0.3, 4.0]);
    }

    #[test]
    fn random_points_spread_over_the_feasible_part_of_the_cell() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("y", 0.0, 1.0))
            .constraint("sum", "x + y <= 1")
            .build()
            .and_then(|problem| problem.adjusted(|settings| settings.point = PointChoice::Random))
            .unwrap();
        let cell = Region(vec![Range::Interval { lower: 0.2, upper: 0.6 }; 2]);
        let mut left = 0;
        for seed in 0..60 {
            let x = point_of_cell(
                &problem,
                &cell,
                &[0.3, 0.3],
                &Table::new(2),
                &mut rng(seed),
                Default::default(),
            );
            assert!(cell.contains(&x) && x[0] + x[1] <= 1.0, "{x:?}");
            left += usize::from(x[0] < 0.4);
        }
        assert!((20..=50).contains(&left), "{left} of 60 in the left half, which holds 4/7 of the area");
    }

    #[test]
    fn roundings_are_the_nearest_floats_to_their_decimals() {
        assert_eq!(roundings(0.30000000000000004, 1), [0.3, 0.3, 0.4]);
        assert_eq!(roundings(-1234.5, -2), [-1200.0, -1300.0, -1200.0]);
        assert!(roundings(-0.01, 1)[0].is_sign_positive());
    }
}
