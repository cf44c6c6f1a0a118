//! The problem: variables, objective, known constraints and settings, from a TOML file or built in code.

mod builder;
mod decimals;
mod error;
mod file;
mod goal;
mod grid;
mod implied;
mod modelled;
mod number;
mod order;
mod range;
mod settings;
mod settings_table;
mod source;
mod spelling;
mod table;
mod text;
mod variable;

use std::path::Path;

use leafgp_solver::constraints::{Constraints, Stated};
use leafgp_solver::{Domain, LevelSet, Range, Region};

pub use builder::ProblemBuilder;
pub(crate) use builder::{FAILURE_COLUMN, STATUS_COLUMN};
pub use decimals::Decimals;
pub use error::ProblemError;
pub use goal::Goal;
pub use modelled::{ModelEntry, Modelled};
pub use number::{format_decimals, format_number, format_significant};
pub(crate) use order::Canonical;
pub use settings::{DesignSettings, PointChoice, Preset, Settings, SolverSettings};
use source::Source;
pub(crate) use text::composed;
pub use variable::{Kind, Scale, ValueError, Variable};

/// Reading TOML documents so that every mistake is named with file, line, field and what was expected: problem files, and the documents of
/// other crates (studies).
pub mod reading {
    pub use super::number::parse_number;
    pub use super::settings_table::overlay_settings;
    pub use super::source::Source;
    pub use super::spelling::{hint, nearest};
    pub use super::table::{Located, Reader, join};
}

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The history's column.
    pub name: String,
    /// Which direction is better.
    pub goal: Goal,
    /// Earlier names of the column.
    pub renamed_from: Vec<String>,
}

impl Objective {
    /// What the models predict: the objective by its name, or with a target its distance, `|name - 50|`.
    ///
    /// ```
    /// use leafgp::problem::{Goal, Problem, Variable};
    ///
    /// let problem = Problem::builder("p").objective("pH", Goal::Target(7.5)).variable(Variable::binary("b")).build()?;
    /// assert_eq!(problem.objective().modelled_name(), "|pH - 7.5|");
    /// # Ok::<(), leafgp::problem::ProblemError>(())
    /// ```
    pub fn modelled_name(&self) -> String {
        match self.goal {
            Goal::Target(target) if target < 0.0 => format!("|{} + {}|", self.name, format_number(-target)),
            Goal::Target(target) => format!("|{} - {}|", self.name, format_number(target)),
            Goal::Minimize | Goal::Maximize => self.name.clone(),
        }
    }
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
    /// The user's own first, then those that follow from the variables.
    expressions: Vec<NamedExpression>,
    n_own: usize,
    /// Variables at one value.
    fixed: Vec<(usize, f64)>,
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

    /// The constraints as they were written, and after them those that semi-continuous variables and removed levels imply.
    pub fn expressions(&self) -> &[NamedExpression] {
        &self.expressions
    }

    /// What the problem states of its variables, as text and in the order in which it is compiled: definitions, when variables exist, constraints.
    pub fn stated(&self) -> impl Iterator<Item = Stated> + '_ {
        let definitions = self.definitions.iter().map(|Definition { name, expr, integer }| Stated::Define {
            name: name.clone(),
            expression: expr.clone(),
            integer: *integer,
        });
        let active = self.variables.iter().enumerate().filter_map(|(variable, described)| {
            let (condition, inactive_value) = (described.active_if.clone()?, described.inactive_value);
            Some(Stated::ActiveIf { variable, condition, inactive_value })
        });
        let constraints = self.expressions.iter().map(|NamedExpression { name, expr }| Stated::Constraint {
            name: name.clone(),
            expression: expr.clone(),
        });
        definitions.chain(active).chain(constraints)
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
        let earlier = self.settings.without_effect();
        let kept = self.warnings.into_iter().filter(|warning| !earlier.contains(warning));
        let warnings = kept.chain(settings.without_effect()).collect();
        Ok(Self { settings, warnings, ..self })
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

    /// The same problem with some variables (by index) at one value: a box narrowed to it, by one more constraint for each, named `x = 3 (fixed)`.
    ///
    /// ```
    /// use leafgp::problem::{Problem, Variable};
    /// use leafgp::solver::constraints::Tolerance;
    ///
    /// let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 5.0)).build()?;
    /// let fixed = problem.with_fixed(&[(0, 0.3)])?;
    /// let feasible = |x: f64| fixed.constraints().is_feasible(&[x], Tolerance::Produce);
    /// assert!(feasible(0.3) && !feasible(0.1 + 0.2));
    /// # Ok::<(), leafgp::problem::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// A variable that does not exist, or a value that it cannot have.
    pub fn with_fixed(&self, fixed: &[(usize, f64)]) -> Result<Self, ProblemError> {
        let mut builder = ProblemBuilder::of(self);
        for &(i, value) in fixed {
            let Some(variable) = self.variables.get(i) else {
                let n = self.variables.len();
                let message = format!("there is no variable {i}");
                return Err(ProblemError::new("", message, format!("an index below {n}")));
            };
            variable.check_offered(value).map_err(|e| {
                ProblemError::new("", format!("{} cannot be fixed: {}", variable.name, e.message), e.expected)
            })?;
            builder = builder.fixed(i, value);
        }
        let fixed = [&self.fixed, fixed].concat();
        let warnings = self.warnings.clone();
        builder.build().map(|problem| Self { fixed, warnings, ..problem })
    }

    /// The same problem with another default of a variable ([`Variable::default`]).
    ///
    /// # Errors
    /// A value that is none of the variable's.
    pub fn with_default(&self, name: &str, value: f64) -> Result<Self, ProblemError> {
        let mut problem = self.clone();
        if let Some(variable) = problem.variables.iter_mut().find(|v| composed(&v.name) == composed(name)) {
            let refuse = |e: ValueError| ProblemError::new("default", e.message, e.expected);
            variable.check_offered(value).map_err(refuse)?;
            variable.default = Some(value);
        }
        Ok(problem)
    }

    /// The box of what may be suggested, constraints not considered: the domains, without removed levels, narrowed to the values that are fixed.
    pub fn region(&self) -> Region {
        let mut region = Region::full(self.constraints.domains());
        for (range, variable) in region.0.iter_mut().zip(&self.variables) {
            if let (Range::Levels(levels), true) = (range, variable.n_removed > 0) {
                (variable.offered_levels().len()..variable.levels().len())
                    .for_each(|level| levels.remove(level));
            }
        }
        for &(i, value) in &self.fixed {
            let here = match &region.0[i] {
                Range::Levels(levels) => {
                    Range::Levels(LevelSet::from_indices(levels.capacity(), [value as usize]))
                }
                Range::Interval { .. } => Range::Interval { lower: value, upper: value },
            };
            if region.0[i].contains(value) {
                region.0[i] = here;
            }
        }
        region
    }

    /// The variables' domains, in order.
    pub fn domains(&self) -> Vec<Domain> {
        self.variables.iter().map(Variable::domain).collect()
    }

    /// The index of a variable.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| composed(&v.name) == composed(name))
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
