//! How long a question may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Limits of a decision or projection. With nodes alone, the answer is the same on every machine.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use leafgp_constraints::Limits;
///
/// let patient = Limits { nodes: 1_000_000, ..Limits::default() };
/// let hurried = Limits { deadline: Some(Instant::now() + Duration::from_secs(5)), ..patient };
/// assert!(!hurried.must_stop());
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest number of search nodes.
    pub nodes: usize,
    /// When to stop at the latest.
    pub deadline: Option<Instant>,
    /// Ends the work soon after it becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// True when the clock or the user asks to stop.
    pub fn must_stop(&self) -> bool {
        self.is_interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// True once the user has asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 10_000, deadline: None, interrupt: None }
    }
}
