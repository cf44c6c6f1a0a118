//! One run: first points, then propose, evaluate, judge, record, until it is as long as the spec says.
//!
//! With several evaluations at a time a value is known here at once, but the method is told later: as if evaluations took equally long and began one after the other.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::black_box::{BlackBox, Judged, without_constraints};
use super::error::StudyError;
use super::external::External;
use super::folder::StudyFolder;
use super::initial::initial_points;
use super::manifest::Manifest;
use super::propose::{Proposal, propose};
use super::record::RunHeader;
use super::run_file::RunFile;
use super::spec::{ConstraintHandling, MethodKind, RunId, Source, Spec};
use super::step::StepRecord;
use super::study::{Ended, Study};
use super::study_manifest::PlannedRun;
use leafgp::engine::{Context, Evaluation, Optimizer};
use leafgp::history::Outcome;

impl Study for Spec {
    type Manifest = Manifest;
    type Run = RunId;

    fn runs(&self) -> Vec<RunId> {
        self.runs()
    }

    fn planned(&self, run: RunId) -> PlannedRun {
        let (problem, method) = self.parts(run.case);
        let fingerprint = &self.cases[run.case].fingerprint;
        let header = RunHeader::new(&problem.name, &method.name, run.seed, fingerprint);
        PlannedRun { header, records: problem.evaluations() }
    }

    /// The folder must be new or hold a study of the same name; what it holds beside this one's runs stays.
    fn manifest_after(&self, known: Option<&Manifest>) -> Result<Manifest, String> {
        match known {
            Some(known) if known.name != self.name => {
                Err(format!("the folder holds the study {:?}, the spec is {:?}", known.name, self.name))
            }
            _ => Ok(Manifest::new(self)),
        }
    }

    fn go_on(
        &self,
        run: RunId,
        folder: &StudyFolder,
        file: &mut RunFile<StepRecord>,
        context: &Context,
        on_record: &dyn Fn(&StepRecord),
    ) -> Result<Ended, StudyError> {
        let (problem, method) = self.parts(run.case);
        let interrupted = || context.is_interrupted();
        let mut state = State::new(self, run, context, file.path(), file.records())?;
        let mut times = Times::new(folder.timing_file(&problem.name, &method.name, run.seed));
        while state.steps.len() < problem.evaluations() {
            if interrupted() {
                return Ok(Ended::Interrupted);
            }
            let started = Instant::now();
            let proposal = match state.next_point() {
                // An interrupted search gives a worse point or none: neither is the run's.
                _ if interrupted() => return Ok(Ended::Interrupted),
                proposal => proposal?,
            };
            let proposed = started.elapsed();
            let (value, failure) = match state.black_box.evaluate(&proposal.point) {
                Evaluation::Value(value) => (Some(value), None),
                Evaluation::Failed(why) | Evaluation::Unusable(why) => (None, Some(why)),
                Evaluation::Interrupted => return Ok(Ended::Interrupted),
            };
            let evaluated = started.elapsed() - proposed;
            let judged = state.judge(&proposal.point, value);
            let step = state.record(proposal, &judged)?;
            if step.evaluation == problem.evaluations()
                && let Some(process) = state.process.take()
            {
                // Before the last record: a run whose conversation was broken is never complete.
                process.finish()?;
            }
            file.append(step.clone())?;
            times.append(&json!({
                "evaluation": step.evaluation,
                "propose_seconds": proposed.as_secs_f64(),
                "evaluate_seconds": evaluated.as_secs_f64(),
                "failure": failure,
            }));
            on_record(&step);
            state.steps.push(step);
        }
        Ok(Ended::Complete)
    }
}

/// A run under way.
struct State<'a> {
    spec: &'a Spec,
    run: RunId,
    context: &'a Context,
    black_box: BlackBox<'a>,
    optimizer: Optimizer,
    initial: Vec<Vec<f64>>,
    steps: Vec<StepRecord>,
    /// Evaluations that the method does not know the values of yet, oldest first.
    running: VecDeque<(Vec<f64>, Judged)>,
    /// What an external method was told or has to be told, and the process once it is needed.
    told: Vec<(Vec<f64>, Judged)>,
    process: Option<External>,
}

impl<'a> State<'a> {
    /// Replays what is recorded.
    fn new(
        spec: &'a Spec,
        run: RunId,
        context: &'a Context,
        path: &Path,
        steps: &[StepRecord],
    ) -> Result<Self, StudyError> {
        let (problem, method) = spec.parts(run.case);
        let view = match method.constraints {
            ConstraintHandling::Exact => problem.problem.clone(),
            ConstraintHandling::Penalty { .. } => without_constraints(&problem.problem)?,
        };
        let mut settings = spec.cases[run.case].settings.clone();
        settings.seed = run.seed;
        let view = view.with_settings(settings)?;
        let initial =
            if steps.len() < problem.evaluations() { initial_points(problem, run.seed)? } else { Vec::new() };
        let mut state = Self {
            spec,
            run,
            context,
            black_box: BlackBox::new(problem, method.constraints, context),
            optimizer: Optimizer::new(view),
            initial,
            steps: Vec::with_capacity(problem.evaluations()),
            running: VecDeque::new(),
            told: Vec::new(),
            process: None,
        };
        for step in steps {
            let point = problem.problem.point_from_json(&step.point).map_err(|what| {
                StudyError::content(path, format!("evaluation {}: {what}", step.evaluation))
            })?;
            let judged = state.judge(&point, step.value);
            state.begin(&point, &judged)?;
            state.steps.push(step.clone());
        }
        Ok(state)
    }

