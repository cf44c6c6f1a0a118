//! An optimiser of its own process, asked and told over its standard streams: `docs/external-optimisers.md`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::black_box::Judged;
use super::error::StudyError;
use super::spec::{ConstraintHandling, Method, Source, StudyProblem};
use crate::command::keep_tail;
use crate::platform::{shell, stop};
use leafgp::problem::{Kind, Problem, Scale, ValueError, Variable};

/// Version of the protocol.
const PROTOCOL: u32 = 1;
/// How often the user's interrupt is looked at while an answer is awaited.
const POLL: Duration = Duration::from_millis(50);
/// How long a process may take to end after `stop`.
const FAREWELL: Duration = Duration::from_secs(5);
/// Longest line of an answer.
const LONGEST_LINE: usize = 1 << 20;
/// A number outside the box by no more than this share of its range, or of its magnitude, is rounding.
const ROUNDING: f64 = 1e-9;

/// A running process. Dropping it ends it with everything it started.
#[derive(Debug)]
pub(super) struct External {
    name: String,
    child: Child,
    /// Lines to write; a thread writes them, so that a process that does not read blocks nobody.
    to_process: Option<Sender<String>>,
    answers: Receiver<Result<String, String>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    timeout: Duration,
    interrupt: Option<Arc<AtomicBool>>,
}

