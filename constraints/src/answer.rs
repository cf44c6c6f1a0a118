//! Answers of the engine: what a point violates, whether a box holds a feasible point, and which is the nearest.

/// One violated constraint at a point, see [`Constraints::violations`](crate::Constraints::violations).
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the constraint.
    pub constraint: usize,
    /// By how much, in the constraint's own units; infinite when it is undefined there or logical.
    pub amount: f64,
}

/// A violated constraint at a point and how to leave it, see [`Constraints::linearised`](crate::Constraints::linearised).
#[derive(Clone, Debug, PartialEq)]
pub struct Linearised {
    /// What is violated, and by how much.
    pub violation: Violation,
    /// Slopes of the amount by variable, `[n]`, zero for categories: one side's at a bend, not finite where there is none. `None` where the constraint is undefined or logical.
    pub slopes: Option<Vec<f64>>,
}

/// Whether a box holds a feasible point.
///
/// ```
/// # use leafgp_constraints::{ConstraintsBuilder, Domain, Variable};
/// use leafgp_constraints::{Decision, Limits, Region};
///
/// # let integer = |name: &str| Variable {
/// #     name: name.into(),
/// #     domain: Domain::Integer { lower: 0.0, upper: 9.0 },
/// #     level_names: Vec::new(),
/// # };
/// # let mut builder = ConstraintsBuilder::new(vec![integer("a"), integer("b")])?;
/// builder.constrain("odd", "2 * a + 4 * b == 7")?;
/// # let set = builder.build();
/// match set.decide(&Region::full(set.domains()), Limits::default()) {
///     Decision::Feasible(x) => println!("for example {x:?}"),
///     Decision::Infeasible => println!("there is none"), // an even number is not 7
///     Decision::Undecided(why) => println!("not known: {why}"),
/// }
/// # assert_eq!(set.decide(&Region::full(set.domains()), Limits::default()), Decision::Infeasible);
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A point feasible at [`Tolerance::Produce`](crate::Tolerance::Produce).
    Feasible(Vec<f64>),
    /// Proved: there is none.
    Infeasible,
    /// Not decided within the limits, and why.
    Undecided(String),
}

/// The nearest feasible point of a box.
///
/// ```
/// # use leafgp_constraints::{ConstraintsBuilder, Domain, Variable};
/// use leafgp_constraints::{Limits, Region};
///
/// # let share = |name: &str| Variable {
/// #     name: name.into(),
/// #     domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
/// #     level_names: Vec::new(),
/// # };
/// # let mut builder = ConstraintsBuilder::new(vec![share("a"), share("b")])?;
/// builder.constrain("little", "a + b <= 1")?;
/// let set = builder.build();
/// let projection = set.project(&Region::full(set.domains()), &[1.0, 1.0], 1e-6, Limits::default());
/// let (x, distance) = projection.nearest.expect("the set is feasible");
/// assert!((x[0] - 0.5).abs() < 1e-6 && (distance - 0.5).abs() < 1e-6);
/// assert!(projection.bound <= distance && projection.bound > distance * (1.0 - 2e-6));
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The best point found and its distance, see [`Constraints::project`](crate::Constraints::project); `None` when none was found.
    pub nearest: Option<(Vec<f64>, f64)>,
    /// No feasible point of the box is nearer than this; infinite when the box is proved infeasible.
    pub bound: f64,
    /// Search nodes used.
    pub nodes: usize,
}
