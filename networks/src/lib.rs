//! The two architecture-search benchmarks of the LEAF-GP paper, with networks that are really trained.
//!
//! A point of a search space becomes an architecture ([`CnnPlan`], [`VaePlan`]) or is refused by the rule of the problem file that it breaks; an architecture becomes
//! a network with weights, is trained with Adam and judged on images that it has not seen ([`cnn::evaluate`], [`vae::evaluate`]). Same point, data, settings and seed:
//! same value, whatever the number of threads.
//!
//! Spaces, layers and losses: Thebelt et al., NeurIPS 2022, appendices "CIFAR-NAS" and "VAE-NAS".

pub mod cnn;
mod cnn_plan;
mod convolution;
pub mod data;
mod error;
pub mod generated;
mod layers;
mod optimizer;
mod point;
mod training;
pub mod vae;
mod vae_plan;

pub use cnn_plan::{CnnPlan, Convolution};
pub use data::{Data, Images};
pub use error::Error;
pub use layers::Activation;
pub use point::Point;
pub use training::Training;
pub use vae_plan::{Deconvolution, VaePlan};
