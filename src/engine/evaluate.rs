//! Where objective values come from: a built-in function, or a command of the user's.

use std::io::{Read, Write};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::functions::Benchmark;
use crate::problem::Problem;

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(5);

/// What an evaluation gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// The objective, finite.
    Value(f64),
    /// It was run and gave no value; why.
    Failed(String),
    /// The user interrupted it; nothing is known.
    Interrupted,
}

/// A source of objective values; called from several threads at once when experiments run side by side.
pub trait Evaluate: Sync {
    /// Runs the experiment at a point of the problem.
    fn evaluate(&self, problem: &Problem, point: &[f64]) -> Evaluation;
}

/// One of the built-in benchmark functions.
#[derive(Clone, Copy, Debug)]
pub struct FunctionEvaluator(pub &'static Benchmark);

impl Evaluate for FunctionEvaluator {
    fn evaluate(&self, _problem: &Problem, point: &[f64]) -> Evaluation {
        match self.0.evaluate(point) {
            value if value.is_finite() => Evaluation::Value(value),
            value => Evaluation::Failed(format!("the function's value is {value}")),
        }
    }
}

/// A command run through the shell: the point as a JSON object on standard input, the objective as the last line of standard output.
#[derive(Clone, Debug)]
pub struct Command {
    /// The shell's command line.
    pub command: String,
    /// When to give up on one evaluation.
    pub timeout: Option<Duration>,
    /// Set when the user interrupts.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Command {
    fn shell(&self) -> Process {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut process = Process::new(shell);
        process.arg(flag).arg(&self.command);
        process
    }

    fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Evaluate for Command {
    fn evaluate(&self, problem: &Problem, point: &[f64]) -> Evaluation {
        let input = serde_json::Value::Object(problem.point_to_json(point)).to_string() + "\n";
        let child =
            self.shell().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return Evaluation::Failed(format!("the command could not be started: {error}")),
        };
        let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both streams were asked for as pipes")
        };
        // Both pipes have threads of their own: a command that never reads or never stops writing must not block the limit. A command
        // that does not read its input closes the pipe: no error of ours.
        std::thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.read_to_end(&mut bytes).map(|_| bytes);
            // The receiver is gone after a time-out.
            let _ = sender.send(read);
        });

        let started = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Err(error) => return Evaluation::Failed(format!("the command was lost: {error}")),
                Ok(None) => {}
            }
            let timed_out = self.timeout.is_some_and(|limit| started.elapsed() >= limit);
            if timed_out || self.interrupted() {
                // It may have ended in between; then there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                return if self.interrupted() {
                    Evaluation::Interrupted
                } else {
                    Evaluation::Failed(format!("no answer within {:.1} s", started.elapsed().as_secs_f64()))
                };
            }
            std::thread::sleep(POLL);
        };
        if self.interrupted() {
            return Evaluation::Interrupted;
        }
        if !status.success() {
            return Evaluation::Failed(format!("the command ended with {status}"));
        }
        match output.recv() {
            Ok(Ok(bytes)) => last_number(&String::from_utf8_lossy(&bytes)),
            Ok(Err(error)) => Evaluation::Failed(format!("the command's output could not be read: {error}")),
            Err(_) => Evaluation::Failed("the command's output was lost".into()),
        }
    }
}

/// The number on the last line that is not blank.
fn last_number(output: &str) -> Evaluation {
    let Some(line) = output.lines().map(str::trim).rfind(|line| !line.is_empty()) else {
        return Evaluation::Failed("the command printed nothing; expected a number on the last line".into());
    };
    match line.parse::<f64>() {
        Ok(value) if value.is_finite() => Evaluation::Value(value),
        _ => Evaluation::Failed(format!("the last line printed was {line:?}; expected a finite number")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::{Command, Evaluate, Evaluation};
    use crate::problem::{Problem, Variable};

    fn evaluate(command: &str, timeout: Option<f64>) -> Evaluation {
        let problem = Problem::builder("test")
            .variable(Variable::continuous("x", 0.0, 10.0))
            .variable(Variable::categorical("solvent", ["water", "acetone"]))
            .build()
            .unwrap();
        let command = Command {
            command: command.into(),
            timeout: timeout.map(Duration::from_secs_f64),
            interrupt: None,
        };
        command.evaluate(&problem, &[2.5, 1.0])
    }

    #[test]
    fn the_point_goes_in_as_json_and_the_last_line_comes_back() {
        let check = r#"read line; [ "$line" = '{"x":2.5,"solvent":"acetone"}' ] && echo progress && echo 4.25 && echo"#;
        assert_eq!(evaluate(check, None), Evaluation::Value(4.25));
    }

    #[test]
    fn each_way_to_fail_says_why() {
        for (command, expected) in [
            ("exit 3", "exit status: 3"),
            ("echo good", "\"good\""),
            ("echo nan", "finite"),
            ("true", "printed nothing"),
            ("kill -9 $$", "signal"),
        ] {
            match evaluate(command, None) {
                Evaluation::Failed(why) => assert!(why.contains(expected), "{command}: {why}"),
                other => panic!("{command}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_command_that_hangs_or_floods_is_stopped() {
        for command in ["sleep 30", "cat > /dev/null; yes"] {
            assert!(
                matches!(evaluate(command, Some(0.2)), Evaluation::Failed(why) if why.contains("no answer"))
            );
        }
    }
}
