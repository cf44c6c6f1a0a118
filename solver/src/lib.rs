//! Exact optimisation of fitted tree ensembles over mixed variables with known constraints.
//!
//! The crate knows variables' [domains](Domain), [forests](forest) as plain data, a linear plus concave-quadratic
//! [objective on leaves](objective) and [known constraints](leafgp_constraints); it knows nothing of Gaussian processes, files or commands.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod certificate;
#[doc(hidden)]
pub mod fnv;
pub mod forest;
pub mod learned;
pub mod limit;
pub mod objective;
pub mod problem;
pub mod search;
#[cfg(test)]
mod testing;

pub use forest::{Forest, ForestError, Node, Rule, Tree};
pub use leafgp_constraints as constraints;
pub use leafgp_constraints::{Domain, DomainError, Grid, LevelSet, Range, Region};
pub use learned::{LeafSum, Learned, Predictor, SumLink};
pub use limit::LeafLimit;
pub use objective::{LeafObjective, Quadratic, Remainder};
pub use problem::{Problem, ProblemError};
pub use search::{Incumbent, Report, SearchError, SearchOptions, Status, StopReason, minimize};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
