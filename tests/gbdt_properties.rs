//! Properties every fit must have, on random tables.

use leafgp::Table;
use leafgp::gbdt::{
    Child, DecisionTree, Ensemble, GbdtError, GbdtModel, GbdtSettings, Objective, SplitRule, train,
    train_ensemble,
};
use leafgp::solver::Domain;
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// A table with two numeric columns (the second with few values), one category, and a target that depends on all.
struct Sample {
    x: Table,
    domains: Vec<Domain>,
    y: Vec<f64>,
}

const LEVELS: usize = 6;

fn sample(seed: u64, n_rows: usize) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut x = Table::new(3);
    let mut y = Vec::new();
    for _ in 0..n_rows {
        let row = [
            rng.random_range(-1.0..1.0),
            f64::from(rng.random_range(0..5)),
            rng.random_range(0..LEVELS) as f64,
        ];
        let value = (row[0] * 3.0).sin() + row[1] * 0.3 + (row[2] - 2.0).powi(2) * 0.2 + rng.random::<f64>();
        y.push(value);
        x.push(&row);
    }
    let domains = vec![
        Domain::Continuous { lower: -1.0, upper: 1.0 },
        Domain::Integer { lower: 0.0, upper: 4.0 },
        Domain::Categorical { levels: LEVELS },
    ];
    Sample { x, domains, y }
}

fn settings() -> GbdtSettings {
    GbdtSettings { n_trees: 12, min_data_in_bin: 1, cat_smooth: 2.0, ..GbdtSettings::default() }
}

fn fit(s: &Sample, settings: &GbdtSettings) -> GbdtModel {
    train(&s.x, &s.domains, &s.y, None, settings, 3).unwrap()
}

fn predictions(model: &GbdtModel, x: &Table) -> Vec<f64> {
    x.rows().map(|row| model.predict(row)).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs()))
}

