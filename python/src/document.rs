//! A problem's description as the text of a problem file: a line for each variable.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::{Table, Value};

use crate::failure::Failure;
use crate::value::to_toml;

/// The text of a problem file whose sections a dict holds.
pub(crate) fn text_of(sections: &Bound<'_, PyDict>) -> PyResult<String> {
    match to_toml(sections)? {
        Value::Table(table) => Ok(text(&table)),
        _ => Err(Failure::internal("a dict is no table").into()),
    }
}

/// The text of a problem file, as it stands there.
pub(crate) fn text_in(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new("ProblemError", format!("{}: {error}", path.display()));
    std::fs::read_to_string(path).map_err(failed)
}

/// The sections of the text of a problem file.
pub(crate) fn sections(text: &str) -> Result<Table, Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    toml::from_str(text).map_err(|error| Failure::new("ProblemError", error.to_string()))
}

/// The text of a problem file.
fn text(document: &Table) -> String {
    let is_section = |value: &Value| value.is_table();
    let mut text = String::new();
    for (name, value) in document.iter().filter(|(_, value)| !is_section(value)) {
        text.push_str(&line(name, value));
    }
    for (name, value) in document {
        let Value::Table(section) = value else { continue };
        text.push_str(&format!("{}[{}]\n", if text.is_empty() { "" } else { "\n" }, key(name)));
        for (name, value) in section {
            text.push_str(&line(name, value));
        }
    }
    text
}

fn line(name: &str, value: &Value) -> String {
    format!("{} = {}\n", key(name), inline(value))
}

/// A key, quoted where it must be.
fn key(name: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A basic string: what JSON escapes TOML escapes alike, and the delete character besides.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let entry = |(name, value): (&String, &Value)| format!("{} = {}", key(name), inline(value));
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}
