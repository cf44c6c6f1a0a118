//! The search of small problems, node by node, against a list of all points.

use super::{Context, Outcome, Verdict, Worker};
use crate::search::filter::Changed;
use crate::search::index::{BlockId, Position};
use crate::search::local::Neighbours;
use crate::search::model::Model;
use crate::search::node::{Node, OpenNode};
use crate::search::options::SearchOptions;
use crate::search::pool::{Pool, Undecided};
use crate::search::small::{Point, Small, allowed_points, best_in};

/// Rounding of values of the size of 1 over a few trees; bounds state their own.
const ROUNDING: f64 = 1e-12;

/// Counts of what a walk has seen, so that no claim is made about nothing.
#[derive(Debug, Default)]
struct Seen {
    branched: usize,
    closed: usize,
    removed: usize,
    displaced: usize,
}

/// Walks the whole tree of a small problem, without pruning before a node is processed, and holds every claim against the list of points.
fn walk(seed: u64, allowance: f64, seen: &mut Seen) {
    let small = Small::random(seed);
    let problem = small.problem();
    let Some(model) = Model::new(&problem) else { return };
    let points = allowed_points(&model);
    let optimum = best_in(&model, &points, &model.cells.full());
    let options = SearchOptions {
        gap: 0.0,
        absolute_gap: 0.0,
        local_search: false,
        objective_cutoff: optimum + allowance,
        ..SearchOptions::default()
    };
    let neighbours = Neighbours::new(&model);
    let context = Context { model: &model, neighbours: &neighbours, options: &options, deadline: None };
    let mut worker = Worker::default();
    let mut outcome = Outcome {
        open: Vec::new(),
        pool: Pool::new(1, model.problem.cell_trees()),
        undecided: Undecided::default(),
        nodes: 0,
    };
    worker.open(&model, OpenNode::root(&model, f64::NEG_INFINITY));
    while let Some((mut node, split)) = worker.stack.pop() {
        let (bound, cells) = (node.bound, node.cells.clone());
        let changed = match split {
            None => Changed::Everything,
            Some(feature) => {
                worker.filter.mark(&model, feature);
                Changed::Marked
            }
        };
        let verdict = worker.process(&context, &mut node, changed, None, 0, &mut outcome);
        let cutoff = context.cutoff(&outcome.pool);
        match verdict {
            Verdict::Closed => {
                seen.closed += 1;
                let best = best_in(&model, &points, &cells);
                assert!(best >= cutoff - ROUNDING, "seed {seed}: {best} was closed below {cutoff}");
            }
            Verdict::Branch => {
                seen.branched += 1;
                assert!(node.bound >= bound, "seed {seed}: {} below its parent's {bound}", node.bound);
                // Points at or above the cutoff do not matter: their items may be gone though their cells are not.
                let is_bound = |bound: f64, cells: &[u64]| {
                    let best = best_in(&model, &points, cells);
                    assert!(bound <= best + ROUNDING || best >= cutoff, "seed {seed}: {bound} above {best}");
                };
                is_bound(node.bound, &node.cells);
                for point in points.iter().filter(|point| point.is_in(&model, &cells)) {
                    let kept = keeps(&model, &node, point);
                    assert!(kept || point.value >= cutoff - ROUNDING, "seed {seed}: {point:?} was removed");
                    seen.removed += usize::from(!kept);
                }
                compare_split(&model, &worker, &node, seed, seen);
                let (bound, first) = (node.bound, worker.stack.len());
                let parent = node.cells.clone();
                worker.push_children(&model, node);
                for (child, _) in &worker.stack[first..] {
                    assert!(child.bound >= bound, "seed {seed}: {} below its parent's {bound}", child.bound);
                    is_bound(child.bound, &child.cells);
                }
                let [(a, split), (b, _)] = &worker.stack[first..] else { panic!("two children") };
                let split = model.cells.words(split.expect("children of a split"));
                for (w, &parent) in parent.iter().enumerate() {
                    let both = if split.contains(&w) { 0 } else { parent };
                    let (a, b) = (a.cells[w], b.cells[w]);
                    assert_eq!((a | b, a & b), (parent, both), "seed {seed}");
                }
            }
        }
    }
    assert_eq!(outcome.undecided.count, 0, "seed {seed}");
    let found = outcome.pool.found.first().map_or(f64::INFINITY, |found| found.objective);
    assert_eq!(found, optimum, "seed {seed}");
}

