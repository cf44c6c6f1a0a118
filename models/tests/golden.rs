//! Small models of every library: predictions as recorded, optima as enumerated.

mod support;

use leafgp_models::{Ensemble, ReadOptions};
use support::{check_predictions, golden, model_files};

#[test]
fn every_golden_model_predicts_as_its_library() {
    let files = model_files(&golden());
    let fewest = if std::env::var_os("LEAFGP_GOLDEN").is_some() { 1 } else { 38 };
    assert!(files.len() >= fewest, "{} models", files.len());
    for file in files {
        check_predictions(&file);
    }
}

#[test]
fn what_is_no_optimum_over_leaves_is_refused_by_its_name() {
    let cases = [
        ("refuse-vector-leaves.json", "vector leaves"),
        ("refuse-ranking.json", "ranking model (rank:pairwise)"),
        ("refuse-ctr.json", "CTR features"),
        ("lgb-classes.txt", "a model of 3 classes"),
        ("xgb-classes.json", "a model of 3 classes"),
    ];
    for (name, expected) in cases {
        let error = Ensemble::open(&golden().join(name), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error:?} should contain {expected:?}");
    }
    let classes = golden().join("xgb-classes.json");
    let error = Ensemble::open(&classes, &ReadOptions::default().with_class(3)).unwrap_err().to_string();
    assert!(error.contains("the model has 3"), "{error}");
}
