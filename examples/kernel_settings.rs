//! What the tree kernel wants from its trees: 5-fold log predictive density of the tree-kernel GP over trainer settings.
//!
//! `cargo run --release --example kernel_settings -- [FOLDER] [--every K]` reads the golden tables (`*-paper.json`) in FOLDER, by default the shared
//! folder's `data/golden/gbt` and without one this repository's `tests/golden`, thins each to at most 200 rows (about what an optimisation run
//! has seen), and prints a table; with the shared tables it is the one of `docs/kernel-settings.md`: mean log predictive density and root mean squared error of the GP, and the error of the trees alone,
//! all in units of the standardised targets; fold = row index modulo 5. With `--every K` only every K-th line of the table is made.

use std::path::PathBuf;

use leafgp::Table;
use leafgp::gbdt::{GbdtSettings, fold_rows, train};
use leafgp::gp::{GpSettings, TreeGp};
use leafgp::solver::Domain;
use rayon::prelude::*;
use serde_json::Value;

const FOLDS: usize = 5;
const MOST_ROWS: usize = 200;

struct Data {
    name: String,
    domains: Vec<Domain>,
    x: Table,
    y: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Score {
    log_density: f64,
    gp_rmse: f64,
    trees_rmse: f64,
}

#[expect(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let every = match arguments.iter().position(|argument| argument == "--every") {
        Some(at) => {
            let given = arguments.drain(at..(at + 2).min(arguments.len())).nth(1);
            given.and_then(|k| k.parse().ok()).filter(|&k| k > 0).ok_or("--every wants a number from 1 on")?
        }
        None => 1,
    };
    let folder = arguments
        .first()
        .map(PathBuf::from)
        .or_else(|| leafgp_testdata::shared("data/golden/gbt"))
        .unwrap_or_else(|| leafgp_testdata::root().join("tests/golden"));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.to_string_lossy().ends_with("-paper.json"));
    files.sort();
    if files.is_empty() {
        return Err(format!("no golden table (*-paper.json) in {}", folder.display()).into());
    }
    let tables = files.iter().map(read).collect::<Result<Vec<Data>, _>>()?;
    let names: Vec<String> = tables.iter().map(|t| format!("{} ({})", t.name, t.x.n_rows())).collect();
    println!("| settings | mean | {} | GP rmse | trees rmse |", names.join(" | "));
    println!("|---|---|{}---|---|", "---|".repeat(names.len()));
    for (label, settings) in grid().into_iter().step_by(every) {
        let scores: Vec<Score> = tables
            .par_iter()
            .map(|data| evaluate(data, &settings).map_err(|error| format!("{}: {error}", data.name)))
            .collect::<Result<_, _>>()?;
        let mean = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
        let cells: Vec<String> = scores.iter().map(|score| format!("{:.3}", score.log_density)).collect();
        println!(
            "| {label} | {:.3} | {} | {:.3} | {:.3} |",
            mean(|s| s.log_density),
            cells.join(" | "),
            mean(|s| s.gp_rmse),
            mean(|s| s.trees_rmse)
        );
    }
    Ok(())
}

