//! Sides of rows, and how a solve ended.

/// Which side of a row or of a variable's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `a · x >= lower`, multiplier `<= 0`.
    Lower,
    /// `a · x <= upper`, multiplier `>= 0`; also the side reported for equalities.
    Upper,
}

impl Side {
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Lower => -1.0,
            Self::Upper => 1.0,
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// [`Qp::x`](super::Qp::x) is the minimiser and the multipliers belong to it; every row and bound holds to within
    /// [`Qp::violation`](super::Qp::violation).
    Optimal,
    /// No point satisfies all rows within the box; the row multipliers are a Farkas proof, see [`Qp::infeasibility_gap`](super::Qp::infeasibility_gap).
    Infeasible {
        /// The proof was re-checked on the aggregated row with all rounding errors bounded. `false` occurs only when an
        /// unbounded or very wide variable keeps a coefficient of rounding size in the aggregated row, so that no
        /// arithmetic can close the proof: treat it as "almost certainly infeasible".
        proved: bool,
    },
    /// The optimal value, if there is one, exceeds the cutoff: the multipliers prove [`Qp::dual_value`](super::Qp::dual_value)` > cutoff`.
    Cutoff,
    /// Stopped without an answer: iteration limit, or no progress in the arithmetic. Multipliers are still valid for a
    /// lower bound ([`Qp::dual_value`](super::Qp::dual_value)); the point is the minimiser over the active constraints only.
    Unsolved,
}

/// Data that define no quadratic program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QpError {
    /// A coefficient, target or finite side is NaN or infinite where it must not be.
    #[error("{what} {index} is {value}, expected a finite number")]
    NotFinite {
        /// The kind of datum: "row", "target", "metric", ...
        what: &'static str,
        /// Index of the row or variable.
        index: usize,
        /// The value found.
        value: f64,
    },
    /// The metric is not symmetric positive definite (on the free variables).
    #[error("the metric is not positive definite: pivot {pivot} of variable {variable}")]
    NotPositiveDefinite {
        /// The variable where the factorisation broke down.
        variable: usize,
        /// The pivot found there.
        pivot: f64,
    },
}
