//! From a table's text to experiments, and back.

use std::borrow::Cow;

use crate::problem::reading::hint;
use crate::problem::{FAILURE_COLUMN, Kind, Problem, STATUS_COLUMN, Variable};

use super::dialect::{find_decimal, find_delimiter, find_newline};
use super::document::{Record, quoted, records, unquoted};
use super::header::{Header, known_names};
use super::notes::Notes;
use super::settle::settled;
use super::{Dialect, History, HistoryError, Outcome, Row};

/// The words of the status column.
const STATUSES: [&str; 3] = ["done", "pending", "failed"];

/// A table with the place of every cell.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// Without the byte-order mark.
    text: String,
    dialect: Dialect,
    /// `None` for a file without a header: a new or an empty one.
    header: Option<Header>,
    /// Experiments; blank lines are left out.
    rows: Vec<Record>,
}

impl Sheet {
    /// Splits a file into cells and finds its columns.
    pub(super) fn parse(bytes: &[u8], problem: &Problem) -> Result<Self, HistoryError> {
        let text = decoded(bytes)?;
        let (byte_order_mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let declared = declared_delimiter(text);
        let delimiter = declared.unwrap_or_else(|| find_delimiter(text, &known_names(problem)));
        let mut found = records(text, delimiter).skip(usize::from(declared.is_some()));
        let header = loop {
            match found.next().transpose()? {
                Some(record) if record.is_blank(text) => {}
                Some(record) => break Some(Header::find(text, record, problem)?),
                None => break None,
            }
        };
        let mut rows = Vec::new();
        for record in found {
            let record = record?;
            if !record.is_blank(text) {
                rows.push(record);
            }
        }
        let content = |cell: &std::ops::Range<usize>| text[cell.clone()].trim_matches(['"', ' ']);
        // Numbers of the problem decide, other columns only where those are silent.
        let numeric = header.as_ref().map_or_else(Vec::new, |header| header.numeric(problem));
        let own = rows.iter().flat_map(|row| numeric.iter().filter_map(|&column| row.cells.get(column)));
        let all = rows.iter().flat_map(|row| &row.cells);
        let decimal = find_decimal(delimiter, own.map(content), all.map(content));
        let dialect = match &header {
            Some(_) => Dialect { delimiter, decimal, newline: find_newline(text), byte_order_mark },
            None => Dialect { byte_order_mark, ..Dialect::default() },
        };
        Ok(Self { text: text.to_owned(), dialect, header, rows })
    }

    /// The content of a cell.
    fn cell(&self, record: &Record, column: usize) -> Cow<'_, str> {
        unquoted(&self.text[record.cells[column].clone()])
    }

    /// Reads every row.
    pub(super) fn interpret(&self, problem: &Problem) -> Result<History, HistoryError> {
        let mut history = History { dialect: self.dialect, ..History::default() };
        let Some(header) = &self.header else { return Ok(history) };
        let mut notes = Notes::new(header.notes.clone(), problem);
        let mut errors = Vec::new();
        for (i, record) in self.rows.iter().enumerate() {
            let mut found = Vec::new();
            history.rows.extend(self.row(problem, header, record, i + 1, &mut notes, &mut found));
            errors.extend(found.into_iter().map(|e| e.at_line(record.line).at_row(i + 1)));
        }
        if let Some(error) = HistoryError::all(errors) {
            return Err(error);
        }
        notes.judge(&history.rows);
        history.warnings = notes.warnings(&history.rows);
        Ok(history)
    }

    /// The experiment of a record; `None` after an error.
    fn row(
        &self,
        problem: &Problem,
        header: &Header,
        record: &Record,
        number: usize,
        notes: &mut Notes,
        errors: &mut Vec<HistoryError>,
    ) -> Option<Row> {
        if let Err(error) = self.check_width(header, record) {
            errors.push(error);
            return None;
        }
        let point = self.point(problem, header, record, number, notes, errors);
        let outcome = self.outcome(problem, header, record, number, notes);
        let outcome = outcome.map_err(|error| errors.push(error)).ok()?;
        let failure = header.failure.map(|column| self.cell(record, column).trim().to_owned());
        let failure = failure.filter(|text| !text.is_empty());
        Some(Row { failure, ..Row::judged(problem, record.line, point?, outcome) })
    }

    fn check_width(&self, header: &Header, record: &Record) -> Result<(), HistoryError> {
        let (found, width) = (record.cells.len(), header.record.cells.len());
        if found == width {
            return Ok(());
        }
        // The last line without its end and with too few cells is what an interrupted copy leaves.
        let cut = record.terminator == 0 && found < width;
        let reason = if cut { ": the file ends in the middle of a line, it looks half-written" } else { "" };
        let delimiter = if self.dialect.delimiter == '\t' {
            "tabs".to_owned()
        } else {
            format!("`{}`", self.dialect.delimiter)
        };
        let cells = if found == 1 { "1 cell".to_owned() } else { format!("{found} cells") };
        Err(HistoryError::new(
            format!("{cells}, but the header has {width} columns{reason}"),
            format!("{width} cells separated by {delimiter}"),
        ))
    }

