//! Gaussian processes with the tree-ensemble kernel (Eq. 1, 2).

mod adam;
mod error;
mod leaf_matrix;
mod likelihood;
mod model;
mod settings;
mod spectrum;
#[cfg(test)]
mod testing;

pub use error::GpError;
pub use likelihood::Hyperparameters;
pub use model::{Posterior, TreeGp};
pub use settings::{GpSettings, MeanKind, VarianceKind};
