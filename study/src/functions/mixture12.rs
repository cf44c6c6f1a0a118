//! A mixture of eleven fractions and a catalyst.

use super::benchmark::{Benchmark, Constraint, Kind, Optimum, Variable, constraint, variable};

const VARIABLES: [Variable; 12] = [
    variable("w0", FRACTION),
    variable("w1", FRACTION),
    variable("w2", FRACTION),
    variable("w3", FRACTION),
    variable("w4", FRACTION),
    variable("w5", FRACTION),
    variable("w6", FRACTION),
    variable("w7", FRACTION),
    variable("w8", FRACTION),
    variable("w9", FRACTION),
    variable("w10", FRACTION),
    variable("catalyst", Kind::Categorical(&["none", "acid", "base", "enzyme"])),
];

const FRACTION: Kind = Kind::Continuous(0.0, 0.6);

const CONSTRAINTS: [Constraint; 3] = [
    constraint("whole", "sum(w0..w10) == 1"),
    constraint("solvents", "w0 + w1 + w2 <= 0.5"),
    constraint("stabiliser", "w3 <= 2*w4"),
];

/// The best recipe with each catalyst; each keeps the constraints, the last lies on two of them.
const RECIPES: [[f64; 11]; 4] = [
    [0.4, 0.0, 0.0, 0.0, 0.1, 0.3, 0.0, 0.0, 0.2, 0.0, 0.0],
    [0.0, 0.25, 0.0, 0.2, 0.2, 0.0, 0.15, 0.0, 0.0, 0.2, 0.0],
    [0.1, 0.1, 0.1, 0.0, 0.0, 0.2, 0.0, 0.3, 0.0, 0.1, 0.1],
    [0.3, 0.0, 0.2, 0.2, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1],
];

/// What each catalyst is worth at its best recipe.
const WORTH: [f64; 4] = [0.6, 1.5, 1.1, 2.0];

/// `6 sum (w_i - r_i)^2 + (1 - cos(6 (w_0 - w_8 - r_0 + r_8)))/2 + 8 |...| - worth`, `r` the recipe and `worth` the worth of the catalyst; in
/// the place of the dots stands the product of the distances of `w_3` and `w_5` from the recipe. Every term is at least zero and zero at the recipe.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "mixture12",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: -2.0,
        points: &[&[0.3, 0.0, 0.2, 0.2, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 3.0]],
    },
    source: "made for this project; the optimum follows from the formula, term by term",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let catalyst = x[11] as usize;
    let recipe = &RECIPES[catalyst];
    let off: Vec<f64> = x[..11].iter().zip(recipe).map(|(w, r)| w - r).collect();
    let distance: f64 = off.iter().map(|v| v * v).sum();
    6.0 * distance + 0.5 * (1.0 - (6.0 * (off[0] - off[8])).cos()) + 8.0 * (off[3] * off[5]).abs()
        - WORTH[catalyst]
}
