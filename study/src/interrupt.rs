//! The flag by which a user stops a study.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True once the user has asked to stop; never without a flag.
pub(crate) fn is_raised(flag: Option<&Arc<AtomicBool>>) -> bool {
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}
