//! Which model finds a good row of a laboratory table with the fewest measurements: presets against random choice, 10 seeds and more.
//!
//! `cargo run --release --example laboratory_tables -- [--seeds A..B] [--evaluations N] [--methods a,b] [--starts FILE]` reads the tables of the shared folder's `data/real` (others' data, not in
//! this repository; says so and ends where they are not). Each row of a table is a candidate, its value known when it is asked for. Five random rows are known at
//! first, the same for all methods of a seed; then each method picks row after row among those not known yet. Printed is, by table and method, the mean over seeds of the
//! number of evaluations until a row of the best 1 % is known (the budget plus one where none was found), and the mean percentile of the best row known after 25
//! evaluations (0: the best row of the table). With `--starts FILE` the first rows are written to FILE, for other programs (`peers/laboratory_tables.py`).

use std::fmt::Write as _;
use std::path::Path;

use leafgp::engine::{Optimizer, Purpose, stream};
use leafgp::problem::{Goal, Preset, Problem, Settings, Variable};
use leafgp::smooth::KernelKind;
use rand::RngExt;
use rayon::prelude::*;
use serde_json::Value;

/// Rows known at first.
const FIRST: usize = 5;
/// The percentile is that of the best row after so many evaluations.
const AFTER: usize = 25;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A table with one column to be optimised.
struct LabTable {
    name: String,
    variables: Vec<Variable>,
    goal: Goal,
    rows: Vec<Vec<f64>>,
    values: Vec<f64>,
}

/// How a method picks its rows; `None` picks at random.
type Method = (&'static str, Option<fn() -> Settings>);

const METHODS: [Method; 7] = [
    ("random", None),
    ("paper", Some(|| Settings::with_preset(Preset::Paper))),
    ("Matern", Some(matern)),
    ("smooth", Some(|| Settings::with_preset(Preset::Smooth))),
    ("with-trees", Some(with_trees)),
    ("mixed", Some(|| Settings::with_preset(Preset::Mixed))),
    ("proven", Some(|| Settings::with_preset(Preset::Proven))),
];

/// The usual process: Matern-5/2 over all variables with a length scale each, levels of a category equally far apart (one-hot).
fn matern() -> Settings {
    let mut settings = Settings::with_preset(Preset::Smooth);
    settings.smooth.kernel = KernelKind::Joint;
    settings
}

/// The smooth process with a part of trees in its kernel.
fn with_trees() -> Settings {
    let mut settings = Settings::with_preset(Preset::Smooth);
    settings.smooth.trees = true;
    settings
}

#[expect(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let options = Options::of(std::env::args().skip(1))?;
    let Some(folder) = leafgp_testdata::shared("data/real") else { return Ok(()) };
    let tables = read_all(&folder)?;
    if let Some(path) = &options.starts {
        std::fs::write(path, starts(&tables, &options))?;
    }
    let asked =
        |m: &usize| options.methods.is_empty() || options.methods.iter().any(|name| name == METHODS[*m].0);
    let methods: Vec<usize> = (0..METHODS.len()).filter(asked).collect();
    let cases: Vec<(usize, usize, u64)> = (0..tables.len())
        .flat_map(|t| methods.iter().map(move |&m| (t, m)))
        .flat_map(|(t, m)| options.seeds.clone().map(move |seed| (t, m, seed)))
        .collect();
    let scores: Vec<Score> = cases
        .par_iter()
        .map(|&(t, m, seed)| score(&tables[t], METHODS[m].1, seed, options.evaluations))
        .collect::<Result<_, _>>()?;
    println!("| method | {} | mean |", tables.iter().map(heading).collect::<Vec<_>>().join(" | "));
    println!("|---|{}---|", "---|".repeat(tables.len()));
    for &m in &methods {
        let name = METHODS[m].0;
        let mut cells = Vec::new();
        for t in 0..tables.len() {
            let of = |score: fn(&Score) -> f64| {
                let own = cases.iter().zip(&scores).filter(|((a, b, _), _)| (*a, *b) == (t, m));
                own.map(|(_, s)| score(s)).sum::<f64>() / options.seeds.clone().count() as f64
            };
            cells.push((of(|s| s.evaluations as f64), of(|s| s.percentile)));
        }
        let n = cells.len() as f64;
        cells.push((cells.iter().map(|c| c.0).sum::<f64>() / n, cells.iter().map(|c| c.1).sum::<f64>() / n));
        let line: Vec<String> = cells.iter().map(|(e, p)| format!("{e:.1}; {p:.2}")).collect();
        println!("| {name} | {} |", line.join(" | "));
    }
    Ok(())
}

fn heading(table: &LabTable) -> String {
    format!("{} ({})", table.name, table.rows.len())
}

/// What the command line asks for.
struct Options {
    seeds: std::ops::Range<u64>,
    evaluations: usize,
    /// All where empty.
    methods: Vec<String>,
    starts: Option<String>,
}

impl Options {
    fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        // One seed keeps the check of the examples short.
        let mut options = Self { seeds: 1..2, evaluations: 15, methods: Vec::new(), starts: None };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} wants a value"));
            match argument.as_str() {
                "--seeds" => {
                    let value = value()?;
                    let (a, b) = value.split_once("..").ok_or("--seeds wants A..B")?;
                    options.seeds = a.parse()?..b.parse()?;
                }
                "--evaluations" => options.evaluations = value()?.parse()?,
                "--methods" => options.methods = value()?.split(',').map(str::to_owned).collect(),
                "--starts" => options.starts = Some(value()?),
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(options)
    }
}