    /// The point of a record; `None` after an error.
    fn point(
        &self,
        problem: &Problem,
        header: &Header,
        record: &Record,
        number: usize,
        notes: &mut Notes,
        errors: &mut Vec<HistoryError>,
    ) -> Option<Vec<f64>> {
        let before = errors.len();
        // What a hierarchical variable's cell holds matters only where the variable is active, so its errors wait for that.
        let mut deferred: Vec<(usize, HistoryError)> = Vec::new();
        let mut point = Vec::with_capacity(problem.variables().len());
        for (i, variable) in problem.variables().iter().enumerate() {
            let cell = header.variables[i].map_or(Cow::Borrowed(""), |column| self.cell(record, column));
            let is_empty = cell.trim().is_empty();
            notes.see(i, number, is_empty);
            match self.value(variable, &cell) {
                Ok(value) => point.push(settled(&variable.domain(), value)),
                Err(error) => {
                    point.push(variable.inactive_value);
                    match variable.active_if {
                        Some(_) => deferred.push((i, error)),
                        None => errors.push(error.at_column(&variable.name)),
                    }
                }
            }
        }
        if errors.len() > before {
            return None;
        }
        let given = point.clone();
        problem.constraints().deactivate(&mut point);
        for (i, error) in deferred {
            if problem.constraints().is_active(i, &point) {
                let variable = &problem.variables()[i];
                let condition = variable.active_if.as_deref().unwrap_or_default();
                let expected = format!("{} (the variable is active here: {condition})", error.expected);
                errors.push(HistoryError { expected, ..error }.at_column(&variable.name));
            }
        }
        if given != point {
            notes.inactive.push(number);
        }
        (errors.len() == before).then_some(point)
    }

    /// The value of a variable's cell; its default for an empty one.
    fn value(&self, variable: &Variable, cell: &str) -> Result<f64, HistoryError> {
        if cell.trim().is_empty() {
            let missing = || HistoryError::new("the cell is empty", variable.expected());
            return variable.default.ok_or_else(missing);
        }
        variable.parse_with(cell, |text| self.dialect.parse(text)).map_err(|e| {
            let mut expected = e.expected;
            if !variable.levels().is_empty() {
                expected.push_str(" (levels of old rows that are not to be suggested stand in `removed` of the problem file)");
            }
            HistoryError::new(self.explain(variable.kind.clone(), cell, e.message), expected)
        })
    }

    /// Adds the likely reason why text is no number.
    fn explain(&self, kind: Kind, cell: &str, message: String) -> String {
        let other = if self.dialect.decimal == '.' { ',' } else { '.' };
        let marks = cell.matches(other).count();
        let numeric = cell.trim().chars().all(|c| c.is_ascii_digit() || c == other || c == '-' || c == '+');
        if matches!(kind, Kind::Categorical(_)) || marks != 1 || !numeric {
            return message;
        }
        format!("{message}: this file writes decimals with `{}`", self.dialect.decimal)
    }

    fn outcome(
        &self,
        problem: &Problem,
        header: &Header,
        record: &Record,
        number: usize,
        notes: &mut Notes,
    ) -> Result<Outcome, HistoryError> {
        let cell = self.cell(record, header.objective);
        let text = cell.trim();
        let status = match header.status {
            Some(column) => read_status(&self.cell(record, column))?,
            None => None,
        };
        let objective = &problem.objective().name;
        if text.is_empty() {
            return match status {
                Some("failed") => Ok(Outcome::Failed),
                Some("done") => Err(HistoryError::new(
                    "the experiment is done, but has no value",
                    "a number, or status pending or failed",
                )
                .at_column(objective)),
                _ => Ok(Outcome::Pending),
            };
        }
        let Some(value) = self.dialect.parse(text) else {
            let message = self.explain(Kind::Binary, &cell, format!("{:?} is no number", cell.as_ref()));
            let expected = "a finite number, an empty cell while the experiment is pending, or an empty cell and status failed";
            return Err(HistoryError::new(message, expected).at_column(objective));
        };
        match status {
            Some("failed") => {
                let message = format!("the experiment failed, but has the value {text}");
                Err(HistoryError::new(message, "an empty cell, or status done").at_column(objective))
            }
            Some("pending") => {
                // The natural order of work: the value is filled in, the word beside it forgotten.
                notes.finished.push(number);
                Ok(Outcome::Done(value))
            }
            _ => Ok(Outcome::Done(value)),
        }
    }

