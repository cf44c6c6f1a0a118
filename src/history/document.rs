//! The CSV text with the place of every cell, so that a rewrite changes nothing but the cells it means.

use std::borrow::Cow;
use std::ops::Range;

use super::HistoryError;

/// One record of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Line on which it starts, from 1.
    pub(super) line: usize,
    /// Byte ranges of its cells as written, quotes included.
    pub(super) cells: Vec<Range<usize>>,
    /// Byte range from the first cell to the end of the line terminator.
    pub(super) span: Range<usize>,
    /// Length of the line terminator in bytes; 0 at the end of the file.
    pub(super) terminator: usize,
}

impl Record {
    /// Byte offset of the end of the last cell.
    pub(super) fn content_end(&self) -> usize {
        self.span.end - self.terminator
    }

    /// True when every cell is blank: an empty line, or the row of separators that a spreadsheet makes of it.
    pub(super) fn is_blank(&self, text: &str) -> bool {
        self.cells.iter().all(|cell| unquoted(&text[cell.clone()]).trim().is_empty())
    }
}

/// Splits a text into records. Cells are separated by `delimiter`; a cell that starts with `"` runs to the closing quote, with `""` for a
/// quote inside; lines end with LF, CRLF or CR.
///
/// # Errors
/// A quoted cell that is never closed or goes on after its closing quote.
pub(super) fn records(text: &str, delimiter: char) -> Records<'_> {
    Records { text, delimiter: delimiter as u8, position: 0, line: 1, failed: false }
}

/// Iterator over records.
#[derive(Clone, Debug)]
pub(super) struct Records<'a> {
    text: &'a str,
    delimiter: u8,
    position: usize,
    line: usize,
    failed: bool,
}

impl Records<'_> {
    /// Length of the line terminator at `at`.
    fn terminator(&self, at: usize) -> usize {
        match &self.text.as_bytes()[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        }
    }

    /// The end of the quoted cell that starts at `start`.
    fn quoted_end(&mut self, start: usize) -> Result<usize, HistoryError> {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                None => {
                    return Err(HistoryError::new(
                        "a quoted cell is never closed: the file looks half-written",
                        "a closing quote",
                    ));
                }
                Some(b'"') if bytes.get(at + 1) == Some(&b'"') => at += 2,
                Some(b'"') => break,
                Some(_) => at += 1,
            }
        }
        at += 1;
        // Spaces between the closing quote and the separator mean nothing.
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        match bytes.get(at) {
            None => Ok(at),
            Some(&next) if next == self.delimiter || next == b'\n' || next == b'\r' => Ok(at),
            Some(_) => Err(HistoryError::new(
                "text goes on after a closing quote",
                "a separator or the end of the line (a quote inside a quoted cell is written twice)",
            )),
        }
    }

    fn read(&mut self) -> Result<Record, HistoryError> {
        let bytes = self.text.as_bytes();
        let (line, start) = (self.line, self.position);
        let mut cells = Vec::new();
        let mut at = start;
        loop {
            let cell_start = at;
            if bytes.get(at) == Some(&b'"') {
                at = self.quoted_end(at).map_err(|e| e.at_line(line))?;
            } else {
                while bytes.get(at).is_some_and(|&b| b != self.delimiter && b != b'\n' && b != b'\r') {
                    at += 1;
                }
            }
            cells.push(cell_start..at);
            if bytes.get(at) == Some(&self.delimiter) {
                at += 1;
                continue;
            }
            let terminator = self.terminator(at);
            self.position = at + terminator;
            self.line += lines_in(&self.text[start..at]) + 1;
            return Ok(Record { line, cells, span: start..self.position, terminator });
        }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, HistoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.position >= self.text.len() {
            return None;
        }
        let record = self.read();
        self.failed = record.is_err();
        Some(record)
    }
}

/// Number of line terminators in a text.
fn lines_in(text: &str) -> usize {
    let bytes = text.as_bytes();
    (0..bytes.len())
        .filter(|&i| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n')))
        .count()
}

/// The content of a cell as written.
pub(super) fn unquoted(raw: &str) -> Cow<'_, str> {
    let trimmed = raw.trim_end_matches(' ');
    match trimmed.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
        Some(inner) => Cow::Borrowed(inner),
        None => Cow::Borrowed(raw),
    }
}

/// A cell as it must be written to be read back as `content`.
pub fn quoted(content: &str, delimiter: char) -> Cow<'_, str> {
    let special = |c: char| c == delimiter || c == '"' || c == '\n' || c == '\r';
    if content.contains(special) || content.trim() != content {
        Cow::Owned(format!("\"{}\"", content.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(content)
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, records, unquoted};
    use proptest::prelude::{ProptestConfig, proptest};

    fn table(text: &str, delimiter: char) -> Vec<(usize, Vec<String>)> {
        let cells = |record: super::Record| {
            (record.line, record.cells.iter().map(|c| unquoted(&text[c.clone()]).into_owned()).collect())
        };
        records(text, delimiter).map(|record| cells(record.unwrap())).collect()
    }

    #[test]
    fn quotes_line_ends_and_empty_cells_by_hand() {
        let text = "a,b\r\n\"x, \"\"y\"\"\",\"two\nlines\"\r\n,\r\n\n1,2";
        let rows = table(text, ',');
        let expected: Vec<(usize, Vec<&str>)> = vec![
            (1, vec!["a", "b"]),
            (2, vec!["x, \"y\"", "two\nlines"]),
            (4, vec!["", ""]),
            (5, vec![""]),
            (6, vec!["1", "2"]),
        ];
        let expected: Vec<(usize, Vec<String>)> = expected
            .into_iter()
            .map(|(line, row)| (line, row.into_iter().map(str::to_owned).collect()))
            .collect();
        assert_eq!(rows, expected);
        assert_eq!(table("a;b\r1;2\r", ';').len(), 2);
    }

    #[test]
    fn spans_cover_the_text_without_gaps() {
        let text = "a,b\r\n\"q\" ,2\n\n3,4";
        let spans: Vec<_> = records(text, ',').map(|r| r.unwrap().span).collect();
        assert_eq!(spans.iter().map(|s| &text[s.clone()]).collect::<String>(), text);
    }

    #[test]
    fn an_open_quote_is_an_error_with_its_line() {
        let error = records("a,b\n1,\"x\n", ',').last().unwrap().unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(error.message.contains("half-written"), "{error}");
        let error = records("a,b\n\"x\"y,1\n", ',').last().unwrap().unwrap_err();
        assert_eq!(error.line, Some(2));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn written_cells_are_read_back(cells in proptest::collection::vec("[a-c \",;\n\r.0-9é]{0,6}", 1..5)) {
            for delimiter in [',', ';', '\t'] {
                let line = cells.iter().map(|c| quoted(c, delimiter)).collect::<Vec<_>>().join(&delimiter.to_string());
                let text = format!("{line}\nz");
                assert_eq!(table(&text, delimiter)[0].1, cells);
            }
        }
    }
}
