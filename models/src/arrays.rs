//! Trees as the arrays that scikit-learn keeps them in.

use std::collections::BTreeMap;

use leafgp_constraints::LevelSet;

use crate::ensemble::{Arithmetic, Ensemble};
use crate::error::ModelError;
use crate::feature::Feature;
use crate::link::Link;
use crate::own::MOST_CODES;
use crate::rounding::last_at_most;
use crate::tree::{Node, Rule, Tree, Unreached};

/// A tree as arrays, an entry for each node, the root first. A node whose children are negative is a leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayTree {
    /// Node of the left child, `[n_nodes]`; negative for a leaf.
    pub left: Vec<i64>,
    /// Node of the right child, `[n_nodes]`.
    pub right: Vec<i64>,
    /// Feature that is asked, `[n_nodes]`; of leaves any number.
    pub feature: Vec<i64>,
    /// `x <= threshold` goes left, `[n_nodes]`; of leaves any number. Infinity sends every number left.
    pub threshold: Vec<f64>,
    /// Whether a missing value goes left, `[n_nodes]`.
    pub missing_left: Vec<bool>,
    /// Value of a leaf, `[n_nodes]`; of splits any number.
    pub value: Vec<f64>,
    /// Splits that ask for a category, by node; their threshold may be any number. Empty where all ask for numbers.
    pub categories: BTreeMap<usize, ArrayCategories>,
}

/// The question of a split for a category: the listed codes go to one side, every other code to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayCategories {
    /// Codes, from 0.
    pub listed: Vec<usize>,
    /// Whether the listed codes go left.
    pub listed_left: bool,
}

/// What stands around trees in arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEnsemble {
    /// The features, in the order of points.
    pub features: Vec<Feature>,
    /// The trees.
    pub trees: Vec<ArrayTree>,
    /// Before the trees: the prediction without any.
    pub base: f64,
    /// Factor of each tree's value.
    pub weight: f64,
    /// Whether the trees are averaged instead of added.
    pub is_mean: bool,
    /// Whether the library rounds inputs to f32 before it compares them with the thresholds (scikit-learn's `Tree`, not its histogram trees).
    pub is_single: bool,
    /// From the sum to the model's unit.
    pub link: Link,
}

impl Ensemble {
    /// Puts an ensemble of arrays together, with the exact questions of its library.
    ///
    /// ```
    /// use leafgp_models::{ArrayEnsemble, ArrayTree, Ensemble, Feature, Link};
    ///
    /// let stump = ArrayTree {
    ///     left: vec![1, -1, -1], right: vec![2, -1, -1], feature: vec![0, -2, -2], threshold: vec![0.5, -2.0, -2.0],
    ///     missing_left: vec![false; 3], value: vec![0.0, 1.0, 3.0], ..ArrayTree::default()
    /// };
    /// let arrays = ArrayEnsemble {
    ///     features: vec![Feature::numeric("x")], trees: vec![stump], base: 10.0, weight: 0.1, is_mean: false, is_single: true, link: Link::Identity,
    /// };
    /// let model = Ensemble::from_arrays(&arrays)?;
    /// assert_eq!((model.predict(&[0.5]), model.predict(&[0.6])), (10.0 + 0.1, 10.0 + 0.1 * 3.0));
    /// # Ok::<(), leafgp_models::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// Arrays of different lengths, a child or a feature out of range, a NaN threshold, a value that is not finite: by tree and node.
    pub fn from_arrays(arrays: &ArrayEnsemble) -> Result<Self, ModelError> {
        let n_features = arrays.features.len();
        let mut trees = Vec::with_capacity(arrays.trees.len());
        for (i, tree) in arrays.trees.iter().enumerate() {
            let wrong = |problem: String| ModelError::format(format!("tree {i}"), problem);
            let nodes = nodes(tree, arrays.is_single).map_err(wrong)?;
            trees.push(Tree::new(nodes, arrays.weight, n_features, Unreached::Refused).map_err(wrong)?);
        }
        let arithmetic = if arrays.is_mean { Arithmetic::Double } else { Arithmetic::DoubleFromBase };
        let n_trees = trees.len();
        let ensemble = Self::new(arrays.features.clone(), trees, arrays.base, arrays.link, arithmetic)?;
        Ok(if arrays.is_mean { ensemble.averaged_over(n_trees) } else { ensemble })
    }
}

