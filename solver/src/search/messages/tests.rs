//! Messages against the definition: sums over items and cells, one at a time.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Messages, bound_segments, charge};
use crate::search::blocks::Blocks;
use crate::search::cell_set::cells_in;
use crate::search::filter::{Changed, Filter};
use crate::search::index::{BlockId, CellId, ClassId, FeatureId, IdVec, LinkedId, Position};
use crate::search::kernels::Kernels;
use crate::search::links::{Link, LinkedFeature, Links};
use crate::search::model::Model;
use crate::search::multipliers::Multipliers;
use crate::search::node::Node;
use crate::search::pieces;
use crate::search::small::Small;
use crate::{Domain, Forest, LeafObjective, Node as TreeNode, Problem, Rule, Tree};

const ROUNDING: f64 = 1e-12;

/// Calls `check` with filtered nodes of small problems, their links, and random costs of their items with messages that are still 0.
fn for_each_node(mut check: impl FnMut(&Model<'_>, &Node, &Links, Messages, &mut ChaCha8Rng)) {
    for seed in 0..300 {
        let small = Small::random(seed);
        let problem = small.problem();
        let Some(model) = Model::new(&problem) else { continue };
        let mut node = Node::default();
        node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
        if !Filter::default().run(&model, &mut node, Changed::Everything) {
            continue;
        }
        let mut links = Links::default();
        links.build(&model, &node.cells, &node.blocks);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let reduced = node.blocks.items.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut messages = Messages { reduced, ..Messages::default() };
        messages.clear(&links);
        check(&model, &node, &links, messages, &mut rng);
    }
}

/// True when the item allows the cell of the variable.
fn allows(model: &Model<'_>, blocks: &Blocks, position: Position, feature: FeatureId, cell: CellId) -> bool {
    let restrictions = model.restrictions(blocks.items[position]);
    let mask = restrictions.iter().find(|r| r.feature == feature).map(|r| model.mask(r.mask));
    mask.is_none_or(|mask| mask.holds(cell))
}

/// What the items of a block cost at a segment at least, before they pay for the variable's messages.
fn cheapest_at(
    model: &Model<'_>,
    links: &Links,
    linked: &LinkedFeature,
    (blocks, block): (&Blocks, BlockId),
    costs: impl Fn(Position) -> f64,
) -> Vec<f64> {
    let cheapest = |segment| {
        let cell = links.cells(segment)[0];
        let inside =
            blocks.block(block).into_iter().filter(|&i| allows(model, blocks, i, linked.feature, cell));
        inside.map(&costs).fold(f64::INFINITY, f64::min)
    };
    linked.segments.into_iter().map(cheapest).collect()
}

/// The items of a class of a link.
fn items_of(links: &Links, linked: &LinkedFeature, link: &Link, class: ClassId) -> Vec<Position> {
    if linked.by_piece() && link.free() == Some(class) {
        return links.free_items(link).collect();
    }
    links.members[links.classes[class].members].to_vec()
}

/// What each item pays for the messages of one variable, less what its block pays.
fn paid(
    links: &Links,
    linked: &LinkedFeature,
    values: &IdVec<ClassId, f64>,
    n: usize,
) -> IdVec<Position, f64> {
    let mut paid = IdVec::from(vec![0.0; n]);
    let members = linked.members;
    for (&position, &class) in links.members[members].iter().zip(&links.member_class[members]) {
        paid[position] = values[class];
    }
    paid
}

fn exchange(links: &Links, number: LinkedId, messages: &mut Messages) {
    let linked = &links.features[number];
    if linked.by_piece() {
        messages.whole[number] = pieces::exchange(links, linked, messages);
    } else {
        super::exchange(links, linked, messages);
    }
}

/// What messages make of the sum of the blocks' cheapest items.
fn bound(messages: &mut Messages, blocks: &Blocks) -> f64 {
    messages.sum_of_minima(blocks) - messages.paid_by_blocks()
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= ROUNDING * (1.0 + a.abs())
}

#[test]
fn an_exchange_reaches_the_best_bound_that_its_variable_allows() {
    let (mut exchanges, mut gained) = (0, 0);
    for_each_node(|model, node, links, mut messages, _| {
        let costs = messages.reduced.clone();
        let blocks = &node.blocks;
        for _ in 0..3 {
            let features = links.features.ids().into_iter().zip(&links.features);
            for (number, linked) in features.filter(|(_, linked)| linked.ties()) {
                let before = bound(&mut messages, blocks);
                let paid = paid(links, linked, &messages.values, blocks.n_items());
                let tied = &links.links[linked.links];
                let rows = tied.iter().map(|link| {
                    let cost = |i: Position| messages.reduced[i] + paid[i];
                    cheapest_at(model, links, linked, (blocks, link.block), cost)
                });
                let mut sums = vec![0.0; linked.n_segments()];
                rows.for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, cost)| *sum += cost));
                let others = blocks.ids().into_iter().filter(|&b| tied.iter().all(|link| link.block != b));
                let best = sums.iter().copied().fold(f64::INFINITY, f64::min)
                    + others.map(|b| messages.block_min[b]).sum::<f64>()
                    - (messages.paid_by_blocks() - messages.whole[number].sum);

                exchange(links, number, &mut messages);
                let after = bound(&mut messages, blocks);
                assert!(close(after, best), "{after} instead of {best}, before {before}");
                assert!(after >= before - ROUNDING);
                exchanges += 1;
                gained += usize::from(after > before + 1e-6);

                // The messages of a segment cancel out, and a second exchange has nothing to do. Rows by piece hold the best messages of each piece only.
                let stride = messages.table.len() / tied.len();
                for segment in (0..linked.n_segments()).filter(|_| !linked.by_piece()) {
                    let sum: f64 = messages.table.chunks_exact(stride).map(|row| row[segment]).sum();
                    assert!(sum.abs() <= ROUNDING, "messages sum to {sum}");
                }
                let values = messages.values.clone();
                exchange(links, number, &mut messages);
                assert!(values.iter().zip(&messages.values).all(|(&a, &b)| close(a, b)));
            }
        }
        // What is left of the costs is what the items do not pay.
        let mut left = costs;
        charge(links, &messages.values, &mut left);
        assert!(left.iter().zip(&messages.reduced).all(|(&a, &b)| close(a, b)));
    });
    assert!(exchanges > 1_000 && gained > 200, "{exchanges} exchanges, {gained} with a gain");
}

