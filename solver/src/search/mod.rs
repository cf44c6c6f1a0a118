//! Branch-and-bound over the cells of a forest, to proven optimality.
//!
//! **What is solved.** `minimise c'z - kappa sqrt(s2 - |sum_l z_l v_l|^2)` over the one-hot leaf vectors `z` that some allowed point activates. The
//! objective is constant on *cells*: products of the pieces between consecutive thresholds (half-open, `(t_k, t_{k+1}]`) and of category levels.
//! A node of the tree is a box of cells; each tree whose leaves are still open in the box is a *block*, its leaves the *items*.
//!
//! **Step by step** (`subtree::Worker::process`):
//!
//! 1. *Filter*: items outside the box go, then cells that no item of some block supports, to a fixpoint; with constraints the box is contracted too.
//! 2. *Enumerate* when at most one block is open, or two with few pairs.
//! 3. *Relax*: for any vector `u` and any `s > 0`, with `a = kappa / s`, Cauchy-Schwarz gives
//!    `c'z - kappa sigma >= sum_b min_i (c_i + a v_i.u) - kappa sqrt(s2 (|u|^2 + s^2)) / s`: a bound that is safe whatever `u` is. A pass of pairwise
//!    Frank-Wolfe steps moves `u` towards the minimum of the relaxation.
//! 4. *Messages*: blocks are independent in that bound, though one point must fit all; dual decomposition through the variables' cells raises it. Steps
//!    3 and 4 alternate, step 3 on the costs less the messages, and start from where the parent's ended (`dual`).
//! 5. *Fix*: items and cells whose own bound reaches the cutoff go.
//! 6. *Branch* on the split whose children promise the largest product of gains: first-order bound gain, in the costs less the messages, plus half the
//!    curvature times the squared displacement of `u`.
//!
//! Subtrees of at most 50 nodes are searched depth first from the best open nodes, sixteen a round; results are merged in order, so the answer
//! does not depend on the number of threads. Limits on leaves are propagated in step 1; an excluded region is a further block that covers all but the region. A
//! deviation that is minimised (`kappa < 0`) has a secant bound in place of step 3. With `kappa = 0` messages carry the bound alone; in these two cases rows of
//! messages are kept by piece (`pieces`). For sums of trees the root's messages are polished (`polish`), exact moves of two and three variables look for better points (`moves`), and what a time limit will
//! leave open gets its bound from a ladder of cutoffs (`driver::ladder`).
//!
//! With [learned](crate::Learned) constraints the leaf objective is only a lower bound of the value. The predictions' ranges over a node and the cutoff join
//! the box that is contracted in step 1, which bounds the value too; a final cell is searched by halving what is open of its value (`learned`). Cells are then those of
//! the trees that predictions come from, and where all of these are decided, a node competes with its own cell's value when that is listed.

mod blocks;
mod branching;
mod cell_set;
mod cell_tree;
mod cells;
mod certify;
mod driver;
mod dual;
mod entries;
mod error;
mod evidence;
mod filter;
mod index;
mod item_rows;
mod items;
mod kernels;
mod learned;
mod line;
mod links;
mod local;
mod messages;
mod model;
mod moves;
mod multipliers;
mod node;
mod options;
mod pieces;
mod polish;
mod pool;
mod refinement;
mod relax;
mod report;
#[cfg(test)]
mod small;
#[cfg(feature = "stages")]
mod stages;
mod subtree;

pub use certify::certify;
pub use error::{CertifyError, SearchError};
pub use options::{ProgressCallback, SearchOptions};
pub use report::{Incumbent, Progress, Report, Status, StopReason};

pub use crate::limit::LeafLimit;
pub use crate::objective::relative_gap;
pub use crate::problem::{Problem, ProblemError};

#[cfg(feature = "stages")]
#[doc(hidden)]
pub use stages::Stages;

/// Finds the point with the smallest objective and proves it.
///
/// # Errors
/// A problem whose parts do not fit together, or an option out of range. Infeasibility and limits are outcomes, not errors.
pub fn minimize(problem: &Problem<'_>, options: &SearchOptions) -> Result<Report, SearchError> {
    options.validate()?;
    problem.validate()?;
    driver::run(problem, options)
}
