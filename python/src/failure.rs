//! Errors of the library as Python's, with the texts of the command line.

use leafgp::engine::EngineError;
use leafgp::history::HistoryError;
use leafgp::problem::{ProblemError, ValueError};
use leafgp_models::ModelError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Where the classes of errors are.
const MODULE: &str = "leafgp._errors";

/// Why a call failed: the class in `leafgp._errors`, and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    class: &'static str,
    message: String,
    /// Names of constraints that cannot hold together.
    conflict: Vec<String>,
}

impl Failure {
    pub(crate) fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), conflict: Vec::new() }
    }

    /// A point, a value or a table that was refused.
    pub(crate) fn point(message: impl Into<String>) -> Self {
        Self::new("PointError", message)
    }

    /// A wish that cannot be: an unknown name, a number out of range.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new("RequestError", message)
    }

    /// A mistake of leafgp.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new("InternalError", message)
    }
}

/// A class of `leafgp._errors`.
pub(crate) fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import(MODULE)?.getattr(name)?.cast_into::<PyType>()?)
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let Failure { class: name, message, conflict } = failure;
        Python::attach(|py| {
            let made = class(py, name).and_then(|class| {
                if name == "InfeasibleError" {
                    class.call1((message, conflict))
                } else {
                    class.call1((message,))
                }
            });
            made.map_or_else(|error| error, PyErr::from_value)
        })
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        use EngineError::{
            BadCandidate, BadObservation, BadPoint, BadRequest, ExhaustedWith, Infeasible, NoCandidate,
            NoIncumbent, NoMeasuredRow, Problem, SpaceExhausted,
        };
        let message = error.to_string();
        match error {
            Infeasible { conflict } => Self { class: "InfeasibleError", message, conflict },
            SpaceExhausted | ExhaustedWith { .. } => Self::new("SpaceExhausted", message),
            NoCandidate { .. } => Self::new("NoCandidate", message),
            NoIncumbent { .. } => Self::new("NoIncumbent", message),
            NoMeasuredRow => Self::new("NoModelError", message),
            BadObservation { .. } | BadPoint(_) | BadCandidate { .. } => Self::point(message),
            BadRequest { .. } => Self::request(message),
            Problem(error) => error.into(),
            _ => Self::new("LeafgpError", message),
        }
    }
}

impl From<ProblemError> for Failure {
    fn from(error: ProblemError) -> Self {
        Self::new("ProblemError", error.to_string())
    }
}

impl From<ValueError> for Failure {
    fn from(error: ValueError) -> Self {
        Self::point(error.to_string())
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        Self::new("HistoryError", error.to_string())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::new("ModelError", error.to_string())
    }
}
