//! Suggestions under the constraints that samplers and relaxations give up on: every one is written as CSV, read back, and judged by a few
//! lines of arithmetic that share nothing with the engine. The long versions: `cargo test --release --test known_constraints -- --ignored
//! --nocapture`; they print the seconds.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, and the measurements they report")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use leafgp::engine::{Context, EngineError, Optimizer, Surrogate};
use leafgp::history::{History, csv_text};
use leafgp::problem::{Preset, Problem, ProblemBuilder, Variable};
use leafgp::solver::search::Status;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// A row as printed: column name to cell.
#[derive(Debug)]
struct Printed(BTreeMap<String, String>);

impl Printed {
    /// The only row of a CSV text without quotes.
    fn parse(csv: &str) -> Self {
        let mut lines = csv.lines();
        let (names, cells) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(lines.next().is_none() && !csv.contains('"'), "{csv}");
        Self(names.split(',').map(String::from).zip(cells.split(',').map(String::from)).collect())
    }

    fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn number(&self, name: &str) -> f64 {
        self.0[name].parse().unwrap()
    }

    /// A cell that must be a whole number as printed.
    fn whole(&self, name: &str) -> i64 {
        self.0[name].parse().unwrap_or_else(|_| panic!("{name} = {:?} is no whole number", self.0[name]))
    }

    fn numbers(&self, count: usize) -> Vec<f64> {
        (1..=count).map(|i| self.number(&format!("x{i}"))).collect()
    }
}

/// What a point looks like in the file, and that reading the file gives the point back.
fn print(problem: &Problem, point: &[f64]) -> Printed {
    let csv = csv_text(problem, &[point.to_vec()]).unwrap();
    let back = History::from_bytes(csv.as_bytes(), problem).unwrap();
    assert_eq!(back.rows[0].point, point, "the file gives another point back:\n{csv}");
    assert!(back.warnings.is_empty(), "{:?}", back.warnings);
    Printed::parse(&csv)
}

/// A smooth function of all variables with interactions between neighbours; categories count as their index.
fn synthetic(problem: &Problem, x: &[f64]) -> f64 {
    let domains = problem.domains();
    let unit: Vec<f64> = domains
        .iter()
        .zip(x)
        .map(|(domain, v)| {
            let (lower, upper) = domain.bounds();
            (v - lower) / (upper - lower)
        })
        .collect();
    let single: f64 =
        unit.iter().enumerate().map(|(i, u)| (u - 0.2 - 0.6 * ((i * 7 % 10) as f64) / 9.0).powi(2)).sum();
    let pairs: f64 = unit.windows(2).map(|w| w[0] * w[1]).sum();
    single + 0.3 * pairs
}

/// Seconds of a run's parts.
#[derive(Debug, Default)]
struct Times {
    total: Duration,
    /// Of each suggestion less a fit of the same data.
    apart_from_fit: Vec<Duration>,
}

/// Asks, checks and tells `n` times; the printed row of each suggestion goes through `check`.
fn suggest(optimizer: &mut Optimizer, n: usize, check: &dyn Fn(&Printed) -> Result<(), String>) -> Times {
    let mut times = Times::default();
    let mut proved = 0;
    for i in 0..n {
        let observations = optimizer.observations().to_vec();
        let start = Instant::now();
        let suggestion = optimizer.ask().unwrap();
        let asked = start.elapsed();
        times.total += asked;
        let printed = print(optimizer.problem(), &suggestion.point);
        check(&printed).unwrap_or_else(|e| panic!("suggestion {i}: {e}: {printed:?}"));
        let repeats = optimizer.problem().settings().repeats && suggestion.proof.is_some();
        assert!(repeats || observations.iter().all(|o| o.point != suggestion.point));
        if let Some(proof) = &suggestion.proof {
            let start = Instant::now();
            Surrogate::of(optimizer.problem(), &observations).unwrap();
            times.apart_from_fit.push(asked.saturating_sub(start.elapsed()));
            proved += usize::from(proof.status == Status::Optimal);
            assert!(proof.region.contains(&suggestion.point));
        }
        let value = synthetic(optimizer.problem(), &suggestion.point);
        optimizer.tell(&suggestion.point, value).unwrap();
    }
    let mut sorted = times.apart_from_fit.clone();
    sorted.sort();
    let at = |share: usize| sorted.get(sorted.len() * share / 100).map_or(0.0, Duration::as_secs_f64);
    println!(
        "{}: {n} suggestions in {:.2} s; apart from the fit median {:.4} s, p95 {:.4} s; {proved} of {} proved optimal",
        optimizer.problem().name(),
        times.total.as_secs_f64(),
        at(50),
        at(95),
        sorted.len()
    );
    times
}

