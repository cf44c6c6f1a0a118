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
    /// The direction that a caller names by a truth value.
    pub fn maximize_if(maximize: bool) -> Self {
        if maximize { Self::Maximize } else { Self::Minimize }
    }

    /// Factor that makes the goal a minimisation.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Maximize => -1.0,
            Self::Minimize => 1.0,
        }
    }
}
