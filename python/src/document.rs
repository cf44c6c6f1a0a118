//! A problem's description as the text of a problem file: a line for each variable.

use toml::{Table, Value};

/// The text of a problem file.
pub(crate) fn text(document: &Table) -> String {
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
