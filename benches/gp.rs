//! Fitting the tree-kernel process: 200 Adam epochs, the posterior in leaf form, and prediction.
//!
//! `cargo bench -p leafgp --bench gp`. With 100,000 rows no matrix over the points is built: only the leaf co-occurrences.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use leafgp::Table;
use leafgp::gp::{GpSettings, TreeGp};
use leafgp_solver::{Domain, Forest, Node, Rule, Tree};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const N_VARIABLES: usize = 10;

/// Full trees with random thresholds over the unit cube; targets a smooth function with noise, standardised.
fn problem(n_trees: usize, depth: usize, n_rows: usize) -> (Forest, Table, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let domains = vec![Domain::Continuous { lower: 0.0, upper: 1.0 }; N_VARIABLES];
    let trees = (0..n_trees).map(|_| full_tree(depth, &mut rng)).collect();
    let forest = Forest::new(trees, &domains).expect("full trees are well formed");
    let values = (0..n_rows * N_VARIABLES).map(|_| rng.random()).collect();
    let x = Table::from_values(N_VARIABLES, values);
    let raw: Vec<f64> =
        x.rows().map(|row| (6.0 * row[0]).sin() + row[1] * row[2] + 0.1 * rng.random::<f64>()).collect();
    let mean = raw.iter().sum::<f64>() / n_rows as f64;
    let variance = raw.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (n_rows as f64 - 1.0);
    (forest, x, raw.iter().map(|y| (y - mean) / variance.sqrt()).collect())
}

/// Heap order: node `i` has the children `2 i + 1` and `2 i + 2`.
fn full_tree(depth: usize, rng: &mut ChaCha8Rng) -> Tree {
    let n_splits = (1 << depth) - 1;
    let mut nodes: Vec<Node> = (0..n_splits)
        .map(|i| Node::Split {
            feature: rng.random_range(0..N_VARIABLES),
            rule: Rule::Threshold(rng.random()),
            left: 2 * i + 1,
            right: 2 * i + 2,
        })
        .collect();
    nodes.extend((0..=n_splits).map(|leaf| Node::Leaf { leaf, value: 0.0 }));
    Tree { nodes }
}

fn fit(c: &mut Criterion) {
    let settings = GpSettings::default();
    let mut group = c.benchmark_group("fit");
    for (n_trees, depth, n_rows) in
        [(50, 3, 25), (50, 3, 100), (100, 5, 100), (50, 3, 400), (100, 5, 400), (50, 3, 10_000)]
    {
        let (forest, x, y) = problem(n_trees, depth, n_rows);
        group.bench_function(format!("{n_rows} rows, {n_trees} trees of depth {depth}"), |b| {
            b.iter(|| TreeGp::fit(&forest, &x, black_box(&y), &settings));
        });
    }
    group.sample_size(10);
    let (forest, x, y) = problem(50, 3, 100_000);
    group.bench_function("100000 rows, 50 trees of depth 3", |b| {
        b.iter(|| TreeGp::fit(&forest, &x, black_box(&y), &settings));
    });
    group.finish();
}

fn predict(c: &mut Criterion) {
    let (forest, x, y) = problem(50, 3, 100);
    let gp = TreeGp::fit(&forest, &x, &y, &GpSettings::default()).expect("the data are finite");
    let point = [0.5; N_VARIABLES];
    c.bench_function("posterior at a point, 100 rows", |b| b.iter(|| gp.posterior(black_box(&point))));
    c.bench_function("leaf objective, 100 rows", |b| b.iter(|| gp.leaf_objective(black_box(1.96))));
}

criterion_group!(benches, fit, predict);
criterion_main!(benches);
