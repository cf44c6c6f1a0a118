//! Small random problems over discrete variables, whose points can all be listed.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::{
    Domain, Forest, LeafLimit, LeafObjective, LevelSet, Node, Problem, Quadratic, Range, Region, Rule, Tree,
};
use leafgp_constraints::{Constraints, ConstraintsBuilder, Variable};

use super::cell_set::holds;
use super::index::{CellId, FeatureId, IdVec};
use super::model::Model;

/// Numbers first (at least two), then categories; with or without a deviation, leaf limits, excluded regions and constraints.
#[derive(Debug)]
pub(crate) struct Small {
    domains: Vec<Domain>,
    forest: Forest,
    objective: LeafObjective,
    constraints: Option<Constraints>,
    excluded: Vec<Region>,
    limits: Vec<LeafLimit>,
}

/// An allowed point.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) x: Vec<f64>,
    pub(crate) cells: IdVec<FeatureId, CellId>,
    pub(crate) value: f64,
}

impl Point {
    /// True when the box holds the point.
    pub(crate) fn is_in(&self, model: &Model<'_>, cells: &[u64]) -> bool {
        let mut features = model.cells.features().into_iter().zip(&self.cells);
        features.all(|(f, &cell)| holds(&cells[model.cells.words(f)], cell))
    }
}

fn tree(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Tree {
    fn grow(rng: &mut ChaCha8Rng, domains: &[Domain], nodes: &mut Vec<Node>, leaves: &mut usize, depth: u32) {
        let at = nodes.len();
        nodes.push(Node::Leaf { leaf: *leaves, value: 0.0 });
        if depth == 0 {
            *leaves += 1;
            return;
        }
        let feature = rng.random_range(0..domains.len());
        let rule = match domains[feature].levels() {
            Some(n) => Rule::Levels(LevelSet::from_indices(n, (0..n).filter(|_| rng.random_bool(0.5)))),
            None => Rule::Threshold(f64::from(rng.random_range(0..4)) + 0.5),
        };
        let left = nodes.len();
        grow(rng, domains, nodes, leaves, depth - 1);
        let right = nodes.len();
        grow(rng, domains, nodes, leaves, depth - 1);
        nodes[at] = Node::Split { feature, rule, left, right };
    }
    let (mut nodes, mut leaves) = (Vec::new(), 0);
    let depth = rng.random_range(1..4);
    grow(rng, domains, &mut nodes, &mut leaves, depth);
    Tree { nodes }
}

impl Small {
    pub(crate) fn random(seed: u64) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut domains: Vec<_> = (0..rng.random_range(2..4))
            .map(|_| Domain::Integer { lower: 0.0, upper: f64::from(rng.random_range(1..5)) })
            .collect();
        domains.extend((0..rng.random_range(0..2)).map(|_| Domain::Categorical { levels: 4 }));
        let n_trees = rng.random_range(3..10);
        let forest = Forest::new((0..n_trees).map(|_| tree(rng, &domains)).collect(), &domains).unwrap();
        let n_leaves = forest.n_leaves();
        let kappa = [0.0, 1.96, 1.96, -1.5][rng.random_range(0..4)];
        // Beside short vectors such that are long enough to be projected.
        let dim = [3, 7, 80][rng.random_range(0..3)];
        // The vectors of all trees together are no longer than the prior deviation.
        let longest = 1.0 / (n_trees as f64 * f64::sqrt(dim as f64));
        let factor = (0..n_leaves * dim).map(|_| rng.random_range(-longest..longest)).collect();
        let quadratic = Quadratic { kappa, prior_variance: 1.0, dim, factor, remainder: None };
        let objective = LeafObjective {
            constant: rng.random_range(-1.0..1.0),
            linear: (0..n_leaves).map(|_| rng.random_range(-0.3..0.3)).collect(),
            quadratic: (kappa != 0.0).then_some(quadratic),
        };
        let mut small =
            Self { domains, forest, objective, constraints: None, excluded: Vec::new(), limits: Vec::new() };
        if rng.random_bool(0.3) {
            small.restrict(["v0 + v1 >= 2", "v0 * v1 <= 3", "v0 != v1"][rng.random_range(0..3)]);
        }
        if rng.random_bool(0.3) {
            small.exclude(rng);
        }
        if rng.random_bool(0.3) {
            let coefficients = (0..n_leaves).map(|leaf| (leaf, rng.random_range(-1.0..1.0))).collect();
            small.limits.push(LeafLimit { constant: 0.0, coefficients, lower: -1.0, upper: 0.5 });
        }
        small
    }

    fn restrict(&mut self, constraint: &str) {
        let variable = |(k, domain): (usize, &Domain)| Variable {
            name: format!("v{k}"),
            domain: domain.clone(),
            level_names: (0..domain.levels().unwrap_or(0)).map(|level| format!("level {level}")).collect(),
        };
        let variables = self.domains.iter().enumerate().map(variable).collect();
        let mut builder = ConstraintsBuilder::new(variables).unwrap();
        builder.constrain("constraint", constraint).unwrap();
        self.constraints = Some(builder.build());
    }

    fn exclude(&mut self, rng: &mut ChaCha8Rng) {
        let range = |domain: &Domain| match domain.levels() {
            Some(n) => Range::Levels(LevelSet::from_indices(n, (0..n).filter(|_| rng.random_bool(0.7)))),
            None => {
                let lower = f64::from(rng.random_range(0..2));
                Range::Interval { lower, upper: lower + f64::from(rng.random_range(1..4)) }
            }
        };
        self.excluded.push(Region(self.domains.iter().map(range).collect()));
    }

    pub(crate) fn problem(&self) -> Problem<'_> {
        let mut problem = Problem::new(&self.domains, &self.forest, &self.objective);
        if let Some(constraints) = &self.constraints {
            problem = problem.with_constraints(constraints);
        }
        for region in &self.excluded {
            problem = problem.excluding(region.clone());
        }
        for limit in &self.limits {
            problem = problem.with_limit(limit.clone());
        }
        problem
    }
}

/// Every allowed point of a small problem.
pub(crate) fn allowed_points(model: &Model<'_>) -> Vec<Point> {
    let problem = model.problem;
    let mut points = vec![Vec::new()];
    for domain in problem.domains {
        let (lower, upper) = domain.bounds();
        let values: Vec<f64> = (lower as i32..=upper as i32).map(f64::from).collect();
        points = points.iter().flat_map(|x| values.iter().map(|&v| [&x[..], &[v]].concat())).collect();
    }
    let point = |x: Vec<f64>| Point {
        cells: model.cells.features().into_iter().zip(&x).map(|(f, &v)| model.cells.cell_of(f, v)).collect(),
        value: problem.objective.value(&problem.forest.active_leaves(&x)),
        x,
    };
    points.into_iter().filter(|x| problem.allows(x)).map(point).collect()
}

/// The smallest value of the points in a box; infinity for none.
pub(crate) fn best_in(model: &Model<'_>, points: &[Point], cells: &[u64]) -> f64 {
    let inside = points.iter().filter(|point| point.is_in(model, cells));
    inside.map(|point| point.value).fold(f64::INFINITY, f64::min)
}
