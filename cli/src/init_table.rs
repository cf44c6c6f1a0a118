//! `leafgp init --from`: a problem file from a table of experiments.

use std::fmt::Write;

use leafgp::history::{Columns, split_unit};
use leafgp::problem::format_number;
use leafgp::problem::reading::parse_number;

/// Columns with a meaning of their own.
const OWN: [&str; 2] = ["status", "failure"];
/// More names than this are notes, not levels.
const MOST_LEVELS: usize = 30;
/// Uneven numbers are a list when they are at most this many, each three times on average.
const MOST_LISTED: usize = 6;
/// A grid has at most this many steps, or twice as many as there are distinct values.
const MOST_STEPS: i64 = 20;
/// Numbers with more decimals than this are no grid.
const MOST_DECIMALS: i32 = 6;
/// Positive numbers over this ratio are laid out by their logarithm.
const LOG_RATIO: f64 = 100.0;
/// Added on both sides of a range, as a share of it.
const MARGIN: f64 = 0.1;

/// What a column becomes.
#[derive(Clone, Debug, PartialEq)]
enum Role {
    /// A variable: its TOML table without the braces.
    Variable(String),
    /// Nothing, and why.
    Nothing(String),
}

/// The text of a problem file for a table: every column but the goal a variable, as far as it can be one.
pub(super) fn problem_text(table: &Columns, name: &str, goal: &str, maximize: bool) -> String {
    let n_rows = table.n_rows();
    let mut text = format!(
        "# A problem for leafgp, made from a table of {n_rows} rows. Everything after # is a comment: read it, correct the file, then\n#\n\
         #   leafgp check FILE.toml                    is the file right? which rows break a rule?\n\
         #   leafgp suggest FILE.toml -n 4 --append    the next experiments, into the table\n\n\
         name = {}\n\n[objective]\nname = {}\ngoal = \"{}\"           # or \"{}\"\n\n\
         # Bounds reach a tenth of the measured range beyond it: set them to what your plant can do. Steps, lists and levels are those that the table shows.\n[variables]\n",
        toml_text(name),
        toml_text(short_name(table, goal)),
        if maximize { "maximize" } else { "minimize" },
        if maximize { "minimize" } else { "maximize" },
    );
    for column in table.names().iter().filter(|column| is_variable(column, goal)) {
        let cells = table.column(column).unwrap_or_default();
        let _ = match role(column, &cells) {
            Role::Variable(definition) => {
                let name = toml_key(short_name(table, column));
                writeln!(text, "# {}\n{name} = {{ {definition} }}", seen(&cells))
            }
            Role::Nothing(why) => writeln!(text, "# no variable: {} ({why})", column.escape_debug()),
        };
    }
    text.push_str(
        "\n# What must hold of every suggestion; names that are no bare words stand in backquotes: `flow rate`.\n# [constraints]\n\
         # \"mixture\" = \"a + b + c == 1\"\n# \"pump limit\" = \"`flow rate` <= 3.5\"\n# \"water boils\" = \"solvent == 'water' implies temperature <= 95\"\n\n\
         # Every setting has a default: `leafgp init -` shows them.\n# [settings]\n# seed = 101\n",
    );
    text
}

/// Columns that can be the goal: those with a number in at least one row and nothing else but empty cells.
pub(super) fn goals(table: &Columns) -> Vec<&str> {
    let is_goal = |name: &&String| {
        let cells = table.column(name).unwrap_or_default();
        let filled: Vec<&&str> = cells.iter().filter(|cell| !cell.is_empty()).collect();
        is_variable(name, "") && !filled.is_empty() && filled.iter().all(|cell| parse_number(cell).is_some())
    };
    table.names().iter().filter(is_goal).map(String::as_str).collect()
}

fn is_variable(column: &str, goal: &str) -> bool {
    column != goal && !column.is_empty() && !OWN.iter().any(|own| own.eq_ignore_ascii_case(column))
}

/// The comment above a variable.
fn seen(cells: &[&str]) -> String {
    let n = distinct(cells).len();
    match numbers(cells) {
        Some(values) => {
            let (low, high) = ends(&values);
            format!("{n} values from {} to {}", format_number(low), format_number(high))
        }
        None => format!("{n} names in {} rows", cells.len()),
    }
}

