//! Our own file of an ensemble: what is written is read as the same, and damage is named.

mod support;

use leafgp_models::{ArrayCategories, ArrayEnsemble, ArrayTree, Ensemble, Feature, Link, ReadOptions};
use serde_json::{Value, json};
use support::{golden, model_files, open};

fn read(bytes: &[u8]) -> Result<Ensemble, String> {
    Ensemble::read(bytes, &ReadOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn every_librarys_model_is_written_and_read_as_the_same() {
    let files = model_files(&golden());
    assert!(files.len() >= 35);
    for path in files {
        let model = open(&path);
        let again = read(&model.write()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(again, model, "{}", path.display());
        assert_eq!(again.write(), model.write());
        let n = model.features().len();
        for value in [f64::NAN, -1e300, -1.5, -0.0, 0.0, 1e-36, 0.3, 1.0, 2.0, 7.0, f64::INFINITY] {
            let x: Vec<f64> = (0..n).map(|i| value + 0.25 * i as f64).collect();
            assert_eq!(again.predict(&x).to_bits(), model.predict(&x).to_bits(), "{}", path.display());
        }
    }
}

/// Thresholds beyond every number, and a category.
fn arrays() -> Ensemble {
    let tree = |threshold: f64, listed: &[usize]| {
        let mut tree = ArrayTree {
            left: vec![1, 3, -1, -1, -1],
            right: vec![2, 4, -1, -1, -1],
            feature: vec![0, 1, -2, -2, -2],
            threshold: vec![threshold, f64::NAN, -2.0, -2.0, -2.0],
            missing_left: vec![true, false, false, false, false],
            value: vec![0.0, 0.0, 0.1, 0.2, 0.3],
            ..ArrayTree::default()
        };
        tree.categories.insert(1, ArrayCategories { listed: listed.to_vec(), listed_left: true });
        tree
    };
    let grade = Feature {
        name: "grade \"1\"".into(),
        kind: leafgp_models::FeatureKind::Categorical { labels: Some(vec!["a".into(), "ä".into()]) },
        range: None,
    };
    let features = vec![Feature { range: Some((-1.0, 2.5)), ..Feature::numeric("x") }, grade];
    let trees = vec![tree(f64::INFINITY, &[1]), tree(f64::NEG_INFINITY, &[]), tree(0.1 + 0.2, &[0, 1])];
    let link = Link::Logistic { scale: 0.7 };
    Ensemble::from_arrays(&ArrayEnsemble {
        features,
        trees,
        base: -0.0,
        weight: 0.1,
        is_mean: true,
        is_single: false,
        link,
    })
    .unwrap()
}

#[test]
fn infinite_thresholds_labels_and_ranges_are_kept() {
    let model = arrays();
    let again = read(&model.write()).unwrap();
    assert_eq!(again, model);
    assert_eq!(again.features(), model.features());
    for x in [f64::NAN, -1e308, 0.3, f64::MAX] {
        for grade in [f64::NAN, 0.0, 1.0, 5.0] {
            assert_eq!(again.predict(&[x, grade]).to_bits(), model.predict(&[x, grade]).to_bits());
        }
    }
}

#[test]
fn each_damage_of_our_own_file_is_named() {
    let good: Value = serde_json::from_slice(&arrays().write()).unwrap();
    let cases: [(&str, Value, &str); 16] = [
        ("/version", json!(2), "version: is 2; expected 1"),
        ("/divisor", json!(0), "divisor: is 0"),
        ("/divisor", json!(-3.0), "divisor: is -3"),
        ("/divisor", json!(1.5), "divisor: is 1.5; expected a whole number"),
        ("/divisor", json!(1e39), "expected a whole number from 1 to 1000000000"),
        ("/arithmetic", json!("double_from_base"), "expected 1 for a sum that begins with the base"),
        ("/link", json!({ "logistic": 0 }), "link: has the scale 0"),
        ("/link", json!("cubic"), "unknown variant `cubic`"),
        ("/arithmetic", json!("exact"), "unknown variant `exact`"),
        ("/base", json!(null), "invalid type: null"),
        ("/features/1/category", json!("codes "), "unknown variant"),
        ("/trees/0/nodes/0/left", json!(9), "tree 0: node 0 has the child 9"),
        ("/trees/1/nodes/0/left", json!(0), "tree 1: node 0 is reached twice"),
        ("/trees/1/nodes/0/feature", json!(2), "tree 1: node 0 asks feature 2"),
        ("/trees/2/nodes/1/rule/codes/listed", json!([0, 2]), "tree 2: node 1 lists categories of 2"),
        ("/trees/2/nodes/1/rule/codes/of", json!(1_u64 << 40), "tree 2: node 1 lists categories"),
    ];
    for (place, value, expected) in cases {
        let mut bad = good.clone();
        *bad["leafgp_ensemble"].pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value;
        let error = read(bad.to_string().as_bytes()).err().unwrap_or_else(|| panic!("{place} is read"));
        assert!(error.contains(expected), "{place}: {error}");
    }
    let with_class = Ensemble::read(&arrays().write(), &ReadOptions::default().with_class(1)).unwrap_err();
    assert!(with_class.to_string().contains("class 1"), "{with_class}");
    let mut unknown = good;
    unknown["leafgp_ensemble"]["colour"] = json!(1);
    assert!(read(unknown.to_string().as_bytes()).unwrap_err().contains("unknown field `colour`"));
}
