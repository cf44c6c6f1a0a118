//! A constant exponent.

use super::curve::Curve;
use super::univariate::{Line, Univariate};
use crate::interval::{Interval, down4, up4};

/// `x ^ exponent` wherever it is defined: any `x` for whole exponents (not 0 for negative ones), `x >= 0` otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Power(pub(super) f64);

impl Univariate for Power {
    fn names(&self) -> &'static [&'static str] {
        &[]
    }

    fn parameter(&self) -> Option<f64> {
        Some(self.0)
    }

    fn value(&self, x: f64) -> f64 {
        if self.0 == 2.0 {
            x * x
        } else if (x == 0.0 && self.0 < 0.0) || (x < 0.0 && self.0.fract() != 0.0) {
            // The library has a root of minus infinity, to which a sum overflowed.
            f64::NAN
        } else {
            x.powf(self.0)
        }
    }

    fn size(&self, argument: f64, magnitude: f64) -> f64 {
        match self.0 {
            2.0 => argument * argument,
            p if p > 0.0 => argument.powf(p),
            _ => magnitude,
        }
    }

    fn derivative(&self, x: f64) -> f64 {
        match self.0 {
            2.0 => 2.0 * x,
            -1.0 => -1.0 / (x * x),
            3.0 => 3.0 * x * x,
            p => p * x.powf(p - 1.0),
        }
    }

    /// Through the library's power, with one rounding less than a quotient by `x * x`.
    fn chain(&self, adjoint: f64, x: f64, _y: f64) -> f64 {
        let slope = if self.0 == -1.0 { -x.powf(-2.0) } else { self.derivative(x) };
        adjoint * slope
    }

    fn chain_over(&self, adjoint: Interval, x: Interval, _y: Interval) -> Interval {
        adjoint * (raised(x, self.0 - 1.0) * self.0)
    }

    fn image(&self, x: Interval) -> Interval {
        raised(x, self.0)
    }

    fn inverse(&self, x: Interval, _y: Interval, real: Interval) -> Interval {
        roots(x, real, self.0)
    }

    fn is_total(&self) -> bool {
        self.0 >= 0.0 && self.0.fract() == 0.0
    }

    fn is_defined_over(&self, x: Interval) -> bool {
        (self.0 > 0.0 || !x.contains(0.0)) && (self.0.fract() == 0.0 || x.lo >= 0.0)
    }

    fn divides(&self) -> bool {
        self.0 < 0.0
    }

    fn is_whole(&self, whole_argument: bool) -> bool {
        whole_argument && self.0 > 0.0 && self.0.fract() == 0.0
    }

    /// One product is rounded monotonically; of the library's power that is not known.
    fn attained(&self, low: f64, high: f64) -> Option<[f64; 2]> {
        let (a, b) = (low * low, high * high);
        let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { a.min(b) };
        (self.0 == 2.0).then_some([least, a.max(b)])
    }

    fn estimator(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        self.tangent_or_secant(x, y, at, below)
    }
}

impl Curve for Power {
    fn quick(&self, x: f64) -> f64 {
        match self.0 {
            -1.0 => 1.0 / x,
            3.0 => x * x * x,
            _ => self.value(x),
        }
    }

    fn stationary(&self, slope: f64) -> [f64; 2] {
        match self.0 {
            2.0 => [0.5 * slope, f64::NAN],
            -1.0 => {
                let root = (-1.0 / slope).sqrt();
                [root, -root]
            }
            p => {
                let ratio = slope / p;
                let root = if p == 3.0 { ratio.abs().sqrt() } else { ratio.abs().powf(1.0 / (p - 1.0)) };
                if p.fract() != 0.0 {
                    [root, f64::NAN]
                } else if is_even(p) {
                    // The derivative is odd: one point on the side of its sign.
                    [root.copysign(ratio), f64::NAN]
                } else {
                    [root, -root]
                }
            }
        }
    }

    fn is_convex(&self, l: f64, u: f64) -> Option<bool> {
        let p = self.0;
        if p.fract() != 0.0 {
            Some(!(0.0..=1.0).contains(&p))
        } else if is_even(p) || l >= 0.0 {
            Some(true)
        } else if u <= 0.0 {
            Some(false)
        } else {
            None
        }
    }
}

/// Whether a whole exponent is even.
fn is_even(exponent: f64) -> bool {
    // Beyond 2^53 every float is even.
    exponent.abs() >= 9.007_199_254_740_992e15 || exponent as i64 % 2 == 0
}

