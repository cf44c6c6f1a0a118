//! A problem in code.

use leafgp_solver::constraints::{self, ConstraintsBuilder};

use super::{Goal, Objective, Problem, ProblemError, Settings, Variable};

/// Collects the parts of a [`Problem`]; [`ProblemBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ProblemBuilder {
    name: String,
    objective: Objective,
    variables: Vec<Variable>,
    defines: Vec<(String, String, bool)>,
    constraints: Vec<(String, String)>,
    settings: Settings,
}

impl ProblemBuilder {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            objective: Objective { name: "objective".to_owned(), goal: Goal::Minimize },
            variables: Vec::new(),
            defines: Vec::new(),
            constraints: Vec::new(),
            settings: Settings::default(),
        }
    }

    /// The objective's column and direction; by default `objective`, to minimise.
    #[must_use]
    pub fn objective(mut self, name: impl Into<String>, goal: Goal) -> Self {
        self.objective = Objective { name: name.into(), goal };
        self
    }

    /// Adds a variable; the order of calls is the order of points.
    #[must_use]
    pub fn variable(mut self, variable: Variable) -> Self {
        self.variables.push(variable);
        self
    }

    /// Names a quantity for later expressions; `integer` demands a whole value.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, expression: impl Into<String>, integer: bool) -> Self {
        self.defines.push((name.into(), expression.into(), integer));
        self
    }

    /// Adds a known constraint.
    #[must_use]
    pub fn constraint(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.constraints.push((name.into(), expression.into()));
        self
    }

    /// Replaces all settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Checks everything and compiles the constraints.
    ///
    /// # Errors
    /// No variables, duplicate or unusable names, values out of range, refused expressions.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let variables = self.variables.iter().map(|v| constraints::Variable {
            name: v.name.clone(),
            domain: v.domain(),
            level_names: v.levels().to_vec(),
        });
        let refuse = |field: String| move |e: constraints::ExprError| ProblemError::new(field, e.message, "");
        let mut builder =
            ConstraintsBuilder::new(variables.collect()).map_err(refuse("variables".to_owned()))?;
        for (name, expression, integer) in &self.defines {
            builder.define(name, expression, *integer).map_err(refuse(format!("define.{name}")))?;
        }
        for (i, variable) in self.variables.iter().enumerate() {
            if let Some(condition) = &variable.active_if {
                builder
                    .active_if(i, condition, variable.inactive_value)
                    .map_err(refuse(format!("variables.{}.active_if", variable.name)))?;
            }
        }
        for (name, expression) in &self.constraints {
            builder.constrain(name, expression).map_err(refuse(format!("constraints.{name}")))?;
        }
        Ok(Problem {
            name: self.name,
            objective: self.objective,
            variables: self.variables,
            constraints: builder.build(),
            settings: self.settings,
            warnings: Vec::new(),
        })
    }
}
