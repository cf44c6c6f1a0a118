//! Where the trees stand in the graph: what their inputs and their output are.

use crate::error::ModelError;
use crate::feature::{Feature, MAX_FEATURES};
use crate::link::Link;

use super::message::{GraphProto, NodeProto, ValueInfoProto};

/// The tree node of a graph, with what surrounds it.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) node: &'a NodeProto,
    /// The columns of the trees' input; `None` when the file gives no width.
    pub(super) features: Option<Vec<Feature>>,
    /// The input is compared as f64.
    pub(super) is_double: bool,
    /// A function applied to the trees' output.
    pub(super) link: Link,
}

fn other_operator(op: &str, place: &str) -> ModelError {
    ModelError::unsupported(
        format!("an ONNX graph with the operator {op:?} {place} the trees"),
        "only trees whose inputs are the graph's inputs and whose sum is its output are read",
    )
}

/// Finds the only tree node and checks what surrounds it.
pub(super) fn find(graph: &GraphProto) -> Result<Setting<'_>, ModelError> {
    if let Some(node) = graph.node.iter().find(|node| node.op_type == "TreeEnsembleClassifier") {
        return Err(ModelError::unsupported(
            format!("a classifier ({})", node.op_type),
            "only ONNX regressors are read; save the model in its library's own format",
        ));
    }
    let is_trees =
        |node: &&NodeProto| matches!(node.op_type.as_str(), "TreeEnsembleRegressor" | "TreeEnsemble");
    let mut found = graph.node.iter().filter(is_trees);
    let Some(node) = found.next() else {
        let ops: Vec<&str> = graph.node.iter().map(|node| node.op_type.as_str()).collect();
        return Err(ModelError::unsupported(
            "an ONNX model without trees",
            format!("its operators are {ops:?}"),
        ));
    };
    if found.next().is_some() {
        let reason = "only a single TreeEnsembleRegressor is read";
        return Err(ModelError::unsupported("an ONNX model with several ensembles", reason));
    }
    let [input] = &node.input[..] else {
        return Err(ModelError::format("the tree node", "has no or several inputs"));
    };
    let [output] = &node.output[..] else {
        return Err(ModelError::format("the tree node", "has no or several outputs"));
    };
    let (features, is_double) = inputs(graph, input)?;
    Ok(Setting { node, features, is_double, link: outputs(graph, output)? })
}

/// Follows the trees' input back to the graph's inputs.
fn inputs(graph: &GraphProto, name: &str) -> Result<(Option<Vec<Feature>>, bool), ModelError> {
    let mut name = name;
    let mut is_single = false;
    // Each step goes to another node, or the graph has a cycle.
    for _ in 0..=graph.node.len() {
        if let Some(input) = graph.input.iter().find(|input| input.name == name) {
            let width = width(input);
            let features =
                width.map(|n| (0..n).map(|i| Feature::numeric(column(&input.name, i, n))).collect());
            return Ok((features, is_double(input) && !is_single));
        }
        let Some(node) = graph.node.iter().find(|node| node.output.iter().any(|output| output == name))
        else {
            return Err(ModelError::format("the graph", format!("nothing gives the value {name:?}")));
        };
        match (node.op_type.as_str(), &node.input[..]) {
            ("Identity", [input]) => name = input,
            ("Cast", [input]) => {
                // A cast to f32 rounds as a f32 comparison does.
                let to = node.attribute.iter().find(|a| a.name == "to").map_or(0, |a| a.i);
                if to != 1 {
                    return Err(other_operator("Cast", "before"));
                }
                is_single = true;
                name = input;
            }
            ("Concat", parts) => return concatenated(graph, parts, is_single),
            (op, _) => return Err(other_operator(op, "before")),
        }
    }
    Err(ModelError::format("the graph", "has a cycle"))
}

/// Inputs of one column each, side by side.
fn concatenated(
    graph: &GraphProto,
    parts: &[String],
    is_single: bool,
) -> Result<(Option<Vec<Feature>>, bool), ModelError> {
    let mut features = Vec::new();
    let mut any_double = false;
    for part in parts {
        let Some(input) = graph.input.iter().find(|input| input.name == *part) else {
            return Err(other_operator("Concat of computed values", "before"));
        };
        any_double |= is_double(input);
        let n =
            width(input).ok_or_else(|| ModelError::format("the graph", format!("{part:?} has no width")))?;
        if features.len() + n > MAX_FEATURES {
            return Err(ModelError::format("the graph", format!("more than {MAX_FEATURES} features")));
        }
        features.extend((0..n).map(|i| Feature::numeric(column(part, i, n))));
    }
    Ok((Some(features), any_double && !is_single))
}

fn column(input: &str, i: usize, n: usize) -> String {
    if n == 1 { input.to_string() } else { format!("{input}[{i}]") }
}

fn is_double(input: &ValueInfoProto) -> bool {
    input.r#type.as_ref().and_then(|t| t.tensor_type.as_ref()).is_some_and(|t| t.elem_type == 11)
}

/// Number of columns of an input `[rows, columns]`.
fn width(input: &ValueInfoProto) -> Option<usize> {
    let shape = input.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?;
    let n = usize::try_from(shape.dim.get(1)?.dim_value).ok()?;
    (1..=MAX_FEATURES).contains(&n).then_some(n)
}

/// Follows the trees' output to the graph's output.
fn outputs(graph: &GraphProto, name: &str) -> Result<Link, ModelError> {
    let mut name = name;
    let mut link = Link::Identity;
    for _ in 0..=graph.node.len() {
        let mut users = graph.node.iter().filter(|node| node.input.iter().any(|input| input == name));
        let Some(user) = users.next() else {
            return match graph.output.iter().any(|output| output.name == name) {
                true => Ok(link),
                false => Err(ModelError::format("the graph", "the trees' output is not used")),
            };
        };
        match (user.op_type.as_str(), link) {
            ("Identity" | "Cast" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze", _) => {}
            ("Exp", Link::Identity) => link = Link::Exp,
            ("Sigmoid", Link::Identity) => link = Link::Logistic { scale: 1.0 },
            (op, _) => return Err(other_operator(op, "after")),
        }
        if users.next().is_some() || user.output.len() != 1 {
            return Err(other_operator(&user.op_type, "after"));
        }
        name = &user.output[0];
    }
    Err(ModelError::format("the graph", "has a cycle"))
}
