//! Every kind of history, good and bad, as people and spreadsheets leave it.

use crate::support::{Folder, PROBLEM};

/// The history is refused with all `parts` in the message.
#[track_caller]
fn refused(history: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::with_problem(PROBLEM);
    folder.write("p.csv", history);
    folder.refused(&["check", "p.toml"], parts);
}

/// The history is accepted; returns the strict JSON of `check`.
#[track_caller]
fn accepted(problem: &str, history: impl AsRef<[u8]>) -> serde_json::Value {
    let folder = Folder::with_problem(problem);
    folder.write("p.csv", history.as_ref());
    let run = folder.run(&["check", "p.toml", "--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(std::fs::read(folder.path("p.csv")).unwrap(), history.as_ref(), "check changes nothing");
    serde_json::from_str(&run.stdout).unwrap()
}

fn values(report: &serde_json::Value) -> Vec<Option<f64>> {
    report["rows"].as_array().unwrap().iter().map(|row| row["value"].as_f64()).collect()
}

const HEADER: &str = "x,n,head,cost\n";

#[test]
fn cells_that_do_not_fit_name_row_line_and_column() {
    let good = "0.5,1,flat,1\n".repeat(6);
    refused(
        format!("{HEADER}{good}0.5,1,flatt,1\n"),
        &[
            "p.csv:8:",
            "row 7",
            "column \"head\"",
            "unknown level \"flatt\"",
            "did you mean `flat`?",
            "one of \"flat\", \"round\"",
        ],
    );
    refused(
        format!("{HEADER}0.5,many,flat,1\n"),
        &["p.csv:2:", "row 1", "column \"n\"", "\"many\" is no number", "a whole number in [1, 9]"],
    );
    refused(
        format!("{HEADER}0.5,1,flat,good\n"),
        &["p.csv:2:", "column \"cost\"", "\"good\" is no number", "status failed"],
    );
    refused(format!("{HEADER}0.5,1,flat,nan\n"), &["p.csv:2:", "column \"cost\"", "finite number"]);
    refused(format!("{HEADER}inf,1,flat,1\n"), &["p.csv:2:", "column \"x\"", "a number in [0, 1]"]);
    refused(format!("{HEADER}1e999,1,flat,1\n"), &["p.csv:2:", "column \"x\""]);
    refused(
        format!("{HEADER},1,flat,1\n"),
        &["p.csv:2:", "column \"x\"", "the cell is empty", "a number in [0, 1]"],
    );
    refused(format!("{HEADER}\"0,5\",1,flat,1\n"), &["p.csv:2:", "column \"x\"", "decimals with `.`"]);
    refused(
        "x;n;head;cost\n0,5;1;flat;1\n0.5;1;flat;1\n",
        &["p.csv:3:", "row 2", "column \"x\"", "decimals with `,`"],
    );
}

#[test]
fn rows_of_another_width() {
    refused(
        format!("{HEADER}0.5,1,flat,1\n0.5,1,flat\n"),
        &["p.csv:3:", "row 2", "3 cells", "4 columns", "4 cells separated by `,`"],
    );
    refused(format!("{HEADER}0.5,1,flat,1,2\n"), &["p.csv:2:", "5 cells"]);
    refused(format!("{HEADER}0,5,1,flat,1,0\n"), &["p.csv:2:", "6 cells"]);
}

#[test]
fn half_written_files() {
    refused(format!("{HEADER}0.5,1,flat,1\n0.5,1,fl"), &["p.csv:3:", "row 2", "half-written"]);
    refused(format!("{HEADER}0.5,1,\"fla"), &["p.csv:2:", "never closed", "half-written"]);
    refused(b"x,n,head,cost\n0.5,1,flat,1\n\0\0\0\0", &["p.csv:3:", "zero bytes"]);
    refused("x,n,he", &["p.csv:1:", "column \"head\"", "missing", "x, n, head, cost"]);
}

#[test]
fn headers_that_do_not_fit() {
    refused(
        "x,n,head\n0.5,1,flat\n",
        &["p.csv:1:", "column \"cost\"", "objective is missing", "x, n, head, cost"],
    );
    refused("x,n,head,Cost\n0.5,1,flat,1\n", &["p.csv:1:", "column \"cost\"", "did you mean `Cost`?"]);
    refused("x,head,cost\n0.5,flat,1\n", &["p.csv:1:", "column \"n\"", "variable is missing"]);
    refused("x,n,head,cost,x\n", &["p.csv:1:", "column \"x\"", "twice", "columns 1 and 5"]);
    refused("x,n,head,cost,status,Status\n", &["p.csv:1:", "status", "twice"]);
}

#[test]
fn statuses_that_do_not_fit() {
    let header = "x,n,head,cost,status\n";
    refused(
        format!("{header}0.5,1,flat,1,dnoe\n"),
        &["p.csv:2:", "column \"status\"", "unknown status \"dnoe\"", "did you mean `done`?"],
    );
    refused(format!("{header}0.5,1,flat,,done\n"), &["p.csv:2:", "column \"cost\"", "has no value"]);
    refused(
        format!("{header}0.5,1,flat,3,failed\n"),
        &["p.csv:2:", "column \"cost\"", "failed, but has the value 3"],
    );
}

#[test]
fn files_that_are_no_table() {
    refused(b"\xff\xfex\0,\0", &["p.csv:", "UTF-16", "saved as UTF-8"]);
    refused(b"x,n,head,cost\n0.5,1,fl\xe4t,1\n", &["p.csv:2:", "not UTF-8"]);
    refused(b"PK\x03\x04\x14\0", &["p.csv:", "workbook"]);
    let folder = Folder::with_problem(PROBLEM);
    folder.refused(&["check", "p.toml", "--history", "nowhere.csv"], &["nowhere.csv", "no such file"]);
    std::fs::create_dir(folder.path("p.csv")).unwrap();
    folder.refused(&["check", "p.toml"], &["p.csv:", "cannot be read"]);
}

#[test]
fn spreadsheets_are_read() {
    let expected = vec![Some(1.5), None, Some(2.0)];
    for (what, text) in [
        ("plain", "x,n,head,cost\n0.5,1,flat,1.5\n0.25,2,round,\n1,9,flat,2\n"),
        ("no end of line at the end", "x,n,head,cost\n0.5,1,flat,1.5\n0.25,2,round,\n1,9,flat,2"),
        (
            "byte-order mark and CRLF",
            "\u{feff}x,n,head,cost\r\n0.5,1,flat,1.5\r\n0.25,2,round,\r\n1,9,flat,2\r\n",
        ),
        ("CR", "x,n,head,cost\r0.5,1,flat,1.5\r0.25,2,round,\r1,9,flat,2\r"),
        ("decimal commas", "x;n;head;cost\n0,5;1;flat;1,5\n0,25;2;round;\n1;9;flat;2,0\n"),
        ("decimal points with semicolons", "x;n;head;cost\n0.5;1;flat;1.5\n0.25;2;round;\n1;9;flat;2.0\n"),
        ("tabs", "x\tn\thead\tcost\n0.5\t1\tflat\t1.5\n0.25\t2\tround\t\n1\t9\tflat\t2\n"),
        ("declared separator", "sep=;\r\nx;n;head;cost\r\n0,5;1;flat;1,5\r\n0,25;2;round;\r\n1;9;flat;2\r\n"),
        (
            "quotes",
            "\"x\",\"n\",\"head\",\"cost\"\n\"0.5\",\"1\",\"flat\",\"1.5\"\n0.25,2,round,\"\"\n1,9,\"flat\",2\n",
        ),
        ("blank lines", "\n,,,\nx,n,head,cost\n\n0.5,1,flat,1.5\n,,,\n0.25,2,round,\n\n1,9,flat,2\n\n"),
        (
            "any order and other columns",
            "note,cost,head,n,x,\n\"a, b\",1.5,flat,1,0.5,\n,,round,2,.25,z\nq,2,flat,9,1.0,\n",
        ),
        ("spaces", "x, n, head, cost\n0.5, 1, flat, 1.5\n0.25, 2, round, \n1, 9, flat, 2\n"),
        ("whole numbers as decimals", "x,n,head,cost\n0.5,1.0,flat,1.5e0\n0.25,2.00,round,\n1,9,flat,2\n"),
    ] {
        let report = accepted(PROBLEM, text);
        assert_eq!(values(&report), expected, "{what}");
        assert_eq!(report["best"]["point"], serde_json::json!({"x": 0.5, "n": 1, "head": "flat"}), "{what}");
        assert_eq!(report["warnings"], serde_json::json!([]), "{what}");
    }
    for empty in ["", "\u{feff}", "\n\n", "x,n,head,cost\n", "x,n,head,cost"] {
        assert_eq!(values(&accepted(PROBLEM, empty)), vec![]);
    }
}

#[test]
fn outcomes_come_from_value_and_status() {
    let report = accepted(
        PROBLEM,
        "x,n,head,cost,Status\n.1,1,flat,3,\n.2,1,flat,,\n.3,1,flat,2,DONE\n.4,1,flat,,Pending\n.5,1,flat,,failed\n.6,1,flat,1,pending\n",
    );
    let statuses: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["done", "pending", "done", "pending", "failed", "done"]);
    assert_eq!(report["best"]["row"], 6);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("row 6 (line 7)") && warnings.contains("taken as done"), "{warnings}");
}

