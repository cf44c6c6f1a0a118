//! A text file with places: byte offsets become lines, columns and excerpts.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::ProblemError;
use super::text::composed;

/// The text of a problem file.
#[derive(Clone, Debug)]
pub struct Source {
    file: PathBuf,
    text: String,
}

/// Longest piece of a line shown in an excerpt, in characters.
const EXCERPT_WIDTH: usize = 100;

impl Source {
    /// Reads a file; a byte-order mark is dropped.
    pub fn read(file: &Path) -> Result<Self, ProblemError> {
        let refuse = |message: String, expected: &str| ProblemError {
            file: Some(file.to_owned()),
            ..ProblemError::new("", message, expected)
        };
        let bytes = crate::file::read_whole(file).map_err(|e| refuse(format!("cannot be read: {e}"), ""))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let (valid, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
            let line = 1 + bytes[..valid].iter().filter(|&&b| b == b'\n').count();
            let wide = matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
            let found =
                if wide { "the file is UTF-16".to_owned() } else { format!("line {line} is not UTF-8") };
            refuse(found, "a text file saved as UTF-8 (in an editor: \"Save as\", encoding UTF-8)")
        })?;
        Ok(Self::new(file, &text))
    }

    /// A text as if read from a file of that name. Letters and accents that stand apart become one, so that names are equal when they look equal.
    pub fn new(file: &Path, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { file: file.to_owned(), text: composed(text).into_owned() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
    }

    /// Puts file, position and excerpt of `span` into an error.
    pub fn locate(&self, error: ProblemError, span: &Range<usize>) -> ProblemError {
        let start = span.start.min(self.text.len());
        let (line, column) = self.position(start);
        let content = self.text.lines().nth(line - 1).unwrap_or("");
        let length = self
            .text
            .get(start..span.end.min(self.text.len()))
            .map_or(1, |s| s.lines().next().unwrap_or("").chars().count());
        let gutter = format!("{line:>5} | ");
        let excerpt = excerpt(content, column - 1, length, &gutter);
        ProblemError {
            file: Some(self.file.clone()),
            position: Some((line, column)),
            excerpt: Some(excerpt),
            ..error
        }
    }

    /// The byte range in the file of a part of a string whose TOML token spans `token` and whose decoded value is `decoded`. `None` when
    /// escapes make the two differ.
    pub fn inside_string(
        &self,
        token: &Range<usize>,
        decoded: &str,
        part: &Range<usize>,
    ) -> Option<Range<usize>> {
        let raw = self.text.get(token.clone())?;
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| raw.starts_with(q))?;
        let mut start = token.start + quote.len();
        // A line break right after the opening of a multi-line string is not part of it.
        if quote.len() == 3 {
            let body = &self.text[start..];
            start += if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
        }
        let end = token.end.checked_sub(quote.len())?;
        (self.text.get(start..end)? == decoded).then(|| start + part.start..start + part.end)
    }
}

/// A line with carets under `length` characters from character `column` (from 0); both lines start with a gutter of the same width. A long
/// line is cut around the carets.
pub(crate) fn excerpt(line: &str, column: usize, length: usize, gutter: &str) -> String {
    let characters: Vec<char> = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let first = if characters.len() <= EXCERPT_WIDTH { 0 } else { column.saturating_sub(EXCERPT_WIDTH / 2) };
    let shown: String = characters.iter().skip(first).take(EXCERPT_WIDTH).collect();
    let ellipsis = if first > 0 { "..." } else { "" };
    let room = (characters.len().max(column + 1) - column)
        .min(EXCERPT_WIDTH - (column - first).min(EXCERPT_WIDTH - 1));
    let carets = "^".repeat(length.clamp(1, room));
    let blank = gutter.replace(|c: char| c.is_ascii_digit(), " ");
    let indent = " ".repeat(ellipsis.len() + column - first);
    format!("{gutter}{ellipsis}{}\n{blank}{indent}{carets}", shown.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Source, excerpt};
    use crate::problem::ProblemError;
    use std::path::Path;

    #[test]
    fn carets_stand_under_the_span() {
        let source = Source::new(Path::new("p.toml"), "\u{feff}a = 1\nbé = \"x <= zz\"\n");
        let offset = source.text().find("zz").unwrap();
        let error = source.locate(ProblemError::new("b", "bad", "good"), &(offset..offset + 2));
        assert_eq!(error.position, Some((2, 12)));
        let text = error.to_string();
        assert_eq!(
            text,
            "p.toml:2:12: b: bad; expected good\n    2 | bé = \"x <= zz\"\n      |            ^^"
        );
    }

    #[test]
    fn a_place_at_the_end_of_the_file_has_a_caret() {
        let source = Source::new(Path::new("p.toml"), "a = ");
        let error = source.locate(ProblemError::new("", "bad", ""), &(4..4));
        assert_eq!(error.to_string(), "p.toml:1:5: bad\n    1 | a =\n      |     ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_carets() {
        let line = format!("{}HERE{}", "a".repeat(300), "b".repeat(300));
        let text = excerpt(&line, 300, 4, "| ");
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(first.find("HERE"), second.find("^^^^"));
        assert!(first.len() < 120);
    }

    #[test]
    fn a_part_of_a_string_is_found_unless_it_holds_escapes() {
        let text = "a = 'x + y'\nb = \"\"\"\nx + y\"\"\"\nc = \"x\\u0020+ y\"";
        let source = Source::new(Path::new("p.toml"), text);
        let token = |name: &str| {
            let start = text.find(&format!("{name} = ")).unwrap() + 4;
            start..text[start..].find(['c', 'b'].as_slice()).map_or(text.len(), |i| start + i - 1)
        };
        assert_eq!(source.inside_string(&token("a"), "x + y", &(4..5)), Some(9..10));
        let y = text.rfind("x + y").unwrap() + 4;
        assert_eq!(source.inside_string(&token("b"), "x + y", &(4..5)), Some(y..y + 1));
        assert_eq!(source.inside_string(&token("c"), "x + y", &(4..5)), None);
    }
}
