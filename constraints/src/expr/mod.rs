//! The expression language of problem files: text to a checked, evaluable program.
//!
//! Names stand for variables and earlier defines; a name that is no bare identifier stands in backquotes. From loosest to tightest:
//! `iff`, `implies` (right-associative), `or`, `and`, `not`, comparisons, `+ -`, `* /`, unary minus, `^` (right-associative).
//!
//! | form | meaning |
//! |---|---|
//! | `a <= b < c`, `== != >= >` | comparisons; chains hold pairwise |
//! | `min(...)`, `max(...)`, `sum(...)` | functions of any number of arguments; those of one are below |
//! | `a ^ 3`, `a ^ 0.5`, `2 ^ n` | the exponent or the base is a constant |
//! | `if(condition, a, b)` | `a` where the condition holds, else `b` |
//! | `count(a > 0, b > 0)` | how many of the conditions hold |
//! | `all(...)`, `any(...)` | conjunction and disjunction of a list |
//! | `w1..w8` inside a list of arguments | the argument once for each of `w1`, `w2`, ..., `w8`: `sum(w1..w8)`, `count(w1..w8 > 0)` |
//! | `head == 'flat'`, `head != 'flat'`, `a == b` | category tests; two categories agree when their levels' texts do |
//! | `head in ['flat', 'round']`, `n not in [1, 3]` | one of a list |
//! | `w in {0, 0.1..0.7}` | a set of numbers and closed intervals: here zero or between 0.1 and 0.7 |
//! | `(salt, n) in [('NaCl', 1), ('KCl', 2)]` | allowed combinations |
//!
//! Functions of one argument; where one is undefined, no comparison of it holds:
//!
//! | function | value | defined for |
//! |---|---|---|
//! | `abs(a)` | `a` without its sign | all numbers |
//! | `sqrt(a)` | square root | `a >= 0` |
//! | `exp(a)` | e to the power `a` | all numbers |
//! | `log(a)` or `ln(a)` | natural logarithm | `a > 0` |
//! | `log10(a)` | decimal logarithm | `a > 0` |
//! | `floor(a)` | largest whole number `<= a` | all numbers |
//! | `ceil(a)` | smallest whole number `>= a` | all numbers |

mod ast;
mod attained;
mod check;
mod decimals;
mod error;
mod lexer;
mod names;
mod near;
mod parser;
mod program;
mod settings;
mod size;
mod slopes;
mod values;
mod whole_numbers;

pub(crate) use attained::Attained;
pub(crate) use check::{Scope, Typed};
pub use error::ExprError;
pub(crate) use program::Number;
pub(crate) use program::Program;
pub use program::{Comparison, Condition, ConditionId, GridRow, NumberId};
pub(crate) use settings::Settings;
pub(crate) use size::times;
pub(crate) use values::{Evaluation, Verdict, negation};
