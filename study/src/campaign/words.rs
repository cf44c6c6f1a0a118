//! Numbers, points and sentences as the page writes them.

use crate::page::digits;
use leafgp::problem::{Problem, Variable};

/// A value of a variable for people: six digits, a level by its name.
pub(super) fn shown(variable: &Variable, x: f64) -> String {
    if variable.levels().is_empty() { digits(x) } else { variable.format_value(x) }
}

/// A point as "name value, name value".
pub(super) fn point_text(problem: &Problem, point: &[f64]) -> String {
    let values = problem.variables().iter().zip(point);
    values.map(|(v, &x)| format!("{} {}", v.name, shown(v, x))).collect::<Vec<_>>().join(", ")
}

/// A prediction.
pub(super) fn plus_minus(mean: f64, std: f64) -> String {
    format!("{} \u{b1} {}", digits(mean), short(std))
}

/// Sentences for terminals keep to plain letters.
pub(super) fn squared(sentence: &str) -> String {
    sentence.replace("R^2", "R\u{b2}")
}

/// Three digits.
fn short(x: f64) -> String {
    digits(format!("{x:.2e}").parse().unwrap_or(x))
}

/// A change, three digits.
pub(super) fn signed(x: f64) -> String {
    let size = short(x.abs());
    if x < 0.0 { format!("\u{2212}{size}") } else { format!("+{size}") }
}
