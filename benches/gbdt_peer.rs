//! One timed fit for `benches/peers/lightgbm.py`, which runs it side by side with LightGBM.
//!
//! Arguments: DATA THREADS REPEATS PRESET, the last one `paper` or `stock`. DATA holds little-endian f64: number of rows, number of
//! columns, the table row by row, the targets. Prints one JSON line: wall and processor seconds of each fit (binning included), root mean
//! squared error on the training rows, number of trees, resident memory in MiB before the fits and at their peak.

use std::time::Instant;

use leafgp::Table;
use leafgp::gbdt::{GbdtSettings, train};
use leafgp::solver::Domain;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [path, threads, repeats, preset] = &arguments[..] else {
        println!("usage: gbdt_peer DATA THREADS REPEATS paper|stock (run by benches/peers/lightgbm.py)");
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
    let settings = if preset == "paper" { GbdtSettings::default() } else { GbdtSettings::lightgbm() };
    let n_threads: usize = threads.parse().expect("THREADS is a number");
    let repeats: usize = repeats.parse().expect("REPEATS is a number");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool starts");
    // Forget the peak of reading the file.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let memory_before = memory("VmRSS:");
    let (mut seconds, mut cpu) = (Vec::new(), Vec::new());
    let mut result = (0.0, 0);
    for _ in 0..repeats {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        let model = pool.install(|| train(&x, &domains, &y, None, &settings, 1)).expect("the fit succeeds");
        seconds.push(start.elapsed().as_secs_f64());
        cpu.push(cpu_seconds() - cpu_start);
        let last = model.training_curve().training.last().copied().unwrap_or(f64::NAN);
        result = (last, model.forest.n_trees());
    }
    let report = serde_json::json!({
        "seconds": seconds,
        "cpu": cpu,
        "train_rmse": result.0,
        "trees": result.1,
        "memory_before": memory_before,
        "memory_after": memory("VmHWM:"),
    });
    println!("{report}");
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
