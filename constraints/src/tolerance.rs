//! How exactly a constraint must hold.

use crate::expr::Settings;

/// Which tolerances a check uses (inequalities and equalities; `<`, `>`, `!=` and categories are always exact).
///
/// ```
/// # use leafgp_constraints::{ConstraintsBuilder, Domain, Variable};
/// use leafgp_constraints::Tolerance;
///
/// # let share = |name: &str| Variable {
/// #     name: name.into(),
/// #     domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
/// #     level_names: Vec::new(),
/// # };
/// # let mut builder = ConstraintsBuilder::new(vec![share("a"), share("b")])?;
/// builder.constrain("all", "a + b == 1")?;
/// let set = builder.build();
/// let rounded = [0.333333, 0.6666667];
/// assert!(set.is_feasible(&rounded, Tolerance::Judge));
/// assert!(!set.is_feasible(&rounded, Tolerance::Produce));
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// For points leafgp prints: inequalities in plain f64, or in decimals where f64 is off by a rounding; equalities within `1e-9 * max(1, |lhs|, |rhs|)`.
    Produce,
    /// For rows a user brings: within `1e-6 * max(1, |lhs|, |rhs|)`.
    Judge,
    /// As [`Judge`](Self::Judge), with another tolerance for equalities, relative to `max(1, |lhs|, |rhs|)`.
    Rows {
        /// The tolerance, `>= 0`.
        equality: f64,
    },
}

impl Tolerance {
    pub(crate) fn settings(self) -> Settings {
        match self {
            Self::Produce => Settings::PRODUCE,
            Self::Judge => Settings::JUDGE,
            Self::Rows { equality } => Settings { equality, ..Settings::JUDGE },
        }
    }
}
