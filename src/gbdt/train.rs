//! The boosting loop.

use leafgp_solver::Domain;
use rayon::prelude::*;

use super::bin_matrix::BinMatrix;
use super::error::GbdtError;
use super::grow::{Shape, TreeGrower};
use super::histogram::Derivatives;
use super::input::{Targets, check, single_weights};
use super::model::{Ensemble, GbdtModel, TrainingCurve};
use super::objective::Loss;
use super::partition::Partition;
use super::sampling::{Purpose, stream, subset};
use super::settings::GbdtSettings;
use super::split::SplitLimits;
use super::tree::{DecisionTree, ZERO_THRESHOLD};
use crate::Table;

/// Rows whose scores are updated together; fixed, so that the loss does not depend on threads.
const BLOCK_ROWS: usize = 1 << 13;

/// Fits trees to `y` (`[n_rows]`) given the rows of `x` (`[n_rows, n_vars]`, categories as level indices) by gradient boosting.
///
/// Runs on the current rayon pool; the result is the same, bit for bit, for any number of threads. Thresholds are midpoints
/// between adjacent distinct training values.
///
/// # Errors
/// Settings out of range; inputs of different lengths; missing, infinite or unknown values.
///
/// # Examples
/// ```
/// use leafgp::{Table, gbdt};
/// use leafgp::solver::Domain;
///
/// let x = Table::from_rows(1, &[[0.1], [0.2], [0.8], [0.9]]);
/// let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
/// let settings = gbdt::GbdtSettings { learning_rate: 1.0, min_data_in_bin: 1, ..Default::default() };
/// let model = gbdt::train(&x, &domains, &[1.0, 1.0, 3.0, 3.0], None, &settings, 0)?;
/// assert_eq!(model.predict(&[0.3]), 1.0);
/// assert_eq!(model.predict(&[0.6]), 3.0);
/// # Ok::<(), gbdt::GbdtError>(())
/// ```
pub fn train(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    settings: &GbdtSettings,
    seed: u64,
) -> Result<GbdtModel, GbdtError> {
    train_while(x, domains, y, weights, settings, seed, &mut |_| true)
}

