//! `leafgp solve` and `leafgp fit`.

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::Folder;

/// One variable, one tree with a split at 0.5, two measured points.
const SMALL: &str = r#"{
  "name": "small", "kappa": 1.0, "signal_variance": 1.0, "noise_variance": 0.01,
  "variables": [{"type": "continuous", "lower": 0, "upper": 1}],
  "trees": [[{"feature": 0, "threshold": 0.5, "left": 1, "right": 2}, {"leaf": 0, "value": -1}, {"leaf": 1, "value": 1}]],
  "X": [[0.2], [0.9]], "y": [-1.0, 1.0]
}"#;

#[test]
fn a_small_instance_by_hand() {
    let folder = Folder::new();
    folder.write("small.json", SMALL);
    let report = folder.run(&["solve", "small.json", "--format", "json"]).json();
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    let expected = [
        "name",
        "status",
        "stop_reason",
        "objective",
        "bound",
        "gap",
        "region",
        "x",
        "mean",
        "std",
        "nodes",
        "seconds",
        "threads",
    ];
    assert_eq!(keys, expected);
    // Each leaf holds one point: mean = s2/(s2 + noise) * y, variance = s2 - s2^2/(s2 + noise).
    let (mean, variance) = (-1.0 / 1.01, 1.0 - 1.0 / 1.01);
    let number = |key: &str| report[key].as_f64().unwrap();
    assert!((number("mean") - mean).abs() < 1e-12);
    assert!((number("std") - f64::sqrt(variance)).abs() < 1e-12);
    assert!((number("objective") - (mean - f64::sqrt(variance))).abs() < 1e-12);
    assert_eq!((report["status"].as_str(), report["stop_reason"].as_str()), (Some("optimal"), Some("gap")));
    assert_eq!(report["region"], serde_json::json!([[0.0, 0.5]]));
    assert!(report["x"][0].as_f64().unwrap() <= 0.5);
    assert!(number("bound") <= number("objective") && number("gap") <= 1e-4);
}

#[test]
fn an_infeasible_instance_ends_with_code_1_and_a_report() {
    let folder = Folder::new();
    folder
        .write("none.json", SMALL.replace("\"X\"", "\"constraints\": [\"x0 >= 0.8\", \"x0 <= 0.7\"], \"X\""));
    let ended = folder.run(&["solve", "none.json", "--format", "json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (report["status"].as_str(), report["stop_reason"].as_str()),
        (Some("infeasible"), Some("exhausted"))
    );
    assert!(report["objective"].is_null() && report["x"].is_null() && report["gap"].is_null());
}

#[test]
fn a_written_proof_is_verified_and_an_altered_one_refused() {
    let folder = folder_with(MIXED, &mixed_history(30));
    assert_eq!(folder.run(&["suggest", "p.toml", "--export-instance", "i.json"]).code, 0);
    let report = folder.run(&["solve", "i.json", "--certificate", "proof", "--format", "json"]).json();
    let verified = folder.run(&["verify", "i.json", "proof", "--format", "json"]).json();
    assert_eq!(verified["verified"], true);
    assert_eq!(verified["objective"], report["objective"]);
    let (proved, reported) = (verified["bound"].as_f64().unwrap(), report["bound"].as_f64().unwrap());
    assert!(proved <= reported && reported - proved <= 1e-8 * reported.abs().max(1.0));

    let mut bytes = std::fs::read(folder.path("proof")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("altered", &bytes);
    assert_ne!(folder.run(&["verify", "i.json", "altered"]).code, 0);
    folder.write("other.json", folder.read("i.json").replacen("\"kappa\":1.96", "\"kappa\":1.5", 1));
    let ended = folder.run(&["verify", "other.json", "proof"]);
    assert!(ended.code == 1 && ended.stderr.contains("another problem"), "{ended:?}");
}

#[test]
fn malformed_instances_are_refused_with_the_place() {
    for (from, to, expected) in [
        ("\"right\": 2", "\"right\": 7", "tree 0, node 0"),
        ("\"right\": 2", "\"right\": 0", "reached twice"),
        ("\"feature\": 0", "\"feature\": 3", "feature 3"),
        ("\"threshold\": 0.5", "\"threshold\": null", "threshold"),
        ("\"leaf\": 1", "\"leaf\": 5", "leaf number 5"),
        ("\"upper\": 1", "\"upper\": -1", "variables[0]"),
        ("\"y\": [-1.0, 1.0]", "\"y\": [-1.0]", "y"),
        ("\"kappa\"", "\"kapa\"", "kapa"),
        ("\"name\"", "name", "JSON"),
    ] {
        let folder = Folder::new();
        folder.write("bad.json", SMALL.replacen(from, to, 1));
        let ended = folder.run(&["solve", "bad.json"]);
        assert_eq!(ended.code, 2, "{to}: {ended:?}");
        assert!(ended.stderr.contains("bad.json") && ended.stderr.contains(expected), "{to}: {ended:?}");
        assert!(ended.stdout.is_empty());
    }
    let folder = Folder::new();
    let ended = folder.run(&["solve", "missing.json"]);
    assert!(ended.code == 2 && ended.stderr.contains("missing.json"), "{ended:?}");
}

#[test]
fn fit_reports_the_contracted_keys_and_shares() {
    let folder = folder_with(MIXED, &mixed_history(40));
    let quality = folder.run(&["fit", "p.toml", "--cv", "5", "--format", "json"]).json();
    assert_eq!(quality["n_rows"], 40);
    for key in ["trees_cv_rmse", "gp_cv_rmse", "gp_cv_log_density"] {
        assert!(quality[key].as_f64().unwrap().is_finite(), "{key}");
    }
    let importances = quality["importances"].as_object().unwrap();
    assert_eq!(importances.len(), 5);
    let total: f64 = importances.values().map(|i| i["gain"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    assert!(importances["solvent"]["gain"].as_f64().unwrap() > 0.3, "the solvent matters most: {quality}");
    let table = folder.run(&["fit", "p.toml", "--cv", "5"]);
    assert!(table.code == 0 && table.stdout.contains("solvent"), "{table:?}");
    let empty = folder_with(MIXED, "");
    assert_eq!(empty.run(&["fit", "p.toml"]).code, 2);
}

#[test]
fn exported_trees_read_back_predict_the_same_and_lightgbms_are_understood() {
    let folder = folder_with(MIXED, &mixed_history(40));
    let quality = folder.run(&["fit", "p.toml", "--export", "model.json", "--format", "json"]).json();
    let curve = quality["training_curve"].as_array().unwrap();
    let last = curve.last().unwrap().as_f64().unwrap();
    assert!(curve.len() == 50 && last < curve[0].as_f64().unwrap());
    let again = folder.run(&["fit", "p.toml", "--model", "model.json", "--format", "json"]).json();
    let rmse = again["trees_rmse"].as_f64().unwrap();
    // The trainer keeps gradients in f32, so the scale of the targets shows in the seventh digit.
    assert!((rmse - last).abs() < 1e-5 * last, "{rmse} against {last}");
    assert_eq!(again["importances"]["passes"]["splits"], quality["importances"]["passes"]["splits"]);

    folder.write("broken.txt", "tree\nversion=v4\n");
    folder.refused(&["fit", "p.toml", "--model", "broken.txt"], &["broken.txt"]);
    folder.refused(&["fit", "p.toml", "--model", "missing.json"], &["missing.json"]);
    folder.refused(&["fit", "p.toml", "--model", "model.json", "--cv", "5"], &["--cv"]);
}
