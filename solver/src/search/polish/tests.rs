//! Polished messages against sums over items and segments, and against lists of points.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Soft, polished_root};
use crate::objective::LeafObjective;
use crate::search::dual::Dual;
use crate::search::filter::{Changed, Filter};
use crate::search::index::{ClassId, IdVec, Position};
use crate::search::links::{LinkedFeature, Links};
use crate::search::messages::Messages;
use crate::search::model::Model;
use crate::search::node::Node;
use crate::search::pieces;
use crate::search::small::{Small, allowed_points, best_in};
use crate::search::{Problem, SearchOptions, Status, minimize};
use crate::testing::{crossing_trees, wave};

/// What is left out of soft sums, and rounding.
const ROUNDING: f64 = 1e-9;

/// Calls `check` with the links of filtered roots of small problems whose rows are kept by piece, and random costs of their items.
fn for_each_root(mut check: impl FnMut(&Links, Messages)) {
    for seed in 0..200 {
        let small = Small::random(seed);
        let problem = small.problem();
        let Some(model) = Model::new(&problem).filter(|model| model.by_piece) else { continue };
        let (mut node, mut links) = (Node::default(), Links::default());
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        if !Filter::default().run(&model, &mut node, Changed::Everything) {
            continue;
        }
        links.build(&model, &node.cells, &node.blocks);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let reduced = node.blocks.items.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut messages = Messages { reduced, ..Messages::default() };
        messages.clear(&links);
        check(&links, messages);
    }
}

fn soft_minimum(values: impl Iterator<Item = f64>, t: f64) -> f64 {
    -t * values.map(|x| (-x / t).exp()).sum::<f64>().ln()
}

/// The new values of a variable's classes by the definition, segment by segment.
fn plain_exchange(
    links: &Links,
    linked: &LinkedFeature,
    costs: &IdVec<Position, f64>,
    values: &IdVec<ClassId, f64>,
    t: f64,
) -> Vec<(ClassId, f64)> {
    let n = linked.n_segments();
    let covers = |class: ClassId, segment: usize| {
        links.runs_of(class).iter().any(|run| run.range().contains(&segment))
    };
    let members = |link: &crate::search::links::Link, class: ClassId| -> Vec<Position> {
        let is_free = link.free() == Some(class);
        let members = &links.members[links.classes[class].members];
        if is_free { links.free_items(link).collect() } else { members.to_vec() }
    };
    let tied = &links.links[linked.links];
    let row = |link: &crate::search::links::Link| -> Vec<f64> {
        let at = |segment: usize| {
            let classes: Vec<ClassId> =
                link.all_classes().into_iter().filter(|&k| covers(k, segment)).collect();
            let items =
                classes.iter().flat_map(|&k| members(link, k).into_iter().map(move |i| costs[i] + values[k]));
            if classes.is_empty() { 0.0 } else { soft_minimum(items, t) }
        };
        (0..n).map(at).collect()
    };
    let rows: Vec<Vec<f64>> = tied.iter().map(row).collect();
    let mean = |segment: usize| rows.iter().map(|row| row[segment]).sum::<f64>() / rows.len() as f64;
    let mut all = Vec::new();
    for (link, row) in tied.iter().zip(&rows) {
        for k in link.all_classes() {
            let on = (0..n).filter(|&segment| covers(k, segment));
            all.push((k, -soft_minimum(on.map(|segment| mean(segment) - row[segment]), t)));
        }
    }
    all
}

/// Two runs that overlap count what they share twice: values are up to `t log 2` too high, and nothing else.
#[test]
fn soft_exchanges_follow_their_definition() {
    let (mut classes, mut exact) = (0, 0);
    for_each_root(|links, start| {
        for t in [0.03, 0.3, 3.0] {
            let mut messages = Messages {
                reduced: start.reduced.clone(),
                values: start.values.clone(),
                ..Messages::default()
            };
            messages.clear(links);
            let mut soft = Soft::default();
            for linked in links.features.iter().filter(|linked| linked.ties() && linked.by_piece()) {
                for _ in 0..2 {
                    let expected = plain_exchange(links, linked, &messages.reduced, &messages.values, t);
                    let whole = soft.exchange(links, linked, &mut messages, t);
                    let value_of = |class| expected.iter().find(|(k, _)| *k == class).unwrap().1;
                    let allowed = t * std::f64::consts::LN_2 + ROUNDING;
                    let mut by_blocks = 0.0;
                    for link in &links.links[linked.links] {
                        // Where items are free, the block pays for them, and that may be too much as well.
                        let free = link.free().map(value_of);
                        by_blocks += free.unwrap_or(0.0);
                        let least = if free.is_some() { -allowed } else { -ROUNDING };
                        for class in link.classes {
                            let excess = messages.values[class] - (value_of(class) - free.unwrap_or(0.0));
                            assert!(excess >= least && excess <= allowed, "{excess} at temperature {t}");
                            classes += 1;
                            exact += usize::from(excess.abs() <= ROUNDING);
                        }
                    }
                    let excess = whole.sum - by_blocks;
                    let n = linked.links.len() as f64;
                    assert!(excess >= -n * ROUNDING && excess <= n * allowed, "{excess} at temperature {t}");
                }
            }
        }
    });
    assert!(classes > 1_000 && exact > classes / 2, "{exact} of {classes} exact");
}

