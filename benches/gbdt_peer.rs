//! Fits on request for `peers/trainer.py`, which runs them side by side with LightGBM's.
//!
//! Arguments: DATA THREADS PRESET, the last one `paper`, `paper, bins of 1` or `stock`. DATA holds little-endian f64: number of rows, number
//! of columns, the table row by row, the targets. Fits once for each line of the standard input and answers with one JSON line: wall and
//! processor seconds of the whole fit and of training alone (checks and binning left out), growth of the peak of resident memory in MiB, root
//! mean squared error on (at most 10000) training rows, number of trees.

use std::io::Write;
use std::time::Instant;

use leafgp::Table;
use leafgp::gbdt::GbdtSettings;
use leafgp::gbdt::stages::TwoSteps;
use leafgp::solver::Domain;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [path, threads, preset] = &arguments[..] else {
        println!("usage: gbdt_peer DATA THREADS PRESET (run by peers/trainer.py)");
        return;
    };
    let bytes = std::fs::read(path).expect("the data file is readable");
    let mut numbers = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")));
    let mut next = || numbers.next().expect("the data file is complete");
    let (n_rows, n_cols) = (next() as usize, next() as usize);
    let x = Table::from_values(n_cols, (0..n_rows * n_cols).map(|_| next()).collect());
    let y: Vec<f64> = (0..n_rows).map(|_| next()).collect();
    drop(bytes);
    let domains = vec![Domain::Continuous { lower: -10.0, upper: 10.0 }; n_cols];
    let settings = match &preset[..] {
        "paper" => GbdtSettings::default(),
        "paper, bins of 1" => GbdtSettings { min_data_in_bin: 1, ..GbdtSettings::default() },
        "stock" => GbdtSettings::lightgbm(),
        other => panic!("unknown preset {other}"),
    };
    let n_threads: usize = threads.parse().expect("THREADS is a number");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool starts");
    for _ in std::io::stdin().lines() {
        // Forget the peak so far.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let memory_before = memory("VmRSS:");
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        let steps = pool.install(|| TwoSteps::bin(&x, &domains, &y, &settings, 1)).expect("binning succeeds");
        let (middle, cpu_middle) = (Instant::now(), cpu_seconds());
        let model = pool.install(|| steps.boost()).expect("the fit succeeds");
        let (trained, cpu_trained) = (Instant::now(), cpu_seconds());
        drop(steps);
        let (end, cpu_end) = (Instant::now(), cpu_seconds());
        let memory = memory("VmHWM:") - memory_before;
        let n_tested = n_rows.min(10_000);
        let errors = x.rows().zip(&y).take(n_tested).map(|(row, y)| (model.predict(row) - y).powi(2));
        let rmse = (errors.sum::<f64>() / n_tested as f64).sqrt();
        let report = serde_json::json!({
            "seconds": (end - start).as_secs_f64(),
            "training": (trained - middle).as_secs_f64(),
            "cpu": cpu_end - cpu_start,
            "cpu_training": cpu_trained - cpu_middle,
            "memory": memory,
            "rmse": rmse,
            "trees": model.forest.n_trees(),
        });
        println!("{report}");
        std::io::stdout().flush().expect("the answer is written");
    }
}

/// A line of this process's memory status in MiB; NaN where the system does not tell.
fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|text| text.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Processor time of all threads of this process so far, in seconds; NaN where the system does not tell.
fn cpu_seconds() -> f64 {
    let mut total = 0.0;
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return f64::NAN };
    for task in tasks.flatten() {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        total +=
            text.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1e-9;
    }
    total
}
