//! Every operation of the language, over boxes and at their points.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::super::form::Form;
use super::super::values::Values;
use super::Forward;
use leafgp_constraints::statement::NumberId;
use leafgp_constraints::{
    Constraints, ConstraintsBuilder, Domain, Grid, LevelSet, Limits, Range, Region, Tolerance, Variable,
};

/// Every operation and condition of the language, over two numbers, a grid, a whole number and a category.
const TEXTS: [&str; 26] = [
    "x*y - 3*x <= y/4",
    "x^2 + y^2 == 1.5",
    "x^3 - y^3 < 0.7",
    "(x + y)^4 >= 2",
    "x^-2 <= y",
    "x^-3 + y >= 0",
    "(x + 2)^0.5 < y",
    "(y + 2)^1.7 <= 3*x",
    "2^x - 0.5^y >= 1",
    "exp(x) + log(y + 1.5) <= 2",
    "sqrt(x + 1) * sqrt(y + 1) > 1",
    "abs(x) + abs(y - 0.3) <= 0.9",
    "min(x, y) * max(x, y) >= 0.2",
    "floor(3*x) + ceil(2*y) == 2",
    "if(x > y, x*x, y - n) <= 0.4",
    "x / (y - 0.2) >= 3",
    "(x - y) / (x + y + 0.1) < 0.2",
    "g + n == 2.3",
    "g - n < 0.2",
    "not (x <= y and n > 1)",
    "x > 0.5 or c == 'a' or n == 0",
    "c in ['b', 'c'] implies y >= 0.4",
    "x != y",
    "count(x > 0, y > 0, n > 1) >= 2",
    "x in {0.5, 0.7..0.9}",
    "g*x + n*y <= whole",
];

fn set(text: &str) -> Constraints {
    let number = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let continuous = || Domain::Continuous { lower: -2.0, upper: 2.0 };
    let names = ["a", "b", "c"].map(str::to_string).to_vec();
    let variables = vec![
        number("x", continuous()),
        number("y", continuous()),
        number("g", Domain::Grid(Grid::new(-10, 1, 1, 31).unwrap())),
        number("n", Domain::Integer { lower: -1.0, upper: 3.0 }),
        Variable { name: "c".into(), domain: Domain::Categorical { levels: 3 }, level_names: names },
    ];
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    if text.contains("whole") {
        builder.define("whole", "2*x + g", true).unwrap();
    }
    builder.constrain(text, text).unwrap();
    builder.build()
}

