//! Work memory that calls share, so that a steady stream of small calls does not allocate it anew.

use std::sync::{Mutex, PoisonError};

/// Idle workspaces of one constraint set. A copy of the set starts with none.
#[derive(Debug)]
pub(crate) struct Pool<W>(Mutex<Vec<W>>);

impl<W> Default for Pool<W> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<W> Clone for Pool<W> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<W> Pool<W> {
    /// Runs `f` with a workspace of its own, made when none is idle.
    pub(crate) fn with<T>(&self, make: impl FnOnce() -> W, f: impl FnOnce(&mut W) -> T) -> T {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut work = free.unwrap_or_else(make);
        let result = f(&mut work);
        idle().push(work);
        result
    }
}
