//! What the plain f64 evaluation of a constraint can yield over a box.
//!
//! A point is feasible when the constraints hold *as evaluated in f64*, so the ends are values that the evaluation attains: rounding to nearest never
//! decreases where the exact operation does not, and the ends of an operation's values are its values at ends of the operands'. Powers, exponentials and
//! logarithms come from a library whose rounding is not known: four floats outward, except at a single operand, where the value is what evaluation gives.

/// The values of an operation, undefined ones (NaN) left out; nothing when `low > high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How far from whole a whole value may be at most.
const WHOLE_AT_MOST: f64 = 1e-3;

impl Values {
    pub(super) const NONE: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
    pub(super) const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub(super) fn new(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() { Self::ANY } else { Self { low, high } }
    }

    pub(super) fn point(x: f64) -> Self {
        if x.is_nan() { Self::NONE } else { Self { low: x, high: x } }
    }

    pub(super) fn is_none(self) -> bool {
        self.low > self.high
    }

    pub(super) fn is_point(self) -> bool {
        self.low == self.high
    }

    /// Largest absolute value.
    pub(super) fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The ends of an operation at the four pairs of ends.
    fn corners(self, other: Self, operate: impl Fn(f64, f64) -> f64) -> Self {
        let at = [
            operate(self.low, other.low),
            operate(self.low, other.high),
            operate(self.high, other.low),
            operate(self.high, other.high),
        ];
        if at.iter().any(|v| v.is_nan()) {
            return Self::ANY;
        }
        let low = at.iter().fold(f64::INFINITY, |a, &b| a.min(b));
        Self { low, high: at.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b)) }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }

    pub(super) fn subtract(self, other: Self) -> Self {
        Self::new(self.low - other.high, self.high - other.low)
    }

    pub(super) fn negate(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        self.corners(other, |a, b| a * b)
    }

    pub(super) fn square(self) -> Self {
        let ends = [self.low * self.low, self.high * self.high];
        let low = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { ends[0].min(ends[1]) };
        Self::new(low, ends[0].max(ends[1]))
    }

    /// Quotients where the divisor is not zero.
    pub(super) fn divide(self, divisor: Self) -> Self {
        if divisor.low > 0.0 || divisor.high < 0.0 {
            return self.corners(divisor, |a, b| a / b);
        }
        if divisor.low == 0.0 && divisor.high == 0.0 {
            return Self::NONE;
        }
        if divisor.high == 0.0 {
            return self.negate().divide(divisor.negate());
        }
        if divisor.low < 0.0 {
            return Self::ANY;
        }
        // Divisors above zero, as small as one likes.
        Self::new(
            if self.low >= 0.0 { self.low / divisor.high } else { f64::NEG_INFINITY },
            if self.high <= 0.0 { self.high / divisor.high } else { f64::INFINITY },
        )
    }

    pub(super) fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    pub(super) fn abs(self) -> Self {
        if self.low >= 0.0 {
            self
        } else if self.high <= 0.0 {
            self.negate()
        } else {
            Self { low: 0.0, high: self.magnitude() }
        }
    }

    /// A rounding operation that never decreases.
    pub(super) fn rounded(self, operate: fn(f64) -> f64) -> Self {
        Self { low: operate(self.low), high: operate(self.high) }
    }

    pub(super) fn sqrt(self) -> Self {
        if self.high < 0.0 { Self::NONE } else { Self::new(self.low.max(0.0).sqrt(), self.high.sqrt()) }
    }

    /// A library function that never decreases, defined between the ends.
    fn library(self, operate: impl Fn(f64) -> f64) -> Self {
        let (low, high) = (operate(self.low), operate(self.high));
        if self.is_point() { Self::point(low) } else { Self::new(outward(low, false), outward(high, true)) }
    }

    pub(super) fn exp(self) -> Self {
        let values = self.library(f64::exp);
        Self { low: values.low.max(0.0), high: values.high }
    }

    /// A logarithm, by the library's function.
    pub(super) fn logarithm(self, log: fn(f64) -> f64) -> Self {
        if self.high <= 0.0 {
            Self::NONE
        } else {
            Self { low: self.low.max(0.0), high: self.high }.library(log)
        }
    }

    /// `base ^ self`, `base > 0`.
    pub(super) fn exponential(self, base: f64) -> Self {
        if base == 1.0 {
            Self::point(1.0)
        } else if base > 1.0 {
            self.library(|x| base.powf(x))
        } else {
            // Falling in x, rising in -x.
            self.negate().library(|x| base.powf(-x))
        }
    }

    /// `self ^ exponent`.
    pub(super) fn power(self, exponent: f64) -> Self {
        if exponent == 2.0 {
            return self.square();
        }
        if exponent == 0.0 {
            return Self::point(1.0);
        }
        if self.is_point() {
            return Self::point(power(self.low, exponent));
        }
        // By magnitude: the part at and above zero, and the mirrored part below.
        let part = |low: f64, high: f64| {
            if low > high || high < 0.0 {
                return Self::NONE;
            }
            let (a, b) = (low.max(0.0).powf(exponent), high.powf(exponent));
            Self::new(outward(a.min(b), false).max(0.0), outward(a.max(b), true))
        };
        let above = part(self.low, self.high);
        if exponent.fract() != 0.0 || self.low >= 0.0 {
            return above;
        }
        let below = part((-self.high).max(0.0), -self.low);
        above.hull(if exponent % 2.0 == 0.0 { below } else { below.negate() })
    }

    /// Nearest whole numbers of values within `tolerance` (relative above 1, up to [`WHOLE_AT_MOST`]) of them; the others stay.
    pub(super) fn whole(self, tolerance: f64) -> Self {
        let reach = 1.000_000_1 * (tolerance * self.magnitude().max(1.0)).min(WHOLE_AT_MOST);
        Self::new(self.low - reach, self.high + reach)
    }
}

/// `x ^ exponent` as it is evaluated: a square is a product, zero has no negative power, and what is negative no fractional one.
pub(super) fn power(x: f64, exponent: f64) -> f64 {
    if exponent == 2.0 {
        x * x
    } else if (x == 0.0 && exponent < 0.0) || (x < 0.0 && exponent.fract() != 0.0) {
        f64::NAN
    } else {
        x.powf(exponent)
    }
}

/// Four floats up or down.
fn outward(x: f64, up: bool) -> f64 {
    (0..4).fold(x, |x, _| if up { x.next_up() } else { x.next_down() })
}
