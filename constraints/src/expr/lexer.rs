//! Text to tokens.

use std::ops::Range;

use crate::ExprError;

/// A token without its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A bare or backquoted name.
    Name(String),
    /// A quoted level.
    Text(String),
    Keyword(Keyword),
    /// An operator or a delimiter.
    Symbol(&'static str),
    End,
}

/// Words that cannot be bare names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
    Implies,
    Iff,
    In,
    If,
    True,
    False,
}

impl Keyword {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "and" => Self::And,
            "or" => Self::Or,
            "not" => Self::Not,
            "implies" => Self::Implies,
            "iff" => Self::Iff,
            "in" => Self::In,
            "if" => Self::If,
            "true" => Self::True,
            "false" => Self::False,
            _ => return None,
        })
    }
}

/// A token with its byte range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) span: Range<usize>,
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 21] = [
    "<=", ">=", "==", "!=", "..", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", "{", "}", ",", "=",
    "!",
];

/// Spellings of other languages and of word processors, and what to write here.
const FOREIGN: [(&str, &str); 28] = [
    ("**", "powers are written `^`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("=>", "write `implies` (or `>=`)"),
    ("=<", "write `<=`"),
    ("\u{2264}", "write `<=`"),
    ("\u{2265}", "write `>=`"),
    ("\u{2260}", "write `!=`"),
    ("\u{2261}", "write `==`"),
    ("\u{2227}", "write `and`"),
    ("\u{2228}", "write `or`"),
    ("\u{ac}", "write `not`"),
    ("\u{2208}", "write `in`"),
    ("\u{b7}", "products are written `*`"),
    ("\u{22c5}", "products are written `*`"),
    ("\u{d7}", "products are written `*`"),
    ("\u{f7}", "quotients are written `/`"),
    ("\u{2212}", "the minus sign is `-`"),
    ("\u{2013}", "the minus sign is `-`"),
    ("\u{b2}", "powers are written `^2`"),
    ("\u{b3}", "powers are written `^3`"),
    ("\u{221a}", "write `sqrt(...)`"),
    ("\u{201e}", "levels stand in straight quotes, 'a'"),
    ("\u{201c}", "levels stand in straight quotes, 'a'"),
    ("\u{201d}", "levels stand in straight quotes, 'a'"),
    ("\u{2018}", "levels stand in straight quotes, 'a'"),
    ("\u{2019}", "levels stand in straight quotes, 'a'"),
    ("%", "write a share as a number, 0.05 for 5 %"),
];

pub(super) fn error(message: impl Into<String>, span: Range<usize>) -> ExprError {
    ExprError { message: message.into(), span }
}

/// Reads the whole text; the last token is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ExprError> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().expect("at is a character boundary before the end");
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if first.is_ascii_digit() || (first == '.' && digit(rest.as_bytes().get(1))) {
            number(rest, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.bytes().take_while(|&b| b.is_ascii_alphanumeric() || b == b'_').count();
            let word = &rest[..length];
            (Keyword::parse(word).map_or_else(|| Token::Name(word.to_owned()), Token::Keyword), length)
        } else if matches!(first, '`' | '\'' | '"') {
            quoted(rest, first, at)?
        } else {
            symbol(text, first, at)?
        };
        out.push(Spanned { token, span: at..at + length });
        at += length;
    }
    out.push(Spanned { token: Token::End, span: text.len()..text.len() });
    Ok(out)
}

fn digit(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_digit)
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), ExprError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    // `1..3` is a range, not `1.` and `.3`.
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1) != Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    if bytes.get(length).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
        return Err(error(
            "a number runs into a name: write `*` for a product, or the name in backquotes",
            at..at + length + 1,
        ));
    }
    let value: f64 = rest[..length]
        .parse()
        .map_err(|_| error(format!("`{}` is no number", &rest[..length]), at..at + length))?;
    if !value.is_finite() {
        return Err(error(format!("`{}` is beyond the range of numbers", &rest[..length]), at..at + length));
    }
    Ok((Token::Number(value), length))
}

