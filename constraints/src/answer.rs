//! Answers of the engine: what a point violates, whether a box holds a feasible point, and which is the nearest.

/// One violated constraint at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the constraint.
    pub constraint: usize,
    /// By how much, in the constraint's own units; infinite when it is undefined there or logical.
    pub amount: f64,
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
    /// Search nodes used.
    pub nodes: usize,
}
