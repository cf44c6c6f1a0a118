//! A histogram gradient-boosting machine with LightGBM's algorithm and parameter meanings.

mod error;
mod model;
mod settings;
mod tree;

use leafgp_solver::Domain;

pub use error::GbdtError;
pub use model::{Ensemble, GbdtModel, Importances, TrainingCurve};
pub use settings::{GbdtSettings, Objective};
pub use tree::{Child, DecisionTree, LeafNode, MissingType, SplitNode, SplitRule};

use crate::Table;

/// Fits an ensemble of trees to `y` given the rows of `x`.
///
/// # Errors
/// Settings out of range, inputs of different lengths, missing or infinite values.
pub fn train(
    _x: &Table,
    _domains: &[Domain],
    _y: &[f64],
    _weights: Option<&[f64]>,
    _settings: &GbdtSettings,
    _seed: u64,
) -> Result<GbdtModel, GbdtError> {
    unimplemented!("the trainer is being written")
}
