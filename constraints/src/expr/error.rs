//! Why an expression was refused, and where.

/// An expression that was refused: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What is wrong and what was expected.
    pub message: String,
    /// Byte range of the offending part within the expression.
    pub span: std::ops::Range<usize>,
}
