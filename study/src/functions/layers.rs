//! A coating of one to four layers, dipped or spun: variables that exist under conditions.

use super::benchmark::{Benchmark, Kind, Optimum, Variable, conditional, variable};

const VARIABLES: [Variable; 8] = [
    variable("layers", Kind::Integer(1, 4)),
    variable("t1", THICKNESS),
    conditional("t2", THICKNESS, "layers >= 2"),
    conditional("t3", THICKNESS, "layers >= 3"),
    conditional("t4", THICKNESS, "layers >= 4"),
    variable("method", Kind::Categorical(&["dip", "spin"])),
    conditional("dwell", Kind::Continuous(1.0, 60.0), "method == 'dip'"),
    conditional("speed", Kind::Log(100.0, 10_000.0), "method == 'spin'"),
];

const THICKNESS: Kind = Kind::Continuous(0.1, 2.0);

/// `2 (sum t_k - 3.2)^2 + layers/4 + sum (t_k - 0.6 - 0.2 k)^2` over the layers that exist, plus `1/2 + ((dwell - 20)/30)^2` for dipping or
/// `1/5 + (log10(speed) - 3.3)^2 / 2` for spinning.
///
/// With `n` layers all thicknesses lie the same `e` off their targets. Three: `e = 2/35`, `2 (1/35)^2 + 3 (2/35)^2 = 0.0114286`, in all 0.9614286;
/// two cost 1.484, four 1.52, one more than two.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "layers",
    variables: &VARIABLES,
    constraints: &[],
    optimum: Optimum {
        value: 0.95 + 0.4 / 35.0,
        points: &[&[
            3.0,
            0.8 + 2.0 / 35.0,
            1.0 + 2.0 / 35.0,
            1.2 + 2.0 / 35.0,
            0.1,
            1.0,
            1.0,
            1_995.262_314_968_879_6,
        ]],
    },
    source: "made for conditional variables; the optimum follows from the formula",
    noise: 0.0,
    function,
};

fn function(x: &[f64]) -> f64 {
    let thicknesses = &x[1..=x[0] as usize];
    let total: f64 = thicknesses.iter().sum();
    let uneven: f64 = (1..).zip(thicknesses).map(|(k, t)| (t - 0.6 - 0.2 * f64::from(k)).powi(2)).sum();
    let method = if x[5] == 0.0 {
        0.5 + ((x[6] - 20.0) / 30.0).powi(2)
    } else {
        0.2 + 0.5 * (x[7].log10() - 3.3).powi(2)
    };
    2.0 * (total - 3.2).powi(2) + 0.25 * x[0] + uneven + method
}
