//! Feasible points in short decimals.

use super::dive::fixed;
use super::task::Search;
use crate::domain::Domain;
use crate::questions::digits_range;
use crate::region::{Range, Region};

/// Digits of a coordinate at first, and at most before the full f64 is kept.
const FIRST_DIGITS: i32 = 4;
const LAST_DIGITS: i32 = 15;

impl Search<'_> {
    /// See [`crate::Constraints::shorten`].
    pub(crate) fn shorten(&mut self, x: &[f64], region: &Region) -> Vec<f64> {
        let feasible = |s: &mut Self, y: &[f64]| s.is_feasible(y) && region.contains(y);
        if !feasible(self, x) {
            return x.to_vec();
        }
        let mut best = x.to_vec();
        // What is still free to give way to a rounded coordinate.
        let mut rest = region.clone();
        let mut open = Vec::new();
        for (v, domain) in self.domains.iter().enumerate() {
            if matches!(domain, Domain::Continuous { .. }) && !rest.0[v].is_fixed() {
                open.push(v);
            } else {
                rest.0[v] = fixed(domain, best[v]);
            }
        }
        let task = self.everything();
        for v in open {
            if self.limits.must_stop() {
                break;
            }
            let Range::Interval { lower, upper } = rest.0[v] else { continue };
            let width = digits_range(&self.domains[v], &region.0[v]);
            'digits: for digits in FIRST_DIGITS..=LAST_DIGITS {
                for candidate in decimals(best[v], width, digits) {
                    if candidate < lower || candidate > upper {
                        continue;
                    }
                    let mut y = best.clone();
                    y[v] = candidate;
                    if feasible(self, &y) {
                        best = y;
                        break 'digits;
                    }
                    // The others may give way: a sum that must be one stays one.
                    let mut child = rest.clone();
                    child.0[v] = fixed(&self.domains[v], candidate);
                    if self.newton(&task, &task.roots, &child, &mut y, false) && feasible(self, &y) {
                        best = y;
                        break 'digits;
                    }
                }
            }
            rest.0[v] = fixed(&self.domains[v], best[v]);
        }
        best
    }
}

/// The decimal of about so many digits nearest to `x`, then its neighbours.
fn decimals(x: f64, range: f64, digits: i32) -> impl Iterator<Item = f64> {
    let scale = range.min(x.abs().max(1e-3 * range)).max(f64::MIN_POSITIVE);
    let places = digits - 1 - scale.log10().floor() as i32;
    let factor = 10f64.powi(places.clamp(-300, 300).abs());
    let unit = move |k: f64| if places >= 0 { k / factor } else { k * factor };
    let whole = if places >= 0 { x * factor } else { x / factor };
    let nearest = whole.round();
    let towards = if whole >= nearest { 1.0 } else { -1.0 };
    [nearest, nearest + towards, nearest - towards]
        .into_iter()
        .map(unit)
        .filter(move |_| nearest.abs() < 9e15 && (0..=22).contains(&places.abs()))
}

#[cfg(test)]
mod tests {
    use super::decimals;

    #[test]
    fn decimals_are_the_nearest_of_so_many_digits() {
        let all: Vec<f64> = decimals(0.123_456, 1.0, 4).collect();
        assert_eq!(all, [0.1235, 0.1234, 0.1236]);
        assert_eq!(decimals(1234.56, 5000.0, 4).next(), Some(1235.0));
        assert_eq!(decimals(98_765.4, 200_000.0, 4).next(), Some(98_770.0));
        assert_eq!(decimals(3.216e-5, 0.1, 4).next(), Some(3.22e-5));
    }
}
