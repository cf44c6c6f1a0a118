//! What a report is asked to show, and what it covers.

/// What a report covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSummary {
    /// Complete runs, which the report is about.
    pub complete: usize,
    /// All runs of the study.
    pub planned: usize,
}

/// What a report shows beside the usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// The times of steps, the only part that differs when the same study is made again.
    pub with_times: bool,
    /// A method to which every other one is compared.
    pub baseline: Option<String>,
}