    /// The whole file as bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mark = if self.dialect.byte_order_mark { "\u{feff}" } else { "" };
        format!("{mark}{}", self.text).into_bytes()
    }

    /// The table with a header, if it had none.
    pub(super) fn with_header(self, problem: &Problem) -> Result<Self, HistoryError> {
        if self.header.is_some() {
            return Ok(self);
        }
        let names =
            problem.variables().iter().map(|v| v.name.as_str()).chain([problem.objective().name.as_str()]);
        let header: Vec<_> = names.map(|name| quoted(name, self.dialect.delimiter)).collect();
        let text = format!("{}{}", header.join(&self.dialect.delimiter.to_string()), self.dialect.newline);
        self.reparsed(text, problem)
    }

    /// The table with a status column after the last, if it had none.
    pub(super) fn with_status(self, problem: &Problem) -> Result<Self, HistoryError> {
        match &self.header {
            Some(header) if header.status.is_none() => self.with_column(STATUS_COLUMN, problem),
            _ => Ok(self),
        }
    }

    /// The table with a column after the last.
    fn with_column(self, name: &str, problem: &Problem) -> Result<Self, HistoryError> {
        let Some(header) = &self.header else { return Ok(self) };
        let mut text = self.text[..header.record.span.start].to_owned();
        let mut position = header.record.span.start;
        for (i, record) in [&header.record].into_iter().chain(&self.rows).enumerate() {
            // Blank lines between the records stay as they are.
            text.push_str(&self.text[position..record.content_end()]);
            text.push(self.dialect.delimiter);
            if i == 0 {
                text.push_str(&quoted(name, self.dialect.delimiter));
            }
            text.push_str(&self.text[record.content_end()..record.span.end]);
            position = record.span.end;
        }
        text.push_str(&self.text[position..]);
        self.reparsed(text, problem)
    }

    /// The table with the columns of failed experiments, if it had them not: the reason, unless the problem uses its name, and the status.
    pub(super) fn with_failures(self, problem: &Problem) -> Result<Self, HistoryError> {
        let taken = known_names(problem).iter().any(|name| name.eq_ignore_ascii_case(FAILURE_COLUMN));
        let sheet = match &self.header {
            Some(header) if header.failure.is_none() && !taken => {
                self.with_column(FAILURE_COLUMN, problem)?
            }
            _ => self,
        };
        sheet.with_status(problem)
    }

    /// The table with the reason of a failure in its experiment number `row` (from 0; the last by default).
    pub(super) fn with_reason(
        self,
        problem: &Problem,
        row: Option<usize>,
        reason: &str,
    ) -> Result<Self, HistoryError> {
        let row = row.or(self.rows.len().checked_sub(1));
        let column = self.header.as_ref().and_then(|header| header.failure);
        let (Some(record), Some(column)) = (row.and_then(|row| self.rows.get(row)), column) else {
            return Ok(self);
        };
        let mut text = self.text.clone();
        text.replace_range(record.cells[column].clone(), &quoted(reason, self.dialect.delimiter));
        self.reparsed(text, problem)
    }

    /// The table with a column for each variable; those that it had not go to the end, and are empty in older rows.
    fn with_variables(self, problem: &Problem) -> Result<Self, HistoryError> {
        let mut sheet = self;
        for (i, variable) in problem.variables().iter().enumerate() {
            if sheet.header.as_ref().is_some_and(|header| header.variables[i].is_none()) {
                sheet = sheet.with_column(&variable.name, problem)?;
            }
        }
        Ok(sheet)
    }

    /// The table with rows at its end.
    pub(super) fn with_rows(
        self,
        problem: &Problem,
        rows: &[(Vec<f64>, Outcome)],
    ) -> Result<Self, HistoryError> {
        let sheet = self.with_variables(problem)?;
        let Some(header) = &sheet.header else { return Ok(sheet) };
        let mut text = sheet.text.clone();
        for (point, outcome) in rows {
            if !text.is_empty() && !text.ends_with(['\r', '\n']) {
                text.push_str(sheet.dialect.newline);
            }
            let mut cells = vec![Cow::Borrowed(""); header.record.cells.len()];
            for (i, variable) in problem.variables().iter().enumerate() {
                if let Some(column) = header.variables[i] {
                    let value = sheet.dialect.text(variable, point[i]);
                    cells[column] = Cow::Owned(quoted(&value, sheet.dialect.delimiter).into_owned());
                }
            }
            let (value, status) = sheet.written(*outcome);
            cells[header.objective] = Cow::Owned(value);
            if let Some(column) = header.status {
                cells[column] = Cow::Borrowed(status);
            }
            text.push_str(&cells.join(&sheet.dialect.delimiter.to_string()));
            text.push_str(sheet.dialect.newline);
        }
        sheet.reparsed(text, problem)
    }

    /// The table with the outcome of its experiment number `row` (from 0) filled in.
    pub(super) fn with_outcome(
        self,
        problem: &Problem,
        row: usize,
        outcome: Outcome,
    ) -> Result<Self, HistoryError> {
        let (Some(header), Some(record)) = (&self.header, self.rows.get(row)) else { return Ok(self) };
        let (value, status) = self.written(outcome);
        let mut edits = vec![(record.cells[header.objective].clone(), value)];
        if let Some(column) = header.status {
            edits.push((record.cells[column].clone(), status.to_owned()));
        }
        // The reason of a failure that is no more goes with it; what people wrote beside other rows stays.
        if let Some(column) = header.failure
            && outcome != Outcome::Failed
            && header.status.is_some_and(|status| self.cell(record, status).trim() == "failed")
        {
            edits.push((record.cells[column].clone(), String::new()));
        }
        // Back to front, so that earlier places stay valid.
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = self.text.clone();
        for (range, content) in edits {
            text.replace_range(range, &content);
        }
        self.reparsed(text, problem)
    }

    /// The table without its experiment number `row` (from 0).
    pub(super) fn without_row(self, problem: &Problem, row: usize) -> Result<Self, HistoryError> {
        let Some(record) = self.rows.get(row) else { return Ok(self) };
        let mut text = self.text.clone();
        text.replace_range(record.span.clone(), "");
        self.reparsed(text, problem)
    }

    /// The objective's and the status' cell of an outcome.
    fn written(&self, outcome: Outcome) -> (String, &'static str) {
        match outcome {
            Outcome::Done(value) => (self.dialect.format(value), "done"),
            Outcome::Pending => (String::new(), "pending"),
            Outcome::Failed => (String::new(), "failed"),
        }
    }

    /// The new text with its cells, in the dialect of the old.
    fn reparsed(self, text: String, problem: &Problem) -> Result<Self, HistoryError> {
        let parsed = Self::parse(text.as_bytes(), problem)?;
        Ok(Self { dialect: self.dialect, ..parsed })
    }
}

