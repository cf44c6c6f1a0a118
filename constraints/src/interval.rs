//! Closed intervals with outward rounding: the result of an operation holds every real result, and every f64 result too.
//!
//! Sums are rounded outward only when they are inexact (error-free transformation); products and quotients by one float, library
//! functions by four (their errors are below one). Inverse operations hold, besides, every operand whose result rounds to zero: see
//! [`Interval::underflown`].

/// A closed interval `[lo, hi]` of the extended reals; empty when `lo > hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Smallest element.
    pub(crate) lo: f64,
    /// Largest element.
    pub(crate) hi: f64,
}

/// Relative widening for inverse operations, see [`Interval::loosened`].
const LOOSE: f64 = 4.0 * f64::EPSILON;

/// `a + b` rounded down.
#[inline]
fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_finite() && sum_error(a, b, sum) >= 0.0 { sum } else { sum.next_down() }
}

/// `a + b` rounded up.
#[inline]
fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_finite() && sum_error(a, b, sum) <= 0.0 { sum } else { sum.next_up() }
}

/// The exact `a + b - sum` (Knuth's two-sum).
#[inline]
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}

#[inline]
fn whole_below_2_53(x: f64) -> bool {
    x.abs() < 9.007_199_254_740_992e15 && x as i64 as f64 == x
}

/// A product that is certainly exact: nothing to round.
#[inline]
fn is_exact_product(a: f64, b: f64, product: f64) -> bool {
    a.abs() == 1.0
        || b.abs() == 1.0
        || (whole_below_2_53(product) && whole_below_2_53(a) && whole_below_2_53(b))
}

/// `a * b` with `0 * inf = 0`, rounded down.
#[inline]
fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let product = a * b;
    if is_exact_product(a, b, product) || product == f64::NEG_INFINITY {
        product
    } else {
        product.next_down()
    }
}

/// `a * b` with `0 * inf = 0`, rounded up.
#[inline]
fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let product = a * b;
    if is_exact_product(a, b, product) || product == f64::INFINITY { product } else { product.next_up() }
}

/// The largest whole number `<= x`. Whole numbers, the usual case, need no library call.
#[inline]
pub(crate) fn floor(x: f64) -> f64 {
    if whole_below_2_53(x) { x } else { x.floor() }
}

/// The smallest whole number `>= x`.
#[inline]
pub(crate) fn ceil(x: f64) -> f64 {
    if whole_below_2_53(x) { x } else { x.ceil() }
}

/// Four floats down. Zero stays zero.
#[inline]
pub(crate) fn down4(x: f64) -> f64 {
    if x == 0.0 { x } else { x - x.abs() * LOOSE - f64::MIN_POSITIVE }
}

/// Four floats up.
#[inline]
pub(crate) fn up4(x: f64) -> f64 {
    if x == 0.0 { x } else { x + x.abs() * LOOSE + f64::MIN_POSITIVE }
}

impl Interval {
    /// No number.
    pub(crate) const EMPTY: Self = Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
    /// Every number.
    pub(crate) const ENTIRE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// `[lo, hi]`.
    #[inline]
    pub(crate) fn new(lo: f64, hi: f64) -> Self {
        Self { lo, hi }
    }

    /// `[x, x]`; empty for NaN.
    #[inline]
    pub(crate) fn point(x: f64) -> Self {
        if x.is_nan() { Self::EMPTY } else { Self { lo: x, hi: x } }
    }

    /// True when there is no element.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// True for a single element.
    #[inline]
    pub(crate) fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Membership.
    #[inline]
    pub(crate) fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// True when every element is in `other`.
    #[inline]
    pub(crate) fn is_subset(self, other: Self) -> bool {
        self.is_empty() || (other.lo <= self.lo && self.hi <= other.hi)
    }

    /// `hi - lo`, 0 when empty.
    #[inline]
    pub(crate) fn width(self) -> f64 {
        if self.is_empty() { 0.0 } else { self.hi - self.lo }
    }

