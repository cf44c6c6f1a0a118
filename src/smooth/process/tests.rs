//! The process against explicit inverses, finite differences and impossible data.

use approx::assert_relative_eq;
use faer::Mat;
use proptest::prelude::{Strategy, any, prop, prop_assert, proptest};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::{Evaluator, SmoothProcess};
use crate::Table;
use crate::gbdt::{GbdtSettings, train};
use crate::smooth::testing::{coordinates, table};
use crate::smooth::{Coordinates, KernelKind, SmoothError, SmoothSettings};
use leafgp_solver::Domain;

const KINDS: [KernelKind; 2] = [KernelKind::AdditiveAndJoint, KernelKind::Joint];

/// The explicit inverse by Gauss-Jordan elimination.
fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    let n = matrix.nrows();
    let mut a = matrix.clone();
    let mut out: Mat<f64> = Mat::identity(n, n);
    for k in 0..n {
        let pivot = a[(k, k)];
        for j in 0..n {
            a[(k, j)] /= pivot;
            out[(k, j)] /= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[(i, k)];
            for j in 0..n {
                a[(i, j)] -= factor * a[(k, j)];
                out[(i, j)] -= factor * out[(k, j)];
            }
        }
    }
    out
}

/// Mean and variance by the formulas, from the definition of the correlation.
fn explicit(
    process: &SmoothProcess,
    rows: &[Vec<f64>],
    y: &[f64],
    at: &[f64],
    signal: Option<f64>,
) -> (f64, f64) {
    let p = process.parameters();
    let c = process.coordinates();
    // The same trees again, asked for the numbers of leaves in their own way.
    let forest = (p.tree_share > 0.0).then(|| {
        let settings = GbdtSettings {
            n_trees: 100,
            max_depth: 4,
            extra_trees: true,
            min_data_in_bin: 1,
            ..GbdtSettings::default()
        };
        let measured = process.measured_targets().len();
        let x = Table::from_rows(c.n_variables(), &rows[..measured]);
        train(&x, c.domains(), &y[..measured], None, &settings, 7).unwrap().forest
    });
    let agreement = |a: &[f64], b: &[f64]| {
        let Some(forest) = &forest else { return 0.0 };
        let (a, b) = (forest.active_leaves(a), forest.active_leaves(b));
        a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
    };
    let correlation = |from: &[f64], to: &[f64]| {
        let (a, b) = (c.of(from), c.of(to));
        let d = a.len();
        let m = |q: f64| (1.0 + (5.0 * q).sqrt() + 5.0 * q / 3.0) * (-(5.0 * q).sqrt()).exp();
        let delta2 = |i: usize| {
            if c.axes()[i].is_category() { f64::from(u8::from(a[i] != b[i])) } else { (a[i] - b[i]).powi(2) }
        };
        let joint = m((0..d).map(|i| delta2(i) / p.length_scales[i].powi(2)).sum());
        let own: f64 = (0..d).map(|i| m(delta2(i) / p.additive_length_scales[i].powi(2))).sum();
        (1.0 - p.additive_share - p.tree_share) * joint
            + p.additive_share / d as f64 * own
            + p.tree_share * agreement(from, to)
    };
    let n = rows.len();
    let r = Mat::from_fn(n, n, |i, j| {
        correlation(&rows[i], &rows[j]) + if i == j { p.nugget + 1e-10 } else { 0.0 }
    });
    let inverse = inverse(&r);
    let form = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| {
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                sum += a(i) * inverse[(i, j)] * b(j);
            }
        }
        sum
    };
    let one = |_: usize| 1.0;
    let k: Vec<f64> = rows.iter().map(|row| correlation(at, row)).collect();
    let k = |i: usize| k[i];
    let target = |i: usize| y[i];
    let mean = form(&one, &target) / form(&one, &one);
    let centred = |i: usize| y[i] - mean;
    let s2 = signal.unwrap_or((2.0 + form(&centred, &centred)) / (n as f64 + 2.0));
    let e = 1.0 - form(&one, &k);
    (mean + form(&k, &centred), s2 * (1.0 - form(&k, &k) + e * e / form(&one, &one)))
}