#[test]
fn numbers_are_levels_by_their_value() {
    let problem = PROBLEM.replace("\"flat\", \"round\"", "\"0.0\", \"0.0025\", 48");
    let report = accepted(&problem, "x,n,head,cost\n.1,1,0,1\n.1,1,0.0,1\n.1,1,2.5e-3,1\n.1,1,48.0,0\n");
    assert_eq!(report["best"]["point"]["head"], "48");
    let comma = accepted(&problem, "x;n;head;cost\n0,1;1;0,0025;1\n");
    assert_eq!(comma["best"]["point"]["head"], "0.0025");
    let folder = Folder::with_problem(&PROBLEM.replace("\"flat\", \"round\"", "\"0\", \"0.0\""));
    folder.write("p.csv", "x,n,head,cost\n.1,1,0.0,1\n.1,1,0.00,1\n");
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with("warning: p.toml: levels \"0\" and \"0.0\" of `head` are the same number")
    );
    let message = "p.csv:3: row 2, column \"head\": \"0.00\" can mean level \"0\" or \"0.0\"";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn rows_outside_are_kept_with_one_warning_and_never_best() {
    let problem = format!("{PROBLEM}[constraints]\nsmall = \"x + n <= 5\"\n");
    let report = accepted(
        &problem,
        "x,n,head,cost\n.5,1,flat,9\n7,1,flat,1\n.5,1.5,flat,2\n1,9,flat,3\n.5,4,flat,8\n.1,9,flat,\n1,4.0000001,flat,5\n",
    );
    assert_eq!(report["best"]["row"], 5, "{report}");
    let feasible: Vec<bool> =
        report["rows"].as_array().unwrap().iter().map(|row| row["feasible"].as_bool().unwrap()).collect();
    assert_eq!(feasible, [true, false, false, false, true, false, false]);
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "one for training rows, one for pending ones: {warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("rows 2, 3, 4, 7 (lines 3, 4, 5, 8)"), "{warnings:?}");
    assert!(warnings[1].as_str().unwrap().starts_with("row 6 (line 7)"), "{warnings:?}");
    assert_eq!(report["rows"][1]["faults"][0], "x = 7 is outside a number in [0, 1]");
    assert!(report["rows"][3]["faults"][0].as_str().unwrap().contains("violates \"small\" by 5"), "{report}");
}

