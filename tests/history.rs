//! Writing the history: dialects, other people's edits, failures.

use std::path::Path;

use leafgp::history::{History, HistoryFile, Outcome, csv_text};
use leafgp::problem::Problem;
use proptest::prelude::{ProptestConfig, any, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

const PROBLEM: &str = r#"
[objective]
name = "cost"
goal = "minimize"
[variables]
x = { type = "continuous", bounds = [-1e9, 1e9] }
n = { type = "integer", bounds = [1, 9] }
head = { type = "categorical", levels = ["flat", "a, b", "c;d", "e\"f", "0.5"] }
"#;

fn problem() -> Problem {
    Problem::from_text(Path::new("p.toml"), PROBLEM).unwrap()
}

/// A folder with a history `h.csv`.
fn file(content: impl AsRef<[u8]>) -> (tempfile::TempDir, HistoryFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.csv");
    std::fs::write(&path, content).unwrap();
    (folder, HistoryFile::new(path))
}

fn text(file: &HistoryFile) -> String {
    std::fs::read_to_string(file.path()).unwrap()
}

#[test]
fn a_new_file_gets_a_header_and_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = HistoryFile::new(folder.path().join("h.csv"));
    let problem = problem();
    let history = file.read(&problem).unwrap();
    assert!(history.rows.is_empty() && history.warnings[0].contains("does not exist"));
    let points = [(vec![0.5, 2.0, 1.0], Outcome::Pending), (vec![1e-7, 3.0, 3.0], Outcome::Done(-2.5))];
    let history = file.append(&problem, &points).unwrap();
    assert_eq!(text(&file), "x,n,head,cost\n0.5,2,\"a, b\",\n1e-7,3,\"e\"\"f\",-2.5\n");
    assert_eq!(history.rows.len(), 2);
    assert_eq!(history.rows[0].line, 2);
    let leftovers = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(leftovers, if cfg!(unix) { 1 } else { 2 }, "no temporary file and no lock stays");
}

#[test]
fn an_empty_file_keeps_its_mark_and_gets_a_header() {
    let (_folder, file) = file("\u{feff}");
    file.append(&problem(), &[(vec![0.5, 2.0, 0.0], Outcome::Pending)]).unwrap();
    assert_eq!(text(&file), "\u{feff}x,n,head,cost\n0.5,2,flat,\n");
}

#[test]
fn every_dialect_is_kept_to_the_byte() {
    let problem = problem();
    for (before, after) in [
        ("x,n,head,cost\n1,1,flat,2\n", "x,n,head,cost\n1,1,flat,2\n0.25,2,\"a, b\",1.5\n"),
        ("x,n,head,cost\n1,1,flat,2", "x,n,head,cost\n1,1,flat,2\n0.25,2,\"a, b\",1.5\n"),
        ("x,n,head,cost\r\n1,1,flat,2\r\n", "x,n,head,cost\r\n1,1,flat,2\r\n0.25,2,\"a, b\",1.5\r\n"),
        ("x;n;head;cost\n1,5;1;flat;2\n", "x;n;head;cost\n1,5;1;flat;2\n0,25;2;a, b;1,5\n"),
        ("x;n;head;cost\n1.5;1;flat;2\n", "x;n;head;cost\n1.5;1;flat;2\n0.25;2;a, b;1.5\n"),
        ("x;n;head;cost\n", "x;n;head;cost\n0,25;2;a, b;1,5\n"),
        ("x\tn\thead\tcost\n", "x\tn\thead\tcost\n0.25\t2\ta, b\t1.5\n"),
        (
            "\u{feff}sep=;\r\nx;n;head;cost\r\n1,5;1;flat;2\r\n",
            "\u{feff}sep=;\r\nx;n;head;cost\r\n1,5;1;flat;2\r\n0,25;2;a, b;1,5\r\n",
        ),
        (
            "note,\"cost\" ,x,head,n,status\n\n\"q\"\"q\", 2.00 ,1e0,\"flat\",01,DONE\n,,,,,\n",
            "note,\"cost\" ,x,head,n,status\n\n\"q\"\"q\", 2.00 ,1e0,\"flat\",01,DONE\n,,,,,\n,1.5,0.25,\"a, b\",2,done\n",
        ),
    ] {
        let (_folder, file) = file(before);
        let history = file.append(&problem, &[(vec![0.25, 2.0, 1.0], Outcome::Done(1.5))]).unwrap();
        assert_eq!(text(&file), after);
        let last = history.rows.last().unwrap();
        assert_eq!((last.point.as_slice(), last.outcome), (&[0.25, 2.0, 1.0][..], Outcome::Done(1.5)));
        assert_eq!(file.read(&problem).unwrap().rows, history.rows);
    }
}