#[test]
fn messages_keep_the_cost_of_every_point_or_lower_it() {
    let (mut kept, mut lowered) = (0, 0);
    for_each_node(|model, node, links, mut messages, rng| {
        let costs = messages.reduced.clone();
        for _ in 0..4 {
            messages.sweep(Kernels::new(), links);
        }
        for _ in 0..20 {
            // One cell of each variable of the box, and the item of each block there.
            let cell = |f| {
                let cells: Vec<_> = cells_in(&node.cells[model.cells.words(f)]).collect();
                cells[rng.random_range(0..cells.len())]
            };
            let point: IdVec<FeatureId, CellId> = model.cells.features().into_iter().map(cell).collect();
            let here = |i: Position| {
                let mut features = model.cells.features().into_iter();
                features.all(|f| allows(model, &node.blocks, i, f, point[f]))
            };
            let items: Option<Vec<Position>> =
                node.blocks.spans.parts().map(|block| block.into_iter().find(|&i| here(i))).collect();
            let Some(items) = items else { continue };
            let sum = |costs: &IdVec<Position, f64>| items.iter().map(|&i| costs[i]).sum::<f64>();
            let (before, after) = (sum(&costs), sum(&messages.reduced) - messages.paid_by_blocks());
            assert!(after <= before + ROUNDING, "{after} after messages, {before} before");
            // Items on one segment of every variable pay that segment's messages, which cancel out.
            let tied = links.features.iter().filter(|linked| linked.ties());
            let on_one = |class: ClassId| {
                let runs = links.runs_of(class);
                runs.len() == 1 && runs[0].len() == 1
            };
            let exact = tied
                .flat_map(|linked| links.links[linked.links].iter().map(move |l| (linked, l)))
                .all(|(linked, link)| {
                    let has_item = |&class: &ClassId| {
                        items_of(links, linked, link, class).iter().any(|i| items.contains(i))
                    };
                    link.all_classes().into_iter().filter(has_item).all(on_one)
                });
            if exact {
                assert!(close(before, after), "{after} after messages, {before} before");
                kept += 1;
            }
            lowered += usize::from(after < before - 1e-6);
        }
    });
    assert!(kept > 50 && lowered > 1_000, "{kept} kept, {lowered} lowered");
}

#[test]
fn segments_are_bounded_by_the_cheapest_items_that_touch_them() {
    let mut segments = 0;
    for_each_node(|model, node, links, mut messages, _| {
        messages.sweep(Kernels::new(), links);
        let bound = messages.sum_of_minima(&node.blocks);
        bound_segments(Kernels::new(), links, bound, &mut messages);
        for linked in &links.features {
            let mut expected = vec![bound; linked.n_segments()];
            for link in &links.links[linked.links] {
                let cost = |i: Position| messages.reduced[i];
                let row = cheapest_at(model, links, linked, (&node.blocks, link.block), cost);
                let min = messages.block_min[link.block];
                expected.iter_mut().zip(row).for_each(|(sum, cost)| *sum += cost - min);
            }
            let got = &messages.segment_bound[linked.segments];
            assert!(expected.iter().zip(got).all(|(&a, &b)| close(a, b)), "{got:?} instead of {expected:?}");
            segments += expected.len();
        }
    });
    assert!(segments > 1_000);
}

