//! The problem: variables, objective, known constraints and settings, from a TOML file or built in code.

mod builder;
mod error;
mod file;
mod grid;
mod modelled;
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
pub(crate) use builder::{FAILURE_COLUMN, STATUS_COLUMN};
pub use error::ProblemError;
pub use modelled::{ModelEntry, Modelled};
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

/// A checked optimisation problem. Points are `&[f64]` in the order of the variables; a category stands as its level index.
///
/// What was checked stays so: settings and direction change through methods that check again.
#[derive(Clone, Debug)]
pub struct Problem {
    name: String,
    objective: Objective,
    variables: Vec<Variable>,
    constraints: Constraints,
    definitions: Vec<Definition>,
    expressions: Vec<NamedExpression>,
    settings: Settings,
    warnings: Vec<String>,
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

    /// Its name, free text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is measured.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The variables, at least one.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The compiled constraints, whole-valued defines and hierarchy over the variables.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// The defined quantities as they were written.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The constraints as they were written.
    pub fn expressions(&self) -> &[NamedExpression] {
        &self.expressions
    }

    /// Settings with their defaults filled in.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is legal but probably not meant, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same problem with other settings.
    ///
    /// # Errors
    /// Names the first setting outside its range.
    pub fn with_settings(self, settings: Settings) -> Result<Self, ProblemError> {
        settings.validate().map_err(|e| e.within("settings"))?;
        Ok(Self { settings, ..self })
    }

    /// The same problem with some settings changed.
    ///
    /// ```
    /// use leafgp::problem::{Problem, Variable};
    ///
    /// let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).build()?;
    /// let problem = problem.adjusted(|settings| settings.solver.time_limit = 10.0)?;
    /// assert!(problem.adjusted(|settings| settings.kappa = -1.0).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Problem::with_settings`].
    pub fn adjusted(self, change: impl FnOnce(&mut Settings)) -> Result<Self, ProblemError> {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.with_settings(settings)
    }

    /// The same problem in another direction.
    #[must_use]
    pub fn with_goal(mut self, goal: Goal) -> Self {
        self.objective.goal = goal;
        self
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

    /// Checks that a point has a finite number for each variable, and a known level for each category. The box is not checked: old experiments may lie outside.
    ///
    /// # Errors
    /// Names the first coordinate that is no value, and what was expected.
    pub fn check_point(&self, point: &[f64]) -> Result<(), ValueError> {
        let expected = self.variables.len();
        if point.len() != expected {
            let message = format!("the point has {} coordinates", point.len());
            return Err(ValueError { message, expected: expected.to_string() });
        }
        for (variable, &x) in self.variables.iter().zip(point) {
            let is_level = variable.levels().is_empty() || variable.domain().contains(x);
            if !x.is_finite() || !is_level {
                let message = format!("{} is {x}", variable.name);
                return Err(ValueError { message, expected: variable.expected() });
            }
        }
        Ok(())
    }

    /// The point as a JSON object `{name: value}`; levels as text, whole-number variables as integers.
    pub fn point_to_json(&self, point: &[f64]) -> serde_json::Map<String, serde_json::Value> {
        self.variables.iter().zip(point).map(|(v, &x)| (v.name.clone(), v.to_json(x))).collect()
    }

    /// Reads a point from a JSON object `{name: value}`: every variable and nothing else, each value as in [`Variable::from_json`]. The opposite of
    /// [`Problem::point_to_json`]. Values need not lie in the domains.
    ///
    /// # Errors
    /// A name that is no variable, a variable that is not named, a value that cannot be read.
    pub fn point_from_json(
        &self,
        point: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Vec<f64>, ValueError> {
        if let Some(name) = point.keys().find(|name| self.index_of(name).is_none()) {
            let message = format!("the point has {name:?}, which is no variable of the problem");
            return Err(ValueError { message, expected: "the names of its variables".to_owned() });
        }
        let coordinate = |variable: &Variable| {
            let name = &variable.name;
            let missing = || ValueError {
                message: format!("the point has no {name:?}"),
                expected: variable.expected(),
            };
            let value = point.get(name).ok_or_else(missing)?;
            let in_point = |e: ValueError| ValueError { message: format!("{name:?}: {}", e.message), ..e };
            variable.from_json(value).map_err(in_point)
        };
        self.variables.iter().map(coordinate).collect()
    }
}