fn nodes(tree: &ArrayTree, is_single: bool) -> Result<Vec<Node>, String> {
    let n = tree.left.len();
    let lengths = [
        tree.right.len(),
        tree.feature.len(),
        tree.threshold.len(),
        tree.missing_left.len(),
        tree.value.len(),
    ];
    if let Some(other) = lengths.into_iter().find(|&length| length != n) {
        return Err(format!("has arrays of {n} and of {other} nodes"));
    }
    let node = |at: usize| {
        let (left, right) = (tree.left[at], tree.right[at]);
        if left < 0 && right < 0 {
            return Ok(Node::Leaf(tree.value[at]));
        }
        let index = |what: &str, value: i64| {
            usize::try_from(value)
                .map_err(|_| format!("node {at} has the {what} {value}; expected a number from 0"))
        };
        Ok(Node::Split {
            feature: index("feature", tree.feature[at])?,
            rule: rule(tree, at, is_single)?,
            missing_left: tree.missing_left[at],
            left: index("child", left)?,
            right: index("child", right)?,
            gain: 0.0,
        })
    };
    (0..n).map(node).collect()
}

fn rule(tree: &ArrayTree, at: usize, is_single: bool) -> Result<Rule, String> {
    let Some(ArrayCategories { listed, listed_left }) = tree.categories.get(&at) else {
        let threshold = tree.threshold[at];
        return Ok(Rule::Threshold(if is_single { last_single(threshold) } else { threshold }));
    };
    let n_codes = listed.iter().max().map_or(1, |&last| last.saturating_add(1));
    if n_codes > MOST_CODES {
        return Err(format!(
            "node {at} has the category {}; expected a number below {MOST_CODES}",
            n_codes - 1
        ));
    }
    let listed = LevelSet::from_indices(n_codes, listed.iter().copied()).into();
    Ok(Rule::Codes { listed, listed_left: *listed_left })
}

/// The largest f64 `x` with `x as f32 <= threshold`.
fn last_single(threshold: f64) -> f64 {
    let nearest = threshold as f32;
    // NaN stays what it is, and is refused.
    if nearest.is_nan() {
        return threshold;
    }
    last_at_most(if f64::from(nearest) > threshold { nearest.next_down() } else { nearest })
}

#[cfg(test)]
mod tests {
    use super::{ArrayCategories, ArrayEnsemble, ArrayTree, last_single};
    use crate::{Ensemble, Feature, Link};

    fn stump(threshold: f64) -> ArrayTree {
        ArrayTree {
            left: vec![1, -1, -1],
            right: vec![2, -1, -1],
            feature: vec![0, -2, -2],
            threshold: vec![threshold, -2.0, -2.0],
            missing_left: vec![true, false, false],
            value: vec![0.0, 1.0, 4.0],
            ..ArrayTree::default()
        }
    }

    fn ensemble(trees: Vec<ArrayTree>, is_mean: bool, is_single: bool) -> ArrayEnsemble {
        let features = vec![Feature::numeric("x")];
        ArrayEnsemble { features, trees, base: 0.5, weight: 1.0, is_mean, is_single, link: Link::Identity }
    }

