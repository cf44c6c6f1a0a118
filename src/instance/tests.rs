use leafgp_solver::{Domain, Grid};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Instance, InstanceError};
use crate::gp::VarianceKind;

fn good() -> Value {
    json!({
        "name": "small", "kappa": 1.96, "signal_variance": 0.5, "noise_variance": 0.01, "mean": 0.25,
        "variance": "observed",
        "variables": [
            {"type": "continuous", "lower": 0, "upper": 1, "name": "flow rate"},
            {"type": "integer", "lower": 0, "upper": 9},
            {"type": "categorical", "categories": 3, "levels": ["a", "b", "c"]},
            {"type": "binary"},
            {"type": "discrete", "values": [0, 12.5, 48]},
            {"type": "continuous", "lower": 0.1, "upper": 0.62, "step": 0.05}
        ],
        "trees": [
            [
                {"feature": 0, "threshold": 0.5, "left": 1, "right": 2},
                {"leaf": 0, "value": -0.5},
                {"feature": 2, "categories": [1], "left": 3, "right": 4},
                {"leaf": 1, "value": 0.25},
                {"leaf": 2, "value": 1e-35}
            ],
            [{"leaf": 0, "value": 0.1}]
        ],
        "X": [[0.2, 3, 1, 0, 48, 0.3], [0.9, 4.0, 2, 1, 0, 0.1]],
        "y": [-0.7071067811865475, 0.7071067811865475],
        "define": [{"name": "total", "expr": "x1 + x3", "integer": true}],
        "constraints": ["x1 <= 5", {"name": "cap", "expr": "total <= 4"}],
        "sampled": {"x": [1], "anything": null}
    })
}

fn parse(value: &Value) -> Result<Instance, InstanceError> {
    Instance::parse(&value.to_string(), "small.json")
}

#[test]
fn a_full_instance_is_read_as_written() {
    let instance = parse(&good()).unwrap();
    assert_eq!((instance.name.as_str(), instance.kappa), ("small", 1.96));
    assert_eq!((instance.hyperparameters.mean, instance.variance), (0.25, VarianceKind::Observed));
    let names: Vec<&str> = instance.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["flow rate", "x1", "x2", "x3", "x4", "x5"]);
    assert_eq!(instance.variables[2].level_names, ["a", "b", "c"]);
    assert_eq!(instance.variables[3].domain, Domain::Integer { lower: 0.0, upper: 1.0 });
    assert_eq!(instance.variables[5].domain, Domain::Grid(Grid::new(10, 5, 2, 11).unwrap()));
    assert_eq!((instance.forest.n_trees(), instance.forest.n_leaves()), (2, 4));
    assert_eq!(instance.x.row(0), [0.2, 3.0, 1.0, 0.0, 48.0, 0.3]);
    assert_eq!(instance.constraints[0].name, "x1 <= 5");
    assert_eq!(instance.constraints[1].expr, "total <= 4");
    assert!(instance.define[0].integer);
}

#[test]
fn writing_and_reading_again_changes_nothing() {
    let instance = parse(&good()).unwrap();
    assert_eq!(Instance::parse(&instance.to_json(), "again").unwrap(), instance);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.json");
    instance.write(&path).unwrap();
    assert_eq!(Instance::read(&path).unwrap(), instance);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays behind");
    assert!(instance.write(&folder.path().join("missing/small.json")).is_err());
}

#[test]
fn hierarchical_variables_survive_the_round_trip() {
    let mut value = good();
    value["variables"][1]["active_if"] = json!("x3 == 1");
    value["variables"][1]["inactive_value"] = json!(0);
    let instance = parse(&value).unwrap();
    assert_eq!(instance.active_if[1].as_ref().unwrap().condition, "x3 == 1");
    assert_eq!(Instance::parse(&instance.to_json(), "again").unwrap(), instance);
}

/// Replaces the value at a JSON pointer.
fn spoiled(pointer: &str, with: Value) -> Value {
    let mut value = good();
    *value.pointer_mut(pointer).unwrap() = with;
    value
}

