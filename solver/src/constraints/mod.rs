//! Known constraints: checked, propagated, decided, projected, explained.

use std::time::Instant;

use rand::Rng;

use crate::domain::Domain;
use crate::region::Region;

/// A variable as expressions see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name used in expressions (in backquotes when it is no bare identifier).
    pub name: String,
    /// Its allowed values.
    pub domain: Domain,
    /// Names of the levels, `[levels]`; empty for numbers.
    pub level_names: Vec<String>,
}

/// An expression that was refused: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What is wrong and what was expected.
    pub message: String,
    /// Byte range of the offending part within the expression.
    pub span: std::ops::Range<usize>,
}

/// Which of the three tolerances a check uses (inequalities and equalities; `<`, `>`, `!=` and categories are always exact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// For points leafgp prints: inequalities in plain f64, equalities within `1e-9 * max(1, |lhs|, |rhs|)`.
    Produce,
    /// For rows a user brings: within `1e-6 * max(1, |lhs|, |rhs|)`.
    Judge,
}

/// One violated constraint at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the constraint.
    pub constraint: usize,
    /// By how much, in the constraint's own units; infinite when it is undefined there or logical.
    pub amount: f64,
}

/// Limits of a decision or projection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest number of search nodes.
    pub nodes: usize,
    /// When to stop at the latest.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 10_000, deadline: None }
    }
}

/// Whether a box holds a feasible point.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A point feasible at [`Tolerance::Produce`].
    Feasible(Vec<f64>),
    /// Proved: there is none.
    Infeasible,
    /// Not decided within the limits, and why.
    Undecided(String),
}

/// The nearest feasible point of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The best point found and its distance, see [`Constraints::project`]; `None` when none was found.
    pub nearest: Option<(Vec<f64>, f64)>,
    /// No feasible point of the box is nearer than this; infinite when the box is proved infeasible.
    pub bound: f64,
}

/// Collects variables, defines and constraints; [`ConstraintsBuilder::build`] compiles them.
#[derive(Clone, Debug)]
pub struct ConstraintsBuilder {
    variables: Vec<Variable>,
}

impl ConstraintsBuilder {
    /// Starts from the variables, in the order of points.
    ///
    /// # Errors
    /// A duplicate name.
    pub fn new(variables: Vec<Variable>) -> Result<Self, ExprError> {
        Ok(Self { variables })
    }

    /// Names a quantity for later expressions; `integer` demands a whole value.
    ///
    /// # Errors
    /// Syntax, unknown or duplicate names, types.
    pub fn define(&mut self, _name: &str, _expression: &str, _integer: bool) -> Result<(), ExprError> {
        unimplemented!("constraint engine")
    }

    /// Adds a constraint: a condition that every point must satisfy.
    ///
    /// # Errors
    /// Syntax, unknown names, types.
    pub fn constrain(&mut self, _name: &str, _expression: &str) -> Result<(), ExprError> {
        unimplemented!("constraint engine")
    }

    /// Makes variable number `variable` hierarchical: where the condition is false it takes `inactive_value`.
    ///
    /// # Errors
    /// Syntax, unknown names, types.
    pub fn active_if(
        &mut self,
        _variable: usize,
        _condition: &str,
        _inactive_value: f64,
    ) -> Result<(), ExprError> {
        unimplemented!("constraint engine")
    }

    /// Compiles the set.
    pub fn build(self) -> Constraints {
        Constraints { domains: self.variables.into_iter().map(|v| v.domain).collect() }
    }
}

/// A compiled set of known constraints over mixed variables.
#[derive(Clone, Debug)]
pub struct Constraints {
    domains: Vec<Domain>,
}

impl Constraints {
    /// True when every point of the domains is feasible: no constraint, no define that must be whole, no hierarchy.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Number of constraints (each user constraint, each whole-valued define, each `active_if`), in the order they were added.
    pub fn len(&self) -> usize {
        0
    }

    /// The constraint's name as the user gave it.
    pub fn name(&self, _constraint: usize) -> &str {
        unimplemented!("constraint engine")
    }

    /// The variables' domains.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The constraints violated at a point whose coordinates lie in their domains.
    pub fn violations(&self, _x: &[f64], _tolerance: Tolerance) -> Vec<Violation> {
        Vec::new()
    }

    /// True when the point lies in the domains and violates nothing.
    pub fn is_feasible(&self, x: &[f64], tolerance: Tolerance) -> bool {
        self.domains.iter().zip(x).all(|(d, &v)| d.contains(v)) && self.violations(x, tolerance).is_empty()
    }

    /// Writes the inactive value into each inactive variable of a point.
    pub fn deactivate(&self, _x: &mut [f64]) {}

    /// Shrinks a box without losing a feasible point; false when it is proved to hold none.
    #[must_use]
    pub fn contract(&self, _region: &mut Region) -> bool {
        true
    }

    /// Decides whether a box holds a feasible point.
    pub fn decide(&self, _region: &Region, _limits: Limits) -> Decision {
        unimplemented!("constraint engine")
    }

    /// The feasible point of a box nearest to `centre` in `sum ((x_i - c_i) / range_i)^2 + number of changed categories`, to a relative
    /// `gap` (Eq. 11).
    pub fn project(&self, _region: &Region, _centre: &[f64], _gap: f64, _limits: Limits) -> Projection {
        unimplemented!("constraint engine")
    }

    /// An irreducible set of constraints that cannot hold together; `None` when no infeasibility is proved within the limits.
    pub fn conflict(&self, _limits: Limits) -> Option<Vec<usize>> {
        None
    }

    /// `n` feasible points that fill the space, away from the points in `existing`. `log_scale[i]` asks for a spread on the
    /// logarithmic scale of variable `i`. Fewer than `n` points only when there are no more distinct ones or the limits ran out.
    pub fn design(
        &self,
        _n: usize,
        _existing: &[Vec<f64>],
        _log_scale: &[bool],
        _rng: &mut impl Rng,
        _limits: Limits,
    ) -> Vec<Vec<f64>> {
        unimplemented!("constraint engine")
    }
}
