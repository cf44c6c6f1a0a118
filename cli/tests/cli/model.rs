//! `predict` and `optimize`: trained models from their files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Folder;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/golden").join(name)
}

/// The points beside a golden model as a table, and the library's predictions.
fn table(name: &str) -> (String, Vec<f64>) {
    let text = std::fs::read_to_string(golden(&format!("{name}.points.json"))).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let model = std::fs::read_to_string(golden(&format!("{name}.txt"))).unwrap();
    let features = model.lines().find_map(|line| line.strip_prefix("feature_names=")).unwrap();
    let mut csv = features.replace(' ', ",") + "\n";
    let mut predictions = Vec::new();
    for (point, prediction) in
        json["points"].as_array().unwrap().iter().zip(json["predictions"].as_array().unwrap())
    {
        let point = point.as_array().unwrap();
        let cells: Vec<String> =
            point.iter().map(|cell| if cell.is_null() { String::new() } else { cell.to_string() }).collect();
        csv += &(cells.join(",") + "\n");
        predictions.push(prediction.as_f64().unwrap());
    }
    (csv, predictions)
}

fn folder_with(name: &str) -> (Folder, Vec<f64>) {
    let folder = Folder::new();
    let (csv, predictions) = table(name);
    folder.write("t.csv", csv);
    (folder, predictions)
}

#[test]
fn predictions_are_the_librarys_in_both_formats() {
    for (name, file) in [("lgb-numbers", "lgb-numbers.txt"), ("lgb-missing", "lgb-missing.txt")] {
        let (folder, expected) = folder_with(name);
        let model = golden(file);
        let model = model.to_str().unwrap();
        let json = folder.run(&["predict", model, "t.csv", "--format", "json"]).json();
        let run = folder.run(&["predict", model, "t.csv"]);
        let mut lines = run.stdout.lines();
        assert!(lines.next().unwrap().ends_with(",prediction"));
        let given = folder.read("t.csv");
        for (((line, row), value), expected) in
            lines.zip(given.lines().skip(1)).zip(json["predictions"].as_array().unwrap()).zip(&expected)
        {
            let value = value.as_f64().unwrap();
            assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{name}: {value} {expected}");
            let (cells, last) = line.rsplit_once(',').unwrap();
            assert_eq!((cells, last.parse().unwrap()), (row, value));
        }
    }
}

#[test]
fn the_best_input_is_proved_and_is_what_the_model_predicts_there() {
    let (folder, seen) = folder_with("lgb-numbers");
    let model = golden("lgb-numbers.txt");
    let model = model.to_str().unwrap();
    let run = |extra: &[&str]| {
        let mut arguments = vec!["optimize", model, "--data", "t.csv", "--format", "json"];
        arguments.extend(extra);
        folder.run(&arguments).json()
    };
    let best = run(&["--maximize", "--top", "3"]);
    assert_eq!(best["status"], "optimal");
    let (value, bound) = (best["value"].as_f64().unwrap(), best["bound"].as_f64().unwrap());
    assert!(bound >= value && bound <= value + 1e-3 * value.abs().max(1.0), "{value} {bound}");
    // No point of the table is better, all of them lying in the box.
    let largest = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(value >= largest - 1e-9, "{value} {largest}");
    let mut last = value;
    for other in best["others"].as_array().unwrap() {
        let value = other["value"].as_f64().unwrap();
        assert!(value <= last);
        last = value;
    }

    // Written as a table, the point is predicted with this value.
    let (names, cells): (Vec<&str>, Vec<String>) =
        best["point"].as_object().unwrap().iter().map(|(name, x)| (name.as_str(), x.to_string())).unzip();
    folder.write("best.csv", format!("{}\n{}\n", names.join(","), cells.join(",")));
    let predicted = folder.run(&["predict", model, "best.csv", "--format", "json"]).json();
    assert_eq!(predicted["predictions"][0], best["value"]);

    // Held at the other end of a variable's range, the best is no better.
    let name = names[0];
    let held = best["cell"][name][0].as_f64().unwrap();
    let run_fixed = run(&["--maximize", "--fix", &format!("{name}={held}")]);
    assert_eq!(run_fixed["point"][name].as_f64(), Some(held));
    assert!(run_fixed["value"].as_f64().unwrap() <= value + 1e-9);
    let least = run(&["--minimize"]);
    assert!(least["value"].as_f64().unwrap() <= seen.iter().copied().fold(f64::INFINITY, f64::min) + 1e-9);
}

