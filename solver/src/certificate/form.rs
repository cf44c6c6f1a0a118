//! Values over a box as a linear function of the variables, give or take an error.
//!
//! Every variable is `middle + radius * e` with `e` in `[-1, 1]`; a form holds `centre + slopes . e + [-error, error]`. Dependencies between operands are kept to
//! first order, which intervals alone lose: sums of constraints with multipliers cancel where the variables do.

use super::values::Values;

/// `centre + slopes . e`, within `error`, for the values that f64 evaluation yields.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) centre: f64,
    pub(crate) slopes: Vec<f64>,
    pub(crate) error: f64,
}

/// A curve whose forms are known: values at points, its slope, and which way it bends.
pub(super) struct Curve<'a> {
    pub(super) value: &'a dyn Fn(f64) -> f64,
    pub(super) slope: &'a dyn Fn(f64) -> f64,
    pub(super) convex: bool,
}

impl Form {
    /// No dependence on any variable.
    pub(super) fn constant(n: usize, values: Values) -> Option<Self> {
        let centre = 0.5 * values.low + 0.5 * values.high;
        let error = (values.high - centre).max(centre - values.low).next_up();
        let error = if values.is_point() { 0.0 } else { error };
        (!values.is_none() && error.is_finite()).then(|| Self { centre, slopes: vec![0.0; n], error })
    }

    /// Variable number `j` of `n`.
    pub(super) fn variable(n: usize, j: usize, values: Values) -> Option<Self> {
        let mut form = Self::constant(n, values)?;
        form.slopes[j] = form.error;
        form.error = 0.0;
        Some(form)
    }

    /// How far the linear part reaches.
    pub(crate) fn reach(&self) -> f64 {
        self.slopes.iter().map(|s| s.abs()).sum::<f64>() * WIDER
    }

    /// Where the values lie.
    pub(super) fn values(&self) -> Values {
        let reach = (self.reach() + self.error) * WIDER;
        Values::new((self.centre - reach).next_down(), (self.centre + reach).next_up())
    }

    /// Adds what rounding did: `magnitude` is the sum of the sizes of all terms that were added up.
    fn settled(mut self, magnitude: f64) -> Option<Self> {
        self.error = (self.error + 8.0 * f64::EPSILON * magnitude) * WIDER + f64::MIN_POSITIVE;
        (self.error.is_finite() && self.centre.is_finite()).then_some(self)
    }

    /// `factor * self + other`, of the same variables; each is one rounding of size at most `EPSILON` a term.
    fn combined(&self, factor: f64, other: &Self, sign: f64) -> Option<Self> {
        let magnitude =
            (factor * self.centre).abs() + factor.abs() * self.reach() + other.centre.abs() + other.reach();
        Self {
            centre: factor * self.centre + sign * other.centre,
            slopes: self.slopes.iter().zip(&other.slopes).map(|(a, b)| factor * a + sign * b).collect(),
            error: factor.abs() * self.error + other.error,
        }
        .settled(magnitude)
    }

    /// The exact sum, as evaluated to within a rounding.
    pub(super) fn add(&self, other: &Self) -> Option<Self> {
        self.combined(1.0, other, 1.0)
    }

    pub(super) fn subtract(&self, other: &Self) -> Option<Self> {
        self.combined(1.0, other, -1.0)
    }

    pub(super) fn negate(&self) -> Self {
        Self { centre: -self.centre, slopes: self.slopes.iter().map(|s| -s).collect(), error: self.error }
    }

    pub(super) fn multiply(&self, other: &Self) -> Option<Self> {
        let (a, b) = (self, other);
        let (ra, rb) = (a.reach(), b.reach());
        let magnitude = (a.centre.abs() + ra) * (b.centre.abs() + rb);
        Self {
            centre: a.centre * b.centre,
            slopes: a.slopes.iter().zip(&b.slopes).map(|(s, t)| a.centre * t + b.centre * s).collect(),
            error: ra * rb
                + (a.centre.abs() + ra) * b.error
                + (b.centre.abs() + rb) * a.error
                + a.error * b.error,
        }
        .settled(magnitude)
    }

    pub(super) fn square(&self) -> Option<Self> {
        let reach = self.reach();
        let magnitude = (self.centre.abs() + reach) * (self.centre.abs() + reach);
        // The square of the linear part lies between 0 and reach^2.
        let half = 0.5 * reach * reach;
        Self {
            centre: self.centre * self.centre + half,
            slopes: self.slopes.iter().map(|s| 2.0 * self.centre * s).collect(),
            error: half + 2.0 * (self.centre.abs() + reach) * self.error + self.error * self.error,
        }
        .settled(magnitude)
    }

    /// A value moved by between `low` and `high`.
    pub(super) fn shifted(&self, low: f64, high: f64) -> Option<Self> {
        let middle = 0.5 * low + 0.5 * high;
        let mut form = self.clone();
        form.centre += middle;
        form.error += (high - middle).max(middle - low);
        let magnitude = self.centre.abs() + low.abs() + high.abs();
        form.settled(magnitude)
    }

    /// A convex or concave function of the value, which lies in `range`: its tangent direction at the middle, and what the curve leaves that line by at most.
    pub(super) fn bent(&self, range: Values, curve: &Curve<'_>) -> Option<Self> {
        let middle = (0.5 * range.low + 0.5 * range.high).clamp(range.low, range.high);
        let slope = (curve.slope)(middle);
        let [low, mid, high] = [range.low, middle, range.high].map(|v| ((curve.value)(v), slope * v));
        let [at_low, at_mid, at_high] = [low, mid, high].map(|(f, line)| f - line);
        // A convex curve lies above its tangent and, less a line, is largest at an end. The library's errors, here and in the slope, are a few floats.
        let size = low.0.abs() + mid.0.abs() + high.0.abs() + low.1.abs() + mid.1.abs() + high.1.abs();
        let margin = 32.0 * f64::EPSILON * size;
        let (below, above) = if curve.convex {
            (at_mid - margin, at_low.max(at_high) + margin)
        } else {
            (at_low.min(at_high) - margin, at_mid + margin)
        };
        let rest = Self::constant(self.slopes.len(), Values::new(below, above))?;
        self.combined(slope, &rest, 1.0)
    }
}

/// Covers the roundings of a sum of some thousand terms.
const WIDER: f64 = 1.0 + 8192.0 * f64::EPSILON;