#[test]
fn each_fault_is_refused_with_its_place() {
    let split =
        |feature: Value, left: Value| json!({"feature": feature, "threshold": 0.5, "left": left, "right": 2});
    let cases: Vec<(&str, Value, &str, &str)> = vec![
        ("/kappa", json!(-1), "kappa", "a number from 0"),
        ("/kappa", json!("1.96"), "kappa", "found \"1.96\""),
        ("/kappa", Value::Null, "kappa", "found null"),
        ("/signal_variance", json!(0), "signal_variance", "above 0"),
        ("/noise_variance", json!(-0.1), "noise_variance", "above 0"),
        ("/variance", json!("both"), "variance", "latent"),
        ("/name", json!(3), "name", "expected text"),
        ("/variables", json!({}), "variables", "expected a list"),
        ("/variables/0/type", json!("real"), "variables[0].type", "continuous"),
        (
            "/variables/0",
            json!({"type": "continuous", "lower": 2, "upper": 1}),
            "variables[0]",
            "above upper",
        ),
        ("/variables/0", json!({"type": "continuous", "lower": 2}), "variables[0]", "`upper` is missing"),
        (
            "/variables/0",
            json!({"type": "continuous", "lower": 0, "upper": 1, "unit": "m"}),
            "variables[0]",
            "unknown key `unit`",
        ),
        ("/variables/0/name", json!("x1"), "the whole", "both named `x1`"),
        ("/variables/1/upper", json!(9.5), "variables[1].upper", "whole number"),
        ("/variables/2/categories", json!(0), "variables[2].categories", "from 1"),
        ("/variables/2/categories", json!(1e9), "variables[2].categories", "from 1"),
        ("/variables/2/levels", json!(["a"]), "variables[2].levels", "3 names"),
        ("/variables/4/values", json!([1, 1]), "variables[4].values", "ascending"),
        ("/variables/5/step", json!(0), "variables[5].step", "above 0"),
        ("/variables/5/step", json!(1e-20), "variables[5].step", "decimal step"),
        ("/trees/0", json!([]), "tree 0", "no nodes"),
        ("/trees/0/0", split(json!(7), json!(1)), "trees[0][0].feature", "asks feature 7"),
        ("/trees/0/0", split(json!(-1), json!(1)), "trees[0][0].feature", "whole number from 0"),
        ("/trees/0/0", split(json!(0), json!(99)), "tree 0, node 0", "child 99"),
        ("/trees/0/0", split(json!(0), json!(0)), "tree 0, node 0", "reached twice"),
        ("/trees/0/0", split(json!(0), json!(2)), "tree 0, node 2", "reached twice"),
        ("/trees/0/0", split(json!(2), json!(1)), "tree 0, node 0", "categorical"),
        ("/trees/0/0/threshold", Value::Null, "trees[0][0].threshold", "found null"),
        (
            "/trees/0/0",
            json!({"feature": 0, "left": 1, "right": 2}),
            "trees[0][0]",
            "either `threshold` or `categories`",
        ),
        ("/trees/0/2/feature", json!(0), "trees[0][2].categories", "is a number"),
        ("/trees/0/2/categories", json!([3]), "trees[0][2].categories[0]", "level from 0 to 2"),
        ("/trees/0/2/categories", json!([0.5]), "trees[0][2].categories[0]", "whole number"),
        ("/trees/0/1/leaf", json!(5), "tree 0, node 1", "leaf number 5"),
        ("/trees/0/1/leaf", json!(1), "tree 0", "repeats leaf number 1"),
        ("/trees/0/1", json!({"leaf": 0, "value": 1, "left": 2}), "trees[0][1]", "unknown key `left`"),
        ("/X/1", json!([0.9, 4]), "X[1]", "2 values; there are 6"),
        ("/X/1/0", json!("a"), "X[1][0]", "finite number"),
        ("/X/1/2", json!(3), "X[1]", "level from 0 to 2"),
        ("/X/1/2", json!(0.5), "X[1]", "level from 0 to 2"),
        ("/y", json!([0.5]), "y", "1 targets for the 2 rows"),
        ("/constraints/0", json!(5), "constraints[0]", "expression"),
        ("/define/0/integer", json!(1), "define[0].integer", "true or false"),
        ("/variables/1/active_if", Value::Null, "", ""),
    ];
    for (pointer, with, place, problem) in cases {
        let value = if place.is_empty() {
            let mut value = good();
            value["variables"][1]["active_if"] = json!("x3 == 1");
            value
        } else {
            spoiled(pointer, with)
        };
        let message = parse(&value).unwrap_err().to_string();
        assert!(message.starts_with("small.json: "), "{message}");
        assert!(message.contains(place) && message.contains(problem), "{pointer}: {message}");
    }
}