/// Depth, trees, rate and bin size crossed without sampling; then ways of sampling at two depths and two sizes.
fn grid() -> Vec<(String, GbdtSettings)> {
    let mut grid = Vec::new();
    let base = |min_data_in_bin, max_depth, n_trees, learning_rate| GbdtSettings {
        min_data_in_bin,
        max_depth,
        n_trees,
        learning_rate,
        ..GbdtSettings::default()
    };
    let label = |s: &GbdtSettings| {
        format!(
            "bin {} depth {} trees {} rate {}",
            s.min_data_in_bin, s.max_depth, s.n_trees, s.learning_rate
        )
    };
    for min_data_in_bin in [1, 3] {
        for max_depth in 2..=6 {
            for n_trees in [50, 100, 200] {
                for learning_rate in [0.05, 0.1, 0.3] {
                    let settings = base(min_data_in_bin, max_depth, n_trees, learning_rate);
                    grid.push((label(&settings), settings));
                }
            }
        }
    }
    type Change = fn(&mut GbdtSettings);
    let samplings: [(&str, Change); 4] = [
        ("bagging 0.7", |s| (s.bagging_fraction, s.bagging_freq) = (0.7, 1)),
        ("features 0.7", |s| s.feature_fraction = 0.7),
        ("extra_trees", |s| s.extra_trees = true),
        ("bagging 0.7, features 0.7, extra_trees", |s| {
            (s.bagging_fraction, s.bagging_freq) = (0.7, 1);
            s.feature_fraction = 0.7;
            s.extra_trees = true;
        }),
    ];
    for (name, change) in samplings {
        for min_data_in_bin in [1, 3] {
            for max_depth in [3, 5] {
                for n_trees in [50, 200] {
                    let mut settings = base(min_data_in_bin, max_depth, n_trees, 0.1);
                    change(&mut settings);
                    grid.push((format!("{}, {name}", label(&settings)), settings));
                }
            }
        }
    }
    grid
}

fn evaluate(data: &Data, settings: &GbdtSettings) -> Result<Score, Box<dyn std::error::Error + Send + Sync>> {
    let n_rows = data.y.len();
    let (mut log_density, mut gp_error, mut trees_error) = (0.0, 0.0, 0.0);
    for fold in 0..FOLDS {
        let (held_out, rest) = fold_rows(n_rows, FOLDS, fold);
        let targets: Vec<f64> = rest.iter().map(|&row| data.y[row]).collect();
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        let spread =
            (targets.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (targets.len() - 1) as f64).sqrt();
        let standard: Vec<f64> = targets.iter().map(|t| (t - mean) / spread).collect();
        let mut x = Table::new(data.x.n_cols());
        for &row in &rest {
            x.push(data.x.row(row));
        }
        let model = train(&x, &data.domains, &standard, None, settings, 1)?;
        let gp = TreeGp::fit(&model.forest, &x, &standard, &GpSettings::default())?;
        for &row in &held_out {
            let target = (data.y[row] - mean) / spread;
            let point = data.x.row(row);
            log_density += gp.log_predictive_density(point, target);
            gp_error += (gp.posterior(point).mean - target).powi(2);
            trees_error += (model.predict(point) - target).powi(2);
        }
    }
    let n = n_rows as f64;
    Ok(Score {
        log_density: log_density / n,
        gp_rmse: (gp_error / n).sqrt(),
        trees_rmse: (trees_error / n).sqrt(),
    })
}

fn read(path: &PathBuf) -> Result<Data, Box<dyn std::error::Error>> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let domains: Vec<Domain> = json["variables"]
        .as_array()
        .ok_or("no variables")?
        .iter()
        .map(|variable| {
            let lower = variable["lower"].as_f64().unwrap_or(f64::MIN);
            let upper = variable["upper"].as_f64().unwrap_or(f64::MAX);
            match variable["type"].as_str() {
                Some("categorical") => {
                    let levels = variable["categories"].as_u64().ok_or("no number of categories")?;
                    Ok(Domain::Categorical { levels: levels as usize })
                }
                Some("integer") => Ok(Domain::Integer { lower, upper }),
                Some("continuous") => Ok(Domain::Continuous { lower, upper }),
                _ => Err("a variable of unknown type"),
            }
        })
        .collect::<Result<_, _>>()?;
    let rows = json["X"].as_array().ok_or("no X")?;
    let all = numbers(&json["y"]);
    let n_rows = rows.len().min(MOST_ROWS);
    // Evenly spread rows: some tables are factorial designs in order.
    let chosen: Vec<usize> = (0..n_rows).map(|i| i * rows.len() / n_rows).collect();
    let mut x = Table::new(domains.len());
    for &row in &chosen {
        x.push(&numbers(&rows[row]));
    }
    let y = chosen.iter().map(|&row| all[row]).collect();
    let name = json["name"].as_str().unwrap_or_default().trim_end_matches("-paper").to_owned();
    Ok(Data { name, domains, x, y })
}
