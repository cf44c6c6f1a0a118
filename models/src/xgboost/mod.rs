//! XGBoost's models, as JSON or UBJSON (versions 1.x to 3.x).
//!
//! A numeric split sends `(x as f32) < condition` left; the largest f64 that does so is computed. A category's code goes *right* when it is
//! listed. Missing values follow `default_left`. The sum is formed in f32, from the base score on.

mod document;
mod ubj;

use std::sync::Arc;

use leafgp_constraints::LevelSet;
use serde::Deserialize;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind, MAX_FEATURES};
use crate::link::Link;
use crate::options::ReadOptions;
use crate::rounding::last_below;
use crate::tree::{Node, Rule, Tree, Unreached};

pub(crate) use document::Learner;
use document::{Booster, Categories, Encoding, TreeModel, XgTree};

/// Memory that all lists of categories may take together.
const MAX_SET_BYTES: usize = 1 << 30;
/// Largest category code (XGBoost's own limit: codes are whole numbers of f32).
const MAX_CODE: i64 = 1 << 24;

#[derive(Deserialize)]
struct UbjModel {
    learner: Option<Learner>,
}

/// Reads a `.ubj` file.
pub(crate) fn read_ubj(bytes: &[u8], options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let mut reader = ubj::Ubj::new(bytes);
    let model = UbjModel::deserialize(&mut reader)
        .map_err(|error| ModelError::format(format!("byte {}", reader.position()), error.to_string()))?;
    match model.learner {
        Some(learner) => decode(learner, options),
        None => Err(ModelError::format("byte 0", "UBJSON without \"learner\": no XGBoost model")),
    }
}

/// How an objective's raw score becomes a prediction, and back for the base score.
fn link(objective: &str) -> Result<Link, ModelError> {
    match objective {
        "reg:squarederror"
        | "reg:linear"
        | "reg:squaredlogerror"
        | "reg:pseudohubererror"
        | "reg:absoluteerror"
        | "reg:quantileerror"
        | "reg:expectileerror"
        | "binary:logitraw" => Ok(Link::Identity),
        "binary:logistic" | "reg:logistic" => Ok(Link::Logistic { scale: 1.0 }),
        "binary:hinge" => Ok(Link::Step),
        "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:cox" | "survival:aft" => Ok(Link::Exp),
        // The raw score of the chosen class.
        "multi:softmax" | "multi:softprob" => Ok(Link::Identity),
        name if name.starts_with("rank:") => Err(ModelError::unsupported(
            format!("a ranking model ({name})"),
            "its scores only compare rows within a group, so there is no best input",
        )),
        other => {
            Err(ModelError::format("learner.objective", format!("the objective {other:?} is not known")))
        }
    }
}

/// The base score as the sum starts with it.
fn margin(base: f32, link: Link) -> f32 {
    match link {
        Link::Logistic { .. } => -(1.0 / base - 1.0).ln(),
        Link::Exp => base.ln(),
        _ => base,
    }
}

fn whole(place: &str, text: Option<&str>) -> Result<usize, ModelError> {
    let text = text.unwrap_or("0");
    text.trim()
        .parse()
        .map_err(|_| ModelError::format(place, format!("is {text:?}; expected a whole number")))
}

/// Builds the ensemble from the parsed file.
pub(crate) fn decode(learner: Learner, options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let Learner { feature_names, feature_types, gradient_booster, learner_model_param: param, objective } =
        learner;
    let (model, weights) = trees_of(gradient_booster)?;
    let n_features = whole("num_feature", param.num_feature.as_deref())?;
    if n_features > MAX_FEATURES {
        return Err(ModelError::format(
            "num_feature",
            format!("is {n_features}; at most {MAX_FEATURES} are read"),
        ));
    }
    let features = features(n_features, feature_names, &feature_types, model.cats)?;
    let trees = model.trees.unwrap_or_default();
    if trees.iter().any(XgTree::has_vector_leaves) {
        return Err(ModelError::unsupported(
            "a model with vector leaves (multi_strategy = multi_output_tree)",
            "each leaf holds a number for every target; train one output per tree",
        ));
    }
    let link = link(&objective.name)?;
    let n_classes = whole("num_class", param.num_class.as_deref())?;
    let n_outputs = n_classes.max(whole("num_target", param.num_target.as_deref())?).max(1);
    let class = options.class_of(n_outputs)?;
    let base = base_score(param.base_score.as_deref().unwrap_or("0.5"), class, n_outputs)?;

    check_counts(trees.len(), &model.tree_info, &model.iteration_indptr, model.gbtree_model_param.as_ref())?;
    if let Some(weights) = &weights
        && weights.len() != trees.len()
    {
        let problem = format!("has {} weights; the model has {} trees", weights.len(), trees.len());
        return Err(ModelError::format("weight_drop", problem));
    }
    let mut kept = Vec::new();
    let mut set_bytes = 0;
    for (t, tree) in trees.into_iter().enumerate() {
        let place = format!("tree {t}");
        let wrong = |problem: String| ModelError::format(place.clone(), problem);
        if tree.id.is_some_and(|id| id != t as i64) {
            return Err(wrong(format!("has the number {:?}: a tree is lost or doubled", tree.id)));
        }
        let is_meant = match model.tree_info.get(t) {
            None => n_outputs == 1,
            Some(&info) if info < 0 || info as usize >= n_outputs => {
                return Err(wrong(format!("belongs to class {info}; the model has {n_outputs}")));
            }
            Some(&info) => info as usize == class,
        };
        if !is_meant {
            continue;
        }
        let nodes = nodes(&tree, &mut set_bytes).map_err(wrong)?;
        let weight = weights.as_ref().map_or(1.0, |weights| f64::from(weights[t]));
        let tree = Tree::new(nodes, weight, features.len(), Unreached::Ignored);
        kept.push(tree.map_err(wrong)?);
    }
    let base = f64::from(margin(base, link));
    Ensemble::new(features, kept, base, link, Arithmetic::SingleFromBase)
}

