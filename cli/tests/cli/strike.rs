//! Starting the binary and killing it (SIGKILL) somewhere in what it does, as a power cut would.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Folder;

/// Numbers for the choices of a test (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from 0 to `n` - 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// A time shorter than `longest`.
    fn time_below(&mut self, longest: Duration) -> Duration {
        Duration::from_micros(self.below(longest.as_micros().max(1) as usize) as u64)
    }
}

/// How long a writer that has the lock goes on, at most: it writes, synchronises and renames.
const WRITING: Duration = Duration::from_millis(6);

/// Starts a command and kills it: half of the times at any moment of what it usually takes, else soon after it has locked the table `NAME.csv`. Returns its exit
/// code, or `None` when it was killed. Whatever it started has ended, too.
pub(crate) fn strike(
    folder: &Folder,
    table: &str,
    arguments: &[&str],
    usual: Duration,
    random: &mut Random,
) -> Option<i32> {
    // All that the command starts keeps this pipe open.
    let mut command = Command::new("sh");
    command.args(["-c", "exec 3>&1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_leafgp")]).args(arguments);
    command.current_dir(folder.path(".")).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    if random.below(2) == 0 {
        std::thread::sleep(random.time_below(usual));
    } else {
        let lock = folder.path(&format!(".{table}.lock"));
        let ended = |child: &mut std::process::Child| child.try_wait().unwrap().is_some();
        // The first time for a look at the table, it may be; a later one then.
        for _ in 0..=random.below(3) {
            while !lock.exists() && !ended(&mut child) && started.elapsed() < 3 * usual {
                std::thread::sleep(Duration::from_micros(100));
            }
            std::thread::sleep(random.time_below(WRITING));
        }
    }
    let _ = child.kill();
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap().code()
}

/// How long a command takes that is left alone.
pub(crate) fn time_of(folder: &Folder, arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let run = folder.run(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    started.elapsed()
}