#[test]
fn a_node_gets_back_the_messages_that_it_kept() {
    for_each_node(|model, node, links, mut messages, _| {
        messages.sweep(Kernels::new(), links);
        let (mut multipliers, mut starts) = (Multipliers::default(), IdVec::default());
        multipliers.keep(model, links, &node.blocks, &messages.values, &mut starts);
        let mut values = IdVec::from(vec![0.0; links.classes.len()]);
        multipliers.load(model, links, &node.blocks, &mut values, &mut starts);
        let single = messages.values.iter().map(|&value| f64::from(value as f32));
        assert!(values.iter().zip(single).all(|(&a, b)| a == b));
    });
}

/// Sweeps by piece and by segment, and compares all that comes of them; returns the number of variables with pieces.
fn compare_rows(
    model: &Model<'_>,
    node: &Node,
    links: &Links,
    mut messages: Messages,
    sweeps: usize,
) -> usize {
    let mut model = Model::new(model.problem).unwrap();
    model.by_piece = false;
    let mut dense_links = Links::default();
    dense_links.build(&model, &node.cells, &node.blocks);
    let mut dense = Messages { reduced: messages.reduced.clone(), ..Messages::default() };
    dense.clear(&dense_links);
    for _ in 0..sweeps {
        messages.sweep(Kernels::new(), links);
        dense.sweep(Kernels::new(), &dense_links);
    }
    let proved = bound(&mut messages, &node.blocks);
    assert!(close(proved, bound(&mut dense, &node.blocks)));
    bound_segments(Kernels::new(), links, proved, &mut messages);
    bound_segments(Kernels::new(), &dense_links, proved, &mut dense);
    let same = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| close(a, b));
    assert_eq!(messages.values.len(), dense.values.len());
    for linked in &links.features {
        for link in &links.links[linked.links] {
            // What all items of a block pay may differ.
            let one = link.free().unwrap_or(link.classes.first);
            assert!(!linked.by_piece() || link.free().is_none() || messages.values[one] == 0.0);
            for class in link.all_classes() {
                let [above, dense_above] = [&messages, &dense].map(|m| m.values[class] - m.values[one]);
                assert!(close(above, dense_above));
            }
        }
    }
    for block in node.blocks.spans.parts() {
        let above = |costs: &[f64]| -> Vec<f64> {
            let min = costs.iter().copied().fold(f64::INFINITY, f64::min);
            costs.iter().map(|cost| cost - min).collect()
        };
        assert!(same(&above(&messages.reduced[block]), &above(&dense.reduced[block])));
    }
    assert!(same(messages.segment_bound.as_slice(), dense.segment_bound.as_slice()));
    links.features.iter().filter(|linked| linked.by_piece()).count()
}

#[test]
fn rows_by_piece_are_rows_by_segment() {
    let mut compared = 0;
    for_each_node(|model, node, links, messages, rng| {
        if model.by_piece {
            compared += compare_rows(model, node, links, messages, rng.random_range(0..4));
        }
    });
    assert!(compared > 200, "{compared} variables");
}

/// A tree of `n` leaves that splits off one end of what is left at a time, of the first variable twice as often as of the second.
fn comb(n: usize, offset: f64) -> Tree {
    let mut nodes = Vec::new();
    for k in 0..n - 1 {
        let rule = Rule::Threshold((k as f64 + offset) / n as f64);
        nodes.push(TreeNode::Split {
            feature: usize::from(k % 3 == 2),
            rule,
            left: 2 * k + 1,
            right: 2 * k + 2,
        });
        nodes.push(TreeNode::Leaf { leaf: k, value: 0.0 });
    }
    nodes.push(TreeNode::Leaf { leaf: n - 1, value: 0.0 });
    Tree { nodes }
}

#[test]
fn rows_of_more_pieces_than_a_word_has_bits_are_rows_by_segment() {
    let domains = vec![Domain::Continuous { lower: 0.0, upper: 1.0 }; 2];
    let trees = (0..6).map(|t| comb([40, 97, 98, 150, 200, 64][t], 0.1 + 0.13 * t as f64)).collect();
    let forest = Forest::new(trees, &domains).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let linear: Vec<f64> = (0..forest.n_leaves()).map(|_| rng.random_range(-1.0..1.0)).collect();
    let objective = LeafObjective { constant: 0.0, linear, quadratic: None };
    let problem = Problem::new(&domains, &forest, &objective);
    let model = Model::new(&problem).unwrap();
    let mut node = Node::default();
    node.build(&model, &model.cells.full(), f64::NEG_INFINITY, &[]);
    assert!(Filter::default().run(&model, &mut node, Changed::Everything));
    let mut links = Links::default();
    links.build(&model, &node.cells, &node.blocks);
    let most = links.links.iter().map(|link| link.pieces.len()).max().unwrap();
    assert!(most > 128, "{most} pieces at most");
    for sweeps in [1, 5] {
        let reduced = node.blocks.items.iter().map(|&item| model.cost[item]).collect();
        let mut messages = Messages { reduced, ..Messages::default() };
        messages.clear(&links);
        assert_eq!(compare_rows(&model, &node, &links, messages, sweeps), 2);
    }
}
