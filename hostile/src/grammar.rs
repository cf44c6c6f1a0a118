//! Expressions out of bytes: each byte is a choice of the grammar, so that most bytes make something that is read.

/// Depth from which on only names and numbers follow.
const DEEPEST: u32 = 5;

/// Bytes as a list of choices; zeros when they are used up.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl Choices<'_> {
    fn one_of<const N: usize>(&mut self, words: [&'static str; N]) -> &'static str {
        words[self.next() as usize % N]
    }

    fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// True when nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A condition in the language of problem files.
    pub(crate) fn condition(&mut self, depth: u32) -> String {
        let next = depth + 1;
        let kind = if depth >= DEEPEST { self.next() % 4 } else { self.next() % 14 };
        match kind {
            0..4 => {
                let comparison = self.one_of(["<=", ">=", "==", "<", ">", "!="]);
                format!("{} {comparison} {}", self.number(next), self.number(next))
            }
            4 => format!("c == {}", self.one_of(["'a'", "'b'", "'6'", "d"])),
            5 => format!("c {} ['a', '6']", self.one_of(["in", "not in"])),
            6 => format!("{} in {{{}, -1..0.5}}", self.number(next), self.literal()),
            7 => format!("not ({})", self.condition(next)),
            8 => format!("{} <= {} < {}", self.number(next), self.number(next), self.number(next)),
            9 => format!("(c, n) in [('a', 1), ('b', {})]", self.literal()),
            10 => {
                format!("{}({}, {})", self.one_of(["all", "any"]), self.condition(next), self.condition(next))
            }
            _ => {
                let word = self.one_of(["and", "or", "implies", "iff"]);
                format!("({}) {word} ({})", self.condition(next), self.condition(next))
            }
        }
    }

    /// A number in it.
    fn number(&mut self, depth: u32) -> String {
        let next = depth + 1;
        let kind = if depth >= DEEPEST { self.next() % 4 } else { self.next() % 14 };
        match kind {
            0..3 => self.one_of(["x", "y", "n", "g", "s"]).to_owned(),
            3 => self.literal().to_owned(),
            4 => {
                let name = self.one_of(["abs", "sqrt", "exp", "log", "log10", "floor", "ceil"]);
                format!("{name}({})", self.number(next))
            }
            5 => format!(
                "{}({}, {})",
                self.one_of(["min", "max", "sum"]),
                self.number(next),
                self.number(next)
            ),
            6 => format!("({}) ^ {}", self.number(next), self.one_of(["2", "3", "0.5", "-1", "7", "0"])),
            7 => format!("if({}, {}, {})", self.condition(next), self.number(next), self.number(next)),
            8 => format!("count({}, {})", self.condition(next), self.condition(next)),
            9 => format!("-({})", self.number(next)),
            10 => format!("{} ^ {}", self.one_of(["2", "0.5", "10"]), self.one_of(["x", "n", "g"])),
            _ => format!(
                "({}) {} ({})",
                self.number(next),
                self.one_of(["+", "-", "*", "/"]),
                self.number(next)
            ),
        }
    }

    fn literal(&mut self) -> &'static str {
        self.one_of(["0", "1", "2", "-3", "0.1", "0.30000000000000004", "7.5", "1e-9", "1e6", "1e100", "100"])
    }
}
