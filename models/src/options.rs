//! Choices that a model file leaves open.

use crate::error::ModelError;

/// Choices that a file leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Which class of a model with several is meant, from 0. The prediction is then that class's raw score (its probability where classes are
    /// independent of each other).
    pub class: Option<usize>,
}

impl ReadOptions {
    /// Chooses a class.
    #[must_use]
    pub fn with_class(mut self, class: usize) -> Self {
        self.class = Some(class);
        self
    }

    /// The class to read of `n`; 0 when there is one.
    pub(crate) fn class_of(&self, n: usize) -> Result<usize, ModelError> {
        match self.class {
            None if n <= 1 => Ok(0),
            None => Err(ModelError::unsupported(
                format!("a model of {n} classes (or targets)"),
                "its prediction is a list of numbers; choose one class to optimise",
            )),
            Some(class) if class < n.max(1) => Ok(class),
            Some(class) => Err(ModelError::unsupported(
                format!("class {class}"),
                format!("the model has {n} (numbered from 0)"),
            )),
        }
    }
}
