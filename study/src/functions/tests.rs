use leafgp_solver::Domain;
use leafgp_solver::constraints::{ConstraintsBuilder, Tolerance, Variable};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{ALL, Benchmark, Kind, find, names};

/// The constraints as inequalities `value <= 0` (equalities as `|value|`), coded apart from the expressions.
fn slacks(name: &str, x: &[f64]) -> Vec<f64> {
    match name {
        "g1" => vec![
            2.0 * (x[0] + x[1]) + x[9] + x[10] - 10.0,
            2.0 * (x[0] + x[2]) + x[9] + x[11] - 10.0,
            2.0 * (x[1] + x[2]) + x[10] + x[11] - 10.0,
            x[9] - 8.0 * x[0],
            x[10] - 8.0 * x[1],
            x[11] - 8.0 * x[2],
            x[9] - 2.0 * x[3] - x[4],
            x[10] - 2.0 * x[5] - x[6],
            x[11] - 2.0 * x[7] - x[8],
        ],
        "g3" => vec![(x.iter().map(|v| v * v).sum::<f64>() - 1.0).abs()],
        "g4" => {
            let u = 85.334407 + 0.0056858 * x[1] * x[4] + 0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4];
            let v = 80.51249 + 0.0071317 * x[1] * x[4] + 0.0029955 * x[0] * x[1] + 0.0021813 * x[2] * x[2];
            let w = 9.300961 + 0.0047026 * x[2] * x[4] + 0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3];
            vec![-u, u - 92.0, 90.0 - v, v - 110.0, 20.0 - w, w - 25.0]
        }
        "g6" => {
            let from = |a: f64, b: f64| (x[0] - a).powi(2) + (x[1] - b).powi(2);
            vec![100.0 - from(5.0, 5.0), from(6.0, 5.0) - 82.81]
        }
        "g7" => vec![
            4.0 * x[0] + 5.0 * x[1] - 3.0 * x[6] + 9.0 * x[7] - 105.0,
            10.0 * x[0] - 8.0 * x[1] - 17.0 * x[6] + 2.0 * x[7],
            -8.0 * x[0] + 2.0 * x[1] + 5.0 * x[8] - 2.0 * x[9] - 12.0,
            3.0 * (x[0] - 2.0).powi(2) + 4.0 * (x[1] - 3.0).powi(2) + 2.0 * x[2].powi(2) - 7.0 * x[3] - 120.0,
            5.0 * x[0].powi(2) + 8.0 * x[1] + (x[2] - 6.0).powi(2) - 2.0 * x[3] - 40.0,
            (x[0] - 8.0).powi(2) / 2.0 + 2.0 * (x[1] - 4.0).powi(2) + 3.0 * x[4].powi(2) - x[5] - 30.0,
            x[0].powi(2) + 2.0 * (x[1] - 2.0).powi(2) - 2.0 * x[0] * x[1] + 14.0 * x[4] - 6.0 * x[5],
            -3.0 * x[0] + 6.0 * x[1] + 12.0 * (x[8] - 8.0).powi(2) - 7.0 * x[9],
        ],
        "g10" => vec![
            (x[3] + x[5]) / 400.0 - 1.0,
            (x[4] + x[6] - x[3]) / 400.0 - 1.0,
            (x[7] - x[4]) / 100.0 - 1.0,
            100.0 * x[0] - x[0] * x[5] + 833.33252 * x[3] - 83333.333,
            x[1] * (x[3] - x[6]) + 1250.0 * (x[4] - x[3]),
            x[2] * (x[4] - x[7]) - 2500.0 * x[4] + 1.25e6,
        ],
        "pressure-vessel" => {
            let volume = std::f64::consts::PI * x[2] * x[2] * (x[3] + 4.0 / 3.0 * x[2]);
            vec![0.0193 * x[2] - x[0] / 16.0, 0.00954 * x[2] - x[1] / 16.0, 1_296_000.0 - volume]
        }
        "alkylation" => {
            let makeup = 1.22 * x[3] - x[0];
            let ratio = (x[1] + makeup) / x[0];
            let acid = 98_000.0 * x[2] / (x[3] * x[5] + 1000.0 * x[2]);
            let yielded = x[0] * (1.12 + ratio * (0.13167 - 0.00667 * ratio));
            let octane = 86.35 + ratio * (1.098 - 0.038 * ratio) + 0.325 * (acid - 89.0);
            let dilution = 35.82 - 0.222 * x[6];
            let performance = 3.0 * x[4] - 133.0;
            let within = |low: f64, value: f64, high: f64| [low - value, value - high];
            [
                within(0.99 * x[3], yielded, x[3] / 0.99),
                within(0.99 * x[4], octane, x[4] / 0.99),
                within(0.9 * x[5], dilution, x[5] / 0.9),
                within(0.99 * x[6], performance, x[6] / 0.99),
                within(0.0, makeup, 2000.0),
                within(85.0, acid, 93.0),
                within(3.0, ratio, 12.0),
            ]
            .concat()
        }
        "branin-disc" => {
            vec![(x[0] - 2.5).powi(2) + (x[1] - 7.5).powi(2) - 50.0, 3.0 + 0.01 * (x[0] - 2.0).powi(3) - x[1]]
        }
        "rosenbrock6" => {
            vec![x.iter().map(|v| v * v).sum::<f64>() - 8.0, (x[0] - 1.0).powi(3) + 1.0 - x[1]]
        }
        "mixture12" => {
            vec![(x[..11].iter().sum::<f64>() - 1.0).abs(), x[0] + x[1] + x[2] - 0.5, x[3] - 2.0 * x[4]]
        }
        "welded-beam" => {
            let (h, l, t, b) = (x[0], x[1], x[2], x[3]);
            let primary = 6000.0 / (2f64.sqrt() * h * l);
            let radius = (l * l / 4.0 + ((h + t) / 2.0).powi(2)).sqrt();
            let inertia = 2.0 * 2f64.sqrt() * h * l * (l * l / 12.0 + ((h + t) / 2.0).powi(2));
            let torsion = 6000.0 * (14.0 + l / 2.0) * radius / inertia;
            let shear = primary * primary + primary * torsion * l / radius + torsion * torsion;
            let buckling = 4.013 * 30e6 * t * b.powi(3) / 6.0 / 196.0
                * (1.0 - t / 28.0 * (30e6f64 / (4.0 * 12e6)).sqrt());
            vec![
                shear / 13600f64.powi(2) - 1.0,
                6.0 * 6000.0 * 14.0 / (30_000.0 * b * t * t) - 1.0,
                h - b,
                4.0 * 6000.0 * 14f64.powi(3) / (0.25 * 30e6 * t.powi(3) * b) - 1.0,
                1.0 - buckling / 6000.0,
            ]
        }
        "speed-reducer" => {
            let pinion = x[1] * x[2];
            let shaft = |length: f64, load: f64| (745.0 * length / pinion).powi(2) + load;
            vec![
                27.0 - x[0] * x[1] * pinion,
                397.5 - x[0] * pinion * pinion,
                1.93 * x[3].powi(3) - pinion * x[5].powi(4),
                1.93 * x[4].powi(3) - pinion * x[6].powi(4),
                shaft(x[3], 16.9e6) / (110.0 * x[5].powi(3)).powi(2) - 1.0,
                shaft(x[4], 157.5e6) / (85.0 * x[6].powi(3)).powi(2) - 1.0,
                pinion - 40.0,
                5.0 * x[1] - x[0],
                x[0] - 12.0 * x[1],
                1.5 * x[5] + 1.9 - x[3],
                1.1 * x[6] + 1.9 - x[4],
            ]
        }
        "spring" => {
            let (wire, coil, turns) = (x[0], x[1], x[2]);
            let shear = coil * (4.0 * coil - wire) / (12_566.0 * wire.powi(3) * (coil - wire))
                + 1.0 / (5108.0 * wire * wire);
            vec![
                71_785.0 * wire.powi(4) - coil.powi(3) * turns,
                shear - 1.0,
                coil * coil * turns - 140.45 * wire,
                coil + wire - 1.5,
            ]
        }
        _ => Vec::new(),
    }
}

