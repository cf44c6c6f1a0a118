//! The problem that is solved: domains, forest, leaf objective and everything that restricts the point.

use crate::forest::Forest;
use crate::learned::Learned;
use crate::limit::LeafLimit;
use crate::objective::LeafObjective;
use leafgp_constraints::{Constraints, Domain, Range, Region};

/// The problem's parts do not fit together, or a number is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProblemError(pub String);

/// Minimise a [`LeafObjective`] of a [`Forest`] over the variables' [`Domain`]s, optionally under [`Constraints`], linear limits on the
/// active leaves, and without the points of excluded regions.
///
/// ```
/// use leafgp_solver::search::{Problem, SearchOptions, Status, minimize};
/// use leafgp_solver::{Domain, Forest, LeafObjective, Node, Rule, Tree};
///
/// // One tree: 1 on [0, 0.5], -2 on (0.5, 1].
/// let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
/// let nodes = vec![
///     Node::Split { feature: 0, rule: Rule::Threshold(0.5), left: 1, right: 2 },
///     Node::Leaf { leaf: 0, value: 1.0 },
///     Node::Leaf { leaf: 1, value: -2.0 },
/// ];
/// let forest = Forest::new(vec![Tree { nodes }], &domains)?;
/// let objective = LeafObjective { constant: 0.0, linear: vec![1.0, -2.0], quadratic: None };
/// let report = minimize(&Problem::new(&domains, &forest, &objective), &SearchOptions::default())?;
/// let best = report.incumbent.expect("the box is not empty");
/// assert_eq!((report.status, best.objective), (Status::Optimal, -2.0));
/// assert!(best.x[0] > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    pub(crate) domains: &'a [Domain],
    pub(crate) forest: &'a Forest,
    pub(crate) objective: &'a LeafObjective,
    pub(crate) constraints: Option<&'a Constraints>,
    pub(crate) excluded: Vec<Region>,
    pub(crate) limits: Vec<LeafLimit>,
    pub(crate) learned: Option<Learned<'a>>,
}

/// Largest size of an objective: its square and sums over trees stay far from the end of f64.
const LARGEST: f64 = 1e100;

impl<'a> Problem<'a> {
    /// The plain problem: every point of the domains is allowed.
    pub fn new(domains: &'a [Domain], forest: &'a Forest, objective: &'a LeafObjective) -> Self {
        Self {
            domains,
            forest,
            objective,
            constraints: None,
            excluded: Vec::new(),
            limits: Vec::new(),
            learned: None,
        }
    }

    /// Demands the constraints at the produce tolerance; their variables are the problem's, in the same order.
    #[must_use]
    pub fn with_constraints(mut self, constraints: &'a Constraints) -> Self {
        self.constraints = Some(constraints);
        self
    }

    /// Takes the value of a point from an expression of the variables and of predictions, and demands the constraints that name them. Instead of
    /// [`with_constraints`](Self::with_constraints): the system states those too.
    #[must_use]
    pub fn with_learned(mut self, learned: Learned<'a>) -> Self {
        self.learned = Some(learned);
        self
    }

    /// Forbids every point of the region (a box over all variables), in addition to those excluded before. Any box is allowed; usually it is the
    /// [region](crate::search::Incumbent::region) of an earlier incumbent.
    #[must_use]
    pub fn excluding(mut self, region: Region) -> Self {
        self.excluded.push(region);
        self
    }

    /// Adds a linear limit on the active leaves.
    #[must_use]
    pub fn with_limit(mut self, limit: LeafLimit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Agreement with each data point at most `max_trees` (Eq. 12: at most `R * n_trees`): `data_leaves` holds the active leaves of each
    /// data point, `[n_points][n_trees]`, in the forest's numbering. Trees with one leaf count as agreeing.
    #[must_use]
    pub fn with_agreement_at_most(mut self, data_leaves: &[Vec<usize>], max_trees: usize) -> Self {
        for leaves in data_leaves {
            let mut coefficients: Vec<(usize, f64)> = leaves.iter().map(|&leaf| (leaf, 1.0)).collect();
            coefficients.sort_unstable_by_key(|&(leaf, _)| leaf);
            let limit =
                LeafLimit { constant: 0.0, coefficients, lower: f64::NEG_INFINITY, upper: max_trees as f64 };
            self.limits.push(limit);
        }
        self
    }

    /// Keeps the mean `constant + sum of linear` of another leaf function (usually the objective's own mean) within `[lower, upper]`.
    #[must_use]
    pub fn with_mean_between(mut self, mean: &LeafObjective, lower: f64, upper: f64) -> Self {
        let coefficients = mean.linear.iter().copied().enumerate().collect();
        self.limits.push(LeafLimit { constant: mean.constant, coefficients, lower, upper });
        self
    }

    /// The variables' domains.
    pub fn domains(&self) -> &'a [Domain] {
        self.domains
    }

