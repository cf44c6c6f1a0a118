//! A smooth process: a Gaussian process with an additive and a joint Matern-5/2 kernel, and the search for the point it suggests.
//!
//! Where the trees give a suggestion with a proof, this process gives one that is nearer to the optimum for few measurements, without one: its acquisition is
//! minimised by local searches from many starts over the whole feasible set, or over a region that something else has proved.
//!
//! # Model
//! Points become [`Coordinates`] of the unit cube. The correlation of two points ([`KernelParameters`]) has a part for each variable alone and one of all
//! variables together, on request one of trees, too; its parameters are the maximum of likelihood times prior (`fit`), the constant mean and the signal variance follow from them, and
//! [`SmoothProcess`] states the posterior. Nothing is random, and nothing is remembered from one fit to the next.
//!
//! # Acquisition
//! [`Acquisition`] is minimised: `-ln EI` or a lower confidence bound.
//!
//! # Search
//! [`search::minimise`] makes candidates, moves each to a feasible point near it (`repair`), and improves the best ones (`local`). Every point it returns lies in the
//! region, satisfies the constraints at the tolerance for points leafgp prints, and is none of the points excluded.
//!
//! ```
//! use leafgp::Table;
//! use leafgp::problem::{Problem, Variable};
//! use leafgp::smooth::search::{SearchSpace, minimise};
//! use leafgp::smooth::{Acquisition, Coordinates, SmoothProcess, SmoothSettings};
//! use leafgp_solver::Region;
//! use leafgp_solver::constraints::Limits;
//! use rand::SeedableRng;
//! use rand::rngs::ChaCha8Rng;
//!
//! let problem = Problem::builder("disc")
//!     .variable(Variable::continuous("x", 0.0, 1.0))
//!     .variable(Variable::continuous("y", 0.0, 1.0))
//!     .constraint("disc", "x^2 + y^2 <= 1")
//!     .build()?;
//! let coordinates = Coordinates::new(&problem.domains(), &problem.log_scale());
//! let rows = [vec![0.0, 0.0], vec![0.5, 0.5], vec![0.9, 0.1], vec![0.1, 0.9]];
//! let x = Table::from_rows(2, &rows);
//! // Standardised targets of -(x + y).
//! let process = SmoothProcess::fit(&coordinates, &x, &[1.5, -0.5, -0.5, -0.5], &SmoothSettings::default())?;
//! let region = Region::full(&problem.domains());
//! let space = SearchSpace {
//!     constraints: problem.constraints(),
//!     region: &region,
//!     is_cell: false,
//!     excluded: &rows,
//!     best_rows: &rows[1..],
//!     starts: &[],
//!     penalised: &[],
//! };
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let bound = Acquisition::LowerBound { kappa: 2.0 };
//! let found = minimise(&process, bound, &space, &Limits::default(), &mut rng).expect("the disc holds more points");
//! assert!(problem.constraints().is_feasible(&found.point, leafgp_solver::constraints::Tolerance::Produce));
//! assert!(found.point[0] + found.point[1] > 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # References
//! Hvarfner, Hellsten & Nardi, *Vanilla Bayesian optimization performs great in high dimensions*, ICML 2024 (prior of the length scales).
//! Duvenaud, Nickisch & Rasmussen, *Additive Gaussian processes*, NeurIPS 2011.
//! Ament et al., *Unexpected improvements to expected improvement for Bayesian optimization*, NeurIPS 2023 (logarithm of EI).
//! Gonzalez, Dai, Hennig & Lawrence, *Batch Bayesian optimization via local penalization*, AISTATS 2016.
//! Goldfarb & Idnani 1983 (the projections, see [`leafgp_solver::constraints::qp`]).

mod acquisition;
mod bfgs;
mod candidates;
mod coordinates;
mod descent;
mod error;
mod factor;
mod fit;
mod kernel;
mod leaves;
mod local;
mod penalties;
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
pub use settings::{AcquisitionRule, KernelKind, LengthScalePrior, PendingRule, SmoothSettings};
