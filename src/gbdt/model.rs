//! Fitted models: the ensemble as trained or imported, and the model the kernel is built on.

use leafgp_solver::{Domain, Forest};

use super::error::GbdtError;
use super::tree::DecisionTree;

/// How often and how profitably each feature was split on, shape `[n_features]` each.
#[derive(Clone, Debug, PartialEq)]
pub struct Importances {
    /// Sum of the gains of the feature's splits.
    pub gain: Vec<f64>,
    /// Number of the feature's splits.
    pub split: Vec<usize>,
}

/// The loss after each tree: root mean squared error for L2, mean absolute error for L1, mean loss otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingCurve {
    /// On the rows learned from, shape `[rounds]`.
    pub training: Vec<f64>,
    /// On the rows set aside for early stopping, shape `[rounds]`; empty without early stopping.
    pub validation: Vec<f64>,
}

/// A sum of trees, perhaps with a direction for missing values.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// The trees; the first one carries the initial score.
    pub trees: Vec<DecisionTree>,
    /// Number of features a point has.
    pub n_features: usize,
    /// The loss after each round; longer than `trees` after early stopping, empty for an imported model.
    pub curve: TrainingCurve,
}

impl Ensemble {
    /// Prediction at `x`, length `n_features`. Missing values (NaN) go where the trees send them.
    pub fn predict(&self, x: &[f64]) -> f64 {
        self.trees.iter().map(|tree| tree.predict(x)).sum()
    }

    /// Gain and split importances.
    pub fn importances(&self) -> Importances {
        let mut result = Importances { gain: vec![0.0; self.n_features], split: vec![0; self.n_features] };
        for split in self.trees.iter().flat_map(|tree| &tree.splits) {
            // Gains of targets near the largest f64 stay finite.
            result.gain[split.feature] = (result.gain[split.feature] + split.gain).min(f64::MAX);
            result.split[split.feature] += 1;
        }
        result
    }

    /// The trees for the solver and the kernel.
    ///
    /// # Errors
    /// When a split has a direction of its own for missing values, and when the trees do not fit the domains.
    pub fn to_forest(&self, domains: &[Domain]) -> Result<Forest, GbdtError> {
        if domains.len() != self.n_features {
            let (expected, found) = (self.n_features, domains.len());
            return Err(GbdtError::Length { what: "the list of domains", expected, found });
        }
        if let Some(tree) = self.trees.iter().position(|tree| !tree.is_free_of_missing()) {
            return Err(GbdtError::MissingDirection { tree });
        }
        let levels: Vec<_> = domains.iter().map(Domain::levels).collect();
        let trees = self.trees.iter().map(|tree| tree.to_solver(&levels)).collect();
        Ok(Forest::new(trees, domains)?)
    }
}

/// A fitted model without missing values: the forest for kernel and solver beside the trainer's own trees.
#[derive(Clone, Debug, PartialEq)]
pub struct GbdtModel {
    /// The trees as the kernel and the solver read them.
    pub forest: Forest,
    /// The same trees with gains and counts, and the training curve.
    pub ensemble: Ensemble,
}

impl GbdtModel {
    /// Pairs an ensemble with its forest.
    ///
    /// # Errors
    /// As [`Ensemble::to_forest`].
    pub fn new(ensemble: Ensemble, domains: &[Domain]) -> Result<Self, GbdtError> {
        Ok(Self { forest: ensemble.to_forest(domains)?, ensemble })
    }

    /// Prediction at `x`, one number per variable, a category as its level index.
    pub fn predict(&self, x: &[f64]) -> f64 {
        self.ensemble.predict(x)
    }

    /// Gain and split importances of the variables.
    pub fn importances(&self) -> Importances {
        self.ensemble.importances()
    }

    /// The loss after each tree.
    pub fn training_curve(&self) -> &TrainingCurve {
        &self.ensemble.curve
    }
}
