//! Shell commands that can be stopped with everything they started: the one place in this crate that asks which system it is compiled for.
//!
//! On Unix a command is a process group. Elsewhere only the shell itself is stopped.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// How often a running command is looked at.
pub(crate) const POLL: Duration = Duration::from_millis(5);

/// True where a command can go on without the program that started it, and be found again: [`supervised`].
pub(crate) const OUTLIVES: bool = cfg!(unix);

/// A shell command in a process group of its own.
pub(crate) fn shell(command: &str) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut process = Command::new(shell);
    process.arg(flag).arg(command);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    process
}

/// What keeps the status of a command for a program that does not live any more: the process's number first, then, once its output is on disk, how it ended, whole or not at all.
/// It says nothing of its own where the command writes its errors.
const SUPERVISOR: &str = r#"exec 9>&2 2> /dev/null
echo $$ > "$2/process"
(sh -c "$1" 2>&9 9>&-)
code=$?
echo "exit $code" > "$2/status.part" && {
    sync "$2/output" "$2/status.part"
    mv "$2/status.part" "$2/status"
}
exit $code"#;

/// [`shell`], with the command's process and status written into a folder.
pub(crate) fn supervised(command: &str, folder: &Path) -> Command {
    let mut process = shell(SUPERVISOR);
    process.arg("leafgp-evaluation").arg(command).arg(folder);
    process
}

/// How a command ended, by the shell's number of it.
pub(crate) fn ending(code: i32) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        // The shell says 128 + n of a command that signal n ended.
        let raw = if (129..160).contains(&code) { code - 128 } else { code << 8 };
        std::process::ExitStatus::from_raw(raw).to_string()
    }
    #[cfg(not(unix))]
    format!("exit code: {code}")
}

/// Ends a command and all it started: politely, then not. In a hurry it does not wait long for the polite end; what goes on then is ended later, by a process of its own.
pub(crate) fn stop(child: &mut Child, hurry: bool) {
    #[cfg(unix)]
    unix::stop_group(child.id() as i32, hurry, || {
        let _ = child.try_wait();
    });
    #[cfg(not(unix))]
    let _ = hurry;
    let _ = child.kill();
    let _ = child.wait();
}

/// [`stop`] for the command of another program, by the number of its process; nothing is done, and the answer is false, when the process is not the one that works for the `folder`.
pub(crate) fn stop_supervised(process: i32, folder: &Path, hurry: bool) -> bool {
    #[cfg(unix)]
    {
        let is_it = unix::works_for(process, folder);
        if is_it {
            unix::stop_group(process, hurry, || ());
        }
        is_it
    }
    #[cfg(not(unix))]
    {
        let _ = (process, folder, hurry);
        false
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    use super::{POLL, shell};

    /// How long a command may take to end by itself before it is killed: `srun` has to cancel its job first, for which the controller takes seconds.
    const GRACE: Duration = Duration::from_secs(10);
    /// How much of that somebody waits who pressed Ctrl-C.
    const HURRY: Duration = Duration::from_millis(500);
    /// How long between two looks at those that take their time.
    const LOOK: Duration = Duration::from_millis(50);
    /// Kills a group as soon as its time is up, in tenths of a second; gone when the group is.
    const REAPER: &str = r#"n=0
while kill -s 0 -- "-$1" && [ $n -lt "$2" ]; do sleep 0.1; n=$((n + 1)); done
kill -s KILL -- "-$1""#;

    pub(super) fn stop_group(leader: i32, hurry: bool, mut reap: impl FnMut()) {
        let group = Pid::from_raw(leader);
        // It may have ended in between; then there is nothing to stop.
        let _ = killpg(group, Signal::SIGTERM);
        let asked = Instant::now();
        let patience = if hurry { HURRY } else { GRACE };
        let mut pause = POLL;
        while asked.elapsed() < patience {
            reap();
            if !lives(group) {
                return;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LOOK);
        }
        let left = GRACE.saturating_sub(asked.elapsed()).as_millis() / 100;
        let reaper = || {
            let mut reaper = shell(REAPER);
            reaper.arg("leafgp-reaper").arg(leader.to_string()).arg(left.to_string());
            reaper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        if !hurry || reaper().is_err() {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }

    /// True while a process of the group runs. Nobody may be there to take note of the end of one whose parent has died, as in many containers: that is no running one.
    fn lives(group: Pid) -> bool {
        killpg(group, None).is_ok() && !is_all_ended(group).unwrap_or(false)
    }

    /// True when all that is left of the group are ends that nobody took note of; `None` where the system does not tell.
    fn is_all_ended(group: Pid) -> Option<bool> {
        let mut ended = false;
        for entry in std::fs::read_dir("/proc").ok()?.flatten() {
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // The name may be anything, in brackets: state, parent and group come after it.
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let (state, of) = (fields.next()?, fields.nth(1)?);
            if of.parse() == Ok(group.as_raw()) {
                if !matches!(state, "Z" | "X") {
                    return Some(false);
                }
                ended = true;
            }
        }
        Some(ended)
    }

    /// True when the arguments of a process name the folder: numbers of processes are given again.
    pub(super) fn works_for(process: i32, folder: &Path) -> bool {
        let arguments = std::fs::read(format!("/proc/{process}/cmdline")).or_else(|_| {
            let ps = Command::new("ps").args(["-o", "args=", "-p", &process.to_string()]).output();
            ps.map(|output| output.stdout)
        });
        let name = folder.file_name().map_or(&[][..], OsStrExt::as_bytes);
        let holds_name = |text: Vec<u8>| text.windows(name.len().max(1)).any(|part| part == name);
        arguments.is_ok_and(holds_name)
    }
}