impl External {
    /// Starts the command. `name` is the run's, for messages.
    pub(super) fn start(
        name: &str,
        command: &str,
        timeout: Duration,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<Self, StudyError> {
        let mut process = shell(command);
        let child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child
            .map_err(|e| StudyError::External(format!("run {name}: the command cannot be started: {e}")))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("all three streams were asked for as pipes")
        };
        let (to_process, lines) = channel();
        std::thread::spawn(move || write_lines(stdin, &lines));
        // A process that floods its output waits for us, not in our memory.
        let (sender, answers) = sync_channel(4);
        std::thread::spawn(move || read_lines(stdout, &sender));
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&last_words);
        std::thread::spawn(move || collect(stderr, &collected));
        Ok(Self {
            name: name.to_owned(),
            child,
            to_process: Some(to_process),
            answers,
            last_words,
            timeout,
            interrupt,
        })
    }

    /// Sends `start` with the first points, and waits for `ready`.
    pub(super) fn introduce(
        &mut self,
        problem: &StudyProblem,
        method: &Method,
        seed: u64,
        first: &[(Vec<f64>, Judged)],
    ) -> Result<(), StudyError> {
        let initial: Vec<Value> =
            first.iter().map(|(point, judged)| result_to_json(problem, method, point, judged)).collect();
        let mut start = json!({
            "type": "start",
            "protocol": PROTOCOL,
            "run": self.name,
            "seed": seed,
            "iterations": problem.evaluations() - first.len(),
            "problem": problem_to_json(problem, method),
            "constraints": "exact",
            "initial": initial,
        });
        if let ConstraintHandling::Penalty { lambda } = method.constraints {
            start["constraints"] = json!("penalty");
            start["lambda"] = json!(lambda);
        }
        self.send(&start)?;
        self.receive("ready")?;
        Ok(())
    }

    /// Asks for the next point.
    pub(super) fn ask(&mut self, problem: &Problem) -> Result<Vec<f64>, StudyError> {
        match self.answers.try_recv() {
            Ok(Ok(line)) => return Err(self.unasked(&line)),
            Ok(Err(what)) => return Err(self.broken(&what)),
            // One that has ended is found out by its missing answer.
            Err(_) => {}
        }
        self.send(&json!({ "type": "ask" }))?;
        let answer = self.receive("point")?;
        let point = answer.get("point").and_then(Value::as_object);
        let Some(point) = point else {
            return Err(self.broken("the answer has no \"point\" that is an object of names and values"));
        };
        rounded_point(problem, point).map_err(|what| self.broken(&what.to_string()))
    }

    /// Tells the result of a point.
    pub(super) fn tell(
        &mut self,
        problem: &StudyProblem,
        method: &Method,
        point: &[f64],
        judged: &Judged,
    ) -> Result<(), StudyError> {
        let mut message = json!({ "type": "tell" });
        if let (Value::Object(message), Value::Object(result)) =
            (&mut message, result_to_json(problem, method, point, judged))
        {
            message.extend(result);
        }
        self.send(&message)
    }

    /// Sends `stop` and gives the process time to end by itself.
    ///
    /// # Errors
    /// A point that nobody asked for: then it cannot be told which answers belong to which questions.
    pub(super) fn finish(mut self) -> Result<(), StudyError> {
        let _ = self.send(&json!({ "type": "stop" }));
        self.to_process = None;
        let asked = Instant::now();
        while asked.elapsed() < FAREWELL && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Whatever else a process says in the end is its own affair.
        while let Ok(Ok(line)) = self.answers.recv_timeout(POLL) {
            let answer = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if answer["type"] == "point" {
                return Err(self.unasked(&line));
            }
        }
        Ok(())
    }

    fn unasked(&mut self, line: &str) -> StudyError {
        self.broken(&format!(
            "the process said {} before it was asked; expected one answer to each `start` and `ask`",
            shown(line)
        ))
    }

    fn send(&mut self, message: &Value) -> Result<(), StudyError> {
        let sent = self.to_process.as_ref().is_some_and(|lines| lines.send(format!("{message}\n")).is_ok());
        // The writer has gone because the process closed its input; its last words say why.
        if sent { Ok(()) } else { Err(self.broken("the process reads no more")) }
    }

    /// The next answer, which must be of the given type.
    fn receive(&mut self, expected: &str) -> Result<Map<String, Value>, StudyError> {
        let asked = Instant::now();
        let line = loop {
            match self.answers.recv_timeout(POLL.min(self.timeout)) {
                Ok(Ok(line)) => break line,
                Ok(Err(what)) => return Err(self.broken(&what)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.broken(&format!("the process ended where {expected:?} was expected")));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if leafgp::engine::interrupted(self.interrupt.as_deref()) {
                        return Err(StudyError::External(format!("run {}: interrupted", self.name)));
                    }
                    if asked.elapsed() >= self.timeout {
                        let seconds = self.timeout.as_secs_f64();
                        return Err(self.broken(&format!(
                            "no answer within {seconds} s where {expected:?} was expected"
                        )));
                    }
                }
            }
        };
        let Ok(Value::Object(answer)) = serde_json::from_str(&line) else {
            let what = format!("a line is no JSON object: {}; expected {expected:?}", shown(&line));
            return Err(self.broken(&what));
        };
        match answer.get("type").and_then(Value::as_str) {
            Some(word) if word == expected => Ok(answer),
            Some("error") => {
                let why = answer.get("message").and_then(Value::as_str).unwrap_or("without a message");
                Err(self.broken(&format!("the process reports an error: {why}")))
            }
            _ => Err(self.broken(&format!("the answer was {}; expected type {expected:?}", shown(&line)))),
        }
    }

    /// The error of a broken conversation, with the end of what the process wrote to its standard error.
    fn broken(&mut self, what: &str) -> StudyError {
        stop(&mut self.child, true);
        // What a dead process wrote is there at once, but another thread reads it.
        std::thread::sleep(POLL);
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let tail = lines[lines.len().saturating_sub(5)..].join("\n  ");
        let tail = if tail.is_empty() { String::new() } else { format!("; it wrote:\n  {tail}") };
        StudyError::External(format!("run {}: {what}{tail}", self.name))
    }
}

impl Drop for External {
    fn drop(&mut self) {
        self.to_process = None;
        stop(&mut self.child, true);
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        // A process that closed its input is found out by its missing answer.
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, answers: &SyncSender<Result<String, String>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let answer = if line.len() > LONGEST_LINE {
            Err(format!("a line is longer than {LONGEST_LINE} bytes"))
        } else {
            Ok(String::from_utf8_lossy(&line).trim().to_owned())
        };
        let is_blank = answer.as_ref().is_ok_and(String::is_empty);
        if !is_blank && answers.send(answer).is_err() {
            return;
        }
    }
}

