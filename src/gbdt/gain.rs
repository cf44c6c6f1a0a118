//! Values and gains of leaves.
//!
//! With the gradient sum `G`, the second-derivative sum `H`, the penalties `l1` and `l2` and the soft threshold
//! `T(G) = sign(G) max(|G| - l1, 0)`, a leaf's best value is `-T(G) / (H + l2)` and it reduces the loss by half of
//! `T(G)^2 / (H + l2)` (Chen & Guestrin 2016, eq. 5-7; gains here are without the factor of a half, as LightGBM's).

/// Added to second-derivative sums so that none is zero (LightGBM's constant, kept for equal rounding).
pub(super) const HESSIAN_EPSILON: f64 = 1e-15_f32 as f64;

/// Penalties on leaf values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Penalty {
    pub(super) l1: f64,
    pub(super) l2: f64,
}

impl Penalty {
    #[inline(always)]
    fn soften(self, gradient: f64) -> f64 {
        if self.l1 > 0.0 { gradient.signum() * (gradient.abs() - self.l1).max(0.0) } else { gradient }
    }

    /// The value that minimises the penalised quadratic model of the loss.
    pub(super) fn output(self, gradient: f64, hessian: f64) -> f64 {
        -self.soften(gradient) / (hessian + self.l2)
    }

    /// Twice the loss reduction that value brings.
    #[inline(always)]
    pub(super) fn gain(self, gradient: f64, hessian: f64) -> f64 {
        let softened = self.soften(gradient);
        softened * softened / (hessian + self.l2)
    }

    /// The gains of two leaves together, with one division instead of two and therefore rounded differently.
    #[inline(always)]
    pub(super) fn gain_of_pair(self, g1: f64, h1: f64, g2: f64, h2: f64) -> f64 {
        let (g1, g2) = (self.soften(g1), self.soften(g2));
        // The test lets the compiler leave the addition out where it knows that there is no penalty.
        let (h1, h2) = if self.l2 > 0.0 { (h1 + self.l2, h2 + self.l2) } else { (h1, h2) };
        (g1 * g1 * h2 + g2 * g2 * h1) / (h1 * h2)
    }
}

#[cfg(test)]
mod tests {
    use super::Penalty;

    #[test]
    fn l1_shrinks_and_l2_dampens_leaf_values() {
        let plain = Penalty { l1: 0.0, l2: 0.0 };
        assert_eq!((plain.output(-6.0, 3.0), plain.gain(-6.0, 3.0)), (2.0, 12.0));
        let both = Penalty { l1: 2.0, l2: 1.0 };
        assert_eq!((both.output(-6.0, 3.0), both.gain(-6.0, 3.0)), (1.0, 4.0));
        assert_eq!((both.output(1.5, 3.0), both.gain(-1.5, 3.0)), (-0.0, 0.0));
    }

    #[test]
    fn the_output_minimises_the_penalised_model() {
        let penalty = Penalty { l1: 0.7, l2: 0.3 };
        let (gradient, hessian) = (2.3, 1.9);
        let model = |v: f64| gradient * v + 0.5 * (hessian + penalty.l2) * v * v + penalty.l1 * v.abs();
        let best = penalty.output(gradient, hessian);
        for step in [-1e-3, 1e-3] {
            assert!(model(best) < model(best + step));
        }
        assert!((model(0.0) - model(best) - 0.5 * penalty.gain(gradient, hessian)).abs() < 1e-12);
    }
}
