//! Variables as expressions see them.

use crate::domain::Domain;

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