    fn judge(&self, point: &[f64], value: Option<f64>) -> Judged {
        let (problem, _) = self.spec.parts(self.run.case);
        let sign = problem.problem.objective().goal.sign();
        let values = self.steps.iter().filter_map(|step| step.value);
        let worst = values.max_by(|a, b| (sign * a).total_cmp(&(sign * b)));
        self.black_box.judge(point, value, worst)
    }

    fn next_point(&mut self) -> Result<Proposal, StudyError> {
        let (problem, method) = self.spec.parts(self.run.case);
        if let Some(point) = self.initial.get(self.steps.len()) {
            return Ok(Proposal { point: point.clone(), proof: None });
        }
        match &method.kind {
            MethodKind::External { command, timeout } => {
                if self.process.is_none() {
                    self.process = Some(self.start_process(command, *timeout)?);
                }
                let process = self.process.as_mut().expect("it was just started");
                let point = process.ask(&problem.problem)?;
                let point = match &problem.source {
                    Source::Table(table) => table.nearest(&problem.problem, &point),
                    Source::Function(_) | Source::Command { .. } => point,
                };
                Ok(Proposal { point, proof: None })
            }
            _ => propose(problem, method, &self.optimizer, self.context),
        }
    }

    /// Starts the process, and asks and tells again what is on record.
    fn start_process(&self, command: &str, timeout: Duration) -> Result<External, StudyError> {
        let (problem, method) = self.spec.parts(self.run.case);
        let name = self.spec.run_name(self.run);
        let interrupt = self.context.interrupt.clone();
        let mut process = External::start(&name, command, timeout, interrupt)?;
        let (first, later) = self.told.split_at(problem.initial.min(self.told.len()));
        process.introduce(problem, method, self.run.seed, first)?;
        for (point, judged) in later {
            process.ask(&problem.problem)?;
            process.tell(problem, method, point, judged)?;
        }
        Ok(process)
    }

    /// Takes up the next evaluation: first points are known at once, later ones when as many more as the method runs at a time have begun.
    fn begin(&mut self, point: &[f64], judged: &Judged) -> Result<(), StudyError> {
        let (problem, method) = self.spec.parts(self.run.case);
        if self.steps.len() < problem.initial || method.parallel == 1 {
            return self.tell(point, judged);
        }
        self.optimizer.tell_outcome(point, Outcome::Pending)?;
        self.running.push_back((point.to_vec(), judged.clone()));
        if self.running.len() == method.parallel
            && let Some((point, judged)) = self.running.pop_front()
        {
            self.tell(&point, &judged)?;
        }
        Ok(())
    }

    fn tell(&mut self, point: &[f64], judged: &Judged) -> Result<(), StudyError> {
        let (problem, method) = self.spec.parts(self.run.case);
        if let Some(process) = &mut self.process {
            process.tell(problem, method, point, judged)?;
        }
        if matches!(method.kind, MethodKind::External { .. }) {
            self.told.push((point.to_vec(), judged.clone()));
        }
        let outcome = judged.told.map_or(Outcome::Failed, Outcome::Done);
        Ok(self.optimizer.tell_outcome(point, outcome)?)
    }

    /// Tells the method in its time, and makes the record.
    fn record(&mut self, proposal: Proposal, judged: &Judged) -> Result<StepRecord, StudyError> {
        self.begin(&proposal.point, judged)?;
        let (problem, method) = self.spec.parts(self.run.case);
        let goal = problem.problem.objective().goal;
        let before = self.steps.last().and_then(|step| step.best);
        let counts = judged.value.filter(|_| judged.feasible);
        let best = goal.better(before, counts);
        let evaluation = self.steps.len() + 1;
        Ok(StepRecord {
            evaluation,
            iteration: evaluation.saturating_sub(problem.initial),
            point: problem.problem.point_to_json(&proposal.point),
            value: judged.value,
            told: match method.constraints {
                ConstraintHandling::Exact => None,
                ConstraintHandling::Penalty { .. } => judged.told,
            },
            feasible: judged.feasible,
            violation: judged.violation,
            best,
            proof: proposal.proof,
        })
    }
}

/// The times of a run. Nothing depends on them, so a file that cannot be written is no reason to stop.
struct Times {
    path: std::path::PathBuf,
    file: Option<std::fs::File>,
}

impl Times {
    fn new(path: std::path::PathBuf) -> Self {
        Self { path, file: None }
    }

    fn append(&mut self, line: &serde_json::Value) {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent() {
                let _ = std::fs::create_dir_all(folder);
            }
            // A line cut off by a kill must not spoil the next one: a blank line before it separates them.
            self.file = std::fs::OpenOptions::new().append(true).create(true).open(&self.path).ok();
            if let Some(file) = &mut self.file
                && file.metadata().is_ok_and(|metadata| metadata.len() > 0)
            {
                let _ = file.write_all(b"\n");
            }
        }
        if let Some(file) = &mut self.file {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
