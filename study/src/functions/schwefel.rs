//! Schwefel's function in ten variables.

use super::benchmark::{Benchmark, Optimum, Variable, cube};

const VARIABLES: [Variable; 10] = cube(-500.0, 500.0);

/// `418.9829 n - sum x_i sin(sqrt |x_i|)`, `n = 10`, on `[-500, 500]^10`.
///
/// The usual constant 418.9829 leaves a minimum of about 1.3e-5 a variable instead of 0.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "schwefel",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: 0.0, points: &[&[420.9687; 10]] },
    source: "Schwefel, Numerical Optimization of Computer Models (1981)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    418.9829 * x.len() as f64 - x.iter().map(|v| v * v.abs().sqrt().sin()).sum::<f64>()
}