fn rows(x: &Table) -> Vec<Vec<f64>> {
    x.rows().map(<[f64]>::to_vec).collect()
}

#[test]
fn the_posterior_is_that_of_the_explicit_inverse() {
    for (kind, trees) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        for (seed, n) in [(1, 1), (2, 2), (3, 5), (4, 12), (5, 30)] {
            let (x, y) = table(seed, n);
            let settings = SmoothSettings { trees, ..SmoothSettings::with_kernel(kind) };
            let process = SmoothProcess::fit(&coordinates(), &x, &y, &settings).unwrap();
            assert_eq!(process.parameters().tree_share > 0.0, trees && n > 1, "{n} rows");
            let (others, _) = table(seed + 100, 8);
            for at in others.rows().chain(x.rows()) {
                let found = process.posterior(at);
                let (mean, variance) = explicit(&process, &rows(&x), &y, at, None);
                assert_relative_eq!(found.mean, mean, epsilon = 1e-8);
                assert_relative_eq!(
                    found.variance,
                    variance.max(1e-14 * process.signal_variance()),
                    epsilon = 1e-8
                );
            }
            let least = x.rows().map(|at| process.posterior(at).mean).fold(f64::INFINITY, f64::min);
            assert_relative_eq!(process.best(), least, epsilon = 1e-8);
        }
    }
}

#[test]
fn slopes_of_mean_and_variance_equal_finite_differences() {
    for kind in KINDS {
        let (x, y) = table(7, 25);
        let process = SmoothProcess::fit(&coordinates(), &x, &y, &SmoothSettings::with_kernel(kind)).unwrap();
        let mut evaluator = Evaluator::new(&process);
        let (points, _) = table(8, 10);
        for point in points.rows() {
            let u = process.coordinates().of(point);
            let (mut mean, mut variance) = (vec![0.0; 4], vec![0.0; 4]);
            evaluator.posterior(&u);
            evaluator.slopes(&u, &mut mean, &mut variance);
            for j in 0..3 {
                let mut moved = |by: f64| {
                    let mut u = u.clone();
                    u[j] += by;
                    evaluator.posterior(&u)
                };
                let h = 1e-5;
                let (up, down) = (moved(h), moved(-h));
                assert_relative_eq!(
                    mean[j],
                    (up.mean - down.mean) / (2.0 * h),
                    epsilon = 1e-6,
                    max_relative = 1e-6
                );
                assert_relative_eq!(
                    variance[j],
                    (up.variance - down.variance) / (2.0 * h),
                    epsilon = 1e-6,
                    max_relative = 1e-6
                );
            }
            assert_eq!((mean[3], variance[3]), (0.0, 0.0));
        }
    }
}

#[test]
fn believing_leaves_the_mean_and_shrinks_the_deviation() {
    let (x, y) = table(9, 20);
    let pending = vec![vec![0.3, 0.1, 2.0, 1.0], vec![1.7, 5.0, 0.0, 0.0]];
    for trees in [false, true] {
        let settings = SmoothSettings { trees, ..SmoothSettings::default() };
        let process = SmoothProcess::fit(&coordinates(), &x, &y, &settings).unwrap();
        let believed = process.believe(&pending).unwrap();
        assert_eq!(believed.best().to_bits() >> 20, process.best().to_bits() >> 20);
        let mut all = rows(&x);
        let mut targets = y.clone();
        for point in &pending {
            targets.push(process.posterior(point).mean);
            all.push(point.clone());
        }
        let (points, _) = table(10, 10);
        for at in points.rows().chain(pending.iter().map(Vec::as_slice)) {
            let (before, after) = (process.posterior(at), believed.posterior(at));
            assert_relative_eq!(before.mean, after.mean, epsilon = 1e-7);
            assert!(after.variance <= before.variance + 1e-9);
            let (mean, variance) = explicit(&believed, &all, &targets, at, Some(process.signal_variance()));
            assert_relative_eq!(after.mean, mean, epsilon = 1e-7);
            assert_relative_eq!(after.variance, variance, epsilon = 1e-7);
        }
        let at_pending = |p: &SmoothProcess| p.posterior(&pending[0]).variance;
        assert!(at_pending(&believed) < 0.5 * at_pending(&process));
        assert_eq!(process.believe(&[]).unwrap().n_rows(), 20);
    }
}