    /// A finite element near the middle; 0 for the whole line, and where nothing but 0 and what underflows is in it.
    pub(crate) fn middle(self) -> f64 {
        if self.contains(0.0) && self.magnitude() < 1e-100 {
            return 0.0;
        }
        match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) => (0.5 * self.lo + 0.5 * self.hi).clamp(self.lo, self.hi),
            (true, false) => self.lo,
            (false, true) => self.hi,
            (false, false) => 0.0,
        }
    }

    /// Largest absolute value, 0 when empty.
    #[inline]
    pub(crate) fn magnitude(self) -> f64 {
        if self.is_empty() { 0.0 } else { self.lo.abs().max(self.hi.abs()) }
    }

    /// Common elements.
    #[inline]
    #[must_use]
    pub(crate) fn intersect(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The smallest interval that holds both.
    #[inline]
    #[must_use]
    pub(crate) fn hull(self, other: Self) -> Self {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
        }
    }

    /// Widened by a few floats: holds the exact result of an operation whose rounded result is in `self`.
    #[inline]
    #[must_use]
    pub(crate) fn loosened(self) -> Self {
        if self.is_empty() { self } else { Self { lo: down4(self.lo), hi: up4(self.hi) } }
    }

    /// Widened by the smallest float at ends that are zero or almost: holds every real number that rounds into `self`.
    #[inline]
    #[must_use]
    pub(crate) fn underflown(self) -> Self {
        if self.is_empty() {
            return self;
        }
        let is_tiny = |x: f64| x.abs() <= f64::MIN_POSITIVE;
        let lo = if is_tiny(self.lo) { self.lo.next_down() } else { self.lo };
        Self { lo, hi: if is_tiny(self.hi) { self.hi.next_up() } else { self.hi } }
    }

    /// The smallest magnitude of an element, 0 when empty.
    #[inline]
    pub(crate) fn least_magnitude(self) -> f64 {
        if self.lo > 0.0 { self.lo } else { (-self.hi).max(0.0) }
    }

    /// Widened by `slack >= 0` on both sides.
    #[inline]
    #[must_use]
    pub(crate) fn widened(self, slack: f64) -> Self {
        if self.is_empty() || slack == 0.0 {
            self
        } else {
            Self { lo: add_down(self.lo, -slack), hi: add_up(self.hi, slack) }
        }
    }

    /// The hull of the whole numbers inside.
    #[inline]
    #[must_use]
    pub(crate) fn rounded(self) -> Self {
        Self { lo: ceil(self.lo), hi: floor(self.hi) }
    }

    /// Exponential.
    #[must_use]
    pub(crate) fn exp(self) -> Self {
        if self.is_empty() {
            return self;
        }
        Self { lo: down4(self.lo.exp()).max(0.0), hi: up4(self.hi.exp()) }
    }

    /// Natural logarithm of the positive part.
    #[must_use]
    pub(crate) fn ln(self) -> Self {
        if self.is_empty() || self.hi <= 0.0 {
            return Self::EMPTY;
        }
        let lo = if self.lo <= 0.0 { f64::NEG_INFINITY } else { down4(self.lo.ln()) };
        Self { lo, hi: up4(self.hi.ln()) }
    }

    /// Absolute value.
    #[inline]
    #[must_use]
    pub(crate) fn abs(self) -> Self {
        if self.is_empty() || self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Self { lo: 0.0, hi: self.hi.max(-self.lo) }
        }
    }

    /// Square.
    #[inline]
    #[must_use]
    pub(crate) fn sqr(self) -> Self {
        let a = self.abs();
        if a.is_empty() { a } else { Self { lo: mul_down(a.lo, a.lo).max(0.0), hi: mul_up(a.hi, a.hi) } }
    }

    /// `self / divisor` as at most two intervals: the parts for negative and for positive divisors. Zero has no quotient.
    pub(crate) fn quotient_parts(self, divisor: Self) -> (Self, Self) {
        let below = divisor.intersect(Self { lo: f64::NEG_INFINITY, hi: 0.0 });
        let above = divisor.intersect(Self { lo: 0.0, hi: f64::INFINITY });
        (self.over_signed(below), self.over_signed(above))
    }

    /// Quotient by an interval that does not change sign (its end may be zero, which is left out).
    fn over_signed(self, divisor: Self) -> Self {
        if self.is_empty() || divisor.is_empty() || (divisor.lo == 0.0 && divisor.hi == 0.0) {
            return Self::EMPTY;
        }
        if divisor.lo < 0.0 {
            return (-self).over_signed(-divisor);
        }
        let quotient = |a: f64, b: f64| {
            if a == 0.0 {
                0.0
            } else if b == 0.0 {
                f64::INFINITY.copysign(a)
            } else if a.is_infinite() && b.is_infinite() {
                // Any size is possible; the caller takes the extreme over both ends of the divisor.
                0.0_f64.copysign(a)
            } else {
                a / b
            }
        };
        let lo = quotient(self.lo, divisor.lo).min(quotient(self.lo, divisor.hi));
        let hi = quotient(self.hi, divisor.lo).max(quotient(self.hi, divisor.hi));
        Self {
            lo: if lo == 0.0 || is_exact_quotient(self.lo, lo) { lo } else { lo.next_down() },
            hi: if hi == 0.0 || is_exact_quotient(self.hi, hi) { hi } else { hi.next_up() },
        }
    }

    /// The elements `x` of `self` with `x * factor` in `product` for some element of `factor`.
    #[must_use]
    pub(crate) fn intersect_quotient(self, product: Self, factor: Self) -> Self {
        if factor.is_empty() || product.is_empty() {
            return Self::EMPTY;
        }
        if factor.contains(0.0) && product.contains(0.0) {
            return self;
        }
        let (first, second) = product.quotient_parts(factor);
        self.intersect(first).hull(self.intersect(second))
    }
}

