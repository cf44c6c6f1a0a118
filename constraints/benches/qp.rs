//! Projections of a point onto `m` rows within a box of `n` variables: `cargo bench -p leafgp-constraints --bench qp`.
//!
//! About a third of the rows is active at the optimum. `resume` adds five cuts to a solved program; `infeasible` proves that
//! no point exists; `dense` uses a full metric.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use leafgp_constraints::qp::{Qp, Status};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::hint::black_box;

/// `[variables, rows]`.
const SIZES: [(usize, usize); 5] = [(5, 6), (13, 9), (20, 30), (40, 60), (60, 80)];

fn uniform(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// A feasible program: rows pass a point of the box at a small distance.
fn fill(qp: &mut Qp, n: usize, m: usize, dense: bool, rng: &mut ChaCha8Rng) {
    qp.reset(n);
    qp.set_box(&vec![-1.0; n], &vec![1.0; n]);
    let point = uniform(n, rng);
    let target: Vec<f64> = uniform(n, rng).iter().map(|c| 1.5 * c).collect();
    qp.set_target(&target);
    if dense {
        let root = uniform(n * n, rng);
        let entry = |i: usize, j: usize| -> f64 {
            (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum::<f64>() + f64::from(u8::from(i == j))
        };
        let metric: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        qp.set_dense_metric(&metric);
    }
    for _ in 0..m {
        let a = uniform(n, rng);
        let inside: f64 = a.iter().zip(&point).map(|(a, x)| a * x).sum();
        qp.push_le(&a, inside + rng.random_range(0.0..0.3));
    }
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("qp");
    for (n, m) in SIZES {
        let size = format!("{n}x{m}");
        for (name, dense) in [("solve", false), ("dense", true)] {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut programs: Vec<Qp> = Vec::new();
            for _ in 0..8 {
                let mut qp = Qp::new(n);
                fill(&mut qp, n, m, dense, &mut rng);
                assert_eq!(qp.solve(), Ok(Status::Optimal));
                programs.push(qp);
            }
            let mut turn = 0;
            group.bench_function(BenchmarkId::new(name, &size), |b| {
                b.iter(|| {
                    turn = (turn + 1) % programs.len();
                    black_box(programs[turn].solve())
                });
            });
        }

        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut qp = Qp::new(n);
        fill(&mut qp, n, m, false, &mut rng);
        assert_eq!(qp.solve(), Ok(Status::Optimal));
        let cuts: Vec<(Vec<f64>, f64)> = (0..5)
            .map(|_| {
                let a = uniform(n, &mut rng);
                let right: f64 = a.iter().zip(qp.x()).map(|(a, x)| a * x).sum();
                (a, right - 0.02)
            })
            .collect();
        group.bench_function(BenchmarkId::new("resume", &size), |b| {
            b.iter(|| {
                // Back to the program without cuts, then all of them at once.
                qp.truncate_rows(m);
                let first = qp.resume();
                for (a, right) in &cuts {
                    qp.push_le(a, *right);
                }
                black_box((first, qp.resume()))
            });
        });

        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut qp = Qp::new(n);
        fill(&mut qp, n, m, false, &mut rng);
        let (mut a, mut right) = (vec![0.0; n], 0.0);
        for row in 0..m.min(n / 2) {
            // The sum of the first rows contradicts itself with a small margin.
            let coefficients = uniform(n, &mut rng);
            a.iter_mut().zip(&coefficients).for_each(|(a, c)| *a += c);
            right += 0.1;
            qp.replace_row(row, &coefficients, f64::NEG_INFINITY, 0.1);
        }
        qp.push_ge(&a, right + 0.01);
        assert!(matches!(qp.solve(), Ok(Status::Infeasible { proved: true })));
        group.bench_function(BenchmarkId::new("infeasible", &size), |b| b.iter(|| black_box(qp.solve())));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