fn random_region(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Region {
    let width = [0.0, 1e-15, 0.01, 0.3, 4.0][rng.random_range(0..5)];
    let range = |domain: &Domain| match domain {
        Domain::Categorical { levels } => {
            let first = rng.random_range(0..*levels);
            Range::Levels(LevelSet::from_indices(*levels, (0..*levels).filter(|&l| l >= first)))
        }
        _ => {
            let (lower, upper) = domain.bounds();
            let at = domain.nearest(rng.random_range(lower..=upper), lower, upper).unwrap();
            let (lower, upper) = domain.within(at, at + width).unwrap();
            Range::Interval { lower, upper }
        }
    };
    Region(domains.iter().map(range).collect())
}

fn random_point(rng: &mut ChaCha8Rng, domains: &[Domain], region: &Region) -> Vec<f64> {
    let coordinate = |(range, domain): (&Range, &Domain)| match range {
        Range::Levels(kept) => {
            let levels: Vec<usize> = kept.iter().collect();
            levels[rng.random_range(0..levels.len())] as f64
        }
        Range::Interval { lower, upper } => {
            let x = match rng.random_range(0..4) {
                0 => *lower,
                1 => *upper,
                _ => lower + rng.random::<f64>() * (upper - lower),
            };
            domain.nearest(x, *lower, *upper).unwrap()
        }
    };
    region.0.iter().zip(domains).map(coordinate).collect()
}

fn at(domains: &[Domain], x: &[f64]) -> Region {
    let range = |(domain, &x): (&Domain, &f64)| match domain {
        Domain::Categorical { levels } => Range::Levels(LevelSet::from_indices(*levels, [x as usize])),
        _ => Range::Interval { lower: x, upper: x },
    };
    Region(domains.iter().zip(x).map(range).collect())
}

/// Numbers of every operation of a root.
fn numbers(forward: &Forward<'_>, region: &Region) -> Vec<Values> {
    let mut values = vec![Values::ANY; forward.statement.numbers.len()];
    for root in &forward.roots {
        let known = forward.known(&root.numbers, region);
        for &k in &root.numbers {
            values[k as usize] = known.values(NumberId(k));
        }
    }
    values
}

/// Boxes from single points to the whole space: at points inside, each operation's value lies within the box's and within its linear form, and a
/// constraint that is said to fail does, by the evaluation that decides what is feasible.
#[test]
fn what_holds_for_a_box_holds_at_its_points() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut all_checked = 0;
    for text in TEXTS {
        let set = set(text);
        let domains = set.domains();
        let forward = Forward::new(set.statement());
        let (mut failures, mut checked) = (0, 0);
        for _ in 0..1500 {
            let region = random_region(&mut rng, domains);
            let over = numbers(&forward, &region);
            let fails = (0..forward.n_roots()).any(|root| forward.fails(root, &region));
            failures += u32::from(fails);
            let forms = forward.row_forms(&region);
            for _ in 0..6 {
                let x = random_point(&mut rng, domains, &region);
                let point = at(domains, &x);
                let feasible = set.is_feasible(&x, Tolerance::Produce);
                assert!(!(fails && feasible), "`{text}` at {x:?} in {region:?}");
                // At a point the check is the evaluation.
                let decided = (0..forward.n_roots()).any(|root| forward.fails(root, &point));
                assert_eq!(decided, !feasible, "`{text}` at {x:?}");
                let inside = numbers(&forward, &point);
                for (value, over) in inside.iter().zip(&over).filter(|(value, _)| value.is_point()) {
                    assert!(
                        over.low <= value.low && value.high <= over.high,
                        "`{text}` at {x:?}: {value:?} outside {over:?}"
                    );
                }
                for (row, form) in forward.rows.iter().zip(&forms) {
                    let (a, b) = (inside[row.a.0 as usize], inside[row.b.0 as usize]);
                    let Some(form) = form else { continue };
                    if !(a.is_point() && b.is_point())
                        || set.statement().grid_rows.contains_key(&row.condition)
                    {
                        continue;
                    }
                    checked += 1;
                    assert_within(&form.difference, &region, &x, a.low - b.low, text);
                }
            }
        }
        let least = if text.contains("!=") { 0 } else { 1 };
        assert!(failures >= least, "`{text}`: only {failures} boxes fail");
        all_checked += checked;
    }
    assert!(all_checked > 50_000, "{all_checked} forms");
}

