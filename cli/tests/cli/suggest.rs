//! `leafgp suggest`.

use serde_json::Value;

use crate::mixed::{MIXED, folder_with, mixed_history};

fn point(suggestion: &Value) -> (f64, f64, String, i64, f64) {
    let p = &suggestion["point"];
    (
        p["resin"].as_f64().unwrap(),
        p["filler"].as_f64().unwrap(),
        p["solvent"].as_str().unwrap().to_owned(),
        p["passes"].as_i64().unwrap(),
        p["bake temperature"].as_f64().unwrap(),
    )
}

fn assert_feasible(suggestion: &Value) {
    let (resin, filler, solvent, passes, bake) = point(suggestion);
    assert!((0.2..=0.8).contains(&resin) && (1..=5).contains(&passes) && (60.0..=180.0).contains(&bake));
    let on_grid = (0..=12).any(|k| format!("{filler}") == format!("{}", f64::from(5 * k) / 100.0));
    assert!(on_grid, "{filler} is on the grid");
    assert!(resin + filler <= 0.9, "{suggestion}");
    assert!(solvent != "water" || bake <= 95.0, "{suggestion}");
}

#[test]
fn json_holds_exactly_the_contracted_keys() {
    let folder = folder_with(MIXED, &mixed_history(30));
    let arguments = ["suggest", "p.toml", "-n", "3", "--format", "json"];
    let answer = folder.run(&[&arguments[..], &["--preset", "paper"]].concat()).json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["suggestions", "best", "warnings", "promise"]);
    // The stop sign is the same as that of `status`.
    let status = folder.run(&["status", "p.toml", "--format", "json"]).json();
    assert!(status["promise"]["bound"].is_number());
    assert_eq!(answer["promise"], status["promise"]);
    let suggestions = answer["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 3);
    for suggestion in suggestions {
        let keys: Vec<&String> = suggestion.as_object().unwrap().keys().collect();
        let expected =
            ["point", "region", "mean", "std", "acquisition", "bound", "gap", "status", "stop_reason"];
        assert_eq!(keys, expected);
        assert_eq!(suggestion["status"], "optimal");
        assert!(suggestion["gap"].as_f64().unwrap() <= 1e-4);
        assert!(suggestion["bound"].as_f64() <= suggestion["acquisition"].as_f64());
        assert_feasible(suggestion);
    }
    assert!(suggestions[0]["point"] != suggestions[1]["point"]);
    assert!(answer["best"]["value"].as_f64().is_some());
    assert_eq!(folder.read("p.csv"), mixed_history(30), "nothing was asked to be written");
    // The other presets say how the point was found and what chose it, too: 30, 31 and 32 rows.
    let answer = folder.run(&arguments).json();
    let methods = ["smooth search", "cell", "smooth search"];
    for (suggestion, method) in answer["suggestions"].as_array().unwrap().iter().zip(methods) {
        let keys: Vec<&String> = suggestion.as_object().unwrap().keys().collect();
        let expected = [
            "point",
            "region",
            "mean",
            "std",
            "acquisition",
            "bound",
            "gap",
            "status",
            "stop_reason",
            "method",
            "smooth",
        ];
        assert_eq!(keys, expected);
        assert_eq!(suggestion["method"], method);
        assert_eq!(suggestion["status"], if method == "cell" { "optimal" } else { "local" });
        assert_eq!(suggestion["bound"].is_null(), method != "cell");
        assert_eq!(suggestion["smooth"]["acquisition"], "expected improvement");
        assert_feasible(suggestion);
    }
}

#[test]
fn text_calls_nothing_optimal_that_a_local_search_found() {
    let folder = folder_with(MIXED, &mixed_history(30));
    let free = folder.run(&["suggest", "p.toml", "--preset", "smooth"]).stdout;
    assert!(free.contains("expected improvement") && free.contains("local search"), "{free}");
    assert!(!free.contains("optimal"), "{free}");
    let proven = folder.run(&["suggest", "p.toml", "--preset", "proven"]).stdout;
    assert!(proven.contains("its cell is optimal: no feasible point scores better than"), "{proven}");
    assert!(proven.contains("the point in it: expected improvement, by local search"), "{proven}");
}

#[test]
fn appended_suggestions_equal_a_batch_and_are_pending() {
    let batch = folder_with(MIXED, &mixed_history(20));
    assert_eq!(batch.run(&["suggest", "p.toml", "-n", "3", "--append"]).code, 0);
    let single = folder_with(MIXED, &mixed_history(20));
    for _ in 0..3 {
        assert_eq!(single.run(&["suggest", "p.toml", "--append"]).code, 0);
    }
    assert_eq!(batch.read("p.csv"), single.read("p.csv"));
    let rows: Vec<String> = batch.read("p.csv").lines().skip(21).map(str::to_owned).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.ends_with(',')), "{rows:?}");
}

#[test]
fn without_data_the_first_design_explains_itself() {
    let folder = folder_with(MIXED, "");
    let answer = folder.run(&["suggest", "p.toml", "--format", "json", "-n", "6"]).json();
    for suggestion in answer["suggestions"].as_array().unwrap() {
        assert_feasible(suggestion);
        assert!(
            suggestion["mean"].is_null()
                && suggestion["std"].is_null()
                && suggestion["acquisition"].is_null()
        );
    }
    assert!(answer["best"].is_null());
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("first design"), "{warnings}");
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn the_same_seed_gives_the_same_answer_on_any_number_of_threads() {
    let folder = folder_with(MIXED, &mixed_history(40));
    let ask = |extra: &[&str]| {
        let mut arguments = vec!["suggest", "p.toml", "--format", "json", "-n", "2"];
        arguments.extend(extra);
        folder.run(&arguments).json()
    };
    let one = ask(&["--threads", "1"]);
    assert_eq!(one, ask(&["--threads", "2"]));
    assert_eq!(one, ask(&["--threads", "3"]));
    assert_eq!(one, ask(&["--seed", "3"]), "the file's own seed");
}

