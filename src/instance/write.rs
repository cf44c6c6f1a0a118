//! From an [`Instance`] to JSON.

use leafgp_solver::constraints::Variable;
use leafgp_solver::{Domain, Node, Rule, Tree};
use serde_json::{Map, Value, json};

use super::{ActiveIf, Instance};
use crate::gp::VarianceKind;

/// The whole instance; optional keys only where they say more than their default.
pub(super) fn to_value(instance: &Instance) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_string(), value);
    };
    put("name", json!(instance.name));
    put("kappa", json!(instance.kappa));
    put("signal_variance", json!(instance.hyperparameters.signal_variance));
    put("noise_variance", json!(instance.hyperparameters.noise_variance));
    if instance.hyperparameters.mean != 0.0 {
        put("mean", json!(instance.hyperparameters.mean));
    }
    if instance.variance == VarianceKind::Observed {
        put("variance", json!("observed"));
    }
    let variables: Vec<Value> = instance
        .variables
        .iter()
        .enumerate()
        .map(|(i, v)| variable(i, v, instance.active_if.get(i).and_then(Option::as_ref)))
        .collect();
    put("variables", Value::Array(variables));
    if !instance.define.is_empty() {
        let define = instance
            .define
            .iter()
            .map(|d| {
                if d.integer {
                    json!({"name": d.name, "expr": d.expr, "integer": true})
                } else {
                    json!({"name": d.name, "expr": d.expr})
                }
            })
            .collect();
        put("define", Value::Array(define));
    }
    if !instance.constraints.is_empty() {
        let constraints = instance
            .constraints
            .iter()
            .map(|c| if c.name == c.expr { json!(c.expr) } else { json!({"name": c.name, "expr": c.expr}) })
            .collect();
        put("constraints", Value::Array(constraints));
    }
    put("trees", Value::Array(instance.forest.trees().iter().map(tree).collect()));
    put("X", Value::Array(instance.x.rows().map(|row| json!(row)).collect()));
    put("y", json!(instance.y));
    for (key, points) in [("pending", &instance.pending), ("failed", &instance.failed)] {
        if points.n_rows() > 0 {
            put(key, Value::Array(points.rows().map(|row| json!(row)).collect()));
        }
    }
    if let Some(ratio) = instance.max_agreement {
        put("max_agreement", json!(ratio));
    }
    if let Some(sampled) = &instance.sampled {
        put("sampled", sampled.clone());
    }
    Value::Object(map)
}

fn variable(index: usize, variable: &Variable, active_if: Option<&ActiveIf>) -> Value {
    let mut value = match &variable.domain {
        Domain::Continuous { lower, upper } => json!({"type": "continuous", "lower": lower, "upper": upper}),
        Domain::Integer { lower, upper } => json!({"type": "integer", "lower": lower, "upper": upper}),
        Domain::Grid(grid) => {
            let (_, step, digits) = grid.numerators();
            let (lower, upper) = variable.domain.bounds();
            let step = step as f64 / 10f64.powi(digits as i32);
            json!({"type": "continuous", "lower": lower, "upper": upper, "step": step})
        }
        Domain::Discrete(values) => json!({"type": "discrete", "values": values}),
        Domain::Categorical { levels } => json!({"type": "categorical", "categories": levels}),
    };
    if variable.name != format!("x{index}") {
        value["name"] = json!(variable.name);
    }
    let numbered = variable.level_names.iter().enumerate().all(|(i, name)| *name == i.to_string());
    if variable.domain.is_categorical() && !numbered {
        value["levels"] = json!(variable.level_names);
    }
    if let Some(ActiveIf { condition, inactive_value }) = active_if {
        value["active_if"] = json!(condition);
        value["inactive_value"] = json!(inactive_value);
    }
    value
}

fn tree(tree: &Tree) -> Value {
    tree.nodes
        .iter()
        .map(|node| match node {
            Node::Leaf { leaf, value } => json!({"leaf": leaf, "value": value}),
            Node::Split { feature, rule: Rule::Threshold(threshold), left, right } => {
                json!({"feature": feature, "threshold": threshold, "left": left, "right": right})
            }
            Node::Split { feature, rule: Rule::Levels(set), left, right } => {
                let levels: Vec<usize> = set.iter().collect();
                json!({"feature": feature, "categories": levels, "left": left, "right": right})
            }
        })
        .collect()
}
