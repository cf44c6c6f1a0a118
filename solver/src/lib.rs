//! Exact optimisation of fitted tree ensembles over mixed variables with known constraints.
//!
//! The crate knows variables' [domains](domain), [forests](forest) as plain data, a linear plus concave-quadratic
//! [objective on leaves](objective) and [constraint expressions](constraints); it knows nothing of Gaussian processes, files or commands.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod certificate;
pub mod constraints;
pub mod domain;
pub mod expr;
pub mod forest;
pub mod interval;
pub mod level_set;
pub mod objective;
pub mod qp;
pub mod region;
pub mod search;
#[cfg(test)]
mod testing;

pub use domain::{Domain, DomainError, Grid};
pub use forest::{Forest, ForestError, Node, Rule, Tree};
pub use level_set::LevelSet;
pub use objective::{LeafObjective, Quadratic};
pub use region::{Range, Region};
pub use search::{
    Incumbent, LeafLimit, Problem, Report, SearchError, SearchOptions, Status, StopReason, minimize,
};
