//! What is legal in a history but should be known.

use super::{Outcome, Row};

/// Rows that need a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) inactive: Vec<usize>,
    pub(super) finished: Vec<usize>,
    outside: Vec<usize>,
    pending_outside: Vec<usize>,
}

impl Notes {
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
        lists
            .into_iter()
            .filter(|(numbers, _)| !numbers.is_empty())
            .map(|(numbers, what)| format!("{}: {what}", named(numbers, rows)))
            .collect()
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