/// Which rows share a leaf of a tree: per row the smallest row index of its leaf.
fn partition(tree: &DecisionTree, x: &Table) -> Vec<usize> {
    let leaves: Vec<usize> = x.rows().map(|row| tree.leaf_of(row)).collect();
    leaves.iter().map(|leaf| leaves.iter().position(|other| other == leaf).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn permuting_rows_changes_nothing_but_rounding(seed in 0u64..1000, n_rows in 5usize..120) {
        let s = sample(seed, n_rows);
        // Gains that differ by rounding alone may swap, so only substantial splits take part.
        let settings = GbdtSettings { min_gain_to_split: 1e-6, n_trees: 3, ..settings() };
        let model = fit(&s, &settings);
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed + 1));
        let mut x = Table::new(3);
        for &row in &order {
            x.push(s.x.row(row));
        }
        let y = order.iter().map(|&row| s.y[row]).collect();
        let permuted = fit(&Sample { x, domains: s.domains.clone(), y }, &settings);
        prop_assert!(close(&predictions(&model, &s.x), &predictions(&permuted, &s.x), 1e-6));
    }

    #[test]
    fn a_duplicated_row_equals_weight_two(seed in 0u64..1000, n_rows in 8usize..80, twice in 0usize..8) {
        let s = sample(seed, n_rows);
        let settings = GbdtSettings { n_trees: 3, min_gain_to_split: 1e-6, cat_smooth: 0.0, ..settings() };
        let mut weights = vec![1.0; n_rows];
        weights[twice] = 2.0;
        let weighted = train(&s.x, &s.domains, &s.y, Some(&weights), &settings, 3).unwrap();
        let (mut x, mut y) = (s.x.clone(), s.y.clone());
        x.push(s.x.row(twice));
        y.push(s.y[twice]);
        let duplicated = train(&x, &s.domains, &y, None, &settings, 3).unwrap();
        prop_assert!(close(&predictions(&weighted, &s.x), &predictions(&duplicated, &s.x), 1e-6));
    }

    #[test]
    fn a_monotone_transform_keeps_the_partition(seed in 0u64..1000, n_rows in 5usize..120) {
        let mut s = sample(seed, n_rows);
        let model = fit(&s, &settings());
        let original = s.x.clone();
        let mut x = Table::new(3);
        // Strictly increasing and sign preserving: zero has a bin of its own.
        for row in original.rows() {
            x.push(&[row[0].powi(3) * 100.0 + row[0], row[1].exp_m1(), row[2]]);
        }
        s.x = x;
        s.domains[0] = Domain::Continuous { lower: -101.0, upper: 101.0 };
        s.domains[1] = Domain::Continuous { lower: 0.0, upper: 60.0 };
        let transformed = fit(&s, &settings());
        prop_assert_eq!(model.forest.n_trees(), transformed.forest.n_trees());
        for (a, b) in model.ensemble.trees.iter().zip(&transformed.ensemble.trees) {
            prop_assert_eq!(partition(a, &original), partition(b, &s.x));
        }
        prop_assert_eq!(predictions(&model, &original), predictions(&transformed, &s.x));
    }

    #[test]
    fn relabelling_levels_changes_nothing(seed in 0u64..1000, n_rows in 20usize..160) {
        let mut s = sample(seed, n_rows);
        let settings = GbdtSettings { n_trees: 3, min_gain_to_split: 1e-6, ..settings() };
        let model = fit(&s, &settings);
        let original = s.x.clone();
        let mut labels: Vec<f64> = (0..LEVELS).map(|l| l as f64).collect();
        labels.shuffle(&mut ChaCha8Rng::seed_from_u64(seed + 7));
        let mut x = Table::new(3);
        for row in original.rows() {
            x.push(&[row[0], row[1], labels[row[2] as usize]]);
        }
        s.x = x;
        let relabelled = fit(&s, &settings);
        prop_assert!(close(&predictions(&model, &original), &predictions(&relabelled, &s.x), 1e-6));
    }

    #[test]
    fn thresholds_lie_strictly_between_training_values(seed in 0u64..1000, n_rows in 5usize..120) {
        let s = sample(seed, n_rows);
        let model = fit(&s, &GbdtSettings { min_data_in_bin: 3, ..settings() });
        for split in model.ensemble.trees.iter().flat_map(|tree| &tree.splits) {
            if let SplitRule::Threshold { threshold, .. } = split.rule {
                let values: Vec<f64> = s.x.rows().map(|row| row[split.feature]).collect();
                let below = values.iter().copied().filter(|&v| v <= threshold).fold(f64::MIN, f64::max);
                let above = values.iter().copied().filter(|&v| v > threshold).fold(f64::MAX, f64::min);
                prop_assert_eq!(threshold, (below + above) / 2.0);
            }
        }
    }

    #[test]
    fn counts_and_limits_hold_in_every_node(seed in 0u64..1000, n_rows in 5usize..150, min_data in 1usize..20) {
        let s = sample(seed, n_rows);
        let settings = GbdtSettings { min_data_in_leaf: min_data, num_leaves: 6, max_depth: 4, ..settings() };
        let model = fit(&s, &settings);
        for tree in &model.ensemble.trees {
            prop_assert!(tree.leaves.len() <= 6);
            prop_assert_eq!(tree.leaves.iter().map(|leaf| leaf.count).sum::<usize>(), n_rows);
            for leaf in 0..tree.leaves.len() {
                let rows = s.x.rows().filter(|row| tree.leaf_of(row) == leaf).count();
                prop_assert_eq!(rows, tree.leaves[leaf].count);
                prop_assert!(tree.splits.is_empty() || rows >= min_data);
            }
            prop_assert!(depth(tree, Child::Split(0)) <= 4);
        }
    }
}

fn depth(tree: &DecisionTree, at: Child) -> usize {
    match at {
        Child::Split(index) if index < tree.splits.len() => {
            1 + depth(tree, tree.splits[index].left).max(depth(tree, tree.splits[index].right))
        }
        _ => 0,
    }
}

