//! The loop's book-keeping in the history: what is measured stands there as pending before it starts.

use super::failure::Failure;
use super::output::Output;
use super::progress::Meter;
use super::suggest::{forecasts, warn_not_kept};
use super::text_table::short;
use leafgp::engine::{Ledger, Optimizer, RunSettings, Step, Suggestion};
use leafgp::history::{Claims, HistoryFile, Outcome, Row};
use leafgp::problem::Problem;
use leafgp_study::Jobs;

/// A finished evaluation and the best value after it.
pub(super) struct StepRow {
    pub(super) step: Step,
    pub(super) best: Option<f64>,
}

/// Pending rows first, then the optimiser's suggestions; every outcome goes into the file.
pub(super) struct FileLedger<'a> {
    file: &'a HistoryFile,
    /// The evaluations that have folders; none of a built-in function's.
    jobs: Option<&'a Jobs>,
    claims: Claims,
    rows: Vec<StepRow>,
    /// Variables by index and the values that they have in this loop: other pending rows are left alone.
    fixed: Vec<(usize, f64)>,
    /// Pending rows that this loop added and that have no outcome yet.
    added: Vec<Vec<f64>>,
    /// Number of evaluations, for messages.
    total: usize,
    meter: &'a Meter,
    output: &'a mut Output,
}

impl<'a> FileLedger<'a> {
    pub(super) fn new(
        file: &'a HistoryFile,
        jobs: Option<&'a Jobs>,
        fixed: Vec<(usize, f64)>,
        total: usize,
        meter: &'a Meter,
        output: &'a mut Output,
    ) -> Result<Self, Failure> {
        let claims = Claims::new(file)?;
        Ok(Self { file, jobs, claims, rows: Vec::new(), fixed, added: Vec::new(), total, meter, output })
    }

    /// Removes what killed loops left of evaluations whose rows are not pending any more.
    pub(super) fn sweep(&self, problem: &Problem) -> Result<(), Failure> {
        let Some(jobs) = self.jobs else { return Ok(()) };
        let found = jobs.found().map_err(|e| self.jobs_failure(&e))?;
        let rows = self.file.read(problem)?.rows;
        let pending = rows.iter().filter(|row| row.outcome == Outcome::Pending);
        let pending: Vec<_> =
            pending.map(|row| (row.point.as_slice(), n_outcomes(&rows, &row.point))).collect();
        jobs.sweep(&found, &pending);
        Ok(())
    }

    /// Says that these points are evaluated next.
    fn expect(&self, problem: &Problem, rows: &[Row], points: &[Vec<f64>]) -> Result<(), Failure> {
        let Some(jobs) = self.jobs else { return Ok(()) };
        for point in points {
            let point = Jobs::place(problem, point);
            jobs.expect(&point, n_outcomes(rows, &point)).map_err(|e| self.jobs_failure(&e))?;
        }
        Ok(())
    }

    fn jobs_failure(&self, error: &std::io::Error) -> Failure {
        Failure::file(&self.file.jobs_path(), error)
    }

    /// Takes back what this loop planned and never measured; what others planned stays. Returns the finished evaluations.
    pub(super) fn finish(self, problem: &Problem) -> Result<Vec<StepRow>, Failure> {
        for point in &self.added {
            // A table that was deleted meanwhile has nothing to take back.
            if self.file.path().exists() {
                self.file.cancel(problem, point)?;
            }
        }
        Ok(self.rows)
    }

    fn is_lost(&self) -> bool {
        !self.file.path().exists()
    }
}

impl Ledger for FileLedger<'_> {
    type Error = Failure;

    fn next(
        &mut self,
        optimizer: &mut Optimizer,
        n: usize,
        settings: &RunSettings,
    ) -> Result<Vec<Suggestion>, Failure> {
        let context = &settings.context;
        loop {
            let begun = self.jobs.map(Jobs::begun).transpose().map_err(|e| self.jobs_failure(&e))?;
            // What a killed loop began goes before what nobody has begun.
            let order = |point: &[f64]| !begun.as_ref().is_some_and(|is_begun| is_begun(point));
            let (history, points) = self.claims.take(optimizer.problem(), &self.fixed, n, order)?;
            *optimizer = Optimizer::with_history(optimizer.problem().clone(), &history)?;
            if !points.is_empty() {
                self.expect(optimizer.problem(), &history.rows, &points)?;
                return Ok(points.into_iter().map(Suggestion::planned).collect());
            }
            let suggestions = optimizer.ask_for(&settings.request, n, context)?.suggestions;
            if context.is_interrupted() {
                return Ok(suggestions);
            }
            let points: Vec<_> = suggestions.iter().map(|s| s.point.clone()).collect();
            // Somebody may have added rows meanwhile: what is suggested must know of them.
            let forecasts = forecasts(optimizer.problem(), &suggestions, None);
            if let Some(planned) = self.claims.reserve(optimizer.problem(), &history, &points, &forecasts)? {
                warn_not_kept(&planned, self.output);
                self.added.extend_from_slice(&points);
                self.expect(optimizer.problem(), &planned.history.rows, &points)?;
                *optimizer = Optimizer::with_history(optimizer.problem().clone(), &planned.history)?;
                return Ok(suggestions);
            }
        }
    }

    fn record(&mut self, optimizer: &mut Optimizer, step: &Step) -> Result<(), Failure> {
        let lost = self.is_lost();
        self.rows.push(StepRow { step: step.clone(), best: None });
        let point = &step.suggestion.point;
        if let Some(i) = self.added.iter().position(|added| added == point) {
            self.added.remove(i);
        }
        let problem = optimizer.problem().clone();
        let history = if lost {
            let all: Vec<_> =
                self.rows.iter().map(|row| (row.step.suggestion.point.clone(), row.step.outcome)).collect();
            self.output.warning(&format!(
                "{} was deleted during the run; this run's {} rows are written again",
                self.file.path().display(),
                all.len()
            ));
            self.file.append(&problem, &all)?
        } else {
            match &step.failure {
                Some(reason) => self.file.record_failure(&problem, point, reason)?,
                None => self.file.record(&problem, point, step.outcome)?,
            }
        };
        if let Some(jobs) = self.jobs {
            jobs.close(&Jobs::place(&problem, point));
        }
        self.claims.release(point)?;
        // What others added to the file meanwhile counts from the next suggestion on.
        *optimizer = Optimizer::with_history(problem, &history)?;
        let best = optimizer.best().map(|best| best.value);
        let shown = best.map_or("no value yet".to_owned(), |best| format!("best {}", short(best)));
        if self.meter.is_hidden() {
            let (number, total) = (step.number, self.total);
            self.output.note(&format!("evaluation {number} of {total}: {}, {shown}", outcome_text(step)));
        }
        self.meter.step(shown);
        if let Some(row) = self.rows.last_mut() {
            row.best = best;
        }
        Ok(())
    }
}

/// How many outcomes there are of a point.
fn n_outcomes(rows: &[Row], point: &[f64]) -> usize {
    rows.iter().filter(|row| row.outcome != Outcome::Pending && row.point == point).count()
}

/// What came of an evaluation, in a few words.
fn outcome_text(step: &Step) -> String {
    match (step.outcome, &step.failure) {
        (Outcome::Done(value), _) => short(value),
        (_, Some(failure)) => format!("failed: {failure}"),
        (_, None) => "failed".to_owned(),
    }
}