fn constraints(benchmark: &Benchmark) -> leafgp_solver::constraints::Constraints {
    let variables = benchmark
        .variables
        .iter()
        .map(|v| Variable {
            name: v.name.to_string(),
            domain: v.kind.domain(),
            level_names: match v.kind {
                Kind::Categorical(levels) => levels.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            },
        })
        .collect();
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    for constraint in benchmark.constraints {
        builder.constrain(constraint.name, constraint.expr).unwrap();
    }
    builder.build()
}

#[test]
fn the_value_at_the_known_optimum_is_the_published_one() {
    for benchmark in ALL {
        // Half a unit of the last digit published, plus what the rounding of the published point costs.
        let tolerance = match benchmark.name {
            "alkylation" => 0.05,
            "schwefel" => 1.5e-3,
            "speed-reducer" => 1e-5,
            // The published point is that of the exact function, to its last digit.
            "hartmann6-noisy" | "griewank6-noisy" => 5.0 * benchmark.noise,
            name if ["hartmann6", "g7", "g10", "g4", "g6"].contains(&name) => 5.1e-6,
            _ => 1e-6,
        };
        for point in benchmark.optimum.points {
            let value = benchmark.evaluate(point);
            assert!((value == benchmark.exact(point)) == (benchmark.noise == 0.0), "{}", benchmark.name);
            let error = (value - benchmark.optimum.value).abs();
            assert!(error <= tolerance, "{}: {value}, published {}", benchmark.name, benchmark.optimum.value);
        }
    }
}