/// A big enough table for every parallel path: more rows than a histogram block, a wide and several narrow features.
fn large(n_rows: usize) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut x = Table::new(7);
    let mut y = Vec::new();
    for _ in 0..n_rows {
        let mut row = [0.0; 7];
        for value in &mut row[..6] {
            *value = rng.random_range(-1.0..1.0);
        }
        row[6] = rng.random_range(0..20) as f64;
        y.push((row[0] * 5.0).sin() + row[1] * row[2] + (row[6] - 9.0).abs() * 0.1 + rng.random::<f64>());
        x.push(&row);
    }
    let mut domains = vec![Domain::Continuous { lower: -1.0, upper: 1.0 }; 6];
    domains.push(Domain::Categorical { levels: 20 });
    Sample { x, domains, y }
}

#[test]
fn one_to_eight_threads_give_the_same_model() {
    let s = large(150_000);
    let weights: Vec<f64> = (0..s.y.len()).map(|i| 0.5 + (i % 3) as f64).collect();
    let base = GbdtSettings { n_trees: 3, ..GbdtSettings::lightgbm() };
    let random = GbdtSettings {
        bagging_fraction: 0.7,
        bagging_freq: 1,
        feature_fraction: 0.8,
        extra_trees: true,
        early_stopping_round: 2,
        max_bin: 1000,
        ..base.clone()
    };
    for (settings, weights) in [(base, None), (random, Some(&weights[..]))] {
        let mut models = [1, 2, 3, 4, 5, 6, 7, 8].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| train(&s.x, &s.domains, &s.y, weights, &settings, 11)).unwrap()
        });
        let first = models[0].clone();
        assert!(first.forest.n_leaves() > 20);
        assert!(models.iter_mut().all(|model| *model == first));
    }
}

#[test]
fn seeds_matter_only_to_random_settings() {
    let s = sample(1, 100);
    let by_seed =
        |settings: &GbdtSettings, seed| train(&s.x, &s.domains, &s.y, None, settings, seed).unwrap();
    assert_eq!(by_seed(&settings(), 1), by_seed(&settings(), 2));
    let changes: [fn(&mut GbdtSettings); 3] = [
        |s| (s.bagging_fraction, s.bagging_freq) = (0.5, 1),
        |s| s.feature_fraction = 0.4,
        |s| s.extra_trees = true,
    ];
    for change in changes {
        let mut random = settings();
        change(&mut random);
        assert_eq!(by_seed(&random, 1), by_seed(&random, 1));
        assert_ne!(by_seed(&random, 1), by_seed(&random, 2));
    }
}

#[test]
fn one_full_tree_predicts_leaf_means() {
    let s = sample(4, 60);
    let settings =
        GbdtSettings { n_trees: 1, learning_rate: 1.0, max_depth: -1, num_leaves: 1000, ..settings() };
    let model = fit(&s, &settings);
    let tree = &model.ensemble.trees[0];
    for leaf in 0..tree.leaves.len() {
        let targets: Vec<f64> =
            (0..60).filter(|&row| tree.leaf_of(s.x.row(row)) == leaf).map(|row| s.y[row]).collect();
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        // Sorted category splits carry an extra penalty, so only purely numeric leaves are plain means; with a numeric
        // column of distinct values every leaf ends as a single row.
        if targets.len() > 1 {
            continue;
        }
        assert!((tree.leaves[leaf].value - mean).abs() < 1e-5, "leaf {leaf}");
    }
    assert!(tree.leaves.len() > 50);
}

#[test]
fn boosting_approaches_the_minimum_of_each_loss() {
    let s = sample(9, 400);
    for (objective, alpha) in
        [(Objective::L2, 0.9), (Objective::L1, 0.9), (Objective::Huber, 0.5), (Objective::Quantile, 0.8)]
    {
        let settings = GbdtSettings { objective, alpha, n_trees: 60, min_data_in_leaf: 10, ..settings() };
        let curve = fit(&s, &settings).ensemble.curve.training;
        assert!(curve.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-3)), "{objective:?}");
        assert!(curve[59] < 0.75 * curve[0], "{objective:?}: {} to {}", curve[0], curve[59]);
    }
    let settings = GbdtSettings { objective: Objective::Quantile, alpha: 0.8, n_trees: 60, ..settings() };
    let model = fit(&s, &settings);
    let share = s.x.rows().zip(&s.y).filter(|(row, y)| model.predict(row) >= **y).count() as f64 / 400.0;
    assert!((0.7..0.9).contains(&share), "80 % of the targets should lie below, found {share}");
}

