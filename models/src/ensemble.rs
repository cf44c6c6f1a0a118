//! A trained ensemble, exactly as its library predicts.

use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind};
use crate::link::Link;
use crate::tree::{Node, Tree};

/// The order and precision in which a library adds its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// In f64: the trees from zero, divided, and then the base.
    Double,
    /// The same, and the result rounded to f32.
    DoubleRounded,
    /// In f64: from the base on.
    DoubleFromBase,
    /// In f32: from the base on.
    SingleFromBase,
    /// In f32: the trees from zero, and then the base.
    SingleThenBase,
}

impl Arithmetic {
    /// Whether the base is the first summand: then there is nothing to divide.
    pub(crate) fn begins_with_base(self) -> bool {
        matches!(self, Self::DoubleFromBase | Self::SingleFromBase)
    }
}

/// A sum of trees and what stands around it: `link(base + sum of weight * leaf / divisor)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    features: Vec<Feature>,
    trees: Vec<Tree>,
    base: f64,
    divisor: f64,
    link: Link,
    arithmetic: Arithmetic,
}

impl Ensemble {
    /// Puts the parts together; every tree was checked against `features.len()`. A feature with a categorical split becomes a category.
    pub(crate) fn new(
        mut features: Vec<Feature>,
        trees: Vec<Tree>,
        base: f64,
        link: Link,
        arithmetic: Arithmetic,
    ) -> Result<Self, ModelError> {
        if !base.is_finite() {
            return Err(ModelError::format("base score", format!("is {base}; expected a finite number")));
        }
        // Beyond its range the library would predict an infinity, of which no bound holds.
        let size = trees.iter().map(Tree::largest_share).sum::<f64>() + base.abs();
        let largest = match arithmetic {
            Arithmetic::Double | Arithmetic::DoubleFromBase => f64::MAX,
            _ => f64::from(f32::MAX),
        };
        if size > 0.5 * largest {
            let problem = format!("are up to {size:e} in sum, which the library's numbers do not hold");
            return Err(ModelError::format("the leaves", problem));
        }
        let mut is_asked_as_number = vec![false; features.len()];
        for node in trees.iter().flat_map(Tree::nodes) {
            if let Node::Split { feature, rule, .. } = node {
                if rule.is_categorical() && !features[*feature].is_categorical() {
                    features[*feature].kind = FeatureKind::Categorical { labels: None };
                }
                is_asked_as_number[*feature] |= !rule.is_categorical();
            }
        }
        for (feature, as_number) in features.iter().zip(is_asked_as_number) {
            if as_number && feature.is_categorical() {
                let problem = "is a category, but a split asks it as a number".into();
                return Err(ModelError::Feature { feature: feature.name.clone(), problem });
            }
        }
        Ok(Self { features, trees, base, divisor: 1.0, link, arithmetic })
    }

    /// Averages the trees instead of adding them.
    pub(crate) fn averaged_over(mut self, n: usize) -> Self {
        self.divisor = n.max(1) as f64;
        self
    }

    /// Divides the sum of the trees.
    pub(crate) fn divided_by(mut self, divisor: f64) -> Self {
        self.divisor = divisor;
        self
    }

    /// The features, in the order of points.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of leaves over all trees.
    pub fn n_leaves(&self) -> usize {
        self.trees.iter().flat_map(Tree::nodes).filter(|node| matches!(node, Node::Leaf(_))).count()
    }

    /// From the sum to the model's unit.
    pub fn link(&self) -> Link {
        self.link
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Whether the library computes in f64.
    pub(crate) fn is_double(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Double | Arithmetic::DoubleFromBase)
    }

    pub(crate) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    pub(crate) fn base(&self) -> f64 {
        self.base
    }

    pub(crate) fn divisor(&self) -> f64 {
        self.divisor
    }

    /// The sum of the trees with the base score, before the link: the library's raw score, in its own arithmetic.
    ///
    /// `x` holds a number for each feature: a category as its code, NaN for a missing value.
    ///
    /// # Panics
    /// When `x` has another length than [`features`](Self::features).
    pub fn raw(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.features.len(), "a point has a number for each feature");
        let leaves = self.trees.iter().map(|tree| (tree.leaf_value(x), tree.weight()));
        let single = |sum: f32, (value, weight): (f64, f64)| sum + weight as f32 * value as f32;
        match self.arithmetic {
            Arithmetic::Double | Arithmetic::DoubleRounded => {
                let sum: f64 = leaves.fold(0.0, |sum, (value, weight)| sum + weight * value);
                let raw = sum / self.divisor + self.base;
                if self.arithmetic == Arithmetic::Double { raw } else { f64::from(raw as f32) }
            }
            Arithmetic::DoubleFromBase => leaves.fold(self.base, |sum, (value, weight)| sum + weight * value),
            Arithmetic::SingleFromBase => f64::from(leaves.fold(self.base as f32, single)),
            Arithmetic::SingleThenBase => {
                let sum = leaves.fold(0.0, single);
                f64::from(sum / self.divisor as f32 + self.base as f32)
            }
        }
    }

    /// What the library predicts at `x`, in the model's own unit: see [`raw`](Self::raw).
    ///
    /// # Panics
    /// As [`raw`](Self::raw).
    pub fn predict(&self, x: &[f64]) -> f64 {
        let raw = self.raw(x);
        match self.arithmetic {
            Arithmetic::Double | Arithmetic::DoubleFromBase => self.link.apply(raw),
            _ => f64::from(self.link.apply_single(raw as f32)),
        }
    }

    /// How far [`raw`](Self::raw) can be from the sum in exact arithmetic, whatever the point.
    pub fn rounding(&self) -> f64 {
        let size = self.trees.iter().map(Tree::largest_share).sum::<f64>() / self.divisor + self.base.abs();
        let (unit, smallest) = match self.arithmetic {
            Arithmetic::Double | Arithmetic::DoubleFromBase => (0.5 * f64::EPSILON, f64::from_bits(1)),
            _ => (0.5 * f64::from(f32::EPSILON), f64::from(f32::from_bits(1))),
        };
        // One rounding for each product, sum and division, each of at most the whole size; some more for growth of the size itself. Where products, and leaves
        // before them, underflow, the error is not relative.
        let n = (self.trees.len() + 3) as f64;
        let lost = n + self.trees.iter().map(|tree| tree.weight().abs()).sum::<f64>();
        2.0 * n * unit * size + 2.0 * lost * smallest
    }
}
