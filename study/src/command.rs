//! Objective values from a command of the user's.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use leafgp::engine::{Evaluate, Evaluation};
use leafgp::problem::Problem;

use crate::platform::{POLL, shell, stop};

/// How long to wait for the end of the output once the command itself has ended: what it left in the background may hold the pipe for ever.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

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
    pub(crate) fn interrupted(&self) -> bool {
        leafgp::engine::interrupted(self.interrupt.as_deref())
    }
}

impl Evaluate for Command {
    fn evaluate(&self, problem: &Problem, point: &[f64]) -> Evaluation {
        let input = serde_json::Value::Object(problem.point_to_json(point)).to_string() + "\n";
        let mut process = shell(&self.command);
        let child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
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
        let output = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = mpsc::channel();
        let collected = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut chunk) {
                keep_tail(&mut collected.lock().unwrap_or_else(PoisonError::into_inner), &chunk[..n]);
            }
            // Nobody waits any more after a time-out.
            let _ = sender.send(());
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
                let seconds = started.elapsed().as_secs_f64();
                stop(&mut child, self.interrupted());
                return if self.interrupted() {
                    Evaluation::Interrupted
                } else {
                    Evaluation::Failed(format!("no answer within {seconds:.1} s"))
                };
            }
            std::thread::sleep(POLL);
        };
        if self.interrupted() {
            return Evaluation::Interrupted;
        }
        judged(&self.command, status.code(), &status.to_string(), || {
            // Either the end of the output or enough waiting for it.
            let _ = ended.recv_timeout(LAST_WORDS);
            output.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    }
}

/// What a command gave that ended with a code, or without one; how, in words.
pub(crate) fn judged(
    command: &str,
    code: Option<i32>,
    ending: &str,
    output: impl FnOnce() -> Vec<u8>,
) -> Evaluation {
    match code {
        Some(0) => last_number(&String::from_utf8_lossy(&output())),
        // What the shell says of a command that it cannot run, or that does not exist.
        Some(code @ (126 | 127)) => Evaluation::Unusable(format!(
            "the command cannot be run (exit status {code}): {}",
            shortened(command)
        )),
        _ => Evaluation::Failed(format!("the command ended with {ending}")),
    }
}

/// Appends output, forgetting what is too long ago to be in the last line of any sensible length.
pub(crate) fn keep_tail(output: &mut Vec<u8>, chunk: &[u8]) {
    const KEPT: usize = 1 << 16;
    output.extend_from_slice(chunk);
    if output.len() > 2 * KEPT {
        output.drain(..output.len() - KEPT);
    }
}

/// The number on the last line that is not blank.
fn last_number(output: &str) -> Evaluation {
    let Some(line) = output.lines().map(str::trim).rfind(|line| !line.is_empty()) else {
        return Evaluation::Failed("the command printed nothing; expected a number on the last line".into());
    };
    match line.parse::<f64>() {
        Ok(value) if value.is_finite() => Evaluation::Value(value),
        _ => Evaluation::Failed(format!(
            "the last line printed was {:?}; expected a finite number",
            shortened(line)
        )),
    }
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 100;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use leafgp::engine::{Evaluate, Evaluation};

    use leafgp::problem::{Problem, Variable};

    use super::Command;

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
            ("printf '%090000d' 0 | tr 0 x", "... (90000 bytes)"),
        ] {
            match evaluate(command, None) {
                Evaluation::Failed(why) => assert!(why.contains(expected), "{command}: {why}"),
                other => panic!("{command}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_command_that_cannot_be_run_is_no_failed_experiment() {
        for command in ["no-such-program", "/dev/null", "exit 127"] {
            match evaluate(command, None) {
                Evaluation::Unusable(why) => {
                    assert!(why.contains(command) && why.contains("status 12"), "{why}");
                }
                other => panic!("{command}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_a_command_leaves_in_the_background_is_not_waited_for() {
        let started = std::time::Instant::now();
        assert_eq!(evaluate("sleep 30 & echo 5", None), Evaluation::Value(5.0));
        assert!(started.elapsed() < Duration::from_secs(20), "it waited for the background process");
    }

    #[test]
    fn a_time_out_stops_everything_the_command_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("still-running");
        let command = format!("(sleep 1; touch '{}') & sleep 30; echo 1", mark.display());
        assert!(matches!(evaluate(&command, Some(0.2)), Evaluation::Failed(_)));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "the background process outlived its command");
    }

    #[test]
    fn what_is_stopped_may_clean_up_first_even_when_the_shell_has_ended() {
        use std::sync::Arc;
        use std::sync::atomic::AtomicBool;

        // As srun does: the shell ends at the signal, what it started has to tell others.
        let cleaning = |mark: &std::path::Path| {
            let child = format!("trap 'sleep 1; touch \"{}\"; exit' TERM; sleep 30 & wait", mark.display());
            format!("sh -c '{}' & wait", child.replace('\'', "'\\''"))
        };
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("after-time-out");
        assert!(matches!(evaluate(&cleaning(&mark), Some(0.3)), Evaluation::Failed(_)));
        assert!(mark.exists(), "it was killed before it had cleaned up");

        // Nobody waits for it after an interrupt, and it is not killed at once either.
        let mark = folder.path().join("after-interrupt");
        let interrupt = Arc::new(AtomicBool::new(false));
        let command =
            Command { command: cleaning(&mark), timeout: None, interrupt: Some(Arc::clone(&interrupt)) };
        let problem =
            Problem::builder("test").variable(Variable::continuous("x", 0.0, 10.0)).build().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            assert_eq!(command.evaluate(&problem, &[2.5]), Evaluation::Interrupted);
        });
        assert!(!mark.exists(), "it was waited for");
        let started = std::time::Instant::now();
        while !mark.exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "it was killed before it had cleaned up");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn only_the_last_line_of_a_long_output_matters() {
        let chatter = "i=0; while [ $i -lt 20000 ]; do echo progress $i; i=$((i+1)); done; echo 1.5";
        assert_eq!(evaluate(chatter, None), Evaluation::Value(1.5));
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
