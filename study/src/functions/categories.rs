//! Two categories of eight levels that interact.

use super::benchmark::{Benchmark, Kind, Optimum, Variable, variable};

const VARIABLES: [Variable; 5] = [
    variable("ligand", Kind::Categorical(&["a", "b", "c", "d", "e", "f", "g", "h"])),
    variable("solvent", Kind::Categorical(&["p", "q", "r", "s", "t", "u", "v", "w"])),
    variable("load", Kind::Continuous(0.0, 1.0)),
    variable("heat", Kind::Continuous(0.0, 1.0)),
    variable("cycles", Kind::Integer(0, 10)),
];

/// With `i` the ligand's index and `j` the solvent's:
/// `(3i + 5j mod 8)/2 + (ij + 3 mod 5)/4 + 3 (load - i/7)^2 + 2 (heat - (7 - j)/7)^2 + (cycles - 4)^2/10`.
///
/// The table of the categories is smallest, 1/2, for `i = j` in 2, 3, 7 (`5 = -3` modulo 8, so that its first term is zero for `i = j` only and at
/// least 1/2 otherwise; squares are 0, 1, 4 modulo 5; with a first term of 1/2 the second is never 0).
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "cat8x8",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum {
        value: 0.5,
        points: &[
            &[2.0, 2.0, 2.0 / 7.0, 5.0 / 7.0, 4.0],
            &[3.0, 3.0, 3.0 / 7.0, 4.0 / 7.0, 4.0],
            &[7.0, 7.0, 1.0, 0.0, 4.0],
        ],
    },
    source: "made for categories; the optimum follows from the formula",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let table = (3.0 * x[0] + 5.0 * x[1]) % 8.0 / 2.0 + (x[0] * x[1] + 3.0) % 5.0 / 4.0;
    table
        + 3.0 * (x[2] - x[0] / 7.0).powi(2)
        + 2.0 * (x[3] - (7.0 - x[1]) / 7.0).powi(2)
        + (x[4] - 4.0).powi(2) / 10.0
}
