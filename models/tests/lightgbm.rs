//! LightGBM's text by hand: what each missing type and category set means, and what damage is refused.

use leafgp_models::{Ensemble, ModelError, ReadOptions};

const MODEL: &str = "tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=a b c
feature_infos=[0:1] -1:0:1:2 [0:1]
tree_sizes=1 2

Tree=0
num_leaves=4
num_cat=1
split_feature=0 1 2
split_gain=9 8 7
threshold=0.5 0 0.25
decision_type=10 1 6
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=1 2 4 8
leaf_weight=1 1 1 1
leaf_count=1 1 1 1
internal_value=0 0 0
internal_weight=4 2 2
internal_count=4 2 2
cat_boundaries=0 2
cat_threshold=5 2
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
leaf_value=100
shrinkage=1


end of trees

feature_importances:
a=1
";

fn read(text: &str) -> Result<Ensemble, ModelError> {
    Ensemble::read(text.as_bytes(), &ReadOptions::default())
}

#[test]
fn every_missing_type_and_category_set_predicts_as_written() {
    let model = read(MODEL).unwrap();
    assert_eq!((model.features().len(), model.n_trees()), (3, 2));
    let nan = f64::NAN;
    // Split 0: NaN goes left (type NaN). Split 1: levels 0, 2 and 33 go left. Split 2: zero and NaN go left.
    let cases = [
        ([0.5, 0.0, 0.0], 1.0),
        ([nan, 2.0, 0.0], 1.0),
        ([0.0, 33.0, 0.0], 1.0),
        ([0.0, 1.0, 0.0], 4.0),
        ([0.0, nan, 0.0], 4.0),
        ([0.0, 99.0, 0.0], 4.0),
        ([0.9, 0.0, 0.25], 2.0),
        ([0.9, 0.0, 0.3], 8.0),
        ([0.9, 0.0, nan], 2.0),
    ];
    for (x, expected) in cases {
        assert_eq!(model.predict(&x), 100.0 + expected, "{x:?}");
    }
    let importances = model.importances();
    assert_eq!((importances.gain, importances.splits), (vec![9.0, 8.0, 7.0], vec![1, 1, 1]));
}

#[test]
fn a_damaged_model_is_refused_with_its_line() {
    let cases = [
        ("tree\n", "forest\n", "no known model"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "3"),
        ("is_linear=0", "is_linear=1", "linear leaves"),
        ("threshold=0.5 0 0.25", "threshold=0.5 0", "line 17"),
        ("leaf_value=1 2 4 8", "leaf_value=1 2 x 8", "line 21"),
        ("left_child=1 -1 -2", "left_child=1 -1 -1", "reached twice"),
        ("left_child=1 -1 -2", "left_child=0 -1 -2", "reached twice"),
        ("split_feature=0 1 2", "split_feature=0 1 7", "asks feature 7"),
        ("decision_type=10 1 6", "decision_type=14 1 6", "missing type"),
        ("cat_boundaries=0 2", "cat_boundaries=0 9", "no list of categories"),
        ("num_leaves=4", "num_leaves=0", "leaf"),
        ("split_gain=9 8 7", "split_gain=9 8", "split_gain"),
    ];
    for (from, to, expected) in cases {
        let error = read(&MODEL.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    }
    assert!(read("").is_err());
}