fn role(name: &str, cells: &[&str]) -> Role {
    let filled = cells.iter().filter(|cell| !cell.is_empty()).count();
    if filled == 0 {
        return Role::Nothing("every cell is empty".into());
    }
    if filled < cells.len() {
        return Role::Nothing(format!("{} of {} cells are empty", cells.len() - filled, cells.len()));
    }
    let names = distinct(cells);
    if names.len() == 1 {
        return Role::Nothing(format!("it is {} in every row", names[0].escape_debug()));
    }
    let unit = split_unit(name).map(|(_, unit)| unit).filter(|unit| !unit.is_empty());
    let unit = unit.map_or_else(String::new, |unit| format!(", unit = {}", toml_text(unit)));
    match numbers(cells) {
        Some(values) if is_running(&values) => Role::Nothing("it counts the rows".into()),
        Some(values) => Role::Variable(format!("{}{unit}", numeric(&values))),
        None if names.len() > MOST_LEVELS || names.len() == cells.len() && names.len() > 5 => {
            Role::Nothing(format!("{} different texts", names.len()))
        }
        None => {
            let levels: Vec<String> = names.iter().map(|level| toml_text(level)).collect();
            Role::Variable(format!("type = \"categorical\", levels = [{}]", levels.join(", ")))
        }
    }
}

/// The definition of a variable that takes numbers, at least two different ones.
fn numeric(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    if sorted == [0.0, 1.0] {
        return "type = \"binary\"".into();
    }
    let (low, high) = ends(&sorted);
    let step = step(&sorted);
    let is_grid = step
        .is_some_and(|step| ((high - low) / step).round() as i64 <= MOST_STEPS.max(2 * sorted.len() as i64));
    let listed = |x: &f64| format_number(*x);
    let is_uneven = step.is_none_or(|step| ((high - low) / step).round() as usize + 1 > 2 * sorted.len());
    if is_uneven && sorted.len() <= MOST_LISTED && values.len() >= 3 * sorted.len() {
        let list: Vec<String> = sorted.iter().map(listed).collect();
        return format!("type = \"discrete\", values = [{}]", list.join(", "));
    }
    let is_whole = sorted.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e15);
    if is_whole && step.is_none_or(|step| step == 1.0 || !is_grid) {
        let (lower, upper) = widened(low, high, 1.0);
        return format!("type = \"integer\", bounds = [{}, {}]", format_number(lower), format_number(upper));
    }
    if let Some(step) = step.filter(|_| is_grid) {
        let (lower, upper) = widened(low, high, step);
        let kind = if is_whole { "integer" } else { "continuous" };
        return format!(
            "type = \"{kind}\", bounds = [{}, {}], step = {}",
            real(lower, is_whole),
            real(upper, is_whole),
            real(step, is_whole)
        );
    }
    if low > 0.0 && high / low >= LOG_RATIO {
        let factor = (high / low).powf(MARGIN);
        let (lower, upper) = (
            rounded(low / factor, low / factor, f64::floor),
            rounded(high * factor, high * factor, f64::ceil),
        );
        return format!(
            "type = \"continuous\", bounds = [{}, {}], scale = \"log\"",
            real(lower, false),
            real(upper, false)
        );
    }
    let pad = MARGIN * (high - low);
    let (lower, upper) = clipped(
        rounded(low - pad, high - low, f64::floor).min(low),
        rounded(high + pad, high - low, f64::ceil).max(high),
        low,
        high,
    );
    format!("type = \"continuous\", bounds = [{}, {}]", real(lower, false), real(upper, false))
}

/// The range with a margin of at least one step, in whole steps; it does not cross 0.
fn widened(low: f64, high: f64, step: f64) -> (f64, f64) {
    let margin = (MARGIN * (high - low) / step).ceil().max(1.0);
    // Counted in steps, so that decimals stay short.
    let at = |x: f64, by: f64| short((x / step).round() + by, step);
    let (lower, upper) = clipped(at(low, -margin), at(high, margin), low, high);
    // A clipped end lies on the grid of the smallest value.
    let lower =
        if lower > at(low, -margin) { at(low, -(((low - lower) / step) + 1e-9).floor()) } else { lower };
    (lower, upper)
}

/// `count * step` with the decimals of the step.
fn short(count: f64, step: f64) -> f64 {
    let decimals =
        (0..=MOST_DECIMALS).find(|&d| is_close_to_whole(step * 10f64.powi(d))).unwrap_or(MOST_DECIMALS);
    (count * step * 10f64.powi(decimals)).round() / 10f64.powi(decimals)
}

/// What is never negative stays so; shares stay below 1.
fn clipped(lower: f64, upper: f64, low: f64, high: f64) -> (f64, f64) {
    let lower = if low >= 0.0 { lower.max(0.0) } else { lower };
    let upper = if low >= 0.0 && high <= 1.0 { upper.min(1.0) } else { upper };
    (lower, upper)
}

/// Two significant digits of a size.
fn rounded(x: f64, size: f64, to: fn(f64) -> f64) -> f64 {
    let digits = 1 - size.abs().log10().floor() as i32;
    let unit = 10f64.powi(digits.abs());
    if digits >= 0 { to(x * unit) / unit } else { to(x / unit) * unit }
}

