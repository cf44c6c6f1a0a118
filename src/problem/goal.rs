//! Which values of the objective are better.

use serde::{Deserialize, Serialize};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Smaller is better.
    #[default]
    Minimize,
    /// Larger is better.
    Maximize,
    /// Nearer to this value is better: the distance `|y - target|` is minimised, and it is the distance that the models learn and predict.
    Target(f64),
}

impl Goal {
    /// The sign that turns what is modelled ([`Goal::modelled`]) into something to minimise: 1 or -1. The only place where the direction enters.
    pub fn sign(self) -> f64 {
        match self {
            Self::Minimize | Self::Target(_) => 1.0,
            Self::Maximize => -1.0,
        }
    }

    /// What the models learn of a measured value: the value, or its distance from the target.
    ///
    /// ```
    /// use leafgp::problem::Goal;
    /// assert_eq!((Goal::Target(50.0).modelled(47.5), Goal::Maximize.modelled(47.5)), (2.5, 47.5));
    /// ```
    pub fn modelled(self, y: f64) -> f64 {
        match self {
            Self::Minimize | Self::Maximize => y,
            Self::Target(target) => (y - target).abs(),
        }
    }

    /// The direction of what is modelled: distances from a target are minimised.
    #[must_use]
    pub fn of_modelled(self) -> Self {
        match self {
            Self::Maximize => Self::Maximize,
            Self::Minimize | Self::Target(_) => Self::Minimize,
        }
    }

    /// True when `a` is strictly better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        self.sign() * self.modelled(a) < self.sign() * self.modelled(b)
    }

    /// The better one of two values that may be missing; the first of equals.
    pub fn better(self, a: Option<f64>, b: Option<f64>) -> Option<f64> {
        match (a, b) {
            (Some(x), Some(y)) if self.is_better(y, x) => b,
            (None, _) => b,
            _ => a,
        }
    }

    /// The best of the values that are not missing, with its place in the list; the first of equals.
    ///
    /// ```
    /// use leafgp::problem::Goal;
    /// assert_eq!(Goal::Maximize.best([Some(1.0), None, Some(3.0), Some(3.0)]), Some((2, 3.0)));
    /// ```
    pub fn best(self, values: impl IntoIterator<Item = Option<f64>>) -> Option<(usize, f64)> {
        let present = values.into_iter().enumerate().filter_map(|(i, value)| Some((i, value?)));
        present.reduce(|best, next| if self.is_better(next.1, best.1) { next } else { best })
    }

    /// The word of the problem file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimize => "minimize",
            Self::Maximize => "maximize",
            Self::Target(_) => "target",
        }
    }
}