fn collect(mut stderr: ChildStderr, words: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut chunk) {
        keep_tail(&mut words.lock().unwrap_or_else(PoisonError::into_inner), &chunk[..n]);
    }
}

/// A line for a message.
fn shown(line: &str) -> String {
    const SHOWN: usize = 120;
    let cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < line.len() { format!("{cut:?}...") } else { format!("{cut:?}") }
}

fn result_to_json(problem: &StudyProblem, method: &Method, point: &[f64], judged: &Judged) -> Value {
    let violations: &[f64] = match method.constraints {
        ConstraintHandling::Exact => &judged.violations,
        ConstraintHandling::Penalty { .. } => &[],
    };
    json!({
        "point": problem.problem.point_to_json(point),
        "value": judged.told,
        "feasible": judged.feasible,
        "violations": violations,
    })
}

fn problem_to_json(study: &StudyProblem, method: &Method) -> Value {
    let problem = &study.problem;
    let constraints: Vec<Value> = match method.constraints {
        ConstraintHandling::Penalty { .. } => Vec::new(),
        ConstraintHandling::Exact => (0..problem.constraints().len())
            .map(|index| {
                let name = problem.constraints().name(index);
                let text = problem.expressions().iter().find(|e| e.name == name).map(|e| &e.expr);
                json!({ "name": name, "expr": text })
            })
            .collect(),
    };
    let define: Vec<Value> =
        problem.definitions().iter().map(|d| json!({ "name": d.name, "expr": d.expr })).collect();
    let mut object = json!({
        "name": study.name,
        "objective": problem.objective().name,
        "goal": problem.objective().goal.as_str(),
        "variables": problem.variables().iter().map(variable_to_json).collect::<Vec<_>>(),
        "define": define,
        "constraints": constraints,
    });
    if let Source::Table(table) = &study.source {
        let points = table.points.iter().map(|point| Value::Object(problem.point_to_json(point)));
        object["candidates"] = points.collect();
    }
    object
}

fn variable_to_json(variable: &Variable) -> Value {
    let bounds = |lower: f64, upper: f64| json!([variable.to_json(lower), variable.to_json(upper)]);
    let mut object = match &variable.kind {
        Kind::Continuous { lower, upper } => {
            json!({ "type": "continuous", "bounds": bounds(*lower, *upper) })
        }
        Kind::Integer { lower, upper } => json!({ "type": "integer", "bounds": bounds(*lower, *upper) }),
        Kind::Binary => json!({ "type": "binary" }),
        Kind::Discrete(values) => json!({ "type": "discrete", "values": values }),
        Kind::Categorical(levels) => json!({ "type": "categorical", "levels": levels }),
        Kind::Grid(grid) => {
            let (_, step, digits) = grid.numerators();
            let step = step as f64 / 10f64.powi(digits as i32);
            let last = grid.value(grid.count() - 1);
            json!({ "type": "continuous", "bounds": bounds(grid.value(0), last), "step": step })
        }
    };
    object["name"] = json!(variable.name);
    if variable.scale == Scale::Log {
        object["scale"] = json!("log");
    }
    if let Some(condition) = &variable.active_if {
        object["active_if"] = json!(condition);
        object["inactive_value"] = variable.to_json(variable.inactive_value);
    }
    object
}

/// A point of the problem as a process may round it: values are moved to the nearest allowed ones.
fn rounded_point(problem: &Problem, point: &Map<String, Value>) -> Result<Vec<f64>, ValueError> {
    let mut x = problem.point_from_json(point)?;
    for (variable, value) in problem.variables().iter().zip(&mut x) {
        let domain = variable.domain();
        let (lower, upper) = domain.bounds();
        let slack = ROUNDING * (upper - lower).max(value.abs());
        if !(lower - slack..=upper + slack).contains(value) {
            let message = format!("{:?} is {value}", variable.name);
            return Err(ValueError { message, expected: variable.expected() });
        }
        *value = domain.nearest(*value, lower, upper).unwrap_or(lower);
    }
    problem.constraints().deactivate(&mut x);
    Ok(x)
}
