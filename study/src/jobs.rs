//! Evaluations that outlive the loop that started them.
//!
//! Each has a folder, named after its point, with what it reads (`point`), prints (`output`, `errors`) and how it ended (`status`). Its output is locked from before it is started, by a
//! lock that its processes inherit: as long as one of them lives, it is held, on whatever machine of a network file system, and whoever comes next knows that there is something to wait for. A status without
//! a lock is a result; neither of them is an evaluation whose processes died, which is begun again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use leafgp::engine::{Evaluate, Evaluation};
use leafgp::file::write_whole;
use leafgp::history::{Outcome, Row};
use leafgp::problem::Problem;

use crate::command::{Command, LAST_WORDS, judged};
use crate::digest::{fnv1a, hexadecimal};
use crate::platform::{OUTLIVES, POLL, ending, stop, stop_supervised, supervised};

/// How often an evaluation that another program started is looked at: each look may be one at another machine's disk.
const LOOK: Duration = Duration::from_millis(50);
/// How much an evaluation may print: the disk is for results.
const LONGEST_OUTPUT: u64 = 1 << 30;
/// How much of the end of it is read.
const TAIL: u64 = 1 << 16;

/// The evaluations of one history by a command, each in a folder of its own.
///
/// Where the system does not allow them to outlive the loop they are those of the command itself.
#[derive(Debug)]
pub struct Jobs {
    command: Command,
    folder: PathBuf,
    /// For the key of a point, how many outcomes the history has of it.
    outcomes: Mutex<BTreeMap<String, usize>>,
}

impl Jobs {
    /// Evaluations by a command with their folders in `folder`, which need not exist.
    pub fn new(command: Command, folder: impl Into<PathBuf>) -> Self {
        Self { command, folder: folder.into(), outcomes: Mutex::default() }
    }

    /// The point that stands for one in a history: inactive variables hold their inactive value.
    pub fn place(problem: &Problem, point: &[f64]) -> Vec<f64> {
        Row::new(problem, point, Outcome::Pending).map_or_else(|_| point.to_vec(), |row| row.point)
    }

    /// The points that have a folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn begun(&self) -> io::Result<impl Fn(&[f64]) -> bool + use<>> {
        let names = self.found()?;
        Ok(move |point: &[f64]| {
            let key = key(point);
            names.iter().any(|name| name.starts_with(&key))
        })
    }

    /// Says that a point is to be evaluated of which the history has so many outcomes. What was begun for another number of them is over: its result was recorded.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn expect(&self, point: &[f64], n_outcomes: usize) -> io::Result<()> {
        let (key, name) = (key(point), name(point, n_outcomes));
        for old in self.found()?.iter().filter(|other| other.starts_with(&key) && **other != name) {
            self.remove_ended(old);
        }
        self.known().insert(key, n_outcomes);
        Ok(())
    }

    /// The outcome of a point is on record: its folder is not needed any more.
    pub fn close(&self, point: &[f64]) {
        if let Some(n_outcomes) = self.known().remove(&key(point)) {
            self.remove(&name(point, n_outcomes));
        }
    }

    /// Removes those of the folders [`Jobs::found`] before the history was read that are neither running nor for one of its pending points, each with the number of
    /// outcomes of it: a row is pending before its folder is there.
    pub fn sweep(&self, found: &[String], pending: &[(&[f64], usize)]) {
        let kept: Vec<String> = pending.iter().map(|(point, n_outcomes)| name(point, *n_outcomes)).collect();
        for old in found.iter().filter(|name| !kept.contains(name)) {
            self.remove_ended(old);
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, usize>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the evaluations' folders.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn found(&self) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().into_string().ok().filter(|name| is_name(name)));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn remove_ended(&self, name: &str) {
        if !matches!(is_locked(&self.folder.join(name).join("output")), Ok(true)) {
            self.remove(name);
        }
    }

    /// What cannot be removed now is removed by the next loop.
    fn remove(&self, name: &str) {
        let _ = std::fs::remove_dir_all(self.folder.join(name));
        // Others are under way as long as it is not empty.
        let _ = std::fs::remove_dir(&self.folder);
    }

    fn run(&self, problem: &Problem, point: &[f64], name: &str) -> io::Result<Evaluation> {
        let folder = std::path::absolute(self.folder.join(name))?;
        let job = Job { folder, command: &self.command, is_elsewhere: Cell::new(false) };
        // Another loop may remove the folder of all, when it is empty, between its making and that of ours.
        let mut made = std::fs::create_dir_all(&job.folder);
        for _ in 0..10 {
            if made.is_ok() {
                break;
            }
            made = std::fs::create_dir_all(&job.folder);
        }
        made?;
        loop {
            let output = File::options().create(true).append(true).open(job.folder.join("output"))?;
            let ended = match output.try_lock() {
                Ok(()) if job.status().is_none() => job.watch(Some(job.start(problem, point, output)?))?,
                // Ended while nobody looked, or still running.
                Ok(()) | Err(TryLockError::WouldBlock) => {
                    drop(output);
                    job.watch(None)?
                }
                Err(TryLockError::Error(error)) => return Err(error),
            };
            if let Some(evaluation) = ended {
                let is_over = matches!(evaluation, Evaluation::Interrupted | Evaluation::Unusable(_));
                if is_over && !job.is_elsewhere.get() {
                    self.remove(name);
                }
                return Ok(evaluation);
            }
        }
    }
}