#[test]
fn inactive_cells_may_hold_anything() {
    let problem =
        PROBLEM.replace("bounds = [1, 9]", "bounds = [1, 9], active_if = \"x >= 0.5\", inactive_value = 3");
    let report = accepted(
        &problem,
        "x,n,head,cost\n.1,,flat,1\n.1,3,flat,2\n.1,7,flat,3\n.1,n/a,flat,4\n.6,7,flat,5\n.1,12,flat,6\n",
    );
    assert_eq!(report["rows"].as_array().unwrap().iter().filter(|row| row["feasible"] == true).count(), 6);
    assert_eq!(report["best"]["point"]["n"], 3);
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("rows 3, 6 (lines 4, 7)"), "{warnings:?}");
    let folder = Folder::with_problem(&problem);
    folder.write("p.csv", "x,n,head,cost\n.6,,flat,5\n");
    folder.refused(&["check", "p.toml"], &["p.csv:2:", "column \"n\"", "empty", "active here: x >= 0.5"]);
}

#[test]
fn the_history_stands_beside_the_problem_or_where_told() {
    let folder = Folder::with_problem(PROBLEM);
    assert!(!folder.run(&["check", "p.toml"]).stdout.contains("history"));
    folder.write("other.csv", "x,n,head,cost\n0.5,1,flat,1.5\n");
    let run = folder.run(&["check", "p.toml", "--history", "other.csv"]);
    assert!(run.stdout.contains("1 done, 0 pending, 0 failed"), "{}", run.stdout);
    assert!(run.stdout.contains("best: cost = 1.5 in row 1 (line 2)"), "{}", run.stdout);
}

