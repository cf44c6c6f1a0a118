//! A loop that was killed, and the next one that goes on with its evaluations.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::strike::Random;
use crate::support::{Folder, PROBLEM};

/// Notes that it has begun, waits for the file `open`, and gives a value.
const GATED: &str =
    "read p; echo \"$p\" >> begun; while [ ! -e open ]; do sleep 0.02; done; echo \"$p\" | cksum | cut -c1-3";

fn start(folder: &Folder, evaluate: &str, parallel: &str, more: &[&str]) -> Child {
    let arguments = ["run", "p.toml", "--iterations", "4", "--evaluate", evaluate, "--parallel", parallel];
    let mut command = folder.command(&[&arguments[..], more].concat());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn lines(folder: &Folder, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The numbers of the processes that evaluate.
fn processes(folder: &Folder) -> Vec<String> {
    let jobs = std::fs::read_dir(folder.path("p.jobs")).unwrap();
    let process = |job: &Path| std::fs::read_to_string(job.join("process")).unwrap_or_default();
    let mut all: Vec<String> = jobs.map(|job| process(&job.unwrap().path()).trim().to_owned()).collect();
    all.retain(|process| !process.is_empty());
    all
}

fn signal(signal: &str, target: &str) {
    let status = std::process::Command::new("kill").args(["-s", signal, "--", target]).status().unwrap();
    assert!(status.success());
}

/// False also for an end that nobody has taken note of yet.
fn is_running(process: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn done(folder: &Folder) -> usize {
    lines(folder, "p.csv").iter().skip(1).filter(|row| !row.ends_with(',')).count()
}

#[test]
fn evaluations_of_a_killed_loop_are_waited_for_and_those_that_ended_meanwhile_taken_in() {
    for ended_meanwhile in [false, true] {
        let folder = Folder::with_problem(PROBLEM);
        let mut first = start(&folder, GATED, "3", &[]);
        wait_until("three begin", || lines(&folder, "begun").len() == 3);
        kill(&mut first);
        assert_eq!((done(&folder), lines(&folder, "p.csv").len()), (0, 4));
        if ended_meanwhile {
            folder.write("open", "");
            let ended = || std::fs::read_dir(folder.path("p.jobs")).unwrap();
            wait_until("all end", || ended().all(|job| job.unwrap().path().join("status").exists()));
        }
        // More at a time than there are: two new ones start.
        let mut second = start(&folder, GATED, "5", &[]);
        wait_until("five have begun", || lines(&folder, "begun").len() >= 5);
        folder.write("open", "");
        assert_eq!(second.wait().unwrap().code(), Some(0));
        // Five of the design, of which the killed loop planned three, and four.
        let mut begun = lines(&folder, "begun");
        assert_eq!((done(&folder), begun.len()), (6, 6), "{:?}", lines(&folder, "p.csv"));
        begun.sort();
        begun.dedup();
        assert_eq!(begun.len(), 6, "none began twice");
        assert!(!folder.path("p.jobs").exists(), "nothing is left");
    }
}

#[test]
fn an_evaluation_that_died_with_its_loop_begins_again_and_half_a_status_is_none() {
    let folder = Folder::with_problem(PROBLEM);
    let mut first = start(&folder, GATED, "2", &[]);
    wait_until("two begin", || lines(&folder, "begun").len() == 2 && processes(&folder).len() == 2);
    kill(&mut first);
    for process in processes(&folder) {
        signal("KILL", &format!("-{process}"));
    }
    for job in std::fs::read_dir(folder.path("p.jobs")).unwrap() {
        let job = job.unwrap().path();
        std::fs::write(job.join("output"), "7\n").unwrap();
        std::fs::write(job.join("status"), "exit 0").unwrap();
        std::fs::write(job.join("status.part"), "exit 0\n").unwrap();
    }
    folder.write("open", "");
    let mut second = start(&folder, GATED, "2", &[]);
    assert_eq!(second.wait().unwrap().code(), Some(0));
    let mut begun = lines(&folder, "begun");
    assert_eq!(begun.len(), done(&folder) + 2);
    begun.sort();
    begun.dedup();
    assert_eq!(begun.len(), done(&folder));
    assert!(!folder.path("p.jobs").exists());
}

#[test]
fn a_loop_stops_what_another_one_started_when_its_time_is_over_or_it_is_interrupted() {
    let folder = Folder::with_problem(PROBLEM);
    let mut first = start(&folder, GATED, "2", &[]);
    wait_until("two begin", || lines(&folder, "begun").len() == 2 && processes(&folder).len() == 2);
    kill(&mut first);
    let old = processes(&folder);
    let mut second = start(&folder, GATED, "2", &["--timeout", "0.05"]);
    assert_eq!(second.wait().unwrap().code(), Some(1), "three failures in a row");
    assert!(!old.iter().any(|process| is_running(process)), "they were stopped");
    let table = folder.read("p.csv");
    assert!(table.matches("no answer within").count() >= 3, "{table}");

    let folder = Folder::with_problem(PROBLEM);
    let mut first = start(&folder, GATED, "2", &[]);
    wait_until("two begin", || lines(&folder, "begun").len() == 2 && processes(&folder).len() == 2);
    kill(&mut first);
    let old = processes(&folder);
    let mut second = start(&folder, GATED, "3", &[]);
    wait_until("a third one begins", || lines(&folder, "begun").len() == 3);
    signal("INT", &second.id().to_string());
    assert_eq!(second.wait().unwrap().code(), Some(130));
    wait_until("they are stopped", || !old.iter().any(|process| is_running(process)));
    assert!(!folder.path("p.jobs").exists());
}

#[test]
fn a_result_that_was_recorded_is_not_recorded_again_and_told_rows_stay_as_they_are() {
    let folder = Folder::with_problem(PROBLEM);
    let mut first = start(&folder, GATED, "2", &[]);
    wait_until("two begin", || lines(&folder, "begun").len() == 2);
    kill(&mut first);
    // A person was faster with one of them.
    assert_eq!(folder.run(&["tell", "p.toml", "1", "123456"]).code, 0);
    folder.write("open", "");
    let jobs = || std::fs::read_dir(folder.path("p.jobs")).unwrap();
    wait_until("all end", || jobs().all(|job| job.unwrap().path().join("status").exists()));
    let mut second = start(&folder, GATED, "2", &[]);
    assert_eq!(second.wait().unwrap().code(), Some(0));
    let table = lines(&folder, "p.csv");
    assert!(table[1].ends_with(",123456"), "{table:?}");
    assert_eq!((done(&folder), lines(&folder, "begun").len()), (table.len() - 1, table.len() - 1));
    assert!(!folder.path("p.jobs").exists());
}

/// Kills a loop with three evaluations at a time, again and again, until it comes to its end.
fn kill_and_go_on(seed: u64, kills: usize) {
    let folder = Folder::with_problem(PROBLEM);
    let mut random = Random(seed);
    let measure = "read p; echo \"$p\" >> begun; sleep 0.0$(($$ % 9)); v=$(echo \"$p\" | cksum | cut -c1-3); echo noise; echo $v";
    for _ in 0..kills {
        let mut child = start(&folder, measure, "3", &[]);
        std::thread::sleep(Duration::from_millis(random.below(250) as u64));
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert_eq!(start(&folder, measure, "3", &[]).wait().unwrap().code(), Some(0));
    // Rows that are still pending, or were added: a last one for each.
    let pending = lines(&folder, "p.csv").len() - 1 - done(&folder);
    assert_eq!(pending, 0);
    let mut begun = lines(&folder, "begun");
    assert_eq!(begun.len(), done(&folder), "each was begun and recorded once");
    begun.sort();
    begun.dedup();
    assert_eq!(begun.len(), done(&folder), "none was begun twice");
    let table = lines(&folder, "p.csv");
    for (row, point) in table.iter().skip(1).zip(1..) {
        let sum = row.rsplit_once(',').unwrap().1;
        assert!(sum.len() <= 3 && sum.parse::<u32>().is_ok(), "row {point}: {row}");
    }
    assert!(!folder.path("p.jobs").exists());
}

#[test]
fn a_loop_killed_at_any_moment_loses_no_evaluation_and_begins_none_twice() {
    kill_and_go_on(0x5EED, 12);
}

#[test]
#[ignore = "two minutes"]
fn a_loop_killed_hundreds_of_times_loses_no_evaluation_and_begins_none_twice() {
    for seed in 1..=20 {
        kill_and_go_on(seed << 32 | 0x5EED, 25);
    }
}
