//! Five reals with thresholds that act together.

use super::benchmark::{Benchmark, Optimum, Variable, cube};

const VARIABLES: [Variable; 5] = cube(0.0, 1.0);

/// Where the smooth part is smallest.
const CENTRE: [f64; 5] = [0.75, 0.25, 0.3, 0.85, 0.45];

/// `sum (x_i - c_i)^2`, less 1.5 where `x0 > 0.6` and `x1 <= 0.4`, less 0.8 where `x3 > 0.7` and `x4 < 0.5`, plus 1 where `x2 > 0.5` and
/// `x3 > 0.5`, plus `0.3 |floor(5 x4) - 2|`.
///
/// At the centre every step is at its best: `-1.5 - 0.8 = -2.3`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "steps5",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: -2.3, points: &[&CENTRE] },
    source: "made for jumps; the optimum follows from the formula, term by term",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let step = |holds: bool, height: f64| if holds { height } else { 0.0 };
    let smooth: f64 = x.iter().zip(CENTRE).map(|(v, c)| (v - c).powi(2)).sum();
    smooth
        + step(x[0] > 0.6 && x[1] <= 0.4, -1.5)
        + step(x[3] > 0.7 && x[4] < 0.5, -0.8)
        + step(x[2] > 0.5 && x[3] > 0.5, 1.0)
        + 0.3 * ((5.0 * x[4]).floor() - 2.0).abs()
}