const MIXTURE: &str = r#"[objective]
name = "yield"
goal = "maximize"
[variables]
dose = { type = "continuous", bounds = [0.0, 2.0], step = 0.1 }
amount = { type = "discrete", values = [0.1, 0.3, 0.6] }
a = { type = "continuous", bounds = [0.0, 1.0] }
b = { type = "continuous", bounds = [0.0, 1.0] }
[constraints]
all = "a + b == 1"
"#;

#[test]
fn rows_are_judged_with_the_tolerance_of_their_scale() {
    // Rounding of a spreadsheet, a weighed dose, a weighed mixture; then too much of each.
    let rows = "dose,amount,a,b,yield\n0.30000000000000004,0.30000000000000004,0.5,0.5,1\n1.83,0.1,0.5,0.5,2\n1.8,0.1,0.5,0.4995,3\n\
                2.06,0.1,0.5,0.5,9\n1.8,0.31,0.5,0.5,9\n1.8,0.1,0.5,0.495,9\n";
    let report = accepted(MIXTURE, rows);
    let feasible: Vec<bool> =
        report["rows"].as_array().unwrap().iter().map(|row| row["feasible"].as_bool().unwrap()).collect();
    assert_eq!(feasible, [true, true, true, false, false, false], "{report}");
    assert_eq!(report["best"]["row"], 3);
    assert_eq!(report["rows"][0]["tolerated"], serde_json::json!([]));
    let folder = Folder::with_problem(MIXTURE);
    folder.write("p.csv", rows);
    let table = folder.run(&["check", "p.toml"]).stdout;
    for line in [
        "row 2 (line 3): accepted: dose = 1.83 is 0.03 beside its grid",
        "row 3 (line 4): accepted: \"all\" is off by 0.0005",
        "row 6 (line 7): violates \"all\" by 0.005",
    ] {
        assert!(table.contains(line), "{line}:\n{table}");
    }
    let strict = accepted(&format!("{MIXTURE}[settings]\nequality_tolerance = 1e-6\n"), rows);
    assert_eq!(strict["best"]["row"], 2, "{strict}");
    let folder = Folder::with_problem(&format!("{MIXTURE}[settings]\nequality_tolerance = 0.5\n"));
    folder.refused(&["check", "p.toml"], &["equality_tolerance", "[0, 0.1]"]);
}