#[test]
fn the_known_optimum_is_feasible() {
    for benchmark in ALL {
        let compiled = constraints(benchmark);
        for point in benchmark.optimum.points {
            assert!(
                benchmark.domains().iter().zip(*point).all(|(d, &v)| d.contains(v)),
                "{}",
                benchmark.name
            );
            let violated = compiled.violations(point, Tolerance::Judge);
            assert!(violated.is_empty(), "{}: {violated:?}", benchmark.name);
            let scale = point.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            for slack in slacks(benchmark.name, point) {
                assert!(slack <= 1e-6 * scale * scale, "{}: {slack}", benchmark.name);
            }
        }
    }
}

/// A point of the box; near the optimum for odd `i`, so that constraints are met and missed.
fn draw(benchmark: &Benchmark, i: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let centre = benchmark.optimum.points[0];
    let width = if i.is_multiple_of(2) { 1.0 } else { 10f64.powi(-(i as i32 % 8)) };
    benchmark
        .domains()
        .iter()
        .zip(centre)
        .map(|(domain, &centre)| {
            let (lower, upper) = domain.bounds();
            let anywhere = lower + (upper - lower) * rng.random::<f64>();
            domain.nearest(centre + width * (anywhere - centre), lower, upper).unwrap()
        })
        .collect()
}

#[test]
fn expressions_agree_with_the_independent_constraints() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for benchmark in ALL.into_iter().filter(|b| !b.constraints.is_empty()) {
        let compiled = constraints(benchmark);
        assert!(compiled.len() >= benchmark.constraints.len());
        let (mut feasible, mut infeasible) = (0, 0);
        for i in 0..400 {
            let x = draw(benchmark, i, &mut rng);
            let slacks = slacks(benchmark.name, &x);
            assert_eq!(slacks.len(), benchmark.constraints.len());
            // Near zero the tolerance decides: 1e-6 of the sides, which reach a million for the volume and the heat balances.
            let allowed = match benchmark.name {
                "pressure-vessel" | "g10" => 10.0,
                _ => 0.1,
            };
            let violated: Vec<usize> =
                compiled.violations(&x, Tolerance::Judge).iter().map(|v| v.constraint).collect();
            for (c, &slack) in slacks.iter().enumerate() {
                if slack < -1e-4 || slack > allowed {
                    assert_eq!(violated.contains(&c), slack > 0.0, "{} {c} {slack}", benchmark.name);
                }
                if slack > 0.0 { infeasible += 1 } else { feasible += 1 }
            }
        }
        assert!(infeasible > 20 && (feasible > 20 || benchmark.name == "g3"), "{}", benchmark.name);
    }
}

