//! Sums of two f64 (about 32 digits), for twins that must be right where f64 is not.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

/// The sum and what its rounding lost (Knuth).
fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let b_part = high - a;
    Double { high, low: (a - (high - b_part)) + (b - b_part) }
}

impl Double {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The nearest f64.
    pub fn round(self) -> f64 {
        self.high
    }

    /// The root, by one step of Newton's method from that of f64.
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        let root = Self::from(self.high.sqrt());
        root + (self - root * root) / (root + root)
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let first = two_sum(high.high, high.low + low.high);
        two_sum(first.high, first.low + low.low)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let lost = self.high.mul_add(other.high, -high);
        two_sum(high, lost + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = Self::from(self.high / other.high);
        let rest = self - first * other;
        let second = Self::from(rest.high / other.high);
        let rest = rest - second * other;
        first + second + Self::from(rest.high / other.high)
    }
}

#[test]
fn thirds_and_roots_have_thirty_digits() {
    let three = Double::from(3.0);
    let third = Double::from(1.0) / three;
    assert!((third * three - Double::from(1.0)).round().abs() < 1e-31);
    assert!((third - Double::from(1.0 / 3.0)).round().abs() > 1e-18);
    assert!((three.sqrt() * three.sqrt() - three).round().abs() < 1e-30);
    // 1 + 1e-20 - 1, which f64 loses.
    let tiny = Double::from(1e-20);
    assert!(((Double::from(1.0) + tiny - Double::from(1.0)) - tiny).round().abs() < 1e-36);
}