    /// The forest.
    pub fn forest(&self) -> &'a Forest {
        self.forest
    }

    /// The objective.
    pub fn objective(&self) -> &'a LeafObjective {
        self.objective
    }

    /// True when the point may be returned: in the domains, feasible at the produce tolerance, outside every excluded region, within
    /// every leaf limit.
    pub fn allows(&self, x: &[f64]) -> bool {
        x.len() == self.domains.len()
            && self.domains.iter().zip(x).all(|(domain, &v)| domain.contains(v))
            && !self.excluded.iter().any(|region| region.contains(x))
            && self.constraints.is_none_or(|c| c.is_feasible(x, leafgp_constraints::Tolerance::Produce))
            && self.learned.is_none_or(|learned| learned.value(x).is_some())
            && (self.limits.is_empty() || {
                let leaves = self.forest.active_leaves(x);
                self.limits.iter().all(|limit| limit.holds(&leaves))
            })
    }

    /// The value of a point with the given active leaves; NaN when it has none.
    pub(crate) fn value(&self, x: &[f64], leaves: &[usize]) -> f64 {
        match &self.learned {
            Some(learned) => learned.extended(x).map_or(f64::NAN, |(_, value)| value),
            None => self.objective.value(leaves),
        }
    }

    /// Number of the first trees whose leaves tell cells apart: all but those that only bound an expression.
    pub(crate) fn cell_trees(&self) -> usize {
        self.learned.map_or(self.forest.n_trees(), |learned| learned.cell_trees)
    }

    /// The box of all points of the domains with the same active leaves as `x`: where no tree (that a [prediction](Learned) comes from) changes its leaf.
    pub fn level_set(&self, x: &[f64]) -> Region {
        let mut region = self.forest.cell_of_first(self.cell_trees(), self.domains, x);
        for (range, domain) in region.0.iter_mut().zip(self.domains) {
            if let Range::Interval { lower, upper } = range {
                // Ends become attained values; `x` itself lies inside.
                if let Some((first, last)) = domain.within(*lower, *upper) {
                    (*lower, *upper) = (first, last);
                }
            }
        }
        region
    }

    /// A bound on the sums that the search forms: of the largest terms of each tree, of the lengths of the vectors, and of the deviation.
    fn objective_size(&self) -> f64 {
        let objective = self.objective;
        let of_trees = |size: &dyn Fn(usize) -> f64| -> f64 {
            let leaves = |t| self.forest.leaf_offset(t)..self.forest.leaf_offset(t + 1);
            (0..self.forest.n_trees()).map(|t| leaves(t).map(size).fold(0.0, f64::max)).sum()
        };
        let mean = objective.constant.abs() + of_trees(&|leaf| objective.linear[leaf].abs());
        objective.quadratic.as_ref().map_or(mean, |q| {
            let length = of_trees(&|leaf| q.row(leaf).iter().map(|v| v * v).sum::<f64>().sqrt());
            mean.max(length)
                .max(q.bounding_prior())
                .max(q.kappa.abs())
                .max(q.kappa.abs() * q.prior_variance.sqrt())
        })
    }

    /// Checks shapes and numbers.
    pub(crate) fn validate(&self) -> Result<(), ProblemError> {
        let refuse = |message: String| Err(ProblemError(message));
        let n_leaves = self.forest.n_leaves();
        let objective = self.objective;
        if objective.linear.len() != n_leaves {
            return refuse(format!(
                "the objective has {} linear terms; the forest has {n_leaves} leaves",
                objective.linear.len()
            ));
        }
        if !objective.constant.is_finite() || objective.linear.iter().any(|c| !c.is_finite()) {
            return refuse("the objective's linear part holds a number that is not finite".into());
        }
        if let Some(q) = &objective.quadratic {
            if q.factor.len() != n_leaves * q.dim {
                return refuse(format!(
                    "the factor has {} entries; expected {n_leaves} x {}",
                    q.factor.len(),
                    q.dim
                ));
            }
            if !(q.kappa.is_finite() && q.prior_variance.is_finite() && q.prior_variance >= 0.0) {
                return refuse(format!(
                    "kappa {} and prior variance {}; expected finite, the variance >= 0",
                    q.kappa, q.prior_variance
                ));
            }
            if q.factor.iter().any(|v| !v.is_finite()) {
                return refuse("the factor holds a number that is not finite".into());
            }
            if let Some(remainder) = &q.remainder {
                let shapes =
                    remainder.noise_shares.len() == q.dim && remainder.tree_variance.len() == n_leaves;
                let numbers = [remainder.constant, remainder.rounding].into_iter();
                let mut numbers =
                    numbers.chain(remainder.noise_shares.iter().chain(&remainder.tree_variance).copied());
                if !shapes || !numbers.all(|v| (0.0..=LARGEST).contains(&v)) {
                    return refuse(format!(
                        "the remainder needs {} noise shares and {n_leaves} tree variances, all numbers in [0, {LARGEST:e}]",
                        q.dim
                    ));
                }
            }
        }
        let size = self.objective_size();
        if size > LARGEST {
            return refuse(format!(
                "the objective can reach the size {size:e}; at most {LARGEST:e} is expected, so that nothing overflows"
            ));
        }
        for (i, domain) in self.domains.iter().enumerate() {
            let bad = match domain {
                Domain::Continuous { lower, upper } | Domain::Integer { lower, upper } => {
                    !(lower.is_finite() && upper.is_finite())
                }
                Domain::Discrete(values) => {
                    values.iter().any(|v| !v.is_finite()) || values.windows(2).any(|w| w[0] >= w[1])
                }
                Domain::Grid(_) | Domain::Categorical { .. } => false,
            };
            if bad {
                return refuse(format!(
                    "the domain of variable {i} holds a number that is not finite, or is not ascending"
                ));
            }
        }
        for (i, tree) in self.forest.trees().iter().enumerate() {
            if let Err(problem) = tree.check_domains(self.domains) {
                return refuse(format!("tree {i}: {problem}"));
            }
        }
        for (i, region) in self.excluded.iter().enumerate() {
            let fits = region.0.len() == self.domains.len()
                && region.0.iter().zip(self.domains).all(|(range, domain)| match (range, domain) {
                    (Range::Levels(set), Domain::Categorical { levels }) => set.capacity() == *levels,
                    (Range::Interval { lower, upper }, d) => {
                        !d.is_categorical() && !lower.is_nan() && !upper.is_nan()
                    }
                    (Range::Levels(_), _) => false,
                });
            if !fits {
                return refuse(format!("excluded region {i} does not fit the variables"));
            }
        }
        for (i, limit) in self.limits.iter().enumerate() {
            let ascending = limit.coefficients.windows(2).all(|w| w[0].0 < w[1].0);
            let in_range = limit.coefficients.last().is_none_or(|&(leaf, _)| leaf < n_leaves);
            let finite = limit.constant.is_finite() && limit.coefficients.iter().all(|(_, a)| a.is_finite());
            if !ascending || !in_range || !finite || limit.lower.is_nan() || limit.upper.is_nan() {
                return refuse(format!(
                    "leaf limit {i} needs ascending leaves below {n_leaves} and finite coefficients"
                ));
            }
        }
        if self.constraints.is_some_and(|constraints| constraints.domains() != self.domains) {
            return refuse("the constraints' variables are not the problem's".into());
        }
        if let Some(learned) = &self.learned {
            if self.constraints.is_some() {
                return refuse("with learned constraints, the system states all constraints".into());
            }
            if self.objective.quadratic.is_some() {
                return refuse("with learned constraints, the leaf objective must be linear".into());
            }
            learned.validate(self.domains, self.forest)?;
        }
        Ok(())
    }
}