/// Whole quotients of whole numbers by ±1 and the like are rare: only signed infinities need no rounding.
#[inline]
fn is_exact_quotient(numerator: f64, quotient: f64) -> bool {
    quotient.is_infinite() || quotient.abs() == numerator.abs()
}

impl std::ops::Neg for Interval {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl std::ops::Add for Interval {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        Self { lo: add_down(self.lo, other.lo), hi: add_up(self.hi, other.hi) }
    }
}

impl std::ops::Sub for Interval {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl std::ops::Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        let (a, b) = (self, other);
        if a.lo >= 0.0 && b.lo >= 0.0 {
            return Self { lo: mul_down(a.lo, b.lo), hi: mul_up(a.hi, b.hi) };
        }
        let lo = mul_down(a.lo, b.lo)
            .min(mul_down(a.lo, b.hi))
            .min(mul_down(a.hi, b.lo))
            .min(mul_down(a.hi, b.hi));
        let hi = mul_up(a.lo, b.lo).max(mul_up(a.lo, b.hi)).max(mul_up(a.hi, b.lo)).max(mul_up(a.hi, b.hi));
        Self { lo, hi }
    }
}

impl std::ops::Mul<f64> for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        if factor == 1.0 || self.is_empty() {
            self
        } else if factor == -1.0 {
            -self
        } else if factor >= 0.0 {
            Self { lo: mul_down(self.lo, factor), hi: mul_up(self.hi, factor) }
        } else {
            Self { lo: mul_down(self.hi, factor), hi: mul_up(self.lo, factor) }
        }
    }
}

impl std::ops::Div for Interval {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let (first, second) = self.quotient_parts(other);
        first.hull(second)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Interval;

    fn interval(a: f64, b: f64) -> Interval {
        Interval::new(a.min(b), a.max(b))
    }

    #[test]
    fn exact_results_are_not_widened() {
        assert_eq!(interval(3.0, 3.0) - interval(3.0, 3.0), Interval::point(0.0));
        assert_eq!(interval(1.0, 2.0) * 3.0, interval(3.0, 6.0));
        assert_eq!(interval(-1.0, 2.0).sqr(), interval(0.0, 4.0));
        let tenth = Interval::point(0.1) + Interval::point(0.2);
        assert!(tenth.lo < tenth.hi && tenth.contains(0.1 + 0.2));
    }

    #[test]
    fn quotients_around_zero_are_split() {
        let whole = interval(1.0, 2.0) / interval(-1.0, 1.0);
        assert_eq!(whole, Interval::ENTIRE);
        let x = interval(-10.0, 10.0).intersect(interval(0.2, 10.0));
        let kept = x.intersect_quotient(interval(1.0, 2.0), interval(-1.0, 1.0));
        assert!((kept.lo - 1.0).abs() < 1e-12 && kept.hi == 10.0);
        assert!(interval(1.0, 2.0).is_subset(interval(1.0, 2.0) / interval(0.0, 1.0)));
        assert!((Interval::point(1.0) / Interval::point(0.0)).is_empty());
        assert!((interval(0.0, f64::INFINITY) / interval(1.0, f64::INFINITY)).contains(5.0));
    }

    proptest! {
        #[test]
        fn results_stay_inside(a in -1e3..1e3f64, b in -1e3..1e3f64, c in -1e3..1e3f64, d in -1e3..1e3f64,
            s in 0.0..=1.0f64, t in 0.0..=1.0f64)
        {
            let (x, y) = (interval(a, b), interval(c, d));
            let u = (x.lo + s * (x.hi - x.lo)).clamp(x.lo, x.hi);
            let v = (y.lo + t * (y.hi - y.lo)).clamp(y.lo, y.hi);
            prop_assert!((x + y).contains(u + v));
            prop_assert!((x - y).contains(u - v));
            prop_assert!((x * y).contains(u * v));
            prop_assert!((x / y).contains(u / v) || v == 0.0);
            prop_assert!(x.abs().contains(u.abs()) && x.sqr().contains(u * u));
            if u > 0.0 {
                prop_assert!(x.ln().contains(u.ln()));
            }
            let small = x * 0.01;
            prop_assert!(small.exp().contains((u * 0.01).clamp(small.lo, small.hi).exp()));
            // Inverse operations keep the argument that was used.
            prop_assert!(x.intersect_quotient(Interval::point(u * v).loosened(), y).contains(u));
            prop_assert!(x.intersect((Interval::point(u + v).loosened()) - y).contains(u));
        }
    }
}
