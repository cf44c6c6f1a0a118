//! Moves against a list of all cells of the moved variables.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use leafgp_constraints::Limits;

use super::{Moves, Reach};
use crate::search::index::{CellId, FeatureId, IdVec, Span};
use crate::search::local::{Neighbours, random_cells, realise};
use crate::search::model::Model;
use crate::search::small::{Small, allowed_points, best_in};

/// The objective at the given cells.
fn value(model: &Model<'_>, cells: &IdVec<FeatureId, CellId>) -> f64 {
    model.trees.ids().into_iter().map(|t| model.cost[model.descend(t, cells)]).sum()
}

/// Every choice of cells of the moved variables, the others as given.
fn listed(
    model: &Model<'_>,
    cells: &IdVec<FeatureId, CellId>,
    moved: &[FeatureId],
) -> Vec<IdVec<FeatureId, CellId>> {
    let mut all = vec![cells.clone()];
    for &f in moved {
        let each = |cells: &IdVec<FeatureId, CellId>| {
            let with = |cell| {
                let mut cells = cells.clone();
                cells[f] = cell;
                cells
            };
            Span::up_to(model.cells.feature(f).len()).into_iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

#[test]
fn a_move_finds_the_best_of_all_cells_of_its_variables() {
    let (mut moves, mut triples, mut restricted) = (0, 0, 0);
    for seed in 0..400 {
        let small = Small::random(seed);
        let problem = small.problem();
        let Some(model) = Model::new(&problem) else { continue };
        if !Moves::fit(&model) {
            continue;
        }
        let neighbours = Neighbours::new(&model);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = model.n_features();
        for _ in 0..4 {
            let mut order: Vec<FeatureId> = model.cells.features().into_iter().collect();
            let first = rng.random_range(0..n);
            order.rotate_left(first);
            let moved = &order[..rng.random_range(1..=n.min(3))];
            if moved.iter().all(|&f| neighbours.trees_of(f).is_empty()) {
                continue;
            }
            let start = random_cells(&model, &mut rng);
            let mut search = Moves { cells: start.clone(), ..Moves::default() };
            assert!(search.look(&model, &neighbours, moved, usize::MAX, true));
            let rest: f64 = {
                let concerned: Vec<_> = moved.iter().flat_map(|&f| neighbours.trees_of(f)).collect();
                let others = model.trees.ids().into_iter().filter(|t| !concerned.contains(&t));
                others.map(|t| model.cost[model.descend(t, &start)]).sum()
            };
            // Every entry is the objective at its cells, and the first is the lowest of all.
            for &(entry, cells) in &search.lowest {
                let mut at = start.clone();
                moved.iter().zip(cells).for_each(|(&f, cell)| at[f] = cell);
                assert!((entry + rest - value(&model, &at)).abs() < 1e-12, "seed {seed}");
            }
            let all = listed(&model, &start, moved);
            let lowest = all.iter().map(|cells| value(&model, cells)).fold(f64::INFINITY, f64::min);
            assert!((search.lowest[0].0 + rest - lowest).abs() < 1e-12, "seed {seed}: {moved:?}");

            // A step never ends at a forbidden point or a worse one, and without restrictions at the best.
            let limits = Limits::default();
            let before = realise(&model, &start, &limits);
            let mut best = before.clone();
            let improved = search.step(&model, &neighbours, moved, &mut best, &limits);
            assert_eq!(improved, best != before, "seed {seed}");
            if let Some(found) = &best {
                assert!(problem.allows(&found.x));
                assert!(before.is_none_or(|before| found.objective <= before.objective));
                if !model.is_restricted() {
                    assert!(found.objective - model.constant <= lowest + 1e-9);
                }
            }
            moves += 1;
            triples += usize::from(moved.len() == 3);
            restricted += usize::from(model.is_restricted() && improved);
        }
    }
    assert!(moves > 300 && triples > 50 && restricted > 50, "{moves} moves, {triples}, {restricted}");
}

#[test]
fn chains_end_at_allowed_points_and_mostly_at_the_best() {
    let (mut chains, mut optimal) = (0, 0);
    for seed in 0..400 {
        let small = Small::random(seed);
        let problem = small.problem();
        let Some(model) = Model::new(&problem) else { continue };
        if !Moves::fit(&model) {
            continue;
        }
        let neighbours = Neighbours::new(&model);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let start = random_cells(&model, &mut rng);
        let limits = Limits::default();
        let found =
            Moves::default().chain(&model, &neighbours, start, (6, Reach::Triples), &limits, &mut rng);
        let optimum = best_in(&model, &allowed_points(&model), &model.cells.full());
        chains += 1;
        if let Some(found) = found {
            assert!(problem.allows(&found.x) && found.objective >= optimum);
            optimal += usize::from(found.objective == optimum);
        }
    }
    assert!(chains > 80 && 10 * optimal > 8 * chains, "{optimal} of {chains}");
}
