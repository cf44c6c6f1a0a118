//! The history that belongs to a command: where it is, whether it can be meant.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::args::HistoryArgs;
use super::failure::Failure;
use super::output::Output;
use leafgp::history::{History, HistoryError, HistoryFile, Outcome, Row};
use leafgp::problem::reading::hint;
use leafgp::problem::{Problem, format_number};

/// Where the history is: as given, else beside the problem file under its name with `.csv`.
pub(super) fn history_file(args: &HistoryArgs, problem_file: &Path) -> Result<HistoryFile, Failure> {
    let path = args.history.clone().unwrap_or_else(|| problem_file.with_extension("csv"));
    if is_same(&path, problem_file) {
        let message = format!(
            "{}: the history cannot be the problem file itself; give it with --history",
            path.display()
        );
        return Err(Failure::Input(message));
    }
    Ok(HistoryFile::new(path))
}

/// Refuses to write over a file that the command reads.
pub(super) fn refuse_input(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    if inputs.iter().any(|input| is_same(output, input)) {
        let message = format!("{}: the command reads this file; write to another one", output.display());
        return Err(Failure::Input(message));
    }
    Ok(())
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| -> PathBuf { std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) };
    real(a) == real(b)
}

/// Reads the history, from stdin where the file is `-`; its warnings go to stderr.
pub(super) fn read_history(
    file: &HistoryFile,
    problem: &Problem,
    output: &mut Output,
) -> Result<History, Failure> {
    let history = if file.path() == Path::new("-") { from_stdin(problem)? } else { file.read(problem)? };
    for warning in &history.warnings {
        output.warning(&format!("{}: {warning}", file.path().display()));
    }
    Ok(history)
}

fn from_stdin(problem: &Problem) -> Result<History, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| Failure::Input(format!("-: standard input cannot be read: {e}")))?;
    let history = History::from_bytes(&bytes, problem);
    history.map_err(|e: HistoryError| Failure::input(e.in_file("-")))
}

impl HistoryArgs {
    /// True when the history comes from standard input.
    pub(super) fn is_stdin(&self) -> bool {
        self.history.as_deref() == Some(Path::new("-"))
    }

    /// Refuses a file that was named but is not there: most likely the name is misspelt. The default one may be missing.
    pub(super) fn check_exists(&self, file: &HistoryFile) -> Result<(), Failure> {
        if self.history.is_none() || self.is_stdin() || file.path().exists() {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{}: there is no such file{}; expected the history (CSV; an empty file is an empty history)",
            file.path().display(),
            similar_name(file.path()),
        )))
    }

    /// Refuses a name that is not there but nearly is: for `run`, which may begin a new table.
    pub(super) fn check_name(&self, file: &HistoryFile) -> Result<(), Failure> {
        if file.path().exists() || similar_name(file.path()).is_empty() {
            Ok(())
        } else {
            self.check_exists(file)
        }
    }

    /// Refuses standard input where results must be written back.
    pub(super) fn check_writable(&self) -> Result<(), Failure> {
        if self.is_stdin() {
            let message = "-: results cannot be written to standard input; give a file with --history";
            return Err(Failure::Input(message.to_owned()));
        }
        Ok(())
    }

    /// Refuses a history of which every measured row lies outside: a model of it would say nothing about the bounds.
    pub(super) fn check_bounds(
        &self,
        file: &HistoryFile,
        problem: &Problem,
        history: &History,
    ) -> Result<(), Failure> {
        match all_outside(problem, history) {
            Some(message) if !self.accept_outside => Err(Failure::Input(format!(
                "{}: {message}; correct them, or go on with --accept-outside",
                file.path().display()
            ))),
            _ => Ok(()),
        }
    }
}

/// What to say when there are measured rows (two at least), and all of them lie outside the variables' bounds.
pub(super) fn all_outside(problem: &Problem, history: &History) -> Option<String> {
    let measured: Vec<&Row> =
        history.rows.iter().filter(|row| matches!(row.outcome, Outcome::Done(_))).collect();
    let is_outside = |i: usize, row: &Row| {
        let (lower, upper) = problem.domains()[i].bounds();
        row.out_of_domain && !(lower..=upper).contains(&row.point[i])
    };
    let variables = 0..problem.variables().len();
    if measured.len() < 2 || !measured.iter().all(|row| variables.clone().any(|i| is_outside(i, row))) {
        return None;
    }
    let ranges = variables.filter(|&i| measured.iter().any(|row| is_outside(i, row))).map(|i| {
        let values = || measured.iter().map(|row| row.point[i]);
        let (least, most) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let (lower, upper) = problem.domains()[i].bounds();
        let number = format_number;
        format!(
            "{} from {} to {} (bounds [{}, {}])",
            problem.variables()[i].name,
            number(least),
            number(most),
            number(lower),
            number(upper)
        )
    });
    let ranges: Vec<String> = ranges.collect();
    Some(format!(
        "all {} measured rows lie outside the bounds (another unit?): {}",
        measured.len(),
        ranges.join(", ")
    ))
}

/// A file of nearly the same name beside `path`, as a hint. Names that differ in digits alone are a series, not a slip.
fn similar_name(path: &Path) -> String {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let without_digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let Some(wanted) = stem(path) else { return String::new() };
    let files = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
    // The same ending: a problem file is no history.
    let mut stems: Vec<String> =
        files.filter(|file| file.extension() == path.extension()).filter_map(|file| stem(&file)).collect();
    stems.retain(|stem| without_digits(stem) != without_digits(&wanted));
    stems.sort();
    hint(&wanted, stems.iter().map(String::as_str))
}
