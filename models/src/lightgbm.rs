//! LightGBM's text models (`save_model`), versions v2 to v4.
//!
//! A numeric split asks `x <= threshold`. NaN counts as 0 unless the split's missing type is NaN; values within 1e-35 (as f32) of 0 follow the
//! default direction when the type is Zero. A category's code goes left when it is listed; negative, missing and unlisted codes go right.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use leafgp_constraints::LevelSet;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind, MAX_FEATURES};
use crate::link::Link;
use crate::options::ReadOptions;
use crate::tree::{Node, Rule, Tree, Unreached};

const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;
/// Values of at most this size are zeros to LightGBM, an f32 constant.
const ZERO: f64 = 1e-35_f32 as f64;

/// Lines `key=value` up to an empty line, with the number of the first.
#[derive(Debug)]
struct Section<'a> {
    line: usize,
    values: BTreeMap<&'a str, (usize, &'a str)>,
    /// Bytes from the section's start to the next section, line ends counted as one.
    size: usize,
    /// Something follows: the text does not end in this section.
    is_followed: bool,
}

impl<'a> Section<'a> {
    fn wrong(&self, key: &str, problem: impl Into<String>) -> ModelError {
        let line = self.values.get(key).map_or(self.line, |value| value.0);
        ModelError::format(format!("line {line}"), problem)
    }

    /// The numbers behind a key; empty when the key is absent.
    fn list<T: FromStr>(&self, key: &str) -> Result<Vec<T>, ModelError> {
        let Some(&(_, text)) = self.values.get(key) else { return Ok(Vec::new()) };
        let parse = |word: &str| {
            word.parse().map_err(|_| self.wrong(key, format!("{key} holds {word:?}; expected a number")))
        };
        text.split_whitespace().map(parse).collect()
    }

    fn sized<T: FromStr>(&self, key: &str, expected: usize) -> Result<Vec<T>, ModelError> {
        let list = self.list(key)?;
        if list.len() == expected {
            return Ok(list);
        }
        Err(self.wrong(key, format!("{key} has {} numbers; expected {expected}", list.len())))
    }

    fn one<T: FromStr>(&self, key: &str) -> Result<T, ModelError> {
        let mut list = self.sized(key, 1)?;
        list.pop().ok_or_else(|| self.wrong(key, format!("{key} is missing")))
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).map(|value| value.1)
    }
}

/// Reads a model from its text.
pub(crate) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ModelError::format(format!("byte {}", error.valid_up_to()), "is not UTF-8"))?;
    let mut sections = Sections::new(text);
    let head = sections.next().ok_or_else(|| ModelError::format("line 1", "the model is empty"))?;
    let mut features = features(&head)?;
    let n_trees_a_round = head.one::<usize>("num_tree_per_iteration")?;
    if n_trees_a_round == 0 {
        return Err(head.wrong("num_tree_per_iteration", "num_tree_per_iteration is 0"));
    }
    let link = link(&head)?;
    let class = options.class_of(n_trees_a_round)?;
    let mut trees = Vec::new();
    let mut n_read = 0;
    let mut last = None;
    for section in sections.take_while(|section| section.values.contains_key("Tree")) {
        let number: usize = section.one("Tree")?;
        if number != n_read {
            let problem =
                format!("tree {number} where tree {n_read} was expected: a tree is lost or doubled");
            return Err(section.wrong("Tree", problem));
        }
        let nodes = read_tree(&section)?;
        let checked = Tree::new(nodes, 1.0, features.len(), Unreached::Refused);
        let tree = checked.map_err(|problem| section.wrong("Tree", format!("tree {number} {problem}")))?;
        if n_read % n_trees_a_round == class {
            trees.push(tree);
        }
        n_read += 1;
        last = Some(section);
    }
    let Some(last) = &last else {
        return Err(head.wrong("tree_sizes", "the file holds no trees"));
    };
    check_whole(&head, last, n_read)?;
    if !n_read.is_multiple_of(n_trees_a_round) {
        let problem =
            format!("the file holds {n_read} trees, which are no whole rounds of {n_trees_a_round}");
        return Err(last.wrong("Tree", problem));
    }
    label(&mut features, text)?;
    let rounds = trees.len();
    let ensemble = Ensemble::new(features, trees, 0.0, link, Arithmetic::Double)?;
    Ok(if head.values.contains_key("average_output") { ensemble.averaged_over(rounds) } else { ensemble })
}

