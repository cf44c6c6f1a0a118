//! The closed loop: ask, evaluate, tell; with several evaluations at a time, as soon as one of them ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
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
    /// Experiments at the same time. When one of them ends it is told, and the next one is asked for, with the others pending.
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
    /// Number of the evaluation in this run, from 1, in the order in which they ended.
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

    /// The next experiments, at most `n` and at least one, by the settings' request, beside those that were given before and not recorded yet.
    ///
    /// # Errors
    /// What [`Optimizer::ask_for`] gives, or the ledger's own.
    fn next(
        &mut self,
        optimizer: &mut Optimizer,
        n: usize,
        settings: &RunSettings,
    ) -> Result<Vec<Suggestion>, Self::Error>;

    /// Sees each evaluation as it ends, after it was told to the optimiser, whose observations it may exchange.
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

/// Runs the loop, and says why it ended. What is suggested depends on the order in which evaluations end, and on nothing else that other programs or clocks decide.
///
/// Nothing is lost when the loop ends early: evaluations under way are waited for, and recorded. Those that the user interrupted gave nothing.
///
/// # Errors
/// What the ledger gives; [`EngineError::Unusable`] and [`EngineError::FailuresInARow`]. The first one counts.
pub fn run<L: Ledger>(
    optimizer: &mut Optimizer,
    evaluator: &dyn Evaluate,
    settings: &RunSettings,
    ledger: &mut L,
) -> Result<Ended, L::Error> {
    let total = planned(optimizer, settings);
    let problem = optimizer.problem().clone();
    let evaluate = |point: &[f64]| {
        catch_unwind(AssertUnwindSafe(|| evaluator.evaluate(&problem, point)))
            .unwrap_or_else(|_| Evaluation::Failed("the evaluation panicked".into()))
    };
    std::thread::scope(|scope| {
        let (sender, endings) = mpsc::channel();
        let (mut started, mut running, mut done, mut failures) = (0, 0, 0, 0);
        let mut stop = None;
        loop {
            // Why nothing more is started now. It may look different when one more has ended.
            let mut pause = Ok(Ended::Complete);
            let mut has_room = stop.is_none() && running < settings.parallel.max(1) && started < total;
            if has_room && let Some(ended) = enough(optimizer, settings).transpose() {
                (pause, has_room) = (ended.map_err(L::Error::from), false);
            }
            while has_room {
                let n = (settings.parallel.max(1) - running).min(total - started);
                match ask(optimizer, settings, ledger, n) {
                    Ok(Asked::Suggested(suggestions, seconds)) => {
                        started += suggestions.len();
                        running += suggestions.len();
                        for suggestion in suggestions {
                            let (sender, evaluate) = (sender.clone(), &evaluate);
                            scope.spawn(move || {
                                let evaluation = evaluate(&suggestion.point);
                                // The loop waits for all.
                                let _ = sender.send((suggestion, seconds, evaluation));
                            });
                        }
                        has_room = running < settings.parallel.max(1) && started < total;
                    }
                    Ok(Asked::Interrupted) => (pause, has_room) = (Ok(Ended::Interrupted), false),
                    Err(error) => (pause, has_room) = (Err(error), false),
                }
            }
            if running == 0 {
                return match stop.unwrap_or(pause) {
                    Ok(Ended::Complete) if settings.context.is_interrupted() => Ok(Ended::Interrupted),
                    ended => ended,
                };
            }
            let Ok((suggestion, seconds, evaluation)) = endings.recv() else {
                unreachable!("the loop itself holds a sender")
            };
            running -= 1;
            let (outcome, failure) = match evaluation {
                Evaluation::Value(value) => (Outcome::Done(value), None),
                Evaluation::Failed(why) => (Outcome::Failed, Some(why)),
                Evaluation::Unusable(reason) => {
                    stop.get_or_insert(Err(EngineError::Unusable { reason }.into()));
                    continue;
                }
                Evaluation::Interrupted => {
                    stop.get_or_insert(Ok(Ended::Interrupted));
                    continue;
                }
            };
            failures = if failure.is_some() { failures + 1 } else { 0 };
            let too_many = settings.failures_in_a_row.is_some_and(|limit| failures >= limit);
            let last_failure = failure.clone().filter(|_| too_many);
            done += 1;
            let told = optimizer.tell_outcome(&suggestion.point, outcome).map_err(L::Error::from);
            let step = Step { number: done, suggestion, outcome, failure, seconds };
            if let Err(error) = told.and_then(|()| ledger.record(optimizer, &step)) {
                stop.get_or_insert(Err(error));
            }
            if let Some(reason) = last_failure {
                stop.get_or_insert(Err(EngineError::FailuresInARow { count: failures, reason }.into()));
            }
        }
    })
}

