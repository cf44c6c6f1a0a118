//! A mixed function of two categories, two integers and three reals.

use super::benchmark::{Benchmark, Kind, Optimum, Variable, variable};

const VARIABLES: [Variable; 7] = [
    variable("base", Kind::Categorical(&["a", "b", "c"])),
    variable("agent", Kind::Categorical(&["p", "q", "r", "s", "t"])),
    variable("dose", Kind::Integer(0, 8)),
    variable("steps", Kind::Integer(0, 10)),
    variable("shift", Kind::Continuous(-2.0, 2.0)),
    variable("phase", Kind::Continuous(0.0, 1.0)),
    variable("tilt", Kind::Continuous(-1.0, 1.0)),
];

/// Effect of the base.
const BASE: [f64; 3] = [0.7, 2.7, -0.3];

/// Effect of the agent at dose 0; it grows by a quarter with each unit of the dose.
const AGENT: [f64; 5] = [1.5, -0.5, 0.3, -2.0, 0.8];

/// `BASE + AGENT (1 + dose/4) + 0.2 (steps - 3)^2 + (shift - 0.3 base)^2 + sin(5 phase) tilt`, `base` and `agent` as level index.
///
/// The base moves the best shift, the agent decides whether the dose helps, phase and tilt only act together. The best point has the base
/// `c` (2), the agent `s` (3), dose 8, 3 steps, shift 0.6 and `sin(5 phase) tilt = -1`: phase `3 pi/10`, tilt 1. The value there is
/// `-0.3 - 2 (1 + 8/4) + 0 + 0 - 1 = -7.3`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "mixed",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum { value: -7.3, points: &[&[2.0, 3.0, 8.0, 3.0, 0.6, 0.3 * std::f64::consts::PI, 1.0]] },
    source: "made for mixed spaces; the optimum follows from the formula, term by term",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let [base, agent] = [x[0] as usize, x[1] as usize];
    BASE[base]
        + AGENT[agent] * (1.0 + x[2] / 4.0)
        + 0.2 * (x[3] - 3.0).powi(2)
        + (x[4] - 0.3 * x[0]).powi(2)
        + (5.0 * x[5]).sin() * x[6]
}
