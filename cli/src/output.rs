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
        let _ = writeln!(io::stderr(), "{label}{message}");
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

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}
