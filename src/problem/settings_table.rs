//! `[settings]`: preset first, then one key after the other over it, so that each error has a place.

use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use super::table::{Located, Reader, join};
use super::{Preset, ProblemError, Settings};

/// True for a key of `[settings]`.
pub(super) fn is_setting(key: &str) -> bool {
    matches!(serde_json::to_value(Settings::default()), Ok(Value::Object(map)) if map.contains_key(key))
}

/// Reads the table over the defaults of its preset. The ranges are checked later, with the rest of the problem.
pub(super) fn read(reader: &mut Reader<'_>, section: &Located<'_>) -> Result<Settings, ProblemError> {
    let table = reader.table("settings", section, "[settings] seed = 101")?;
    let preset = match table.get("preset") {
        Some(value) => reader.word("settings.preset", value, &Preset::WORDS)?,
        None => Preset::default(),
    };
    let mut settings = Settings::with_preset(preset);
    overlay(reader, "settings", table, &mut Vec::new(), &mut settings)?;
    Ok(settings)
}

/// Puts a table of settings over existing ones. A preset in it exchanges what presets decide ([`Settings::use_preset`]) before the other keys count. Ranges are
/// checked here, at the place of each field.
pub fn overlay_settings(
    reader: &mut Reader<'_>,
    path: &str,
    section: &Located<'_>,
    base: &Settings,
) -> Result<Settings, ProblemError> {
    let table = reader.table(path, section, "settings = { kappa = 1.96 }")?;
    let mut settings = base.clone();
    if let Some(value) = table.get("preset") {
        let preset = reader.word(&join(path, "preset"), value, &Preset::WORDS)?;
        settings.use_preset(preset);
    }
    overlay(reader, path, table, &mut Vec::new(), &mut settings)?;
    settings.validate().map_err(|e| reader.locate(e.within(path)))?;
    Ok(settings)
}

/// Sets every key of `table`, which stands at `keys` below the settings.
fn overlay(
    reader: &mut Reader<'_>,
    path: &str,
    table: &DeTable<'_>,
    keys: &mut Vec<String>,
    settings: &mut Settings,
) -> Result<(), ProblemError> {
    let defaults = serde_json::to_value(&*settings).expect("settings are plain data");
    let known = keys.iter().try_fold(&defaults, |value, key| value.get(key)).and_then(Value::as_object);
    let known = known.cloned().unwrap_or_default();
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    reader.check_keys(table, path, &names)?;
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let field = join(path, name);
        keys.push(name.to_owned());
        match (&known[name], value.get_ref()) {
            (Value::Object(_), DeValue::Table(inner)) => {
                reader.remember(&field, key.span());
                overlay(reader, &field, inner, keys, settings)?;
            }
            (default, _) => {
                reader.remember(&field, value.span());
                let json = to_json(reader, &field, value)?;
                *settings = replaced(settings, keys, json).map_err(|e| {
                    let message = format!("this value does not fit: {e}");
                    let expected = match default {
                        Value::Null => "a value of another type, or no such line".to_owned(),
                        Value::Object(_) => format!("a table [{field}]"),
                        _ => format!("something like the default, {default}"),
                    };
                    reader.refuse(&value.span(), &field, message, expected)
                })?;
            }
        }
        keys.pop();
    }
    Ok(())
}

/// The settings with one value exchanged.
fn replaced(settings: &Settings, keys: &[String], value: Value) -> Result<Settings, serde_json::Error> {
    let mut whole = serde_json::to_value(settings)?;
    let slot = keys.iter().fold(&mut whole, |place, key| &mut place[key.as_str()]);
    *slot = value;
    serde_json::from_value(whole)
}

fn to_json(reader: &Reader<'_>, field: &str, value: &Located<'_>) -> Result<Value, ProblemError> {
    let refuse =
        |message: String, expected: &str| Err(reader.refuse(&value.span(), field, message, expected));
    Ok(match value.get_ref() {
        DeValue::String(text) => json!(text),
        DeValue::Boolean(truth) => json!(truth),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(whole) => json!(whole),
            Err(_) => return refuse(format!("{integer} is too large"), "a whole number below 2^63"),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            _ => return refuse(format!("{} is no usable number", float.as_str()), "a finite number"),
        },
        DeValue::Datetime(_) => return refuse("found a date".to_owned(), "a number or text"),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| to_json(reader, field, item)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, item)| Ok((key.get_ref().to_string(), to_json(reader, field, item)?)));
            Value::Object(entries.collect::<Result<Map<_, _>, ProblemError>>()?)
        }
    })
}