/// Points as a CSV text with header, in the default dialect; the objective's column is empty.
///
/// # Errors
/// A point that is none of the problem's: its length, a coordinate that is not finite or no level.
pub fn csv_text(problem: &Problem, points: &[Vec<f64>]) -> Result<String, HistoryError> {
    for point in points {
        problem.check_point(point)?;
    }
    let rows: Vec<_> = points.iter().map(|point| (point.clone(), Outcome::Pending)).collect();
    let sheet = Sheet::parse(b"", problem)?.with_header(problem)?.with_rows(problem, &rows)?;
    Ok(sheet.text)
}

/// The bytes as text.
pub(super) fn decoded(bytes: &[u8]) -> Result<&str, HistoryError> {
    const EXPECTED: &str = "a CSV file saved as UTF-8 (in Excel: \"Save as\", file type \"CSV UTF-8\"; in LibreOffice: character set UTF-8)";
    if matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return Err(HistoryError::new("the file is UTF-16", EXPECTED));
    }
    let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|&&b| b == b'\n').count();
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(HistoryError::new("the file is a workbook or an archive, no text", EXPECTED));
    }
    if let Some(offset) = bytes.iter().position(|&b| b == 0) {
        let error = HistoryError::new(
            "the file holds zero bytes: it is no text, or a write was interrupted",
            EXPECTED,
        );
        return Err(error.at_line(line_of(offset)));
    }
    std::str::from_utf8(bytes).map_err(|e| {
        let offset = e.valid_up_to();
        let error = match western(bytes[offset]) {
            Some(c) => {
                format!("this line is not UTF-8: the byte of {c:?} in Windows-1252, an older character set")
            }
            None => "this line is not UTF-8".to_owned(),
        };
        HistoryError::new(error, EXPECTED).at_line(line_of(offset))
    })
}

/// The letter of a byte in Windows-1252 (of letters and signs, Latin-1's part).
fn western(byte: u8) -> Option<char> {
    (byte >= 0xA0).then_some(char::from(byte))
}

/// The separator that a first line `sep=;` declares, as some spreadsheets write it.
pub(super) fn declared_delimiter(text: &str) -> Option<char> {
    let line = text.lines().next()?.trim_matches('"');
    let rest = line.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|_| &line[4..])?;
    [',', ';', '\t'].into_iter().find(|&c| rest == c.to_string())
}

/// The word of a status cell; `None` for an empty one.
fn read_status(cell: &str) -> Result<Option<&'static str>, HistoryError> {
    let word = cell.trim();
    if word.is_empty() {
        return Ok(None);
    }
    STATUSES.into_iter().find(|status| status.eq_ignore_ascii_case(word)).map(Some).ok_or_else(|| {
        let message = format!("unknown status {word:?}{}", hint(word, STATUSES));
        HistoryError::new(message, "done, pending, failed or an empty cell").at_column(STATUS_COLUMN)
    })
}
