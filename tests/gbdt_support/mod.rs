//! Golden fits of LightGBM 4.7 (tests/golden/README.md) and, where it is there, the shared folder's.
#![allow(dead_code, reason = "each test crate uses a part")]

use std::path::Path;

use leafgp::Table;
use leafgp::gbdt::GbdtSettings;
use leafgp::solver::Domain;
use leafgp_testdata::{json_files, root, shared};
use serde_json::Value;

/// One golden fit.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) settings: GbdtSettings,
    pub(crate) domains: Vec<Domain>,
    pub(crate) x: Table,
    pub(crate) y: Vec<f64>,
    pub(crate) trees: Vec<Vec<Value>>,
    pub(crate) predictions: Vec<f64>,
    pub(crate) cv5_rmse: f64,
    /// The same model as LightGBM writes it.
    pub(crate) text: String,
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// All golden fits: those of the tree, then, where the shared folder is there, its larger ones.
pub(crate) fn golden() -> Vec<Golden> {
    let mut files = json_files(&root().join("tests/golden"), 7);
    if let Some(folder) = shared("data/golden/gbt") {
        files.extend(json_files(&folder, 17));
    }
    files.iter().map(|file| read(file)).collect()
}

pub(crate) fn read(path: &Path) -> Golden {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let params = &json["params"];
    let count = |key: &str| params[key].as_u64().unwrap() as usize;
    let number = |key: &str| params[key].as_f64().unwrap();
    let settings = GbdtSettings {
        n_trees: count("rounds"),
        learning_rate: number("learning_rate"),
        max_depth: params["max_depth"].as_i64().unwrap() as i32,
        num_leaves: count("num_leaves"),
        min_data_in_leaf: count("min_data_in_leaf"),
        min_sum_hessian_in_leaf: number("min_sum_hessian_in_leaf"),
        lambda_l2: number("lambda_l2"),
        max_bin: count("max_bin"),
        min_data_in_bin: count("min_data_in_bin"),
        cat_smooth: number("cat_smooth"),
        cat_l2: number("cat_l2"),
        max_cat_threshold: count("max_cat_threshold"),
        max_cat_to_onehot: count("max_cat_to_onehot"),
        min_data_per_group: count("min_data_per_group"),
        ..GbdtSettings::default()
    };
    let domain = |variable: &Value| {
        let end = |key: &str| variable[key].as_f64().unwrap();
        match variable["type"].as_str().unwrap() {
            "categorical" => {
                Domain::Categorical { levels: variable["categories"].as_u64().unwrap() as usize }
            }
            "integer" => Domain::Integer { lower: end("lower"), upper: end("upper") },
            _ => Domain::Continuous { lower: end("lower"), upper: end("upper") },
        }
    };
    let rows: Vec<Vec<f64>> = json["X"].as_array().unwrap().iter().map(numbers).collect();
    let tree = |tree: &Value| tree.as_array().unwrap().clone();
    Golden {
        name: json["name"].as_str().unwrap().to_owned(),
        settings,
        domains: json["variables"].as_array().unwrap().iter().map(domain).collect(),
        x: Table::from_rows(rows[0].len(), &rows),
        y: numbers(&json["y"]),
        trees: json["trees"].as_array().unwrap().iter().map(tree).collect(),
        predictions: numbers(&json["predictions"]),
        cv5_rmse: json["cv5_rmse"].as_f64().unwrap(),
        text: std::fs::read_to_string(path.with_extension("lgb.txt")).unwrap(),
    }
}