/// A first design of 30 points, then `n` suggestions.
fn design_then_suggest(problem: Problem, n: usize, check: &dyn Fn(&Printed) -> Result<(), String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(problem.settings().seed);
    let start = Instant::now();
    let limits = leafgp::solver::constraints::Limits::default();
    let points = problem.constraints().design(30, &[], &problem.log_scale(), &mut rng, limits);
    println!("{}: first design of 30 in {:.2} s", problem.name(), start.elapsed().as_secs_f64());
    assert_eq!(points.len(), 30);
    for preset in [Preset::Paper, Preset::Mixed] {
        let mut optimizer = Optimizer::new(of_preset(problem.clone(), preset));
        for (i, x) in points.iter().enumerate() {
            let printed = print(optimizer.problem(), x);
            check(&printed).unwrap_or_else(|e| panic!("design point {i}: {e}: {printed:?}"));
            let value = synthetic(optimizer.problem(), x);
            optimizer.tell(x, value).unwrap();
        }
        suggest(&mut optimizer, n, check);
    }
}

fn of_preset(problem: Problem, preset: Preset) -> Problem {
    problem.adjusted(|settings| settings.use_preset(preset)).unwrap()
}

/// The error when a condition fails.
fn demand(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn is_one(sum: f64) -> bool {
    (sum - 1.0).abs() <= 1e-9
}

fn builder(name: &str, variables: impl IntoIterator<Item = Variable>) -> ProblemBuilder {
    variables.into_iter().fold(Problem::builder(name), ProblemBuilder::variable)
}

fn mixture() -> Problem {
    let fractions = (1..=8).map(|i| Variable::continuous(format!("x{i}"), 0.0, 1.0));
    builder("mixture of 8", fractions).constraint("sum", "sum(x1..x8) == 1").build().unwrap()
}

fn check_mixture(row: &Printed) -> Result<(), String> {
    let x = row.numbers(8);
    demand(x.iter().all(|v| (0.0..=1.0).contains(v)), "a fraction outside [0, 1]")?;
    demand(is_one(x.iter().sum()), "the sum is not 1")
}

fn bilinear() -> Problem {
    let integers = (1..=2).map(|i| Variable::integer(format!("x{i}"), 1, 20));
    let reals = (3..=5).map(|i| Variable::continuous(format!("x{i}"), 0.1, 10.0));
    builder("two bilinear equalities", integers.chain(reals))
        .constraint("first", "x1 * x3 == 12")
        .constraint("second", "x2 * x4 + x5 == 20")
        .build()
        .unwrap()
}

fn check_bilinear(row: &Printed) -> Result<(), String> {
    let (x1, x2) = (row.whole("x1") as f64, row.whole("x2") as f64);
    let (x3, x4, x5) = (row.number("x3"), row.number("x4"), row.number("x5"));
    demand([x1, x2].iter().all(|v| (1.0..=20.0).contains(v)), "an integer outside its range")?;
    demand([x3, x4, x5].iter().all(|v| (0.1..=10.0).contains(v)), "a real outside its range")?;
    demand((x1 * x3 - 12.0).abs() <= 1e-9 * 12.0, "the first equality")?;
    demand((x2 * x4 + x5 - 20.0).abs() <= 1e-9 * 20.0, "the second equality")
}

fn ordered() -> Problem {
    let integers = (1..=7).map(|i| Variable::integer(format!("x{i}"), 200, 8000));
    (1..7)
        .fold(builder("7 ordered integers", integers), |b, i| {
            b.constraint(format!("order {i}"), format!("x{i} <= x{}", i + 1))
        })
        .build()
        .unwrap()
}

fn check_ordered(row: &Printed) -> Result<(), String> {
    let x: Vec<i64> = (1..=7).map(|i| row.whole(&format!("x{i}"))).collect();
    demand(x.iter().all(|v| (200..=8000).contains(v)), "outside the range")?;
    demand(x.windows(2).all(|w| w[0] <= w[1]), "not in order")
}

fn fractions() -> Problem {
    let fractions = (1..=12).map(|i| Variable::continuous(format!("x{i}"), 0.0, 1.0));
    builder("12 fractions", fractions).constraint("sum", "sum(x1..x12) <= 1").build().unwrap()
}

fn check_fractions(row: &Printed) -> Result<(), String> {
    let x = row.numbers(12);
    demand(x.iter().all(|v| (0.0..=1.0).contains(v)), "a fraction outside [0, 1]")?;
    // In plain f64, no tolerance.
    demand(x.iter().fold(0.0, |sum, v| sum + v) <= 1.0, "the sum is above 1")
}

fn ingredients() -> Problem {
    let shares = (1..=6).map(|i| Variable::continuous(format!("x{i}"), 0.0, 0.7));
    builder("6 ingredients", shares)
        .constraint("absent or substantial", "all(x1..x6 in {0, 0.1..0.7})")
        .constraint("two or three", "2 <= count(x1..x6 > 0) <= 3")
        .constraint("sum", "sum(x1..x6) == 1")
        .build()
        .unwrap()
}

fn check_ingredients(row: &Printed) -> Result<(), String> {
    let x = row.numbers(6);
    demand(x.iter().all(|&v| v == 0.0 || (0.1..=0.7).contains(&v)), "neither absent nor substantial")?;
    demand((2..=3).contains(&x.iter().filter(|&&v| v > 0.0).count()), "not two or three")?;
    demand(is_one(x.iter().sum()), "the sum is not 1")
}

fn grid() -> Problem {
    let factors = (1..=20).map(|i| Variable::integer(format!("x{i}"), 0, 3));
    (1..=8)
        .fold(builder("4^20 grid", factors), |b, i| {
            b.constraint(format!("implication {i}"), format!("x{i} == 3 implies x{} <= {}", i + 8, i % 3))
        })
        .constraint("budget", "sum(x1..x20) <= 24")
        .build()
        .unwrap()
}

fn check_grid(row: &Printed) -> Result<(), String> {
    let x: Vec<i64> = (1..=20).map(|i| row.whole(&format!("x{i}"))).collect();
    demand(x.iter().all(|v| (0..=3).contains(v)), "outside the grid")?;
    for i in 1..=8_i64 {
        let (cause, effect) = (x[i as usize - 1], x[i as usize + 7]);
        demand(cause != 3 || effect <= i % 3, "an implication")?;
    }
    demand(x.iter().sum::<i64>() <= 24, "over the budget")
}

fn reverse_convex() -> Problem {
    let squares: Vec<String> = (1..=60).map(|i| format!("x{i}^2")).collect();
    builder("60 reals", (1..=60).map(|i| Variable::continuous(format!("x{i}"), 0.0, 1.0)))
        .constraint("budget", "sum(x1..x60) <= 20")
        .constraint("demand", format!("{} >= 9", squares.join(" + ")))
        .build()
        .unwrap()
}

fn check_reverse_convex(row: &Printed) -> Result<(), String> {
    let x = row.numbers(60);
    demand(x.iter().all(|v| (0.0..=1.0).contains(v)), "outside [0, 1]")?;
    demand(x.iter().fold(0.0, |sum, v| sum + v) <= 20.0, "over the budget")?;
    demand(x.iter().fold(0.0, |sum, v| sum + v * v) >= 9.0, "below the demand")
}

type Check = fn(&Printed) -> Result<(), String>;

fn sets() -> [(Problem, Check); 7] {
    [
        (mixture(), check_mixture),
        (bilinear(), check_bilinear),
        (ordered(), check_ordered),
        (fractions(), check_fractions),
        (ingredients(), check_ingredients),
        (grid(), check_grid),
        (reverse_convex(), check_reverse_convex),
    ]
}

#[test]
fn designs_and_suggestions_are_feasible_as_printed() {
    for (problem, check) in sets() {
        design_then_suggest(problem, 2, &check);
    }
}

#[test]
#[ignore = "long: 20 suggestions on each of seven spaces"]
fn twenty_suggestions_each_are_feasible_as_printed() {
    for (problem, check) in sets() {
        design_then_suggest(problem, 20, &check);
    }
}

/// The checkers themselves refuse what is wrong.
#[test]
fn the_independent_checkers_can_fail() {
    let row = |pairs: &[(&str, &str)]| {
        Printed(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    };
    let ingredients =
        row(&[("x1", "0.5"), ("x2", "0.45"), ("x3", "0.05"), ("x4", "0"), ("x5", "0"), ("x6", "0")]);
    assert!(check_ingredients(&ingredients).unwrap_err().contains("substantial"));
    let mut cells: Vec<(String, String)> = (1..=7).map(|i| (format!("x{i}"), "300".to_owned())).collect();
    cells[3].1 = "299".into();
    assert!(check_ordered(&Printed(cells.into_iter().collect())).is_err());
    let network = file("cifar-nas.toml");
    let design = network.constraints().design(
        1,
        &[],
        &network.log_scale(),
        &mut ChaCha8Rng::seed_from_u64(1),
        leafgp::solver::constraints::Limits::default(),
    );
    let mut printed = print(&network, &design[0]);
    assert_eq!(check_cifar(&printed), Ok(()));
    printed.0.insert("fc2".into(), "1".into());
    printed.0.insert("fc1".into(), "0".into());
    assert!(check_cifar(&printed).is_err());
}

fn file(name: &str) -> Problem {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/problems")).join(name);
    Problem::from_file(&path).unwrap()
}

/// Pixels after a convolution: `(size - filter + 2 pad) / stride + 1`, which must come out whole and not below zero.
fn convolve(size: i64, filter: i64, stride: i64, pad: i64) -> Result<i64, String> {
    let reach = size - filter + 2 * pad;
    if reach % stride != 0 || reach / stride + 1 < 0 {
        return Err(format!("({size} - {filter} + 2*{pad}) / {stride} + 1 is no size"));
    }
    Ok(reach / stride + 1)
}

fn check_cifar(row: &Printed) -> Result<(), String> {
    let on = |name: &str| row.whole(name) == 1;
    let mut size = 32;
    for k in 1..=3 {
        let value = |name: &str| row.whole(&format!("{name}{k}"));
        let width = convolve(size, value("filter"), value("stride"), value("pad"))?;
        if on(&format!("conv{k}")) {
            size = if value("pool") == 1 { width / 2 } else { width };
        } else {
            let defaults =
                (value("log2_channels"), value("pool"), value("filter"), value("stride"), value("pad"));
            demand(defaults == (2, 0, 2, 1, 0), "the defaults of an absent convolution")?;
            demand(row.text(&format!("conv_act{k}")) == "relu", "the activation of an absent convolution")?;
        }
    }
    for k in 1..=2 {
        if !on(&format!("fc{k}")) {
            demand(row.whole(&format!("log2_nodes{k}")) == 2, "the nodes of an absent dense layer")?;
            demand(row.text(&format!("fc_act{k}")) == "relu", "the activation of an absent dense layer")?;
        }
    }
    demand(size >= 1, "nothing is left of the image")?;
    demand((1..=3).any(|k| on(&format!("conv{k}"))) || on("fc1") || on("fc2"), "no layer at all")?;
    demand(
        row.whole("conv3") <= row.whole("conv2") && row.whole("conv2") <= row.whole("conv1"),
        "the order of convolutions",
    )?;
    demand(row.whole("fc2") <= row.whole("fc1"), "the order of dense layers")?;
    demand((-5.0..=-1.0).contains(&row.number("log10_lr")), "the learning rate")
}

fn check_vae(row: &Printed) -> Result<(), String> {
    let (n_conv, n_deconv) = (row.whole("n_conv"), row.whole("n_deconv"));
    let mut size = 28;
    for k in 1..=2 {
        let value = |name: &str| row.whole(&format!("enc_{name}{k}"));
        // Of an absent layer, too: its size must be a whole number with the defaults.
        let width = (size - value("filter") + 2 * value("pad"), value("stride"));
        demand(width.0 % width.1 == 0, "an encoder size is not whole")?;
        if n_conv >= k {
            size = convolve(size, value("filter"), value("stride"), value("pad"))?;
        } else {
            let defaults = (value("log2_channels"), value("stride"), value("pad"), value("filter"));
            demand(defaults == (1 + k, 1, 0, 3), "the defaults of an absent encoder layer")?;
            demand(row.text(&format!("enc_act{k}")) == "relu", "the activation of an absent encoder layer")?;
        }
    }
    demand(size >= 1, "nothing is left of the image")?;
    let mut size = 7;
    for k in 1..=2 {
        let value = |name: &str| row.whole(&format!("dec_{name}{k}"));
        demand(value("stride") > value("out_pad"), "output padding not below the stride")?;
        if n_deconv >= k {
            size = value("stride") * (size - 1) + value("filter") - 2 * value("pad") + value("out_pad");
        } else {
            let defaults = (value("stride"), value("pad"), value("out_pad"), value("filter"));
            demand(defaults == (1, 0, 0, 3), "the defaults of an absent decoder layer")?;
        }
    }
    demand(n_deconv >= 1 || row.text("dec_act1") == "relu", "the activation of an absent decoder layer")?;
    demand(n_deconv >= 2 || row.whole("dec_log2_channels2") == 2, "the channels of an absent decoder layer")?;
    if n_deconv >= 1 {
        demand(size == 28, "the decoder does not end at 28 pixels")?;
    } else {
        demand(row.whole("dec_log2_channels1") == 4, "not 16 channels")?;
    }
    for (name, count, index) in [
        ("fc_act1", "n_fc_enc", 1),
        ("fc_act2", "n_fc_enc", 2),
        ("fc_act3", "n_fc_dec", 1),
        ("fc_act4", "n_fc_dec", 2),
    ] {
        demand(
            row.whole(count) >= index || row.text(name) == "relu",
            "the activation of an absent dense layer",
        )?;
    }
    demand(row.whole("n_fc_enc") >= 1 || row.whole("fc1_nodes64") == 0, "the nodes of an absent dense layer")
}

/// Suggestions from nothing: the first design, then the model.
fn networks(n: usize) {
    let checks: [(&str, Check); 2] = [("cifar-nas.toml", check_cifar), ("vae-nas.toml", check_vae)];
    for (name, check) in checks {
        for preset in [Preset::Paper, Preset::Mixed] {
            let mut optimizer = Optimizer::new(of_preset(file(name), preset));
            suggest(&mut optimizer, n, &check);
        }
    }
}

#[test]
fn network_suggestions_have_whole_sizes_and_defaults() {
    networks(14);
}

#[test]
#[ignore = "long: 100 suggestions on each of two spaces"]
fn a_hundred_networks_each_have_whole_sizes_and_defaults() {
    networks(100);
}

/// The largest eigenvalue of the quadratic form is 3.5, so that it reaches 14 on `sum(x^2) <= 4`: 14.02 is impossible, but branching on
/// twelve variables takes very long to see it.
fn endless() -> Problem {
    let mut form = String::from("0");
    for i in 0..12 {
        for j in i + 1..12 {
            let sign = if ((i + 1) * (j + 1) + i) % 3 == 0 { "-" } else { "+" };
            form += &format!(" {sign} x{}*x{}", i + 1, j + 1);
        }
    }
    let squares: Vec<String> = (1..=12).map(|i| format!("x{i}^2")).collect();
    builder("endless", (1..=12).map(|i| Variable::continuous(format!("x{i}"), -1.0, 1.0)))
        .constraint("form", format!("{form} >= 14.02"))
        .constraint("squares", format!("{} <= 4", squares.join(" + ")))
        .build()
        .unwrap()
}

fn reason(result: Result<leafgp::engine::Suggestion, EngineError>) -> String {
    match result {
        Err(EngineError::NoIncumbent { reason }) => reason,
        other => panic!("expected no incumbent, got {other:?}"),
    }
}

/// A problem of its own: with measured rows, the question is asked by the search at its cells.
fn measured(problem: Problem, time_limit: f64) -> Optimizer {
    let problem = problem.adjusted(|settings| {
        settings.solver.time_limit = time_limit;
        settings.design.initial = 8;
    });
    let mut optimizer = Optimizer::new(problem.unwrap());
    for i in 0..12 {
        let x: Vec<f64> = (0..12).map(|j| f64::from((i * 5 + j * 3) % 11) / 5.5 - 1.0).collect();
        optimizer.tell(&x, x[0] + 0.3 * x[5]).unwrap();
    }
    optimizer
}

#[test]
fn an_interrupt_reaches_into_the_constraints() {
    let paper = of_preset(endless(), Preset::Paper);
    for optimizer in [Optimizer::new(endless()), measured(paper, 1e6), measured(endless(), 1e6)] {
        let flag = Arc::new(AtomicBool::new(false));
        let raise = flag.clone();
        let raiser = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            raise.store(true, Ordering::Relaxed);
        });
        let context = Context { interrupt: Some(flag), ..Context::default() };
        let why = reason(optimizer.ask_with(&context));
        assert!(why.contains("interrupt"), "{why}");
        raiser.join().unwrap();
    }
}

