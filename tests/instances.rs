//! The reference instances (solver/tests/golden/instances/README.md): reading, writing, the fit against other programs' values, the posterior against its definition.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::path::PathBuf;

use leafgp::Table;
use leafgp::gp::{GpSettings, TreeGp};
use leafgp::instance::Instance;
use leafgp_solver::Forest;
use leafgp_solver::constraints::Tolerance;
use leafgp_testdata::{json_files, root, shared};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// All instance files: those of the tree, then, where the shared folder is there, its larger ones.
fn files() -> Vec<PathBuf> {
    let golden = root().join("solver/tests/golden/instances");
    let mut files = json_files(&golden.join("plain"), 5);
    files.extend(json_files(&golden.join("constrained"), 2));
    if let Some(folder) = shared("instances") {
        for (set, n_files) in [("plain", 34), ("hard", 18), ("constrained", 24)] {
            files.extend(json_files(&folder.join(set), n_files));
        }
    }
    files
}

fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

#[test]
fn refitted_variances_equal_numpys_and_gpytorchs() {
    let mut worst = 0.0f64;
    for file in files() {
        let instance = Instance::read(&file).unwrap();
        let gp = TreeGp::fit(&instance.forest, &instance.x, &instance.y, &GpSettings::default()).unwrap();
        let (fitted, expected) = (gp.hyperparameters(), instance.hyperparameters);
        let error = relative(fitted.signal_variance, expected.signal_variance)
            .max(relative(fitted.noise_variance, expected.noise_variance));
        assert!(error <= 1e-5, "{}: {fitted:?}, expected {expected:?}", instance.name);
        worst = worst.max(error);
    }
    println!("largest relative difference: {worst:.1e}");
}

#[test]
fn instances_survive_a_round_trip() {
    for file in files() {
        let instance = Instance::read(&file).unwrap();
        assert_eq!(Instance::parse(&instance.to_json(), "again").unwrap(), instance);
    }
}

/// The posterior from Eq. 1 and 2 alone: kernel by counting common leaves, a plain Cholesky factor of `K + nz I`.
struct Definition<'a> {
    forest: &'a Forest,
    leaves: Vec<Vec<usize>>,
    signal: f64,
    /// Lower triangle, row by row.
    factor: Vec<Vec<f64>>,
    alpha: Vec<f64>,
}

impl<'a> Definition<'a> {
    fn new(instance: &'a Instance) -> Self {
        let forest = &instance.forest;
        let h = instance.hyperparameters;
        let leaves: Vec<Vec<usize>> = instance.x.rows().map(|row| forest.active_leaves(row)).collect();
        let m = leaves.len();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(m);
        for i in 0..m {
            let mut row = vec![0.0; i + 1];
            for j in 0..=i {
                let noise = if i == j { h.noise_variance } else { 0.0 };
                let mut sum = kernel(h.signal_variance, &leaves[i], &leaves[j]) + noise;
                for k in 0..j {
                    sum -= row[k] * if i == j { row[k] } else { factor[j][k] };
                }
                row[j] = if i == j { sum.sqrt() } else { sum / factor[j][j] };
            }
            factor.push(row);
        }
        let residual: Vec<f64> = instance.y.iter().map(|y| y - h.mean).collect();
        let half = forward(&factor, &residual);
        let mut alpha = half;
        for i in (0..m).rev() {
            alpha[i] /= factor[i][i];
            for j in 0..i {
                alpha[j] -= factor[i][j] * alpha[i];
            }
        }
        Self { forest, leaves, signal: h.signal_variance, factor, alpha }
    }

    fn posterior(&self, x: &[f64]) -> (f64, f64) {
        let active = self.forest.active_leaves(x);
        let k: Vec<f64> = self.leaves.iter().map(|row| kernel(self.signal, row, &active)).collect();
        let mean = k.iter().zip(&self.alpha).map(|(k, a)| k * a).sum();
        let half = forward(&self.factor, &k);
        (mean, self.signal - half.iter().map(|h| h * h).sum::<f64>())
    }
}

fn kernel(signal: f64, a: &[usize], b: &[usize]) -> f64 {
    signal * a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

fn forward(factor: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(b.len());
    for (row, &b) in factor.iter().zip(b) {
        let sum: f64 = row.iter().zip(&out).map(|(l, o)| l * o).sum();
        out.push((b - sum) / row[out.len()]);
    }
    out
}

#[test]
fn the_posterior_and_the_leaf_objective_equal_the_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut worst_mean, mut worst_variance) = (0.0f64, 0.0f64);
    for file in files() {
        let instance = Instance::read(&file).unwrap();
        let definition = Definition::new(&instance);
        let gp = instance.gp().unwrap();
        let objective = gp.leaf_objective(instance.kappa);
        let domains = instance.domains();
        let mut points = Table::new(domains.len());
        for i in 0..60 {
            let point: Vec<f64> = if i < 10 {
                instance.x.row(i % instance.x.n_rows()).to_vec()
            } else {
                let anywhere = |(lower, upper): (f64, f64), share: f64| lower + share * (upper - lower);
                domains
                    .iter()
                    .map(|d| {
                        let (lower, upper) = d.bounds();
                        d.nearest(anywhere((lower, upper), rng.random()), lower, upper).unwrap()
                    })
                    .collect()
            };
            points.push(&point);
        }
        for x in points.rows() {
            let (mean, variance) = definition.posterior(x);
            let leaves = instance.forest.active_leaves(x);
            let posterior = gp.posterior(x);
            assert!((posterior.mean - mean).abs() <= 1e-9, "{}: {posterior:?} {mean}", instance.name);
            assert!(
                (posterior.variance - variance).abs() <= 1e-9,
                "{}: {posterior:?} {variance}",
                instance.name
            );
            assert!((objective.mean(&leaves) - posterior.mean).abs() <= 1e-9);
            assert!((objective.deviation(&leaves) - posterior.deviation()).abs() <= 1e-9);
            assert!((objective.deviation(&leaves) - variance.sqrt()).abs() <= 1e-9, "{}", instance.name);
            let value = mean - instance.kappa * variance.sqrt();
            assert!((objective.value(&leaves) - value).abs() <= 1e-9);
            worst_mean = worst_mean.max((posterior.mean - mean).abs());
            worst_variance = worst_variance.max((posterior.variance - variance).abs());
        }
    }
    println!("largest difference: mean {worst_mean:.1e}, variance {worst_variance:.1e}");
}

#[test]
fn the_sampled_points_have_the_values_written_beside_them() {
    let mut n_sampled = 0;
    for file in files() {
        let instance = Instance::read(&file).unwrap();
        let Some(sampled) = &instance.sampled else { continue };
        n_sampled += 1;
        let number = |key: &str| sampled[key].as_f64().unwrap();
        let x: Vec<f64> = sampled["x"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let problem = instance.problem().unwrap();
        let found = problem.evaluate(&x);
        assert!((found.mean - number("mean")).abs() <= 1e-8, "{}: {found:?}", instance.name);
        assert!((found.deviation - number("std")).abs() <= 1e-8, "{}: {found:?}", instance.name);
        assert!((found.value - number("acquisition")).abs() <= 1e-8, "{}: {found:?}", instance.name);
        assert!(problem.constraints.is_feasible(&x, Tolerance::Judge));
    }
    assert!(n_sampled >= 7, "{n_sampled} instances with a sampled point");
}
