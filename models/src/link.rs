//! From the sum of the trees to the model's own unit.

use leafgp_solver::SumLink;

/// A nondecreasing function from the sum of the trees to what the library predicts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Link {
    /// The sum itself.
    Identity,
    /// `1 / (1 + exp(-scale * sum))`, a probability; `scale > 0`.
    Logistic {
        /// LightGBM's `sigmoid`; 1 elsewhere.
        scale: f64,
    },
    /// `exp(sum)`: Poisson, gamma, Tweedie.
    Exp,
    /// `sign(sum) * sum^2`: LightGBM's `reg_sqrt`.
    SignedSquare,
    /// `log(1 + exp(sum))`: LightGBM's `cross_entropy_lambda`.
    Softplus,
    /// 1 for a positive sum, else 0: XGBoost's `binary:hinge`.
    Step,
}

impl Link {
    /// The same for the solver.
    pub(crate) fn as_data(self) -> SumLink {
        match self {
            Self::Identity => SumLink::Identity,
            Self::Logistic { scale } => SumLink::Logistic { scale },
            Self::Exp => SumLink::Exp,
            Self::SignedSquare => SumLink::SignedSquare,
            Self::Softplus => SumLink::Softplus,
            Self::Step => SumLink::Step,
        }
    }

    /// The prediction at a sum.
    pub fn apply(self, sum: f64) -> f64 {
        match self {
            Self::Identity => sum,
            Self::Logistic { scale } => 1.0 / (1.0 + (-scale * sum).exp()),
            Self::Exp => sum.exp(),
            Self::SignedSquare => sum.signum() * sum * sum,
            Self::Softplus => sum.exp().ln_1p(),
            Self::Step => f64::from(u8::from(sum > 0.0)),
        }
    }

    /// The same in f32, as XGBoost and ONNX compute it.
    pub(crate) fn apply_single(self, sum: f32) -> f32 {
        match self {
            Self::Identity => sum,
            // XGBoost keeps the exponent of f32 in range and the divisor away from zero.
            Self::Logistic { scale } => 1.0 / ((-scale as f32 * sum).min(88.7).exp() + 1.0 + 1e-16),
            Self::Exp => sum.exp(),
            Self::SignedSquare => sum.signum() * sum * sum,
            Self::Softplus => sum.exp().ln_1p(),
            Self::Step => f32::from(u8::from(sum > 0.0)),
        }
    }

    /// An upper (`up`) or lower bound of the function at a sum: the rounding of the standard library's functions covered.
    pub(crate) fn bound(self, sum: f64, up: bool) -> f64 {
        if sum.is_infinite() {
            return match (self, sum > 0.0) {
                (Self::Logistic { .. } | Self::Step, true) => 1.0,
                (Self::Logistic { .. } | Self::Exp | Self::Softplus | Self::Step, false) => 0.0,
                (_, _) => sum,
            };
        }
        let value = self.apply(sum);
        if matches!(self, Self::Identity | Self::Step) {
            return value;
        }
        let margin = 16.0 * f64::EPSILON * value.abs() + f64::MIN_POSITIVE;
        let wide = if up { value + margin } else { value - margin };
        match self {
            Self::Logistic { .. } => wide.clamp(0.0, 1.0),
            Self::Exp | Self::Softplus => wide.max(0.0),
            _ => wide,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Link;

    const ALL: [Link; 7] = [
        Link::Identity,
        Link::Logistic { scale: 1.0 },
        Link::Logistic { scale: 0.3 },
        Link::Exp,
        Link::SignedSquare,
        Link::Softplus,
        Link::Step,
    ];

    #[test]
    fn every_link_rises_and_lies_between_its_bounds() {
        for link in ALL {
            let mut last = f64::NEG_INFINITY;
            for i in -400..400 {
                let sum = f64::from(i) * 0.05;
                let value = link.apply(sum);
                assert!(value >= last, "{link:?} at {sum}");
                assert!(
                    link.bound(sum, false) <= value && value <= link.bound(sum, true),
                    "{link:?} at {sum}"
                );
                let single = f64::from(link.apply_single(sum as f32));
                assert!((single - value).abs() <= 2e-6 * value.abs().max(1e-6), "{link:?} at {sum}");
                last = value;
            }
            assert!(link.bound(f64::NEG_INFINITY, false) <= link.bound(f64::INFINITY, true));
        }
    }

    #[test]
    fn values_by_hand() {
        assert_eq!(Link::SignedSquare.apply(-3.0), -9.0);
        assert_eq!(Link::Logistic { scale: 2.0 }.apply(0.0), 0.5);
        assert_eq!((Link::Step.apply(0.0), Link::Step.apply(1e-9)), (0.0, 1.0));
        assert!((Link::Softplus.apply(0.0) - 2f64.ln()).abs() < 1e-15);
    }
}
