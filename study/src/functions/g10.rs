//! G10: a heat exchanger network.

use super::benchmark::{Benchmark, Constraint, Optimum, Variable, boxed, constraint};

const AREA: (f64, f64) = (1000.0, 10_000.0);
const HEAT: (f64, f64) = (10.0, 1000.0);

const VARIABLES: [Variable; 8] = boxed([(100.0, 10_000.0), AREA, AREA, HEAT, HEAT, HEAT, HEAT, HEAT]);

const CONSTRAINTS: [Constraint; 6] = [
    constraint("c1", "0.0025*(x3 + x5) <= 1"),
    constraint("c2", "0.0025*(x4 + x6 - x3) <= 1"),
    constraint("c3", "0.01*(x7 - x4) <= 1"),
    constraint("c4", "100*x0 - x0*x5 + 833.33252*x3 <= 83333.333"),
    constraint("c5", "x1*x3 - x1*x6 - 1250*x3 + 1250*x4 <= 0"),
    constraint("c6", "x2*x4 - x2*x7 - 2500*x4 + 1250000 <= 0"),
];

/// `x0 + x1 + x2` with `x0` in `[100, 10000]`, `x1, x2` in `[1000, 10000]`, the others in `[10, 1000]`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "g10",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 7049.24802,
        points: &[&[
            579.306_685_017_979_7,
            1_359.970_678_079_356,
            5_109.970_657_431_334,
            182.017_699_630_614_6,
            295.601_173_702_746_9,
            217.982_300_369_384_5,
            286.416_525_927_868_1,
            395.601_173_702_746_7,
        ]],
    },
    source: "Hock & Schittkowski (1981), problem 106; g10 of Liang et al., CEC 2006",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    x[0] + x[1] + x[2]
}
