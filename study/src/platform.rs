//! Shell commands that can be stopped with everything they started: the one place in this crate that asks which system it is compiled for.
//!
//! On Unix a command is a process group. Elsewhere only the shell itself is stopped.

use std::process::{Child, Command};
use std::time::Duration;

/// How often a running command is looked at.
pub(crate) const POLL: Duration = Duration::from_millis(5);

/// A shell command in a process group of its own.
pub(crate) fn shell(command: &str) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut process = Command::new(shell);
    process.arg(flag).arg(command);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    process
}

/// Ends a command and all it started: politely, then not.
pub(crate) fn stop(child: &mut Child) {
    #[cfg(unix)]
    stop_group(child);
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn stop_group(child: &mut Child) {
    use nix::sys::signal::{Signal, killpg};
    /// How long it may take to end by itself before it is killed.
    const GRACE: Duration = Duration::from_millis(500);

    let group = nix::unistd::Pid::from_raw(child.id() as i32);
    // It may have ended in between; then there is nothing to stop.
    let _ = killpg(group, Signal::SIGTERM);
    let asked = std::time::Instant::now();
    while asked.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(POLL);
    }
    let _ = killpg(group, Signal::SIGKILL);
}
