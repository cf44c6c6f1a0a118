//! The welded beam: cost of a weld and a bar that carry a load.

use super::benchmark::{Benchmark, Constraint, Kind, Optimum, Variable, constraint, variable};

const VARIABLES: [Variable; 4] = [
    variable("h", Kind::Continuous(0.1, 2.0)),
    variable("l", Kind::Continuous(0.1, 10.0)),
    variable("t", Kind::Continuous(0.1, 10.0)),
    variable("b", Kind::Continuous(0.1, 2.0)),
];

/// Primary stress `p = 6000/(sqrt 2 h l)`, torsional stress `q = M R / J` with `M = 6000 (14 + l/2)`, `R^2 = l^2/4 + ((h+t)/2)^2`,
/// `J = 2 sqrt 2 h l (l^2/12 + ((h+t)/2)^2)`; together `p^2 + p q l/R + q^2`.
const CONSTRAINTS: [Constraint; 5] = [
    constraint(
        "shear stress",
        "(6000/(1.4142135623730951*h*l))^2 + 6000/(1.4142135623730951*h*l) * l * 6000*(14 + l/2)/(2.8284271247461903*h*l*(l^2/12 + ((h + t)/2)^2)) \
         + (6000*(14 + l/2))^2*(l^2/4 + ((h + t)/2)^2)/(2.8284271247461903*h*l*(l^2/12 + ((h + t)/2)^2))^2 <= 184960000",
    ),
    constraint("bending stress", "504000 <= 30000*b*t^2"),
    constraint("weld fits the bar", "h <= b"),
    constraint("deflection", "65856000 <= 0.25*30000000*b*t^3"),
    constraint("buckling", "102372.44897959183*(1 - 0.0282346219657891*t)*t*b^3 >= 6000"),
];

/// `1.10471 h^2 l + 0.04811 t b (14 + l)`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "welded-beam",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 1.724_852_308_6,
        points: &[&[
            0.205_729_639_785_130_9,
            3.470_488_665_651_46,
            9.036_623_910_361_02,
            0.205_729_639_786_130_68,
        ]],
    },
    source: "Ragsdell & Phillips, J. Eng. Ind. 98 (1976); constants as in Coello, Comput. Ind. 41 (2000)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let (h, l, t, b) = (x[0], x[1], x[2], x[3]);
    1.10471 * h * h * l + 0.04811 * t * b * (14.0 + l)
}
