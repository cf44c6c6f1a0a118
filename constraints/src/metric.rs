//! The distance that projections minimise (Eq. 11 of the LEAF-GP paper).

use crate::domain::Domain;
use crate::region::{Range, Region};

/// `sum ((x_i - c_i) / range_i)^2 + number of changed categories`.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) centre: Vec<f64>,
    /// `1 / range^2`; 1 for a category, 0 for a variable of a single value.
    pub(crate) weight: Vec<f64>,
}

impl Metric {
    pub(crate) fn new(domains: &[Domain], centre: &[f64]) -> Self {
        let weight = domains.iter().map(|domain| {
            let (lower, upper) = domain.bounds();
            let range = upper - lower;
            if domain.is_categorical() {
                1.0
            } else if range > 0.0 {
                1.0 / (range * range)
            } else {
                0.0
            }
        });
        Self { centre: centre.to_vec(), weight: weight.collect() }
    }

    /// The term of a variable.
    pub(crate) fn term(&self, domain: &Domain, v: usize, x: f64) -> f64 {
        if domain.is_categorical() {
            f64::from(u8::from(x != self.centre[v]))
        } else {
            let d = x - self.centre[v];
            self.weight[v] * d * d
        }
    }

    /// The sum over some variables.
    pub(crate) fn distance(&self, domains: &[Domain], variables: &[usize], x: &[f64]) -> f64 {
        variables.iter().map(|&v| self.term(&domains[v], v, x[v])).sum()
    }

    /// The value of a variable within a box that is nearest to the centre; `None` when its range holds no allowed value.
    pub(crate) fn nearest(&self, domain: &Domain, v: usize, range: &Range) -> Option<f64> {
        match range {
            Range::Interval { lower, upper } => domain.nearest(self.centre[v], *lower, *upper),
            Range::Levels(levels) => {
                if range.contains(self.centre[v]) {
                    Some(self.centre[v])
                } else {
                    levels.first().map(|l| l as f64)
                }
            }
        }
    }

    /// The point of a box nearest to the centre.
    pub(crate) fn clamp(&self, domains: &[Domain], region: &Region) -> Option<Vec<f64>> {
        domains
            .iter()
            .zip(&region.0)
            .enumerate()
            .map(|(v, (domain, range))| self.nearest(domain, v, range))
            .collect()
    }
}
