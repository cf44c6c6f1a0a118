//! Sets without an interior: points, edges and faces where constraints meet, and sets that miss each other by as little. What is right is known from how each set
//! was made, in whole thousandths.

use std::fmt::Write;
use std::time::Instant;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Decision, Limits, Tolerance, Variable};
use leafgp_constraints::{Domain, Grid, Range, Region};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A set as text, and whether it has a point.
#[derive(Clone, Debug)]
struct Case {
    kind: &'static str,
    domains: Vec<Domain>,
    rows: Vec<String>,
    feasible: bool,
}

impl Case {
    fn build(&self) -> Constraints {
        let variable = |(i, domain): (usize, &Domain)| Variable {
            name: format!("x{i}"),
            domain: domain.clone(),
            level_names: Vec::new(),
        };
        let variables = self.domains.iter().enumerate().map(variable).collect();
        let mut builder = ConstraintsBuilder::new(variables).unwrap();
        for (k, text) in self.rows.iter().enumerate() {
            builder.constrain(&format!("row {k}"), text).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
        builder.build()
    }
}

/// Thousandths as text.
fn thousandths(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", n.abs() / 1000, n.abs() % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn value(n: i64) -> f64 {
    thousandths(n).parse().unwrap()
}

fn continuous(lower: i64, upper: i64) -> Domain {
    Domain::Continuous { lower: value(lower), upper: value(upper) }
}

/// `sum a_i x_i`, coefficients in whole numbers.
fn sum(terms: &[(usize, i64)]) -> String {
    let mut text = String::new();
    for (k, &(v, a)) in terms.iter().enumerate() {
        let sign = if a < 0 { "-" } else { "+" };
        if k > 0 || a < 0 {
            write!(text, " {sign} ").unwrap();
        }
        if a.abs() == 1 {
            write!(text, "x{v}").unwrap();
        } else {
            write!(text, "{}*x{v}", a.abs()).unwrap();
        }
    }
    text
}

/// A positive multiple of `unit` thousandths.
fn step(rng: &mut ChaCha8Rng) -> i64 {
    let unit = [1, 10, 50, 100, 125, 250, 500][rng.random_range(0..7)];
    unit * rng.random_range(1..=9)
}

/// By how much an infeasible set misses.
fn miss(rng: &mut ChaCha8Rng) -> i64 {
    [1, 1, 2, 10][rng.random_range(0..4)]
}

/// Experiments one after the other that just fit in the time they have, in either order of terms.
fn slots(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(2..=7);
    let gaps: Vec<i64> = (1..n).map(|_| step(rng)).collect();
    let start = rng.random_range(0..5) * 100;
    let feasible: bool = rng.random();
    let end = start + gaps.iter().sum::<i64>() - if feasible { 0 } else { miss(rng).min(gaps[0]) };
    let rows = gaps
        .iter()
        .enumerate()
        .map(|(k, &gap)| match rng.random_range(0..4) {
            0 => format!("x{} - x{k} >= {}", k + 1, thousandths(gap)),
            1 => format!("x{k} + {} <= x{}", thousandths(gap), k + 1),
            2 => format!("x{k} <= x{} - {}", k + 1, thousandths(gap)),
            _ => format!("2*x{} >= 2*x{k} + {}", k + 1, thousandths(2 * gap)),
        })
        .collect();
    Case { kind: "slots", domains: vec![continuous(start, end); n], rows, feasible }
}

/// Sums that only a corner of the box keeps; some variables are free.
fn corner(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(1..=6);
    let lower: Vec<i64> = (0..n).map(|_| rng.random_range(-3..8) * 100 + rng.random_range(0..3)).collect();
    let mut domains: Vec<Domain> =
        lower.iter().map(|&l| continuous(l, l + 500 * rng.random_range(1..4))).collect();
    domains.push(continuous(0, 1000));
    let terms: Vec<(usize, i64)> = (0..n).map(|v| (v, rng.random_range(1..4))).collect();
    let least: i64 = terms.iter().map(|&(v, a)| a * lower[v]).sum();
    let feasible: bool = rng.random();
    let bound = least - if feasible { 0 } else { miss(rng) };
    Case {
        kind: "corner",
        domains,
        rows: vec![format!("{} <= {}", sum(&terms), thousandths(bound))],
        feasible,
    }
}

/// Half spaces that touch along a face, or in a point: each row holds with equality at a common point, and the rows add up to nothing.
fn half_spaces(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(2..=5);
    let point: Vec<i64> = (0..n).map(|_| rng.random_range(100..900)).collect();
    let m = rng.random_range(1..=3);
    let mut normals: Vec<Vec<i64>> =
        (0..m).map(|_| (0..n).map(|_| rng.random_range(-3..=3)).collect()).collect();
    normals.iter_mut().for_each(|a| a[0] = if a[0] == 0 { 1 } else { a[0] });
    let mut last: Vec<i64> = (0..n).map(|v| -normals.iter().map(|a| a[v]).sum::<i64>()).collect();
    if last.iter().all(|&a| a == 0) {
        last.clone_from(&normals[0]);
        normals.push(last.iter().map(|a| -a).collect());
    } else {
        normals.push(last);
    }
    let feasible: bool = rng.random();
    let at = if feasible { usize::MAX } else { rng.random_range(0..normals.len()) };
    let by = miss(rng);
    let row = |(k, a): (usize, &Vec<i64>)| {
        let terms: Vec<(usize, i64)> = a.iter().copied().enumerate().filter(|&(_, a)| a != 0).collect();
        let bound: i64 = a.iter().zip(&point).map(|(a, x)| a * x).sum::<i64>() - if k == at { by } else { 0 };
        format!("{} <= {}", sum(&terms), thousandths(bound))
    };
    let rows = normals.iter().enumerate().map(row).collect();
    Case { kind: "half spaces", domains: vec![continuous(0, 1000); n], rows, feasible }
}

/// Sums of squares that are zero at one point, inside the box, at its edge or outside.
fn squares(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(1..=5);
    let outside = rng.random_bool(0.4);
    let mut point: Vec<i64> = (0..n).map(|_| 100 * rng.random_range(0..=10)).collect();
    if outside {
        point[0] = 1000 + miss(rng);
    }
    let terms: Vec<String> = point
        .iter()
        .enumerate()
        .map(|(v, &p)| format!("{}*(x{v} - {})^2", rng.random_range(1..4), thousandths(p)))
        .collect();
    let rows = vec![format!("{} <= 0", terms.join(" + "))];
    Case { kind: "squares", domains: vec![continuous(0, 1000); n + 1], rows, feasible: !outside }
}

/// A cone whose apex alone is left.
fn cone(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(2..=4);
    let apex: Vec<i64> = (0..n).map(|_| 50 * rng.random_range(2..18)).collect();
    let terms: Vec<String> = (1..n).map(|v| format!("(x{v} - {})^2", thousandths(apex[v]))).collect();
    let mut rows = if rng.random() {
        vec![format!("{} <= (x0 - {})^2", terms.join(" + "), thousandths(apex[0]))]
    } else {
        vec![format!("sqrt({}) <= x0 - {}", terms.join(" + "), thousandths(apex[0]))]
    };
    rows.push(format!("x0 <= {}", thousandths(apex[0])));
    rows.push(format!("x0 >= {}", thousandths(apex[0] - rng.random_range(0..2))));
    let feasible: bool = rng.random();
    if !feasible {
        rows.push(format!("x1 >= {}", thousandths(apex[1] + 10)));
        rows.push(format!("x0 >= {}", thousandths(apex[0] - 5)));
    }
    Case { kind: "cone", domains: vec![continuous(0, 1000); n + 1], rows, feasible }
}

/// Two balls, or a ball and a half space, that touch in a point: the centres are as far apart as a triangle of whole sides says.
fn touching(rng: &mut ChaCha8Rng) -> Case {
    let (a, b, c) = [(3, 4, 5), (4, 3, 5), (-3, 4, 5), (7, 24, 25), (8, 6, 10)][rng.random_range(0..5)];
    let unit = [1, 2, 4, 5][rng.random_range(0..4)];
    let first = unit * rng.random_range(1..5);
    let second = unit * rng.random_range(1..5);
    let centre = [400, 200];
    let other = [centre[0] + a * (first + second), centre[1] + b * (first + second)];
    let feasible: bool = rng.random();
    let short = if feasible { 0 } else { 1 };
    let ball = |p: [i64; 2], radius: i64| {
        let r = i128::from(radius);
        format!(
            "(x0 - {})^2 + (x1 - {})^2 <= {}",
            thousandths(p[0]),
            thousandths(p[1]),
            r as f64 * r as f64 / 1e6
        )
    };
    let mut rows = vec![ball(centre, c * first)];
    if rng.random() {
        rows.push(ball(other, c * second - short));
    } else {
        // a (x - cx) + b (y - cy) >= c radius.
        let bound = a * centre[0] + b * centre[1] + c * c * first + short;
        rows.push(format!("{} >= {}", sum(&[(0, a), (1, b)]), thousandths(bound)));
    }
    Case { kind: "touching", domains: vec![continuous(-2000, 4000); 2], rows, feasible }
}

/// Grids with an equation; counted out.
fn grid(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(2..=4);
    let step: i64 = [50, 100, 125, 200][rng.random_range(0..4)];
    let top = 1000 / step;
    let a: Vec<i64> = (0..n).map(|_| rng.random_range(1..=4)).collect();
    let total = rng.random_range(1..=3) * 500 + if rng.random() { 0 } else { step / 2 };
    let domain = Domain::Grid(Grid::new(0, step, 3, top as u64 + 1).unwrap());
    let mut counts = vec![0; n];
    let mut feasible = false;
    'all: loop {
        if counts.iter().zip(&a).map(|(k, a)| k * a * step).sum::<i64>() == total {
            feasible = true;
            break;
        }
        for k in &mut counts {
            *k += 1;
            if *k <= top {
                continue 'all;
            }
            *k = 0;
        }
        break;
    }
    let terms: Vec<(usize, i64)> = a.into_iter().enumerate().collect();
    let rows = vec![
        format!("{} <= {}", sum(&terms), thousandths(total)),
        format!("{} >= {}", sum(&terms), thousandths(total)),
    ];
    Case { kind: "grid", domains: vec![domain; n], rows, feasible }
}

