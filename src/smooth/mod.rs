//! A smooth process: a Gaussian process with an additive and a joint Matern-5/2 kernel, and the search for the point it suggests.
mod acquisition;
mod bfgs;
mod candidates;
mod coordinates;
mod descent;
mod error;
mod factor;
mod fit;
mod kernel;
mod local;
mod process;
mod repair;
pub mod search;
mod settings;
mod shorten;
mod space;
mod subset;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use acquisition::Acquisition;
pub use coordinates::Coordinates;
pub use error::SmoothError;
pub use kernel::KernelParameters;
pub use process::{Posterior, SmoothProcess};
pub use settings::{KernelKind, SmoothSettings};
