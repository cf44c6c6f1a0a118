//! Limits and settings of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::SearchError;
use super::report::Progress;

/// A function called with the state of the search, from the thread that coordinates it.
#[derive(Clone)]
pub struct ProgressCallback(pub Arc<dyn Fn(&Progress) + Send + Sync>);

impl std::fmt::Debug for ProgressCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressCallback")
    }
}

/// When a search stops and how it runs. The answer does not depend on `threads`; without a clock limit or interrupt it is reproducible.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchOptions {
    /// Relative gap `(objective - bound) / max(|objective|, 1e-9)` at which an incumbent counts as optimal; in `[0, 1]` (beyond 1 a better
    /// incumbent would let less be cut off), default 1e-4.
    pub gap: f64,
    /// Absolute gap `objective - bound` at which an incumbent counts as optimal; `>= 0`, default 1e-9.
    pub absolute_gap: f64,
    /// Wall-clock limit; `None` (default) for no limit. At least the first of the start heuristics runs.
    pub time_limit: Option<Duration>,
    /// Largest number of nodes; `None` (default) for no limit. Checked after each round of subtrees, so a round may exceed it.
    pub node_limit: Option<u64>,
    /// Number of threads, `>= 1`; default 1.
    pub threads: usize,
    /// Seed of the start heuristics; default 0.
    pub seed: u64,
    /// How many distinct cells (leaf combinations) to find, best first, `>= 1`; default 1.
    pub k_best: usize,
    /// Points to start from, for instance the data: coordinates are moved to the nearest allowed values. Default none.
    pub start_points: Vec<Vec<f64>>,
    /// Only cells below this value matter: boxes that hold none are left out of the proof, and with none below it the answer is
    /// [`Status::Unknown`](super::Status::Unknown) with a bound that is not below it. Infinity (default) for no such limit.
    pub objective_cutoff: f64,
    /// Look for good cells by local search, at the start and now and then at nodes; default true. Without it incumbents come from start points
    /// and from the tree itself, which is of use in tests of the proof.
    pub local_search: bool,
    /// Stops the search soon after it becomes true; default none.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Called after the start heuristics and after each round; default none.
    pub progress: Option<ProgressCallback>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            gap: 1e-4,
            absolute_gap: 1e-9,
            time_limit: None,
            node_limit: None,
            threads: 1,
            seed: 0,
            k_best: 1,
            start_points: Vec::new(),
            objective_cutoff: f64::INFINITY,
            local_search: true,
            interrupt: None,
            progress: None,
        }
    }
}

impl SearchOptions {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn validate(&self) -> Result<(), SearchError> {
        let refuse = |message: String| Err(SearchError::Options(message));
        if !(0.0..=1.0).contains(&self.gap) {
            return refuse(format!("gap {} must be a number in [0, 1]", self.gap));
        }
        if !(self.absolute_gap >= 0.0 && self.absolute_gap < f64::INFINITY) {
            return refuse(format!("absolute_gap {} must be a finite number >= 0", self.absolute_gap));
        }
        if self.objective_cutoff.is_nan() {
            return refuse("objective_cutoff must not be NaN".into());
        }
        if self.threads == 0 {
            return refuse("threads must be at least 1".into());
        }
        if self.k_best == 0 {
            return refuse("k_best must be at least 1".into());
        }
        Ok(())
    }

    /// True when the user asked to stop.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The value below which a cell must lie to matter once `objective` is known: anything at or above it is within the gap.
    pub(crate) fn cutoff(&self, objective: f64) -> f64 {
        let within_gap = if objective.is_finite() {
            // A hair inside the allowed gap, so that the reported gap (rounded) still is within it.
            objective - (self.gap * objective.abs().max(1e-9)).max(self.absolute_gap) * (1.0 - 1e-9)
        } else {
            objective
        };
        within_gap.min(self.objective_cutoff)
    }
}
