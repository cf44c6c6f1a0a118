//! leafgp: Bayesian optimisation over mixed variables with known constraints.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod acquisition;
pub mod engine;
pub mod file;
pub mod gbdt;
pub mod gp;
pub mod history;
pub mod instance;
pub mod problem;
pub mod smooth;
pub mod table;

pub use leafgp_solver as solver;
pub use table::Table;
