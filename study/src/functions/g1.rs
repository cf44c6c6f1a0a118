//! G1: a quadratic function under nine linear constraints.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};

const UNIT: (f64, f64) = (0.0, 1.0);
const WIDE: (f64, f64) = (0.0, 100.0);

const VARIABLES: [Variable; 13] =
    boxed([UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, WIDE, WIDE, WIDE, UNIT]);

// The paper's published code has -3*x2 in the sixth row; the literature has -8.
const CONSTRAINTS: [Constraint; 9] = [
    constraint("c1", "2*x0 + 2*x1 + x9 + x10 <= 10"),
    constraint("c2", "2*x0 + 2*x2 + x9 + x11 <= 10"),
    constraint("c3", "2*x1 + 2*x2 + x10 + x11 <= 10"),
    constraint("c4", "-8*x0 + x9 <= 0"),
    constraint("c5", "-8*x1 + x10 <= 0"),
    constraint("c6", "-8*x2 + x11 <= 0"),
    constraint("c7", "-2*x3 - x4 + x9 <= 0"),
    constraint("c8", "-2*x5 - x6 + x10 <= 0"),
    constraint("c9", "-2*x7 - x8 + x11 <= 0"),
];

/// `5 (x0 + x1 + x2 + x3) - 5 (x0^2 + x1^2 + x2^2 + x3^2) - (x4 + ... + x12)` on `[0, 1]^13`, `x9, x10, x11` in `[0, 100]`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g1",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: -15.0,
        points: &[&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 1.0]],
    },
    source: "Floudas & Pardalos, LNCS 455 (1990); g01 of Liang et al., CEC 2006",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    5.0 * x[..4].iter().map(|v| v - v * v).sum::<f64>() - x[4..].iter().sum::<f64>()
}