/// The trees of the booster, with dart's weights.
fn trees_of(booster: Booster) -> Result<(TreeModel, Option<Vec<f32>>), ModelError> {
    let missing = || ModelError::format("learner.gradient_booster", "has no trees");
    match booster.name.as_str() {
        "gbtree" => Ok((booster.model.ok_or_else(missing)?, None)),
        "dart" => {
            let inner = booster.gbtree.ok_or_else(missing)?;
            let weights = booster.weight_drop.ok_or_else(|| {
                ModelError::format("learner.gradient_booster", "a dart model without weight_drop")
            })?;
            Ok((inner.model.ok_or_else(missing)?, Some(weights)))
        }
        "gblinear" => Err(ModelError::unsupported(
            "a linear model (gblinear)",
            "it has no trees; its optimum is at a corner of the box",
        )),
        other => {
            Err(ModelError::format("learner.gradient_booster", format!("the booster {other:?} is not known")))
        }
    }
}

fn check_counts(
    n_trees: usize,
    tree_info: &[i64],
    iterations: &[i64],
    param: Option<&document::TreeModelParam>,
) -> Result<(), ModelError> {
    let wrong = |place: &str, problem: String| Err(ModelError::format(place, problem));
    let announced = whole("num_trees", param.and_then(|param| param.num_trees.as_deref()))?;
    if param.is_some_and(|param| param.num_trees.is_some()) && announced != n_trees {
        return wrong("num_trees", format!("is {announced}; the file holds {n_trees} trees"));
    }
    if tree_info.len() != n_trees && !(tree_info.is_empty() && n_trees > 0) {
        return wrong("tree_info", format!("has {} entries for {n_trees} trees", tree_info.len()));
    }
    let ascends = iterations.first().is_none_or(|&first| first == 0)
        && iterations.windows(2).all(|w| w[0] <= w[1])
        && iterations.last().is_none_or(|&last| last == n_trees as i64);
    if !ascends {
        return wrong("iteration_indptr", format!("does not run from 0 to the {n_trees} trees"));
    }
    Ok(())
}

/// `5E-1`, `[5E-1]` or a list with one number a class.
fn base_score(text: &str, class: usize, n_outputs: usize) -> Result<f32, ModelError> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    let numbers: Result<Vec<f32>, _> = inner.split(',').map(|word| word.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([one]) => Ok(*one),
        Ok(list) if list.len() == n_outputs => Ok(list[class]),
        _ => Err(ModelError::format("base_score", format!("is {text:?}; expected a number or one a class"))),
    }
}

fn features(
    n: usize,
    names: Vec<String>,
    types: &[String],
    categories: Option<Categories>,
) -> Result<Vec<Feature>, ModelError> {
    for (place, len) in [("feature_names", names.len()), ("feature_types", types.len())] {
        if len != 0 && len != n {
            return Err(ModelError::format(place, format!("has {len} entries; num_feature is {n}")));
        }
    }
    let mut features: Vec<Feature> = if names.is_empty() {
        (0..n).map(|i| Feature::numeric(format!("f{i}"))).collect()
    } else {
        names.into_iter().map(Feature::numeric).collect()
    };
    let encodings = categories.map(|categories| categories.enc).unwrap_or_default();
    if !encodings.is_empty() && encodings.len() != n {
        return Err(ModelError::format(
            "cats.enc",
            format!("has {} entries; num_feature is {n}", encodings.len()),
        ));
    }
    for (i, feature) in features.iter_mut().enumerate() {
        if types.get(i).is_some_and(|kind| kind == "c") {
            let labels = encodings.get(i).map(labels).transpose()?.flatten();
            feature.kind = FeatureKind::Categorical { labels };
        }
    }
    Ok(features)
}

