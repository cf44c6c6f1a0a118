//! Rastrigin's function in ten variables.

use std::f64::consts::TAU;

use super::benchmark::{Benchmark, Optimum, Variable, cube};

const VARIABLES: [Variable; 10] = cube(-4.0, 5.0);

/// `10 n + sum (x_i^2 - 10 cos(2 pi x_i))`, `n = 10`, on `[-4, 5]^10` (the paper's box).
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "rastrigin",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: 0.0, points: &[&[0.0; 10]] },
    source: "Rastrigin, Systems of Extremal Control (1974); Muehlenbein et al., Parallel Computing 17 (1991)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    10.0 * x.len() as f64 + x.iter().map(|v| v * v - 10.0 * (TAU * v).cos()).sum::<f64>()
}
