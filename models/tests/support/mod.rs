//! Models and points for tests.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test crate uses a part")]

pub mod problems;
pub mod random;

use std::path::{Path, PathBuf};

use leafgp_models::{Ensemble, ReadOptions};
use serde_json::Value;

/// The golden models; another folder by `LEAFGP_GOLDEN`.
pub fn golden() -> PathBuf {
    std::env::var_os("LEAFGP_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("golden"), PathBuf::from)
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Model files of a folder, sorted: those with points beside them.
pub fn model_files(folder: &Path) -> Vec<PathBuf> {
    let is_model = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        !name.ends_with(".points.json") && points_file(path).is_file()
    };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_model).collect();
    files.sort();
    files
}

pub fn points_file(model: &Path) -> PathBuf {
    model.with_file_name(format!("{}.points.json", model.file_stem().unwrap().to_str().unwrap()))
}

pub fn open(path: &Path) -> Ensemble {
    let points = points_file(path);
    let mut options = ReadOptions::default();
    if points.is_file()
        && let Some(class) = read_json(&points)["class"].as_u64()
    {
        options = options.with_class(class as usize);
    }
    Ensemble::open(path, &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The recorded points as the model takes them, and the predictions.
pub fn recorded(model: &Path, ensemble: &Ensemble) -> Vec<(Vec<f64>, f64)> {
    let json = read_json(&points_file(model));
    let from_text = |row: &Value| -> Vec<f64> {
        let cells = row.as_array().unwrap().iter().zip(ensemble.features());
        cells
            .map(|(cell, feature)| {
                let text = cell.as_str().unwrap();
                match feature.is_categorical() {
                    true => feature.code(text).unwrap() as f64,
                    false => text.parse().unwrap(),
                }
            })
            .collect()
    };
    let from_numbers =
        |row: &Value| row.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect();
    let points: Vec<Vec<f64>> = match json.get("rows") {
        Some(rows) => rows.as_array().unwrap().iter().map(from_text).collect(),
        None => json["points"].as_array().unwrap().iter().map(from_numbers).collect(),
    };
    let predictions = json["predictions"].as_array().unwrap();
    assert_eq!(points.len(), predictions.len(), "{}", model.display());
    assert!(!points.is_empty(), "{}", model.display());
    points.into_iter().zip(predictions.iter().map(|v| v.as_f64().unwrap())).collect()
}

/// Relative to the larger of 1 and the prediction: what the library's own arithmetic allows.
pub fn tolerance(model: &Path) -> f64 {
    let library = read_json(&points_file(model))["library"].as_str().unwrap().to_string();
    if library.starts_with("lightgbm") || library.starts_with("catboost") { 1e-9 } else { 1e-6 }
}

/// Checks every recorded prediction.
pub fn check_predictions(path: &Path) {
    let ensemble = open(path);
    let tolerance = tolerance(path);
    for (x, expected) in recorded(path, &ensemble) {
        let found = ensemble.predict(&x);
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{} at {x:?}: {found} instead of {expected}", path.display());
    }
}
