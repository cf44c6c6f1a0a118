//! The settings of the trainer, under LightGBM's names.

use serde::{Deserialize, Serialize};

use super::error::GbdtError;

/// The loss that boosting reduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Objective {
    /// Squared error; the trees approach the conditional mean.
    #[default]
    #[serde(alias = "regression")]
    L2,
    /// Absolute error; the conditional median. Leaves take the median of their residuals.
    #[serde(alias = "regression_l1")]
    L1,
    /// Squared within [`GbdtSettings::alpha`] of the target, linear beyond.
    Huber,
    /// Pinball loss; the conditional quantile [`GbdtSettings::alpha`]. Leaves take that quantile of their residuals.
    Quantile,
}

/// Settings of the gradient-boosting trainer. Names and meanings are LightGBM's; the defaults are the paper's set-up
/// (50 trees of depth 3 whose leaves may hold a single point, everything else as LightGBM has it).
///
/// ```
/// use leafgp::gbdt::GbdtSettings;
///
/// let settings = GbdtSettings { n_trees: 100, max_depth: 5, ..GbdtSettings::default() };
/// settings.validate()?;
/// assert_eq!(GbdtSettings::lightgbm().min_data_in_leaf, 20);
/// assert!(GbdtSettings { learning_rate: -1.0, ..settings }.validate().is_err());
/// # Ok::<(), leafgp::gbdt::GbdtError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GbdtSettings {
    /// Number of boosting rounds, one tree each; `1..=100000`, default 50. Fewer trees result when no leaf can be split any
    /// more or when early stopping ends the fit.
    pub n_trees: usize,
    /// Factor on every leaf value; `(0, 10]`, default 0.1.
    pub learning_rate: f64,
    /// Largest number of splits between the root and a leaf; default 3. Zero or less means no limit.
    pub max_depth: i32,
    /// Largest number of leaves of a tree; `2..=131072`, default 31. The leaf with the largest gain is split first.
    pub num_leaves: usize,
    /// Fewest rows in a leaf; `0..`, default 1 (LightGBM: 20).
    pub min_data_in_leaf: usize,
    /// Smallest sum of second derivatives in a leaf, for the squared loss the sum of weights; `[0, 1e30]`, default 1e-3.
    pub min_sum_hessian_in_leaf: f64,
    /// L1 penalty on leaf values; `[0, 1e30]`, default 0. In units of a sum of gradients.
    pub lambda_l1: f64,
    /// L2 penalty on leaf values; `[0, 1e30]`, default 0. In units of a sum of second derivatives.
    pub lambda_l2: f64,
    /// Smallest loss reduction a split must exceed (twice the loss's units, as in LightGBM); `[0, 1e300]`, default 0.
    pub min_gain_to_split: f64,
    /// Largest number of bins of a feature; `2..=65535`, default 255. Up to 256 bins take one byte a value, else two.
    pub max_bin: usize,
    /// Fewest rows in a bin; `1..`, default 3, hidden in the paper's set-up. With 1 and enough bins every distinct value has
    /// a bin of its own and the split search is exact.
    pub min_data_in_bin: usize,
    /// Rows from which the bins are found; `1..`, default 200000. With more rows a random sample is used.
    pub bin_construct_sample_cnt: usize,
    /// Smoothing added to a category's weight when categories are sorted by mean gradient; also the fewest rows a category
    /// needs to take part in the sorted search; `[0, 1e30]`, default 10.
    pub cat_smooth: f64,
    /// Extra L2 penalty of sorted category splits; `[0, 1e30]`, default 10.
    pub cat_l2: f64,
    /// Most categories on the listed side of a sorted split; `1..`, default 32.
    pub max_cat_threshold: usize,
    /// Categorical features with at most this many bins (levels plus one) try one level against the rest; `1..`, default 4.
    pub max_cat_to_onehot: usize,
    /// Fewest rows between two candidate cuts of the sorted search; `1..`, default 1 (LightGBM: 100).
    pub min_data_per_group: usize,
    /// Start from the mean target (median or quantile for those losses) instead of zero; default true.
    pub boost_from_average: bool,
    /// Share of the rows drawn without replacement for a tree; `(0, 1]`, default 1. Needs `bagging_freq > 0`.
    pub bagging_fraction: f64,
    /// A new share of rows is drawn every this many trees; default 0, never.
    pub bagging_freq: usize,
    /// Share of the features drawn for a tree; `(0, 1]`, default 1.
    pub feature_fraction: f64,
    /// Try one random threshold per feature and leaf instead of all; default false.
    pub extra_trees: bool,
    /// The loss; default L2.
    pub objective: Objective,
    /// Half-width of the quadratic part of the Huber loss, `(0, 1e30]`, or the level of the quantile loss, `(0, 1)`; default 0.9.
    pub alpha: f64,
    /// Stop when the validation loss has not improved for this many trees, and keep the best; default 0, never.
    pub early_stopping_round: usize,
    /// Share of the rows set aside, at random, for early stopping; `(0, 1)`, default 0.1. Without effect when
    /// `early_stopping_round` is 0.
    pub validation_fraction: f64,
}