#[test]
fn early_stopping_keeps_the_best_round() {
    let mut s = sample(2, 300);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for y in &mut s.y {
        *y += 3.0 * rng.random::<f64>();
    }
    let settings = GbdtSettings {
        n_trees: 500,
        learning_rate: 0.3,
        max_depth: 6,
        early_stopping_round: 5,
        validation_fraction: 0.3,
        ..settings()
    };
    let model = fit(&s, &settings);
    let curve = &model.training_curve().validation;
    let best = (0..curve.len()).min_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap();
    assert!(curve.len() < 500, "noise must stop the fit");
    assert_eq!(model.forest.n_trees(), best + 1);
    assert_eq!(curve.len(), best + 1 + 5);
}

#[test]
fn missing_values_are_learned_by_the_trainer_and_refused_for_the_kernel() {
    let mut s = sample(3, 200);
    let mut x = Table::new(3);
    for (i, row) in s.x.clone().rows().enumerate() {
        let hole = i % 4 == 0;
        x.push(&[if hole { f64::NAN } else { row[0] }, row[1], if i % 7 == 0 { f64::NAN } else { row[2] }]);
        if hole {
            s.y[i] += 5.0;
        }
    }
    s.x = x;
    let error = train(&s.x, &s.domains, &s.y, None, &settings(), 1).unwrap_err();
    assert!(matches!(error, GbdtError::Value { row: 0, column: 0, .. }), "{error}");
    let settings = GbdtSettings { n_trees: 100, learning_rate: 0.2, ..settings() };
    let model: Ensemble = train_ensemble(&s.x, &s.domains, &s.y, None, &settings, 1).unwrap();
    let mean = |hole: bool| {
        let rows: Vec<usize> = (0..200).filter(|i| (i % 4 == 0) == hole).collect();
        rows.iter().map(|&i| model.predict(s.x.row(i))).sum::<f64>() / rows.len() as f64
    };
    assert!(mean(true) - mean(false) > 4.0);
    // Leaf counts are those of the rule, missing values included.
    for tree in &model.trees {
        for leaf in 0..tree.leaves.len() {
            let rows = s.x.rows().filter(|row| tree.leaf_of(row) == leaf).count();
            assert_eq!(rows, tree.leaves[leaf].count);
        }
    }
    let refused = model.to_forest(&s.domains).unwrap_err();
    assert!(matches!(refused, GbdtError::MissingDirection { .. }), "{refused}");
}

