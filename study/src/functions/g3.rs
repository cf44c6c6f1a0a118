//! G3 in five variables: a product on the unit sphere.

use super::benchmark::{Benchmark, Optimum, Variable, constraint, cube};

const VARIABLES: [Variable; 5] = cube(0.0, 1.0);

/// 1 / sqrt(5).
const ROOT: f64 = 0.447_213_595_499_957_9;

/// `-sqrt(n)^n prod x_i`, `n = 5`, on `[0, 1]^5` with `sum x_i^2 = 1`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g3",
    variables: &VARIABLES,
    constraints: &[constraint("sphere", "x0^2 + x1^2 + x2^2 + x3^2 + x4^2 == 1")],
    optimum: Optimum { value: -1.0, points: &[&[ROOT; 5]] },
    source: "Michalewicz et al. (1996); g03 of Liang et al., CEC 2006, with 5 instead of 10 variables as in the paper",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    -n.sqrt().powi(x.len() as i32) * x.iter().product::<f64>()
}