/// Circles of comparisons, strict and not, over sums of two variables; offsets add up to nothing.
fn circle(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(2..=5);
    let sums: Vec<String> = (0..n)
        .map(|v| match rng.random_range(0..3) {
            0 => format!("x{v} + x{n}"),
            1 => format!("0.5*x{v}"),
            _ => format!("4*x{v} - x{n}"),
        })
        .collect();
    let mut offsets: Vec<i64> = (1..n).map(|_| 100 * rng.random_range(-2..=2)).collect();
    offsets.push(-offsets.iter().sum::<i64>());
    let strict: Vec<bool> = (0..n).map(|_| rng.random_bool(0.2)).collect();
    let rows = (0..n)
        .map(|k| {
            let op = if strict[k] { "<" } else { "<=" };
            format!("{} + {} {op} {}", sums[k], thousandths(offsets[k]), sums[(k + 1) % n])
        })
        .collect();
    let feasible = !strict.contains(&true);
    Case { kind: "circle", domains: vec![continuous(-5000, 5000); n + 1], rows, feasible }
}

/// At most `k` of `n` parts of a grid make a whole; parts have a largest share.
fn recipe(rng: &mut ChaCha8Rng) -> Case {
    let n = rng.random_range(4..=16);
    let most = rng.random_range(1..=4).min(n as i64);
    let cap = 10 * rng.random_range(10..=60);
    let domain = Domain::Grid(Grid::new(0, 10, 3, cap as u64 / 10 + 1).unwrap());
    let rows = vec![format!("count(x0..x{} > 0) <= {most}", n - 1), format!("sum(x0..x{}) == 1", n - 1)];
    Case { kind: "recipe", domains: vec![domain; n], rows, feasible: most * cap >= 1000 }
}

