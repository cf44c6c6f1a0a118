//! Results on stdout, messages on stderr.

use std::io::{self, BufWriter, Stdout, Write};

use super::failure::Failure;

/// Both streams of a command. Writing to it writes results to stdout.
#[derive(Debug)]
pub(super) struct Output {
    stdout: BufWriter<Stdout>,
    quiet: bool,
}

impl Output {
    pub(super) fn new(quiet: bool) -> Self {
        Self { stdout: BufWriter::new(io::stdout()), quiet }
    }

    /// True with `--quiet`.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A line about what is being done; not with `--quiet`.
    pub(super) fn note(&mut self, message: &str) {
        if !self.quiet {
            self.message("", message);
        }
    }

    /// Something the user should know.
    pub(super) fn warning(&mut self, message: &str) {
        self.message("warning: ", message);
    }

    /// Why there is no result.
    pub(super) fn error(&mut self, message: &str) {
        self.message("error: ", message);
    }

    fn message(&mut self, label: &str, message: &str) {
        // Results written so far come first on a terminal. Nobody can be told that stderr is closed.
        let _ = self.stdout.flush();
        let _ = writeln!(io::stderr(), "{label}{}", presentable(message));
    }

    /// One JSON value on stdout, over several lines.
    pub(super) fn json(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        writeln!(self, "{value:#}")?;
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.stdout.flush()?)
    }
}

/// Before the rows that could not be saved: they are never cut.
const UNSAVED: &str = "\nnot saved:\n";
/// Length of a line, in characters, beyond which its middle is left out, and what stays at each end.
const LONG: usize = 4000;
const SHOWN: usize = 1000;

/// A message as it may reach a terminal: what it quotes from files and programs may be long, or hold control characters.
fn presentable(message: &str) -> String {
    let (said, unsaved) = message.find(UNSAVED).map_or((message, ""), |at| message.split_at(at));
    let lines: Vec<String> = said.split('\n').map(shortened).collect();
    let visible = |c: char| if c.is_control() && !matches!(c, '\n' | '\t' | '\r') { '\u{fffd}' } else { c };
    (lines.join("\n") + unsaved).chars().map(visible).collect()
}

/// The ends of a long line.
fn shortened(line: &str) -> String {
    let n = line.chars().count();
    if n <= LONG {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN).collect();
    let end: String = line.chars().skip(n - SHOWN).collect();
    format!("{start} [... {} characters ...] {end}", n - 2 * SHOWN)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::presentable;

    #[test]
    fn long_quotations_and_control_characters_do_not_reach_the_terminal_and_unsaved_rows_stay_whole() {
        let long = "é".repeat(1_000_000);
        let shown = presentable(&format!("p.csv:3: {long} is no number; expected a number"));
        assert!(shown.chars().count() < 2100, "{}", shown.len());
        assert!(shown.starts_with("p.csv:3: éé") && shown.ends_with("expected a number"));
        assert_eq!(presentable("a\u{1b}[31mb\u{7}\nc\td"), "a\u{fffd}[31mb\u{fffd}\nc\td");
        let rows = format!("full\nnot saved:\nx\n{}", "1,".repeat(50_000));
        assert_eq!(presentable(&rows), rows);
    }
}
