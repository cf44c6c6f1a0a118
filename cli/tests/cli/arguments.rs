use std::process::Stdio;

use crate::support::{Folder, PROBLEM};

#[test]
fn help_and_version_are_results_and_mistakes_are_messages() {
    let folder = Folder::new();
    for arguments in [&["--help"][..], &["--version"], &["check", "--help"], &["help", "init"]] {
        let run = folder.run(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(run.stdout.contains("leafgp"), "{}", run.stdout);
    }
    for arguments in [
        &[][..],
        &["chekc"],
        &["check"],
        &["check", "p.toml", "--sed", "1"],
        &["check", "p.toml", "--seed", "x"],
        &["check", "p.toml", "--seed", "-1"],
        &["check", "p.toml", "--format", "xml"],
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains("Usage") || run.stderr.contains("--help"), "{}", run.stderr);
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = Folder::with_problem(PROBLEM);
    // Far more than a pipe holds, so that writing fails once the reader is gone.
    let rows: String = (0..20_000).map(|i| format!("7,{i},flat,1\n")).collect();
    folder.write("p.csv", format!("x,n,head,cost\n{rows}"));
    let mut child =
        folder.command(&["check", "p.toml"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn the_seed_is_accepted_before_and_after_the_command() {
    let folder = Folder::with_problem(PROBLEM);
    assert_eq!(folder.run(&["--seed", "7", "check", "p.toml"]).code, 0);
    assert_eq!(folder.run(&["check", "p.toml", "--seed", "7"]).code, 0);
}

#[test]
fn a_command_under_another_name_is_pointed_to() {
    let folder = Folder::new();
    for (typed, meant) in [("best", "status"), ("next", "suggest"), ("record", "tell"), ("delete", "cancel")]
    {
        let run = folder.run(&[typed]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(&format!("`leafgp {meant}` does that")), "{}", run.stderr);
    }
}
