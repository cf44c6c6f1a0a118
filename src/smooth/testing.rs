//! Shared material of the tests.

use leafgp_solver::Domain;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::descent::Surface;
use super::kernel::Columns;
use super::{Coordinates, SmoothProcess};
use crate::Table;

/// Two reals (one on a log scale), an integer and a category.
pub(super) fn coordinates() -> Coordinates {
    Coordinates::new(
        &[
            Domain::Continuous { lower: -1.0, upper: 2.0 },
            Domain::Continuous { lower: 1e-3, upper: 10.0 },
            Domain::Integer { lower: 0.0, upper: 5.0 },
            Domain::Categorical { levels: 3 },
        ],
        &[false, true, false, false],
    )
}

/// Random points of [`coordinates`] with targets of a smooth function and some noise.
pub(super) fn table(seed: u64, n: usize) -> (Table, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut x = Table::new(4);
    let mut y = Vec::new();
    for _ in 0..n {
        let point = [
            rng.random_range(-1.0..2.0),
            10f64.powf(rng.random_range(-3.0..1.0)),
            f64::from(rng.random_range(0..6)),
            f64::from(rng.random_range(0..3)),
        ];
        let noise: f64 = rng.random_range(-0.05..0.05);
        y.push(
            (2.0 * point[0]).sin() + 0.3 * point[1].ln() * point[0] - 0.2 * point[2] + 0.4 * point[3] + noise,
        );
        x.push(&point);
    }
    (x, y)
}

/// The same as columns of coordinates.
pub(super) fn sample(seed: u64, n: usize) -> (Columns, Vec<f64>) {
    let (x, y) = table(seed, n);
    (Columns::new(&coordinates(), x.rows()), y)
}

/// Asserts that a surface over [`coordinates`] says the same value with and without slopes, and that its slopes equal finite differences: 0 for the category.
pub(super) fn assert_slopes_equal_finite_differences(
    surface: &mut impl Surface,
    process: &SmoothProcess,
    what: &dyn std::fmt::Debug,
) {
    let (points, _) = table(22, 20);
    for point in points.rows() {
        let u = process.coordinates().of(point);
        let mut slopes = [0.0; 4];
        let value = surface.value_and_slopes(&u, &mut slopes);
        assert_eq!(value, surface.value(&u));
        for j in 0..3 {
            let mut moved = |by: f64| {
                let mut u = u.clone();
                u[j] += by;
                surface.value(&u)
            };
            let h = 1e-5;
            let difference = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
            let error = (slopes[j] - difference).abs() / difference.abs().max(1.0);
            assert!(error < 1e-5, "{what:?} {j}: {} {difference}", slopes[j]);
        }
        assert_eq!(slopes[3], 0.0);
    }
}
