//! Models as the solver's predictor.

use leafgp_solver::Predictor;

use super::NamedModel;
use crate::link::Link;

/// The models of a problem, in order.
#[derive(Debug)]
pub(super) struct Models<'a>(pub(super) &'a [NamedModel]);

impl Predictor for Models<'_> {
    fn n_predictions(&self) -> usize {
        self.0.len()
    }

    fn predict(&self, x: &[f64]) -> Vec<f64> {
        let predict = |model: &NamedModel| model.ensemble.predict(&model.binding.features_of(x));
        self.0.iter().map(predict).collect()
    }

    fn enclose(&self, k: usize, lower: f64, upper: f64) -> (f64, f64) {
        enclose(&self.0[k], lower, upper)
    }
}

/// Relative error of a link computed in f32.
const SINGLE: f64 = 4e-6;

/// What the library predicts where the raw score in exact arithmetic lies between the two.
pub(super) fn enclose(model: &NamedModel, lower: f64, upper: f64) -> (f64, f64) {
    let (link, rounding) = (model.ensemble.link(), model.ensemble.rounding());
    let end = |raw: f64, up: bool| {
        let raw = if up { (raw + rounding).next_up() } else { (raw - rounding).next_down() };
        let value = link.bound(raw, up);
        if link == Link::Identity || model.ensemble.is_double() {
            return value;
        }
        let margin = SINGLE * value.abs() + f64::from(f32::MIN_POSITIVE);
        if up { value + margin } else { value - margin }
    };
    (end(lower, false), end(upper, true))
}
