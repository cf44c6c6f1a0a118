//! Uniform random points of a box, and the nearest feasible points to them.

use leafgp_solver::constraints::{Limits, Tolerance};
use leafgp_solver::{Domain, LevelSet, Range, Region};
use rand::{Rng, RngExt};

use crate::problem::{Problem, Scale, Variable};

/// Relative gap of a projection's distance.
const PROJECTION_GAP: f64 = 1e-4;

/// A random point of a box, constraints not considered: uniform on each variable's scale, uniform among the allowed values of integers, grids, lists and categories.
/// Where `region` holds no allowed value of a variable, its lower end stands (of a category, level 0).
pub fn uniform(problem: &Problem, region: &Region, rng: &mut impl Rng) -> Vec<f64> {
    problem.variables().iter().zip(&region.0).map(|(variable, range)| value(variable, range, rng)).collect()
}

/// One of the levels of a set, each equally likely; 0 when it is empty.
pub(super) fn random_level(levels: &LevelSet, rng: &mut impl Rng) -> f64 {
    let n = levels.len();
    if n == 0 {
        return 0.0;
    }
    levels.iter().nth(rng.random_range(0..n)).unwrap_or(0) as f64
}

/// Of an interval, the part of a semi-continuous variable: 0 or what is within its bounds, a coin where both are there; the interval itself for other variables.
/// `None` when there is neither.
pub(super) fn part_of(variable: &Variable, lower: f64, upper: f64, rng: &mut impl Rng) -> Option<(f64, f64)> {
    let Some([least, most]) = variable.or_zero else { return Some((lower, upper)) };
    let zero = (lower <= 0.0 && upper >= 0.0).then_some((0.0, 0.0));
    let within = Some((lower.max(least), upper.min(most))).filter(|(lower, upper)| lower <= upper);
    match (zero, within) {
        (Some(zero), Some(within)) => Some(if rng.random_bool(0.5) { zero } else { within }),
        (zero, within) => zero.or(within),
    }
}

fn value(variable: &Variable, range: &Range, rng: &mut impl Rng) -> f64 {
    let (lower, upper) = match range {
        Range::Levels(levels) => return random_level(levels, rng),
        Range::Interval { lower, upper } => (*lower, *upper),
    };
    let domain = variable.domain();
    let Some((lower, upper)) = part_of(variable, lower, upper, rng) else { return lower };
    let Some((first, last)) = domain.within(lower, upper) else { return lower };
    if variable.scale == Scale::Log {
        let drawn = (first.ln() + rng.random::<f64>() * (last.ln() - first.ln())).exp();
        return domain.nearest(drawn, first, last).unwrap_or(first);
    }
    match &domain {
        Domain::Integer { .. } => rng.random_range(first as i64..=last as i64) as f64,
        Domain::Grid(grid) => {
            let (_, step, digits) = grid.numerators();
            let step = step as f64 / 10f64.powi(digits as i32);
            let index = |x: f64| ((x - grid.value(0)) / step).round() as u64;
            grid.value(rng.random_range(index(first)..=index(last)))
        }
        Domain::Discrete(values) => {
            let allowed: Vec<f64> = values.iter().copied().filter(|&v| first <= v && v <= last).collect();
            allowed[rng.random_range(0..allowed.len())]
        }
        _ => (first + rng.random::<f64>() * (last - first)).clamp(first, last),
    }
}

/// The feasible point of a box nearest to `point` (Eq. 11), which is the point itself when it is feasible; `None` when none is found within the limits, or when point
/// or box have another number of coordinates than the problem.
pub fn nearest_feasible(
    problem: &Problem,
    region: &Region,
    point: Vec<f64>,
    limits: Limits,
) -> Option<Vec<f64>> {
    if [point.len(), region.0.len()] != [problem.variables().len(); 2] {
        return None;
    }
    let feasible = |x: &[f64]| {
        problem.constraints().is_empty() || problem.constraints().is_feasible(x, Tolerance::Produce)
    };
    if feasible(&point) {
        return Some(point);
    }
    let nearest = problem.constraints().project(region, &point, PROJECTION_GAP, limits).nearest;
    nearest.map(|(x, _)| x).filter(|x| region.contains(x) && feasible(x))
}

#[cfg(test)]
mod tests {
    use leafgp_solver::{LevelSet, Range, Region};
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::{nearest_feasible, uniform};
    use crate::problem::{Problem, Variable};

    #[test]
    fn every_allowed_value_of_the_box_is_drawn_equally_often_and_no_other() {
        let problem = Problem::builder("p")
            .variable(Variable::integer("n", 0, 9))
            .variable(Variable::grid("g", 0.1, 0.6, 0.05).unwrap())
            .variable(Variable::discrete("d", [0.0, 12.0, 24.0, 48.0]))
            .variable(Variable::categorical("c", ["a", "b", "c", "d"]))
            .variable(Variable::continuous("x", -1.0, 3.0))
            .variable(Variable::continuous("rate", 1e-4, 1.0).log())
            .build()
            .unwrap();
        let interval = |lower, upper| Range::Interval { lower, upper };
        let region = Region(vec![
            interval(2.5, 6.5),
            interval(0.22, 0.41),
            interval(12.0, 48.0),
            Range::Levels(LevelSet::from_indices(4, [0, 3])),
            interval(0.0, 1.0),
            interval(1e-4, 1.0),
        ]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts: Vec<std::collections::BTreeMap<String, usize>> = vec![Default::default(); 4];
        let (mut sum, mut below) = (0.0, 0);
        const N: usize = 4000;
        for _ in 0..N {
            let x = uniform(&problem, &region, &mut rng);
            assert!(region.contains(&x), "{x:?}");
            for (count, value) in counts.iter_mut().zip(&x) {
                *count.entry(value.to_string()).or_default() += 1;
            }
            sum += x[4];
            below += usize::from(x[5] < 1e-2);
        }
        let values: Vec<Vec<&str>> = counts.iter().map(|c| c.keys().map(String::as_str).collect()).collect();
        assert_eq!(values[0], ["3", "4", "5", "6"]);
        assert_eq!(values[1], ["0.25", "0.3", "0.35", "0.4"]);
        assert_eq!(values[2], ["12", "24", "48"]);
        assert_eq!(values[3], ["0", "3"]);
        for count in &counts {
            let share = N as f64 / count.len() as f64;
            // Five standard deviations of a binomial count.
            assert!(count.values().all(|&n| (n as f64 - share).abs() < 5.0 * share.sqrt()), "{count:?}");
        }
        assert!((sum / N as f64 - 0.5).abs() < 0.025);
        assert!(
            (below as f64 / N as f64 - 0.5).abs() < 0.04,
            "half of a log scale lies below its geometric middle"
        );
    }

    #[test]
    fn a_point_outside_goes_to_the_nearest_feasible_one_and_an_empty_box_gives_none() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("y", 0.0, 1.0))
            .constraint("sum", "x + y <= 1")
            .build()
            .unwrap();
        let full = Region::full(&problem.domains());
        let inside = vec![0.25, 0.5];
        assert_eq!(nearest_feasible(&problem, &full, inside.clone(), Default::default()), Some(inside));
        let moved = nearest_feasible(&problem, &full, vec![1.0, 0.5], Default::default()).unwrap();
        assert!((moved[0] - 0.75).abs() < 1e-2 && (moved[1] - 0.25).abs() < 1e-2, "{moved:?}");
        let corner = Region(vec![Range::Interval { lower: 0.9, upper: 1.0 }; 2]);
        assert_eq!(nearest_feasible(&problem, &corner, vec![1.0, 1.0], Default::default()), None);
    }
}
