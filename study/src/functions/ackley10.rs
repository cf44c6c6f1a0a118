//! Ackley's function in ten variables.

use std::f64::consts::{E, PI};

use super::benchmark::{Benchmark, Optimum, Variable, cube};

/// The optimum is not the centre of the box.
const VARIABLES: [Variable; 10] = cube(-20.0, 30.0);

/// `-20 exp(-0.2 sqrt(mean x_i^2)) - exp(mean cos(2 pi x_i)) + 20 + e`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "ackley10",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: 0.0, points: &[&[0.0; 10]] },
    source: "Ackley, A Connectionist Machine for Genetic Hillclimbing (1987)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let mean = |term: fn(f64) -> f64| x.iter().map(|&v| term(v)).sum::<f64>() / x.len() as f64;
    let (square, wave) = (mean(|v| v * v), mean(|v| (2.0 * PI * v).cos()));
    20.0 + E - 20.0 * (-0.2 * square.sqrt()).exp() - wave.exp()
}
