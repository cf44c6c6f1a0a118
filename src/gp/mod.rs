//! Gaussian processes with the tree-ensemble kernel, fitted and conditioned through one eigendecomposition.
//!
//! # Model
//! A forest of `T` trees maps a point to one leaf a tree: the one-hot vector `z(x)` over all leaves. Two points are as alike as the share
//! of trees in which they end in the same leaf (Eq. 1 of the LEAF-GP paper),
//!
//! ```text
//! k(x, x') = s2/T * z(x)'z(x') ,       y_i = f(x_i) + noise,  noise ~ N(0, nz) ,  f ~ GP(mean, k)
//! ```
//!
//! with the signal variance `s2`, the noise variance `nz` and, by default, mean 0: targets are standardised and minimised. Trees with a
//! single leaf say nothing and do not count in `T`. With the leaf matrix `Z` of the training points and `a = s2/T`, `K = a Z Z'`, and the
//! posterior (Eq. 2, with the noise on the diagonal of the Gram matrix) is
//!
//! ```text
//! mu(x)      = mean + a (Z z)' (K + nz I)^-1 (y - mean)
//! sigma^2(x) = s2 - a^2 (Z z)' (K + nz I)^-1 (Z z)          (variance = "observed" adds nz)
//! ```
//!
//! # One decomposition
//! Only `s2` and `nz` change during the fit, so `Z Z' = U E U'` is decomposed once. With `d_k = a e_k + nz` and `r = U'(y - mean)`
//!
//! ```text
//! -2 log L = sum_k r_k^2/d_k + |y - U U'y|^2/nz + sum_k log d_k + (m - rank) log nz + m log(2 pi)
//! ```
//!
//! and its gradient cost O(rank) each: 200 Adam steps in the logit coordinates of the two intervals ([`GpSettings`]) cost little next to it.
//!
//! The decomposition is of the smaller of two matrices. *Points*: equal rows of `Z` are gathered, `N^1/2 Z_d Z_d' N^1/2` with their
//! numbers `N`. *Leaves*: the co-occurrence matrix `G = Z'Z`, counted tree pair by tree pair without any matrix over the points, equal
//! columns gathered likewise. From `G = V E V'` follows `U'Z = E^1/2 V'`, so both give the same loadings `b_l = U'Z[:, l]` (up to a
//! rotation within equal eigenvalues), and the cost does not grow with `m^3` once there are more points than leaves.
//!
//! # Leaf form
//! The solver minimises over one-hot vectors `z`, not over points ([`TreeGp::leaf_objective`], Eq. 6-8):
//!
//! ```text
//! mu = mean + sum_l z_l c_l ,             c_l  = a sum_k b_lk r_k / d_k
//! sigma^2 = s2 - |sum_l z_l v_l|^2 ,      v_lk = a b_lk / sqrt(d_k)
//! ```
//!
//! The vectors `v_l` are those of the Cholesky form, `a L^-1 Z[:, l]` with `K + nz I = L L'`, turned by `U`; their length is the rank of
//! `Z`, at most the number of distinct rows and at most leaves - trees + 1. In the leaf form `c = a (nz I + a G)^-1 Z'(y - mean)` and
//! `V V' = a^2 G (nz I + a G)^-1`.
//!
//! ```
//! use leafgp::Table;
//! use leafgp::gp::{GpSettings, TreeGp};
//! use leafgp_solver::{Domain, Forest, Node, Rule, Tree};
//!
//! let stump = |threshold| Tree {
//!     nodes: vec![
//!         Node::Split { feature: 0, rule: Rule::Threshold(threshold), left: 1, right: 2 },
//!         Node::Leaf { leaf: 0, value: 0.0 },
//!         Node::Leaf { leaf: 1, value: 0.0 },
//!     ],
//! };
//! let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
//! let forest = Forest::new(vec![stump(0.3), stump(0.6)], &domains)?;
//! let x = Table::from_rows(1, &[[0.1], [0.5], [0.9]]);
//! let gp = TreeGp::fit(&forest, &x, &[-1.0, 0.0, 1.0], &GpSettings::default())?;
//! assert!(gp.posterior(&[0.2]).mean < gp.posterior(&[0.7]).mean);
//!
//! let objective = gp.leaf_objective(1.96);
//! let at = gp.posterior(&[0.4]);
//! let value = objective.value(&forest.active_leaves(&[0.4]));
//! assert!((value - (at.mean - 1.96 * at.deviation())).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # References
//! Thebelt et al., *Tree ensemble kernels for Bayesian optimization with known constraints over mixed-feature spaces*, NeurIPS 2022.
//! Davies & Ghahramani, *The random forest kernel and other kernels for big data from random partitions*, 2014.
//! Lee et al., *Face alignment using cascade Gaussian process regression trees*, CVPR 2015 (rank at most the number of leaves).

mod adam;
mod eigen;
mod error;
mod leaf_matrix;
mod likelihood;
mod model;
mod remainder;
mod settings;
mod spectrum;
#[cfg(test)]
mod testing;

pub(crate) use eigen::Pace;
pub use error::GpError;
pub use likelihood::Hyperparameters;
pub use model::{Posterior, TreeGp};
pub use settings::{GpSettings, MeanKind, VarianceKind};
