//! From texts to a compiled set.

use crate::constraints::Hierarchy;
use crate::expr::{Comparison, Condition, ConditionId, Number, Scope, Typed};
use crate::level_set::LevelSet;
use crate::model::{Model, Piece};
use crate::pool::Pool;
use crate::{Constraints, ExprError, Variable, cycle};

/// Collects variables, defines and constraints; [`ConstraintsBuilder::build`] compiles them.
///
/// ```
/// use leafgp_constraints::{ConstraintsBuilder, Domain, Tolerance, Variable};
///
/// let variable = |name: &str| Variable {
///     name: name.into(),
///     domain: Domain::Continuous { lower: 0.0, upper: 10.0 },
///     level_names: Vec::new(),
/// };
/// let mut builder = ConstraintsBuilder::new(vec![variable("width"), variable("height")])?;
/// builder.define("area", "width * height", false)?;
/// builder.constrain("large enough", "area >= 12")?;
/// let constraints = builder.build();
/// assert!(constraints.is_feasible(&[3.0, 4.0], Tolerance::Produce));
/// assert_eq!(constraints.violations(&[2.0, 4.0], Tolerance::Produce)[0].amount, 4.0);
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConstraintsBuilder {
    scope: Scope,
    names: Vec<String>,
    roots: Vec<ConditionId>,
    hierarchy: Vec<Hierarchy>,
}

impl ConstraintsBuilder {
    /// Starts from the variables, in the order of points.
    ///
    /// # Errors
    /// A duplicate name.
    pub fn new(variables: Vec<Variable>) -> Result<Self, ExprError> {
        let scope = Scope::new(variables)?;
        Ok(Self { scope, names: Vec::new(), roots: Vec::new(), hierarchy: Vec::new() })
    }

    /// Names a quantity (or a condition) for later expressions; `integer` demands a whole value.
    ///
    /// # Errors
    /// Syntax, unknown or duplicate names, types.
    pub fn define(&mut self, name: &str, expression: &str, integer: bool) -> Result<(), ExprError> {
        let mut meaning = self.scope.expression(expression)?;
        let whole = 0..expression.len();
        match &meaning {
            Typed::Number(id) if integer => {
                let id = self.scope.program.number(Number::Whole(*id));
                let root = self.scope.program.condition(Condition::IsWhole(id));
                self.names.push(format!("{name} is whole"));
                self.roots.push(root);
                meaning = Typed::Number(id);
            }
            Typed::Condition(_) if integer => {
                let message = format!("`{name}` is a condition and cannot be whole");
                return Err(ExprError { message, span: whole });
            }
            Typed::Number(_) | Typed::Condition(_) | Typed::Category(_) => {}
            Typed::Text(_) => {
                return Err(ExprError { message: "a quoted level is no quantity".into(), span: whole });
            }
        }
        self.scope.name(name, meaning).map_err(|e| ExprError { span: whole, ..e })
    }

    /// Adds a constraint: a condition that every point must satisfy.
    ///
    /// # Errors
    /// Syntax, unknown names, types.
    pub fn constrain(&mut self, name: &str, expression: &str) -> Result<(), ExprError> {
        let root = self.scope.condition(expression)?;
        self.names.push(name.to_owned());
        self.roots.push(root);
        Ok(())
    }

    /// Makes variable number `variable` hierarchical: where the condition is false it takes `inactive_value`.
    ///
    /// # Errors
    /// Syntax, unknown names, types; an inactive value outside the variable's domain; a condition that depends on the variable itself,
    /// directly or through the conditions of the variables it reads.
    pub fn active_if(
        &mut self,
        variable: usize,
        condition: &str,
        inactive_value: f64,
    ) -> Result<(), ExprError> {
        let parsed = self.scope.condition(condition)?;
        let domain = &self.scope.domains()[variable];
        let name = self.scope.variables[variable].name.clone();
        if !domain.contains(inactive_value) {
            let message = format!("the inactive value {inactive_value} of `{name}` is not one of its values");
            return Err(ExprError { message, span: 0..condition.len() });
        }
        let levels = domain.levels();
        if let Some(chain) = cycle::closed_by(&self.scope.program, &self.hierarchy, variable, parsed) {
            let names: Vec<String> =
                chain.iter().map(|&i| format!("`{}`", self.scope.variables[i].name)).collect();
            let message =
                format!("whether `{name}` is active would depend on itself: {}", names.join(" -> "));
            return Err(ExprError { message, span: 0..condition.len() });
        }
        let program = &mut self.scope.program;
        let active = program.condition(Condition::Exact(parsed));
        let at_rest = match levels {
            Some(levels) => {
                let set = LevelSet::from_indices(levels, [inactive_value as usize]);
                program.condition(Condition::Level(variable, set))
            }
            None => {
                // Two inequalities hold without tolerance; an equality would not.
                let x = program.number(Number::Variable(variable));
                let rest = program.number(Number::Constant(inactive_value));
                let below = program.condition(Condition::Compare(Comparison::LessEqual, x, rest));
                let above = program.condition(Condition::Compare(Comparison::LessEqual, rest, x));
                program.condition(Condition::And(vec![below, above]))
            }
        };
        let root = program.condition(Condition::Or(vec![active, at_rest]));
        self.names.push(format!("{name} is active if {condition}"));
        self.roots.push(root);
        self.hierarchy.push(Hierarchy {
            variable,
            condition: parsed,
            inactive_value,
            constraint: self.roots.len() - 1,
        });
        Ok(())
    }

    /// Compiles the set.
    pub fn build(self) -> Constraints {
        let Self { scope, names, roots, hierarchy } = self;
        let pieces: Vec<_> = roots
            .iter()
            .enumerate()
            .map(|(c, &condition)| (Piece { condition, negated: false, exact: false }, c))
            .collect();
        let model = Model::compile(&scope.program, scope.domains(), &pieces);
        Constraints {
            domains: scope.domains().to_vec(),
            stated: scope.program.numbers.iter().map(Into::into).collect(),
            program: scope.program,
            names,
            roots,
            hierarchy,
            model,
            pool: Pool::default(),
        }
    }
}
