use crate::support::Folder;

#[test]
fn the_template_passes_check_and_is_feasible() {
    let folder = Folder::new();
    let run = folder.run(&["init"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(run.stderr.contains("problem.toml"));
    let check = folder.run(&["check", "problem.toml"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""));
    assert!(check.stdout.contains("feasible, for instance:"), "{}", check.stdout);
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = Folder::new();
    folder.write("mine.toml", "precious");
    folder.refused(&["init", "mine.toml"], &["mine.toml", "exists already", "--force"]);
    assert_eq!(folder.run(&["init", "mine.toml", "--force"]).code, 0);
    assert!(folder.read("mine.toml").contains("[variables]"));
}

#[test]
fn a_dash_writes_to_stdout() {
    let folder = Folder::new();
    let run = folder.run(&["init", "-"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("[variables]"));
    assert!(folder.contents().is_empty());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    Folder::new().refused(&["init", "no/where.toml"], &["no/where.toml", "cannot be written"]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    // A limit on the size of files stands for the full disk: the first byte cannot be written.
    let limited = format!("trap '' XFSZ; ulimit -f 0; exec '{}' init x.toml", env!("CARGO_BIN_EXE_leafgp"));
    let run = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.current_dir(folder.path(".")).args(["-c", script]).output().unwrap()
    };
    assert_eq!(run(&limited).status.code(), Some(2));
    assert!(folder.contents().is_empty(), "{:?}", folder.contents());
    assert_eq!(folder.run(&["init", "x.toml"]).code, 0);
}
