//! A smooth process: a Gaussian process with an additive and a joint Matern-5/2 kernel, and the search for the point it suggests.
mod acquisition;
mod bfgs;
mod coordinates;
mod error;
mod factor;
mod fit;
mod kernel;
mod process;
mod settings;
mod subset;
#[cfg(test)]
mod testing;

pub use acquisition::Acquisition;
pub use coordinates::Coordinates;
pub use error::SmoothError;
pub use kernel::KernelParameters;
pub use process::{Posterior, SmoothProcess};
pub use settings::{KernelKind, SmoothSettings};