/// Two of the others side by side, which have no variable in common.
fn pair(rng: &mut ChaCha8Rng) -> Case {
    let mut both = KINDS[rng.random_range(0..8)](rng);
    let other = KINDS[rng.random_range(0..8)](rng);
    let by = both.domains.len();
    both.rows.extend(other.rows.iter().map(|row| renamed(row, by)));
    both.domains.extend(other.domains);
    Case { kind: "pair", feasible: both.feasible && other.feasible, ..both }
}

/// The text with `x3` become `x8` when moved by five.
fn renamed(text: &str, by: usize) -> String {
    let mut parts = text.split('x');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        let index: usize = part[..digits].parse().unwrap();
        write!(out, "x{}{}", index + by, &part[digits..]).unwrap();
    }
    out
}

const KINDS: [fn(&mut ChaCha8Rng) -> Case; 10] =
    [slots, corner, half_spaces, squares, cone, touching, grid, circle, recipe, pair];

#[test]
fn sets_without_an_interior_are_decided_and_rightly() {
    let count = std::env::var("LEAFGP_THIN_SETS").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let mut unknown = Vec::new();
    let mut wrong = Vec::new();
    let mut slowest = (0.0, String::new());
    for k in 0..count {
        let case = KINDS[k % KINDS.len()](&mut rng);
        let set = case.build();
        let start = Instant::now();
        let decision = set.decide(&Region::full(set.domains()), Limits::default());
        let seconds = start.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, format!("{case:?}"));
        }
        match decision {
            Decision::Feasible(x) => {
                assert!(set.is_feasible(&x, Tolerance::Produce), "{case:?} at {x:?}");
                if !case.feasible {
                    wrong.push((case, Some(x)));
                }
            }
            Decision::Infeasible if case.feasible => wrong.push((case, None)),
            Decision::Infeasible => {}
            Decision::Undecided(reason) => unknown.push((case, reason)),
        }
    }
    println!("slowest {:.3} s: {}", slowest.0, slowest.1);
    let kinds = |all: &mut dyn Iterator<Item = &'static str>| all.fold(String::new(), |s, k| s + k + ", ");
    println!("unknown {}: {}", unknown.len(), kinds(&mut unknown.iter().map(|u| u.0.kind)));
    println!("wrong {}: {}", wrong.len(), kinds(&mut wrong.iter().map(|u| u.0.kind)));
    for (case, reason) in &unknown {
        println!("unknown: {} {:?} {:?} {reason}", case.feasible, case.rows, case.domains[0]);
    }
    for (case, x) in &wrong {
        println!("wrong: {} {:?} {:?} {x:?}", case.feasible, case.rows, case.domains[0]);
    }
    assert!(wrong.is_empty());
    assert!(100 * unknown.len() < count, "{} of {count} sets are undecided", unknown.len());
}

