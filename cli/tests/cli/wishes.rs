//! `suggest --fix`, `--among`, `--same`; and what people type instead of a command.

use serde_json::Value;

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::Folder;

fn suggested(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let run = folder.run(&[&["suggest", "p.toml", "--format", "json"], arguments].concat());
    run.json()["suggestions"].as_array().unwrap().clone()
}

#[test]
fn fixed_values_are_suggested_and_written_as_they_are() {
    let folder = folder_with(MIXED, &mixed_history(24));
    let arguments = ["-n", "3", "--fix", "bake temperature=95", "--fix", "solvent=water", "--append"];
    for suggestion in suggested(&folder, &arguments) {
        assert_eq!(suggestion["point"]["bake temperature"], 95.0);
        assert_eq!(suggestion["point"]["solvent"], "water");
    }
    let table = folder.read("p.csv");
    assert_eq!(table.lines().count(), 28);
    assert!(table.lines().skip(25).all(|line| line.contains(",water,") && line.ends_with(",95,")), "{table}");
    let run = folder.run(&["suggest", "p.toml", "--fix", "passes=2"]);
    assert!(run.stderr.contains("only with passes = 2; what is proved is proved for that"), "{}", run.stderr);
}

#[test]
fn an_impossible_fix_names_the_bound_or_the_rule() {
    let folder = folder_with(MIXED, &mixed_history(8));
    for (fix, parts) in [
        ("bake temperature=200", vec!["bake temperature cannot be fixed at 200", "a number in [60, 180]"]),
        ("solvent=ether", vec!["--fix solvent=ether", "unknown level", "\"xylene\", \"butanol\", \"water\""]),
        ("solvnt=water", vec!["--fix solvnt", "did you mean `solvent`?"]),
        ("solvent", vec!["expected NAME=VALUE"]),
        ("filler=0.52", vec!["filler cannot be fixed at 0.52", "in steps of 0.05"]),
    ] {
        folder.refused(&["suggest", "p.toml", "--fix", fix], &parts);
    }
    let run = folder.run(&["suggest", "p.toml", "--fix", "bake temperature=120", "--fix", "solvent=water"]);
    assert_eq!(run.code, 1);
    for part in [
        "\"water boils\"",
        "\"bake temperature = 120 (fixed)\"",
        "\"solvent = water (fixed)\"",
        "cannot hold together",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn a_fix_that_leaves_too_few_points_says_that_it_is_the_fix() {
    let text = "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\na = { type = \"integer\", bounds = [0, 3] }\nb = { type = \"integer\", bounds = [0, 2] }\n";
    let folder = folder_with(text, "a,b,y\n0,0,1\n1,1,2\n2,2,4\n");
    let run = folder.run(&["-q", "suggest", "p.toml", "-n", "4", "--fix", "a=1", "--format", "json"]);
    assert_eq!(run.code, 3);
    let warning = "only 2 of 4 experiments: every other feasible point with a = 1 is taken";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["warnings"].as_array().unwrap().last().unwrap(), warning);
    assert_eq!(answer["suggestions"].as_array().unwrap().len(), 2);
    folder.write("p.csv", "a,b,y\n1,0,1\n1,1,2\n1,2,4\n");
    let run = folder.run(&["suggest", "p.toml", "--fix", "a=1"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("the space is exhausted with a = 1"), "{}", run.stderr);
}

#[test]
fn candidates_of_a_spreadsheet_are_chosen_by_their_line_and_the_others_are_reported() {
    let folder = folder_with(MIXED, &mixed_history(21));
    folder.write(
        "list.csv",
        "name;resin;filler;solvent;passes;bake temperature\r\nA1;0,5;0,1;xylene;2;100\r\nA2;0,8;0,6;xylene;2;100\r\n\r\nA3;0,5;0,1;water;2;120\r\nA4;0,6;0,3;water;1;90\r\nA5;0,3;0,05;butanol;4;150\r\n",
    );
    let run = folder.run(&["suggest", "p.toml", "-n", "2", "--among", "list.csv", "--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "candidate 2 (line 3) is not feasible: room for solvent",
        "candidate 3 (line 5) is not feasible: water boils",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let suggestions = run.json()["suggestions"].as_array().unwrap().clone();
    let numbers: Vec<i64> = suggestions.iter().map(|s| s["candidate"].as_i64().unwrap()).collect();
    assert!(numbers.iter().all(|n| [1, 4, 5].contains(n)) && numbers[0] != numbers[1], "{numbers:?}");
    assert_eq!((&suggestions[0]["candidates"], &suggestions[1]["candidates"]), (&3.into(), &2.into()));
    assert_eq!(
        (&suggestions[0]["method"], &suggestions[0]["status"]),
        (&"candidate".into(), &"exhaustive".into())
    );
    let table = folder.run(&["suggest", "p.toml", "--among", "list.csv"]).stdout;
    assert!(table.contains(&format!("candidate {}\n", numbers[0])), "{table}");
    assert!(table.contains("of 3 candidates, each evaluated: none is better"), "{table}");
    // A column that is fixed may be missing.
    folder.write("short.csv", "resin,filler,solvent,passes\n0.5,0.1,xylene,2\n0.4,0.2,butanol,1\n");
    let fixed = ["--among", "short.csv", "--fix", "bake temperature=77.5", "-n", "2"];
    assert!(suggested(&folder, &fixed).iter().all(|s| s["point"]["bake temperature"] == 77.5));
    folder.refused(
        &["suggest", "p.toml", "--among", "short.csv"],
        &["short.csv:1:", "column \"bake temperature\"", "missing"],
    );
    folder.refused(&["suggest", "p.toml", "--among", "none.csv"], &["none.csv"]);
    // None is left.
    let run = folder.run(&["suggest", "p.toml", "-n", "9", "--among", "list.csv", "--append"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("only 3 of 9 experiments: no candidate is left: of 5, 3 hold an experiment already, 2 are not feasible"), "{}", run.stderr);
    assert_eq!(folder.run(&["suggest", "p.toml", "--among", "list.csv"]).code, 1);
}

#[test]
fn one_value_through_a_batch() {
    let folder = folder_with(MIXED, &mixed_history(12));
    let suggestions = suggested(&folder, &["-n", "4", "--same", "bake temperature", "--same", "solvent"]);
    let first = &suggestions[0]["point"];
    for suggestion in &suggestions {
        assert_eq!(suggestion["point"]["bake temperature"], first["bake temperature"]);
        assert_eq!(suggestion["point"]["solvent"], first["solvent"]);
    }
    assert!(suggestions[0]["point"]["resin"] != suggestions[1]["point"]["resin"]);
}

#[test]
fn the_exported_problem_has_the_fix_in_it() {
    let folder = folder_with(MIXED, &mixed_history(24));
    let arguments = ["--preset", "paper", "--fix", "solvent=water", "--export-instance", "i.json"];
    let suggestion = &suggested(&folder, &arguments)[0];
    let solved = folder.run(&["solve", "i.json", "--format", "json"]).json();
    let (bound, own) = (solved["bound"].as_f64().unwrap(), suggestion["acquisition"].as_f64().unwrap());
    assert!((solved["objective"].as_f64().unwrap() - own).abs() <= 2e-4 * own.abs(), "{solved} {suggestion}");
    assert!(bound <= own + 1e-9);
}

#[test]
fn words_that_are_no_command_are_met_with_the_one_that_is_meant() {
    let folder = Folder::new();
    for (word, parts) in [
        ("predcit", vec!["'predict'"]),
        ("sugest", vec!["'suggest'"]),
        ("tel", vec!["'tell'"]),
        ("best", vec!["`leafgp status` does that"]),
        ("bets", vec!["`leafgp status` does that, if you mean \"best\""]),
        ("validte", vec!["`leafgp check` does that, if you mean \"validate\""]),
        ("p.toml", vec!["The command comes first", "leafgp suggest p.toml"]),
    ] {
        folder.refused(&[word], &parts);
    }
}

const PLANT: &str = "[objective]\nname = \"pH\"\ngoal = { target = 7.5 }\n[variables]\nflow = { type = \"continuous\", bounds = [0.5, 8], decimals = 1, or_zero = true }\nx = { type = \"continuous\", bounds = [0, 5], decimals = 2 }\n";

#[test]
fn a_target_and_decimals_are_shown_as_they_are_meant() {
    let folder = folder_with(PLANT, "flow;x;pH\n0;1,234;6\n2,0;3;9\n4;0,5;7\n8;2;8,25\n0,5;4;5\n1;1;7,2\n");
    let check = folder.run(&["check", "p.toml"]);
    assert!(check.stdout.contains("pH as near to 7.5 as it can be"), "{}", check.stdout);
    assert!(check.stdout.contains("0 or a number in [0.5, 8] with one decimal"), "{}", check.stdout);
    assert!(!check.stdout.contains("beside"), "measured rows may have any decimals: {}", check.stdout);
    let status = folder.run(&["status", "p.toml"]).stdout;
    assert!(status.contains("best so far: pH = 7.2 in row 6 at flow = 1.0, x = 1.00"), "{status}");
    let run = folder.run(&["suggest", "p.toml", "--append"]);
    assert!(run.stdout.contains("predicted |pH - 7.5|"), "{}", run.stdout);
    let table = folder.read("p.csv");
    let cells: Vec<&str> = table.lines().last().unwrap().split(';').collect();
    let decimals = |cell: &str| cell.split_once(',').map_or(0, |(_, fraction)| fraction.len());
    assert_eq!((decimals(cells[0]), decimals(cells[1])), (1, 2), "{table}");
    folder.write("points.csv", "flow;x\n2,0;3\n");
    let predicted = folder.run(&["predict", "p.toml", "points.csv"]).stdout;
    assert!(predicted.contains("|pH - 7.5| predicted"), "{predicted}");
    folder.write("s.toml", "name = \"s\"\nseeds = [1]\niterations = 2\n[[problem]]\nfile = \"p.toml\"\nevaluate = \"echo 1\"\n[[method]]\nname = \"leaf-gp\"\n");
    folder.refused(&["study", "run", "s.toml", "--out", "o"], &["s.toml", "goal is a target"]);
}
