//! What is stated of variables, as text.

use crate::{ConstraintsBuilder, ExprError};

/// Something that is stated of variables; its expressions may use what was stated before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Stated {
    /// A named quantity (or condition) for later expressions: [`ConstraintsBuilder::define`].
    Define {
        /// Its name.
        name: String,
        /// Its text.
        expression: String,
        /// Whether it must be a whole number.
        integer: bool,
    },
    /// When a variable exists: [`ConstraintsBuilder::active_if`].
    ActiveIf {
        /// The variable's index.
        variable: usize,
        /// The text of the condition.
        condition: String,
        /// Its value elsewhere.
        inactive_value: f64,
    },
    /// A condition that must hold: [`ConstraintsBuilder::constrain`].
    Constraint {
        /// Its name.
        name: String,
        /// Its text.
        expression: String,
    },
}

impl Stated {
    /// Its name; of the condition of a variable, what the problem file calls it.
    pub fn name(&self) -> &str {
        match self {
            Self::Define { name, .. } | Self::Constraint { name, .. } => name,
            Self::ActiveIf { .. } => "active_if",
        }
    }
}

impl ConstraintsBuilder {
    /// States one thing more.
    ///
    /// ```
    /// use leafgp_constraints::{ConstraintsBuilder, Domain, Stated, Tolerance, Variable};
    ///
    /// let domain = Domain::Continuous { lower: 0.0, upper: 10.0 };
    /// let mut builder = ConstraintsBuilder::new(vec![Variable { name: "x".into(), domain, level_names: Vec::new() }])?;
    /// builder.state(&Stated::Define { name: "twice".into(), expression: "2 * x".into(), integer: false })?;
    /// builder.state(&Stated::Constraint { name: "small".into(), expression: "twice <= 6".into() })?;
    /// assert!(!builder.build().is_feasible(&[4.0], Tolerance::Judge));
    /// # Ok::<(), leafgp_constraints::ExprError>(())
    /// ```
    ///
    /// # Errors
    /// As the method that each kind names.
    pub fn state(&mut self, stated: &Stated) -> Result<(), ExprError> {
        match stated {
            Stated::Define { name, expression, integer } => self.define(name, expression, *integer),
            Stated::ActiveIf { variable, condition, inactive_value } => {
                self.active_if(*variable, condition, *inactive_value)
            }
            Stated::Constraint { name, expression } => self.constrain(name, expression),
        }
    }
}
