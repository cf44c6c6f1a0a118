//! Which features a model's splits ask, and what its training gained by them.

use crate::ensemble::Ensemble;
use crate::tree::Tree;

/// How often and how profitably each feature was split on, shape `[n_features]` each.
#[derive(Clone, Debug, PartialEq)]
pub struct Importances {
    /// Sum of the gains of the feature's splits; zeros where the file does not keep them (CatBoost, ONNX).
    pub gain: Vec<f64>,
    /// Number of the feature's splits.
    pub splits: Vec<usize>,
}

impl Ensemble {
    /// Gains and splits of all trees.
    pub fn importances(&self) -> Importances {
        let n = self.features().len();
        let mut importances = Importances { gain: vec![0.0; n], splits: vec![0; n] };
        for (feature, gain) in self.trees().iter().flat_map(Tree::gains) {
            importances.splits[feature] += 1;
            // What is no number counts as nothing, and the largest sums stay finite.
            let gain = if gain.is_finite() { gain } else { 0.0 };
            importances.gain[feature] = (importances.gain[feature] + gain).clamp(f64::MIN, f64::MAX);
        }
        importances
    }
}