    #[test]
    fn inputs_rounded_to_single_precision_go_left_exactly_up_to_the_last_one_that_does() {
        let mut bits = 0x1234_5678_9abc_def1_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Thresholds between two numbers of single precision and on them.
            let single = f32::from_bits((bits >> 32) as u32);
            if !single.is_finite() || single.abs() > 1e30 {
                continue;
            }
            for t in [f64::from(single), f64::from(single).next_up(), f64::from(single).next_down()] {
                let last = last_single(t);
                assert!(
                    f64::from(last as f32) <= t && f64::from(last.next_up() as f32) > t,
                    "{t:e}: {last:e}"
                );
            }
        }
    }

    #[test]
    fn trees_are_added_to_the_base_or_averaged_and_missing_values_take_their_side() {
        let sum = Ensemble::from_arrays(&ensemble(vec![stump(0.0), stump(1.0)], false, false)).unwrap();
        assert_eq!([-1.0, 0.0, 0.5, 2.0, f64::NAN].map(|x| sum.predict(&[x])), [2.5, 2.5, 5.5, 8.5, 2.5]);
        let mean = Ensemble::from_arrays(&ensemble(vec![stump(0.0), stump(1.0)], true, false)).unwrap();
        assert_eq!([-1.0, 0.5, 2.0].map(|x| mean.predict(&[x])), [1.5, 3.0, 4.5]);
    }

    #[test]
    fn the_sum_starts_at_the_base() {
        // 0.1 + 0.2 + 0.3 is another number than 0.1 + (0.2 + 0.3).
        let leaf = |value: f64| ArrayTree {
            left: vec![-1],
            right: vec![-1],
            feature: vec![-2],
            threshold: vec![-2.0],
            missing_left: vec![false],
            value: vec![value],
            ..ArrayTree::default()
        };
        let mut arrays = ensemble(vec![leaf(0.2), leaf(0.3)], false, false);
        arrays.base = 0.1;
        assert_eq!(Ensemble::from_arrays(&arrays).unwrap().predict(&[0.0]), 0.1 + 0.2 + 0.3);
        assert_ne!(0.1 + 0.2 + 0.3, 0.1 + (0.2 + 0.3));
    }

    #[test]
    fn listed_categories_go_to_one_side_and_all_others_to_the_other() {
        let with = |listed: &[usize], listed_left| {
            let mut tree = stump(f64::NAN);
            tree.categories.insert(0, ArrayCategories { listed: listed.to_vec(), listed_left });
            Ensemble::from_arrays(&ensemble(vec![tree], false, false))
        };
        // Left is 1.5, right 4.5; a missing value goes left.
        let predicted = |listed: &[usize], listed_left| {
            let model = with(listed, listed_left).unwrap();
            assert!(model.features()[0].is_categorical());
            [0.0, 1.0, 2.0, 70.0, -1.0, f64::NAN].map(|x| model.predict(&[x]))
        };
        assert_eq!(predicted(&[0, 2], true), [1.5, 4.5, 1.5, 4.5, 4.5, 1.5]);
        assert_eq!(predicted(&[0, 2], false), [4.5, 1.5, 4.5, 1.5, 1.5, 1.5]);
        assert_eq!(predicted(&[], true), [4.5, 4.5, 4.5, 4.5, 4.5, 1.5]);
        assert!(with(&[usize::MAX], true).unwrap_err().to_string().starts_with("tree 0: node 0"));
    }

    #[test]
    fn each_fault_names_its_tree() {
        let faults: [fn(&mut ArrayTree); 6] = [
            |tree| tree.right[0] = 7,
            |tree| tree.right[0] = -1,
            |tree| tree.feature[0] = 1,
            |tree| tree.threshold[0] = f64::NAN,
            |tree| tree.value[2] = f64::INFINITY,
            |tree| tree.value.truncate(2),
        ];
        for fault in faults {
            let mut tree = stump(0.0);
            fault(&mut tree);
            let error = Ensemble::from_arrays(&ensemble(vec![stump(0.0), tree], false, true)).unwrap_err();
            assert!(error.to_string().starts_with("tree 1: "), "{error}");
        }
    }
}
