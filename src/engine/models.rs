//! The models of a batch: each is fitted when it is needed first, and only conditioned on the pending points after that.

use super::error::EngineError;
use super::smooth_surrogate::SmoothSurrogate;
use super::surrogate::Surrogate;
use super::training::TrainingSet;
use crate::problem::Problem;

/// The two models of a problem, each fitted at most once.
pub(super) struct Models<'a> {
    pub(super) problem: &'a Problem,
    pub(super) trees: Slot<Surrogate>,
    pub(super) smooth: Slot<SmoothSurrogate>,
}

/// A model, once it was needed.
pub(super) struct Slot<T>(Option<T>);

impl<'a> Models<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        Self { problem, trees: Slot(None), smooth: Slot(None) }
    }
}

impl Slot<Surrogate> {
    /// The trees' model, with the pending points of this moment.
    pub(super) fn fitted(
        &mut self,
        problem: &Problem,
        training: TrainingSet,
    ) -> Result<&Surrogate, EngineError> {
        let surrogate = match self.0.take() {
            Some(surrogate) => surrogate.with_pending(training.pending)?,
            None => Surrogate::fit(problem, training)?,
        };
        Ok(self.0.insert(surrogate))
    }
}

impl Slot<SmoothSurrogate> {
    /// The smooth process, with the pending points of this moment.
    pub(super) fn fitted(
        &mut self,
        problem: &Problem,
        training: &TrainingSet,
    ) -> Result<&SmoothSurrogate, EngineError> {
        let smooth = match self.0.take() {
            Some(smooth) => smooth.with_pending(&training.pending)?,
            None => SmoothSurrogate::fit(problem, training)?,
        };
        Ok(self.0.insert(smooth))
    }
}
