//! The models of a batch: each is fitted when it is needed first, and only conditioned on the pending points after that.

use leafgp_solver::constraints::Limits;

use super::error::EngineError;
use super::fitted_trees::{FittedTrees, Memory};
use super::smooth_surrogate::SmoothSurrogate;
use super::surrogate::Surrogate;
use super::training::TrainingSet;
use crate::problem::Problem;

/// The two models of a problem, each fitted at most once.
pub(super) struct Models<'a> {
    pub(super) problem: &'a Problem,
    /// Of the time of the suggestion at hand.
    pub(super) limits: Limits,
    pub(super) trees: Slot<Surrogate>,
    pub(super) smooth: Slot<SmoothSurrogate>,
    pub(super) memory: Memory,
}

/// A model, once it was needed.
pub(super) struct Slot<T>(Option<T>);

impl<'a> Models<'a> {
    /// The trees fitted last are not fitted again, if they are the ones needed; those that are fitted are kept in the memory.
    pub(super) fn new(problem: &'a Problem, memory: Memory) -> Self {
        Self { problem, limits: Limits::default(), trees: Slot(None), smooth: Slot(None), memory }
    }

    /// The trees' model, with the pending points of this moment.
    pub(super) fn trees(&mut self, training: TrainingSet) -> Result<&Surrogate, EngineError> {
        self.trees.fitted(self.problem, training, &self.limits, &self.memory)
    }
}

impl Slot<Surrogate> {
    /// The trees' model, with the pending points of this moment.
    pub(super) fn fitted(
        &mut self,
        problem: &Problem,
        mut training: TrainingSet,
        limits: &Limits,
        memory: &Memory,
    ) -> Result<&Surrogate, EngineError> {
        let pending = std::mem::take(&mut training.pending);
        let surrogate = match self.0.take() {
            Some(surrogate) => surrogate,
            None => {
                // Trees for which there was no time are fitted when there is.
                let known = memory.recall(problem, &training).filter(|known| !known.is_cut);
                let fitted = match known {
                    Some(known) => known,
                    None => FittedTrees::new(problem, &training, !pending.is_empty(), limits)?,
                };
                memory.keep(problem, &training, &fitted);
                Surrogate::of_fitted(problem, training, fitted)
            }
        };
        Ok(self.0.insert(surrogate.with_pending(pending, limits)?))
    }
}

impl Slot<SmoothSurrogate> {
    /// The smooth process, with the pending points of this moment.
    pub(super) fn fitted(
        &mut self,
        problem: &Problem,
        training: &TrainingSet,
        limits: &Limits,
    ) -> Result<&SmoothSurrogate, EngineError> {
        let smooth = match self.0.take() {
            Some(smooth) => smooth.with_pending(&training.pending)?,
            None => SmoothSurrogate::fit(problem, training, limits)?,
        };
        Ok(self.0.insert(smooth))
    }
}
