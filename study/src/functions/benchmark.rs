//! What a benchmark is made of.

use leafgp_solver::Domain;

use super::noise;

/// A test problem: minimise [`Benchmark::evaluate`] over the variables' domains and the constraints.
///
/// ```
/// use leafgp_study::functions;
///
/// let g6 = functions::find("g6")?;
/// let optimum = g6.optimum.points[0];
/// assert!((g6.evaluate(optimum) - g6.optimum.value).abs() < 1e-2);
/// // As a problem for the engine, with its constraints.
/// let problem = g6.problem()?;
/// assert_eq!((problem.variables().len(), problem.constraints().len()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// The name by which [`find`](super::find) knows it.
    pub name: &'static str,
    /// The variables, in the order of points.
    pub variables: &'static [Variable],
    /// Conditions on the variables' names that every point must satisfy; empty for a plain box.
    pub constraints: &'static [Constraint],
    /// The known optimum.
    pub optimum: Optimum,
    /// Where the formula and the optimum come from.
    pub source: &'static str,
    /// Standard deviation of the noise on each evaluation; 0 for an exact function.
    pub noise: f64,
    pub(super) function: fn(&[f64]) -> f64,
}

/// A variable of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its allowed values.
    pub kind: Kind,
    /// When it exists; otherwise it stands at its lower bound. `None`: always.
    pub active_if: Option<&'static str>,
}

/// The allowed values of a benchmark's variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Every number from the first to the second.
    Continuous(f64, f64),
    /// Every number from the first to the second, spread by its logarithm.
    Log(f64, f64),
    /// Every whole number from the first to the second.
    Integer(i32, i32),
    /// One of the named levels; in a point stands the index.
    Categorical(&'static [&'static str]),
}

/// A constraint of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// A short name.
    pub name: &'static str,
    /// The condition, over the variables' names.
    pub expr: &'static str,
}

/// The best known value and where it is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// The smallest value over all feasible points, as published.
    pub value: f64,
    /// Points where it is taken, each `[n_variables]`, to the digits published.
    pub points: &'static [&'static [f64]],
}

impl Benchmark {
    /// The function at a point in variable order, with its noise; an integer as a number, a category as its level index. The noise is a
    /// function of the point: measuring a point again gives the same value.
    ///
    /// # Panics
    /// When the point has another length than `variables`, or a level index that does not exist.
    pub fn evaluate(&self, x: &[f64]) -> f64 {
        let exact = self.exact(x);
        if self.noise == 0.0 { exact } else { exact + self.noise * noise::standard_normal(x) }
    }

    /// The function at a point without its noise: what a method's best point is worth.
    ///
    /// # Panics
    /// As [`Benchmark::evaluate`].
    pub fn exact(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.variables.len(), "{} has {} variables", self.name, self.variables.len());
        (self.function)(x)
    }

    /// The variables' domains.
    pub fn domains(&self) -> Vec<Domain> {
        self.variables.iter().map(|variable| variable.kind.domain()).collect()
    }
}

impl Kind {
    /// As the solver's domain.
    pub fn domain(&self) -> Domain {
        match *self {
            Self::Continuous(lower, upper) | Self::Log(lower, upper) => Domain::Continuous { lower, upper },
            Self::Integer(lower, upper) => {
                Domain::Integer { lower: f64::from(lower), upper: f64::from(upper) }
            }
            Self::Categorical(levels) => Domain::Categorical { levels: levels.len() },
        }
    }
}

const NAMES: [&str; 13] = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12"];

/// `N` real variables `x0, x1, ...` with the same bounds.
pub(super) const fn cube<const N: usize>(lower: f64, upper: f64) -> [Variable; N] {
    boxed([(lower, upper); N])
}

/// Real variables `x0, x1, ...` with bounds of their own.
pub(super) const fn boxed<const N: usize>(bounds: [(f64, f64); N]) -> [Variable; N] {
    let mut variables = [variable("", Kind::Continuous(0.0, 0.0)); N];
    let mut i = 0;
    while i < N {
        variables[i] = variable(NAMES[i], Kind::Continuous(bounds[i].0, bounds[i].1));
        i += 1;
    }
    variables
}

/// A variable that always exists.
pub(super) const fn variable(name: &'static str, kind: Kind) -> Variable {
    Variable { name, kind, active_if: None }
}

/// A variable that exists under a condition.
pub(super) const fn conditional(name: &'static str, kind: Kind, condition: &'static str) -> Variable {
    Variable { name, kind, active_if: Some(condition) }
}

pub(super) const fn constraint(name: &'static str, expr: &'static str) -> Constraint {
    Constraint { name, expr }
}
