//! How boxes are decided and points are projected; this module holds no code.
//!
//! 1. **Compile** (`model/`). Texts become operations as written (`expr/`), and these one graph: sums are merged, negations pushed down to
//!    the comparisons, conjunctions split into *roots*. What is known of a function (`sqrt`, `log10`, powers, ...) stands in one file
//!    (`function/`).
//! 2. **Contract** (`propagate/`, `search/contraction.rs`). Each root is evaluated forwards over the box with intervals and backwards from
//!    what it demands, until nothing worthwhile changes \[1\]. Intervals are rounded outward: what is taken away is proved to be infeasible.
//!    Sums over discrete values are also tested by divisibility (`model/lattice.rs`).
//! 3. **Relax** (`relax/`, `search/relaxation.rs`). Linear functions below and above each node \[2\] make a quadratic program ([`qp`](crate::qp),
//!    \[3\]): the nearest point of the relaxation. Its multipliers bound the distance and contract the box further.
//! 4. **Find a point** (`search/dive.rs`, `local/`). Discrete variables are fixed one after the other with propagation; Gauss-Newton steps,
//!    ascents to vertices and sequential quadratic programming move the rest. A point counts only after every constraint was evaluated there
//!    as the user wrote it, in plain f64.
//! 5. **Split** (`search/split.rs`). Constraints that share no free variable are solved one by one (`search/components.rs`); otherwise an open
//!    disjunction or the variable along which the slopes vary most is split, and both halves go back to step 2. Boxes whose bound is no
//!    better than the incumbent are closed.
//!
//! The loop is `Search::solve` in `search/mod.rs`. Decisions stop at the first feasible point, projections at the gap. Conflicts
//! (`explain.rs`) are found by leaving out one constraint after the other, designs (`design.rs`) by drawing one variable after the other
//! from what propagation leaves \[4\].
//!
//! 1. F. Benhamou, F. Goualard, L. Granvilliers and J.-F. Puget (1999), Revising hull and box consistency, ICLP.
//! 2. G. P. McCormick (1976), Computability of global solutions to factorable nonconvex programs, Mathematical Programming 10.
//! 3. D. Goldfarb and A. Idnani (1983), A numerically stable dual method for solving strictly convex quadratic programs, Mathematical
//!    Programming 27.
//! 4. D. P. Mitchell (1991), Spectrally optimal sampling for distribution ray tracing, SIGGRAPH.
