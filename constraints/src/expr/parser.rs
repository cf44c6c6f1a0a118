//! Tokens to a syntax tree, by precedence climbing (Pratt).

use std::ops::Range;

use super::ast::{Ast, Binary, Kind, Member, Relation};
use super::lexer::{Keyword, Spanned, Token, error, tokens};
use super::names::is_function;
use crate::ExprError;

/// Deeper nesting is refused: the passes over the tree are recursive. Chains of operators and lists of arguments do not nest.
const MAX_DEPTH: usize = 200;
/// Longest range `w1..w8`.
const MAX_NAMES: u64 = 10_000;

// Binding powers, loosest first.
const IFF: u8 = 1;
const IMPLIES: u8 = 3;
const OR: u8 = 5;
const AND: u8 = 7;
const NOT: u8 = 9;
const COMPARE: u8 = 11;
const SUM: u8 = 13;
const PRODUCT: u8 = 15;
const MINUS: u8 = 17;
const POWER: u8 = 19;

/// Parses a whole expression.
pub(super) fn parse(text: &str) -> Result<Ast, ExprError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    if parser.peek() == &Token::End {
        return Err(error("the expression is empty", 0..text.len()));
    }
    let ast = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(ast),
        Token::Symbol(")" | "]" | "}") => Err(error("this bracket was never opened", parser.span())),
        _ => Err(parser.no_operator(text)),
    }
}

struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
    depth: usize,
}

fn relation(token: &Token) -> Option<Relation> {
    Some(match token {
        Token::Symbol("<=") => Relation::LessEqual,
        Token::Symbol("<") => Relation::Less,
        Token::Symbol("==") => Relation::Equal,
        Token::Symbol("!=") => Relation::NotEqual,
        Token::Symbol(">=") => Relation::GreaterEqual,
        Token::Symbol(">") => Relation::Greater,
        _ => return None,
    })
}

/// Operator, binding power to its left, minimal power of its right operand.
fn binary(token: &Token) -> Option<(Binary, u8, u8)> {
    Some(match token {
        Token::Keyword(Keyword::Iff) => (Binary::Iff, IFF, IFF + 1),
        Token::Keyword(Keyword::Implies) => (Binary::Implies, IMPLIES, IMPLIES),
        Token::Keyword(Keyword::Or) => (Binary::Or, OR, OR + 1),
        Token::Keyword(Keyword::And) => (Binary::And, AND, AND + 1),
        Token::Symbol("+") => (Binary::Add, SUM, SUM + 1),
        Token::Symbol("-") => (Binary::Subtract, SUM, SUM + 1),
        Token::Symbol("*") => (Binary::Multiply, PRODUCT, PRODUCT + 1),
        Token::Symbol("/") => (Binary::Divide, PRODUCT, PRODUCT + 1),
        // The right operand of `^` may carry a minus: 2^-1.
        Token::Symbol("^") => (Binary::Power, POWER, MINUS),
        _ => return None,
    })
}

