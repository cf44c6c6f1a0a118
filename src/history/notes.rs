//! What is legal in a history but should be known.

use super::{Outcome, Row};
use crate::problem::{Problem, Variable};

/// Rows that need a word.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    /// Sentences about the whole table.
    general: Vec<String>,
    /// Of each variable with a default: its name, whether a row had a value yet, later rows that had none.
    defaults: Vec<Option<Filled>>,
    pub(super) inactive: Vec<usize>,
    pub(super) finished: Vec<usize>,
    outside: Vec<usize>,
    pending_outside: Vec<usize>,
}

/// What a table says of a variable with a default.
#[derive(Clone, Debug)]
struct Filled {
    name: String,
    default: String,
    /// Whether a row had a value yet.
    has_begun: bool,
    /// Later rows that had none.
    empty_since: Vec<usize>,
}

impl Notes {
    pub(super) fn new(general: Vec<String>, problem: &Problem) -> Self {
        let filled = |variable: &Variable| {
            let default = variable.format_value(variable.default?);
            Some(Filled { name: variable.name.clone(), default, has_begun: false, empty_since: Vec::new() })
        };
        Self {
            general,
            defaults: problem.variables().iter().map(filled).collect(),
            inactive: Vec::new(),
            finished: Vec::new(),
            outside: Vec::new(),
            pending_outside: Vec::new(),
        }
    }

    /// A cell of a variable. Where rows before have a value, an empty one may be forgotten.
    pub(super) fn see(&mut self, variable: usize, row: usize, is_empty: bool) {
        if let Some(filled) = &mut self.defaults[variable] {
            filled.has_begun |= !is_empty;
            if filled.has_begun && is_empty {
                filled.empty_since.push(row);
            }
        }
    }

    pub(super) fn judge(&mut self, rows: &[Row]) {
        for (i, row) in rows.iter().enumerate() {
            if row.out_of_domain || row.violates {
                let list = if row.outcome == Outcome::Pending {
                    &mut self.pending_outside
                } else {
                    &mut self.outside
                };
                list.push(i + 1);
            }
        }
    }

    pub(super) fn warnings(&self, rows: &[Row]) -> Vec<String> {
        let lists = [
            (
                &self.outside,
                "outside the variables' values or the constraints: used for training, never reported as best",
            ),
            (&self.pending_outside, "pending although outside the variables' values or the constraints"),
            (
                &self.inactive,
                "values of inactive variables: taken as their inactive value, the file stays as it is",
            ),
            (&self.finished, "status pending beside a value: taken as done"),
        ];
        let of_rows = lists
            .into_iter()
            .filter(|(numbers, _)| !numbers.is_empty())
            .map(|(numbers, what)| format!("{}: {what}", named(numbers, rows)));
        let forgotten = self.defaults.iter().flatten().filter(|filled| !filled.empty_since.is_empty());
        let forgotten = forgotten.map(|Filled { name, default, empty_since, .. }| {
            format!(
                "{}: {name} is empty although it was filled in before: taken as its default, {default}",
                named(empty_since, rows)
            )
        });
        self.general.iter().cloned().chain(of_rows).chain(forgotten).collect()
    }
}

/// "rows 2, 7 (lines 3, 8)".
fn named(numbers: &[usize], rows: &[Row]) -> String {
    const SHOWN: usize = 10;
    let list = |items: Vec<usize>| {
        let shown: Vec<String> = items.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = items.len().saturating_sub(SHOWN);
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{tail}", shown.join(", "))
    };
    let plural = if numbers.len() == 1 { "" } else { "s" };
    let lines = numbers.iter().map(|&n| rows[n - 1].line).collect();
    format!("row{plural} {} (line{plural} {})", list(numbers.to_vec()), list(lines))
}
