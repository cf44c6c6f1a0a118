//! A whole-valued define: the nearest whole number when it is nearly that, the value itself otherwise.
//!
//! How near is a setting of the question, so this is no [`Univariate`](super::Univariate).

use crate::interval::Interval;

/// A value within this of a whole number counts as whole (relative to `max(1, |x|)`); a little more than what is printed may differ.
const SNAP: f64 = 1.01e-9;
/// The largest difference that any tolerance allows: beyond it large numbers would be whole whatever they are.
const MOST: f64 = 1e-3;

/// How far from whole a number of this magnitude may be.
pub(crate) fn reach(magnitude: f64, tolerance: f64) -> f64 {
    (tolerance * magnitude.max(1.0)).min(MOST)
}

/// A little more than how far a number of this magnitude may be from the whole number that is printed.
pub(crate) fn snap(magnitude: f64) -> f64 {
    (SNAP * magnitude.max(1.0)).min(1.01 * MOST)
}

/// The value, with a relative tolerance.
pub(crate) fn value(x: f64, tolerance: f64) -> f64 {
    if (x - x.round()).abs() <= reach(x.abs(), tolerance) { x.round() } else { x }
}

/// The values over an interval, with at most [`snap`] as tolerance.
pub(crate) fn image(x: Interval) -> Interval {
    if x.is_empty() {
        return x;
    }
    let lo = if x.lo - x.lo.floor() <= snap(x.lo.abs()) { x.lo.floor() } else { x.lo };
    let hi = if x.hi.ceil() - x.hi <= snap(x.hi.abs()) { x.hi.ceil() } else { x.hi };
    Interval::new(lo, hi)
}

/// Arguments that may have been rounded to a value in `y`.
pub(crate) fn inverse(y: Interval) -> Interval {
    y.widened(snap(1.0 + y.magnitude().min(f64::MAX)))
}

/// How far the values in `y` may be from their arguments.
pub(crate) fn distance(y: Interval) -> f64 {
    snap(1.0 + y.magnitude())
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::{distance, image, inverse, value};
    use crate::interval::Interval;

    #[test]
    fn rounded_values_are_covered_both_ways() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut rounded = 0;
        for _ in 0..10_000 {
            let whole: f64 = rng.random_range(-2000..2000).into();
            let x = whole + rng.random_range(-3e-9..3e-9) * whole.abs().max(1.0);
            let y = value(x, 1e-9);
            rounded += u32::from(y == whole);
            let around = Interval::new(x - rng.random::<f64>() * 1e-9, x + rng.random::<f64>() * 1e-9);
            assert!(image(around).contains(y), "{x}");
            assert!(inverse(Interval::point(y)).contains(x), "{x}");
            assert!((x - y).abs() <= distance(Interval::point(y)), "{x}");
        }
        assert!((2_000..8_000).contains(&rounded), "{rounded} of 10000");
    }
}