impl Default for GbdtSettings {
    fn default() -> Self {
        Self {
            n_trees: 50,
            learning_rate: 0.1,
            max_depth: 3,
            num_leaves: 31,
            min_data_in_leaf: 1,
            min_sum_hessian_in_leaf: 1e-3,
            lambda_l1: 0.0,
            lambda_l2: 0.0,
            min_gain_to_split: 0.0,
            max_bin: 255,
            min_data_in_bin: 3,
            bin_construct_sample_cnt: 200_000,
            cat_smooth: 10.0,
            cat_l2: 10.0,
            max_cat_threshold: 32,
            max_cat_to_onehot: 4,
            min_data_per_group: 1,
            boost_from_average: true,
            bagging_fraction: 1.0,
            bagging_freq: 0,
            feature_fraction: 1.0,
            extra_trees: false,
            objective: Objective::L2,
            alpha: 0.9,
            early_stopping_round: 0,
            validation_fraction: 0.1,
        }
    }
}

impl GbdtSettings {
    /// LightGBM's own defaults: 100 trees of 31 leaves without a depth limit, at least 20 rows in a leaf.
    pub fn lightgbm() -> Self {
        Self { n_trees: 100, max_depth: -1, min_data_in_leaf: 20, min_data_per_group: 100, ..Self::default() }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`GbdtError::Setting`] names the first field outside its range.
    pub fn validate(&self) -> Result<(), GbdtError> {
        let not_negative = [
            ("min_sum_hessian_in_leaf", self.min_sum_hessian_in_leaf),
            ("lambda_l1", self.lambda_l1),
            ("lambda_l2", self.lambda_l2),
            ("cat_smooth", self.cat_smooth),
            ("cat_l2", self.cat_l2),
        ];
        for (name, value) in not_negative {
            check(name, value, (0.0..=1e30).contains(&value), "a number in [0, 1e30]")?;
        }
        let gain = self.min_gain_to_split;
        check("min_gain_to_split", gain, (0.0..=1e300).contains(&gain), "a number in [0, 1e300]")?;
        let rate = self.learning_rate;
        check("learning_rate", rate, rate > 0.0 && rate <= 10.0, "a number in (0, 10]")?;
        for (name, value) in
            [("bagging_fraction", self.bagging_fraction), ("feature_fraction", self.feature_fraction)]
        {
            check(name, value, value > 0.0 && value <= 1.0, "a number in (0, 1]")?;
        }
        let share = self.validation_fraction;
        check("validation_fraction", share, share > 0.0 && share < 1.0, "a number in (0, 1)")?;
        match self.objective {
            Objective::Huber => {
                check("alpha", self.alpha, self.alpha > 0.0 && self.alpha <= 1e30, "a number in (0, 1e30]")?;
            }
            Objective::Quantile => {
                check("alpha", self.alpha, self.alpha > 0.0 && self.alpha < 1.0, "a number in (0, 1)")?;
            }
            Objective::L2 | Objective::L1 => {}
        }
        let n_trees = self.n_trees;
        check("n_trees", n_trees, (1..=100_000).contains(&n_trees), "a whole number in 1..=100000")?;
        let leaves = self.num_leaves;
        check("num_leaves", leaves, (2..=131_072).contains(&leaves), "a whole number in 2..=131072")?;
        let bins = self.max_bin;
        check("max_bin", bins, (2..=65_535).contains(&bins), "a whole number in 2..=65535")?;
        let positive = [
            ("min_data_in_bin", self.min_data_in_bin),
            ("bin_construct_sample_cnt", self.bin_construct_sample_cnt),
            ("max_cat_threshold", self.max_cat_threshold),
            ("max_cat_to_onehot", self.max_cat_to_onehot),
            ("min_data_per_group", self.min_data_per_group),
        ];
        for (name, value) in positive {
            check(name, value, value >= 1, "a whole number of at least 1")?;
        }
        Ok(())
    }
}

