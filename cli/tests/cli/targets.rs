//! Where results may be written to: files, links, devices, pipes.

#![cfg(unix)]

use std::os::unix::fs::{FileTypeExt, symlink};

use crate::support::{Folder, PROBLEM};

/// Twelve measured rows of [`PROBLEM`].
fn folder_with_rows() -> Folder {
    let folder = Folder::with_problem(PROBLEM);
    let rows: String =
        (0..12).map(|k| format!("{},{},flat,{}\n", f64::from(k) / 12.0, 1 + k % 9, k * k)).collect();
    folder.write("p.csv", format!("x,n,head,cost\n{rows}"));
    folder
}

/// Every option that writes a file.
const WRITERS: [&[&str]; 4] = [
    &["plot", "convergence", "p.toml", "-o"],
    &["fit", "p.toml", "--export"],
    &["suggest", "p.toml", "--export-instance"],
    &["solve", "i.json", "--certificate"],
];

#[test]
fn links_stay_links_and_devices_stay_devices() {
    let folder = folder_with_rows();
    assert_eq!(folder.run(&["suggest", "p.toml", "--export-instance", "i.json"]).code, 0);
    symlink("/dev/null", folder.path("null")).unwrap();
    std::fs::create_dir(folder.path("far")).unwrap();
    for (i, writer) in WRITERS.iter().enumerate() {
        let run = folder.run(&[writer, &["null"][..]].concat());
        assert_eq!(run.code, 0, "{writer:?} {run:?}");
        assert!(folder.path("null").is_symlink(), "{writer:?}");
        let (link, file) = (format!("link{i}"), format!("far/file{i}"));
        symlink(&file, folder.path(&link)).unwrap();
        // The first time the link leads nowhere yet.
        for _ in 0..2 {
            let run = folder.run(&[writer, &[link.as_str()][..]].concat());
            assert_eq!(run.code, 0, "{writer:?} {run:?}");
            assert!(folder.path(&link).is_symlink(), "{writer:?}");
            assert!(std::fs::metadata(folder.path(&file)).unwrap().len() > 0, "{writer:?}");
        }
    }
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn standard_output_by_its_name_is_written_to_behind_what_is_there() {
    let folder = folder_with_rows();
    folder.write("out", "before\n");
    let script = format!("'{}' plot convergence p.toml -o /dev/stdout >> out", env!("CARGO_BIN_EXE_leafgp"));
    let status = std::process::Command::new("sh")
        .current_dir(folder.path("."))
        .args(["-c", &script])
        .status()
        .unwrap();
    assert!(status.success());
    let text = folder.read("out");
    assert!(text.starts_with("before\n") && text.trim_end().ends_with("</svg>"), "{text}");
}

#[test]
fn a_history_behind_a_dangling_link_is_made_where_the_link_leads() {
    let folder = Folder::with_problem(PROBLEM);
    std::fs::create_dir(folder.path("far")).unwrap();
    symlink("far/h.csv", folder.path("p.csv")).unwrap();
    for rows in [1, 2] {
        assert_eq!(folder.run(&["suggest", "p.toml", "--append"]).code, 0);
        assert!(folder.path("p.csv").is_symlink());
        assert_eq!(folder.read("far/h.csv").lines().count(), 1 + rows);
    }
}

#[test]
fn a_history_that_is_a_device_is_not_written_to() {
    let folder = Folder::with_problem(PROBLEM);
    symlink("/dev/null", folder.path("p.csv")).unwrap();
    folder.refused(&["suggest", "p.toml", "--append"], &["p.csv", "no regular file"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn no_command_writes_over_a_file_that_it_reads() {
    let folder = Folder::with_problem(PROBLEM);
    folder.write("p.csv", "x,n,head,cost\n0.2,1,flat,3\n0.4,2,round,5\n0.9,5,flat,4\n");
    let inputs = ["p.toml", "p.csv"];
    for input in inputs {
        for arguments in [
            vec!["fit", "p.toml", "--export", input],
            vec!["plot", "surface", "p.toml", "-o", input],
            vec!["plot", "convergence", "p.toml", "-o", input],
            vec!["plot", "parallel", "p.toml", "-o", input],
            vec!["plot", "importance", "p.toml", "-o", input],
            vec!["suggest", "p.toml", "--export-instance", input],
        ] {
            folder.refused(&arguments, &[input, "reads this file"]);
        }
    }
    assert_eq!(folder.run(&["suggest", "p.toml", "--export-instance", "i.json"]).code, 0);
    folder.refused(&["solve", "i.json", "--certificate", "i.json"], &["i.json", "reads this file"]);
}