impl Evaluate for Jobs {
    fn evaluate(&self, problem: &Problem, point: &[f64]) -> Evaluation {
        if !OUTLIVES {
            return self.command.evaluate(problem, point);
        }
        let place = Self::place(problem, point);
        let n_outcomes = *self.known().entry(key(&place)).or_default();
        let name = name(&place, n_outcomes);
        self.run(problem, point, &name).unwrap_or_else(|error| {
            Evaluation::Unusable(format!("{}: {error}", self.folder.join(&name).display()))
        })
    }
}

/// One evaluation.
struct Job<'a> {
    folder: PathBuf,
    command: &'a Command,
    /// It could not be stopped: it runs on another machine, where the next loop may be.
    is_elsewhere: Cell<bool>,
}

impl Job<'_> {
    /// Starts it, with its output locked.
    fn start(&self, problem: &Problem, point: &[f64], output: File) -> io::Result<Child> {
        let input = serde_json::Value::Object(problem.point_to_json(point)).to_string() + "\n";
        let path = self.folder.join("point");
        std::fs::write(&path, input)?;
        // What an evaluation that died had printed.
        output.set_len(0)?;
        let mut process = supervised(&self.command.command, &self.folder);
        process.stdin(File::open(path)?).stdout(output).stderr(File::create(self.folder.join("errors"))?);
        // Our handle of the output ends here: from now on the lock is that of the processes.
        process.spawn()
    }

    /// Waits for its end; `None` when its processes have died and left no result. Without a child it was started by somebody else.
    fn watch(&self, mut child: Option<Child>) -> io::Result<Option<Evaluation>> {
        let mut output = File::open(self.folder.join("output"))?;
        let mut errors = File::open(self.folder.join("errors")).ok();
        let began = Instant::now();
        let before = match &child {
            Some(_) => Duration::ZERO,
            None => self.age(),
        };
        let code = loop {
            // In this order: it may end in between.
            let ended = match &mut child {
                Some(child) => child.try_wait()?.map(Some),
                None => (!is_locked(&self.folder.join("output"))?).then_some(None),
            };
            relay(errors.as_mut());
            match (self.status(), ended) {
                (Some(Ok(code)), _) => break Some(code),
                (Some(Err(why)), _) => return Ok(Some(Evaluation::Failed(why))),
                (None, Some(Some(status))) if status.code().is_none() => {
                    return Ok(Some(Evaluation::Failed(format!("the command ended with {status}"))));
                }
                // Its folder was removed.
                (None, Some(Some(status))) => break status.code(),
                (None, Some(None)) => return Ok(None),
                (None, None) => {}
            }
            let (interrupted, elapsed) = (self.command.interrupted(), before + began.elapsed());
            let is_long = |file: &File| file.metadata().is_ok_and(|data| data.len() > LONGEST_OUTPUT);
            let why = if self.command.timeout.is_some_and(|limit| elapsed >= limit) {
                Some(format!("no answer within {:.1} s", elapsed.as_secs_f64()))
            } else if is_long(&output) || errors.as_ref().is_some_and(is_long) {
                Some("it printed more than 1 GiB".to_owned())
            } else {
                None
            };
            if interrupted || why.is_some() {
                return Ok(Some(self.end(child, why.filter(|_| !interrupted))?));
            }
            std::thread::sleep(if child.is_some() { POLL } else { LOOK });
        };
        if let Some(child) = &mut child {
            child.wait()?;
        }
        if self.command.interrupted() {
            return Ok(Some(Evaluation::Interrupted));
        }
        // Either the end of the output or enough waiting for it: what the command left in the background may hold it for ever.
        let ended = Instant::now();
        while is_locked(&self.folder.join("output")).unwrap_or(false) && ended.elapsed() < LAST_WORDS {
            std::thread::sleep(POLL);
        }
        relay(errors.as_mut());
        let length = output.metadata()?.len();
        output.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        output.take(TAIL).read_to_end(&mut tail)?;
        let ending = code.map(ending).unwrap_or_default();
        Ok(Some(judged(&self.command.command, code, &ending, || tail)))
    }

    /// Stops it; for a reason it has failed, without one it was interrupted. The reason is on disk before, so that nobody begins it again.
    fn end(&self, child: Option<Child>, why: Option<String>) -> io::Result<Evaluation> {
        let written = why.as_ref().map_or(Ok(()), |why| {
            write_whole(&self.folder.join("status"), format!("{STOPPED}{why}\n").as_bytes())
        });
        match child {
            Some(mut child) => stop(&mut child, why.is_none()),
            None => {
                let text = std::fs::read_to_string(self.folder.join("process")).unwrap_or_default();
                let process = text.trim().parse();
                let is_here = process.is_ok_and(|p| stop_supervised(p, &self.folder, why.is_none()));
                self.is_elsewhere.set(!is_here && is_locked(&self.folder.join("output"))?);
            }
        }
        written?;
        Ok(why.map_or(Evaluation::Interrupted, Evaluation::Failed))
    }

    /// How it ended: the shell's number of it, or why it was stopped. A status that is not whole is none.
    fn status(&self) -> Option<Result<i32, String>> {
        let text = std::fs::read_to_string(self.folder.join("status")).ok()?;
        let line = text.strip_suffix('\n')?;
        match line.strip_prefix(STOPPED) {
            Some(why) => Some(Err(why.to_owned())),
            None => line.strip_prefix("exit ")?.parse().ok().map(Ok),
        }
    }

    /// How long ago it was started.
    fn age(&self) -> Duration {
        let started = std::fs::metadata(self.folder.join("point")).and_then(|data| data.modified());
        started.ok().and_then(|started| started.elapsed().ok()).unwrap_or_default()
    }
}

