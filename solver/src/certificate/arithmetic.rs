//! Intervals with outward rounding: each operation is computed to nearest and widened by one float on either side.

/// A closed interval that holds a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    pub(super) fn exact(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// What overflowed into no number may be anything.
    fn outward(low: f64, high: f64) -> Self {
        Self {
            low: if low.is_nan() { f64::NEG_INFINITY } else { low.next_down() },
            high: if high.is_nan() { f64::INFINITY } else { high.next_up() },
        }
    }

    /// The ends of four products or quotients.
    fn hull(ends: [f64; 4]) -> Self {
        if ends.iter().any(|end| end.is_nan()) {
            return Self::outward(f64::NAN, f64::NAN);
        }
        let low = ends.iter().fold(f64::INFINITY, |a, &b| a.min(b));
        let high = ends.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        Self::outward(low, high)
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self::outward(self.low + other.low, self.high + other.high)
    }

    pub(super) fn sub(self, other: Self) -> Self {
        Self::outward(self.low - other.high, self.high - other.low)
    }

    pub(super) fn mul(self, other: Self) -> Self {
        Self::hull([
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ])
    }

    /// Quotient by a positive interval.
    pub(super) fn div_positive(self, other: Self) -> Self {
        Self::hull([
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ])
    }

    /// Root of the non-negative part.
    pub(super) fn sqrt(self) -> Self {
        let root = Self::outward(self.low.max(0.0).sqrt(), self.high.max(0.0).sqrt());
        Self { low: root.low.max(0.0), high: root.high }
    }
}

/// `a.b`: the sum in plain arithmetic, widened by the a priori error bound `n eps sum |a_k b_k|` of any order of summation.
pub(super) fn dot(a: &[f64], b: &[f64]) -> Bounds {
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let product = x * y;
        sum += product;
        magnitude += product.abs();
    }
    let error = 1.01 * (a.len() as f64 + 2.0) * f64::EPSILON * magnitude + f64::MIN_POSITIVE;
    if error.is_finite() {
        Bounds::outward(sum - error, sum + error)
    } else {
        Bounds::outward(f64::NAN, f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, dot};

    #[test]
    fn intervals_hold_the_exact_result() {
        let third = Bounds::exact(1.0).div_positive(Bounds::exact(3.0));
        assert!(third.low < third.high && third.low <= 1.0 / 3.0 && 1.0 / 3.0 <= third.high);
        let one = third.mul(Bounds::exact(3.0));
        assert!(one.low < 1.0 && one.high > 1.0 && one.high - one.low < 1e-14);
        let root = Bounds::exact(2.0).sqrt();
        let two = root.mul(root);
        assert!(two.low < 2.0 && two.high > 2.0);
        let zero = one.sub(one);
        assert!(zero.low < 0.0 && zero.high > 0.0);
        assert_eq!(Bounds::exact(-1.0).sqrt().low, 0.0);
        // Whatever overflows into no number may be anything.
        let huge = Bounds::exact(1e200).mul(Bounds::exact(1e200));
        for unknown in
            [huge.sub(huge), huge.mul(zero), huge.div_positive(huge), dot(&[1e200, -1e200], &[1e200, 1e200])]
        {
            assert!(unknown.low <= -f64::MAX && unknown.high >= f64::MAX, "{unknown:?}");
        }
        // 1e16 + 1 - 1e16 loses the 1 in plain arithmetic; the widened sum holds it.
        let sum = dot(&[1e16, 1.0, -1e16], &[1.0, 1.0, 1.0]);
        assert!(sum.low <= 1.0 && sum.high >= 1.0);
    }
}
