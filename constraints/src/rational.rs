//! Fractions of whole numbers, and the decimals that f64 numbers are written as.

/// `numerator / denominator`, in lowest terms, the denominator positive. Operations return `None` on overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rational {
    numerator: i128,
    denominator: i128,
}

/// Powers of ten beyond these are not written out.
const MOST_DIGITS: i32 = 30;

impl Rational {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let divisor = gcd(numerator, denominator)?;
        let sign = denominator.signum();
        (divisor > 0 && sign != 0).then(|| Self {
            numerator: sign * numerator / divisor,
            denominator: sign * denominator / divisor,
        })
    }

    /// The shortest decimal that reads as this f64: what a person has written, or reads.
    pub(crate) fn decimal(x: f64) -> Option<Self> {
        if !x.is_finite() {
            return None;
        }
        let text = format!("{x:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let power = exponent.parse::<i32>().ok()? - fraction.len() as i32;
        if power.abs() > MOST_DIGITS {
            return (digits == 0).then_some(Self::ZERO);
        }
        let scale = 10_i128.pow(power.unsigned_abs());
        if power >= 0 { Self::new(digits.checked_mul(scale)?, 1) } else { Self::new(digits, scale) }
    }

    /// The f64 nearest to it, or next to that.
    pub(crate) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.numerator > 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(crate) fn negate(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let common = gcd(self.denominator, other.denominator)?;
        let (left, right) = (other.denominator / common, self.denominator / common);
        let numerator = self.numerator.checked_mul(left)?.checked_add(other.numerator.checked_mul(right)?)?;
        Self::new(numerator, self.denominator.checked_mul(left)?)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negate())
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        // Crosswise first, so that products stay small.
        let (a, b) = (gcd(self.numerator, other.denominator)?, gcd(other.numerator, self.denominator)?);
        if a == 0 || b == 0 {
            return Some(Self::ZERO);
        }
        let numerator = (self.numerator / a).checked_mul(other.numerator / b)?;
        Self::new(numerator, (self.denominator / b).checked_mul(other.denominator / a)?)
    }

    /// `None` for a divisor of zero, too.
    pub(crate) fn over(self, divisor: Self) -> Option<Self> {
        self.times(Self::new(divisor.denominator, divisor.numerator)?)
    }

    pub(crate) fn is_less(self, other: Self) -> Option<bool> {
        Some(self.minus(other)?.is_negative())
    }
}

/// Without division, which is slow for numbers of 128 bits (Stein 1967).
fn gcd(a: i128, b: i128) -> Option<i128> {
    let (mut a, mut b) = (a.checked_abs()? as u128, b.checked_abs()? as u128);
    if a == 0 || b == 0 {
        return Some((a | b) as i128);
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    Some((a << twos) as i128)
}

#[cfg(test)]
mod tests {
    use super::{Rational, gcd};

    #[test]
    fn the_common_divisor_is_that_of_euclid() {
        let euclid = |a: i128, b: i128| {
            let (mut a, mut b) = (a.abs(), b.abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let numbers =
            [0, 1, -1, 2, 6, -12, 35, 1 << 100, 10i128.pow(30), 3 * 7i128.pow(20), i128::MAX, -i128::MAX];
        for a in numbers {
            for b in numbers {
                assert_eq!(gcd(a, b), Some(euclid(a, b)), "{a} {b}");
            }
        }
        assert_eq!(gcd(i128::MIN, 2), None);
    }

    fn decimal(x: f64) -> Rational {
        Rational::decimal(x).unwrap()
    }

    #[test]
    fn tenths_add_up_as_on_paper() {
        assert_ne!(0.1 + 0.2, 0.3);
        assert_eq!(decimal(0.1).plus(decimal(0.2)).unwrap(), decimal(0.3));
        assert_eq!(decimal(0.3).minus(decimal(0.3)).unwrap(), Rational::ZERO);
        assert_eq!(decimal(-0.25).times(decimal(4.0)).unwrap(), Rational::ONE.negate());
        assert_eq!(decimal(0.3).over(decimal(0.1)).unwrap(), decimal(3.0));
        assert_eq!(decimal(1.0).over(decimal(0.0)), None);
        assert_eq!(decimal(0.1).is_less(decimal(0.1f64.next_up())), Some(true));
    }

    #[test]
    fn values_return_and_what_is_too_long_is_refused() {
        for x in [0.3, -1e-9, 1234.5, 1e15, 0.1f64.next_up(), 7.3001] {
            assert_eq!(decimal(x).value(), x);
        }
        assert_eq!(Rational::decimal(1e40), None);
        assert_eq!(Rational::decimal(f64::NAN), None);
        assert_eq!(Rational::decimal(-0.0), Some(Rational::ZERO));
        let large = decimal(1e30);
        assert_eq!(large.times(large), None, "an overflow is no answer");
    }
}