/// `x ^ exponent` over an interval.
fn raised(x: Interval, exponent: f64) -> Interval {
    if x.is_empty() {
        return x;
    }
    if exponent == 2.0 {
        return x.sqr();
    }
    if exponent == 0.0 {
        return Interval::point(1.0);
    }
    if exponent < 0.0 {
        return Interval::point(1.0) / raised(x, -exponent);
    }
    // Within two floats of the cube, as the library's power is: the widening below covers both.
    let raise = |x: f64| if exponent == 3.0 { x * x * x } else { x.powf(exponent) };
    if exponent.fract() != 0.0 {
        let x = x.intersect(Interval::new(0.0, f64::INFINITY));
        return if x.is_empty() { x } else { Interval::new(down4(raise(x.lo)).max(0.0), up4(raise(x.hi))) };
    }
    if is_even(exponent) {
        let a = x.abs();
        return Interval::new(down4(raise(a.lo)).max(0.0), up4(raise(a.hi)));
    }
    Interval::new(down4(raise(x.lo)), up4(raise(x.hi)))
}

/// The elements of `x` whose power is in `z`.
fn roots(x: Interval, z: Interval, exponent: f64) -> Interval {
    if z.is_empty() {
        return Interval::EMPTY;
    }
    // Powers of what is neither small nor huge may round to zero: 0.0005^100, 1000^-110.
    let z = z.underflown();
    if exponent < 0.0 {
        let inverse = Interval::point(1.0).quotient_parts(z);
        let first = roots(x, inverse.0.loosened(), -exponent);
        return first.hull(roots(x, inverse.1.loosened(), -exponent));
    }
    if exponent == 0.0 {
        return if z.contains(1.0) { x } else { Interval::EMPTY };
    }
    // The root, and how far the rounded exponent 1/n puts it off: half an epsilon times its logarithm. Four floats cover a logarithm of 4.
    let root = |z: f64| {
        if exponent == 2.0 {
            return (z.sqrt(), 0.0);
        }
        let root = z.powf(1.0 / exponent);
        let excess = (root.ln().abs() - 4.0).max(0.0) * f64::EPSILON * root;
        (root, if root > 0.0 { excess } else { 0.0 })
    };
    let floor = |z: f64| {
        let (root, off) = root(z);
        down4(root - off).max(0.0)
    };
    let ceil = |z: f64| {
        let (root, off) = root(z);
        up4(root + off)
    };
    let positive = |z: Interval| {
        if z.hi < 0.0 {
            Interval::EMPTY
        } else {
            let lo = if z.lo <= 0.0 { 0.0 } else { floor(z.lo) };
            Interval::new(lo, ceil(z.hi))
        }
    };
    if exponent.fract() != 0.0 {
        return x.intersect(positive(z));
    }
    if is_even(exponent) {
        let branch = positive(z);
        return x.intersect(branch).hull(x.intersect(-branch));
    }
    let negative = -positive(-z);
    x.intersect(positive(z).hull(negative))
}

#[cfg(test)]
mod tests {
    use super::super::univariate::Univariate;
    use super::{Power, roots};
    use crate::interval::Interval;

    #[test]
    fn powers_are_undefined_where_mathematics_says_so() {
        assert!(Power(-1.0).value(0.0).is_nan());
        assert!(Power(0.5).value(-2.0).is_nan());
        assert_eq!(Power(3.0).value(-2.0), -8.0);
        assert!(Power(0.5).value(f64::NEG_INFINITY).is_nan());
        assert_eq!(Power(3.0).value(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(Power(0.5).value(0.0), 0.0);
    }

    #[test]
    fn the_lines_of_the_square_are_tangent_and_secant() {
        let x = Interval::new(-1.0, 3.0);
        let tangent = Power(2.0).estimator(x, x.sqr(), 2.0, true).unwrap();
        assert_eq!((tangent.slope, tangent.constant), (4.0, -4.0));
        let secant = Power(2.0).estimator(x, x.sqr(), 2.0, false).unwrap();
        assert_eq!((secant.slope, secant.constant), (2.0, 3.0));
    }

    /// The exponent 1/5 is not a float: far from 1 the root computed with it is off by many floats.
    #[test]
    fn roots_of_very_large_and_small_numbers_are_kept() {
        for exponent in [3.0, 5.0, 7.0, 2.5] {
            for k in -30..=30 {
                let u = 2.52 * 10f64.powi(k);
                let z = Interval::point(Power(exponent).value(u)).loosened();
                assert!(roots(Interval::ENTIRE, z, exponent).contains(u), "{u} ^ {exponent}");
            }
        }
    }
}