#[test]
fn missing_and_unknown_keys_are_named() {
    for key in ["name", "kappa", "signal_variance", "noise_variance", "variables", "trees", "X", "y"] {
        let mut value = good();
        value.as_object_mut().unwrap().remove(key);
        let message = parse(&value).unwrap_err().to_string();
        assert!(message.contains(&format!("`{key}` is missing")), "{message}");
    }
    for key in ["mean", "variance", "define", "sampled"] {
        let mut value = good();
        value.as_object_mut().unwrap().remove(key);
        parse(&value).unwrap();
    }
    let mut value = good();
    value["kapa"] = json!(1);
    assert!(parse(&value).unwrap_err().to_string().contains("unknown key `kapa`"));
}

#[test]
fn broken_json_is_explained() {
    let text = good().to_string();
    for (from, to, problem) in [
        ("0.9", "NaN", "NaN is no number"),
        ("0.9", "-Infinity", "Infinity is no number"),
        ("0.9", "1e999", "number out of range"),
        ("\"y\":", "\"y\"", "expected `:`"),
    ] {
        let message = Instance::parse(&text.replacen(from, to, 1), "f.json").unwrap_err().to_string();
        assert!(message.contains(problem) && message.contains("line 1"), "{message}");
    }
    let half = &text[..text.len() / 2];
    assert!(Instance::parse(half, "f.json").unwrap_err().to_string().contains("EOF"));
}

#[test]
fn single_faults_in_arbitrary_places_never_panic() {
    // Every scalar of the instance replaced by each of a few awkward values: an answer or an error, no panic.
    fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, v)| pointers(v, format!("{at}/{i}"), out));
            }
            Value::Object(map) => map.iter().for_each(|(k, v)| pointers(v, format!("{at}/{k}"), out)),
            _ => {}
        }
        out.push(at);
    }
    let mut places = Vec::new();
    pointers(&good(), String::new(), &mut places);
    let awkward = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!(4e9),
        json!(0.5),
        json!("x"),
        json!([]),
        json!({}),
        json!(true),
    ];
    let mut refused = 0;
    for place in &places {
        for with in &awkward {
            let accepted = parse(&spoiled(place, with.clone()));
            refused += usize::from(accepted.is_err());
            if let Ok(instance) = accepted {
                let gp = instance.gp().unwrap();
                assert!(gp.posterior(instance.x.rows().next().unwrap_or(&[0.0; 6])).variance >= 0.0);
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

proptest! {
    #[test]
    fn grids_hold_exactly_the_decimals_up_to_the_upper_bound(
        first in -400i64..400, step in 1i64..60, digits in 0u32..5, steps in 0u64..200, extra in 0i64..100,
    ) {
        let scale = 10f64.powi(digits as i32);
        let beyond = extra * step / 101; // less than a step beyond the last value
        let upper = (first + step * steps as i64 + beyond) as f64 / scale;
        let value = spoiled("/variables/5", json!({
            "type": "continuous", "lower": first as f64 / scale, "upper": upper, "step": step as f64 / scale,
        }));
        let instance = parse(&value).unwrap();
        let Domain::Grid(grid) = &instance.variables[5].domain else { panic!("no grid") };
        prop_assert_eq!(grid.count(), steps + 1);
        prop_assert_eq!(grid.value(steps), (first + step * steps as i64) as f64 / scale);
    }
}