/// Equalities of every kind, with points that hold or fail by a little: at a point the check and the evaluation agree about the tolerance to the last digit, and
/// neither a box nor a single row excludes a point that the evaluation accepts.
#[test]
fn tolerances_of_equalities_are_those_of_the_evaluation() {
    const EQUALITIES: [&str; 18] = [
        "x - y == 0",
        "x + 2*y == 1e-9",
        "x*y == 1e-12",
        "(x + y - 1) * (x - 0.25) == 0",
        "x / (y + 3) == 0.25",
        "(x + 2*y) / 3 == 0.001 * x",
        "(x + 3)^1.5 == 4",
        "x^3 == y^2",
        "sqrt(x + 2) - y == 0",
        "log(x + 3) == y",
        "exp(x) == 1.5 + y",
        "2^x - log10(y + 3) == 0.5",
        "if(x > y, x*x, 2*y) == 0.3",
        "abs(x - y) == 1e-4",
        "max(x, y) - min(x, y) == 0.25",
        "x + n == g",
        "n*n*n == 3*n*n - 2*n",
        "1e9*n + floor(x) == 1000000001",
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for text in EQUALITIES {
        let set = set(text);
        let domains = set.domains();
        let forward = Forward::new(set.statement());
        let mut counts = [0_usize; 2];
        for _ in 0..150 {
            let full = Region::full(domains);
            let centre = random_point(&mut rng, domains, &full);
            let limits = Limits { nodes: 300, ..Limits::default() };
            let Some((found, _)) = set.project(&full, &centre, 1e-3, limits).nearest else { continue };
            for share in [0.0, 1e-16, 1e-12, 3e-10, 1e-9, 3e-9, 1e-6, 0.1, 1.5] {
                let moved = |(domain, &v): (&Domain, &f64)| {
                    let (lower, upper) = domain.bounds();
                    domain.nearest(v + share * rng.random_range(-1.0..1.0), lower, upper).unwrap()
                };
                let x: Vec<f64> = domains.iter().zip(&found).map(moved).collect();
                let feasible = set.is_feasible(&x, Tolerance::Produce);
                counts[usize::from(feasible)] += 1;
                assert_eq!(forward.fails(0, &at(domains, &x)), !feasible, "`{text}` at {x:?}");
                let width = [1e-15, 1e-9, 1e-4, 1.0][rng.random_range(0..4)];
                let around = |(domain, &v): (&Domain, &f64)| match domain {
                    Domain::Categorical { levels } => {
                        Range::Levels(LevelSet::from_indices(*levels, 0..*levels))
                    }
                    _ => {
                        let (lower, upper) = domain.within(v - width, v + width).unwrap();
                        Range::Interval { lower, upper }
                    }
                };
                let region = Region(domains.iter().zip(&x).map(around).collect());
                let forms = forward.row_forms(&region);
                let refuted = forward.fails(0, &region)
                    || (0..forms.len() as u16)
                        .any(|row| [1.0, -1.0].iter().any(|&m| forward.contradicts(&forms, &[(row, m)])));
                assert!(!(refuted && feasible), "`{text}` at {x:?} in {region:?}");
            }
        }
        assert!(counts.iter().all(|&n| n > 20), "`{text}`: {counts:?}");
    }
}

/// Whole numbers beyond what f64 tells apart: boxes are refuted exactly where `i128` says so.
#[test]
fn whole_rows_are_refuted_exactly() {
    let number = |name: &str| Variable {
        name: name.into(),
        domain: Domain::Integer { lower: -3e9, upper: 3e9 },
        level_names: Vec::new(),
    };
    let mut builder = ConstraintsBuilder::new(vec![number("n"), number("m"), number("k")]).unwrap();
    let rule = "n * m == k * k + 16*k + 63";
    builder.constrain(rule, rule).unwrap();
    let set = builder.build();
    let forward = Forward::new(set.statement());
    let exactly = |x: [f64; 3]| {
        let [n, m, k] = x.map(|v| v as i128);
        n * m == k * k + 16 * k + 63
    };
    for off in -3_i32..=3 {
        let x = [1e9 + 7.0, 1e9 + 9.0, 1e9 + f64::from(off)];
        assert_eq!(exactly(x), off == 0);
        assert_eq!(forward.fails(0, &at(set.domains(), &x)), off != 0, "{off}");
        assert_eq!(set.is_feasible(&x, Tolerance::Produce), off == 0, "{off}");
        let around = x.map(|v| Range::Interval { lower: v - 1.0, upper: v + 1.0 });
        let region = Region(around.to_vec());
        let forms = forward.row_forms(&region);
        let refuted = forward.fails(0, &region) || forward.contradicts(&forms, &[(0, 1.0)]);
        // With k + 1 = 1e9 - 1 there is (1e9 + 6)(1e9 + 8); below, the smallest product is too large.
        assert_eq!(refuted, off.abs() > 2, "around {x:?}");
    }
}

fn assert_within(form: &Form, region: &Region, x: &[f64], value: f64, text: &str) {
    let mut linear = form.centre;
    for ((slope, range), x) in form.slopes.iter().zip(&region.0).zip(x) {
        if let Range::Interval { lower, upper } = range {
            let middle = 0.5 * lower + 0.5 * upper;
            let radius = (upper - middle).max(middle - lower).next_up();
            linear += if *slope == 0.0 { 0.0 } else { slope * ((x - middle) / radius) };
        }
    }
    let rounding = 1e-15 * (1.0 + form.centre.abs() + form.reach());
    assert!(
        (value - linear).abs() <= form.error + rounding,
        "`{text}` at {x:?}: {value} is {:e} off {linear}, error {:e}",
        value - linear,
        form.error
    );
}

/// Two half-planes that miss each other within the box, though each meets it.
#[test]
fn sums_of_rows_prove_what_no_row_does() {
    let set = {
        let mut builder = ConstraintsBuilder::new(
            ["x", "y"]
                .map(|name| Variable {
                    name: name.into(),
                    domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
                    level_names: Vec::new(),
                })
                .to_vec(),
        )
        .unwrap();
        builder.constrain("a", "x + y <= 0.9").unwrap();
        builder.constrain("b", "2*x + 2*y == 2").unwrap();
        builder.build()
    };
    let forward = Forward::new(set.statement());
    let region = Region::full(set.domains());
    let forms = forward.row_forms(&region);
    assert!(!forward.fails(0, &region) && !forward.fails(1, &region));
    assert!(forward.contradicts(&forms, &[(0, 2.0), (1, -1.0)]));
    // Wrong signs, weights that do not cancel, rows that do not exist.
    for multipliers in [
        &[(0, 2.0), (1, 1.0)][..],
        &[(0, -2.0), (1, 1.0)],
        &[(0, 1.0), (1, -1.0)],
        &[(0, 2.0), (2, -1.0)],
        &[(0, f32::INFINITY), (1, -1.0)],
        &[],
    ] {
        assert!(!forward.contradicts(&forms, multipliers), "{multipliers:?}");
    }
}
