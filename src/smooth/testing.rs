//! Shared material of the tests.

use leafgp_solver::Domain;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::Coordinates;
use super::kernel::Columns;
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
