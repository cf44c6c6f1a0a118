//! Sampling stand-ins until the search for feasible points is in place.

use rand::{Rng, RngExt};

use super::{Constraints, Tolerance};
use crate::region::{Range, Region};

pub(super) fn sample(set: &Constraints, region: &Region, rng: &mut impl Rng) -> Option<Vec<f64>> {
    for _ in 0..2000 {
        let mut x = Vec::with_capacity(set.domains.len());
        for (domain, range) in set.domains.iter().zip(&region.0) {
            x.push(match range {
                Range::Interval { lower, upper } => {
                    domain.nearest(lower + (upper - lower) * rng.random::<f64>(), *lower, *upper)?
                }
                Range::Levels(levels) => levels.iter().nth(rng.random_range(0..levels.len().max(1)))? as f64,
            });
        }
        set.deactivate(&mut x);
        if region.contains(&x) && set.is_feasible(&x, Tolerance::Produce) {
            return Some(x);
        }
    }
    None
}
