//! The direction of an optimisation.

/// Which end is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The largest prediction.
    Maximize,
    /// The smallest prediction.
    Minimize,
}

impl Goal {
    /// Factor that makes the goal a minimisation.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Maximize => -1.0,
            Self::Minimize => 1.0,
        }
    }
}