/// The greatest common step of sorted distinct numbers with few decimals.
fn step(sorted: &[f64]) -> Option<f64> {
    let decimals = (0..=MOST_DECIMALS).find(|&d| {
        let unit = 10f64.powi(d);
        sorted.iter().all(|x| is_close_to_whole(x * unit) && (x * unit).abs() < 1e15)
    })?;
    let unit = 10f64.powi(decimals);
    let whole: Vec<i64> = sorted.iter().map(|x| (x * unit).round() as i64).collect();
    let common = whole.windows(2).map(|pair| pair[1] - pair[0]).fold(0, greatest_common_divisor);
    // A grid that does not contain 0 is no round one: its steps are chance.
    let is_round = whole[0] % common.max(1) == 0;
    (common > 0 && (is_round || sorted.len() > 3)).then(|| common as f64 / unit)
}

fn is_close_to_whole(x: f64) -> bool {
    (x - x.round()).abs() <= 1e-9 * x.abs().max(1.0)
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// 0, 1, 2, ... or 1, 2, 3, ..., row by row.
fn is_running(values: &[f64]) -> bool {
    values.len() >= 3
        && [0.0, 1.0].iter().any(|first| values.iter().enumerate().all(|(i, &x)| x == first + i as f64))
}

fn numbers(cells: &[&str]) -> Option<Vec<f64>> {
    cells.iter().filter(|cell| !cell.is_empty()).map(|cell| parse_number(cell)).collect()
}

fn distinct<'a>(cells: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(|cell| !cell.is_empty()) {
        if !found.contains(cell) {
            found.push(cell);
        }
    }
    found
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// The name of a column's variable: without its unit, by which the table's reader finds it too, unless another column has that name.
fn short_name<'a>(table: &Columns, column: &'a str) -> &'a str {
    let base = split_unit(column).map_or(column, |(base, _)| base);
    let is_another = |other: &&String| other.as_str() != column;
    let is_taken = table
        .names()
        .iter()
        .filter(is_another)
        .any(|other| other == base || split_unit(other).is_some_and(|(other, _)| other == base));
    if is_taken || OWN.iter().any(|own| own.eq_ignore_ascii_case(base)) { column } else { base }
}

/// A number as TOML: reals with a point.
fn real(x: f64, is_whole: bool) -> String {
    let text = format_number(x);
    if is_whole || text.contains(['.', 'e', 'E']) { text } else { format!("{text}.0") }
}

/// A TOML string; JSON's escapes are among TOML's.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn toml_key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare && !name.is_empty() { name.to_owned() } else { toml_text(name) }
}

#[cfg(test)]
mod tests {
    use super::{Role, numeric, role};

    fn definition(cells: &[&str]) -> String {
        match role("x", cells) {
            Role::Variable(definition) => definition,
            Role::Nothing(why) => format!("nothing: {why}"),
        }
    }

    #[test]
    fn columns_become_what_their_cells_show() {
        for (cells, expected) in [
            (&["0", "1", "1", "0"][..], "type = \"binary\""),
            (&["1", "4", "2", "5"], "type = \"integer\", bounds = [0, 6]"),
            (&["60", "80", "70", "120"], "type = \"integer\", bounds = [50, 130], step = 10"),
            (&["0.05", "0.2", "0.15", "0.5"], "type = \"continuous\", bounds = [0.0, 0.55], step = 0.05"),
            (&["20.13", "33.874", "71.5512", "64.2"], "type = \"continuous\", bounds = [14.0, 77.0]"),
            (&["0.1234", "0.98765", "0.5", "0.321"], "type = \"continuous\", bounds = [0.03, 1.0]"),
            (
                &["0.00001", "0.00123", "0.01777", "0.5"],
                "type = \"continuous\", bounds = [3.3e-6, 1.5], scale = \"log\"",
            ),
            (
                &["a", "b, c", "a", "\"q\""],
                "type = \"categorical\", levels = [\"a\", \"b, c\", \"\\\"q\\\"\"]",
            ),
            (&["7", "7", "7"], "nothing: it is 7 in every row"),
            (&["1", "2", "3", "4"], "nothing: it counts the rows"),
            (&["1", "", "3"], "nothing: 1 of 3 cells are empty"),
            (&["", ""], "nothing: every cell is empty"),
            (&["u", "v", "w", "x", "y", "z"], "nothing: 6 different texts"),
        ] {
            assert_eq!(definition(cells), expected, "{cells:?}");
        }
        let doses: Vec<f64> = [0.0, 12.0, 48.0, 200.0].repeat(3);
        assert_eq!(numeric(&doses), "type = \"discrete\", values = [0, 12, 48, 200]");
    }
}
