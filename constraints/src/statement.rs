//! What a set of constraints states, as plain data: for programs that check proofs about it.
//!
//! The engine's own operations may change; these are part of the format of certificates.

use std::collections::{BTreeMap, BTreeSet};

use crate::Domain;
use crate::expr;
use crate::function::{Extreme, Function};

pub use crate::expr::{Comparison, Condition, ConditionId, GridRow, NumberId};

/// An operation on numbers. Undefined operands give undefined results, but for `0^0`, `1^x` and the alternative of an `if` that is not taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A constant.
    Constant(f64),
    /// A variable.
    Variable(usize),
    /// `a + b`.
    Add(NumberId, NumberId),
    /// `a - b`.
    Subtract(NumberId, NumberId),
    /// `a * b`.
    Multiply(NumberId, NumberId),
    /// `a / b`; undefined where the divisor is zero.
    Divide(NumberId, NumberId),
    /// `-a`.
    Negate(NumberId),
    /// Constant exponent.
    Power(NumberId, f64),
    /// Constant positive base.
    Exponential(f64, NumberId),
    /// The smaller.
    Min(NumberId, NumberId),
    /// The larger.
    Max(NumberId, NumberId),
    /// Absolute value.
    Abs(NumberId),
    /// Square root; undefined below 0.
    Sqrt(NumberId),
    /// `e^a`.
    Exp(NumberId),
    /// Natural logarithm; undefined at and below 0.
    Log(NumberId),
    /// Decimal logarithm; undefined at and below 0.
    Log10(NumberId),
    /// Largest whole number not above.
    Floor(NumberId),
    /// Smallest whole number not below.
    Ceil(NumberId),
    /// The second where the condition (without tolerances) holds, the third where its negation does, else undefined.
    If(ConditionId, NumberId, NumberId),
    /// A whole-valued define: the nearest integer within the tolerance, the value itself otherwise.
    Whole(NumberId),
}

impl From<&expr::Number> for Number {
    fn from(number: &expr::Number) -> Self {
        match *number {
            expr::Number::Constant(value) => Self::Constant(value),
            expr::Number::Variable(variable) => Self::Variable(variable),
            expr::Number::Add(a, b) => Self::Add(a, b),
            expr::Number::Subtract(a, b) => Self::Subtract(a, b),
            expr::Number::Multiply(a, b) => Self::Multiply(a, b),
            expr::Number::Divide(a, b) => Self::Divide(a, b),
            expr::Number::Negate(a) => Self::Negate(a),
            expr::Number::Extreme(Extreme::Min, a, b) => Self::Min(a, b),
            expr::Number::Extreme(Extreme::Max, a, b) => Self::Max(a, b),
            expr::Number::Apply(function, a) => match function {
                Function::Power(_) => Self::Power(a, function.parameter().unwrap_or(1.0)),
                Function::Exponential(_) => Self::Exponential(function.parameter().unwrap_or(1.0), a),
                Function::Abs(_) => Self::Abs(a),
                Function::Sqrt(_) => Self::Sqrt(a),
                Function::Exp(_) => Self::Exp(a),
                Function::Log(_) => Self::Log(a),
                Function::Log10(_) => Self::Log10(a),
                Function::Floor(_) => Self::Floor(a),
                Function::Ceil(_) => Self::Ceil(a),
            },
            expr::Number::If(condition, a, b) => Self::If(condition, a, b),
            expr::Number::Whole(a) => Self::Whole(a),
        }
    }
}

/// What a set of constraints states, as plain data: every feasible point lies in the domains and makes each root hold at [`Tolerance::Produce`](crate::Tolerance::Produce). A variable
/// that exists only under a condition is a root like any other.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The variables' domains.
    pub domains: &'a [Domain],
    /// Operations; operands come before their users.
    pub numbers: &'a [Number],
    /// Conditions; operands come before their users.
    pub conditions: &'a [Condition],
    /// Comparisons that are decided in whole steps.
    pub grid_rows: &'a BTreeMap<ConditionId, GridRow>,
    /// Comparisons of whole numbers, which are decided exactly.
    pub whole_rows: &'a BTreeSet<ConditionId>,
    /// One condition for each constraint.
    pub roots: &'a [ConditionId],
}