/// The proof that too little is left to gain, if there is one.
fn enough(optimizer: &Optimizer, settings: &RunSettings) -> Result<Option<Ended>, EngineError> {
    let Some(gain) = settings.until_gain else { return Ok(None) };
    let promise = optimizer.promise_for(&settings.request, &settings.context)?;
    Ok(promise.filter(|promise| promise.ends_at(gain)).map(Ended::NoMoreGain))
}

/// What came of asking.
enum Asked {
    /// Experiments, and the seconds that each of them took.
    Suggested(Vec<Suggestion>, f64),
    Interrupted,
}

/// At most `n` experiments more.
fn ask<L: Ledger>(
    optimizer: &mut Optimizer,
    settings: &RunSettings,
    ledger: &mut L,
    n: usize,
) -> Result<Asked, L::Error> {
    let began = Instant::now();
    let suggestions = ledger.next(optimizer, n, settings);
    // An interrupt that left no time for any point is no failure.
    if settings.context.is_interrupted() {
        return Ok(Asked::Interrupted);
    }
    let suggestions = suggestions?;
    let seconds = began.elapsed().as_secs_f64() / suggestions.len() as f64;
    Ok(Asked::Suggested(suggestions, seconds))
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};

    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::problem::{Problem, Variable};

    /// Which evaluations were started, and how many were recorded.
    #[derive(Default)]
    struct Progress {
        started: Vec<Vec<f64>>,
        recorded: usize,
    }

    /// A laboratory where evaluations end in an order that is fixed beforehand.
    #[derive(Default)]
    struct Laboratory {
        /// Numbers of evaluations, from 0 as they are started, in the order in which they end.
        order: Vec<usize>,
        progress: Mutex<Progress>,
        changed: Condvar,
    }

    /// Its memory alone.
    struct Notes<'a> {
        laboratory: &'a Laboratory,
        steps: Vec<Step>,
    }

    impl Ledger for Notes<'_> {
        type Error = EngineError;

        fn next(
            &mut self,
            optimizer: &mut Optimizer,
            n: usize,
            settings: &RunSettings,
        ) -> Result<Vec<Suggestion>, EngineError> {
            let suggestions = optimizer.ask_for(&settings.request, n, &settings.context)?.suggestions;
            for suggestion in &suggestions {
                optimizer.tell_outcome(&suggestion.point, Outcome::Pending)?;
                self.laboratory.progress.lock().unwrap().started.push(suggestion.point.clone());
            }
            Ok(suggestions)
        }

        fn record(&mut self, _: &mut Optimizer, step: &Step) -> Result<(), EngineError> {
            self.steps.push(step.clone());
            self.laboratory.progress.lock().unwrap().recorded += 1;
            self.laboratory.changed.notify_all();
            Ok(())
        }
    }

    fn value(point: &[f64]) -> f64 {
        (point[0] - 0.3).powi(2) + (3.0 * point[1]).sin()
    }

    impl Evaluate for Laboratory {
        fn evaluate(&self, _: &Problem, point: &[f64]) -> Evaluation {
            let mut progress = self.progress.lock().unwrap();
            let number = progress.started.iter().position(|started| started == point).unwrap();
            let turn = self.order.iter().position(|&n| n == number).unwrap();
            while progress.recorded < turn {
                progress = self.changed.wait(progress).unwrap();
            }
            drop(progress);
            match number % 5 {
                3 => panic!("the stirrer broke"),
                _ => Evaluation::Value(value(point)),
            }
        }
    }

    fn problem(initial: usize) -> Problem {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("y", 0.0, 2.0))
            .build()
            .unwrap();
        problem.adjusted(|settings| settings.design.initial = initial).unwrap()
    }

    fn settings(iterations: usize, parallel: usize) -> RunSettings {
        RunSettings {
            iterations,
            parallel,
            failures_in_a_row: None,
            until_gain: None,
            request: Request::default(),
            context: Context::default(),
        }
    }

    /// An order in which `total` evaluations can end, `parallel` of them under way at any time.
    fn order_of_ending(total: usize, parallel: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let mut under_way: Vec<usize> = (0..parallel.min(total)).collect();
        let mut order = Vec::new();
        while !under_way.is_empty() {
            order.push(under_way.remove(rng.random_range(0..under_way.len())));
            let next = parallel + order.len() - 1;
            under_way.extend((next < total).then_some(next));
        }
        order
    }

    /// What the loop must do, one thing after the other.
    fn twin(order: &[usize], initial: usize, parallel: usize) -> Vec<Vec<f64>> {
        let mut optimizer = Optimizer::new(problem(initial));
        let mut started: Vec<Vec<f64>> = Vec::new();
        let ask = |optimizer: &mut Optimizer, started: &mut Vec<Vec<f64>>, n| {
            for suggestion in optimizer.ask_many(n, &Context::default()).unwrap() {
                optimizer.tell_outcome(&suggestion.point, Outcome::Pending).unwrap();
                started.push(suggestion.point);
            }
        };
        ask(&mut optimizer, &mut started, parallel.min(order.len()));
        for &number in order {
            let point = started[number].clone();
            let outcome = if number % 5 == 3 { Outcome::Failed } else { Outcome::Done(value(&point)) };
            optimizer.tell_outcome(&point, outcome).unwrap();
            if started.len() < order.len() {
                ask(&mut optimizer, &mut started, 1);
            }
        }
        started
    }

    #[test]
    fn a_loop_with_several_evaluations_at_a_time_is_decided_by_the_order_in_which_they_end() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut all = Vec::new();
        for parallel in [1, 2, 3, 4, 4, 4, 20] {
            let order = order_of_ending(12, parallel, &mut rng);
            let laboratory = Laboratory { order: order.clone(), ..Laboratory::default() };
            let mut notes = Notes { laboratory: &laboratory, steps: Vec::new() };
            let mut optimizer = Optimizer::new(problem(4));
            let ended = run(&mut optimizer, &laboratory, &settings(8, parallel), &mut notes).unwrap();
            assert_eq!(ended, Ended::Complete);
            let steps = notes.steps;
            let started = laboratory.progress.into_inner().unwrap().started;
            assert_eq!(started, twin(&order, 4, parallel), "{parallel} at a time, {order:?}");
            for (k, (step, &number)) in steps.iter().zip(&order).enumerate() {
                assert_eq!((step.number, &step.suggestion.point), (k + 1, &started[number]));
                assert_eq!(step.failure.is_some(), number % 5 == 3, "a panic is a failure");
            }
            assert!(optimizer.observations().iter().all(|row| row.outcome != Outcome::Pending));
            all.push(started);
        }
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.dedup();
        assert!(all.len() >= 6, "the order makes a difference: {}", all.len());
    }

    #[test]
    fn a_space_that_runs_out_while_evaluations_are_under_way_is_measured_to_its_end() {
        let problem = Problem::builder("p")
            .variable(Variable::integer("n", 0, 4))
            .variable(Variable::integer("m", 0, 0))
            .build()
            .unwrap();
        let laboratory = Laboratory { order: vec![2, 1, 0, 4, 3], ..Laboratory::default() };
        let mut notes = Notes { laboratory: &laboratory, steps: Vec::new() };
        let mut optimizer = Optimizer::new(problem);
        let error = run(&mut optimizer, &laboratory, &settings(9, 3), &mut notes).unwrap_err();
        assert!(matches!(error, EngineError::SpaceExhausted), "{error}");
        assert_eq!(notes.steps.len(), 5);
    }

    /// Refuses to keep the second outcome.
    struct Full<'a>(Notes<'a>);

    impl Ledger for Full<'_> {
        type Error = EngineError;

        fn next(
            &mut self,
            optimizer: &mut Optimizer,
            n: usize,
            settings: &RunSettings,
        ) -> Result<Vec<Suggestion>, EngineError> {
            self.0.next(optimizer, n, settings)
        }

        fn record(&mut self, optimizer: &mut Optimizer, step: &Step) -> Result<(), EngineError> {
            self.0.record(optimizer, step)?;
            match step.number {
                2 => Err(EngineError::Unusable { reason: "the disk is full".into() }),
                _ => Ok(()),
            }
        }
    }

    #[test]
    fn after_an_error_nothing_is_started_and_what_is_under_way_is_recorded() {
        let order = vec![3, 0, 1, 2, 4, 5];
        let laboratory = Laboratory { order, ..Laboratory::default() };
        let mut ledger = Full(Notes { laboratory: &laboratory, steps: Vec::new() });
        let mut optimizer = Optimizer::new(problem(6));
        let error = run(&mut optimizer, &laboratory, &settings(9, 4), &mut ledger).unwrap_err();
        assert!(error.to_string().contains("the disk is full"), "{error}");
        // Four at once, one more after the first had ended.
        assert_eq!(ledger.0.steps.len(), 5);
        let limit = RunSettings { failures_in_a_row: Some(1), ..settings(9, 4) };
        let laboratory = Laboratory { order: vec![3, 0, 1, 2], ..Laboratory::default() };
        let mut notes = Notes { laboratory: &laboratory, steps: Vec::new() };
        let error = run(&mut Optimizer::new(problem(6)), &laboratory, &limit, &mut notes).unwrap_err();
        assert!(matches!(error, EngineError::FailuresInARow { count: 1, .. }), "{error}");
        assert_eq!(notes.steps.len(), 4);
    }
}
