//! Where a search may go: the values of each variable that a region leaves, the constraints, and the points it must not return.

use leafgp_solver::constraints::{Constraints, Tolerance};
use leafgp_solver::{Domain, Range, Region};
use rand::{Rng, RngExt};

use super::coordinates::Coordinates;

/// Points this close to an excluded one in every real coordinate teach no more than it did (a share of the range; by runs on development seeds,
/// `docs/presets.md`: without it an eighth of all evaluations repeat the optimum of a problem that is solved, to within 1e-5).
const NEAR: f64 = 1e-4;

/// Within this distance of a point there may be fewer excluded ones than its real coordinates and [`CROWD`]: as many settle a linear trend, and more
/// mean that the process takes for noise what it cannot follow.
const CROWD_DISTANCE: f64 = 1e-2;
const CROWD: usize = 3;

/// How far an excluded point reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Over its neighbourhood: [`NEAR`] and [`CROWD_DISTANCE`].
    Neighbourhood,
    /// Over the same experiment only: [`Coordinates::SAME`].
    Itself,
}

/// What a region leaves of one coordinate's variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// Coordinates of reals.
    Real {
        lower: f64,
        upper: f64,
    },
    /// Allowed numbers `first..=last` by their index in the domain.
    Steps {
        first: u64,
        last: u64,
    },
    Levels(Vec<usize>),
}

/// The set a search moves in. Points are in variable order.
#[derive(Debug)]
pub(super) struct Space<'a> {
    pub(super) coordinates: &'a Coordinates,
    pub(super) constraints: &'a Constraints,
    pub(super) region: &'a Region,
    /// One a coordinate.
    pub(super) choices: Vec<Choice>,
    /// Values of the variables without a coordinate, and placeholders.
    template: Vec<f64>,
    /// Coordinates of the points that must not be returned.
    excluded: Vec<Vec<f64>>,
    reach: Reach,
}

impl<'a> Space<'a> {
    /// `None` when the region leaves a variable no value.
    pub(super) fn new(
        coordinates: &'a Coordinates,
        constraints: &'a Constraints,
        region: &'a Region,
        excluded: &[Vec<f64>],
        reach: Reach,
    ) -> Option<Self> {
        let domains = coordinates.domains();
        let mut template = Vec::with_capacity(domains.len());
        for (domain, range) in domains.iter().zip(&region.0) {
            template.push(match range {
                Range::Interval { lower, upper } => domain.within(*lower, *upper)?.0,
                Range::Levels(levels) => levels.first()? as f64,
            });
        }
        let choices = coordinates.axes().iter().map(|axis| {
            let domain = &domains[axis.variable];
            match &region.0[axis.variable] {
                Range::Levels(levels) => Some(Choice::Levels(levels.iter().collect())),
                Range::Interval { lower, upper } => {
                    let (first, last) = domain.within(*lower, *upper)?;
                    Some(match domain {
                        Domain::Continuous { .. } => {
                            Choice::Real { lower: axis.coordinate(first), upper: axis.coordinate(last) }
                        }
                        _ => Choice::Steps { first: index(domain, first), last: index(domain, last) },
                    })
                }
            }
        });
        let choices = choices.collect::<Option<Vec<Choice>>>()?;
        let excluded = excluded.iter().map(|x| coordinates.of(x)).collect();
        Some(Self { coordinates, constraints, region, choices, template, excluded, reach })
    }

    pub(super) fn n_coordinates(&self) -> usize {
        self.choices.len()
    }

    fn domain(&self, j: usize) -> &Domain {
        &self.coordinates.domains()[self.coordinates.axes()[j].variable]
    }

    /// The variable of coordinate `j`.
    pub(super) fn variable(&self, j: usize) -> usize {
        self.coordinates.axes()[j].variable
    }

    /// The value of coordinate `j` at real coordinate `u`, within the region.
    pub(super) fn real_value(&self, j: usize, u: f64) -> f64 {
        let variable = self.variable(j);
        let x = self.coordinates.axes()[j].value(u);
        match self.region.0[variable] {
            Range::Interval { lower, upper } => {
                let (lowest, highest) = self.domain(j).bounds();
                x.clamp(lower.max(lowest), upper.min(highest))
            }
            Range::Levels(_) => x,
        }
    }

    /// The value of coordinate `j` at step `k`.
    pub(super) fn step_value(&self, j: usize, k: u64) -> f64 {
        match self.domain(j) {
            Domain::Integer { lower, .. } => lower + k as f64,
            Domain::Grid(grid) => grid.value(k),
            Domain::Discrete(values) => values[k as usize],
            Domain::Continuous { .. } | Domain::Categorical { .. } => self.template[self.variable(j)],
        }
    }

    /// The step of coordinate `j` at which a point stands.
    pub(super) fn step_of(&self, j: usize, x: &[f64]) -> u64 {
        index(self.domain(j), x[self.variable(j)])
    }

    /// The point moved into the region: reals clamped, numbers to the nearest allowed one, an absent level to the first one, inactive variables at
    /// their inactive value.
    pub(super) fn clamp(&self, x: &[f64]) -> Vec<f64> {
        let mut out = self.template.clone();
        for j in 0..self.choices.len() {
            let v = self.variable(j);
            let range = &self.region.0[v];
            let nearest = match range {
                Range::Levels(_) => range.contains(x[v]).then_some(x[v]),
                Range::Interval { lower, upper } => self.domain(j).nearest(x[v], *lower, *upper),
            };
            out[v] = nearest.unwrap_or(out[v]);
        }
        self.constraints.deactivate(&mut out);
        out
    }