/// The labels of a category: texts as their bytes one after the other, or numbers. `None` when the model was trained on codes.
fn labels(encoding: &Encoding) -> Result<Option<Vec<String>>, ModelError> {
    let wrong = || ModelError::format("cats.enc", "offsets and values do not fit, or are not UTF-8");
    let Some(offsets) = &encoding.offsets else {
        let labels: Vec<String> = encoding.values.iter().map(f64::to_string).collect();
        return Ok((!labels.is_empty()).then_some(labels));
    };
    if offsets.is_empty() {
        return Ok(None);
    }
    let bytes: Vec<u8> = encoding.values.iter().map(|&value| value as i64 as u8).collect();
    let label = |range: &[i64]| {
        let (start, end) = (usize::try_from(range[0]).ok()?, usize::try_from(range[1]).ok()?);
        Some(std::str::from_utf8(bytes.get(start..end)?).ok()?.to_string())
    };
    offsets.windows(2).map(label).collect::<Option<Vec<String>>>().map(Some).ok_or_else(wrong)
}

fn nodes(tree: &XgTree, set_bytes: &mut usize) -> Result<Vec<Node>, String> {
    let n = tree.left_children.len();
    let lengths = [
        ("right_children", tree.right_children.len()),
        ("split_indices", tree.split_indices.len()),
        ("split_conditions", tree.split_conditions.len()),
        ("default_left", tree.default_left.len()),
    ];
    if let Some((name, len)) = lengths.into_iter().find(|&(_, len)| len != n) {
        return Err(format!("{name} has {len} entries; left_children has {n}"));
    }
    if !tree.split_type.is_empty() && tree.split_type.len() != n {
        return Err(format!("split_type has {} entries; left_children has {n}", tree.split_type.len()));
    }
    let mut sets = category_sets(tree, n, set_bytes)?;
    let node = |i: usize| {
        let (left, right) = (tree.left_children[i], tree.right_children[i]);
        let condition = tree.split_conditions[i].0;
        if left == -1 && right == -1 {
            return Ok(Node::Leaf(f64::from(condition)));
        }
        let index =
            |child: i64| usize::try_from(child).map_err(|_| format!("node {i} has the child {child}"));
        let rule = match tree.split_type.get(i) {
            None | Some(0) if condition.is_nan() => return Err(format!("node {i} has a NaN threshold")),
            None | Some(0) => Rule::Threshold(last_below(condition)),
            Some(1) => {
                let listed = sets[i].take().ok_or_else(|| format!("node {i} has no list of categories"))?;
                Rule::Codes { listed: Arc::new(listed), listed_left: false }
            }
            Some(other) => return Err(format!("node {i} has the unknown split type {other}")),
        };
        let feature = usize::try_from(tree.split_indices[i])
            .map_err(|_| format!("node {i} asks feature {}", tree.split_indices[i]))?;
        let missing_left = tree.default_left[i].0;
        let gain = tree.loss_changes.get(i).map_or(0.0, |gain| f64::from(gain.0));
        Ok(Node::Split { feature, rule, missing_left, left: index(left)?, right: index(right)?, gain })
    };
    (0..n).map(node).collect()
}

/// The codes listed at each node.
fn category_sets(tree: &XgTree, n: usize, set_bytes: &mut usize) -> Result<Vec<Option<LevelSet>>, String> {
    let n_sets = tree.categories_nodes.len();
    let mut sets = vec![None; if n_sets == 0 && !tree.split_type.contains(&1) { 0 } else { n }];
    if tree.categories_segments.len() != n_sets || tree.categories_sizes.len() != n_sets {
        return Err("categories_nodes, categories_segments and categories_sizes differ in length".into());
    }
    for k in 0..n_sets {
        let node = tree.categories_nodes[k];
        let range = usize::try_from(tree.categories_segments[k]).ok().and_then(|start| {
            let end = start.checked_add(usize::try_from(tree.categories_sizes[k]).ok()?)?;
            tree.categories.get(start..end)
        });
        let codes = range.ok_or_else(|| format!("the categories of node {node} lie outside the list"))?;
        if let Some(code) = codes.iter().find(|code| !(0..=MAX_CODE).contains(*code)) {
            return Err(format!("node {node} lists the category {code}; expected 0 to {MAX_CODE}"));
        }
        let capacity = codes.iter().max().map_or(0, |&code| code as usize + 1);
        *set_bytes += capacity / 8;
        if *set_bytes > MAX_SET_BYTES {
            return Err(format!("the lists of categories take more than {MAX_SET_BYTES} bytes"));
        }
        let slot = usize::try_from(node).ok().and_then(|node| sets.get_mut(node));
        *slot.ok_or_else(|| format!("node {node} has categories, but does not exist"))? =
            Some(LevelSet::from_indices(capacity, codes.iter().map(|&code| code as usize)));
    }
    Ok(sets)
}
