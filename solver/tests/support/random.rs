//! Seeded random problems: every kind of variable, duplicate thresholds and thresholds one float apart, unused variables, single leaves, no trees.

use leafgp_solver::{
    Domain, Forest, Grid, LeafLimit, LeafObjective, LevelSet, Node, Problem, Range, Region, Rule, Tree,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A random problem's parts.
#[derive(Debug)]
pub struct Parts {
    pub domains: Vec<Domain>,
    pub forest: Forest,
    pub objective: LeafObjective,
    pub excluded: Vec<Region>,
    pub limits: Vec<LeafLimit>,
    pub k_best: usize,
    pub gap: f64,
}

impl Parts {
    /// The whole problem.
    pub fn problem(&self) -> Problem<'_> {
        let mut problem = Problem::new(&self.domains, &self.forest, &self.objective);
        for region in &self.excluded {
            problem = problem.excluding(region.clone());
        }
        for limit in &self.limits {
            problem = problem.with_limit(limit.clone());
        }
        problem
    }
}

fn pick(rng: &mut ChaCha8Rng, n: usize) -> usize {
    rng.random_range(0..n)
}

fn random_domain(rng: &mut ChaCha8Rng) -> Domain {
    match pick(rng, 6) {
        0 | 1 => Domain::Continuous { lower: -1.0, upper: 1.0 + pick(rng, 2) as f64 },
        2 => Domain::Integer { lower: -2.0, upper: pick(rng, 4) as f64 },
        3 => Domain::Grid(Grid::new(-10, 4, 1, 6).unwrap()),
        4 => Domain::Discrete(vec![-0.9, -0.1, 0.0, 0.35, 2.0][..1 + pick(rng, 5)].to_vec()),
        _ => Domain::Categorical { levels: 1 + pick(rng, 5) },
    }
}

fn random_tree(rng: &mut ChaCha8Rng, domains: &[Domain], known: &mut Vec<f64>) -> Tree {
    let mut nodes = vec![];
    let mut leaves = 0;
    let max_depth = pick(rng, 5);
    grow(rng, domains, known, &mut nodes, &mut leaves, max_depth);
    Tree { nodes }
}

fn grow(
    rng: &mut ChaCha8Rng,
    domains: &[Domain],
    known: &mut Vec<f64>,
    nodes: &mut Vec<Node>,
    leaves: &mut usize,
    depth: usize,
) -> usize {
    let at = nodes.len();
    nodes.push(Node::Leaf { leaf: *leaves, value: rng.random_range(-1.0..1.0) });
    if depth == 0 || pick(rng, 8) == 0 {
        *leaves += 1;
        return at;
    }
    let feature = pick(rng, domains.len());
    let rule = match domains[feature].levels() {
        Some(n) => Rule::Levels(LevelSet::from_indices(n, (0..n).filter(|_| rng.random_bool(0.5)))),
        None => {
            let threshold = match pick(rng, 5) {
                0 if !known.is_empty() => known[pick(rng, known.len())],
                1 if !known.is_empty() => known[pick(rng, known.len())].next_up(),
                2 => [0.0, -0.1, 0.35, 1.0, -1.0][pick(rng, 5)],
                _ => rng.random_range(-1.2..1.6),
            };
            known.push(threshold);
            Rule::Threshold(threshold)
        }
    };
    let left = grow(rng, domains, known, nodes, leaves, depth - 1);
    let right = grow(rng, domains, known, nodes, leaves, depth - 1);
    nodes[at] = Node::Split { feature, rule, left, right };
    at
}

/// A forest over any domains.
pub fn random_forest(rng: &mut ChaCha8Rng, domains: &[Domain], n_trees: usize) -> Forest {
    let mut known = vec![];
    let trees = (0..n_trees).map(|_| random_tree(rng, domains, &mut known)).collect();
    Forest::new(trees, domains).unwrap()
}

fn random_value(rng: &mut ChaCha8Rng, domain: &Domain) -> f64 {
    let (lower, upper) = domain.bounds();
    domain.nearest(rng.random_range(lower - 0.01..upper + 0.01), lower, upper).unwrap()
}

pub fn random_point(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Vec<f64> {
    domains.iter().map(|d| random_value(rng, d)).collect()
}

fn random_region(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Region {
    let range = |d: &Domain| {
        if rng.random_bool(0.3) {
            return Range::full(d);
        }
        match d.levels() {
            Some(n) => Range::Levels(LevelSet::from_indices(n, (0..n).filter(|_| rng.random_bool(0.6)))),
            None => {
                let (a, b) = (random_value(rng, d), random_value(rng, d));
                Range::Interval { lower: a.min(b), upper: a.max(b) }
            }
        }
    };
    Region(domains.iter().map(range).collect())
}

pub fn random_parts(seed: u64) -> Parts {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let domains: Vec<Domain> = (0..1 + pick(rng, 4)).map(|_| random_domain(rng)).collect();
    let n_trees = if pick(rng, 20) == 0 { 0 } else { 1 + pick(rng, 9) };
    let mut known = vec![];
    let trees = (0..n_trees).map(|_| random_tree(rng, &domains, &mut known)).collect();
    let forest = Forest::new(trees, &domains).unwrap();
    let m = 1 + pick(rng, 10);
    let x: Vec<Vec<f64>> = (0..m).map(|_| random_point(rng, &domains)).collect();
    let y: Vec<f64> = (0..m).map(|_| rng.random_range(-2.0..2.0)).collect();
    let kappa = [0.0, 1.96, 1.96, 1.96, 0.1, 10.0, 1e6, -1.0, -3.0][pick(rng, 9)];
    let noise = [1e-6, 1e-3, 1e-3, 0.1][pick(rng, 4)];
    let mut objective = super::posterior(&forest, &x, &y, kappa, [0.05, 1.0, 20.0][pick(rng, 3)], noise);
    objective.constant = rng.random_range(-1.0..1.0);
    let mean = objective.clone();
    match pick(rng, 8) {
        0 => objective.linear.iter_mut().for_each(|c| *c = 0.0),
        1 => objective.linear.iter_mut().for_each(|c| *c = -*c),
        2 => objective.quadratic = None,
        _ => {}
    }
    let excluded = if pick(rng, 3) == 0 {
        (0..1 + pick(rng, 3)).map(|_| random_region(rng, &domains)).collect()
    } else {
        vec![]
    };
    let mut limits = vec![];
    if pick(rng, 4) == 0 {
        let leaves: Vec<Vec<usize>> = x.iter().map(|x| forest.active_leaves(x)).collect();
        let most = pick(rng, n_trees + 1);
        for point in &leaves {
            let coefficients = point.iter().map(|&leaf| (leaf, 1.0)).collect();
            limits.push(LeafLimit {
                constant: 0.0,
                coefficients,
                lower: f64::NEG_INFINITY,
                upper: most as f64,
            });
        }
    }
    if pick(rng, 4) == 0 {
        let coefficients = mean.linear.iter().copied().enumerate().collect();
        let (lower, upper) = match pick(rng, 3) {
            0 => (f64::NEG_INFINITY, rng.random_range(-1.0..1.0)),
            1 => (rng.random_range(-1.0..1.0), f64::INFINITY),
            _ => (-0.3, 0.4),
        };
        limits.push(LeafLimit { constant: mean.constant, coefficients, lower, upper });
    }
    let k_best = if pick(rng, 4) == 0 { 1 + pick(rng, 6) } else { 1 };
    let gap = [1e-4, 1e-4, 0.0, 1e-9, 0.05][pick(rng, 5)];
    Parts { domains, forest, objective, excluded, limits, k_best, gap }
}
