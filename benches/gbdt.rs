//! Benches of the trainer: binning, histogram, split search and whole fits from 1e2 to 1e6 rows.
//!
//! `cargo bench -p leafgp --bench gbdt`; `-- --quick` for a first look.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use leafgp::Table;
use leafgp::gbdt::stages::Stages;
use leafgp::gbdt::{GbdtSettings, train};
use leafgp::solver::Domain;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Friedman's first function with uniform inputs, the first five of `n_cols` columns active.
fn friedman(n_rows: usize, n_cols: usize) -> (Table, Vec<Domain>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(n_rows as u64);
    let values: Vec<f64> = (0..n_rows * n_cols).map(|_| rng.random()).collect();
    let x = Table::from_values(n_cols, values);
    let target = |r: &[f64]| {
        10.0 * (std::f64::consts::PI * r[0] * r[1]).sin()
            + 20.0 * (r[2] - 0.5).powi(2)
            + 10.0 * r[3]
            + 5.0 * r[4]
    };
    let y = x.rows().map(|row| target(row) + rng.random::<f64>()).collect();
    (x, vec![Domain::Continuous { lower: 0.0, upper: 1.0 }; n_cols], y)
}

const SIZES: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Binning, the root's histogram and the scan of that histogram, 20 columns and stock settings.
fn stages(c: &mut Criterion) {
    let settings = GbdtSettings::lightgbm();
    for name in ["gbdt binning", "gbdt histogram", "gbdt split scan"] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).measurement_time(Duration::from_secs(3));
        for n_rows in SIZES {
            let (x, domains, y) = friedman(n_rows, 20);
            let mut stages = Stages::bin(&x, &domains, &y, &settings);
            stages.sum();
            group.throughput(Throughput::Elements((n_rows * 20) as u64));
            group.bench_with_input(BenchmarkId::from_parameter(n_rows), &n_rows, |b, _| match name {
                "gbdt binning" => b.iter(|| Stages::bin(black_box(&x), &domains, &y, &settings)),
                "gbdt histogram" => b.iter(|| stages.sum()),
                _ => b.iter(|| stages.scan()),
            });
        }
    }
}

/// Whole fits: the paper's settings on 10 columns, LightGBM's own on 20.
fn fits(c: &mut Criterion) {
    for (name, n_cols, settings) in
        [("gbdt fit, paper", 10, GbdtSettings::default()), ("gbdt fit, stock", 20, GbdtSettings::lightgbm())]
    {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).measurement_time(Duration::from_secs(3));
        for n_rows in SIZES {
            let (x, domains, y) = friedman(n_rows, n_cols);
            group.bench_with_input(BenchmarkId::from_parameter(n_rows), &n_rows, |b, _| {
                b.iter(|| train(black_box(&x), &domains, &y, None, &settings, 1).expect("the fit succeeds"));
            });
        }
    }
}

criterion_group!(benches, stages, fits);
criterion_main!(benches);
