//! The tension spring: weight of wire.

use super::benchmark::{Benchmark, Constraint, Kind, Optimum, Variable, constraint, variable};

const VARIABLES: [Variable; 3] = [
    variable("wire", Kind::Log(0.05, 0.2)),
    variable("coil", Kind::Continuous(0.25, 1.3)),
    variable("turns", Kind::Integer(2, 15)),
];

const CONSTRAINTS: [Constraint; 4] = [
    constraint("deflection", "71785*wire^4 <= coil^3*turns"),
    constraint(
        "shear stress",
        "(4*coil^2 - wire*coil)/(12566*(coil*wire^3 - wire^4)) + 1/(5108*wire^2) <= 1",
    ),
    constraint("surge frequency", "140.45*wire >= coil^2*turns"),
    constraint("outer diameter", "wire + coil <= 1.5"),
];

/// `(turns + 2) coil wire^2`. The optimum is that of a whole number of turns.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "spring",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 0.012_666_021_010_678_234,
        points: &[&[0.051_897_322_666_195_546, 0.361_748_671_299_367_3, 11.0]],
    },
    source: "Belegundu (1982), Arora, Introduction to Optimum Design (1989); optimum: sequential quadratic programming for each number of turns",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    (x[2] + 2.0) * x[1] * x[0] * x[0]
}
