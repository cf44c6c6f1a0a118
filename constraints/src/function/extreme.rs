//! Minimum and maximum of two numbers.

use crate::interval::Interval;

/// `min` or `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extreme {
    Min,
    Max,
}

/// A plane `a * first + b * second + constant`, and how far rounding may have moved it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) constant: f64,
    pub(crate) error: f64,
}

impl Extreme {
    /// The one of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// Whether `a` is the one (of two equal numbers it is).
    pub(crate) fn takes_first(self, a: f64, b: f64) -> bool {
        match self {
            Self::Min => a <= b,
            Self::Max => a >= b,
        }
    }

    /// The value; NaN when one of the two is.
    pub(crate) fn value(self, a: f64, b: f64) -> f64 {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else if self.takes_first(a, b) {
            a
        } else {
            b
        }
    }

    /// The value; the other number when one is NaN.
    pub(crate) fn of_defined(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }

    /// The values over two intervals.
    pub(crate) fn image(self, x: Interval, y: Interval) -> Interval {
        if x.is_empty() || y.is_empty() {
            return Interval::EMPTY;
        }
        Interval::new(self.of_defined(x.lo, y.lo), self.of_defined(x.hi, y.hi))
    }

    /// What both numbers must satisfy for the value to be in `z`. One of them must also be in `z`.
    pub(crate) fn limits(self, z: Interval) -> Interval {
        match self {
            Self::Min => Interval::new(z.lo, f64::INFINITY),
            Self::Max => Interval::new(f64::NEG_INFINITY, z.hi),
        }
    }

    /// Planes below (or above) the value for numbers in `x` and `y`.
    pub(crate) fn estimators(self, x: Interval, y: Interval, below: bool) -> [Option<Plane>; 2] {
        if below == (self == Self::Max) {
            // max >= a, max >= b; min <= a, min <= b.
            let plane = |a, b| Some(Plane { a, b, constant: 0.0, error: 0.0 });
            return [plane(1.0, 0.0), plane(0.0, 1.0)];
        }
        // max(a, b) = b + max(a - b, 0), and max(d, 0) lies below its secant over d's range; min(a, b) = a - max(a - b, 0).
        let d = x - y;
        if !(d.lo.is_finite() && d.hi.is_finite()) {
            return [None, None];
        }
        let share = if d.lo >= 0.0 {
            1.0
        } else if d.hi <= 0.0 {
            0.0
        } else {
            d.hi / (d.hi - d.lo)
        };
        let offset = if d.lo < 0.0 && d.hi > 0.0 { share * d.lo } else { 0.0 };
        let (a, b, constant) = match self {
            Self::Min => (1.0 - share, share, offset),
            Self::Max => (share, 1.0 - share, -offset),
        };
        [Some(Plane { a, b, constant, error: f64::EPSILON * d.magnitude() }), None]
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::Extreme;
    use crate::interval::Interval;

    #[test]
    fn bounds_and_planes_hold_at_points() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..3_000 {
            let mut side = || {
                let (l, u) = (rng.random_range(-3.0..3.0_f64), rng.random_range(-3.0..3.0_f64));
                Interval::new(l.min(u), l.max(u))
            };
            let (x, y) = (side(), side());
            for extreme in [Extreme::Min, Extreme::Max] {
                for corner in 0..8 {
                    let mut inside = |range: Interval, bit: usize| match corner >> bit & 1 {
                        0 if corner < 4 => range.lo,
                        1 if corner < 4 => range.hi,
                        _ => rng.random_range(range.lo..=range.hi),
                    };
                    let (a, b) = (inside(x, 0), inside(y, 1));
                    let value = extreme.value(a, b);
                    assert_eq!(value, extreme.of_defined(a, b));
                    assert!(extreme.image(x, y).contains(value));
                    let limits = extreme.limits(Interval::point(value));
                    assert!(limits.contains(a) && limits.contains(b));
                    for below in [true, false] {
                        for plane in extreme.estimators(x, y, below).into_iter().flatten() {
                            let gap = value - (plane.a * a + plane.b * b + plane.constant);
                            let gap = if below { gap } else { -gap };
                            assert!(gap >= -plane.error - 1e-15, "{extreme:?} at {a}, {b}: {gap}");
                        }
                    }
                }
            }
        }
        assert!(Extreme::Min.value(f64::NAN, 1.0).is_nan());
    }
}
