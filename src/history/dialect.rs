//! How a table is written: separator, decimal mark, line ends, byte-order mark.

use crate::problem::reading::parse_number;
use crate::problem::{Variable, format_number};

use super::document::{records, unquoted};
use super::header::can_name;

/// The way a CSV file is written; kept on every rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// Separator of cells: `,`, `;` or a tab.
    pub delimiter: char,
    /// Decimal mark: `.`, or `,` in files that are not separated by commas.
    pub decimal: char,
    /// End of a line: LF, CRLF or CR.
    pub newline: &'static str,
    /// True when the file starts with a byte-order mark.
    pub byte_order_mark: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: ',', decimal: '.', newline: "\n", byte_order_mark: false }
    }
}

impl Dialect {
    /// Reads a finite number with this dialect's decimal mark.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        if self.decimal == '.' {
            return parse_number(text);
        }
        // A point in a file of decimal commas groups thousands or belongs to another file: refused, not guessed.
        if text.contains('.') { None } else { parse_number(&text.replace(',', ".")) }
    }

    /// The shortest text that this dialect reads back to the same number.
    pub(super) fn format(self, number: f64) -> String {
        self.marked(format_number(number))
    }

    /// A variable's value as this dialect reads it back.
    pub(super) fn text(self, variable: &Variable, x: f64) -> String {
        let text = variable.format_value(x);
        if variable.levels().is_empty() { self.marked(text) } else { text }
    }

    /// A number's text with this dialect's decimal mark.
    fn marked(self, text: String) -> String {
        if self.decimal == '.' { text } else { text.replace('.', ",") }
    }
}

/// The separator under which the header names most of the `needed` columns; more columns win a tie, then the comma.
pub(super) fn find_delimiter(text: &str, needed: &[&str]) -> char {
    let score = |delimiter: char| {
        let header = records(text, delimiter).flatten().find(|record| !record.is_blank(text));
        header.map_or((0, 0), |record| {
            let names: Vec<_> = record.cells.iter().map(|c| unquoted(&text[c.clone()])).collect();
            let found = needed.iter().filter(|&&name| names.iter().any(|n| can_name(n, name))).count();
            (found, names.len())
        })
    };
    // `max_by_key` keeps the last of equals.
    ['\t', ';', ','].into_iter().max_by_key(|&delimiter| score(delimiter)).unwrap_or(',')
}

/// The decimal mark of a file with this separator: the one that numbers in `own` cells show, else numbers in any cell, else what spreadsheets
/// pair with the separator. Where both marks occur, the comma: points then group thousands.
pub(super) fn find_decimal<'a>(
    delimiter: char,
    own: impl Iterator<Item = &'a str> + Clone,
    all: impl Iterator<Item = &'a str> + Clone,
) -> char {
    if delimiter == ',' {
        return '.';
    }
    let default = if delimiter == '\t' { '.' } else { ',' };
    shown_decimal(own).or_else(|| shown_decimal(all)).unwrap_or(default)
}

/// The decimal mark that the numbers among the cells show.
fn shown_decimal<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Option<char> {
    let shows = |mark: char| {
        let number = move |cell: &str| {
            cell.matches(mark).count() == 1 && parse_number(&cell.replace(mark, ".")).is_some()
        };
        cells.clone().any(number)
    };
    [',', '.'].into_iter().find(|&mark| shows(mark))
}

/// The line terminator that ends the first line; LF when there is none.
pub(super) fn find_newline(text: &str) -> &'static str {
    match text.find(['\r', '\n']) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) if text[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, find_decimal, find_delimiter, find_newline};

    #[test]
    fn the_separator_is_the_one_that_finds_the_columns() {
        assert_eq!(find_delimiter("x,y\n", &["x", "y"]), ',');
        assert_eq!(find_delimiter("x;y\n1,0;2,0", &["x", "y"]), ';');
        assert_eq!(find_delimiter("x\ty\n", &["x", "y"]), '\t');
        assert_eq!(find_delimiter("\"a,b,c\";y\n", &["a,b,c", "y"]), ';');
        assert_eq!(find_delimiter("u;v\n", &["x", "y"]), ';');
        assert_eq!(find_delimiter("", &["x"]), ',');
    }

    #[test]
    fn the_decimal_mark_follows_the_evidence() {
        let find = |delimiter, own: &[&'static str], all: &[&'static str]| {
            find_decimal(delimiter, own.iter().copied(), all.iter().copied())
        };
        assert_eq!(find(';', &["1", "0,5"], &[]), ',');
        assert_eq!(find(';', &["1", "0.5"], &["1,5"]), '.');
        assert_eq!(find(';', &["0.5", "0,5"], &[]), ',');
        assert_eq!(find(';', &["1"], &["1", "2.5"]), '.');
        assert_eq!(find(';', &["1"], &["1", "L0, L1"]), ',');
        assert_eq!(find('\t', &["1"], &["1"]), '.');
        assert_eq!(find(',', &["1,5"], &["1,5"]), '.');
    }

    #[test]
    fn numbers_keep_their_bits_under_a_decimal_comma() {
        let dialect = Dialect { delimiter: ';', decimal: ',', ..Dialect::default() };
        for x in [0.1 + 0.2, 1e-9, -1234.5678, 1.0 / 3.0, 1e300] {
            assert_eq!(dialect.parse(&dialect.format(x)), Some(x));
        }
        assert_eq!(dialect.parse("1.234"), None);
        assert_eq!(dialect.parse("1,5e-3"), Some(1.5e-3));
    }

    #[test]
    fn line_ends() {
        assert_eq!(find_newline("a\r\nb\n"), "\r\n");
        assert_eq!(find_newline("a\rb"), "\r");
        assert_eq!(find_newline("a"), "\n");
    }
}
