//! A histogram gradient-boosting machine with LightGBM's algorithm and parameter meanings.
//!
//! [`train`] bins the table, then boosts: per round one tree, grown best leaf first from gradient histograms, the larger child's
//! histogram by subtraction. References: Friedman, *Greedy function approximation* (2001); Chen & Guestrin, *XGBoost* (2016);
//! Ke et al., *LightGBM* (2017).

mod bin_finder;
mod bin_mapper;
mod bin_matrix;
mod cross_validate;
mod error;
mod gain;
mod grow;
mod histogram;
mod input;
mod model;
mod model_json;
mod objective;
mod partition;
mod sampling;
mod search;
mod settings;
mod split;
mod split_categorical;
mod split_numeric;
#[doc(hidden)]
pub mod stages;
mod train;
mod tree;

pub use cross_validate::{CrossValidation, cross_validate, fold_rows};
pub use error::GbdtError;
pub use model::{Ensemble, GbdtModel, Importances, TrainingCurve};
pub use settings::{GbdtSettings, Objective};
pub use train::{train, train_ensemble, train_while};
pub use tree::{Child, DecisionTree, LeafNode, MissingType, SplitNode, SplitRule};
