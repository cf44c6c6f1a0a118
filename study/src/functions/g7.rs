//! G7: a convex quadratic function of ten variables under eight constraints.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, constraint, cube};

const VARIABLES: [Variable; 10] = cube(-10.0, 10.0);

const CONSTRAINTS: [Constraint; 8] = [
    constraint("c1", "4*x0 + 5*x1 - 3*x6 + 9*x7 <= 105"),
    constraint("c2", "10*x0 - 8*x1 - 17*x6 + 2*x7 <= 0"),
    constraint("c3", "-8*x0 + 2*x1 + 5*x8 - 2*x9 <= 12"),
    constraint("c4", "3*(x0 - 2)^2 + 4*(x1 - 3)^2 + 2*x2^2 - 7*x3 <= 120"),
    constraint("c5", "5*x0^2 + 8*x1 + (x2 - 6)^2 - 2*x3 <= 40"),
    constraint("c6", "0.5*(x0 - 8)^2 + 2*(x1 - 4)^2 + 3*x4^2 - x5 <= 30"),
    constraint("c7", "x0^2 + 2*(x1 - 2)^2 - 2*x0*x1 + 14*x4 - 6*x5 <= 0"),
    constraint("c8", "-3*x0 + 6*x1 + 12*(x8 - 8)^2 - 7*x9 <= 0"),
];

/// `x0^2 + x1^2 + x0 x1 - 14 x0 - 16 x1 + (x2 - 10)^2 + 4 (x3 - 5)^2 + (x4 - 3)^2 + 2 (x5 - 1)^2 + 5 x6^2 + 7 (x7 - 11)^2 +
/// 2 (x8 - 10)^2 + (x9 - 7)^2 + 45` on `[-10, 10]^10`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g7",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 24.30621,
        points: &[&[
            2.171_996_370_713_807,
            2.363_683_021_813_818,
            8.773_925_738_481_3,
            5.095_984_487_901_285,
            0.990_654_776_597_872_9,
            1.430_573_986_166_617_1,
            1.321_644_154_211_812,
            9.828_725_807_830_494,
            8.280_091_704_009_077,
            8.375_926_663_870_15,
        ]],
    },
    source: "Hock & Schittkowski (1981), problem 113; g07 of Liang et al., CEC 2006",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let square = |v: f64| v * v;
    square(x[0]) + square(x[1]) + x[0] * x[1] - 14.0 * x[0] - 16.0 * x[1]
        + square(x[2] - 10.0)
        + 4.0 * square(x[3] - 5.0)
        + square(x[4] - 3.0)
        + 2.0 * square(x[5] - 1.0)
        + 5.0 * square(x[6])
        + 7.0 * square(x[7] - 11.0)
        + 2.0 * square(x[8] - 10.0)
        + square(x[9] - 7.0)
        + 45.0
}