#[test]
fn without_temperature_a_soft_exchange_is_a_hard_one() {
    let mut exchanges = 0;
    for_each_root(|links, mut messages| {
        let mut hard = Messages { reduced: messages.reduced.clone(), ..Messages::default() };
        hard.clear(links);
        for linked in links.features.iter().filter(|linked| linked.ties() && linked.by_piece()) {
            let whole = Soft::default().exchange(links, linked, &mut messages, 1e-12);
            let hard_whole = pieces::exchange(links, linked, &mut hard);
            assert!((whole.sum - hard_whole.sum).abs() <= ROUNDING * linked.links.len() as f64);
            let pairs =
                messages.values.iter().zip(&hard.values).chain(messages.reduced.iter().zip(&hard.reduced));
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= ROUNDING));
            exchanges += 1;
        }
    });
    assert!(exchanges > 100, "{exchanges} exchanges");
}

/// The bound of a root from the messages that it has.
fn bound(model: &Model<'_>, node: &mut Node, cutoff: f64) -> f64 {
    let mut links = Links::default();
    links.build(model, &node.cells, &node.blocks);
    Dual::default().raise(model, &links, node, cutoff)
}

#[test]
fn polished_roots_bound_no_more_than_the_best_point() {
    let (mut roots, mut open) = (0, 0);
    for seed in 0..600 {
        let small = Small::random(seed);
        let problem = small.problem();
        let Some(model) = Model::new(&problem).filter(|model| model.deviation.is_none()) else { continue };
        let points = allowed_points(&model);
        let optimum = best_in(&model, &points, &model.cells.full());
        match polished_root(&model, f64::NEG_INFINITY, 1e9, &|| false) {
            None => assert!(points.is_empty(), "seed {seed}: points are lost"),
            Some(mut node) => {
                let bound = bound(&model, &mut node, 1e9).max(node.bound);
                assert!(bound <= optimum + 1e-12, "seed {seed}: {bound} above {optimum}");
                roots += 1;
                open += usize::from(bound < optimum - 1e-6);
            }
        }
    }
    assert!(roots > 50 && open > 10, "{roots} roots, {open} of them open");
}

/// A sum of trees that sweeps from nothing leave short of what they reach from polished messages.
fn linear_trees() -> (Vec<crate::Domain>, crate::Forest, LeafObjective) {
    let (domains, forest) = crossing_trees(120, 5, 31);
    let linear = (0..forest.n_leaves()).map(|k| wave(3 * k)).collect();
    (domains, forest, LeafObjective { constant: 0.0, linear, quadratic: None })
}

#[test]
fn polished_messages_bound_more_than_sweeps_from_nothing() {
    let (domains, forest, objective) = linear_trees();
    let problem = Problem::new(&domains, &forest, &objective);
    let model = Model::new(&problem).unwrap();
    let mut plain = Node::default();
    plain.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
    assert!(Filter::default().run(&model, &mut plain, Changed::Everything));
    let mut polished = polished_root(&model, f64::NEG_INFINITY, 0.0, &|| false).unwrap();
    let [plain, polished] = [&mut plain, &mut polished].map(|node| bound(&model, node, 0.0));
    assert!(polished > plain + 0.1, "{polished} after polish, {plain} without");
}

#[test]
fn a_polished_search_is_the_same_on_any_number_of_threads() {
    let (domains, forest, objective) = linear_trees();
    let problem = Problem::new(&domains, &forest, &objective);
    let [one, two] = [1, 2].map(|threads| {
        let report = minimize(&problem, &SearchOptions { threads, ..SearchOptions::default() }).unwrap();
        assert_eq!(report.status, Status::Optimal);
        let best = report.incumbent.unwrap();
        (best.x, best.objective, report.best_bound, report.nodes)
    });
    assert_eq!(one, two);
    assert!(one.3 > 10, "only {} nodes", one.3);
}