fn check(
    name: &'static str,
    value: impl std::fmt::Display,
    holds: bool,
    expected: &'static str,
) -> Result<(), GbdtError> {
    if holds { Ok(()) } else { Err(GbdtError::Setting { name, value: value.to_string(), expected }) }
}

#[cfg(test)]
mod tests {
    use super::{GbdtSettings, Objective};

    #[test]
    fn defaults_are_valid_and_survive_a_round_trip() {
        for settings in [GbdtSettings::default(), GbdtSettings::lightgbm()] {
            settings.validate().unwrap();
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<GbdtSettings>(&text).unwrap(), settings);
        }
        let partial: GbdtSettings = toml::from_str("n_trees = 7\nobjective = 'regression_l1'").unwrap();
        assert_eq!(partial, GbdtSettings { n_trees: 7, objective: Objective::L1, ..GbdtSettings::default() });
    }

    #[test]
    fn an_unknown_field_is_an_error() {
        let error = toml::from_str::<GbdtSettings>("n_tree = 7").unwrap_err().to_string();
        assert!(error.contains("n_tree"), "{error}");
    }

    #[test]
    fn each_fault_names_its_field() {
        type Fault = fn(&mut GbdtSettings);
        let faults: [(&str, Fault); 20] = [
            ("n_trees", |s| s.n_trees = 0),
            ("learning_rate", |s| s.learning_rate = 0.0),
            ("learning_rate", |s| s.learning_rate = f64::NAN),
            ("num_leaves", |s| s.num_leaves = 1),
            ("min_sum_hessian_in_leaf", |s| s.min_sum_hessian_in_leaf = -1.0),
            ("lambda_l1", |s| s.lambda_l1 = f64::INFINITY),
            ("lambda_l2", |s| s.lambda_l2 = -0.5),
            ("min_gain_to_split", |s| s.min_gain_to_split = f64::NAN),
            ("max_bin", |s| s.max_bin = 1),
            ("min_data_in_bin", |s| s.min_data_in_bin = 0),
            ("bin_construct_sample_cnt", |s| s.bin_construct_sample_cnt = 0),
            ("cat_smooth", |s| s.cat_smooth = -1.0),
            ("cat_l2", |s| s.cat_l2 = -1.0),
            ("max_cat_threshold", |s| s.max_cat_threshold = 0),
            ("max_cat_to_onehot", |s| s.max_cat_to_onehot = 0),
            ("min_data_per_group", |s| s.min_data_per_group = 0),
            ("bagging_fraction", |s| s.bagging_fraction = 1.5),
            ("feature_fraction", |s| s.feature_fraction = 0.0),
            ("validation_fraction", |s| s.validation_fraction = 1.0),
            ("alpha", |s| (s.objective, s.alpha) = (Objective::Quantile, 1.0)),
        ];
        for (name, fault) in faults {
            let mut settings = GbdtSettings::default();
            fault(&mut settings);
            let message = settings.validate().unwrap_err().to_string();
            assert!(message.starts_with(name), "{message:?} should name {name}");
        }
    }
}
