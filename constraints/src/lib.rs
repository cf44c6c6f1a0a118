//! [algorithm]: crate::algorithm
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

pub mod algorithm;
mod answer;
mod builder;
mod constraints;
mod cycle;
mod design;
mod domain;
mod exact;
mod explain;
mod expr;
mod function;
mod interval;
mod level_set;
mod limits;
mod local;
mod metric;
mod model;
mod pool;
mod propagate;
pub mod qp;
mod quantity;
mod questions;
mod rational;
mod region;
mod relax;
mod search;
mod stated;
pub mod statement;
mod tolerance;
mod variable;

pub use answer::{Decision, Linearised, Projection, Violation};
pub use builder::ConstraintsBuilder;
pub use constraints::Constraints;
pub use domain::{Domain, DomainError, Grid};
pub use explain::Denominator;
pub use expr::ExprError;
pub use level_set::LevelSet;
pub use limits::Limits;
#[doc(hidden)]
pub use propagate::Propagator;
pub use quantity::{Quantity, Ranged};
pub use region::{Range, Region};
pub use stated::Stated;
pub use tolerance::Tolerance;
pub use variable::Variable;
