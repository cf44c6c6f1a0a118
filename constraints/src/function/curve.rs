//! Lines below and above smooth functions: tangents and secants, moved to the side where they belong.

use super::univariate::{Line, Univariate};
use crate::interval::Interval;

/// A function whose derivative takes each value at most twice.
pub(super) trait Curve: Univariate {
    /// A value within a few floats of [`Univariate::value`].
    fn quick(&self, x: f64) -> f64 {
        self.value(x)
    }

    /// Where the derivative is `slope`, or jumps across it; NaN for none.
    fn stationary(&self, slope: f64) -> [f64; 2];

    /// Whether the function is convex (`true`) or concave on `[l, u]`; `None` when it is neither for certain.
    fn is_convex(&self, l: f64, u: f64) -> Option<bool>;

    /// What [`Univariate::estimator`] asks for.
    fn tangent_or_secant(&self, x: Interval, y: Interval, at: f64, below: bool) -> Option<Line> {
        // An argument that is undefined in the whole box has an empty interval.
        if x.is_empty() || !(x.lo.is_finite() && x.hi.is_finite() && self.is_defined_over(x)) {
            return None;
        }
        let line = line(self, x.lo, x.hi, at.clamp(x.lo, x.hi), below)?;
        let rounding = 8.0 * f64::EPSILON * y.magnitude().min(1e300);
        Some(Line { error: line.error + rounding, ..line })
    }
}

/// The better of the tangent at `at` and the secant, as a line below (or above) the function on `[l, u]`.
fn line(curve: &(impl Curve + ?Sized), l: f64, u: f64, at: f64, below: bool) -> Option<Line> {
    let secant = || (curve.quick(u) - curve.quick(l)) / (u - l);
    match curve.is_convex(l, u) {
        // A tangent is nearest where it touches, and the secant is nearest on the other side.
        Some(convex) if convex == below => {
            if let Some(line) = touching(curve, curve.derivative(at), l, u, below) {
                return Some(line);
            }
        }
        Some(_) if u > l => return touching(curve, secant(), l, u, below),
        _ => {}
    }
    let secant = if u > l { secant() } else { 0.0 };
    let mut best: Option<Line> = None;
    for slope in [curve.derivative(at), secant] {
        let Some(line) = touching(curve, slope, l, u, below) else { continue };
        let value = |line: &Line| line.slope * at + line.constant;
        let better = best
            .as_ref()
            .is_none_or(|b| if below { value(&line) > value(b) } else { value(&line) < value(b) });
        if better {
            best = Some(line);
        }
    }
    best
}

/// The line of this slope that touches the function from below (or from above) on `[l, u]`.
fn touching(curve: &(impl Curve + ?Sized), slope: f64, l: f64, u: f64, below: bool) -> Option<Line> {
    let mut best = f64::NAN;
    let mut scale = 0.0_f64;
    for x in [l, u].into_iter().chain(curve.stationary(slope)) {
        if x.is_nan() || x < l || x > u {
            continue;
        }
        let value = curve.quick(x);
        let difference = value - slope * x;
        scale = scale.max(value.abs() + (slope * x).abs());
        let better = best.is_nan() || if below { difference < best } else { difference > best };
        if better {
            best = difference;
        }
    }
    let error = 16.0 * f64::EPSILON * scale;
    (best.is_finite() && error.is_finite() && slope.is_finite()).then_some(Line {
        slope,
        constant: best,
        error,
    })
}
