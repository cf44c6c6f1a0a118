//! The model that the preset goes by.

use super::error::EngineError;
use super::smooth_surrogate::SmoothSurrogate;
use super::surrogate::{Prediction, Surrogate};
use crate::history::Row;
use crate::problem::{Preset, Problem, ValueError};

/// The model that chooses the points: the smooth process, or with the paper's preset the trees' process.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one model at a time, and it is not moved around")]
pub enum Model {
    /// The trees and their process.
    Trees(Surrogate),
    /// The smooth process.
    Smooth(SmoothSurrogate),
}

impl Model {
    /// Fits the model of the problem's preset.
    ///
    /// # Errors
    /// No measured row, and what the models refuse.
    pub fn of(problem: &Problem, rows: &[Row]) -> Result<Self, EngineError> {
        Ok(match problem.settings().preset {
            Preset::Paper => Self::Trees(Surrogate::of(problem, rows)?),
            Preset::Proven | Preset::Smooth | Preset::Mixed => {
                Self::Smooth(SmoothSurrogate::of(problem, rows)?)
            }
        })
    }

    /// Its name in sentences.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Trees(_) => "trees' process",
            Self::Smooth(_) => "smooth process",
        }
    }

    /// Standard deviation of a measurement's noise, in the objective's units.
    pub fn noise(&self) -> f64 {
        match self {
            Self::Trees(surrogate) => surrogate.noise(),
            Self::Smooth(surrogate) => surrogate.noise(),
        }
    }

    /// The prediction at a point in variable order, in the objective's units; inactive variables take their inactive value.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level.
    pub fn predict(&self, x: &[f64]) -> Result<Prediction, ValueError> {
        match self {
            Self::Trees(surrogate) => surrogate.predict(x),
            Self::Smooth(surrogate) => surrogate.predict(x),
        }
    }
}
