//! Reading TOML tables with a place and an expectation for everything that is wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::field_name;
use super::source::Source;
use super::{ProblemError, spelling};

/// A value with its place.
pub type Located<'a> = Spanned<DeValue<'a>>;

/// Reads values and remembers where each field stands, so that later checks can say where.
#[derive(Debug)]
pub struct Reader<'a> {
    source: &'a Source,
    /// What the file is, for messages.
    document: &'static str,
    spans: BTreeMap<String, Range<usize>>,
    texts: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    /// Reads the tables of a source; `document` is what messages call it (`problem file`).
    pub fn new(source: &'a Source, document: &'static str) -> Self {
        Self { source, document, spans: BTreeMap::new(), texts: BTreeMap::new() }
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> std::path::PathBuf {
        self.source.file().parent().unwrap_or(std::path::Path::new("")).to_owned()
    }

    /// An error about `field` at `span`.
    pub fn refuse(
        &self,
        span: &Range<usize>,
        field: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ProblemError {
        self.source.locate(ProblemError::new(field, message, expected), span)
    }

    /// Where a field stood, for mistakes that are found later.
    pub fn remember(&mut self, field: &str, span: Range<usize>) {
        self.spans.insert(field.to_owned(), span);
    }

    /// Adds the place to an error of a later check: that of its field, or of the innermost enclosing one.
    pub fn locate(&self, error: ProblemError) -> ProblemError {
        let mut field = error.field.as_str();
        let span = loop {
            if let Some(span) = self.spans.get(field) {
                break span;
            }
            match field.rfind(['.', '[']) {
                Some(end) => field = &field[..end],
                None => return ProblemError { file: Some(self.source.file().to_owned()), ..error },
            }
        };
        let Some(part) = error.expression_part.clone() else {
            return self.source.locate(error, span);
        };
        let decoded = self.texts.get(field).map_or("", String::as_str);
        match self.source.inside_string(span, decoded, &part) {
            Some(inner) => self.source.locate(error, &inner),
            // Escapes hide the exact place: point to the string, but show the expression.
            None => ProblemError { excerpt: error.excerpt.clone(), ..self.source.locate(error, span) },
        }
    }

    /// Refuses every key that is not in `known`, with the nearest known one.
    pub fn check_keys(&self, table: &DeTable<'_>, path: &str, known: &[&str]) -> Result<(), ProblemError> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if known.contains(&name) {
                continue;
            }
            self.check_misplaced_list(name, value, path)?;
            let place = if path.is_empty() { self.document.to_owned() } else { format!("[{path}]") };
            let message =
                format!("unknown key `{name}` in {place}{}", spelling::hint(name, known.iter().copied()));
            return Err(self.refuse(&key.span(), &join(path, name), message, one_of(known)));
        }
        Ok(())
    }

    /// A list of constraints after a `[table]` belongs, for TOML, to that table.
    pub fn check_misplaced_list(
        &self,
        key: &str,
        value: &Located<'_>,
        path: &str,
    ) -> Result<(), ProblemError> {
        if key != "constraints" || path.is_empty() || !value.get_ref().is_array() {
            return Ok(());
        }
        let message = format!("`constraints = [...]` stands after [{path}], so TOML puts it into that table");
        let expected =
            "the list above the first [table], or a table [constraints] with name = \"expression\"";
        Err(self.refuse(&value.span(), &join(path, key), message, expected))
    }

    /// A string.
    pub fn text(&mut self, field: &str, value: &Located<'_>, example: &str) -> Result<String, ProblemError> {
        self.remember(field, value.span());
        match value.get_ref().as_str() {
            Some(text) => {
                self.texts.insert(field.to_owned(), text.to_owned());
                Ok(text.to_owned())
            }
            None => Err(self.refuse(
                &value.span(),
                field,
                format!("found {}", described(value.get_ref())),
                format!("text in quotes, such as {example}"),
            )),
        }
    }

    /// A string out of a fixed set.
    pub fn word<T: Copy>(
        &mut self,
        field: &str,
        value: &Located<'_>,
        words: &[(&str, T)],
    ) -> Result<T, ProblemError> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let text = self.text(field, value, &format!("{:?}", names[0]))?;
        words.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
            let message = format!("unknown word {text:?}{}", spelling::hint(&text, names.iter().copied()));
            self.refuse(&value.span(), field, message, one_of(&names))
        })
    }

    /// A truth value.
    pub fn boolean(&mut self, field: &str, value: &Located<'_>) -> Result<bool, ProblemError> {
        self.remember(field, value.span());
        value.get_ref().as_bool().ok_or_else(|| {
            let message = format!("found {}", described(value.get_ref()));
            self.refuse(&value.span(), field, message, "true or false, without quotes")
        })
    }

    /// A finite number that f64 holds as written, up to rounding of decimals.
    pub fn number(&mut self, field: &str, value: &Located<'_>) -> Result<f64, ProblemError> {
        self.remember(field, value.span());
        let refuse =
            |message: String, expected: &str| Err(self.refuse(&value.span(), field, message, expected));
        match value.get_ref() {
            DeValue::Integer(integer) => {
                let Ok(whole) = i128::from_str_radix(integer.as_str(), integer.radix()) else {
                    return refuse(format!("{integer} is too large"), "a number that f64 can hold");
                };
                let number = whole as f64;
                if number as i128 == whole {
                    Ok(number)
                } else {
                    let message = format!("{integer} has more digits than f64 can hold");
                    refuse(message, "whole numbers up to 2^53 = 9007199254740992 in magnitude")
                }
            }
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => refuse(format!("{} is no usable number", float.as_str()), "a finite number"),
            },
            other => refuse(format!("found {}", described(other)), "a number, without quotes"),
        }
    }

    /// The text of a level: a string, or a number or truth value as written.
    pub fn level(&mut self, field: &str, value: &Located<'_>) -> Result<String, ProblemError> {
        match value.get_ref() {
            DeValue::Integer(integer) if integer.radix() == 10 => {
                self.remember(field, value.span());
                Ok(integer.as_str().to_owned())
            }
            DeValue::Float(float) => {
                self.remember(field, value.span());
                Ok(float.as_str().to_owned())
            }
            DeValue::Boolean(truth) => {
                self.remember(field, value.span());
                Ok(truth.to_string())
            }
            _ => self.text(field, value, "\"A\""),
        }
    }

    /// The items of an array.
    pub fn array<'t>(
        &mut self,
        field: &str,
        value: &'t Located<'_>,
        example: &str,
    ) -> Result<Vec<&'t Located<'t>>, ProblemError> {
        self.remember(field, value.span());
        match value.get_ref().as_array() {
            Some(array) => Ok(array.iter().collect()),
            None => {
                let message = format!("found {}", described(value.get_ref()));
                Err(self.refuse(&value.span(), field, message, format!("a list such as {example}")))
            }
        }
    }

    /// A table.
    pub fn table<'t>(
        &mut self,
        field: &str,
        value: &'t Located<'_>,
        example: &str,
    ) -> Result<&'t DeTable<'t>, ProblemError> {
        self.remember(field, value.span());
        value.get_ref().as_table().ok_or_else(|| {
            let message = format!("found {}", described(value.get_ref()));
            self.refuse(&value.span(), field, message, format!("a table such as {example}"))
        })
    }
}

/// The field `key` of `path`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { field_name(key) } else { format!("{path}.{}", field_name(key)) }
}

/// "`a`, `b` or `c`".
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

/// What stands there, in words.
pub(crate) fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("the text {text:?}"),
        DeValue::String(_) => "a long text".to_owned(),
        DeValue::Integer(integer) => format!("the number {integer}"),
        DeValue::Float(float) => format!("the number {}", float.as_str()),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
