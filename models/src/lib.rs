#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

mod answer;
mod arrays;
mod binding;
mod boxes;
mod catboost;
mod ensemble;
mod error;
mod feature;
mod forest;
mod goal;
mod importances;
mod lightgbm;
mod link;
mod onnx;
mod optimum;
mod options;
mod own;
mod problem;
mod read;
mod rounding;
mod tree;
mod xgboost;

pub use answer::{coordinate_to_json, point_to_json};
pub use arrays::{ArrayCategories, ArrayEnsemble, ArrayTree};
pub use binding::Binding;
pub use boxes::{Column, variables_from_table};
pub use ensemble::Ensemble;
pub use error::ModelError;
pub use feature::{Feature, FeatureKind};
pub use forest::BoundForest;
pub use goal::Goal;
pub use importances::Importances;
pub use link::Link;
pub use optimum::{Candidate, Optimum, Space};
pub use options::ReadOptions;
pub use problem::{ModelCandidate, ModelOptimum, ModelProblem, NamedModel, Reach, ReachOutcome, Target};
pub use read::MAX_BYTES;
