//! The acquisition problem: minimise the lower confidence bound over the variables' domains and the known constraints.

use leafgp_solver::constraints::Constraints;
use leafgp_solver::search::Problem;
use leafgp_solver::{Domain, Forest, LeafObjective, Range, Region};

use crate::Table;
use crate::gp::TreeGp;

/// Minimise `mu(x) - kappa * sigma(x)` over the domains and the constraints: the paper's upper confidence bound of the negated targets,
/// as plain data for the solver.
#[derive(Clone, Debug)]
pub struct AcquisitionProblem {
    /// The variables' allowed values, in the order of points.
    pub domains: Vec<Domain>,
    /// The trees whose leaves carry the objective.
    pub forest: Forest,
    /// The objective on leaves.
    pub objective: LeafObjective,
    /// The known constraints over the same variables.
    pub constraints: Constraints,
    /// Boxes of which no point may be the answer: the cells of pending and failed experiments.
    pub excluded: Vec<Region>,
    /// How much a point may agree with the data (Eq. 12); `None` for as much as it likes.
    pub agreement: Option<AgreementLimit>,
}

/// A limit on the share of trees in which a point ends in the same leaf as any one data point (Eq. 12): on the kernel's correlation with the data.
///
/// Small limits keep the answer away from the data, into regions of which the model knows little. The search proves its answers under the limit like under any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementLimit {
    /// The active leaves of each data point, `[n_points][n_trees]`, in the forest's numbering.
    pub data_leaves: Vec<Vec<usize>>,
    /// Most trees that may agree with any one data point.
    pub max_trees: usize,
}

impl AgreementLimit {
    /// Agreement of at most a share `ratio` of the trees with each row of `data`: `count <= floor(ratio * T + 1e-9)`. As in the kernel, `T` counts the trees that
    /// have a split; a tree without one agrees always, and is allowed to.
    pub fn new<'a>(forest: &Forest, data: impl IntoIterator<Item = &'a [f64]>, ratio: f64) -> Self {
        let trivial = forest.trees().iter().filter(|tree| tree.n_leaves() < 2).count();
        let allowed = (ratio.clamp(0.0, 1.0) * (forest.n_trees() - trivial) as f64 + 1e-9).floor() as usize;
        let data_leaves = data.into_iter().map(|x| forest.active_leaves(x)).collect();
        Self { data_leaves, max_trees: allowed + trivial }
    }

    /// Whether `x` keeps the limit.
    pub fn allows(&self, forest: &Forest, x: &[f64]) -> bool {
        let leaves = forest.active_leaves(x);
        let agreeing = |other: &Vec<usize>| leaves.iter().zip(other).filter(|(a, b)| a == b).count();
        self.data_leaves.iter().all(|other| agreeing(other) <= self.max_trees)
    }
}

/// The largest share of trees with a split in which `x` ends in the same leaf as one of the data points: the largest correlation of the kernel. 0 without data or splits.
pub fn largest_agreement<'a>(forest: &Forest, data: impl IntoIterator<Item = &'a [f64]>, x: &[f64]) -> f64 {
    let informative: Vec<bool> = forest.trees().iter().map(|tree| tree.n_leaves() > 1).collect();
    let n_trees = informative.iter().filter(|&&counts| counts).count();
    if n_trees == 0 {
        return 0.0;
    }
    let leaves = forest.active_leaves(x);
    let agreeing = |point: &[f64]| {
        let other = forest.active_leaves(point);
        (0..leaves.len()).filter(|&t| informative[t] && leaves[t] == other[t]).count()
    };
    data.into_iter().map(agreeing).max().unwrap_or(0) as f64 / n_trees as f64
}

/// The acquisition and its two parts at one point, in standardised units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Expected value `mu`.
    pub mean: f64,
    /// Standard deviation `sigma`.
    pub deviation: f64,
    /// `mu - kappa * sigma`, to be minimised.
    pub value: f64,
}

impl AcquisitionProblem {
    /// States the problem for a fitted process. `kappa >= 0`; larger explores more.
    pub fn new(gp: &TreeGp, constraints: Constraints, kappa: f64) -> Self {
        Self {
            domains: constraints.domains().to_vec(),
            forest: gp.forest().clone(),
            objective: gp.leaf_objective(kappa),
            constraints,
            excluded: Vec::new(),
            agreement: None,
        }
    }

    /// States the minimisation of the mean alone, `mu(x)`.
    pub fn of_mean(gp: &TreeGp, constraints: Constraints) -> Self {
        let mut problem = Self::new(gp, constraints, 0.0);
        problem.objective.quadratic = None;
        problem
    }

    /// Demands agreement of at most a share `ratio` of the trees with each row of `data` (Eq. 12); `ratio` in `[0, 1]`.
    #[must_use]
    pub fn with_max_agreement(self, data: &Table, ratio: f64) -> Self {
        let limit = AgreementLimit::new(&self.forest, data.rows(), ratio);
        self.with_agreement(Some(limit))
    }

    /// Sets the limit on agreement with the data.
    #[must_use]
    pub fn with_agreement(mut self, limit: Option<AgreementLimit>) -> Self {
        self.agreement = limit;
        self
    }

    /// Forbids the cells of the points. A point outside the domains may have an empty one.
    #[must_use]
    pub fn excluding_cells_of<'a>(mut self, points: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let cells = points.into_iter().map(|x| self.forest.cell(&self.domains, x));
        self.excluded.extend(cells.filter(|cell| !cell.0.iter().any(Range::is_empty)));
        self
    }

    /// As the solver takes it; exclusions and limits can be added to what is returned.
    pub fn search(&self) -> Problem<'_> {
        let mut problem = Problem::new(&self.domains, &self.forest, &self.objective);
        if !self.constraints.is_empty() {
            problem = problem.with_constraints(&self.constraints);
        }
        for region in &self.excluded {
            problem = problem.excluding(region.clone());
        }
        match &self.agreement {
            Some(limit) => problem.with_agreement_at_most(&limit.data_leaves, limit.max_trees),
            None => problem,
        }
    }

    /// Evaluates the true model at a point in variable order; constraints are not looked at.
    pub fn evaluate(&self, x: &[f64]) -> Evaluation {
        let leaves = self.forest.active_leaves(x);
        let (mean, deviation) = (self.objective.mean(&leaves), self.objective.deviation(&leaves));
        Evaluation { mean, deviation, value: self.objective.value(&leaves) }
    }
}
