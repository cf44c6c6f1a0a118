//! G4: Himmelblau's nonlinear problem.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};

const VARIABLES: [Variable; 5] =
    boxed([(78.0, 102.0), (33.0, 45.0), (27.0, 45.0), (27.0, 45.0), (27.0, 45.0)]);

const CONSTRAINTS: [Constraint; 6] = [
    constraint("u lower", "85.334407 + 0.0056858*x1*x4 + 0.0006262*x0*x3 - 0.0022053*x2*x4 >= 0"),
    constraint("u upper", "85.334407 + 0.0056858*x1*x4 + 0.0006262*x0*x3 - 0.0022053*x2*x4 <= 92"),
    constraint("v lower", "80.51249 + 0.0071317*x1*x4 + 0.0029955*x0*x1 + 0.0021813*x2^2 >= 90"),
    constraint("v upper", "80.51249 + 0.0071317*x1*x4 + 0.0029955*x0*x1 + 0.0021813*x2^2 <= 110"),
    constraint("w lower", "9.300961 + 0.0047026*x2*x4 + 0.0012547*x0*x2 + 0.0019085*x2*x3 >= 20"),
    constraint("w upper", "9.300961 + 0.0047026*x2*x4 + 0.0012547*x0*x2 + 0.0019085*x2*x3 <= 25"),
];

/// `5.3578547 x2^2 + 0.8356891 x0 x4 + 37.293239 x0 - 40792.141`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g4",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: -30665.53867,
        points: &[&[78.0, 33.0, 29.995_256_025_681_6, 45.0, 36.775_812_905_788_21]],
    },
    source: "Himmelblau, Applied Nonlinear Programming (1972); g04 of Liang et al., CEC 2006",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    5.3578547 * x[2] * x[2] + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141
}
