//! The names of functions: this language's, and those of others with what to write instead.

use crate::function::Function;

/// Functions as other languages and pocket calculators name them, and what to write here.
const OTHERS: [(&str, &str); 11] = [
    ("lg", "the logarithm to base 10 is log10(x)"),
    ("log2", "it is log(x) / log(2), with the natural logarithm `log`"),
    ("log_10", "it is log10(x)"),
    ("pow", "powers are written x ^ y"),
    ("power", "powers are written x ^ y"),
    ("sqr", "squares are written x ^ 2"),
    ("cbrt", "it is x ^ (1 / 3)"),
    ("root", "it is sqrt(x), or x ^ (1 / n)"),
    ("round", "it is floor(x + 0.5)"),
    ("mean", "it is sum(a, b, c) / 3"),
    ("average", "it is sum(a, b, c) / 3"),
];

/// The names of all functions.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    ["min", "max", "sum", "count", "all", "any"].into_iter().chain(Function::all_names()).chain(["if"])
}

/// What to write instead of a function of another language; `None` for other names.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|&(_, advice)| advice)
}

/// True for a function of this or another language.
pub(super) fn is_function(name: &str) -> bool {
    functions().any(|function| function == name) || instead_of(name).is_some()
}