    /// True when the point lies in the region and satisfies the constraints.
    pub(super) fn is_feasible(&self, x: &[f64]) -> bool {
        // The hierarchy's inactive values may lie outside a small region.
        self.region.contains(x) && self.constraints.is_feasible(x, Tolerance::Produce)
    }

    /// True when the point with coordinates `u` is one of the excluded ones or, by their [`Reach`], near one of them or in a crowd of them: within a
    /// distance in every real coordinate, and the same in all others.
    pub(super) fn is_excluded(&self, u: &[f64]) -> bool {
        let within = |row: &&Vec<f64>, distance: f64| {
            (0..u.len()).all(|j| match self.choices[j] {
                Choice::Real { .. } => (row[j] - u[j]).abs() <= distance,
                Choice::Steps { .. } | Choice::Levels(_) => row[j] == u[j],
            })
        };
        if self.reach == Reach::Itself {
            return self.excluded.iter().any(|row| within(&row, Coordinates::SAME));
        }
        let reals = self.choices.iter().filter(|choice| matches!(choice, Choice::Real { .. })).count();
        let crowd: Vec<&Vec<f64>> = self.excluded.iter().filter(|row| within(row, CROWD_DISTANCE)).collect();
        crowd.len() >= reals + CROWD || crowd.iter().any(|row| within(row, NEAR))
    }

    /// A random point of the region, constraints not considered: reals uniform in their coordinate, other values equally likely (on a log scale the
    /// one nearest to a uniform coordinate).
    pub(super) fn uniform(&self, rng: &mut impl Rng) -> Vec<f64> {
        let mut x = self.template.clone();
        for j in 0..self.choices.len() {
            x[self.variable(j)] = self.draw(j, rng);
        }
        self.constraints.deactivate(&mut x);
        x
    }

    fn draw(&self, j: usize, rng: &mut impl Rng) -> f64 {
        let axis = &self.coordinates.axes()[j];
        match &self.choices[j] {
            Choice::Real { lower, upper } => {
                self.real_value(j, lower + rng.random::<f64>() * (upper - lower))
            }
            Choice::Levels(levels) => levels[rng.random_range(0..levels.len())] as f64,
            Choice::Steps { first, last } => {
                if axis.is_log() {
                    let (low, high) = (self.step_value(j, *first), self.step_value(j, *last));
                    let (a, b) = (axis.coordinate(low), axis.coordinate(high));
                    let x = axis.value(a + rng.random::<f64>() * (b - a));
                    self.domain(j).nearest(x, low, high).unwrap_or(low)
                } else {
                    self.step_value(j, rng.random_range(*first..=*last))
                }
            }
        }
    }

    /// A copy of a point with some coordinates changed, four on average: reals by a normal deviate of standard deviation `spread` in the unit cube, numbers
    /// by at least one step, categories to a random level.
    pub(super) fn perturb(&self, x: &[f64], spread: f64, rng: &mut impl Rng) -> Vec<f64> {
        let d = self.choices.len();
        let mut out = x.to_vec();
        if d == 0 {
            return out;
        }
        let share = (4.0 / d as f64).min(1.0);
        let certain = rng.random_range(0..d);
        for j in 0..d {
            if rng.random::<f64>() >= share && j != certain {
                continue;
            }
            let v = self.variable(j);
            out[v] = match &self.choices[j] {
                Choice::Real { lower, upper } => {
                    let u = self.coordinates.axes()[j].coordinate(x[v]) + spread * normal(rng);
                    self.real_value(j, u.clamp(*lower, *upper))
                }
                Choice::Levels(levels) => levels[rng.random_range(0..levels.len())] as f64,
                Choice::Steps { first, last } => {
                    let range = (self.step_count(j) - 1) as f64;
                    let by = spread * normal(rng) * range;
                    let by = if by.abs() < 1.0 { by.signum() } else { by.round() };
                    let k = self.step_of(j, x) as f64 + by;
                    self.step_value(j, (k.max(0.0) as u64).clamp(*first, *last))
                }
            };
        }
        out
    }

    /// Number of values of a number variable's domain.
    pub(super) fn step_count(&self, j: usize) -> u64 {
        let domain = self.domain(j);
        index(domain, domain.bounds().1) + 1
    }

    /// Euclidean distance in coordinates; two levels are 1 apart.
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let square = |(j, (&a, &b)): (usize, (&f64, &f64))| match self.choices[j] {
            Choice::Levels(_) => f64::from(u8::from(a != b)),
            _ => (a - b) * (a - b),
        };
        a.iter().zip(b).enumerate().map(square).sum::<f64>().sqrt()
    }
}

/// The index of an allowed number in its domain.
fn index(domain: &Domain, x: f64) -> u64 {
    match domain {
        Domain::Integer { lower, .. } => (x - lower) as u64,
        Domain::Grid(grid) => {
            let (first, step, digits) = grid.numerators();
            let numerator = (x * 10f64.powi(digits as i32)).round() as i64;
            ((numerator - first) / step).max(0) as u64
        }
        Domain::Discrete(values) => values.partition_point(|&v| v < x) as u64,
        Domain::Continuous { .. } | Domain::Categorical { .. } => 0,
    }
}

/// A standard normal deviate, by Marsaglia's polar method.
fn normal(rng: &mut impl Rng) -> f64 {
    loop {
        let (a, b) = (2.0 * rng.random::<f64>() - 1.0, 2.0 * rng.random::<f64>() - 1.0);
        let square: f64 = a * a + b * b;
        if square > 0.0 && square < 1.0 {
            return a * (-2.0 * square.ln() / square).sqrt();
        }
    }
}
