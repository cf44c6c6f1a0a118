//! leafgp: Bayesian optimisation over mixed variables with known constraints.
//!
//! Start at [`engine::Optimizer`]: `ask` for the next experiment, `tell` its result.
//!
//! | step | here |
//! |---|---|
//! | variables, constraints, settings, from a TOML file or in code | [`problem`] |
//! | experiments, in a CSV file or in memory | [`history`] |
//! | trees, and the process whose kernel they define | [`gbdt`], [`gp`] |
//! | the lower confidence bound as a problem for the solver; the same as a file | [`acquisition`], [`instance`] |
//! | all of it in a loop | [`engine`] |
//! | its proven optimum | [`solver`] |
//!
//! [`smooth`] is another process, with a smooth kernel and without a proof.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod acquisition;
pub mod engine;
pub mod file;
pub mod gbdt;
pub mod gp;
pub mod history;
pub mod instance;
mod platform;
pub mod problem;
pub mod smooth;
pub mod table;

pub use leafgp_solver as solver;
pub use table::Table;
