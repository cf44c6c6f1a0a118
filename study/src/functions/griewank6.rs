//! Griewank's function in six variables.

use super::benchmark::{Benchmark, Optimum, Variable, cube};

/// The optimum is not the centre of the box.
const VARIABLES: [Variable; 6] = cube(-40.0, 60.0);

/// `1 + sum x_i^2 / 4000 - prod cos(x_i / sqrt i)`, `i` from 1.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "griewank6",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: 0.0, points: &[&[0.0; 6]] },
    source: "Griewank, J. Optim. Theory Appl. 34 (1981)",
    noise: 0.0,
    function,
};

/// The same with noise of about a twentieth of its deviation over the box.
pub(super) const NOISY: Benchmark = Benchmark { name: "griewank6-noisy", noise: 0.0375, ..BENCHMARK };

fn function(x: &[f64]) -> f64 {
    let square: f64 = x.iter().map(|v| v * v).sum();
    let product: f64 = (1..).zip(x).map(|(i, v)| (v / f64::from(i).sqrt()).cos()).product();
    1.0 + square / 4000.0 - product
}
