//! Variables with bounds in the problem file: reals and whole numbers, steps, decimals, semi-continuous ones.

use toml::de::DeTable;

use super::table::{Located, Reader};
use super::{Kind, ProblemError, Variable};

/// A continuous or integer variable, or the grid that `step` makes of it.
pub(super) fn read_range(
    reader: &mut Reader<'_>,
    field: &str,
    name: &str,
    table: &DeTable<'_>,
    is_integer: bool,
    warnings: &mut Vec<String>,
) -> Result<Variable, ProblemError> {
    let example = if is_integer { "[1, 10]" } else { "[0.0, 1.0]" };
    let value = needed(reader, field, table, "bounds", example)?;
    let bounds = read_numbers(reader, &format!("{field}.bounds"), value, example)?;
    let &[lower, upper] = bounds.as_slice() else {
        let message = format!("found {} numbers", bounds.len());
        // What a decimal comma makes of two numbers.
        let commas = if bounds.len() > 2 { " (decimals are written with a point, 0.5)" } else { "" };
        let expected = format!("two, the lower and the upper bound, such as {example}{commas}");
        return Err(reader.refuse(&value.span(), &format!("{field}.bounds"), message, expected));
    };
    let whole = |reader: &Reader<'_>, part: &str, number: f64| {
        if is_integer && number.fract() != 0.0 {
            let message = format!("{number} is not whole, but the type is \"integer\"");
            return Err(reader.locate(ProblemError::new(
                format!("{field}.{part}"),
                message,
                "a whole number",
            )));
        }
        Ok(())
    };
    whole(reader, "bounds[0]", lower)?;
    whole(reader, "bounds[1]", upper)?;
    let or_zero = match table.get("or_zero") {
        Some(value) => reader.boolean(&format!("{field}.or_zero"), value)?,
        None => false,
    };
    // What the kind has to span.
    let (low, high) = if or_zero { (lower.min(0.0), upper.max(0.0)) } else { (lower, upper) };
    let mut variable = match (table.get("step"), table.get("decimals")) {
        (Some(_), Some(decimals)) => {
            let message = "`decimals` beside `step`, which says it already";
            return Err(reader.refuse(
                &decimals.span(),
                &format!("{field}.decimals"),
                message,
                "one of them",
            ));
        }
        (None, Some(decimals)) => {
            let places = read_places(reader, &format!("{field}.decimals"), decimals)?;
            Variable::decimal(name, low, high, places).map_err(|e| reader.locate(e.within(field)))?
        }
        (None, None) => {
            let mut variable = Variable::continuous(name, low, high);
            if is_integer {
                variable.kind = Kind::Integer { lower: low, upper: high };
            }
            variable
        }
        (Some(step), None) => {
            let step = reader.number(&format!("{field}.step"), step)?;
            whole(reader, "step", step)?;
            let variable =
                Variable::grid(name, low, high, step).map_err(|e| reader.locate(e.within(field)))?;
            if or_zero && !(variable.domain().contains(0.0) && variable.domain().contains(lower)) {
                let message = format!("{lower} is no multiple of the step {step}");
                let error = ProblemError::new(
                    format!("{field}.bounds"),
                    message,
                    "multiples of the step beside `or_zero`",
                );
                return Err(reader.locate(error));
            }
            let largest = variable.domain().bounds().1;
            if largest < upper {
                let largest = variable.format_value(largest);
                warnings.push(format!(
                    "{field}: the upper bound {upper} is not on the grid {lower} + k * {step}; the largest value is {largest}"
                ));
            }
            variable
        }
    };
    if or_zero {
        variable.or_zero = Some([lower, upper]);
        variable.inactive_value = 0.0;
    }
    Ok(variable)
}

/// A number of decimals.
fn read_places(reader: &mut Reader<'_>, field: &str, value: &Located<'_>) -> Result<u32, ProblemError> {
    let places = reader.number(field, value)?;
    if places.fract() == 0.0 && (0.0..=15.0).contains(&places) {
        return Ok(places as u32);
    }
    let message = format!("{places} is no number of decimals");
    Err(reader.refuse(&value.span(), field, message, "a whole number from 0 to 15"))
}

/// A key that the type needs.
pub(super) fn needed<'t>(
    reader: &Reader<'_>,
    field: &str,
    table: &'t DeTable<'_>,
    key: &str,
    example: &str,
) -> Result<&'t Located<'t>, ProblemError> {
    table.get(key).ok_or_else(|| {
        let error = ProblemError::new(
            format!("{field}.{key}"),
            format!("`{key}` is missing"),
            format!("{key} = {example}"),
        );
        reader.locate(error)
    })
}

pub(super) fn read_numbers(
    reader: &mut Reader<'_>,
    field: &str,
    value: &Located<'_>,
    example: &str,
) -> Result<Vec<f64>, ProblemError> {
    let items = reader.array(field, value, example)?;
    items.iter().enumerate().map(|(i, item)| reader.number(&format!("{field}[{i}]"), item)).collect()
}