#[test]
fn no_sampled_feasible_point_beats_the_known_optimum() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for benchmark in ALL {
        let compiled = constraints(benchmark);
        let slack = 1e-5 * benchmark.optimum.value.abs().max(1.0) + 6.0 * benchmark.noise;
        for i in 0..2000 {
            let x = draw(benchmark, i, &mut rng);
            if compiled.violations(&x, Tolerance::Produce).is_empty() {
                let value = benchmark.evaluate(&x);
                assert!(value >= benchmark.optimum.value - slack, "{}: {value} at {x:?}", benchmark.name);
            }
        }
    }
}

#[test]
fn values_worked_by_hand() {
    let value = |name: &str, x: &[f64]| find(name).unwrap().evaluate(x);
    assert_eq!(value("rastrigin", &[1.0; 10]), 10.0);
    assert_eq!(value("styblinski-tang", &[1.0; 10]), -50.0);
    assert_eq!(value("schwefel", &[0.0; 10]), 4189.829);
    assert_eq!(value("g1", &[0.5; 13]), 5.0 * 1.0 - 4.5);
    assert_eq!(value("g6", &[13.0, 22.0]), 35.0);
    assert_eq!(value("g10", &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 6.0);
    assert!(
        (value("branin", &[0.0, 0.0]) - (36.0 + 20.0 - 10.0 / (8.0 * std::f64::consts::PI))).abs() < 1e-12
    );
    // Steps of 16 are walls of 1 inch: 0.6224*2*3 + 1.7781*4 + 3.1661*3 + 19.84*2.
    assert!((value("pressure-vessel", &[16.0, 16.0, 2.0, 3.0]) - 60.0251).abs() < 1e-9);
    assert!((value("griewank6", &[0.0; 6])).abs() < 1e-15);
    // 100 (2 - 1)^2 + 0, then 100 (1 - 4)^2 + 1, then three pairs of ones.
    assert_eq!(value("rosenbrock6", &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0]), 100.0 + 900.0 + 1.0);
    // -1.5 and -0.8, squares of 0.25, 0.25, 0.2, 0.15, 0.45, and 0.3 * |0 - 2|.
    assert!((value("steps5", &[1.0, 0.0, 0.5, 1.0, 0.0]) - (-2.3 + 0.39 + 0.6)).abs() < 1e-12);
    // (3 + 10 mod 8)/2 + (2 + 3 mod 5)/4 + 3/49 + 2 (5/7)^2 + 1.6.
    assert!(
        (value("cat8x8", &[1.0, 2.0, 0.0, 0.0, 0.0]) - (2.5 + 3.0 / 49.0 + 50.0 / 49.0 + 1.6)).abs() < 1e-12
    );
    // One layer of 0.8, dipped for 20: 2 * 2.4^2 + 0.25 + 0 + 0.5.
    assert!((value("layers", &[1.0, 0.8, 0.1, 0.1, 0.1, 0.0, 20.0, 100.0]) - 12.27).abs() < 1e-12);
    // (2 + 2) * 1 * 0.01.
    assert!((value("spring", &[0.1, 1.0, 2.0]) - 0.04).abs() < 1e-15);
    // 0.7 + 1.5*(1 + 4/4) + 0.2*4 + 1 + 0.
    assert!((value("mixed", &[0.0, 0.0, 4.0, 1.0, -1.0, 0.0, 0.5]) - 5.5).abs() < 1e-12);
}

#[test]
fn the_registry_is_sorted_and_an_unknown_name_lists_it() {
    assert!(names().windows(2).all(|pair| pair[0] < pair[1]));
    for benchmark in ALL {
        assert_eq!(find(benchmark.name).unwrap().name, benchmark.name);
        let mut seen: Vec<&str> = benchmark.variables.iter().map(|v| v.name).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), benchmark.variables.len());
        assert!(!benchmark.source.is_empty());
    }
    let message = find("g2").unwrap_err().to_string();
    assert!(
        message.contains("`g2`") && message.contains("g1, g10, g3") && message.contains("styblinski-tang")
    );
    let mixed = find("mixed").unwrap().domains();
    assert_eq!(
        (&mixed[1], &mixed[3]),
        (&Domain::Categorical { levels: 5 }, &Domain::Integer { lower: 0.0, upper: 10.0 })
    );
}