#[test]
fn degenerate_data_behaves() {
    let continuous = |n: usize| vec![Domain::Continuous { lower: -1.0, upper: 1.0 }; n];
    let constant = |x: &Table, y: &[f64], expected: f64| {
        let model = train(x, &continuous(x.n_cols()), y, None, &settings(), 1).unwrap();
        assert_eq!((model.forest.n_trees(), model.forest.n_leaves()), (1, 1));
        assert!(x.rows().all(|row| model.predict(row) == expected));
    };
    let varied = Table::from_rows(1, &[[0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7]]);
    constant(&varied, &[0.1; 7], 0.1);
    constant(&Table::from_rows(2, &[[0.3, 0.4]]), &[7.5], 7.5);
    constant(&Table::from_rows(1, &[[0.3]; 4]), &[1.0, 2.0, 3.0, 6.0], 3.0);

    // Values 1e-12 apart around 1 are told apart.
    let narrow: Vec<[f64; 1]> = (0..8).map(|i| [1.0 + f64::from(i) * 1e-13]).collect();
    let y: Vec<f64> = (0..8).map(|i| f64::from(i / 4)).collect();
    let sharp = GbdtSettings { learning_rate: 1.0, ..settings() };
    let model = train(&Table::from_rows(1, &narrow), &continuous(1), &y, None, &sharp, 1).unwrap();
    assert!(narrow.iter().zip(&y).all(|(row, y)| (model.predict(row) - y).abs() < 1e-6));

    // Huge and tiny features and targets.
    for size in [1e300, 1e-300] {
        // Below 1e-35 every feature value counts as zero, so only targets are tiny.
        let width = f64::max(size, 1e-30);
        let rows: Vec<[f64; 1]> = (0..8).map(|i| [(f64::from(i) - 3.5) * width / 4.0]).collect();
        let targets: Vec<f64> = y.iter().map(|y| (y - 0.5) * size).collect();
        let wide = [Domain::Continuous { lower: -1e301, upper: 1e301 }];
        let model = train(&Table::from_rows(1, &rows), &wide, &targets, None, &sharp, 1).unwrap();
        for (row, target) in rows.iter().zip(&targets) {
            assert!((model.predict(row) - target).abs() < 1e-6 * size, "{size}: {row:?}");
        }
        assert!(model.importances().gain[0].is_finite());
    }

    // A large offset must not drown the signal.
    let targets: Vec<f64> = y.iter().map(|y| 1e9 + y).collect();
    let eight = Table::from_rows(1, &narrow);
    let model = train(&eight, &continuous(1), &targets, None, &sharp, 1).unwrap();
    assert!(eight.rows().zip(&targets).all(|(row, y)| (model.predict(row) - y).abs() < 1e-5));
}

#[test]
fn importances_count_every_split() {
    let s = sample(6, 200);
    let model = fit(&s, &settings());
    let importances = model.importances();
    let splits: usize = model.ensemble.trees.iter().map(|tree| tree.splits.len()).sum();
    assert_eq!(importances.split.iter().sum::<usize>(), splits);
    assert!(importances.gain.iter().all(|&gain| gain > 0.0));
    assert_eq!(model.forest.n_leaves(), splits + model.forest.n_trees());
}

#[test]
fn bags_and_feature_fractions_have_their_sizes() {
    let s = sample(12, 200);
    let bagged = GbdtSettings { bagging_fraction: 0.35, bagging_freq: 2, ..settings() };
    let model = fit(&s, &bagged);
    assert_eq!(model.forest.n_trees(), 12);
    for tree in &model.ensemble.trees {
        assert_eq!(tree.leaves.iter().map(|leaf| leaf.count).sum::<usize>(), 70);
    }
    // With one of three features each, no tree asks two and the trees differ.
    let narrow = fit(&s, &GbdtSettings { feature_fraction: 0.3, ..settings() });
    let mut asked = [0; 3];
    for tree in &narrow.ensemble.trees {
        let feature = tree.splits[0].feature;
        assert!(tree.splits.iter().all(|split| split.feature == feature));
        asked[feature] += 1;
    }
    assert!(asked.iter().filter(|&&n| n > 0).count() > 1, "{asked:?}");
}

#[test]
fn quantile_like_leaves_hold_the_quantile_of_their_targets() {
    let s = sample(13, 150);
    for (objective, alpha, level) in [(Objective::L1, 0.9, 0.5), (Objective::Quantile, 0.8, 0.8)] {
        let one = GbdtSettings { objective, alpha, n_trees: 1, learning_rate: 1.0, ..settings() };
        let tree = &fit(&s, &one).ensemble.trees[0];
        for leaf in 0..tree.leaves.len() {
            let mut targets: Vec<f64> =
                (0..150).filter(|&row| tree.leaf_of(s.x.row(row)) == leaf).map(|row| s.y[row]).collect();
            targets.sort_by(f64::total_cmp);
            // Linear between order statistics, by hand.
            let at = level * (targets.len() - 1) as f64;
            let (low, high) = (targets[at.floor() as usize], targets[at.ceil() as usize]);
            let expected = low + (high - low) * at.fract();
            assert!((tree.leaves[leaf].value - expected).abs() < 1e-5, "{objective:?}, leaf {leaf}");
        }
    }
}

