//! What a caller may want of a proposal besides the answer: to stop it, and to watch it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leafgp_solver::search::ProgressCallback;

/// What the caller of a proposal may want besides the answer.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Set it to stop the search early; the best point so far is the answer.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Called with the search's incumbent, bound and gap.
    pub progress: Option<ProgressCallback>,
    /// Whether a suggestion found by local searches shall say how far the trees' bound at its point is above the proved minimum
    /// ([`Chosen::tree_excess`](super::Chosen)). It changes no point and costs a fit of the trees and a search of a few hundred nodes. Default false.
    pub tree_excess: bool,
}

impl Context {
    /// True once the user has asked to stop.
    pub fn is_interrupted(&self) -> bool {
        interrupted(self.interrupt.as_deref())
    }
}

/// True once the flag, if there is one, is raised.
pub fn interrupted(flag: Option<&AtomicBool>) -> bool {
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}