/// What a person asks for: at most four of sixteen parts, in steps of a hundredth.
#[test]
fn recipes_of_a_few_parts_on_a_grid_are_decided_within_some_nodes() {
    for (n, most, cap, rest, feasible) in [
        (16, 4, 100, "x0 >= 0", true),
        (16, 4, 25, "x0 >= 0", true),
        (16, 4, 24, "x0 >= 0", false),
        (16, 4, 100, "x0 + x1 + x2 <= 0.3", true),
        (16, 4, 100, "all(x0..x15 in {0, 0.2..0.3})", true),
        (16, 3, 100, "all(x0..x15 in {0, 0.2..0.3})", false),
        (16, 4, 30, "x0 + x1 + x2 == 0.95 and x5 >= 0.06", false),
        (40, 6, 20, "x0 == 0.01", true),
    ] {
        let domain = Domain::Grid(Grid::new(0, 1, 2, cap + 1).unwrap());
        let rows = vec![
            format!("count(x0..x{} > 0) <= {most}", n - 1),
            format!("sum(x0..x{}) == 1", n - 1),
            rest.to_owned(),
        ];
        let case = Case { kind: "recipe", domains: vec![domain; n], rows, feasible };
        let set = case.build();
        let start = Instant::now();
        let decision = set.decide(&Region::full(set.domains()), Limits { nodes: 200, ..Limits::default() });
        println!("{:.3} s {n} {most} {cap} {rest}", start.elapsed().as_secs_f64());
        match decision {
            Decision::Feasible(x) => assert!(feasible && set.is_feasible(&x, Tolerance::Produce)),
            Decision::Infeasible => assert!(!feasible, "{case:?}"),
            Decision::Undecided(reason) => panic!("{case:?}: {reason}"),
        }
    }
}