#[test]
fn huber_hardly_notices_an_outlier_that_moves_the_squared_loss() {
    let mut s = sample(14, 120);
    s.y[7] += 1e4;
    let error = |objective: Objective| {
        let settings =
            GbdtSettings { objective, alpha: 1.0, min_data_in_leaf: 5, n_trees: 200, ..settings() };
        let model = fit(&s, &GbdtSettings { boost_from_average: false, ..settings });
        (0..120)
            .filter(|&row| row != 7)
            .map(|row| (model.predict(s.x.row(row)) - s.y[row]).abs())
            .sum::<f64>()
    };
    let (huber, squared) = (error(Objective::Huber), error(Objective::L2));
    assert!(huber < 0.2 * squared, "{huber} against {squared}");
}

#[test]
fn a_row_without_weight_has_no_say() {
    let mut s = sample(15, 60);
    let plain = GbdtSettings { n_trees: 5, cat_smooth: 0.0, min_gain_to_split: 1e-6, ..settings() };
    // Unit weights that are not all one, so that both fits count rows the same way.
    let mut weights = vec![2.0; 60];
    let without = train(&s.x, &s.domains, &s.y, Some(&weights), &plain, 3).unwrap();
    let double = s.x.row(5).to_vec();
    s.x.push(&double);
    s.y.push(-40.0);
    weights.push(0.0);
    let with = train(&s.x, &s.domains, &s.y, Some(&weights), &plain, 3).unwrap();
    assert!(close(&predictions(&with, &s.x), &predictions(&without, &s.x), 1e-6));
}

#[test]
fn more_bins_than_a_byte_holds_tell_every_row_apart() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let mut order: Vec<usize> = (0..1500).collect();
    order.shuffle(&mut rng);
    let rows: Vec<[f64; 1]> = order.iter().map(|&i| [i as f64 / 1500.0]).collect();
    let y: Vec<f64> = order.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
    let full = GbdtSettings {
        n_trees: 1,
        learning_rate: 1.0,
        max_depth: -1,
        num_leaves: 1500,
        max_bin: 4000,
        ..settings()
    };
    let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
    let x = Table::from_rows(1, &rows);
    let model = train(&x, &domains, &y, None, &full, 1).unwrap();
    assert_eq!(model.forest.n_leaves(), 1500);
    assert!(rows.iter().zip(&y).all(|(row, y)| (model.predict(row) - y).abs() < 1e-6));
    // With the bins of a byte rows share bins, and leaves.
    let coarse = train(&x, &domains, &y, None, &GbdtSettings { max_bin: 255, ..full }, 1).unwrap();
    assert!(coarse.forest.n_leaves() <= 255);
}

#[test]
fn listed_level_sets_respect_their_largest_size_and_group() {
    let s = large(3000);
    let largest = |max_cat_threshold: usize, min_data_per_group: usize| {
        let settings =
            GbdtSettings { max_cat_threshold, min_data_per_group, n_trees: 20, max_depth: 5, ..settings() };
        let model = fit(&s, &settings);
        let sizes = model.ensemble.trees.iter().flat_map(|tree| &tree.splits).filter_map(|split| {
            let SplitRule::Levels(set) = &split.rule else { return None };
            Some((set.iter().count(), split.count))
        });
        sizes.collect::<Vec<_>>()
    };
    let free = largest(32, 1);
    assert!(free.iter().any(|&(size, _)| size > 3), "{free:?}");
    let small = largest(3, 1);
    assert!(!small.is_empty() && small.iter().all(|&(size, _)| size <= 3));
    // The right side must hold a group of rows as well, so that no node below two groups is split by levels.
    let grouped = largest(32, 400);
    assert!(!grouped.is_empty() && grouped.iter().all(|&(_, rows)| rows >= 800), "{grouped:?}");
    assert!(free.iter().any(|&(_, rows)| rows < 800));
}
