//! How exactly a constraint must hold.

use crate::expr::Settings;

/// Which tolerances a check uses. They are relative to the size of a comparison's terms, the largest of them as though products of sums were multiplied out,
/// so that they mean the same in every unit; a variable whose range includes zero counts as a billionth of its largest bound at least. `<`, `>`, `!=`,
/// categories, whole numbers and sums of short decimals over grids and lists are always exact.
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
    /// For points leafgp prints: inequalities in plain f64, or in decimals where f64 is off by a rounding; equalities within 1e-9 of the terms' size.
    Produce,
    /// As [`Produce`](Self::Produce) but for rounding: inequalities within 1e-9 too.
    Rounded,
    /// For rows a user brings: within 1e-6 of the terms' size.
    Judge,
    /// As [`Judge`](Self::Judge), with another tolerance for equalities.
    Rows {
        /// The tolerance, `>= 0`.
        equality: f64,
    },
}

impl Tolerance {
    pub(crate) fn settings(self) -> Settings {
        match self {
            Self::Produce => Settings::PRODUCE,
            Self::Rounded => Settings::ROUNDED,
            Self::Judge => Settings::JUDGE,
            Self::Rows { equality } => Settings { equality, ..Settings::JUDGE },
        }
    }
}
