//! The closed loop: ask, evaluate, tell.

use std::time::Instant;

use crate::history::Outcome;

use super::context::Context;
use super::evaluate::{Evaluate, Evaluation};
use super::promise::Promise;
use super::request::Request;
use super::suggestion::Suggestion;
use super::{EngineError, Optimizer};

/// How long a loop goes on.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Evaluations beyond the first design.
    pub iterations: usize,
    /// Experiments side by side; each counts as pending for the others.
    pub parallel: usize,
    /// Stop after this many failures one after the other; `None` for going on whatever fails.
    pub failures_in_a_row: Option<usize>,
    /// Stop as soon as no feasible setting promises to be better than the best value by more than this, in the objective's units ([`Optimizer::promise`]); `None` for going on.
    pub until_gain: Option<f64>,
    /// What every suggestion must be like. What is left to gain is asked of the settings with the values that it fixes.
    pub request: Request,
    /// Interrupt and progress.
    pub context: Context,
}

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ended {
    /// All evaluations were made.
    Complete,
    /// [`RunSettings::until_gain`]: what is left to gain is proved to be too little.
    NoMoreGain(Promise),
    /// The user wanted it to.
    Interrupted,
}

/// One finished evaluation.
#[derive(Clone, Debug)]
pub struct Step {
    /// Number of the evaluation in this run, from 1.
    pub number: usize,
    /// What was tried.
    pub suggestion: Suggestion,
    /// What came of it.
    pub outcome: Outcome,
    /// Why there is no value, for a failed one.
    pub failure: Option<String>,
    /// Seconds spent on the suggestion.
    pub seconds: f64,
}

/// What decides the points of a loop, and keeps what comes of them: memory alone, or a file that others write to as well.
pub trait Ledger {
    /// Why it may stop the loop.
    type Error: From<EngineError>;

    /// The next experiments, at most `n` and at least one, by the settings' request.
    ///
    /// # Errors
    /// What [`Optimizer::ask_for`] gives, or the ledger's own.
    fn next(
        &mut self,
        optimizer: &mut Optimizer,
        n: usize,
        settings: &RunSettings,
    ) -> Result<Vec<Suggestion>, Self::Error>;

    /// Sees each finished evaluation in order, after it was told to the optimiser, whose observations it may exchange.
    ///
    /// # Errors
    /// The ledger's own; it ends the loop.
    fn record(&mut self, optimizer: &mut Optimizer, step: &Step) -> Result<(), Self::Error>;
}

/// Number of evaluations a run will make: what is missing of the first design, then the iterations.
pub fn planned(optimizer: &Optimizer, settings: &RunSettings) -> usize {
    let initial = optimizer.problem().settings().design.initial;
    initial.saturating_sub(optimizer.observations().len()).saturating_add(settings.iterations)
}

/// Runs the loop, and says why it ended. Evaluations under way are forgotten when it is interrupted.
///
/// # Errors
/// What the ledger gives; [`EngineError::Unusable`] and [`EngineError::FailuresInARow`] once everything that came of the evaluations side by side was told.
pub fn run<L: Ledger>(
    optimizer: &mut Optimizer,
    evaluator: &dyn Evaluate,
    settings: &RunSettings,
    ledger: &mut L,
) -> Result<Ended, L::Error> {
    let total = planned(optimizer, settings);
    let interrupted = || settings.context.is_interrupted();
    let mut done = 0;
    let mut failures = 0;
    while done < total {
        if let Some(gain) = settings.until_gain
            && let Some(promise) = optimizer.promise_for(&settings.request, &settings.context)?
            && promise.ends_at(gain)
        {
            return Ok(Ended::NoMoreGain(promise));
        }
        let started = Instant::now();
        let n = settings.parallel.max(1).min(total - done);
        let suggestions = match ledger.next(optimizer, n, settings) {
            // An interrupt that left no time for any point is no failure.
            Err(_) if interrupted() => return Ok(Ended::Interrupted),
            suggestions => suggestions?,
        };
        let seconds = started.elapsed().as_secs_f64() / suggestions.len() as f64;
        if interrupted() {
            return Ok(Ended::Interrupted);
        }
        let problem = optimizer.problem();
        let evaluations: Vec<Evaluation> = std::thread::scope(|scope| {
            let workers: Vec<_> = suggestions
                .iter()
                .map(|suggestion| scope.spawn(|| evaluator.evaluate(problem, &suggestion.point)))
                .collect();
            workers
                .into_iter()
                .map(|worker| {
                    worker.join().unwrap_or_else(|_| Evaluation::Failed("the evaluation panicked".into()))
                })
                .collect()
        });
        let mut stop = None;
        for (suggestion, evaluation) in suggestions.into_iter().zip(evaluations) {
            let (outcome, failure) = match evaluation {
                Evaluation::Value(value) => (Outcome::Done(value), None),
                Evaluation::Failed(why) => (Outcome::Failed, Some(why)),
                Evaluation::Unusable(reason) => {
                    stop = Some(EngineError::Unusable { reason });
                    continue;
                }
                Evaluation::Interrupted => return Ok(Ended::Interrupted),
            };
            failures = if failure.is_some() { failures + 1 } else { 0 };
            if settings.failures_in_a_row.is_some_and(|limit| failures >= limit)
                && let Some(reason) = failure.clone()
            {
                stop = stop.or(Some(EngineError::FailuresInARow { count: failures, reason }));
            }
            optimizer.tell_outcome(&suggestion.point, outcome)?;
            done += 1;
            ledger.record(optimizer, &Step { number: done, suggestion, outcome, failure, seconds })?;
        }
        if let Some(error) = stop {
            return Err(error.into());
        }
    }
    Ok(if interrupted() { Ended::Interrupted } else { Ended::Complete })
}