/// Refuses a file that was cut: `tree_sizes` counts the trees, and gives the length of the last where nothing follows it.
fn check_whole(head: &Section<'_>, last: &Section<'_>, n_read: usize) -> Result<(), ModelError> {
    if !head.values.contains_key("tree_sizes") {
        return match last.is_followed {
            true => Ok(()),
            false => Err(last.wrong("Tree", "the file ends with this tree: it may have been cut")),
        };
    }
    let sizes: Vec<usize> = head.list("tree_sizes")?;
    if sizes.len() != n_read {
        let problem = format!("tree_sizes names {} trees; the file holds {n_read}", sizes.len());
        return Err(head.wrong("tree_sizes", problem));
    }
    match sizes.last() {
        Some(&size) if !last.is_followed && size > last.size => {
            Err(last.wrong("Tree", format!("the tree has {} bytes; tree_sizes says {size}", last.size)))
        }
        _ => Ok(()),
    }
}

/// The sections one after the other: text up to an empty line or the next tree, until the trees end.
#[derive(Debug)]
struct Sections<'a> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Sections<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines().enumerate().peekable() }
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Section<'a>;

    fn next(&mut self) -> Option<Section<'a>> {
        while self.lines.next_if(|(_, line)| line.trim_end().is_empty()).is_some() {}
        let &(first, line) = self.lines.peek()?;
        if line.trim_end() == "end of trees" {
            return None;
        }
        let mut section = Section { line: first + 1, values: BTreeMap::new(), size: 0, is_followed: true };
        // A tree always opens a section: the header of some versions has no empty line before it.
        let is_inside = |&(index, line): &(usize, &str)| {
            let line = line.trim_end();
            !line.is_empty() && (index == first || !line.starts_with("Tree="))
        };
        while let Some((index, line)) = self.lines.next_if(is_inside) {
            let line = line.trim_end();
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            section.values.insert(key, (index + 1, value));
            section.size += line.len() + 1;
        }
        while self.lines.next_if(|(_, line)| line.trim_end().is_empty()).is_some() {
            section.size += 1;
        }
        section.is_followed = self.lines.peek().is_some();
        Some(section)
    }
}

/// Names, kinds and ranges.
fn features(head: &Section<'_>) -> Result<Vec<Feature>, ModelError> {
    let n = head.one::<usize>("max_feature_idx")?.saturating_add(1);
    if n > MAX_FEATURES {
        return Err(head.wrong("max_feature_idx", format!("{n} features; at most {MAX_FEATURES} are read")));
    }
    let names: Vec<&str> = head.text("feature_names").unwrap_or_default().split_whitespace().collect();
    let infos: Vec<&str> = head.text("feature_infos").unwrap_or_default().split_whitespace().collect();
    for (key, list) in [("feature_names", &names), ("feature_infos", &infos)] {
        if head.values.contains_key(key) && list.len() != n {
            let problem = format!("{key} has {} entries; max_feature_idx asks for {n}", list.len());
            return Err(head.wrong(key, problem));
        }
    }
    let feature = |i: usize| {
        let name = names.get(i).map_or_else(|| format!("Column_{i}"), |name| (*name).to_string());
        let mut feature = Feature::numeric(name);
        if let Some(info) = infos.get(i) {
            let inner = info.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            match inner.and_then(|text| text.split_once(':')) {
                Some((lower, upper)) => feature.range = lower.parse().ok().zip(upper.parse().ok()),
                None if *info != "none" => feature.kind = FeatureKind::Categorical { labels: None },
                None => {}
            }
        }
        feature
    };
    Ok((0..n).map(feature).collect())
}

