//! How exactly comparisons must hold.

/// Slack of the atoms `<= >= ==`, relative to the size of their terms (`expr/size.rs`); `<`, `>`, `!=` and categories have none, and what is decided in whole
/// numbers has none either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) inequality: f64,
    pub(crate) equality: f64,
    /// How far a whole-valued define may be from whole, relative to `max(1, |a|)`.
    pub(crate) whole: f64,
}

impl Settings {
    pub(crate) const PRODUCE: Self = Self { inequality: 0.0, equality: 1e-9, whole: 1e-9 };
    pub(crate) const JUDGE: Self = Self { inequality: 1e-6, equality: 1e-6, whole: 1e-6 };
    /// What rounding may do to a point that was produced.
    pub(crate) const ROUNDED: Self = Self { inequality: 1e-9, equality: 1e-9, whole: 1e-9 };
    /// For conditions inside `if` and `active_if`.
    pub(crate) const EXACT: Self = Self { inequality: 0.0, equality: 0.0, whole: 1e-9 };

    /// The same without tolerances of comparisons.
    pub(crate) fn exact(self) -> Self {
        Self { whole: self.whole, ..Self::EXACT }
    }
}
