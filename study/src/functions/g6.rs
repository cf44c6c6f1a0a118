//! G6: a cubic function in the sliver between two circles.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};

const VARIABLES: [Variable; 2] = boxed([(13.0, 100.0), (0.0, 100.0)]);

const CONSTRAINTS: [Constraint; 2] = [
    constraint("outside", "(x0 - 5)^2 + (x1 - 5)^2 >= 100"),
    constraint("inside", "(x0 - 6)^2 + (x1 - 5)^2 <= 82.81"),
];

/// `(x0 - 10)^3 + (x1 - 20)^3` on `[13, 100] x [0, 100]`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g6",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    // x0 = 14.095 exactly, where both circles meet: x1 = 5 - sqrt(100 - 9.095^2).
    optimum: Optimum { value: -6961.81388, points: &[&[14.095, 0.842_960_789_214_79]] },
    source: "Floudas & Pardalos, LNCS 455 (1990); g06 of Liang et al., CEC 2006",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    (x[0] - 10.0).powi(3) + (x[1] - 20.0).powi(3)
}