impl Parser {
    /// Two values without an operator between them: what was probably meant.
    fn no_operator(&self, text: &str) -> ExprError {
        let written = |token: &Spanned| &text[token.span.clone()];
        let (found, next) = (&self.tokens[self.at], &self.tokens[(self.at + 1).min(self.tokens.len() - 1)]);
        let before = self.at.checked_sub(1).map(|i| &self.tokens[i]);
        let is_name = |token: &Spanned| matches!(token.token, Token::Name(_));
        let advice = match (before, &found.token) {
            (Some(Spanned { token: Token::Number(_), .. }), Token::Symbol(","))
                if matches!(next.token, Token::Number(_)) =>
            {
                let before = before.map_or("", written);
                format!(": decimals are written with a point, {before}.{}", written(next))
            }
            (Some(first), Token::Name(_) | Token::Number(_)) if is_function(written(first)) => {
                format!(": a function has its argument in brackets, `{}({})`", written(first), written(found))
            }
            (Some(first), Token::Name(_)) if is_name(first) => {
                // As many words as stand there side by side.
                let words = self.tokens.iter().enumerate();
                let start =
                    self.tokens[..self.at].iter().rposition(|token| !is_name(token)).map_or(0, |i| i + 1);
                let end =
                    words.skip(self.at).find(|(_, token)| !is_name(token)).map_or(self.at, |(i, _)| i - 1);
                let name = &text[self.tokens[start].span.start..self.tokens[end].span.end];
                format!(
                    ": a name with spaces stands in backquotes, `{name}`; a product is written `{} * {}`",
                    written(first),
                    written(found)
                )
            }
            (Some(first), Token::Name(_) | Token::Number(_) | Token::Symbol("(")) => {
                format!(": a product is written `{} * {}`", written(first), written(found))
            }
            _ => String::new(),
        };
        error(format!("expected an operator or the end of the expression{advice}"), found.span.clone())
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    fn next(&mut self) -> Spanned {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn accept(&mut self, symbol: &'static str) -> bool {
        let found = self.peek() == &Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// The closing bracket; returns its end.
    fn close(&mut self, symbol: &'static str, opened: Range<usize>) -> Result<usize, ExprError> {
        let span = self.span();
        if self.accept(symbol) {
            Ok(span.end)
        } else if self.peek() == &Token::End {
            Err(error(format!("this bracket is not closed: expected `{symbol}`"), opened))
        } else {
            Err(error(format!("expected `,` or `{symbol}`"), span))
        }
    }

    fn expression(&mut self, minimum: u8) -> Result<Ast, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        let depth = self.depth;
        let mut left = self.prefix()?;
        // Whether `left` is a chain of operators that this loop began: one in brackets has a place of its own.
        let mut is_chain = false;
        loop {
            if let Some((op, power, right_minimum)) = binary(self.peek()) {
                if power < minimum {
                    break;
                }
                self.next();
                let right = self.expression(right_minimum)?;
                let span = left.span.start..right.span.end;
                match &mut left.kind {
                    Kind::Operators(_, rest) if is_chain => {
                        rest.push((op, right));
                        left.span = span;
                    }
                    _ => left = Ast { kind: Kind::Operators(Box::new(left), vec![(op, right)]), span },
                }
                is_chain = true;
            } else if relation(self.peek()).is_some() {
                if COMPARE < minimum {
                    break;
                }
                left = self.chain(left)?;
                is_chain = false;
                self.depth += 1;
            } else if matches!(self.peek(), Token::Keyword(Keyword::In | Keyword::Not)) {
                if COMPARE < minimum {
                    break;
                }
                left = self.membership(left)?;
                is_chain = false;
                self.depth += 1;
            } else {
                break;
            }
            if self.depth > MAX_DEPTH {
                return Err(self.too_deep());
            }
        }
        self.depth = depth - 1;
        Ok(left)
    }

    fn too_deep(&self) -> ExprError {
        error(format!("the expression is nested too deeply: more than {MAX_DEPTH} levels"), self.span())
    }

    fn chain(&mut self, first: Ast) -> Result<Ast, ExprError> {
        let (mut parts, mut operators) = (vec![first], Vec::new());
        while let Some(op) = relation(self.peek()) {
            self.next();
            operators.push(op);
            parts.push(self.expression(COMPARE + 1)?);
        }
        let span = parts[0].span.start..parts[parts.len() - 1].span.end;
        Ok(Ast { kind: Kind::Chain(parts, operators), span })
    }

    fn membership(&mut self, needle: Ast) -> Result<Ast, ExprError> {
        let negated = self.peek() == &Token::Keyword(Keyword::Not);
        if negated {
            self.next();
        }
        if self.peek() != &Token::Keyword(Keyword::In) {
            return Err(error("expected `in` after `not`", self.span()));
        }
        self.next();
        let opened = self.span();
        let (closing, is_set) = match self.peek() {
            Token::Symbol("[") => ("]", false),
            Token::Symbol("{") => ("}", true),
            _ => return Err(error("expected a list `[...]` or a set `{...}` after `in`", opened)),
        };
        self.next();
        let mut members = Vec::new();
        while self.peek() != &Token::Symbol(closing) {
            let value = self.expression(COMPARE + 1)?;
            if is_set && self.accept("..") {
                let upper = self.expression(COMPARE + 1)?;
                members.push(Member::Interval(value, upper));
            } else {
                members.push(Member::Value(value));
            }
            if !self.accept(",") {
                break;
            }
        }
        let end = self.close(closing, opened.clone())?;
        if members.is_empty() {
            return Err(error("nothing is in an empty list", opened.start..end));
        }
        let span = needle.span.start..end;
        Ok(Ast { kind: Kind::In(Box::new(needle), members, negated), span })
    }

    fn prefix(&mut self) -> Result<Ast, ExprError> {
        let Spanned { token, span } = self.next();
        let leaf = |kind| Ok(Ast { kind, span: span.clone() });
        match token {
            Token::Number(value) => leaf(Kind::Number(value)),
            Token::Text(text) => leaf(Kind::Text(text)),
            Token::Keyword(Keyword::True) => leaf(Kind::Bool(true)),
            Token::Keyword(Keyword::False) => leaf(Kind::Bool(false)),
            Token::Keyword(Keyword::If) => {
                let opened = self.span();
                if !self.accept("(") {
                    return Err(error("expected `(`: write if(condition, a, b)", opened));
                }
                let (arguments, end) = self.arguments(opened)?;
                let count = arguments.len();
                let whole = span.start..end;
                let parts: [Ast; 3] = arguments.try_into().map_err(|_| {
                    error(
                        format!("if takes a condition and two values, if(condition, a, b), but got {count} arguments"),
                        whole.clone(),
                    )
                })?;
                Ok(Ast { kind: Kind::If(Box::new(parts)), span: whole })
            }
            Token::Keyword(Keyword::Not) => {
                let operand = self.expression(NOT)?;
                let whole = span.start..operand.span.end;
                Ok(Ast { kind: Kind::Not(Box::new(operand)), span: whole })
            }
            Token::Symbol("-") => {
                let operand = self.expression(MINUS)?;
                let whole = span.start..operand.span.end;
                let kind = match operand.kind {
                    Kind::Number(value) => Kind::Number(-value),
                    _ => Kind::Negate(Box::new(operand)),
                };
                Ok(Ast { kind, span: whole })
            }
            Token::Symbol("+") => self.expression(MINUS),
            Token::Symbol("(") => {
                let (mut parts, end) = self.arguments(span.clone())?;
                let whole = span.start..end;
                match parts.len() {
                    0 => Err(error("nothing stands between these brackets", whole)),
                    1 => Ok(Ast { kind: parts.swap_remove(0).kind, span: whole }),
                    _ => Ok(Ast { kind: Kind::Tuple(parts), span: whole }),
                }
            }
            Token::Name(name) => {
                let opened = self.span();
                if opened.start == span.end && self.accept("(") {
                    let (arguments, end) = self.arguments(opened)?;
                    return Ok(Ast { kind: Kind::Call(name, arguments), span: span.start..end });
                }
                // Inside a set `{...}` both ends may be names too, but there the dots follow a value.
                if self.peek() == &Token::Symbol("..")
                    && matches!(self.tokens[self.at + 1].token, Token::Name(_))
                {
                    self.next();
                    let last = self.next();
                    let Token::Name(last_name) = last.token else { unreachable!("a name follows the dots") };
                    let whole = span.start..last.span.end;
                    let names = expand(&name, &last_name).map_err(|m| error(m, whole.clone()))?;
                    return Ok(Ast { kind: Kind::Names(names), span: whole });
                }
                leaf(Kind::Name(name))
            }
            Token::End => Err(error("the expression ends where a value was expected", span)),
            Token::Symbol("[" | "{") => Err(error("a list or set stands only after `in`", span)),
            Token::Keyword(_) | Token::Symbol(_) => Err(error("expected a value here", span)),
        }
    }

    /// Arguments after the opening bracket, up to and with the closing one.
    fn arguments(&mut self, opened: Range<usize>) -> Result<(Vec<Ast>, usize), ExprError> {
        let mut arguments = Vec::new();
        while self.peek() != &Token::Symbol(")") {
            arguments.push(self.expression(0)?);
            if !self.accept(",") {
                break;
            }
        }
        let end = self.close(")", opened)?;
        Ok((arguments, end))
    }
}

/// `w1..w8`: the names between, by their trailing number (leading zeros kept: `w01..w12`).
fn expand(first: &str, last: &str) -> Result<Vec<String>, String> {
    let split = |name: &str| {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(name.len() - digits);
        Some((stem.to_owned(), number.len(), number.parse::<u64>().ok()?))
    };
    let (Some((stem, width, from)), Some((last_stem, _, to))) = (split(first), split(last)) else {
        return Err(format!(
            "a range of names needs a number at the end of both, as in `w1..w8`, not `{first}..{last}`"
        ));
    };
    if stem != last_stem {
        return Err(format!("`{first}` and `{last}` differ in more than their number"));
    }
    if from > to || to - from >= MAX_NAMES {
        return Err(format!("the range `{first}..{last}` is empty or too long"));
    }
    let padded =
        first.ends_with(&format!("{from:0width$}")) && first[stem.len()..].starts_with('0') && width > 1;
    Ok((from..=to)
        .map(|k| if padded { format!("{stem}{k:0width$}") } else { format!("{stem}{k}") })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::super::ast::{Ast, Kind, Member};
    use super::{expand, parse};

    /// Fully bracketed text of a tree.
    fn show(ast: &Ast) -> String {
        let join = |parts: &[Ast]| parts.iter().map(show).collect::<Vec<_>>().join(" ");
        match &ast.kind {
            Kind::Number(v) => v.to_string(),
            Kind::Bool(v) => v.to_string(),
            Kind::Text(t) => format!("'{t}'"),
            Kind::Name(n) => n.clone(),
            Kind::Names(n) => n.join(".."),
            Kind::Negate(a) => format!("(neg {})", show(a)),
            Kind::Not(a) => format!("(not {})", show(a)),
            Kind::Operators(a, rest) => {
                rest.iter().fold(show(a), |left, (op, b)| format!("({op:?} {left} {})", show(b)))
            }
            Kind::Chain(parts, ops) => format!("({ops:?} {})", join(parts)),
            Kind::In(a, members, negated) => {
                let members = members.iter().map(|m| match m {
                    Member::Value(v) => show(v),
                    Member::Interval(l, u) => format!("{}..{}", show(l), show(u)),
                });
                format!(
                    "(in{} {}: {})",
                    if *negated { " not" } else { "" },
                    show(a),
                    members.collect::<Vec<_>>().join(" ")
                )
            }
            Kind::Tuple(parts) => format!("({})", join(parts)),
            Kind::Call(name, parts) => format!("({name} {})", join(parts)),
            Kind::If(parts) => format!("(if {})", join(parts.as_slice())),
        }
    }

    #[test]
    fn precedence_is_the_documented_one() {
        for (text, expected) in [
            ("a + b * c ^ d", "(Add a (Multiply b (Power c d)))"),
            ("-a ^ 2", "(neg (Power a 2))"),
            ("-2 ^ 2", "(neg (Power 2 2))"),
            ("2 ^ -1 ^ 2", "(Power 2 (neg (Power 1 2)))"),
            ("a - b - c", "(Subtract (Subtract a b) c)"),
            ("a / b * c", "(Multiply (Divide a b) c)"),
            ("-a * b", "(Multiply (neg a) b)"),
            ("not a <= 1 and b > 2", "(And (not ([LessEqual] a 1)) ([Greater] b 2))"),
            (
                "a < 1 implies b < 1 implies c < 1",
                "(Implies ([Less] a 1) (Implies ([Less] b 1) ([Less] c 1)))",
            ),
            ("a == 1 or b == 1 and c == 1", "(Or ([Equal] a 1) (And ([Equal] b 1) ([Equal] c 1)))"),
            ("0 <= a + 1 < 1", "([LessEqual, Less] 0 (Add a 1) 1)"),
            ("w in {0, 0.1..0.7}", "(in w: 0 0.1..0.7)"),
            ("h not in ['a', 'b']", "(in not h: 'a' 'b')"),
            ("(a, b) in [(1, 'x'), (2, 'y')]", "(in (a b): (1 'x') (2 'y'))"),
            ("sum(w1..w3) == if(a > 0, 1, 2)", "([Equal] (sum w1..w2..w3) (if ([Greater] a 0) 1 2))"),
            ("`flow rate` * 2", "(Multiply flow rate 2)"),
            ("+a - +b", "(Subtract a b)"),
        ] {
            assert_eq!(show(&parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn syntax_errors_point_at_the_character() {
        for (text, span) in [
            ("", 0..0),
            ("a + ", 4..4),
            ("(a + b", 0..1),
            ("a + b)", 5..6),
            ("a b", 2..3),
            ("if(a, b)", 0..8),
            ("a in 3", 5..6),
            ("a in []", 5..7),
            ("[1, 2]", 0..1),
            ("min(a; b)", 5..6),
            ("a <= <= b", 5..7),
            ("sum(w1..v3)", 4..10),
            ("sum(w3..w1)", 4..10),
            ("()", 0..2),
        ] {
            assert_eq!(parse(text).unwrap_err().span, span, "{text}");
        }
        let deep = "(".repeat(5_000) + "a" + &")".repeat(5_000);
        assert!(parse(&deep).is_err());
    }

    #[test]
    fn what_was_probably_meant_is_said() {
        for (text, advice) in [
            ("flow rate <= 2", "in backquotes, `flow rate`; a product is written `flow * rate`"),
            ("2 + mass flow rate <= 2", "`mass flow rate`"),
            ("3 y <= 2", "a product is written `3 * y`"),
            ("2 (x + 1) <= 2", "a product is written `2 * (`"),
            ("(x + 1) y <= 2", "a product is written `) * y`"),
            ("log10 x <= 2", "in brackets, `log10(x)`"),
            ("1 + ln 3 <= 2", "in brackets, `ln(3)`"),
            ("x <= 1,5", "decimals are written with a point, 1.5"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(advice), "{text}: {}", error.message);
        }
        assert_eq!(
            parse("x <= 1, y").unwrap_err().message,
            "expected an operator or the end of the expression"
        );
    }

    #[test]
    fn ranges_of_names_keep_leading_zeros() {
        assert_eq!(expand("w8", "w11").unwrap(), ["w8", "w9", "w10", "w11"]);
        assert_eq!(expand("w08", "w10").unwrap(), ["w08", "w09", "w10"]);
        assert_eq!(expand("w 1", "w 2").unwrap(), ["w 1", "w 2"]);
        assert!(expand("w", "w3").is_err());
    }
}
