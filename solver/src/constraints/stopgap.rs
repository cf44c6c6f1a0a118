//! Sampling stand-ins until the search for feasible points is in place.

use rand::{Rng, RngExt, SeedableRng};

use super::{Constraints, Decision, Limits, Projection, Tolerance};
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

pub(super) fn decide(set: &Constraints, region: &Region, _limits: Limits) -> Decision {
    let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(0);
    sample(set, region, &mut rng)
        .map_or_else(|| Decision::Undecided("sampling found nothing".into()), Decision::Feasible)
}

fn distance(set: &Constraints, a: &[f64], b: &[f64]) -> f64 {
    let term = |(domain, (a, b)): (&crate::Domain, (&f64, &f64))| {
        let (lower, upper) = domain.bounds();
        match (a == b, domain.is_categorical()) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => ((a - b) / (upper - lower)).powi(2),
        }
    };
    set.domains.iter().zip(a.iter().zip(b)).map(term).sum()
}

pub(super) fn project(set: &Constraints, region: &Region, centre: &[f64], _limits: Limits) -> Projection {
    let mut nearest: Option<(Vec<f64>, f64)> = None;
    let clamped: Option<Vec<f64>> = set
        .domains
        .iter()
        .zip(&region.0)
        .zip(centre)
        .map(|((domain, range), &c)| match range {
            Range::Interval { lower, upper } => domain.nearest(c, *lower, *upper),
            Range::Levels(levels) => {
                if range.contains(c) {
                    Some(c)
                } else {
                    levels.first().map(|l| l as f64)
                }
            }
        })
        .collect();
    let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(0);
    let mut bound = 0.0;
    if let Some(x) = clamped {
        if set.is_feasible(&x, Tolerance::Produce) {
            bound = distance(set, &x, centre);
            return Projection { nearest: Some((x, bound)), bound };
        }
    } else {
        bound = f64::INFINITY;
    }
    for _ in 0..50 {
        if let Some(x) = sample(set, region, &mut rng) {
            let d = distance(set, &x, centre);
            if nearest.as_ref().is_none_or(|(_, best)| d < *best) {
                nearest = Some((x, d));
            }
        }
    }
    Projection { nearest, bound }
}
