//! The speed reducer: weight of a gear box.

use super::benchmark::{Benchmark, Constraint, Kind, Optimum, Variable, constraint, variable};

const VARIABLES: [Variable; 7] = [
    variable("width", Kind::Continuous(2.6, 3.6)),
    variable("module", Kind::Continuous(0.7, 0.8)),
    variable("teeth", Kind::Integer(17, 28)),
    variable("length1", Kind::Continuous(7.3, 8.3)),
    variable("length2", Kind::Continuous(7.3, 8.3)),
    variable("shaft1", Kind::Continuous(2.9, 3.9)),
    variable("shaft2", Kind::Continuous(5.0, 5.5)),
];

const CONSTRAINTS: [Constraint; 11] = [
    constraint("bending of the teeth", "27 <= width*module^2*teeth"),
    constraint("surface stress", "397.5 <= width*module^2*teeth^2"),
    constraint("deflection of shaft 1", "1.93*length1^3 <= module*teeth*shaft1^4"),
    constraint("deflection of shaft 2", "1.93*length2^3 <= module*teeth*shaft2^4"),
    constraint("stress in shaft 1", "(745*length1/(module*teeth))^2 + 16900000 <= (110*shaft1^3)^2"),
    constraint("stress in shaft 2", "(745*length2/(module*teeth))^2 + 157500000 <= (85*shaft2^3)^2"),
    constraint("space", "module*teeth <= 40"),
    constraint("face width, least", "5*module <= width"),
    constraint("face width, most", "width <= 12*module"),
    constraint("shaft 1 fits", "1.5*shaft1 + 1.9 <= length1"),
    constraint("shaft 2 fits", "1.1*shaft2 + 1.9 <= length2"),
];

/// `0.7854 b m^2 (3.3333 z^2 + 14.9334 z - 43.0934) - 1.508 b (d1^2 + d2^2) + 7.4777 (d1^3 + d2^3) + 0.7854 (l1 d1^2 + l2 d2^2)`.
pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "speed-reducer",
    variables: &VARIABLES,
    constraints: &CONSTRAINTS,
    optimum: Optimum {
        value: 2994.471066,
        points: &[&[3.5, 0.7, 17.0, 7.3, 7.715_319_911_478, 3.350_214_666_096, 5.286_654_464_980]],
    },
    source: "Golinski, J. Mechanisms 8 (1973); optimum: Lin & Chang, Comput. Math. Appl. 63 (2012)",
    noise: 0.0,
    function,
};

#[allow(clippy::approx_constant, reason = "the published constants, of which the published optimum is that")]
fn function(x: &[f64]) -> f64 {
    let (width, module, teeth, length1, length2, shaft1, shaft2) = (x[0], x[1], x[2], x[3], x[4], x[5], x[6]);
    0.7854 * width * module * module * (3.3333 * teeth * teeth + 14.9334 * teeth - 43.0934)
        - 1.508 * width * (shaft1 * shaft1 + shaft2 * shaft2)
        + 7.4777 * (shaft1.powi(3) + shaft2.powi(3))
        + 0.7854 * (length1 * shaft1 * shaft1 + length2 * shaft2 * shaft2)
}