#[test]
fn assumed_values_count_as_rows_but_not_as_the_best_one() {
    let (x, y) = table(9, 20);
    let process = SmoothProcess::fit(&coordinates(), &x, &y, &SmoothSettings::default()).unwrap();
    let pending = vec![vec![0.3, 0.1, 2.0, 1.0], vec![1.7, 5.0, 0.0, 0.0]];
    let lies = [-7.0, 3.0];
    let assumed = process.assume(&pending, &lies).unwrap();
    assert!(assumed.best() > -3.0 && assumed.measured_targets() == y);
    let mut all = rows(&x);
    all.extend(pending.iter().cloned());
    let targets: Vec<f64> = y.iter().copied().chain(lies).collect();
    for at in table(10, 10).0.rows().chain(pending.iter().map(Vec::as_slice)) {
        let (mean, variance) = explicit(&assumed, &all, &targets, at, Some(process.signal_variance()));
        assert_relative_eq!(assumed.posterior(at).mean, mean, epsilon = 1e-7);
        assert_relative_eq!(assumed.posterior(at).variance, variance, epsilon = 1e-7);
    }
}

#[test]
fn draws_have_the_mean_and_the_covariance_of_the_posterior() {
    let (x, y) = table(9, 20);
    let process = SmoothProcess::fit(&coordinates(), &x, &y, &SmoothSettings::default()).unwrap();
    let pending = vec![vec![0.3, 0.1, 2.0, 1.0], vec![0.4, 0.1, 2.0, 1.0]];
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let n = 2000;
    let draws: Vec<[f64; 2]> = (0..n)
        .map(|_| {
            let drawn = process.draw(&pending, &mut rng).unwrap();
            [drawn.targets[20], drawn.targets[21]]
        })
        .collect();
    let mean = |f: &dyn Fn(&[f64; 2]) -> f64| draws.iter().map(f).sum::<f64>() / n as f64;
    let noise = process.parameters().nugget * process.signal_variance();
    let (first, second) = (process.posterior(&pending[0]), process.posterior(&pending[1]));
    for (k, at) in [first, second].into_iter().enumerate() {
        let error = 4.0 * (at.variance + noise).sqrt() / (n as f64).sqrt();
        assert_relative_eq!(mean(&|draw| draw[k]), at.mean, epsilon = error);
        let variance = mean(&|draw| (draw[k] - at.mean).powi(2));
        assert_relative_eq!(variance, at.variance + noise, max_relative = 0.15);
    }
    // The covariance c from the variance that is left at the second point once the first one is measured: v2 - c^2/(v1 + noise).
    let known = process.assume(&pending[..1], &[first.mean]).unwrap().posterior(&pending[1]).variance;
    let covariance = mean(&|draw| (draw[0] - first.mean) * (draw[1] - second.mean));
    let expected = ((first.variance + noise) * (second.variance - known)).sqrt();
    let deviations = ((first.variance + noise) * (second.variance + noise)).sqrt();
    assert!(expected > 0.2 * deviations, "the points are too far apart: {expected} {deviations}");
    assert!((covariance - expected).abs() < 0.1 * deviations, "{covariance} {expected}");
}

#[test]
fn the_same_data_give_the_same_process_and_many_rows_are_thinned() {
    let (x, y) = table(11, 60);
    let mut settings = SmoothSettings::default();
    (settings.parameter_rows, settings.condition_rows) = (30, 40);
    let fit = || SmoothProcess::fit(&coordinates(), &x, &y, &settings).unwrap();
    let (first, second) = (fit(), fit());
    assert_eq!(first.parameters(), second.parameters());
    assert_eq!(first.n_rows(), 40);
    let at = [0.0, 1.0, 1.0, 1.0];
    assert_eq!(first.posterior(&at), second.posterior(&at));
}