#[test]
fn a_pending_row_is_filled_in_where_it_stands() {
    let problem = problem();
    let (_folder, file) =
        file("note;x;n;head;cost;status\nkeep ;0,5;1;flat;;pending\n;0,5;1;flat;\"\";\nlast;1;1;flat;;\n");
    file.record(&problem, &[0.5, 1.0, 0.0], Outcome::Done(0.1 + 0.2)).unwrap();
    file.record(&problem, &[0.5, 1.0, 0.0], Outcome::Failed).unwrap();
    let history = file.record(&problem, &[1.0, 1.0, 0.0], Outcome::Done(7.0)).unwrap();
    assert_eq!(
        text(&file),
        "note;x;n;head;cost;status\nkeep ;0,5;1;flat;0,30000000000000004;done\n;0,5;1;flat;;failed\nlast;1;1;flat;7;done\n"
    );
    assert_eq!(history.rows[0].outcome, Outcome::Done(0.1 + 0.2));
    assert!(history.warnings.is_empty(), "{:?}", history.warnings);
}

#[test]
fn a_result_whose_row_was_removed_is_added() {
    let (_folder, file) = file("x,n,head,cost\n");
    let history = file.record(&problem(), &[0.5, 1.0, 0.0], Outcome::Done(3.0)).unwrap();
    assert_eq!((history.rows.len(), text(&file).as_str()), (1, "x,n,head,cost\n0.5,1,flat,3\n"));
}

#[test]
fn the_first_failure_adds_a_status_column() {
    let problem = problem();
    let (_folder, file) = file("x,n,head,cost\r\n1,1,flat,2\r\n\r\n1,2,flat,\r\n");
    let history = file.record(&problem, &[1.0, 2.0, 0.0], Outcome::Failed).unwrap();
    assert_eq!(text(&file), "x,n,head,cost,status\r\n1,1,flat,2,\r\n\r\n1,2,flat,,failed\r\n");
    let outcomes: Vec<Outcome> = history.rows.iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Done(2.0), Outcome::Failed]);
    file.append(&problem, &[(vec![0.0, 3.0, 0.0], Outcome::Pending)]).unwrap();
    assert!(text(&file).ends_with("0,3,flat,,pending\r\n"));
}

#[test]
fn what_others_wrote_meanwhile_is_kept() {
    let problem = problem();
    let (_folder, file) = file("x,n,head,cost\n");
    let early = file.read(&problem).unwrap();
    assert!(early.rows.is_empty());
    // Someone adds a row, a column and sorts differently after we read.
    std::fs::write(file.path(), "who,cost,x,n,head\nann,4,1,1,flat\nbob,,0.5,1,flat\n").unwrap();
    let history = file.record(&problem, &[0.5, 1.0, 0.0], Outcome::Done(3.0)).unwrap();
    assert_eq!(text(&file), "who,cost,x,n,head\nann,4,1,1,flat\nbob,3,0.5,1,flat\n");
    assert_eq!(history.rows.len(), 2);
}

#[test]
fn many_writers_lose_nothing() {
    let problem = problem();
    let (_folder, file) = file("x,n,head,cost\n");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (file, problem) = (&file, &problem);
            scope.spawn(move || {
                for i in 0..10 {
                    let point = [f64::from(writer * 100 + i), 1.0, 0.0];
                    file.append(problem, &[(point.to_vec(), Outcome::Pending)]).unwrap();
                    file.record(problem, &point, Outcome::Done(f64::from(i))).unwrap();
                }
            });
        }
    });
    let history = file.read(&problem).unwrap();
    assert_eq!(history.rows.len(), 40);
    for row in &history.rows {
        assert_eq!(row.outcome, Outcome::Done(row.point[0] % 100.0));
    }
}