#[test]
fn the_time_limit_reaches_into_the_constraints() {
    let first = endless().adjusted(|settings| settings.solver.time_limit = 0.15).unwrap();
    let paper = of_preset(endless(), Preset::Paper);
    for optimizer in [Optimizer::new(first), measured(paper, 0.15), measured(endless(), 0.15)] {
        let why = reason(optimizer.ask());
        assert!(why.contains("time limit") || why.contains("time_limit"), "{why}");
    }
    // The projection has a little time of its own, then the search's point stands.
    for preset in [Preset::Paper, Preset::Mixed, Preset::Proven] {
        let problem = of_preset(reverse_convex(), preset);
        let problem = problem.adjusted(|settings| settings.solver.time_limit = 1e-6);
        let mut optimizer = Optimizer::new(problem.unwrap());
        for i in 0..6 {
            let x: Vec<f64> = (0..60).map(|j| if (j + i * 10) % 60 < 20 { 1.0 } else { 0.0 }).collect();
            optimizer.tell(&x, f64::from(i)).unwrap();
        }
        match optimizer.ask() {
            Ok(suggestion) => {
                assert_eq!(check_reverse_convex(&print(optimizer.problem(), &suggestion.point)), Ok(()));
            }
            Err(error) => assert!(matches!(error, EngineError::NoIncumbent { .. }), "{error:?}"),
        }
    }
}