#[test]
fn suggestions_keep_equalities_and_grids_exactly_whatever_the_rows_do() {
    let folder = Folder::with_problem(&format!("{MIXTURE}[settings]\nequality_tolerance = 0.1\n"));
    let rows: String = (0..12)
        .map(|k| format!("{},0.1,0.{},0.{},{}\n", 0.03 + 0.1 * f64::from(k), 10 + k, 95 - k, k * k % 7))
        .collect();
    folder.write("p.csv", format!("dose,amount,a,b,yield\n{rows}"));
    let answer = folder.run(&["suggest", "p.toml", "-n", "3", "--format", "json"]).json();
    for suggestion in answer["suggestions"].as_array().unwrap() {
        let at = |name: &str| suggestion["point"][name].as_f64().unwrap();
        assert!((at("a") + at("b") - 1.0).abs() <= 1e-9, "{suggestion}");
        let steps = at("dose") * 10.0;
        assert!((steps - steps.round()).abs() < 1e-9, "{suggestion}");
    }
}

#[test]
fn a_history_in_another_unit_stops_what_would_learn_from_it() {
    let folder = Folder::with_problem(PROBLEM);
    folder.write("p.csv", "x,n,head,cost\n50,1,flat,1\n70,1,flat,2\n-3,9,round,4\n");
    for command in [
        &["suggest", "p.toml"][..],
        &["fit", "p.toml"],
        &["run", "p.toml", "--evaluate", "echo 1", "--iterations", "1"],
    ] {
        let run = folder.run(command);
        assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
        for part in ["p.csv: all 3 measured rows", "x from -3 to 70 (bounds [0, 1])", "--accept-outside"] {
            assert!(run.stderr.contains(part), "{part}: {run:?}");
        }
        assert_eq!(folder.read("p.csv").lines().count(), 4, "nothing is written");
    }
    assert_eq!(folder.run(&["suggest", "p.toml", "--accept-outside"]).code, 0);
    let check = folder.run(&["check", "p.toml"]);
    assert!(check.code == 0 && check.stderr.contains("all 3 measured rows"), "{check:?}");
    // One row inside is enough to go on.
    folder.write("p.csv", "x,n,head,cost\n50,1,flat,1\n70,1,flat,2\n0.3,9,round,4\n");
    assert_eq!(folder.run(&["suggest", "p.toml"]).code, 0);
}

#[test]
fn a_history_that_was_named_but_is_not_there_is_refused() {
    let folder = Folder::with_problem(PROBLEM);
    folder.write("results.csv", "x,n,head,cost\n0.5,1,flat,1\n");
    for command in [
        &["suggest", "p.toml"][..],
        &["suggest", "p.toml", "--append"],
        &["fit", "p.toml"],
        &["check", "p.toml"],
        &["run", "p.toml", "--evaluate", "echo 1", "--iterations", "1"],
    ] {
        folder.refused(
            &[command, &["--history", "resluts.csv"][..]].concat(),
            &["resluts.csv", "no such file", "did you mean `results`"],
        );
    }
    // The default may be missing, and a run may begin a table of its own, numbered or not.
    assert_eq!(folder.run(&["suggest", "p.toml"]).code, 0);
    for name in ["other.csv", "results2.csv"] {
        let run =
            folder.run(&["run", "p.toml", "--evaluate", "echo 1", "--iterations", "1", "--history", name]);
        assert_eq!(run.code, 0, "{run:?}");
    }
}

#[test]
fn a_dash_reads_the_history_from_standard_input() {
    use std::io::Write;
    let folder = Folder::with_problem(PROBLEM);
    let run = |arguments: &[&str], text: &str| {
        let mut command = folder.command(arguments);
        let pipe = std::process::Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, stdout, _) = run(&["check", "p.toml", "--history", "-"], "x,n,head,cost\n0.5,1,flat,7\n");
    assert!(code == Some(0) && stdout.contains("best: cost = 7 in row 1 (line 2)"), "{stdout}");
    let (code, _, stderr) = run(&["suggest", "p.toml", "--history", "-"], "x,n,head,cost\n0.5,1,flut,7\n");
    assert!(code == Some(2) && stderr.contains("-:2: row 1, column \"head\""), "{stderr}");
    folder.refused(&["suggest", "p.toml", "--append", "--history", "-"], &["standard input"]);
    folder.refused(
        &["run", "p.toml", "--evaluate", "echo 1", "--iterations", "1", "--history", "-"],
        &["standard input"],
    );
    assert_eq!(folder.contents().len(), 1, "no file called - is made");
}
