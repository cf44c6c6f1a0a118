//! A quantity taken apart: a linear combination of models, functions of single variables, and a rest of which only a bound is used.

use leafgp_constraints::{Quantity, Ranged, Region};

use super::NamedModel;
use crate::link::Link;

/// `constant + sum of coefficient * model + sum of functions of one variable`: nowhere above the quantity but for the rounding of sums.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) constant: f64,
    /// Model and coefficient of its raw score.
    pub(super) models: Vec<(usize, f64)>,
    /// Variable, coefficient and function.
    pub(super) unary: Vec<(usize, f64, Ranged)>,
    /// Whether nothing was replaced by a bound.
    pub(super) is_whole: bool,
}

impl Form {
    /// Takes a quantity over `n` variables and the models apart; `domains` is the whole box of both. `None` where it is unbounded below.
    pub(super) fn new(quantity: &Quantity, n: usize, models: &[NamedModel], whole: &Region) -> Option<Self> {
        let mut form = Self { constant: 0.0, models: Vec::new(), unary: Vec::new(), is_whole: true };
        for (coefficient, term) in quantity.terms() {
            if let Some(value) = term.constant() {
                form.constant += coefficient * value;
                continue;
            }
            let linear = term.variable().and_then(|v| v.checked_sub(n));
            if let Some(k) = linear.filter(|&k| models[k].ensemble.link() == Link::Identity) {
                form.constant -= coefficient.abs() * models[k].ensemble.rounding();
                form.models.push((k, coefficient));
                continue;
            }
            let ranged = term.over_boxes();
            match term.variables()[..] {
                [variable] if variable < n => form.unary.push((variable, coefficient, ranged)),
                _ => {
                    form.constant += least(&ranged, coefficient, whole)?;
                    form.is_whole = false;
                }
            }
        }
        form.constant.is_finite().then_some(form)
    }

    /// The limit on the raw score that follows from `quantity <= 0` when the quantity reads a single model, one with a bent link: `(model, sign, end)` with
    /// `sign * raw <= sign * end`.
    pub(super) fn of_bent(
        quantity: &Quantity,
        n: usize,
        models: &[NamedModel],
        raw_range: impl Fn(usize) -> (f64, f64),
    ) -> Option<(usize, f64, f64)> {
        let (mut constant, mut model) = (0.0, None);
        for (coefficient, term) in quantity.terms() {
            match (term.constant(), term.variable().and_then(|v| v.checked_sub(n))) {
                (Some(value), _) => constant += coefficient * value,
                (None, Some(k)) if model.is_none() && coefficient != 0.0 => model = Some((k, coefficient)),
                _ => return None,
            }
        }
        let (k, coefficient) = model?;
        // A hair beyond the limit: what lies there cannot satisfy it.
        let limit = -constant / coefficient;
        let limit = limit + coefficient.signum() * 1e-12 * limit.abs();
        let sign = coefficient.signum();
        let forbidden = |raw: f64| {
            let (lower, upper) = super::predictor::enclose(&models[k], raw, raw);
            if sign > 0.0 { lower > limit } else { upper < limit }
        };
        // From the end that is allowed, if any is, to the end that is not; the place between them is found to the last digits that matter.
        let (lower, upper) = raw_range(k);
        let (mut inside, mut outside) = if sign > 0.0 { (lower, upper) } else { (upper, lower) };
        if !forbidden(outside) {
            return None;
        }
        if forbidden(inside) {
            return Some((k, sign, inside - sign * (upper - lower + 1.0)));
        }
        for _ in 0..100 {
            let middle = 0.5 * inside + 0.5 * outside;
            if forbidden(middle) { outside = middle } else { inside = middle }
        }
        Some((k, sign, outside))
    }
}

/// The least value of `coefficient * quantity` over a box; `None` where it is unbounded.
pub(super) fn least(ranged: &Ranged, coefficient: f64, region: &Region) -> Option<f64> {
    // A quantity that is defined nowhere has no values: any bound holds.
    let (lower, upper) = ranged.range(region).unwrap_or((0.0, 0.0));
    let product = if coefficient >= 0.0 { coefficient * lower } else { coefficient * upper };
    product.is_finite().then(|| product.next_down())
}
