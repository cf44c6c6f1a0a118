//! Branin's function on a disc less what lies below a cubic: its three minima are cut off.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};
use super::branin;

const VARIABLES: [Variable; 2] = boxed([(-5.0, 10.0), (0.0, 15.0)]);

const CONSTRAINTS: [Constraint; 2] = [
    constraint("disc", "(x0 - 2.5)^2 + (x1 - 7.5)^2 <= 50"),
    constraint("cubic", "x1 >= 3 + 0.01*(x0 - 2)^3"),
];

/// [Branin's function](branin) where `(x0 - 2.5)^2 + (x1 - 7.5)^2 <= 50` and `x1 >= 3 + 0.01 (x0 - 2)^3`. Two basins: the best point on the
/// disc's edge, and one on the cubic with 0.83.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "branin-disc",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum { value: VALUE, points: &[&POINT] },
    source: "made for this project; optimum: sequential quadratic programming from 300 random points",
    noise: 0.0,
    function: branin::function,
};

const VALUE: f64 = 0.466_441_531_161_18;
const POINT: [f64; 2] = [-3.039_156_987_336_037, 11.895_195_088_917_7];