/// A backquoted name or a quoted level; the delimiter is doubled to stand for itself.
fn quoted(rest: &str, delimiter: char, at: usize) -> Result<(Token, usize), ExprError> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        if c != delimiter {
            value.push(c);
        } else if chars.peek().is_some_and(|&(_, next)| next == delimiter) {
            value.push(delimiter);
            chars.next();
        } else {
            let token = if delimiter == '`' { Token::Name(value) } else { Token::Text(value) };
            return Ok((token, i + 1));
        }
    }
    Err(error(format!("the quote {delimiter} is not closed"), at..at + rest.len()))
}

fn symbol(text: &str, first: char, at: usize) -> Result<(Token, usize), ExprError> {
    let rest = &text[at..];
    for (spelling, advice) in FOREIGN {
        if rest.starts_with(spelling) {
            return Err(error(
                format!("`{spelling}` is not part of the language: {advice}"),
                at..at + spelling.len(),
            ));
        }
    }
    let Some(&found) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) else {
        if first.is_alphabetic() {
            let word = word_around(text, at);
            let message = format!(
                "a name with other letters than A to Z stands in backquotes: `{}`",
                &text[word.clone()]
            );
            return Err(error(message, word));
        }
        return Err(error(format!("unexpected character `{first}`"), at..at + first.len_utf8()));
    };
    match found {
        "=" => Err(error("one `=` is not a comparison: write `==`", at..at + 1)),
        "!" => Err(error("write `not` (or `!=`)", at..at + 1)),
        _ => Ok((Token::Symbol(found), found.len())),
    }
}

/// The letters, digits and underscores before and after a place.
fn word_around(text: &str, at: usize) -> Range<usize> {
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let before: usize = text[..at].chars().rev().take_while(is_part).map(char::len_utf8).sum();
    let after: usize = text[at..].chars().take_while(is_part).map(char::len_utf8).sum();
    at - before..at + after
}

#[cfg(test)]
mod tests {
    use super::{Keyword, Token, tokens};

    fn read(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|t| t.token).collect()
    }

    #[test]
    fn ranges_and_decimals_do_not_mix() {
        assert_eq!(read("1..3"), [Token::Number(1.0), Token::Symbol(".."), Token::Number(3.0), Token::End]);
        assert_eq!(
            read("0.1..0.7"),
            [Token::Number(0.1), Token::Symbol(".."), Token::Number(0.7), Token::End]
        );
        assert_eq!(
            read("2.5e-3 .5 7."),
            [2.5e-3, 0.5, 7.0].map(Token::Number).into_iter().chain([Token::End]).collect::<Vec<_>>()
        );
    }

    #[test]
    fn quotes_double_to_stand_for_themselves() {
        assert_eq!(
            read("`flow ``rate` 'it''s' not"),
            [
                Token::Name("flow `rate".into()),
                Token::Text("it's".into()),
                Token::Keyword(Keyword::Not),
                Token::End
            ]
        );
    }

    #[test]
    fn errors_point_at_the_character() {
        for (text, span) in [
            ("a = 1", 2..3),
            ("a && b", 2..4),
            ("ä + 1", 0..2),
            ("1 + 2x", 4..6),
            ("a == 'x", 5..7),
            ("1e999", 0..5),
            ("a ** 2", 2..4),
            ("1 + gr\u{f6}\u{df}e <= 3", 4..11),
        ] {
            assert_eq!(tokens(text).unwrap_err().span, span, "{text}");
        }
    }

    #[test]
    fn signs_of_word_processors_are_met_with_what_to_write() {
        for (text, advice) in [
            ("x \u{2264} 1", "write `<=`"),
            ("x \u{2265} 1", "write `>=`"),
            ("x \u{2260} 1", "write `!=`"),
            ("2 \u{b7} x", "`*`"),
            ("2\u{d7}x", "`*`"),
            ("x \u{2212} 1", "minus sign is `-`"),
            ("x\u{b2} <= 3", "`^2`"),
            ("c == \u{201e}a\u{201c}", "straight quotes"),
            ("x <= 5 %", "0.05 for 5 %"),
            ("gr\u{f6}\u{df}e <= 3", "in backquotes: `gr\u{f6}\u{df}e`"),
            ("x <= l\u{e4}nge", "in backquotes: `l\u{e4}nge`"),
        ] {
            let error = tokens(text).unwrap_err();
            assert!(error.message.contains(advice), "{text}: {}", error.message);
        }
    }
}
