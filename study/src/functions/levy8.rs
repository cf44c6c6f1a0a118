//! Levy's function in eight variables.

use std::f64::consts::PI;

use super::benchmark::{Benchmark, Optimum, Variable, cube};

const VARIABLES: [Variable; 8] = cube(-10.0, 10.0);

/// With `w_i = 1 + (x_i - 1)/4`: `sin^2(pi w_1) + sum_{i<n} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_n - 1)^2 (1 + sin^2(2 pi w_n))`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "levy8",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: 0.0, points: &[&[1.0; 8]] },
    source: "Levy & Montalvo, SIAM J. Sci. Stat. Comput. 6 (1985), as number 3 of Laguna & Marti (2005)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|v| 1.0 + (v - 1.0) / 4.0).collect();
    let last = w.len() - 1;
    let inner = |w: f64| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
    (PI * w[0]).sin().powi(2)
        + w[..last].iter().map(|&w| inner(w)).sum::<f64>()
        + (w[last] - 1.0).powi(2) * (1.0 + (2.0 * PI * w[last]).sin().powi(2))
}