/// As [`train`], but boosting ends early when `go_on`, asked before every tree but the first with the number of leaves so far, says no: the model of fewer trees.
///
/// # Errors
/// As [`train`].
pub fn train_while(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    settings: &GbdtSettings,
    seed: u64,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<GbdtModel, GbdtError> {
    settings.validate()?;
    check(x, domains, y, weights, false)?;
    GbdtModel::new(boost(x, domains, y, weights, settings, seed, go_on), domains)
}

/// As [`train`], but NaN in the table is a missing value: each split learns which way it goes.
///
/// # Errors
/// As [`train`], missing values excepted.
pub fn train_ensemble(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    settings: &GbdtSettings,
    seed: u64,
) -> Result<Ensemble, GbdtError> {
    settings.validate()?;
    check(x, domains, y, weights, true)?;
    Ok(boost(x, domains, y, weights, settings, seed, &mut |_| true))
}

/// Rows set aside for early stopping.
#[derive(Debug)]
pub(super) struct Validation {
    x: Table,
    targets: Vec<f64>,
    weights: Option<Vec<f32>>,
    scores: Vec<f64>,
}

fn boost(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    settings: &GbdtSettings,
    seed: u64,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Ensemble {
    let Targets { values: targets, scale } = Targets::new(y, weights);
    let weights = single_weights(weights);
    if settings.early_stopping_round == 0 || x.n_rows() < 2 {
        let prepared = Prepared::new(x, domains, targets, weights, scale, settings, seed);
        prepared.boost(settings, seed, None, go_on)
    } else {
        let mut rng = stream(seed, Purpose::Validation);
        let mut aside = subset(&mut rng, x.n_rows(), settings.validation_fraction);
        aside.truncate(x.n_rows() - 1);
        let mut is_aside = vec![false; x.n_rows()];
        for &row in &aside {
            is_aside[row as usize] = true;
        }
        let part = |keep: bool| {
            let rows: Vec<usize> = (0..x.n_rows()).filter(|&row| is_aside[row] == keep).collect();
            let mut part = Table::new(x.n_cols());
            for &row in &rows {
                part.push(x.row(row));
            }
            let targets: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
            let weights: Option<Vec<f32>> =
                weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
            (part, targets, weights)
        };
        let (part_x, part_targets, part_weights) = part(false);
        let (x, targets, weights) = part(true);
        let scores = vec![0.0; targets.len()];
        let validation = Validation { x, targets, weights, scores };
        let prepared = Prepared::new(&part_x, domains, part_targets, part_weights, scale, settings, seed);
        prepared.boost(settings, seed, Some(validation), go_on)
    }
}

/// A training table, binned, with what boosting needs of its targets.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    x: &'a Table,
    bins: BinMatrix,
    targets: Vec<f64>,
    weights: Option<Vec<f32>>,
    scale: f64,
}

impl<'a> Prepared<'a> {
    /// Bins the table; targets and weights are those of [`Targets`] and [`single_weights`].
    pub(super) fn new(
        x: &'a Table,
        domains: &[Domain],
        targets: Vec<f64>,
        weights: Option<Vec<f32>>,
        scale: f64,
        settings: &GbdtSettings,
        seed: u64,
    ) -> Self {
        let bins = BinMatrix::new(x, domains, settings, &mut stream(seed, Purpose::Bins));
        Self { x, bins, targets, weights, scale }
    }

    /// Boosts, judging the rounds on the rows set aside, if any.
    pub(super) fn boost(
        &self,
        settings: &GbdtSettings,
        seed: u64,
        validation: Option<Validation>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Ensemble {
        let mut ensemble = boost_on(self, settings, seed, validation, go_on);
        rescale(&mut ensemble, self.scale, settings);
        ensemble
    }
}

/// From the scaled targets' units back to the given ones.
fn rescale(ensemble: &mut Ensemble, scale: f64, settings: &GbdtSettings) {
    if scale == 1.0 {
        return;
    }
    let finite = |value: f64| value.clamp(-f64::MAX, f64::MAX);
    let loss_scale = match settings.objective {
        super::Objective::Huber => scale * scale,
        _ => scale,
    };
    for tree in &mut ensemble.trees {
        for leaf in &mut tree.leaves {
            leaf.value = finite(leaf.value / scale);
        }
        for split in &mut tree.splits {
            split.value = finite(split.value / scale);
            split.gain = finite(split.gain / scale / scale);
        }
    }
    for value in ensemble.curve.training.iter_mut().chain(&mut ensemble.curve.validation) {
        *value = finite(*value / loss_scale);
    }
}

fn boost_on(
    prepared: &Prepared<'_>,
    settings: &GbdtSettings,
    seed: u64,
    mut validation: Option<Validation>,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Ensemble {
    let Prepared { x, bins, targets, weights, scale } = prepared;
    let (scale, weights) = (*scale, weights.as_deref());
    let n_rows = x.n_rows();
    let loss = Loss::new(settings, scale, targets, weights);
    let shape = Shape {
        num_leaves: settings.num_leaves,
        max_depth: settings.max_depth,
        extra_trees: settings.extra_trees,
    };
    let limits = SplitLimits::new(settings, scale, weights.is_some());
    let mut grower = TreeGrower::new(bins, &limits, shape);
    let mut row_rng = stream(seed, Purpose::Rows);
    let mut feature_rng = stream(seed, Purpose::Features);
    let mut threshold_rng = stream(seed, Purpose::Thresholds);
    let average = loss.initial_score();
    let mut bias = if settings.boost_from_average { average } else { 0.0 };
    let mut scores = vec![bias; n_rows];
    let mut gradients = vec![0.0f32; n_rows];
    let refresh = |scores: &mut [f64], gradients: &mut [f32], step: Option<Step<'_>>| {
        advance(&loss, scores, gradients, step)
    };
    refresh(&mut scores, &mut gradients, None);
    if let Some(validation) = &mut validation {
        validation.scores.fill(bias);
    }
    let samples_rows = settings.bagging_freq > 0 && settings.bagging_fraction < 1.0;
    let samples_features = settings.feature_fraction < 1.0;
    let is_random = samples_rows || samples_features || settings.extra_trees;
    let mut bag: Option<Vec<u32>> = None;
    let mut is_used = vec![true; bins.features.len()];
    let mut trees: Vec<DecisionTree> = Vec::new();
    let mut curve = TrainingCurve::default();
    let mut best = (f64::INFINITY, 0);
    let mut n_leaves = 0;
    for round in 0..settings.n_trees {
        if round > 0 && !go_on(n_leaves) {
            break;
        }
        if samples_rows && round.is_multiple_of(settings.bagging_freq) {
            bag = Some(subset(&mut row_rng, n_rows, settings.bagging_fraction));
        }
        if samples_features {
            is_used.fill(false);
            for slot in subset(&mut feature_rng, bins.features.len(), settings.feature_fraction) {
                is_used[slot as usize] = true;
            }
        }
        let derivatives = Derivatives { gradients: &gradients, hessians: weights };
        let mut tree = grower.grow(derivatives, bag.as_deref(), &is_used, &mut threshold_rng);
        if tree.splits.is_empty() {
            if is_random {
                continue;
            }
            break;
        }
        if let Some(level) = loss.leaf_quantile() {
            for leaf in 0..tree.leaves.len() {
                tree.leaves[leaf].value = loss.residual_quantile(grower.partition.rows(leaf), &scores, level);
            }
        }
        shrink(&mut tree, settings.learning_rate);
        let step = Step { tree: &tree, partition: &grower.partition, outside: bag.as_ref().map(|_| *x) };
        curve.training.push(refresh(&mut scores, &mut gradients, Some(step)));
        if let Some(validation) = &mut validation {
            for (score, row) in validation.scores.iter_mut().zip(validation.x.rows()) {
                *score += tree.predict(row);
            }
            let weights = validation.weights.as_deref();
            curve.validation.push(loss.mean_loss(&validation.targets, weights, &validation.scores));
        }
        if bias != 0.0 {
            add_bias(&mut tree, bias);
            bias = 0.0;
        }
        n_leaves += tree.leaves.len();
        trees.push(tree);
        if let Some(&value) = curve.validation.last() {
            if value < best.0 {
                best = (value, trees.len());
            } else if trees.len() - best.1 >= settings.early_stopping_round {
                break;
            }
        }
    }
    if validation.is_some() && best.1 > 0 {
        trees.truncate(best.1);
    }
    if trees.is_empty() {
        let weight = weights.map_or(n_rows as f64, |weights| weights.iter().map(|&w| f64::from(w)).sum());
        trees.push(DecisionTree::constant(average, n_rows, weight));
    }
    Ensemble { trees, n_features: x.n_cols(), curve }
}

fn round_to_zero(value: f64) -> f64 {
    if value.abs() <= ZERO_THRESHOLD { 0.0 } else { value }
}

fn shrink(tree: &mut DecisionTree, rate: f64) {
    for leaf in &mut tree.leaves {
        leaf.value = round_to_zero(leaf.value * rate);
    }
    for split in &mut tree.splits {
        split.value = round_to_zero(split.value * rate);
    }
    tree.shrinkage = rate;
}

/// Adds the initial score to the first tree, so that the model is the plain sum of its trees.
fn add_bias(tree: &mut DecisionTree, bias: f64) {
    for leaf in &mut tree.leaves {
        leaf.value = round_to_zero(leaf.value + bias);
    }
    for split in &mut tree.splits {
        split.value = round_to_zero(split.value + bias);
    }
    tree.shrinkage = 1.0;
}

/// A new tree with the rows of its leaves; `outside` is the table when some rows are in no leaf because they were not in the bag.
#[derive(Clone, Copy)]
struct Step<'a> {
    tree: &'a DecisionTree,
    partition: &'a Partition,
    outside: Option<&'a Table>,
}

/// Adds the tree to the scores and renews the gradients; returns the training loss.
fn advance(loss: &Loss<'_>, scores: &mut [f64], gradients: &mut [f32], step: Option<Step<'_>>) -> f64 {
    let work = |(block, (scores, gradients)): (usize, (&mut [f64], &mut [f32]))| {
        let first = block * BLOCK_ROWS;
        if let Some(step) = step {
            add_tree(first, scores, step);
        }
        loss.derivatives(first, scores, gradients)
    };
    let n_rows = scores.len();
    let add = |(loss, weight): (f64, f64), part: (f64, f64)| (loss + part.0, weight + part.1);
    let (total_loss, total_weight) = if n_rows > 4 * BLOCK_ROWS {
        let blocks = scores.par_chunks_mut(BLOCK_ROWS).zip(gradients.par_chunks_mut(BLOCK_ROWS));
        let parts: Vec<(f64, f64)> = blocks.enumerate().map(work).collect();
        parts.into_iter().fold((0.0, 0.0), add)
    } else {
        let blocks = scores.chunks_mut(BLOCK_ROWS).zip(gradients.chunks_mut(BLOCK_ROWS));
        blocks.enumerate().map(work).fold((0.0, 0.0), add)
    };
    loss.report(total_loss, total_weight)
}

/// Adds the tree's values to the scores of rows `first..`.
fn add_tree(first: usize, scores: &mut [f64], step: Step<'_>) {
    let end = (first + scores.len()) as u32;
    let mut is_done = if step.outside.is_some() { vec![false; scores.len()] } else { Vec::new() };
    for leaf in 0..step.partition.n_leaves() {
        let value = step.tree.leaves[leaf].value;
        let rows = step.partition.rows(leaf);
        let rows = &rows[rows.partition_point(|&row| row < first as u32)..];
        for &row in &rows[..rows.partition_point(|&row| row < end)] {
            scores[row as usize - first] += value;
            if !is_done.is_empty() {
                is_done[row as usize - first] = true;
            }
        }
    }
    if let Some(x) = step.outside {
        for (i, score) in scores.iter_mut().enumerate() {
            if !is_done[i] {
                *score += step.tree.predict(x.row(first + i));
            }
        }
    }
}
