//! The search against plain enumeration of all cells, on seeded random problems.

mod support;

use leafgp_solver::{Node, Range, Report, Rule, SearchOptions, Status, StopReason, minimize};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use support::random::{Parts, random_parts, random_point};

/// Allowed values of a variable that meet every cell: both ends of every piece between thresholds and ends of excluded regions.
fn values_of(parts: &Parts, feature: usize) -> Vec<f64> {
    let domain = &parts.domains[feature];
    if let Some(levels) = domain.levels() {
        return (0..levels).map(|l| l as f64).collect();
    }
    let mut edges = vec![];
    for tree in parts.forest.trees() {
        for node in &tree.nodes {
            match node {
                Node::Split { feature: f, rule: Rule::Threshold(t), .. } if *f == feature => edges.push(*t),
                _ => {}
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
    let problem = parts.problem();
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