/// The link of the objective; refuses those whose sum means nothing alone.
fn link(head: &Section<'_>) -> Result<Link, ModelError> {
    let mut words = head.text("objective").unwrap_or_default().split_whitespace();
    let name = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let sigmoid = || -> Result<Link, ModelError> {
        let text = words.iter().find_map(|word| word.strip_prefix("sigmoid:")).unwrap_or("1");
        match text.parse() {
            Ok(scale) if scale > 0.0 && scale < f64::INFINITY => Ok(Link::Logistic { scale }),
            _ => Err(head.wrong("objective", format!("sigmoid is {text:?}; expected a number above 0"))),
        }
    };
    match name {
        "regression" | "regression_l2" if words.contains(&"sqrt") => Ok(Link::SignedSquare),
        "" | "regression" | "regression_l2" | "regression_l1" | "huber" | "fair" | "quantile" | "mape"
        | "custom" | "none" | "null" => Ok(Link::Identity),
        "poisson" | "gamma" | "tweedie" => Ok(Link::Exp),
        "binary" | "multiclassova" => sigmoid(),
        "cross_entropy" | "xentropy" => Ok(Link::Logistic { scale: 1.0 }),
        "cross_entropy_lambda" | "xentlambda" => Ok(Link::Softplus),
        // The raw score of the chosen class.
        "multiclass" => Ok(Link::Identity),
        "lambdarank" | "rank_xendcg" => Err(ModelError::unsupported(
            format!("a ranking model ({name})"),
            "its scores only compare rows within a group, so there is no best input",
        )),
        other => Err(head.wrong("objective", format!("the objective {other:?} is not known"))),
    }
}

fn read_tree(section: &Section<'_>) -> Result<Vec<Node>, ModelError> {
    let n_leaves: usize = section.one("num_leaves")?;
    // The list of leaves says how long all others are, so a wrong number asks for no memory.
    let leaf_values: Vec<f64> = section.sized("leaf_value", n_leaves)?;
    if n_leaves == 0 {
        return Err(section.wrong("num_leaves", "a tree has at least one leaf"));
    }
    if section.text("is_linear").is_some_and(|text| text.trim() != "0") {
        let reason =
            "its leaves are linear functions of the inputs, so the best input is not a matter of leaves";
        return Err(ModelError::unsupported("a model with linear trees (linear leaves)", reason));
    }
    let n_splits = n_leaves - 1;
    let features: Vec<usize> = section.sized("split_feature", n_splits)?;
    let thresholds: Vec<f64> = section.sized("threshold", n_splits)?;
    let decisions: Vec<u8> = section.sized("decision_type", n_splits)?;
    let left: Vec<i64> = section.sized("left_child", n_splits)?;
    let right: Vec<i64> = section.sized("right_child", n_splits)?;
    let gains: Vec<f64> = match section.text("split_gain") {
        Some(_) => section.sized("split_gain", n_splits)?,
        None => vec![0.0; n_splits],
    };
    let boundaries: Vec<usize> = section.list("cat_boundaries")?;
    let words: Vec<u32> = section.list("cat_threshold")?;
    // Splits come first, then leaves, which are written as the bitwise complement of their number.
    let child = |number: i64| {
        if number >= 0 { number as usize } else { n_splits.saturating_add(!number as usize) }
    };
    let mut nodes = Vec::with_capacity(n_splits + n_leaves);
    for i in 0..n_splits {
        let (rule, missing_left) = if decisions[i] & CATEGORICAL > 0 {
            let listed = level_set(&boundaries, &words, thresholds[i]).ok_or_else(|| {
                section.wrong("cat_boundaries", format!("split {i} has no list of categories"))
            })?;
            (Rule::Codes { listed: Arc::new(listed), listed_left: true }, false)
        } else {
            numeric(thresholds[i], decisions[i]).ok_or_else(|| {
                section.wrong(
                    "decision_type",
                    format!("split {i} has an unknown missing type or a NaN threshold"),
                )
            })?
        };
        let (left, right) = (child(left[i]), child(right[i]));
        let gain = gains[i];
        nodes.push(Node::Split { feature: features[i], rule, missing_left, left, right, gain });
    }
    nodes.extend(leaf_values.into_iter().map(Node::Leaf));
    Ok(nodes)
}

