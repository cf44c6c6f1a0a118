//! The alkylation process: profit of a reactor under process constraints.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};

// The paper prints 0 as the lower bound of x0, where the ratio below is undefined.
const VARIABLES: [Variable; 7] = boxed([
    (1.0, 2000.0),
    (0.0, 16_000.0),
    (0.0, 120.0),
    (0.0, 5000.0),
    (90.0, 95.0),
    (0.01, 4.0),
    (145.0, 162.0),
]);

// Written out with the makeup of isobutane m = 1.22*x3 - x0, the ratio of isobutane r = (x1 + m)/x0 and the acid strength
// s = 98000*x2/(x3*x5 + 1000*x2).
const CONSTRAINTS: [Constraint; 14] = [
    constraint(
        "yield lower",
        "0.99*x3 <= x0*(1.12 + 0.13167*((x1 + 1.22*x3 - x0)/x0) - 0.00667*((x1 + 1.22*x3 - x0)/x0)^2)",
    ),
    constraint(
        "yield upper",
        "x0*(1.12 + 0.13167*((x1 + 1.22*x3 - x0)/x0) - 0.00667*((x1 + 1.22*x3 - x0)/x0)^2) <= 100/99*x3",
    ),
    constraint(
        "octane lower",
        "0.99*x4 <= 86.35 + 1.098*((x1 + 1.22*x3 - x0)/x0) - 0.038*((x1 + 1.22*x3 - x0)/x0)^2 + 0.325*(98000*x2/(x3*x5 + 1000*x2) - 89)",
    ),
    constraint(
        "octane upper",
        "86.35 + 1.098*((x1 + 1.22*x3 - x0)/x0) - 0.038*((x1 + 1.22*x3 - x0)/x0)^2 + 0.325*(98000*x2/(x3*x5 + 1000*x2) - 89) <= 100/99*x4",
    ),
    constraint("dilution lower", "0.9*x5 <= 35.82 - 0.222*x6"),
    constraint("dilution upper", "35.82 - 0.222*x6 <= 10/9*x5"),
    constraint("performance lower", "0.99*x6 <= -133 + 3*x4"),
    constraint("performance upper", "-133 + 3*x4 <= 100/99*x6"),
    constraint("makeup lower", "1.22*x3 - x0 >= 0"),
    constraint("makeup upper", "1.22*x3 - x0 <= 2000"),
    constraint("acid lower", "98000*x2/(x3*x5 + 1000*x2) >= 85"),
    constraint("acid upper", "98000*x2/(x3*x5 + 1000*x2) <= 93"),
    constraint("ratio lower", "(x1 + 1.22*x3 - x0)/x0 >= 3"),
    constraint("ratio upper", "(x1 + 1.22*x3 - x0)/x0 <= 12"),
];

/// The negated profit `-(0.063 x3 x4 - 5.04 x0 - 0.035 x1 - 10 x2 - 3.36 (1.22 x3 - x0))`, in dollars a day.
///
/// `x0` olefin feed, `x1` isobutane recycle, `x2` acid addition, `x3` alkylate yield, `x4` octane number, `x5` acid dilution factor,
/// `x6` performance number. The equalities of the process are relaxed to bands of 1 % (10 % for the dilution), as in the source.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "alkylation",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: -1768.80713,
        points: &[&[1698.095, 15_818.61, 54.1027, 3031.225, 95.0, 1.561636, 153.5354]],
    },
    source: "Sauer, Colville & Burwick (1964); Bracken & McCormick, Selected Applications of Nonlinear Programming (1968)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    -(0.063 * x[3] * x[4] - 5.04 * x[0] - 0.035 * x[1] - 10.0 * x[2] - 3.36 * (1.22 * x[3] - x[0]))
}