/// Two stumps: flow above 5 adds 1, temp above 40 adds 20.
const STUMPS: &str = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\n\
    feature_names=flow temp\ntree_sizes=200 200\n\n\
    Tree=0\nnum_leaves=2\nsplit_feature=0\nthreshold=5\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=1 2\n\n\
    Tree=1\nnum_leaves=2\nsplit_feature=1\nthreshold=40\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=10 30\n\n\
    end of trees\n";

const PLANT: &str = r#"name = "plant"

[objective]
name = "yield"
goal = "maximize"

[variables]
temp = { type = "integer", bounds = [20, 90] }
flow = { type = "continuous", bounds = [0.0, 10.0], step = 0.5 }

[constraints]
pump = "temp + 10 * flow <= 85"
"#;

#[test]
fn constraints_and_steps_of_a_problem_file_hold() {
    let folder = Folder::new();
    folder.write("m.txt", STUMPS);
    folder.write("p.toml", PLANT);
    let best = folder.run(&["optimize", "m.txt", "--problem", "p.toml", "--format", "json"]).json();
    // Above 40 degrees the flow stays at or below 4.
    assert_eq!((best["value"].as_f64(), best["status"].as_str()), (Some(31.0), Some("optimal")));
    assert!(best["point"]["temp"].as_i64().unwrap() > 40 && best["point"]["flow"].as_f64().unwrap() <= 4.0);
    let fixed = folder
        .run(&["optimize", "m.txt", "--problem", "p.toml", "--fix", "flow=6", "--format", "json"])
        .json();
    assert_eq!((fixed["value"].as_f64(), fixed["point"]["flow"].as_f64()), (Some(12.0), Some(6.0)));
    let text = folder.run(&["optimize", "m.txt", "--problem", "p.toml"]).stdout;
    assert!(text.starts_with("optimal") && text.contains("best: 31 at temp = "), "{text}");
    // Nothing is left: 10 * flow alone is above the limit.
    let none =
        folder.run(&["optimize", "m.txt", "--problem", "p.toml", "--fix", "flow=8", "--format", "json"]);
    assert_eq!(none.code, 1);
    assert!(none.stdout.contains("\"infeasible\""), "{}", none.stdout);
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new();
    folder.write("m.txt", STUMPS);
    folder.write("p.toml", PLANT);
    folder.write("t.csv", "temp;speed\n20;1,5\n90;2\n");
    folder.write("cut.txt", &STUMPS[..STUMPS.len() / 2]);
    folder.refused(&["optimize", "m.txt", "--data", "t.csv", "--maximize"], &["\"flow\"", "\"speed\""]);
    folder.refused(&["optimize", "cut.txt", "--data", "t.csv", "--maximize"], &["cut.txt"]);
    folder.refused(&["optimize", "none.txt", "--data", "t.csv", "--maximize"], &["none.txt"]);
    folder.refused(
        &["optimize", "m.txt", "--problem", "p.toml", "--fix", "flow=0.3"],
        &["--fix flow=0.3", "steps from 0 to 10"],
    );
    folder.refused(&["optimize", "m.txt", "--problem", "p.toml", "--fix", "speed=1"], &["speed", "flow"]);
    folder.refused(
        &["optimize", "m.txt", "--problem", "p.toml", "--fix", "flow=1", "--fix", "flow = 2"],
        &["flow = 2", "fixed twice"],
    );
    folder.refused(&["predict", "p.toml", "t.csv", "--by-position"], &["--by-position", "problem files"]);
    folder.refused(&["predict", "m.txt", "t.csv"], &["no column is called \"flow\""]);
    folder.write("bad.csv", "temp,flow\n20,fast\n");
    folder.refused(&["predict", "m.txt", "bad.csv"], &["row 1", "\"flow\"", "\"fast\""]);
    folder.write("data.csv", "temp,flow\n20,1\n90,10\n");
    folder.refused(&["optimize", "m.txt", "--data", "data.csv"], &["--maximize or --minimize"]);
    // By position: the names do not matter, decimal commas and separators neither.
    let run = folder.run(&["predict", "m.txt", "t.csv", "--by-position", "--format", "json"]).json();
    assert_eq!(run["predictions"], serde_json::json!([12.0, 12.0]));
}