#[test]
fn a_table_open_in_a_spreadsheet_is_left_alone_and_nothing_is_lost() {
    let problem = problem();
    let (folder, file) = file("x,n,head,cost\n");
    let mark = folder.path().join(".~lock.h.csv#");
    std::fs::write(&mark, "someone").unwrap();
    let error = file.append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Done(3.0))]).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("h.csv") && message.contains("open in a spreadsheet"), "{message}");
    assert!(message.ends_with("not saved:\nx,n,head,cost,status\n0.5,1,flat,3,done"), "{message}");
    assert_eq!(text(&file), "x,n,head,cost\n");
    assert!(file.check_writable(&problem).is_err());
    std::fs::remove_file(mark).unwrap();
    file.check_writable(&problem).unwrap();
    file.append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Done(3.0))]).unwrap();
}

#[test]
fn a_read_only_table_is_left_alone() {
    let problem = problem();
    let (_folder, file) = file("x,n,head,cost\n");
    let mut permissions = std::fs::metadata(file.path()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(file.path(), permissions).unwrap();
    let error = file.append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Done(3.0))]).unwrap_err().to_string();
    assert!(error.contains("read-only") && error.contains("0.5,1,flat,3,done"), "{error}");
    assert!(file.check_writable(&problem).unwrap_err().to_string().contains("read-only"));
    assert_eq!(text(&file), "x,n,head,cost\n");
}

#[test]
fn a_table_that_broke_meanwhile_is_left_alone() {
    let problem = problem();
    let (_folder, file) = file("x,n,head,cost\n1,1,fl");
    let error = file.append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Done(3.0))]).unwrap_err().to_string();
    assert!(error.contains("h.csv:2: row 1: 3 cells") && error.contains("not saved:"), "{error}");
    assert_eq!(text(&file), "x,n,head,cost\n1,1,fl");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = HistoryFile::new(folder.path().join("no/h.csv"));
    let error = file.append(&problem(), &[(vec![0.5, 1.0, 0.0], Outcome::Pending)]).unwrap_err().to_string();
    assert!(error.contains("no/h.csv") && error.contains("folder cannot be opened"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_survive_a_write() {
    use std::os::unix::fs::PermissionsExt;
    let problem = problem();
    let (folder, file) = file("x,n,head,cost\n");
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink("h.csv", &link).unwrap();
    HistoryFile::new(&link).append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Pending)]).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(text(&file), "x,n,head,cost\n0.5,1,flat,\n");
    assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn the_best_row_is_the_first_of_the_best_in_the_problems_direction() {
    let text = "x,n,head,cost\n1,1,flat,2\n2,1,flat,1\n3,1,flat,1\n4,99,flat,0\n5,1,flat,\n";
    let minimize = problem();
    let history = History::from_bytes(text.as_bytes(), &minimize).unwrap();
    assert_eq!(history.best(&minimize).unwrap().row, 1);
    let maximize = Problem::from_text(Path::new("p.toml"), &PROBLEM.replace("minimize", "maximize")).unwrap();
    let history = History::from_bytes(text.as_bytes(), &maximize).unwrap();
    assert_eq!(history.best(&maximize).unwrap().row, 0);
    assert!(History::new().best(&maximize).is_none());
}

