//! `leafgp status`, `tell`, `fail`, `cancel`, and pending rows in `run`.

use std::process::Stdio;
#[cfg(unix)]
use std::time::{Duration, Instant};

use crate::support::{Folder, PROBLEM};

const HISTORY: &str =
    "x;n;head;who;cost\r\n0,5;1;flat;Eva;\r\n\r\n0,25;2;round;\"a;b\";7,5\r\n0,75;3;flat;;\r\n";

fn folder() -> Folder {
    let folder = Folder::with_problem(PROBLEM);
    folder.write("p.csv", HISTORY);
    folder
}

fn status(folder: &Folder) -> serde_json::Value {
    folder.run(&["status", "p.toml", "--format", "json"]).json()
}

#[test]
fn a_told_value_changes_one_cell_and_nothing_else() {
    let folder = folder();
    assert_eq!(folder.run(&["tell", "p.toml", "3", "-1.25"]).code, 0);
    assert_eq!(folder.read("p.csv"), HISTORY.replace("0,75;3;flat;;", "0,75;3;flat;;-1,25"));
    assert_eq!(status(&folder)["best"]["row"], 3);
    folder.refused(&["tell", "p.toml", "2", "8"], &["experiment 2 has the value 7.5 already"]);
    assert_eq!(folder.run(&["tell", "p.toml", "2", "8", "--replace"]).code, 0);
    assert!(folder.read("p.csv").contains("\"a;b\";8\r\n"));
    folder.refused(&["tell", "p.toml", "4", "8"], &["p.csv", "there is no experiment 4", "from 1 to 3"]);
    folder.refused(&["tell", "p.toml", "1", "inf"], &["finite"]);
}

#[test]
fn a_failure_has_a_reason_and_a_retry_is_pending_again() {
    let folder = folder();
    assert_eq!(folder.run(&["fail", "p.toml", "1", "--reason", "stirrer\nstuck; again"]).code, 0);
    let text = folder.read("p.csv");
    assert!(text.starts_with("x;n;head;who;cost;failure;status\r\n"), "{text}");
    assert!(text.contains("0,5;1;flat;Eva;;\"stirrer stuck; again\";failed\r\n"), "{text}");
    let known = status(&folder);
    assert_eq!(
        (&known["failed"][0]["row"], &known["failed"][0]["failure"]),
        (&1.into(), &"stirrer stuck; again".into())
    );
    let table = folder.run(&["status", "p.toml"]).stdout;
    for line in [
        "1 done, 1 pending, 1 failed",
        "best so far: cost = 7.5 in row 2 at x = 0.25, n = 2, head = round",
        "pending: row 3 (line 5): x = 0.75, n = 3, head = flat",
        "failed: row 1 (line 2): x = 0.5, n = 1, head = flat (stirrer stuck; again)",
    ] {
        assert!(table.contains(line), "{line}:\n{table}");
    }
    assert_eq!(folder.run(&["fail", "p.toml", "1", "--retry"]).code, 0);
    assert_eq!(status(&folder)["pending"].as_array().unwrap().len(), 2);
    folder.refused(&["fail", "p.toml", "2"], &["has the value 7.5 already"]);
}

#[test]
fn only_pending_rows_can_be_cancelled() {
    let folder = folder();
    assert_eq!(folder.run(&["cancel", "p.toml", "1"]).code, 0);
    assert_eq!(folder.read("p.csv"), HISTORY.replace("0,5;1;flat;Eva;\r\n", ""));
    folder.refused(&["cancel", "p.toml", "1"], &["experiment 1 is not pending"]);
    let empty = Folder::with_problem(PROBLEM);
    empty.refused(&["cancel", "p.toml", "1"], &["p.csv", "no such file"]);
}

#[test]
fn every_kind_of_change_keeps_what_others_write_meanwhile() {
    let folder = Folder::with_problem(PROBLEM);
    let rows: String = (0..12).map(|k| format!("0.{k:02},1,flat,\n")).collect();
    folder.write("p.csv", format!("x,n,head,cost\n{rows}"));
    let children: Vec<_> = (1..=12)
        .map(|row: u32| {
            let (row, value) = (row.to_string(), (100 + row).to_string());
            let mut command = folder.command(&["tell", "p.toml", &row, &value]);
            command.stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let values: Vec<String> =
        folder.read("p.csv").lines().skip(1).map(|row| row.rsplit(',').next().unwrap().to_owned()).collect();
    assert_eq!(values, (101..=112).map(|value: u32| value.to_string()).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn loops_on_one_table_share_its_pending_rows_and_measure_none_twice() {
    let folder = Folder::with_problem(PROBLEM);
    let rows: String = (0..24).map(|k| format!("0.{k:02},{},flat,\n", 1 + k % 9)).collect();
    folder.write("p.csv", format!("x,n,head,cost\n{rows}"));
    // Each evaluation leaves its point in one common list.
    let script = "read point; echo \"$point\" >> points; sleep 0.02; echo 1";
    let start = |parallel: &str| {
        let arguments = [
            "run",
            "p.toml",
            "--evaluate",
            script,
            "--iterations",
            "8",
            "--initial",
            "1",
            "--parallel",
            parallel,
        ];
        folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for mut child in [start("1"), start("3"), start("2")] {
        assert!(child.wait().unwrap().success());
    }
    let mut points: Vec<String> = folder.read("points").lines().map(str::to_owned).collect();
    assert_eq!(points.len(), 24);
    points.sort();
    points.dedup();
    assert_eq!(points.len(), 24, "each was measured once");
    let text = folder.read("p.csv");
    assert_eq!(text.lines().filter(|row| row.ends_with(",1")).count(), 24, "{text}");
    let names: Vec<String> = folder.contents().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["p.csv", "p.toml", "points"]);
}

/// Waits until `holds` does.
#[cfg(unix)]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[test]
fn an_experiment_is_pending_before_it_starts_and_a_killed_loops_row_is_taken_up_first() {
    let folder = Folder::with_problem(PROBLEM);
    let script = "cp p.csv seen; sleep 2; echo 3";
    let mut child = folder
        .command(&["run", "p.toml", "--evaluate", script, "--iterations", "1", "--initial", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the evaluation starts", || {
        folder.path("seen").exists() && folder.read("seen").lines().count() == 2
    });
    let planned = folder.read("seen").lines().nth(1).unwrap().to_owned();
    assert!(planned.ends_with(','), "{planned}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.read("p.csv"), folder.read("seen"), "the row outlives its loop");
    // What the killed one began goes on, and is not begun again.
    let run = folder.run(&["run", "p.toml", "--evaluate", "echo 4", "--iterations", "1", "--initial", "1"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("pending row"), "{}", run.stdout);
    assert_eq!(folder.read("p.csv").lines().collect::<Vec<_>>(), ["x,n,head,cost", &format!("{planned}3")]);
    let names: Vec<String> = folder.contents().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["p.csv", "p.toml", "seen"], "the dead loop's file is gone");
}

#[cfg(unix)]
#[test]
fn an_interrupted_loop_takes_back_its_own_plan_and_leaves_others() {
    for (history, left) in [("x,n,head,cost\n", 1), ("x,n,head,cost\n0.5,1,flat,\n", 2)] {
        let folder = Folder::with_problem(PROBLEM);
        folder.write("p.csv", history);
        let mut child = folder
            .command(&["run", "p.toml", "--evaluate", "cp p.csv seen; sleep 20", "--iterations", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the evaluation starts", || {
            folder.path("seen").exists() && folder.read("seen").lines().count() == 2
        });
        let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.read("p.csv").lines().count(), left, "{}", folder.read("p.csv"));
    }
}