/// The rule of a numeric split, and where missing values go.
fn numeric(threshold: f64, decision: u8) -> Option<(Rule, bool)> {
    if threshold.is_nan() {
        return None;
    }
    let default_left = decision & DEFAULT_LEFT > 0;
    let plain = Rule::Threshold(threshold);
    match decision >> 2 & 3 {
        // Missing values count as zero.
        0 => Some((plain, 0.0 <= threshold)),
        1 => {
            // Zeros follow the default: where that is not the side of their neighbours, they are a piece of their own.
            let rule = if threshold >= ZERO {
                if default_left { plain } else { zero_band(threshold, true) }
            } else if threshold < -ZERO {
                if default_left { zero_band(threshold, false) } else { plain }
            } else {
                // The threshold lies among the zeros, which all follow the default.
                Rule::Threshold(if default_left { ZERO } else { (-ZERO).next_down() })
            };
            Some((rule, default_left))
        }
        2 => Some((plain, default_left)),
        _ => None,
    }
}

/// A threshold away from zero, with the zeros on the other side than their neighbours.
fn zero_band(threshold: f64, is_above: bool) -> Rule {
    let (first, last) = ((-ZERO).next_down(), ZERO);
    let cuts = match is_above {
        true if threshold > last => vec![first, last, threshold],
        true => vec![first],
        false if threshold < first => vec![threshold, first, last],
        // The threshold ends where the zeros begin: everything up to the last zero goes left.
        false => vec![last],
    };
    Rule::Pieces { cuts, first_left: true }
}

/// The categories of categorical split `index` (written where the threshold of a numeric one stands), a bitset of 32-bit words.
fn level_set(boundaries: &[usize], words: &[u32], index: f64) -> Option<LevelSet> {
    let index = (index >= 0.0 && index.fract() == 0.0).then_some(index as usize)?;
    let (&start, &end) = (boundaries.get(index)?, boundaries.get(index.checked_add(1)?)?);
    let words = words.get(start..end)?;
    let members = (0..32 * words.len()).filter(|i| words[i / 32] >> (i % 32) & 1 == 1);
    Some(LevelSet::from_indices(32 * words.len(), members))
}

/// Gives categories the labels of `pandas_categorical`, one list for each column of that type, in the order of the columns.
fn label(features: &mut [Feature], text: &str) -> Result<(), ModelError> {
    let lines = text.lines().rev().take(3);
    let Some(line) = lines.filter_map(|line| line.strip_prefix("pandas_categorical:")).next() else {
        return Ok(());
    };
    let wrong = |problem: String| ModelError::format("pandas_categorical", problem);
    let lists: Option<Vec<Vec<serde_json::Value>>> =
        serde_json::from_str(line.trim()).map_err(|error| wrong(error.to_string()))?;
    let lists = lists.unwrap_or_default();
    if lists.is_empty() {
        return Ok(());
    }
    let n_categories = features.iter().filter(|feature| feature.is_categorical()).count();
    // A category with a single value is written like any other column that is never asked.
    let with_idle = n_categories != lists.len();
    let is_meant =
        |feature: &&mut Feature| feature.is_categorical() || (with_idle && feature.range.is_none());
    let categories = features.iter_mut().filter(is_meant).collect::<Vec<_>>();
    if categories.len() != lists.len() {
        return Err(wrong(format!(
            "lists {} categories; {} features are categories in feature_infos, so it is unclear which is which",
            lists.len(),
            n_categories
        )));
    }
    for (feature, list) in categories.into_iter().zip(lists) {
        let label = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        feature.kind = FeatureKind::Categorical { labels: Some(list.iter().map(label).collect()) };
    }
    Ok(())
}
