//! Variables as expressions see them.

use crate::domain::Domain;

/// A variable as expressions see it.
///
/// ```
/// use leafgp_constraints::{ConstraintsBuilder, Domain, Tolerance, Variable};
///
/// let rate = Variable {
///     name: "flow rate".into(),
///     domain: Domain::Continuous { lower: 0.0, upper: 5.0 },
///     level_names: Vec::new(),
/// };
/// let head = Variable {
///     name: "head".into(),
///     domain: Domain::Categorical { levels: 2 },
///     level_names: vec!["flat".into(), "round".into()],
/// };
/// let mut builder = ConstraintsBuilder::new(vec![rate, head])?;
/// builder.constrain("slow", "head == 'round' implies `flow rate` <= 2")?;
/// assert!(!builder.build().is_feasible(&[3.0, 1.0], Tolerance::Judge));
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name used in expressions (in backquotes when it is no bare identifier).
    pub name: String,
    /// Its allowed values.
    pub domain: Domain,
    /// Names of the levels, `[levels]`; empty for numbers.
    pub level_names: Vec<String>,
}
