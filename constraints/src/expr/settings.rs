//! How exactly comparisons must hold.

/// Slack of the atoms `<= >= ==`, relative to the size of their terms (`expr/size.rs`); `<`, `>`, `!=` and categories have none, and what is decided in whole
/// numbers has none either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) inequality: f64,
    pub(crate) equality: f64,
    /// How far a whole-valued define may be from whole, relative to `max(1, |a|)`.
    pub(crate) whole: f64,
    /// Whether decimals decide what f64 cannot (`expr/decimals.rs`).
    pub(crate) decimals: bool,
}

impl Settings {
    pub(crate) const PRODUCE: Self = Self { inequality: 0.0, equality: 1e-9, whole: 1e-9, decimals: true };
    /// [`Self::PRODUCE`] where a verdict is not worth the decimals.
    pub(crate) const MEASURE: Self = Self { decimals: false, ..Self::PRODUCE };
    pub(crate) const JUDGE: Self = Self { inequality: 1e-6, equality: 1e-6, whole: 1e-6, decimals: true };
    /// What rounding may do to a point that was produced.
    pub(crate) const ROUNDED: Self = Self { inequality: 1e-9, equality: 1e-9, whole: 1e-9, decimals: true };
    /// For conditions inside `if` and `active_if`.
    pub(crate) const EXACT: Self = Self { inequality: 0.0, equality: 0.0, whole: 1e-9, decimals: true };

    /// The same without tolerances of comparisons.
    pub(crate) fn exact(self) -> Self {
        Self { whole: self.whole, decimals: self.decimals, ..Self::EXACT }
    }
}
