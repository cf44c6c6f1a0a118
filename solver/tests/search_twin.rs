//! The search against plain enumeration of all cells, on seeded random problems.

mod support;

use leafgp_solver::{
    Domain, Forest, Grid, LeafLimit, LeafObjective, LevelSet, Node, Problem, Range, Region, Report, Rule,
    SearchOptions, Status, StopReason, Tree, minimize,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A random problem's parts.
struct Parts {
    domains: Vec<Domain>,
    forest: Forest,
    objective: LeafObjective,
    excluded: Vec<Region>,
    limits: Vec<LeafLimit>,
    k_best: usize,
    gap: f64,
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

fn random_value(rng: &mut ChaCha8Rng, domain: &Domain) -> f64 {
    let (lower, upper) = domain.bounds();
    domain.nearest(rng.random_range(lower - 0.01..upper + 0.01), lower, upper).unwrap()
}

fn random_point(rng: &mut ChaCha8Rng, domains: &[Domain]) -> Vec<f64> {
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

fn random_parts(seed: u64) -> Parts {
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
    let mut objective = support::posterior(&forest, &x, &y, kappa, [0.05, 1.0, 20.0][pick(rng, 3)], noise);
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

/// Allowed values of a variable that meet every cell: both ends of every piece between thresholds and ends of excluded regions.
fn values_of(parts: &Parts, feature: usize) -> Vec<f64> {
    let domain = &parts.domains[feature];
    if let Some(levels) = domain.levels() {
        return (0..levels).map(|l| l as f64).collect();
    }
    let mut edges = vec![];
    for tree in parts.forest.trees() {
        for node in &tree.nodes {
            if let Node::Split { feature: f, rule: Rule::Threshold(t), .. } = node {
                if *f == feature {
                    edges.push(*t);
                }
            }
        }
    }
    for region in &parts.excluded {
        if let Range::Interval { lower, upper } = region.0[feature] {
            edges.extend([lower, upper]);
        }
    }
    let (lower, upper) = domain.bounds();
    let mut values = vec![lower, upper];
    for edge in edges {
        for x in [edge.next_down(), edge, edge.next_up()] {
            values.extend(domain.floor(x));
            values.extend(domain.ceil(x));
        }
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Objective of every allowed leaf combination, ascending.
fn enumerate(parts: &Parts) -> Vec<(f64, Vec<usize>)> {
    let values: Vec<Vec<f64>> = (0..parts.domains.len()).map(|f| values_of(parts, f)).collect();
    let mut all = std::collections::BTreeMap::new();
    let mut at = vec![0; values.len()];
    loop {
        let x: Vec<f64> = at.iter().zip(&values).map(|(&i, v)| v[i]).collect();
        if !parts.excluded.iter().any(|r| r.contains(&x)) {
            let leaves = parts.forest.active_leaves(&x);
            let allowed = parts.limits.iter().all(|limit| {
                let sum = limit.constant
                    + leaves
                        .iter()
                        .map(|l| limit.coefficients.iter().find(|c| c.0 == *l).map_or(0.0, |c| c.1))
                        .sum::<f64>();
                limit.lower <= sum && sum <= limit.upper
            });
            if allowed {
                all.entry(leaves).or_insert_with_key(|leaves| parts.objective.value(leaves));
            }
        }
        let Some(f) = (0..at.len()).find(|&f| at[f] + 1 < values[f].len()) else { break };
        at[f] += 1;
        at[..f].fill(0);
    }
    let mut list: Vec<_> = all.into_iter().map(|(leaves, value)| (value, leaves)).collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    list
}

fn solve(parts: &Parts, threads: usize) -> Report {
    let mut problem = Problem::new(&parts.domains, &parts.forest, &parts.objective);
    for region in &parts.excluded {
        problem = problem.excluding(region.clone());
    }
    for limit in &parts.limits {
        problem = problem.with_limit(limit.clone());
    }
    let mut options = SearchOptions::default();
    options.gap = parts.gap;
    options.k_best = parts.k_best;
    options.threads = threads;
    let report = minimize(&problem, &options).unwrap();
    for incumbent in report.incumbent.iter().chain(&report.others) {
        assert!(problem.allows(&incumbent.x));
        let leaves = parts.forest.active_leaves(&incumbent.x);
        assert_eq!(parts.objective.value(&leaves), incumbent.objective);
        assert!(incumbent.region.contains(&incumbent.x));
    }
    report
}

fn compare(seed: u64) {
    let parts = random_parts(seed);
    let cells = enumerate(&parts);
    let report = solve(&parts, 1);
    let Some(best) = &report.incumbent else {
        assert!(cells.is_empty(), "seed {seed}: {} cells, none found", cells.len());
        assert_eq!(
            (report.status, report.stop_reason),
            (Status::Infeasible, StopReason::Exhausted),
            "seed {seed}"
        );
        return;
    };
    assert_eq!(report.status, Status::Optimal, "seed {seed}: {report:?}");
    let rounding = 1e-10 * cells.iter().fold(1.0f64, |a, c| a.max(c.0.abs()));
    let allowance = |o: f64| (parts.gap * o.abs()).max(1e-9) + rounding;
    let optimum = cells[0].0;
    assert!(
        report.best_bound <= optimum + rounding,
        "seed {seed}: bound {} above {optimum}",
        report.best_bound
    );
    assert!(
        best.objective <= optimum + allowance(best.objective),
        "seed {seed}: {} above {optimum}",
        best.objective
    );
    // The list: right length, distinct, and nothing left out is below the bound that is claimed for the rest.
    let listed: Vec<_> = std::iter::once(best).chain(&report.others).collect();
    assert_eq!(listed.len(), parts.k_best.min(cells.len()), "seed {seed}");
    let mut leaves: Vec<_> = listed.iter().map(|i| parts.forest.active_leaves(&i.x)).collect();
    assert!(listed.windows(2).all(|w| w[0].objective <= w[1].objective), "seed {seed}");
    let worst = listed.last().unwrap().objective;
    if let Some(rest) = cells.iter().find(|c| !leaves.contains(&c.1)) {
        assert!(
            report.remaining_bound <= rest.0 + rounding,
            "seed {seed}: {} above {}",
            report.remaining_bound,
            rest.0
        );
        assert!(worst <= rest.0 + allowance(worst), "seed {seed}: listed {worst}, left out {}", rest.0);
    }
    leaves.sort();
    leaves.dedup();
    assert_eq!(leaves.len(), listed.len(), "seed {seed}");
    // The region is the whole set of points with the same leaves.
    let own = parts.forest.active_leaves(&best.x);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..20 {
        let x = random_point(&mut rng, &parts.domains);
        assert_eq!(best.region.contains(&x), parts.forest.active_leaves(&x) == own, "seed {seed}: {x:?}");
    }
}

#[test]
fn random_problems_agree_with_enumeration() {
    for seed in 0..3_000 {
        compare(seed);
    }
}

/// `LEAFGP_TWIN_FIRST=3000 LEAFGP_TWIN_COUNT=97000 cargo test --release -p leafgp-solver --test search_twin -- --ignored`
#[test]
#[ignore = "minutes"]
fn many_random_problems_agree_with_enumeration() {
    let setting = |name: &str, default| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let first: u64 = setting("LEAFGP_TWIN_FIRST", 3_000);
    for seed in first..first + setting("LEAFGP_TWIN_COUNT", 97_000) {
        compare(seed);
    }
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    for seed in 0..40 {
        let parts = random_parts(seed);
        let (one, three) = (solve(&parts, 1), solve(&parts, 3));
        assert_eq!(one.incumbent, three.incumbent);
        assert_eq!((one.best_bound, one.nodes, one.others), (three.best_bound, three.nodes, three.others));
    }
}