#[test]
fn csv_can_be_appended_by_hand() {
    let folder = folder_with(MIXED, &mixed_history(12));
    let csv = folder.run(&["suggest", "p.toml", "--format", "csv", "-n", "2"]);
    assert_eq!(csv.code, 0, "{csv:?}");
    let rows: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(rows.len(), 3);
    let together = mixed_history(12) + rows[1] + "\n" + rows[2] + "\n";
    folder.write("p.csv", &together);
    let check = folder.run(&["check", "p.toml"]);
    assert_eq!(check.code, 0, "{check:?}");
}

#[test]
fn an_exported_instance_solves_to_the_suggested_acquisition() {
    let folder = folder_with(MIXED, &mixed_history(30));
    let arguments =
        ["suggest", "p.toml", "--format", "json", "--export-instance", "instance.json", "--preset", "paper"];
    let suggestion = folder.run(&arguments).json()["suggestions"][0].clone();
    let report = folder.run(&["solve", "instance.json", "--format", "json"]).json();
    let (a, b) = (suggestion["acquisition"].as_f64().unwrap(), report["objective"].as_f64().unwrap());
    assert!((a - b).abs() <= 1e-4 * a.abs(), "{a} against {b}");
}

#[test]
fn impossible_constraints_and_bad_tables_end_with_their_codes() {
    let impossible = MIXED.replace("<= 0.9", "<= 0.1");
    let folder = folder_with(&impossible, "");
    let ended = folder.run(&["suggest", "p.toml", "--append"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("room for solvent"), "{ended:?}");
    assert!(!folder.path("p.csv").exists());

    let bad = mixed_history(8).replace("butanol", "butan-1-ol");
    let folder = folder_with(MIXED, &bad);
    let ended = folder.run(&["suggest", "p.toml", "--append"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("p.csv:3") && ended.stderr.contains("butan-1-ol"), "{ended:?}");
    assert_eq!(folder.read("p.csv"), bad);
}

#[test]
fn suggestions_appended_at_the_same_time_are_distinct() {
    let folder = folder_with(MIXED, &mixed_history(15));
    let running: Vec<_> =
        (0..4).map(|_| folder.command(&["suggest", "p.toml", "--append", "-q"]).spawn().unwrap()).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let one_by_one = folder_with(MIXED, &mixed_history(15));
    assert_eq!(one_by_one.run(&["suggest", "p.toml", "--append", "-n", "4"]).code, 0);
    assert_eq!(folder.read("p.csv"), one_by_one.read("p.csv"));
}

#[test]
fn when_every_cell_is_taken_new_points_inside_them_are_suggested() {
    let problem = "name = \"one\"\n[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\nx = { type = \"continuous\", bounds = [0.0, 1.0] }\n";
    let folder = folder_with(problem, "x,y\n0.1,3\n0.3,1\n0.5,2\n0.7,4\n0.9,0\n");
    assert_eq!(folder.run(&["suggest", "p.toml", "-n", "10", "--append"]).code, 0);
    let text = folder.read("p.csv");
    let points: std::collections::BTreeSet<&str> =
        text.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    // The model may repeat a measured point; the pending ones are all new.
    assert!(text.lines().count() == 16 && points.len() >= 14, "{text}");
}

#[test]
fn solve_and_verify_prove_the_problem_that_was_suggested() {
    let problem = "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\nn = { type = \"integer\", bounds = [1, 9] }\n[settings.trees]\nmin_data_in_leaf = 1\n";
    let folder = crate::support::Folder::with_problem(problem);
    folder.write("p.csv", "n,y\n1,5\n2,4\n4,0\n7,6\n9,9\n4,\n");
    let arguments =
        ["suggest", "p.toml", "--preset", "paper", "--export-instance", "i.json", "--format", "json"];
    let suggested = folder.run(&arguments).json();
    let suggested = &suggested["suggestions"][0];
    assert!(folder.read("i.json").contains("\"pending\":[[4.0]]"), "{}", folder.read("i.json"));
    let solved = folder.run(&["solve", "i.json", "--certificate", "proof", "--format", "json"]).json();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(
        (number(&solved["objective"]) - number(&suggested["acquisition"])).abs() < 1e-9,
        "{solved} {suggested}"
    );
    assert_ne!(number(&solved["x"][0]), 4.0, "the cell of the pending experiment is excluded");
    assert_eq!(folder.run(&["verify", "i.json", "proof"]).code, 0);
}

#[test]
fn fewer_suggestions_than_asked_for_have_their_own_exit_code_also_when_quiet() {
    let folder = crate::support::Folder::with_problem(
        "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\nn = { type = \"integer\", bounds = [1, 3] }\n",
    );
    let run = folder.run(&["suggest", "p.toml", "-n", "5", "-q", "--format", "csv"]);
    assert_eq!((run.code, run.stdout.lines().count()), (3, 4), "{run:?}");
    assert!(run.stderr.contains("warning: only 3 of 5 experiments"), "{run:?}");
    assert_eq!(folder.run(&["suggest", "p.toml", "-n", "3", "-q"]).code, 0);
}
