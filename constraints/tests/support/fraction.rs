//! Fractions of whole numbers, for comparisons as they are on paper.

/// Numerator and denominator, the denominator positive.
#[derive(Clone, Copy, Debug)]
pub struct Fraction(i128, i128);

impl Fraction {
    /// The number as it is written.
    pub fn written(x: f64) -> Option<Self> {
        let text = format!("{x}");
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let digits = text.replace('.', "").parse().ok()?;
        (decimals <= 30).then(|| Self(digits, 10_i128.pow(decimals as u32)))
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Self> {
        let (mut a, mut b) = (numerator.checked_abs()?, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (denominator > 0).then(|| Self(numerator / a.max(1), denominator / a.max(1)))
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        let numerator = self.0.checked_mul(other.1)?.checked_add(other.0.checked_mul(self.1)?)?;
        Self::reduced(numerator, self.1.checked_mul(other.1)?)
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self(-other.0, other.1))
    }

    pub fn times(self, other: Self) -> Option<Self> {
        Self::reduced(self.0.checked_mul(other.0)?, self.1.checked_mul(other.1)?)
    }

    pub fn over(self, other: Self) -> Option<Self> {
        let Self(numerator, denominator) = other;
        self.times(if numerator < 0 { Self(-denominator, -numerator) } else { Self(denominator, numerator) })
    }

    pub fn sign(self) -> i128 {
        self.0.signum()
    }
}
