//! Lines below and above functions of one variable over an interval.

use crate::interval::is_even;

/// A function of one variable whose derivative takes each value at most twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Univariate {
    /// Constant exponent other than 0 and 1; the interval lies where it is defined.
    Power(f64),
    /// Constant positive base.
    Exponential(f64),
    Sqrt,
    Exp,
    Log,
    Abs,
}

/// A line `slope * x + constant`, and how far rounding may have moved it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) constant: f64,
    pub(super) error: f64,
}

impl Univariate {
    pub(super) fn value(self, x: f64) -> f64 {
        match self {
            Self::Power(-1.0) => 1.0 / x,
            Self::Power(3.0) => x * x * x,
            Self::Power(p) => crate::expr::power(x, p),
            Self::Exponential(base) => base.powf(x),
            Self::Sqrt => x.max(0.0).sqrt(),
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Abs => x.abs(),
        }
    }

    pub(super) fn derivative(self, x: f64) -> f64 {
        match self {
            Self::Power(2.0) => 2.0 * x,
            Self::Power(-1.0) => -1.0 / (x * x),
            Self::Power(3.0) => 3.0 * x * x,
            Self::Power(p) => p * x.powf(p - 1.0),
            Self::Exponential(base) => base.ln() * base.powf(x),
            Self::Sqrt => 0.5 / x.max(0.0).sqrt(),
            Self::Exp => x.exp(),
            Self::Log => 1.0 / x,
            Self::Abs => {
                if x < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
        }
    }

    /// Where the derivative is `slope`, or jumps across it; NaN for none.
    fn stationary(self, slope: f64) -> [f64; 2] {
        match self {
            Self::Power(2.0) => [0.5 * slope, f64::NAN],
            Self::Power(-1.0) => {
                let root = (-1.0 / slope).sqrt();
                [root, -root]
            }
            Self::Power(p) => {
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
            Self::Exponential(base) => [(slope / base.ln()).ln() / base.ln(), f64::NAN],
            Self::Sqrt => [0.25 / (slope * slope), f64::NAN],
            Self::Exp => [slope.ln(), f64::NAN],
            Self::Log => [1.0 / slope, f64::NAN],
            Self::Abs => [0.0, f64::NAN],
        }
    }

    /// The line of this slope that touches the function from below (or from above) on `[l, u]`.
    fn touching(self, slope: f64, l: f64, u: f64, below: bool) -> Option<Line> {
        let mut best = f64::NAN;
        let mut scale = 0.0_f64;
        for x in [l, u].into_iter().chain(self.stationary(slope)) {
            if x.is_nan() || x < l || x > u {
                continue;
            }
            let value = self.value(x);
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

    /// Whether the function is convex (`true`) or concave on `[l, u]`; `None` when it is neither for certain.
    fn is_convex(self, l: f64, u: f64) -> Option<bool> {
        match self {
            Self::Power(p) if p.fract() != 0.0 => Some(!(0.0..=1.0).contains(&p)),
            Self::Power(p) if is_even(p) => Some(true),
            Self::Power(_) if l >= 0.0 => Some(true),
            Self::Power(_) if u <= 0.0 => Some(false),
            Self::Power(_) => None,
            Self::Exponential(_) | Self::Exp | Self::Abs => Some(true),
            Self::Sqrt | Self::Log => Some(false),
        }
    }

    /// The better of the tangent at `at` and the secant, as a line below (or above) the function on `[l, u]`.
    pub(super) fn line(self, l: f64, u: f64, at: f64, below: bool) -> Option<Line> {
        let at = at.clamp(l, u);
        match self.is_convex(l, u) {
            // A tangent is nearest where it touches, and the secant is nearest on the other side.
            Some(convex) if convex == below => {
                if let Some(line) = self.touching(self.derivative(at), l, u, below) {
                    return Some(line);
                }
            }
            Some(_) if u > l => return self.touching((self.value(u) - self.value(l)) / (u - l), l, u, below),
            _ => {}
        }
        let secant = if u > l { (self.value(u) - self.value(l)) / (u - l) } else { 0.0 };
        let tangent = self.derivative(at);
        let mut best: Option<Line> = None;
        for slope in [tangent, secant] {
            let Some(line) = self.touching(slope, l, u, below) else { continue };
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
}

#[cfg(test)]
mod tests {
    use super::Univariate;

    #[test]
    fn lines_stay_on_their_side_and_touch_convex_functions() {
        let cases = [
            (Univariate::Power(2.0), -1.0, 3.0),
            (Univariate::Power(3.0), -2.0, 1.5),
            (Univariate::Power(5.0), -1.0, 2.0),
            (Univariate::Power(-1.0), 0.5, 4.0),
            (Univariate::Power(-1.0), -4.0, -0.5),
            (Univariate::Power(-2.0), -4.0, -0.5),
            (Univariate::Power(1.7), 0.0, 2.0),
            (Univariate::Power(0.3), 0.1, 2.0),
            (Univariate::Exponential(2.0), -3.0, 3.0),
            (Univariate::Exponential(0.5), -3.0, 3.0),
            (Univariate::Sqrt, 0.0, 9.0),
            (Univariate::Exp, -2.0, 2.0),
            (Univariate::Log, 0.1, 5.0),
            (Univariate::Abs, -1.0, 2.0),
        ];
        for (function, l, u) in cases {
            for step in 0..=10 {
                let at = l + (u - l) * f64::from(step) / 10.0;
                for below in [true, false] {
                    let Some(line) = function.line(l, u, at, below) else {
                        assert!(function.derivative(at).is_infinite(), "{function:?} at {at}");
                        continue;
                    };
                    for k in 0..=1000 {
                        let x = (l + (u - l) * f64::from(k) / 1000.0).clamp(l, u);
                        let gap = function.value(x) - (line.slope * x + line.constant);
                        let gap = if below { gap } else { -gap };
                        assert!(gap >= -line.error, "{function:?} below {below} at {at}: {gap} at {x}");
                    }
                }
            }
        }
        let tangent = Univariate::Power(2.0).line(-1.0, 3.0, 2.0, true).unwrap();
        assert_eq!((tangent.slope, tangent.constant), (4.0, -4.0));
        let secant = Univariate::Power(2.0).line(-1.0, 3.0, 2.0, false).unwrap();
        assert_eq!((secant.slope, secant.constant), (2.0, 3.0));
    }
}
