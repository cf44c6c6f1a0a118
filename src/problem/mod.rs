//! The problem: variables, objective, known constraints and settings, from a TOML file or built in code.

mod builder;
mod error;
mod file;
mod grid;
mod number;
mod settings;
mod settings_table;
mod source;
mod spelling;
mod table;
mod variable;

use std::path::Path;

use serde::{Deserialize, Serialize};

use leafgp_solver::Domain;
use leafgp_solver::constraints::Constraints;

pub use builder::ProblemBuilder;
pub(crate) use builder::STATUS_COLUMN;
pub use error::ProblemError;
pub use number::{format_decimals, format_number, format_significant};
pub use settings::{DesignSettings, PointChoice, Preset, Settings, SolverSettings};
use source::Source;
pub use variable::{Kind, Scale, ValueError, Variable};

/// Reading TOML documents so that every mistake is named with file, line, field and what was expected: problem files, and the documents of
/// other crates (studies).
pub mod reading {
    pub use super::number::parse_number;
    pub use super::settings_table::overlay_settings;
    pub use super::source::Source;
    pub use super::spelling::hint;
    pub use super::table::{Located, Reader, join};
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Smaller is better.
    #[default]
    Minimize,
    /// Larger is better.
    Maximize,
}

impl Goal {
    /// The sign that turns the objective into something to minimise: 1 or -1. The only place where the direction enters.
    pub fn sign(self) -> f64 {
        match self {
            Self::Minimize => 1.0,
            Self::Maximize => -1.0,
        }
    }

    /// True when `a` is strictly better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        self.sign() * a < self.sign() * b
    }

    /// The word of the problem file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimize => "minimize",
            Self::Maximize => "maximize",
        }
    }
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The history's column.
    pub name: String,
    /// Which direction is better.
    pub goal: Goal,
}

/// A constraint's name and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedExpression {
    /// Its name.
    pub name: String,
    /// Its text.
    pub expr: String,
}

/// A named quantity for later expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its text.
    pub expr: String,
    /// Whether it must be a whole number.
    pub integer: bool,
}

/// A checked optimisation problem. Points are `&[f64]` in the order of `variables`; a category stands as its level index.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// Its name, free text.
    pub name: String,
    /// What is measured.
    pub objective: Objective,
    /// The variables, at least one.
    pub variables: Vec<Variable>,
    /// The compiled constraints, whole-valued defines and hierarchy over `variables`.
    pub constraints: Constraints,
    /// The defined quantities as they were written.
    pub definitions: Vec<Definition>,
    /// The constraints as they were written.
    pub expressions: Vec<NamedExpression>,
    /// Settings with their defaults filled in.
    pub settings: Settings,
    /// What is legal but probably not meant, one sentence each.
    pub warnings: Vec<String>,
}

impl Problem {
    /// Starts a problem in code.
    pub fn builder(name: impl Into<String>) -> ProblemBuilder {
        ProblemBuilder::new(name)
    }

    /// Reads a problem file.
    ///
    /// # Errors
    /// Unreadable file, syntax, unknown keys, values out of range, refused expressions: always with the place in the file.
    pub fn from_file(path: &Path) -> Result<Self, ProblemError> {
        file::parse(&Source::read(path)?)
    }

    /// Reads the text of a problem file; `file` is the name for messages.
    ///
    /// # Errors
    /// As [`Problem::from_file`].
    pub fn from_text(file: &Path, text: &str) -> Result<Self, ProblemError> {
        file::parse(&Source::new(file, text))
    }

    /// The variables' domains, in order.
    pub fn domains(&self) -> Vec<Domain> {
        self.variables.iter().map(Variable::domain).collect()
    }

    /// The index of a variable.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v.name == name)
    }

    /// Which variables ask for a logarithmic scale, in order.
    pub fn log_scale(&self) -> Vec<bool> {
        self.variables.iter().map(|v| v.scale == Scale::Log).collect()
    }

    /// The point as a JSON object `{name: value}`; levels as text, whole-number variables as integers.
    pub fn point_to_json(&self, point: &[f64]) -> serde_json::Map<String, serde_json::Value> {
        self.variables.iter().zip(point).map(|(v, &x)| (v.name.clone(), v.to_json(x))).collect()
    }
}