/// Where the set is a point, an edge or a face, a design still has its points; in free directions they differ.
#[test]
fn designs_on_sets_without_an_interior_have_their_points() {
    let unit = continuous(0, 1000);
    for (rows, n) in [
        (&["x0 + x1 <= 0", "x2 <= 1"][..], 8),
        (&["(x0 - 0.3)^2 + (x1 - 0.7)^2 <= 0"], 8),
        (&["x0 + x1 <= 1", "x0 + x1 >= 1"], 8),
        (&["x0 + 0.3 <= x1", "x1 + 0.7 <= x2"], 1),
        (&["x0 + 0.1 <= x1", "x1 + 0.2 <= x2", "x0 + 0.3 >= x2"], 8),
        (&["x0^2 + x1^2 <= (x2 - 0.5)^2", "x2 <= 0.5", "x2 >= 0.5"], 1),
        (&["(x0 - 0.2)^2 + (x1 - 0.2)^2 <= 0.01", "(x0 - 0.32)^2 + (x1 - 0.36)^2 <= 0.01"], 8),
    ] {
        let case = Case {
            kind: "design",
            domains: vec![unit.clone(); 3],
            rows: rows.iter().map(|&r| r.to_owned()).collect(),
            feasible: true,
        };
        let set = case.build();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let points = set.design(n + 1, &[], &[], &mut rng, Limits::default());
        assert!(points.len() >= n, "{rows:?}: {points:?}");
        for (k, x) in points.iter().enumerate() {
            assert!(set.is_feasible(x, Tolerance::Produce), "{rows:?}: {x:?}");
            assert!(!points[..k].contains(x), "{rows:?}: {x:?} again");
            assert!(x.iter().all(|v| v.to_string().len() <= 20), "{rows:?}: {x:?}");
        }
        if n == 1 {
            assert_eq!(points.len(), 1, "{rows:?}: {points:?}");
        }
    }
}

#[test]
fn a_set_of_one_point_answers_with_the_numbers_that_were_written() {
    let case = Case {
        kind: "slots",
        domains: vec![continuous(0, 300); 4],
        rows: (0..3).map(|k| format!("x{} - x{k} >= 0.1", k + 1)).collect(),
        feasible: true,
    };
    let set = case.build();
    let decision = set.decide(&Region::full(set.domains()), Limits::default());
    assert_eq!(decision, Decision::Feasible(vec![0.0, 0.1, 0.2, 0.3]));
}

#[test]
fn what_rounding_leaves_of_a_range_is_no_room() {
    let case = Case {
        kind: "slots",
        domains: vec![continuous(0, 1500); 4],
        rows: (0..3).map(|k| format!("x{} - x{k} >= 0.5", k + 1)).collect(),
        feasible: true,
    };
    let set = case.build();
    assert_eq!(set.room(), Region::full(set.domains()));
    let window = Case { rows: vec!["0.7 <= x0 <= 0.7001".to_owned()], ..case }.build();
    let room = window.room();
    assert_eq!(room.0[0], Range::Interval { lower: 0.7, upper: 0.7001 });
    assert_eq!(room.0[1..], Region::full(window.domains()).0[1..]);
}
