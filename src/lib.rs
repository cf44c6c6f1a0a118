//! leafgp: Bayesian optimisation over mixed variables with known constraints.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod acquisition;
pub mod cli;
pub mod engine;
mod file;
pub mod functions;
pub mod gbdt;
pub mod gp;
pub mod history;
pub mod instance;
pub mod plot;
pub mod problem;
pub mod smooth;
pub mod study;
pub mod table;

pub use leafgp_solver as solver;
pub use table::Table;
