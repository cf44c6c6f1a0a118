//! Hartmann's function in six variables.

use super::benchmark::{Benchmark, Optimum, Variable, cube};

const VARIABLES: [Variable; 6] = cube(0.0, 1.0);

const ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const A: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];

const P: [[f64; 6]; 4] = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];

/// `-sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2)` on `[0, 1]^6`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "hartmann6",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum {
        value: -3.32237,
        points: &[&[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]],
    },
    source: "Hartman, Naval Postgraduate School (1973); Dixon & Szego, Towards Global Optimisation 2 (1978)",
    noise: 0.0,
    function,
};

/// The same with noise of about a twentieth of its deviation over the box.
pub(super) const NOISY: Benchmark = Benchmark { name: "hartmann6-noisy", noise: 0.019, ..BENCHMARK };

fn function(x: &[f64]) -> f64 {
    let bump = |i: usize| -> f64 {
        let distance: f64 = (0..6).map(|j| A[i][j] * (x[j] - P[i][j]).powi(2)).sum();
        ALPHA[i] * (-distance).exp()
    };
    -(0..4).map(bump).sum::<f64>()
}