#[test]
fn a_history_in_code_is_judged_like_a_file() {
    let problem = problem();
    let mut history = History::new();
    history.push(&problem, &[1.0, 1.0, 0.0], Outcome::Done(2.0)).unwrap();
    history.push(&problem, &[1.0, 99.0, 0.0], Outcome::Done(1.0)).unwrap();
    let text = "x,n,head,cost\n1,1,flat,2\n1,99,flat,1\n";
    let read = History::from_bytes(text.as_bytes(), &problem).unwrap();
    for (made, read) in history.rows.iter().zip(&read.rows) {
        assert_eq!(
            (&made.point, made.outcome, made.out_of_domain),
            (&read.point, read.outcome, read.out_of_domain)
        );
    }
    assert!(history.rows[1].out_of_domain && history.best(&problem).unwrap().point[1] == 1.0);
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        (-1e12..1e12).prop_map(Outcome::Done),
        proptest::num::f64::NORMAL.prop_map(Outcome::Done),
        Just(Outcome::Pending),
        Just(Outcome::Failed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn what_is_written_is_read_back_exactly(
        rows in proptest::collection::vec((-1e9..1e9, 1_u8..10, 0_u8..5, outcome()), 1..6),
        header in prop_oneof![
            Just(""), Just("x,n,head,cost\n"), Just("cost;head;x;n;me\r\n"), Just("x\tn\thead\tcost\n"),
            Just("x;n;head;cost\n1.5;1;flat;1\n"), Just("x;n;head;cost;status\n1,5;1;flat;1;done\n"),
        ],
        at_once in any::<bool>(),
    ) {
        let problem = problem();
        let (_folder, file) = file(header);
        let skip = file.read(&problem).unwrap().rows.len();
        let rows: Vec<(Vec<f64>, Outcome)> = rows
            .into_iter()
            .map(|(x, n, level, outcome)| (vec![x, f64::from(n), f64::from(level)], outcome))
            .collect();
        if at_once {
            file.append(&problem, &rows).unwrap();
        } else {
            for row in &rows {
                file.append(&problem, std::slice::from_ref(row)).unwrap();
            }
        }
        let read = file.read(&problem).unwrap().rows;
        let read: Vec<(Vec<f64>, Outcome)> = read.into_iter().skip(skip).map(|row| (row.point, row.outcome)).collect();
        assert_eq!(read, rows);
    }

    /// Planned, resolved and repeated in any order: the file and the history in memory are the same table after every step.
    #[test]
    fn results_find_their_pending_rows_in_memory_as_in_a_file(
        told in proptest::collection::vec((1_u8..4, 0_u8..3, outcome()), 1..12),
    ) {
        const HIERARCHY: &str = "[objective]\nname = \"cost\"\ngoal = \"minimize\"\n[variables]\n\
            layers = { type = \"integer\", bounds = [1, 3] }\n\
            second = { type = \"integer\", bounds = [0, 2], active_if = \"layers >= 2\", inactive_value = 0 }\n";
        let problem = Problem::from_text(Path::new("p.toml"), HIERARCHY).unwrap();
        let (_folder, file) = file("");
        let mut memory = History::new();
        let known = |history: &History| -> Vec<(Vec<f64>, Outcome)> {
            history.rows.iter().map(|row| (row.point.clone(), row.outcome)).collect()
        };
        for (layers, second, outcome) in told {
            let point = [f64::from(layers), f64::from(second)];
            memory.record(&problem, &point, outcome).unwrap();
            let written = file.record(&problem, &point, outcome).unwrap();
            assert_eq!(known(&memory), known(&written));
        }
    }

    /// Any bytes at all: an error or a history, never a crash; and what is accepted survives a write.
    #[test]
    fn no_bytes_crash_the_reader(
        cells in proptest::collection::vec(
            prop_oneof![
                Just("x"), Just("n"), Just("head"), Just("cost"), Just("status"), Just(","), Just(";"), Just("\t"), Just("\n"),
                Just("\r\n"), Just("\""), Just("flat"), Just("1"), Just("0,5"), Just("0.5"), Just(" "), Just("done"), Just("\u{feff}"),
                Just("sep=;"), Just("é"), Just("\0"),
            ],
            0..40,
        ),
        headed in any::<bool>(),
    ) {
        let problem = problem();
        let header = if headed { "x;n;head;cost\n" } else { "" };
        let bytes = format!("{header}{}", cells.concat());
        if let Ok(history) = History::from_bytes(bytes.as_bytes(), &problem) {
            let (_folder, file) = file(&bytes);
            let after = file.append(&problem, &[(vec![0.5, 1.0, 0.0], Outcome::Done(1.0))]).unwrap();
            assert_eq!(&after.rows[..history.rows.len()], history.rows);
            assert_eq!(after.rows.len(), history.rows.len() + 1);
        }
    }
}

#[test]
fn points_as_csv_are_rows_of_a_history() {
    let problem = problem();
    let text = csv_text(&problem, &[vec![0.5, 1.0, 1.0], vec![-1.0, 2.0, 0.0]]).unwrap();
    assert_eq!(text, "x,n,head,cost\n0.5,1,\"a, b\",\n-1,2,flat,\n");
    assert_eq!(History::from_bytes(text.as_bytes(), &problem).unwrap().rows.len(), 2);
}
