//! The pressure vessel: cost of a cylinder with two heads, walls in steps of 1/16 inch.

use super::benchmark::{Benchmark, Constraint, Kind, Optimum, Variable, constraint, variable};

const VARIABLES: [Variable; 4] = [
    variable("shell_steps", Kind::Integer(1, 99)),
    variable("head_steps", Kind::Integer(1, 99)),
    variable("radius", Kind::Continuous(10.0, 200.0)),
    variable("length", Kind::Continuous(10.0, 200.0)),
];

const CONSTRAINTS: [Constraint; 3] = [
    constraint("hoop stress", "0.0193*radius <= 0.0625*shell_steps"),
    constraint("axial stress", "0.00954*radius <= 0.0625*head_steps"),
    constraint("volume", "3.141592653589793*length*radius^2 + 4/3*3.141592653589793*radius^3 >= 1296000"),
];

/// `0.6224 Ts R L + 1.7781 Th R^2 + 3.1661 Ts^2 L + 19.84 Ts^2 R` with `Ts, Th` a sixteenth of the steps, `R` radius, `L` length.
///
/// The paper's published code uses the length in the second constraint and the raw step count in the first term of the cost.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "pressure-vessel",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 6059.714335,
        points: &[&[13.0, 7.0, 42.098_445_595_854_9, 176.636_595_842_439_4]],
    },
    source: "Kannan & Kramer, J. Mech. Des. 116 (1994); optimum: Yang et al., Int. J. Bio-Inspired Comp. 5 (2013)",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let (shell, head, radius, length) = (0.0625 * x[0], 0.0625 * x[1], x[2], x[3]);
    0.6224 * shell * radius * length
        + 1.7781 * head * radius * radius
        + 3.1661 * shell * shell * length
        + 19.84 * shell * shell * radius
}
