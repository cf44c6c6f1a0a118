//! Branin's function.

use std::f64::consts::PI;

use super::benchmark::{Benchmark, Optimum, Variable, boxed};

const VARIABLES: [Variable; 2] = boxed([(-5.0, 10.0), (0.0, 15.0)]);

/// `(x1 - 5.1/(4 pi^2) x0^2 + 5/pi x0 - 6)^2 + 10 (1 - 1/(8 pi)) cos x0 + 10` on `[-5, 10] x [0, 15]`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "branin",
    variables: &VARIABLES,
    constraints: &[],
    // The minimisers are (k pi, ...) for k = -1, 1, 3.
    optimum: Optimum { value: 0.397887, points: &[&[-PI, 12.275], &[PI, 2.275], &[9.42478, 2.475]] },
    source: "Branin, IBM J. Res. Dev. 16 (1972); optimum: Dixon & Szego, Towards Global Optimisation 2 (1978)",
    noise: 0.0,
    function,
};

pub(super) fn function(x: &[f64]) -> f64 {
    let valley = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
}
