//! A whole suggestion at 100 rows of 10 variables: trees, process, proof and centre (`paper`); the smooth process and its search (`smooth`); coarse trees and the smooth
//! process (`proven`).
//!
//! `cargo bench -p leafgp-study --bench suggest`

use criterion::{Criterion, criterion_group, criterion_main};
use leafgp::engine::{Optimizer, Purpose, stream};
use leafgp::problem::{Preset, Problem, Settings, Variable};
use leafgp_study::functions;
use rand::RngExt;

/// An optimiser that knows `n_rows` random points of a ten-dimensional benchmark function.
fn optimizer(preset: Preset, name: &str, lower: f64, upper: f64, n_rows: usize) -> Optimizer {
    let function = functions::find(name).expect("a built-in function");
    let mut builder = Problem::builder(name).settings(Settings::with_preset(preset));
    for i in 0..10 {
        builder = builder.variable(Variable::continuous(format!("x{i}"), lower, upper));
    }
    let mut optimizer = Optimizer::new(builder.build().expect("a valid problem"));
    let mut rng = stream(101, Purpose::Design, n_rows);
    for _ in 0..n_rows {
        let x: Vec<f64> = (0..10).map(|_| rng.random_range(lower..upper)).collect();
        optimizer.tell(&x, function.evaluate(&x)).expect("a valid observation");
    }
    optimizer
}

fn suggest(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("suggest");
    group.sample_size(10);
    for (name, lower, upper) in
        [("rastrigin", -4.0, 5.0), ("schwefel", -500.0, 500.0), ("styblinski-tang", -5.0, 5.0)]
    {
        for (word, preset) in
            [("paper", Preset::Paper), ("smooth", Preset::Smooth), ("proven", Preset::Proven)]
        {
            let optimizer = optimizer(preset, name, lower, upper, 100);
            group.bench_function(format!("{name} 100x10 {word}"), |bencher| {
                bencher.iter(|| optimizer.ask().expect("a suggestion"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, suggest);
criterion_main!(benches);