#[test]
fn data_that_cannot_be_used_are_refused_and_named() {
    let (x, y) = table(1, 3);
    let fit = |x: &Table, y: &[f64]| {
        SmoothProcess::fit(&coordinates(), x, y, &SmoothSettings::default()).unwrap_err()
    };
    assert_eq!(fit(&x, &y[..2]), SmoothError::Length { rows: 3, targets: 2 });
    assert_eq!(fit(&Table::new(4), &[]), SmoothError::NoRows);
    assert_eq!(
        fit(&Table::from_values(1, vec![0.0]), &[0.0]),
        SmoothError::Columns { columns: 1, expected: 4 }
    );
    assert!(matches!(fit(&x, &[0.0, f64::NAN, 1.0]), SmoothError::Target { row: 1, .. }));
    assert!(matches!(fit(&x, &[0.0, 1.0, 1e200]), SmoothError::Target { row: 2, .. }));
    let mut bad = x.clone();
    bad.push(&[0.0, f64::INFINITY, 0.0, 0.0]);
    assert!(matches!(fit(&bad, &[0.0; 4]), SmoothError::Point { row: 3, column: 1, .. }));
}

#[test]
fn a_space_of_one_point_has_a_process() {
    let coordinates = Coordinates::new(&[Domain::Integer { lower: 2.0, upper: 2.0 }], &[false]);
    let x = Table::from_values(1, vec![2.0, 2.0]);
    let process = SmoothProcess::fit(&coordinates, &x, &[1.0, -1.0], &SmoothSettings::default()).unwrap();
    let at = process.posterior(&[2.0]);
    assert!(at.mean.abs() < 1e-9 && at.variance > 0.0);
}

/// A coordinate inside or far outside its range, near a few values so that rows collide.
fn coordinate() -> impl Strategy<Value = f64> {
    (0..8usize, any::<i8>(), -1.0..2.0f64).prop_map(|(kind, tiny, u)| match kind {
        0 | 1 => 0.5,
        2 => 0.5 + f64::from(tiny) * 1e-14,
        3 => 1e300,
        4 => -1e300,
        5 => f64::from(tiny) * 1e-308,
        _ => u,
    })
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_data_make_a_nan(
        data in prop::collection::vec(([coordinate(), coordinate(), coordinate()], 0..3u8, 0..6usize, -3.0..3.0f64), 1..14),
        joint in any::<bool>(),
    ) {
        let domains = [
            Domain::Continuous { lower: 0.0, upper: 1.0 },
            Domain::Continuous { lower: 0.1, upper: 1e4 },
            Domain::Integer { lower: 0.0, upper: 3.0 },
            Domain::Categorical { levels: 3 },
        ];
        let coordinates = Coordinates::new(&domains, &[false, true, false, false]);
        let mut x = Table::new(4);
        let mut y = Vec::new();
        for ([a, b, c], level, kind, value) in data {
            x.push(&[a, b, c, f64::from(level)]);
            y.push(match kind { 0 | 1 => 0.0, 2 => 1e100, 3 => 1e-300 * value, _ => value });
        }
        let kind = if joint { KernelKind::Joint } else { KernelKind::AdditiveAndJoint };
        let process = SmoothProcess::fit(&coordinates, &x, &y, &SmoothSettings::with_kernel(kind)).unwrap();
        prop_assert!(process.best().is_finite() && process.signal_variance() > 0.0);
        let centre = [0.4, 3.0, 1.0, 1.0];
        let mut evaluator = Evaluator::new(&process);
        for at in x.rows().chain([&centre[..]]) {
            let u = coordinates.of(at);
            let posterior = evaluator.posterior(&u);
            prop_assert!(posterior.mean.is_finite() && posterior.variance > 0.0 && posterior.variance.is_finite(), "{posterior:?}");
            let (mut mean, mut variance) = ([0.0; 4], [0.0; 4]);
            evaluator.slopes(&u, &mut mean, &mut variance);
            prop_assert!(mean.iter().chain(&variance).all(|s| s.is_finite()));
        }
        let believed = process.believe(&[centre.to_vec(), centre.to_vec()]).unwrap();
        prop_assert!(believed.posterior(&centre).mean.is_finite());
    }
}