/// True when the node still holds the point: its cells, and its item of every open block.
fn keeps(model: &Model<'_>, node: &Node, point: &Point) -> bool {
    let holds_item = |block: BlockId| {
        let items = &node.blocks.items[node.blocks.block(block)];
        items.iter().any(|&item| {
            let tree = model.tree_of(item);
            // Pieces around an exclusion belong to no tree of the forest; the point's cells say enough.
            tree >= model.trees.next_id() || model.descend(tree, &point.cells) == item
        })
    };
    point.is_in(model, &node.cells) && node.blocks.ids().into_iter().all(holds_item)
}

/// The gains and estimates of the chosen split, from their definitions.
fn compare_split(model: &Model<'_>, worker: &Worker, node: &Node, seed: u64, seen: &mut Seen) {
    let split = &worker.branching.split;
    let words = model.cells.words(split.feature);
    let touches = |position: Position, cells: &[u64]| {
        let restrictions = model.restrictions(worker.old_blocks.items[position]);
        let mask = restrictions.iter().find(|r| r.feature == split.feature).map(|r| model.mask(r.mask));
        mask.is_none_or(|mask| mask.overlaps(cells))
    };
    let all = &node.cells[words];
    let left: Vec<u64> = all.iter().zip(&split.left).map(|(a, l)| a & l).collect();
    let right: Vec<u64> = all.iter().zip(&split.left).map(|(a, l)| a & !l).collect();
    let (g, z) = (&worker.dual.guide, &worker.old_z);
    for (side, cells) in [left, right].iter().enumerate() {
        let mut gain = 0.0;
        let mut displacement = vec![0.0; model.stride()];
        let mut moved = |weight: f64, position: Position| {
            let row = model.vector(worker.old_blocks.items[position]);
            displacement.iter_mut().zip(row).for_each(|(d, v)| *d += weight * v);
        };
        for block in worker.old_blocks.spans.parts() {
            let cheapest = |cells: &[u64]| {
                let inside = block.into_iter().filter(|&i| touches(i, cells));
                inside.min_by(|&a, &b| g[a].total_cmp(&g[b]))
            };
            let (best, heir) = (cheapest(all), cheapest(cells));
            let cost = |position: Option<Position>| position.map_or(f64::INFINITY, |i| g[i]);
            gain += cost(heir) - cost(best);
            let (stay, go): (Vec<_>, Vec<_>) = block.into_iter().partition(|&i| touches(i, cells));
            let lost: f64 = go.iter().map(|&i| z[i]).sum();
            if lost < 1e-9 {
                continue;
            }
            go.iter().for_each(|&i| moved(-z[i], i));
            if 1.0 - lost > 1e-6 {
                stay.iter().for_each(|&i| moved(z[i] * lost / (1.0 - lost), i));
            } else if let Some(heir) = heir {
                moved(lost, heir);
            }
        }
        let length_sq: f64 = displacement.iter().map(|d| d * d).sum();
        let curved = 0.5 * worker.dual.curvature * length_sq;
        seen.displaced += usize::from(curved > 1e-3);
        let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        let expected = [worker.dual.guide_bound + gain, gain + curved];
        let got = [split.gains[side], split.estimates[side]];
        assert!(
            close(expected[0], got[0]) && close(expected[1], got[1]),
            "seed {seed}: {got:?}, {expected:?}"
        );
    }
}

#[test]
fn nodes_are_bounded_by_their_points_and_keep_those_below_the_cutoff() {
    let mut seen = Seen::default();
    for seed in 0..400 {
        for allowance in [f64::INFINITY, 0.3, 1e-3] {
            walk(seed, allowance, &mut seen);
        }
    }
    let Seen { branched, closed, removed, displaced } = seen;
    assert!(branched > 1_000 && closed > 2_000 && removed > 5_000 && displaced > 1_000, "{seen:?}");
}