/// How a status begins that a loop wrote.
const STOPPED: &str = "stopped ";

/// True while a process has the file as its output.
fn is_locked(path: &Path) -> io::Result<bool> {
    match File::options().append(true).open(path)?.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Shows what an evaluation wrote for people since the last look.
fn relay(errors: Option<&mut File>) {
    let mut chunk = [0; 4096];
    if let Some(errors) = errors {
        while let Ok(n @ 1..) = errors.read(&mut chunk) {
            // Nobody reads them: no concern of the evaluation.
            let _ = io::stderr().write_all(&chunk[..n]);
        }
    }
}

/// What the folders of a point begin with.
fn key(point: &[f64]) -> String {
    // Both zeros are one point.
    let bytes: Vec<u8> = point.iter().flat_map(|x| (x + 0.0).to_bits().to_le_bytes()).collect();
    hexadecimal(fnv1a(&bytes)) + "-"
}

fn name(point: &[f64], n_outcomes: usize) -> String {
    format!("{}{n_outcomes}", key(point))
}

/// True for what [`name`] makes.
fn is_name(name: &str) -> bool {
    name.split_once('-').is_some_and(|(key, n_outcomes)| {
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        key.len() == 16 && key.bytes().all(|b| b.is_ascii_hexdigit()) && is_digits(n_outcomes)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use leafgp::engine::{Evaluate, Evaluation};
    use leafgp::problem::{Problem, Variable};

    use super::{Jobs, key, name};
    use crate::command::Command;

    const POINT: [f64; 2] = [2.5, 1.0];

    struct Laboratory {
        folder: tempfile::TempDir,
        problem: Problem,
    }

    impl Laboratory {
        fn new() -> Self {
            let problem = Problem::builder("test")
                .variable(Variable::continuous("x", 0.0, 10.0))
                .variable(Variable::categorical("solvent", ["water", "acetone"]))
                .build()
                .unwrap();
            Self { folder: tempfile::tempdir().unwrap(), problem }
        }

        fn jobs(&self, command: &str, timeout: Option<f64>) -> Jobs {
            let timeout = timeout.map(Duration::from_secs_f64);
            let command = Command { command: command.into(), timeout, interrupt: None };
            Jobs::new(command, self.path("p.jobs"))
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn evaluate(&self, command: &str, timeout: Option<f64>) -> Evaluation {
            let jobs = self.jobs(command, timeout);
            jobs.expect(&POINT, 0).unwrap();
            let evaluation = jobs.evaluate(&self.problem, &POINT);
            jobs.close(&POINT);
            assert!(!self.path("p.jobs").exists(), "{command}: its folder is left");
            evaluation
        }

        /// What another loop left of an evaluation for which there were so many outcomes.
        fn left(&self, n_outcomes: usize, output: &str, status: Option<&str>) {
            let folder = self.path("p.jobs").join(name(&POINT, n_outcomes));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("output"), output).unwrap();
            if let Some(status) = status {
                std::fs::write(folder.join("status"), status).unwrap();
            }
        }
    }

    #[test]
    fn an_evaluation_with_a_folder_gives_what_the_command_alone_gives() {
        let laboratory = Laboratory::new();
        for command in [
            r#"read line; [ "$line" = '{"x":2.5,"solvent":"acetone"}' ] && echo progress && echo 4.25 && echo"#,
            "exit 3",
            "echo good",
            "echo nan",
            "true",
            "kill -9 $$",
            "kill -TERM $$",
            "exit 255",
            "printf '%090000d' 0 | tr 0 x",
            "no-such-program",
            "/dev/null",
            "exit 127",
            "sleep 30 & echo 5",
            "(sleep 0.1; echo 6) & true",
            "i=0; while [ $i -lt 20000 ]; do echo progress $i; i=$((i+1)); done; echo 1.5",
        ] {
            let alone = Command { command: command.into(), timeout: None, interrupt: None };
            // The end of a long line is all that is kept of it.
            let expected = match alone.evaluate(&laboratory.problem, &POINT) {
                Evaluation::Failed(why) if why.contains("(90000 bytes)") => {
                    Evaluation::Failed(why.replace("90000", "65536"))
                }
                evaluation => evaluation,
            };
            assert_eq!(laboratory.evaluate(command, None), expected, "{command}");
        }
    }

    #[test]
    fn a_time_out_stops_everything_the_command_started() {
        let laboratory = Laboratory::new();
        let mark = laboratory.path("still-running");
        let command = format!("(sleep 1; touch '{}') & sleep 30; echo 1", mark.display());
        match laboratory.evaluate(&command, Some(0.2)) {
            Evaluation::Failed(why) => assert!(why.contains("no answer within"), "{why}"),
            other => panic!("{other:?}"),
        }
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "the background process outlived its command");
    }

    #[test]
    fn a_whole_status_is_a_result_and_half_a_one_is_not() {
        let laboratory = Laboratory::new();
        for (status, expected) in [
            (Some("exit 0\n"), Evaluation::Value(7.0)),
            (Some("exit 3\n"), Evaluation::Failed("the command ended with exit status: 3".into())),
            (Some("exit 137\n"), Evaluation::Failed("the command ended with signal: 9 (SIGKILL)".into())),
            (Some("stopped no answer\n"), Evaluation::Failed("no answer".into())),
            // Begun again.
            (Some("exit 0"), Evaluation::Value(8.0)),
            (Some("exit 13"), Evaluation::Value(8.0)),
            (Some("exit \n"), Evaluation::Value(8.0)),
            (Some(""), Evaluation::Value(8.0)),
            (None, Evaluation::Value(8.0)),
        ] {
            laboratory.left(0, "7\n", status);
            assert_eq!(laboratory.evaluate("echo 8", None), expected, "{status:?}");
        }
    }

    #[test]
    fn the_result_of_an_outcome_that_is_on_record_is_not_taken_again() {
        let laboratory = Laboratory::new();
        laboratory.left(0, "7\n", Some("exit 0\n"));
        let jobs = laboratory.jobs("echo 8", None);
        assert!(jobs.begun().unwrap()(&POINT) && !jobs.begun().unwrap()(&[2.5, 0.0]));
        jobs.expect(&POINT, 1).unwrap();
        assert_eq!(jobs.evaluate(&laboratory.problem, &POINT), Evaluation::Value(8.0));
        jobs.close(&POINT);
        assert!(!laboratory.path("p.jobs").exists());
    }

    #[test]
    fn a_sweep_leaves_what_runs_what_is_pending_and_what_is_not_ours() {
        let laboratory = Laboratory::new();
        let jobs = laboratory.jobs("echo 8", None);
        for n_outcomes in 0..4 {
            laboratory.left(n_outcomes, "7\n", Some("exit 0\n"));
        }
        std::fs::create_dir(laboratory.path("p.jobs").join("notes-1")).unwrap();
        let running = std::fs::File::open(laboratory.path("p.jobs").join(name(&POINT, 3)).join("output"));
        let running = running.unwrap();
        running.try_lock().unwrap();
        jobs.sweep(&jobs.found().unwrap(), &[(&POINT, 1)]);
        let entries = std::fs::read_dir(laboratory.path("p.jobs")).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let mut expected = vec![name(&POINT, 1), name(&POINT, 3), "notes-1".to_owned()];
        expected.sort();
        assert_eq!(names, expected);
        assert_eq!(key(&[0.0]), key(&[-0.0]), "both zeros are one point");
    }
}
