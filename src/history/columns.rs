//! A table of any columns, read as histories are: separators, decimal commas, quotes, byte-order marks of spreadsheets.

use std::path::Path;

use super::HistoryError;
use super::dialect::{find_decimal, find_delimiter};
use super::document::{Record, records, unquoted};
use super::sheet::{declared_delimiter, decoded};
use crate::problem::reading::parse_number;

/// A table without a problem: names and cells as text.
///
/// ```
/// use leafgp::history::Columns;
///
/// let table = Columns::from_bytes(b"flow;grade\n0,5;\"a;b\"\n;c\n", &[])?;
/// assert_eq!(table.names(), ["flow", "grade"]);
/// assert_eq!(table.column("flow"), Some(vec!["0.5", ""]));
/// assert_eq!(table.lines().nth(1), Some(";c"));
/// # Ok::<(), leafgp::history::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    delimiter: char,
    names: Vec<String>,
    header: String,
    lines: Vec<String>,
    cells: Vec<Vec<String>>,
    /// Line of the file in which each row starts, from 1.
    row_lines: Vec<usize>,
}

impl Columns {
    /// Reads a file. `wanted` are columns the caller knows of: they decide between separators.
    ///
    /// # Errors
    /// A file that cannot be read, or as [`Columns::from_bytes`].
    pub fn read(path: &Path, wanted: &[&str]) -> Result<Self, HistoryError> {
        let bytes = std::fs::read(path)
            .map_err(|error| HistoryError::io("the file cannot be read", error).in_file(path))?;
        Self::from_bytes(&bytes, wanted).map_err(|error| error.in_file(path))
    }

    /// Reads the bytes of a file. Empty lines are left out; a decimal comma, where the file has them, becomes a point.
    ///
    /// # Errors
    /// No text in UTF-8, no header, a column named twice, a row with more or fewer cells than the header.
    pub fn from_bytes(bytes: &[u8], wanted: &[&str]) -> Result<Self, HistoryError> {
        let text = decoded(bytes)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let declared = declared_delimiter(text);
        let delimiter = declared.unwrap_or_else(|| find_delimiter(text, wanted));
        let all: Vec<Record> =
            records(text, delimiter).skip(usize::from(declared.is_some())).collect::<Result<_, _>>()?;
        // A line of separators alone is a row whose cells are all missing; an empty line is none.
        let is_empty = |record: &&Record| record.cells.len() == 1 && record.is_blank(text);
        let mut rows = all.iter().filter(|record| !is_empty(record));
        let header = rows.next().ok_or_else(|| {
            HistoryError::new("the table is empty", "a header line with the columns' names")
        })?;
        let content = |record: &Record| -> Vec<String> {
            record.cells.iter().map(|cell| unquoted(&text[cell.clone()]).trim().to_owned()).collect()
        };
        let line = |record: &Record| text[record.span.start..record.content_end()].to_owned();
        let names = content(header);
        if let Some((i, name)) =
            names.iter().enumerate().find(|(i, name)| !name.is_empty() && names[..*i].contains(name))
        {
            let message = format!("the header names {name:?} twice (again in column {})", i + 1);
            return Err(HistoryError::new(message, "a name of its own for each column").at_line(header.line));
        }
        let mut table = Self {
            delimiter,
            names,
            header: line(header),
            lines: Vec::new(),
            cells: Vec::new(),
            row_lines: Vec::new(),
        };
        for (i, record) in rows.enumerate() {
            if record.cells.len() != table.names.len() {
                let message = format!("the row has {} cells", record.cells.len());
                let expected = format!("{}, as the header has columns", table.names.len());
                return Err(HistoryError::new(message, expected).at_line(record.line).at_row(i + 1));
            }
            table.lines.push(line(record));
            table.cells.push(content(record));
            table.row_lines.push(record.line);
        }
        let every = table.cells.iter().flatten().map(String::as_str);
        if find_decimal(delimiter, std::iter::empty(), every) == ',' {
            for cell in table.cells.iter_mut().flatten() {
                let point = cell.replace(',', ".");
                if !cell.contains('.') && parse_number(&point).is_some() {
                    *cell = point;
                }
            }
        }
        Ok(table)
    }

    /// The separator of the file.
    pub fn delimiter(&self) -> char {
        self.delimiter
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows below the header.
    pub fn n_rows(&self) -> usize {
        self.cells.len()
    }

    /// The line of the file in which a row starts, both from 1; 0 when there is no such row.
    pub fn line_of(&self, row: usize) -> usize {
        row.checked_sub(1).and_then(|i| self.row_lines.get(i)).copied().unwrap_or(0)
    }

    /// The cells of a column from top to bottom; `None` when there is none of that name.
    pub fn column(&self, name: &str) -> Option<Vec<&str>> {
        let index = self.names.iter().position(|own| own == name)?;
        Some(self.cells.iter().map(|row| row[index].as_str()).collect())
    }

    /// The header as written.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The rows as written.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;

    #[test]
    fn decimal_commas_become_points_and_labels_stay() {
        let table = Columns::from_bytes(
            "\u{feff}x;label;date\r\n1,5;L0, L1;1.2.2026\r\n2;b;\r\n;;\r\n\r\n".as_bytes(),
            &[],
        )
        .unwrap();
        assert_eq!(table.column("x").unwrap(), ["1.5", "2", ""]);
        assert_eq!(table.column("label").unwrap(), ["L0, L1", "b", ""]);
        assert_eq!(table.column("date").unwrap(), ["1.2.2026", "", ""]);
        assert_eq!((table.column("y"), table.n_rows(), table.delimiter()), (None, 3, ';'));
    }

    #[test]
    fn tables_that_cannot_be_meant_are_refused_with_their_place() {
        for (text, part) in [
            ("", "empty"),
            ("x,x\n1,2\n", "twice"),
            ("x,y\n1,2\n3\n", "row has 1 cells"),
            ("x\n\"1\n", "never closed"),
        ] {
            let error = Columns::from_bytes(text.as_bytes(), &[]).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
