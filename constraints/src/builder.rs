//! From texts to a compiled set.

use crate::constraints::Hierarchy;
use crate::expr::{Comparison, Condition, ConditionId, Number, Program, Scope, Typed};
use crate::level_set::LevelSet;
use crate::model::{Model, Piece};
use crate::pool::Pool;
use crate::{Constraints, Domain, ExprError, Variable, cycle};

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
    /// A duplicate name; a domain without a value ([`Domain::check`](crate::Domain::check)); names of levels that are not one for each level.
    pub fn new(variables: Vec<Variable>) -> Result<Self, ExprError> {
        for Variable { name, domain, level_names } in &variables {
            let refuse = |message: String| ExprError { message: format!("`{name}`: {message}"), span: 0..0 };
            domain.check().map_err(|e| refuse(e.to_string()))?;
            let (names, levels) = (level_names.len(), domain.levels().unwrap_or(0));
            if names != 0 && names != levels {
                return Err(refuse(format!("there are {names} names for {levels} levels")));
            }
        }
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
    /// No such variable; syntax, unknown names, types; an inactive value outside the variable's domain; a condition that depends on the variable itself,
    /// directly or through the conditions of the variables it reads.
    pub fn active_if(
        &mut self,
        variable: usize,
        condition: &str,
        inactive_value: f64,
    ) -> Result<(), ExprError> {
        let parsed = self.scope.condition(condition)?;
        let Some(Variable { name, domain, .. }) = self.scope.variables.get(variable).cloned() else {
            let n = self.scope.variables.len();
            let message = format!("there is no variable number {variable}; there are {n}");
            return Err(ExprError { message, span: 0..condition.len() });
        };
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

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Compiles the set.
    pub fn build(self) -> Constraints {
        let Self { scope, names, roots, hierarchy } = self;
        let domains = scope.domains().to_vec();
        compiled(domains, scope.program, names, roots, hierarchy)
    }
}

impl Constraints {
    /// The set of some conditions of a program, without names.
    pub(crate) fn of_program(domains: Vec<Domain>, program: Program, roots: &[ConditionId]) -> Self {
        compiled(domains, program, vec![String::new(); roots.len()], roots.to_vec(), Vec::new())
    }
}

fn compiled(
    domains: Vec<Domain>,
    program: Program,
    names: Vec<String>,
    roots: Vec<ConditionId>,
    hierarchy: Vec<Hierarchy>,
) -> Constraints {
    let piece = |(c, &condition)| (Piece { condition, negated: false, exact: false }, c);
    let pieces: Vec<_> = roots.iter().enumerate().map(piece).collect();
    let model = Model::compile(&program, &domains, &pieces);
    Constraints {
        stated: program.numbers.iter().map(Into::into).collect(),
        domains,
        program,
        names,
        roots,
        hierarchy,
        model,
        pool: Pool::default(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, ProptestConfig, any, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    use super::ConstraintsBuilder;
    use crate::{Domain, Limits, Region, Tolerance, Variable};

    fn number() -> impl Strategy<Value = f64> {
        let special =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -0.0, 0.0, 1.0, 3.0, 0.5];
        prop_oneof![
            1 => proptest::sample::select(special.to_vec()),
            1 => any::<f64>(),
            4 => (-9_i8..9).prop_map(f64::from),
        ]
    }

    fn domain() -> impl Strategy<Value = Domain> {
        prop_oneof![
            (number(), number()).prop_map(|(lower, upper)| Domain::Continuous { lower, upper }),
            (number(), number()).prop_map(|(lower, upper)| Domain::Integer { lower, upper }),
            proptest::collection::vec(number(), 0..4).prop_map(Domain::Discrete),
            prop_oneof![0_usize..4, Just(usize::MAX)].prop_map(|levels| Domain::Categorical { levels }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Whatever the domains, names and conditions: an error, or a set that answers.
        #[test]
        fn no_variables_crash_the_builder(
            domains in proptest::collection::vec(domain(), 0..4),
            names in prop_oneof![4 => Just(["a", "b", "c"]), 1 => Just(["a", "a", ""])],
            levels in 0_usize..4,
            hierarchy in (0_usize..5, number()),
            expression in prop_oneof![Just("a <= b"), Just("a * a >= 1 / b"), Just("a == '1'"), Just("a ^ 2 + exp(b) <= c"), Just("(")],
        ) {
            let variable = |(domain, name): (Domain, &str)| {
                let level_names = if domain.is_categorical() { vec!["x".into(); levels] } else { Vec::new() };
                Variable { name: name.into(), domain, level_names }
            };
            let variables = domains.into_iter().zip(names).map(variable).collect();
            let Ok(mut builder) = ConstraintsBuilder::new(variables) else { return Ok(()) };
            let _ = builder.constrain("first", expression);
            let _ = builder.active_if(hierarchy.0, "b >= 1", hierarchy.1);
            let constraints = builder.build();
            let full = Region::full(constraints.domains());
            let limits = Limits { nodes: 50, ..Limits::default() };
            if let crate::Decision::Feasible(mut x) = constraints.decide(&full, limits) {
                assert!(constraints.is_feasible(&x, Tolerance::Produce));
                constraints.deactivate(&mut x);
            }
        }
    }
}