/// How one method did with one seed.
struct Score {
    /// Evaluations until a row of the best 1 % was known; the budget plus one where none was.
    evaluations: usize,
    /// Share of rows better than the best one known after [`AFTER`] evaluations, in per cent.
    percentile: f64,
}

fn score(
    table: &LabTable,
    settings: Option<fn() -> Settings>,
    seed: u64,
    budget: usize,
) -> Result<Score, Failure> {
    let n = table.rows.len();
    let budget = budget.min(n);
    let sign = table.goal.sign();
    let rank =
        |row: usize| table.values.iter().filter(|&&value| sign * value < sign * table.values[row]).count();
    let mut own = settings.map_or_else(Settings::default, |of| of());
    own.seed = seed;
    let mut builder = Problem::builder(&table.name).objective("value", table.goal).settings(own);
    for variable in &table.variables {
        builder = builder.variable(variable.clone());
    }
    let mut optimizer = Optimizer::new(builder.build()?);
    let mut left: Vec<usize> = (0..n).collect();
    let mut random = stream(seed, Purpose::Design, n);
    let mut known = Vec::new();
    for row in first_rows(n, seed) {
        left.retain(|&other| other != row);
        known.push(row);
        optimizer.tell(&table.rows[row], table.values[row])?;
    }
    while known.len() < budget {
        let place = if settings.is_none() {
            random.random_range(0..left.len())
        } else {
            let candidates: Vec<Vec<f64>> = left.iter().map(|&row| table.rows[row].clone()).collect();
            optimizer.ask_among(&candidates)?.index
        };
        let row = left.remove(place);
        known.push(row);
        optimizer.tell(&table.rows[row], table.values[row])?;
    }
    // At least the best row itself.
    let best = n.div_ceil(100);
    let found = known.iter().position(|&row| rank(row) < best);
    let ranks = known.iter().take(AFTER).map(|&row| rank(row));
    Ok(Score {
        evaluations: found.map_or(budget + 1, |index| index + 1),
        percentile: 100.0 * ranks.min().unwrap_or(n) as f64 / n as f64,
    })
}

/// The rows known at first, the same for all methods.
fn first_rows(n: usize, seed: u64) -> Vec<usize> {
    let mut random = stream(seed, Purpose::Design, 0);
    let mut rows: Vec<usize> = (0..n).collect();
    (0..FIRST.min(n)).map(|_| rows.swap_remove(random.random_range(0..rows.len()))).collect()
}

/// `table,seed,row,row,...` by line.
fn starts(tables: &[LabTable], options: &Options) -> String {
    let mut text = String::new();
    for table in tables {
        for seed in options.seeds.clone() {
            let _ = write!(text, "{},{seed}", table.name);
            for row in first_rows(table.rows.len(), seed) {
                let _ = write!(text, ",{row}");
            }
            text.push('\n');
        }
    }
    text
}

/// All tables of the folder, one for each measured column.
fn read_all(folder: &Path) -> Result<Vec<LabTable>, Failure> {
    let mut tables = Vec::new();
    for path in leafgp_testdata::json_files(folder, 1) {
        let space: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let csv = std::fs::read_to_string(path.with_extension("csv"))?;
        let list = |key: &str| space[key].as_array().map_or(&[][..], Vec::as_slice);
        let measured: Vec<&str> = list("measurements").iter().filter_map(Value::as_str).collect();
        for (k, column) in measured.iter().enumerate() {
            let goal = match &space["goal"] {
                Value::Array(goals) => goals[k].as_str(),
                goal => goal.as_str(),
            };
            let goal = match goal {
                Some("minimize") => Goal::Minimize,
                Some("maximize") => Goal::Maximize,
                _ => continue,
            };
            let name = space["name"].as_str().ok_or("a table without a name")?;
            tables.push(read(&format!("{name} {column}"), list("variables"), &csv, column, goal)?);
        }
    }
    Ok(tables)
}

fn read(name: &str, variables: &[Value], csv: &str, column: &str, goal: Goal) -> Result<LabTable, Failure> {
    let variables: Vec<Variable> = variables.iter().map(variable).collect::<Result<_, _>>()?;
    let mut lines = csv.lines().filter(|line| !line.trim().is_empty());
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let place = |name: &str| header.iter().position(|h| *h == name).ok_or(format!("no column {name}"));
    let places: Vec<usize> = variables.iter().map(|v| place(&v.name)).collect::<Result<_, _>>()?;
    let target = place(column)?;
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let row = variables.iter().zip(&places).map(|(variable, &p)| Ok(variable.parse_value(cells[p])?));
        rows.push(row.collect::<Result<_, Failure>>()?);
        values.push(cells[target].parse()?);
    }
    Ok(LabTable { name: name.to_owned(), variables, goal, rows, values })
}

fn variable(value: &Value) -> Result<Variable, Failure> {
    let name = value["name"].as_str().ok_or("a variable without a name")?;
    let number = |key: &str| value[key].as_f64().ok_or(format!("{name}: no {key}"));
    match value["type"].as_str() {
        Some("continuous") => Ok(Variable::continuous(name, number("low")?, number("high")?)),
        Some("categorical") => {
            let levels = value["options"].as_array().map_or(&[][..], Vec::as_slice);
            Ok(Variable::categorical(name, levels.iter().filter_map(Value::as_str).map(str::to_owned)))
        }
        other => Err(format!("{name}: unknown type {other:?}").into()),
    }
}
