//! Tables of points: like a history, but nothing was measured there.

use std::borrow::Cow;
use std::ops::Range;

use crate::problem::Problem;

use super::dialect::find_delimiter;
use super::document::{Record, quoted, records, unquoted};
use super::header::{can_name, known_names};
use super::sheet::{Sheet, declared_delimiter, decoded};
use super::{History, HistoryError};

impl History {
    /// Reads a table of points: as [`History::from_bytes`], but the objective's column may be missing; its values are read where it is there.
    ///
    /// # Errors
    /// As [`History::from_bytes`].
    pub fn points_from_bytes(bytes: &[u8], problem: &Problem) -> Result<Self, HistoryError> {
        let text = decoded(bytes)?;
        Sheet::parse(with_objective(text, problem)?.as_bytes(), problem)?.interpret(problem)
    }
}

/// The table with an empty column for the objective behind the others, if it had none.
fn with_objective<'a>(text: &'a str, problem: &Problem) -> Result<Cow<'a, str>, HistoryError> {
    let names = known_names(problem);
    let text_without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let declared = declared_delimiter(text_without_mark);
    let delimiter = declared.unwrap_or_else(|| find_delimiter(text_without_mark, &names));
    let objective = problem.objective();
    let mut names_of_objective = std::iter::once(&objective.name).chain(&objective.renamed_from);
    let content = |cell: &Range<usize>| unquoted(&text_without_mark[cell.clone()]).trim().to_owned();
    let all: Vec<Record> = records(text_without_mark, delimiter).collect::<Result<_, _>>()?;
    let is_row = |record: &&Record| !record.is_blank(text_without_mark);
    let Some(header) = all.iter().skip(usize::from(declared.is_some())).find(is_row) else {
        return Ok(Cow::Borrowed(text));
    };
    if names_of_objective.any(|name| header.cells.iter().any(|cell| can_name(&content(cell), name))) {
        return Ok(Cow::Borrowed(text));
    }
    let mut result = String::new();
    for record in &all {
        result.push_str(&text_without_mark[record.span.start..record.content_end()]);
        if record.line >= header.line && is_row(&record) {
            result.push(delimiter);
        }
        if record.line == header.line {
            result.push_str(&quoted(&objective.name, delimiter));
        }
        result.push_str(&text_without_mark[record.content_end()..record.span.end]);
    }
    Ok(Cow::Owned(result))
}

#[cfg(test)]
mod tests {
    use crate::history::History;
    use crate::problem::{Problem, Variable};

    #[test]
    fn points_are_read_with_and_without_a_column_for_the_objective() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("y", 0.0, 1.0))
            .build()
            .unwrap();
        for text in [
            "x,y\n0.5,0.25\n\n1,0\n",
            "x;y\r\n0,5;0,25\r\n1;0",
            "sep=;\nnote;y;x\n;0,25;0,5\na;0;1\n",
            "\u{feff}objective,x,y\n,0.5,0.25\n7,1,0\n",
        ] {
            let points = History::points_from_bytes(text.as_bytes(), &problem).unwrap();
            let points: Vec<_> = points.rows.into_iter().map(|row| row.point).collect();
            assert_eq!(points, [[0.5, 0.25], [1.0, 0.0]], "{text:?}");
        }
        assert!(History::points_from_bytes(b"", &problem).unwrap().rows.is_empty());
        let error = History::points_from_bytes(b"x\n0.5\n", &problem).unwrap_err();
        assert_eq!(error.column.as_deref(), Some("y"));
    }
}
