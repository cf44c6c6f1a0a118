//! How exactly a constraint must hold.

use crate::expr::Settings;

/// Which of the three tolerances a check uses (inequalities and equalities; `<`, `>`, `!=` and categories are always exact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// For points leafgp prints: inequalities in plain f64, equalities within `1e-9 * max(1, |lhs|, |rhs|)`.
    Produce,
    /// For rows a user brings: within `1e-6 * max(1, |lhs|, |rhs|)`.
    Judge,
}

impl Tolerance {
    pub(crate) fn settings(self) -> Settings {
        match self {
            Self::Produce => Settings::PRODUCE,
            Self::Judge => Settings::JUDGE,
        }
    }
}
