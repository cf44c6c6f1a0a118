//! What a suggestion costs as tables grow: 100 trees of depth 5, the paper's preset, one thread, ten seconds.
//!
//! `cargo bench -p leafgp --bench growth -- [ROWS VARIABLES SEED [SECONDS [FUNCTION]]]`, the function `bowl` (default), `styblinski` or `friedman`. Without arguments the sizes of the table in
//! `docs/guarantees.md`, each in a process of its own, so that the peak of memory is its own. One line each: wall seconds with the stop sign, as `leafgp suggest` has it, and processor
//! seconds, gap, nodes, peak of resident memory and what the suggestion says of its limits. On a busy machine the processor seconds tell how much of the limit the process got.
#![allow(clippy::print_stdout, reason = "prints its result")]

use std::process::Command;
use std::time::Instant;

use leafgp::engine::{Context, Optimizer};
use leafgp::problem::{Preset, Problem, Settings, Variable};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// Rows, variables and seed.
const CASES: [(usize, usize, u64); 7] = [
    (500, 20, 1),
    (1_000, 20, 1),
    (1_000, 20, 2),
    (2_000, 20, 1),
    (5_000, 20, 1),
    (5_000, 20, 2),
    (10_000, 30, 1),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match &arguments[..] {
        [] => {
            let program = std::env::current_exe().expect("the program knows its path");
            for (rows, variables, seed) in CASES {
                let case = [rows.to_string(), variables.to_string(), seed.to_string()];
                assert!(Command::new(&program).args(case).status().expect("the program starts").success());
            }
        }
        [rows, variables, seed, rest @ ..] => {
            let seconds = rest.first().map_or(10.0, |s| s.parse().expect("seconds"));
            let function = rest.get(1).map_or("bowl", String::as_str);
            let number = |text: &String| text.parse::<usize>().expect("a whole number");
            suggest(number(rows), number(variables), number(seed) as u64, seconds, function);
        }
        _ => println!("usage: growth [ROWS VARIABLES SEED [SECONDS [FUNCTION]]]"),
    }
}

/// The value at a point of the unit cube.
fn value(function: &str, x: &[f64], rng: &mut impl Rng) -> f64 {
    let noise: f64 = rng.sample(rand_distr::StandardNormal);
    match function {
        "bowl" => {
            let bowl: f64 = x.iter().enumerate().map(|(i, x)| (i % 5 + 1) as f64 * (x - 0.3).powi(2)).sum();
            bowl + x[0] * x[1] + 2.0 * (x[2] - x[3]).abs() + 0.05 * noise
        }
        "styblinski" => {
            x.iter().map(|x| 10.0 * x - 5.0).map(|z| 0.5 * (z.powi(4) - 16.0 * z * z + 5.0 * z)).sum()
        }
        "friedman" => {
            let waves: f64 = x[5..].iter().map(|x| (7.0 * x).cos()).sum();
            let first = 10.0 * (std::f64::consts::PI * x[0] * x[1]).sin();
            first + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4] + waves + noise
        }
        other => panic!("no function {other}"),
    }
}

fn suggest(rows: usize, variables: usize, seed: u64, seconds: f64, function: &str) {
    let mut settings = Settings::with_preset(Preset::Paper);
    settings.trees.n_trees = 100;
    settings.trees.max_depth = 5;
    settings.solver.time_limit = seconds;
    settings.solver.threads = 1;
    let variable = |i| Variable::continuous(format!("x{i}"), 0.0, 1.0);
    let builder = (0..variables).fold(Problem::builder("growth"), |builder, i| builder.variable(variable(i)));
    let problem = builder.settings(settings).build().expect("a valid problem");
    let mut optimizer = Optimizer::new(problem);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..rows {
        let x: Vec<f64> =
            (0..variables).map(|_| f64::from(rng.random_range(0..=10_000)) / 10_000.0).collect();
        let y = value(function, &x, &mut rng);
        optimizer.tell(&x, y).expect("a valid row");
    }
    let (started, cpu_started) = (Instant::now(), cpu_seconds());
    let context = Context::default();
    let suggestion = match optimizer.ask_with(&context) {
        Ok(suggestion) => suggestion,
        Err(error) => {
            return println!("{function} {rows} x {variables}, seed {seed}: no suggestion: {error}");
        }
    };
    let promise = optimizer.promise(&context).expect("a statement");
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu_started);
    let proof = suggestion.proof.expect("the paper's preset proves");
    println!(
        "{function} {rows} x {variables}, seed {seed}: {wall:.1} s, processor {cpu:.1} s, gap {:.4}, {} nodes, {:.0} MiB{}{}",
        proof.gap,
        proof.nodes,
        peak_memory(),
        if promise.is_some() { "" } else { ", no stop sign" },
        suggestion.note.map_or_else(String::new, |note| format!(" ({note})")),
    );
}

/// Peak of resident memory in MiB; NaN where the system does not tell.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|text| text.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Processor time of this process so far, with its threads that have ended, in seconds; NaN where the system does not tell.
fn cpu_seconds() -> f64 {
    // The name, in brackets, may hold anything; user and system time are the 12th and 13th fields after it, in hundredths.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).filter_map(|t| t.parse().ok()).collect();
    if ticks.len() == 2 { (ticks[0] + ticks[1]) / 100.0 } else { f64::NAN }
}
