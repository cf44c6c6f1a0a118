//! Work memory that calls share, so that a steady stream of small calls does not allocate it anew.

use std::sync::{Mutex, PoisonError};

use crate::Constraints;
use crate::search::Workspace;

/// Idle workspaces of one constraint set.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Workspace>>);

impl Clone for Pool {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Pool {
    /// Runs `f` with a workspace of its own.
    pub(crate) fn with<T>(&self, set: &Constraints, f: impl FnOnce(&mut Workspace) -> T) -> T {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let mut work = free.unwrap_or_else(|| Workspace::new(&set.model, &set.domains));
        let result = f(&mut work);
        idle().push(work);
        result
    }
}
