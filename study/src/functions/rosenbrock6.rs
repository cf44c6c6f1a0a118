//! Rosenbrock's function in six variables within a ball and above a cubic.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, constraint, cube};

const VARIABLES: [Variable; 6] = cube(-2.0, 2.0);

const CONSTRAINTS: [Constraint; 2] = [
    constraint("ball", "x0^2 + x1^2 + x2^2 + x3^2 + x4^2 + x5^2 <= 8"),
    constraint("cubic", "x1 >= (x0 - 1)^3 + 1"),
];

/// `sum_{i<6} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2`; the optimum lies on the cubic.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "rosenbrock6",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum { value: 0.0, points: &[&[1.0; 6]] },
    source: "Rosenbrock, Comput. J. 3 (1960); cubic: Simionescu & Beale (2002)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}
