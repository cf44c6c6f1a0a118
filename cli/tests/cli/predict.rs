//! `leafgp predict`.

use crate::support::{Folder, PROBLEM};

/// Cost rises with `n` alone; one rule.
fn folder() -> Folder {
    let folder = Folder::with_problem(&format!("{PROBLEM}[constraints]\n\"x, small\" = \"x + n <= 8.5\"\n"));
    let rows: String = (0..24)
        .map(|k| format!("{},{},flat,{}\n", f64::from(k % 7) / 10.0, 1 + k % 8, 10 * (1 + k % 8)))
        .collect();
    folder.write("p.csv", format!("x,n,head,cost\n{rows}"));
    folder.write("points.csv", "n;x;head\n2;0,5;flat\n8;0,75;flat\n7;1,5;round\n");
    folder
}

#[test]
fn each_point_has_its_prediction_and_the_rules_it_breaks() {
    let folder = folder();
    let before = folder.contents();
    let answer = folder.run(&["predict", "p.toml", "points.csv", "--format", "json"]).json();
    let lines = answer["predictions"].as_array().unwrap();
    assert_eq!(lines.len(), 3);
    let number = |line: usize, key: &str| lines[line][key].as_f64().unwrap();
    assert!(number(0, "mean") < 40.0 && number(1, "mean") > 60.0, "{answer}");
    assert!(lines.iter().all(|line| line["std"].as_f64().unwrap() >= 0.0));
    assert_eq!(lines[0]["broken"], serde_json::json!([]));
    assert_eq!(lines[1]["broken"], serde_json::json!([{"name": "x, small", "amount": 0.25}]));
    assert_eq!(lines[2]["broken"], serde_json::json!([{"name": "x", "amount": 0.5}]));
    let csv = folder.run(&["predict", "p.toml", "points.csv", "--format", "csv"]).stdout;
    let csv: Vec<&str> = csv.lines().collect();
    assert_eq!(csv[0], "x,n,head,predicted,deviation,feasible,broken");
    assert_eq!(csv[1], format!("0.5,2,flat,{},{},yes,", number(0, "mean"), number(0, "std")));
    assert!(csv[2].ends_with(",no,\"x, small by 0.25\""), "{csv:?}");
    assert!(folder.run(&["predict", "p.toml", "points.csv"]).stdout.contains("x, small by 0.25"));
    assert!(folder.contents() == before, "nothing is written");
}

#[test]
fn the_prediction_of_a_suggestion_is_what_the_suggestion_said() {
    let folder = folder();
    let suggested = folder.run(&["suggest", "p.toml", "--format", "json"]).json();
    let suggested = &suggested["suggestions"][0];
    folder.write("next.csv", folder.run(&["suggest", "p.toml", "--format", "csv"]).stdout);
    let predicted = folder.run(&["predict", "p.toml", "next.csv", "--format", "json"]).json();
    for key in ["mean", "std"] {
        let (a, b) = (suggested[key].as_f64().unwrap(), predicted["predictions"][0][key].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{key}: {a} {b}");
    }
    assert_eq!(predicted["predictions"][0]["feasible"], true);
}

#[test]
fn points_that_are_none_are_refused_by_their_place() {
    let folder = folder();
    folder.write("points.csv", "x,n,head\n0.5,2,flat\n0.5,two,flat\n");
    folder.refused(&["predict", "p.toml", "points.csv"], &["points.csv:3: row 2, column \"n\"", "no number"]);
    folder.refused(&["predict", "p.toml", "nowhere.csv"], &["nowhere.csv"]);
    folder.write("p.csv", "x,n,head,cost\n");
    folder.write("points.csv", "x,n,head\n0.5,2,flat\n");
    folder.refused(&["predict", "p.toml", "points.csv"], &["p.csv", "no experiment has a value yet"]);
}
