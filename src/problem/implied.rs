//! Constraints that follow from what a variable is.

use super::error::field_name;
use super::number::format_number;
use super::{NamedExpression, Variable};

/// The constraints of semi-continuous variables and of removed levels, each with the field that it comes from. They hold like any other: in every suggestion, proof and
/// projection; rows that break them are kept for training and never the best.
pub(super) fn implied(variables: &[Variable]) -> Vec<(String, NamedExpression)> {
    let mut all = Vec::new();
    for variable in variables {
        let name = expression_name(&variable.name);
        let field = format!("variables.{}", field_name(&variable.name));
        if let Some([lower, upper]) = variable.or_zero {
            // Inequalities are exact, an equality would leave a billionth on either side of 0.
            let expr = if lower > 0.0 {
                format!("{name} <= 0 or {name} >= {}", format_number(lower))
            } else {
                format!("{name} >= 0 or {name} <= {}", format_number(upper))
            };
            let name = format!("{}: {}", variable.name, variable.expected());
            all.push((field.clone(), NamedExpression { name, expr }));
        }
        let removed = &variable.levels()[variable.offered_levels().len()..];
        if !removed.is_empty() {
            let listed: Vec<String> = removed.iter().map(|level| level_text(level)).collect();
            let expr = format!("{name} not in [{}]", listed.join(", "));
            let name = format!("{}: not {} any more", variable.name, removed.join(", "));
            all.push((field, NamedExpression { name, expr }));
        }
    }
    all
}

/// The constraint that a variable has one value, by inequalities, which are exact.
pub(super) fn fixed(variable: &Variable, value: f64) -> NamedExpression {
    let name = expression_name(&variable.name);
    let shown = variable.format_value(value);
    let expr = if variable.levels().is_empty() {
        let value = format_number(value);
        format!("{name} >= {value} and {name} <= {value}")
    } else {
        format!("{name} == {}", level_text(&shown))
    };
    NamedExpression { name: format!("{} = {shown} (fixed)", variable.name), expr }
}

/// The name as expressions write it: in backquotes unless it is a bare identifier.
pub(super) fn expression_name(name: &str) -> String {
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&name);
    if bare { name.to_owned() } else { format!("`{name}`") }
}

/// Words of the language, which no bare name can be.
const KEYWORDS: [&str; 9] = ["and", "or", "not", "implies", "iff", "in", "if", "true", "false"];

/// A level as expressions write it.
fn level_text(level: &str) -> String {
    format!("'{}'", level.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{fixed, implied};
    use crate::problem::Variable;

    #[test]
    fn texts_by_hand() {
        let variables = [
            Variable::semi_continuous("flow rate", 0.5, 8.0),
            Variable::semi_continuous("x", -2.0, -0.25),
            Variable::categorical("if", ["a", "b"]).removed(["it's", "c d"]),
            Variable::continuous("y", 0.0, 1.0),
        ];
        let texts: Vec<String> = implied(&variables).into_iter().map(|(_, c)| c.expr).collect();
        assert_eq!(
            texts,
            [
                "`flow rate` <= 0 or `flow rate` >= 0.5",
                "x >= 0 or x <= -0.25",
                "`if` not in ['it''s', 'c d']"
            ]
        );
        assert_eq!(fixed(&variables[3], -0.5).expr, "y >= -0.5 and y <= -0.5");
        assert_eq!(fixed(&variables[2], 2.0).expr, "`if` == 'it''s'");
        assert_eq!(fixed(&variables[2], 1.0).name, "if = b (fixed)");
    }
}
