//! The convex relaxation of a node and its safe tangent bound.
//!
//! With `u = sum v` over the active leaves the objective is `c'z - kappa sqrt(s2 - |u|^2)`. For any vector `u` and any `s > 0`, Cauchy-Schwarz on
//! `(u, s)` and `(u', sqrt(s2 - |u'|^2))`, both of length at most `sqrt(s2)` when scaled, gives for every allowed `u'`
//!
//! `-kappa sqrt(s2 - |u'|^2) >= kappa (u.u' - sqrt(s2 (|u|^2 + s^2))) / s`
//!
//! so that, with `a = kappa / s`, minimising `c_i + a v_i.u` in each block alone yields a lower bound. It needs no exact `u`: rounding of `u` can
//! only weaken the bound, and what is left, the rounding of the sums, is subtracted as a margin.

use super::index::{IdVec, Position};
use super::model::{Deviation, Model};
use super::node::Node;

/// What a bound consists of besides the costs of the items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaxation {
    /// `base + sum_b min_i g_i` is proved, for the costs `g` that come with it, but for the rounding of that sum.
    pub(crate) base: f64,
    /// `kappa / s`: how strongly the relaxation bends.
    pub(crate) curvature: f64,
}

/// Without a deviation term the cost of each block alone is the relaxation; the costs go to `g`.
pub(crate) fn relax_linear(model: &Model<'_>, node: &mut Node, g: &mut IdVec<Position, f64>) -> Relaxation {
    g.clear();
    g.extend(node.blocks.items.iter().map(|&item| model.cost[item]));
    point_weights(node, g);
    let margin = summation_margin(model, node.mean.abs());
    Relaxation { base: node.mean - margin, curvature: 0.0 }
}

/// Puts all weight of a block on its cheapest item.
fn point_weights(node: &mut Node, g: &IdVec<Position, f64>) {
    for block in node.blocks.spans.parts() {
        let mut best = block.first;
        for i in block {
            if g[i] < g[best] {
                best = i;
            }
        }
        node.z[block].fill(0.0);
        node.z[best] = 1.0;
    }
}

/// Rounding of a sum over the decided trees and of the terms besides the open blocks, of the given total magnitude.
fn summation_margin(model: &Model<'_>, magnitude: f64) -> f64 {
    f64::EPSILON * (model.trees.len() as f64 + 64.0) * (magnitude + model.constant.abs())
}

/// The tangent bound at the node's `u`, of items with the given costs (those of the model, less messages); the costs with the deviation's part go
/// to `g`.
pub(crate) fn tangent(
    model: &Model<'_>,
    node: &Node,
    cost: &IdVec<Position, f64>,
    g: &mut IdVec<Position, f64>,
    Deviation { kappa, prior }: Deviation,
) -> Relaxation {
    let (kernels, u) = (model.kernels, &node.u);
    let norm_sq = kernels.dot(u, u);
    let s = (prior - norm_sq).max(0.0).sqrt().max(1e-7 * prior.sqrt());
    let a = kappa / s;
    kernels.row_dots(&model.factor, node.blocks.items.as_slice(), u, g.as_mut_slice());
    for (g, &cost) in g.iter_mut().zip(cost) {
        *g = cost + a * *g;
    }
    let along = a * kernels.dot(u, &node.fixed);
    let length = kappa * (prior * (norm_sq + s * s)).sqrt() / s;
    // Dot products of length `dim` with |u|, |v|; then the other terms.
    let dots =
        f64::EPSILON * (model.stride() as f64 + 8.0) * a * norm_sq.sqrt() * (model.norm_sum + norm_sq.sqrt());
    let margin = 2.0 * dots + summation_margin(model, node.mean.abs() + along.abs() + length);
    Relaxation { base: node.mean + along - length - margin, curvature: a }
}

/// Where the directions of [`descend`] come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directions {
    /// The costs in `g`, met at the current `u` before the pass.
    Given,
    /// Costs renewed block by block.
    Renewed,
}

/// One pass of block-coordinate pairwise Frank-Wolfe steps: in each block, weight moves from the costliest item in use to the cheapest, by the exact
/// minimum along that direction. Products are taken in single precision: whatever the steps are, the tangent's bound holds.
pub(crate) fn descend(
    model: &Model<'_>,
    node: &mut Node,
    cost: &IdVec<Position, f64>,
    (g, coarse_u): (&mut IdVec<Position, f64>, &mut Vec<f32>),
    directions: Directions,
    Deviation { kappa, prior }: Deviation,
) {
    let kernels = model.kernels;
    let deviation_floor = 1e-7 * prior.sqrt();
    let mut norm_sq = kernels.dot(&node.u, &node.u);
    coarse_u.clear();
    coarse_u.resize(model.coarse.stride, 0.0);
    coarse_u.iter_mut().zip(&node.u).for_each(|(c, &u)| *c = u as f32);
    for block in node.blocks.spans.parts() {
        if directions == Directions::Renewed {
            let a = kappa / (prior - norm_sq).max(0.0).sqrt().max(deviation_floor);
            let (items, g) = (&node.blocks.items[block], &mut g[block]);
            kernels.coarse_row_dots(&model.coarse, items, coarse_u, g);
            for (g, &cost) in g.iter_mut().zip(&cost[block]) {
                *g = cost + a * *g;
            }
        }
        let (mut best, mut worst) = (block.first, None);
        for i in block {
            if g[i] < g[best] {
                best = i;
            }
            if node.z[i] > 0.0 && worst.is_none_or(|worst| g[i] > g[worst]) {
                worst = Some(i);
            }
        }
        let Some(worst) = worst.filter(|&worst| g[worst] > g[best]) else { continue };
        let (to, from) = (node.blocks.items[best], node.blocks.items[worst]);
        let (length_sq, along) =
            kernels.coarse_difference_products(model.coarse_vector(to), model.coarse_vector(from), coarse_u);
        let gain = cost[best] - cost[worst];
        let available = node.z[worst];
        let step = if length_sq > 1e-10 * prior {
            let rest = (prior - norm_sq + along * along / length_sq).max(0.0);
            let w = -gain * (rest / (kappa * kappa + gain * gain / length_sq)).sqrt();
            ((w - along) / length_sq).clamp(0.0, available)
        } else {
            available
        };
        if step > 0.0 {
            kernels.add_difference(&mut node.u, step, model.vector(to), model.vector(from));
            coarse_u.iter_mut().zip(&node.u).for_each(|(c, &u)| *c = u as f32);
            norm_sq += step * (2.0 * along + step * length_sq);
            node.z[best] += step;
            node.z[worst] = if step >= available { 0.0 } else { available - step };
        }
    }
}

/// A deviation that is minimised (`kappa < 0`, or a maximised objective turned round): `|u|^2 <= |uf|^2 + sum_b max_i q_i` with
/// `q_i = 2 uf.v_i + sum_b' max_j v_i.v_j`, and the concave square root lies above its secant on `[0, top]`. The costs go to `g`.
pub(crate) fn relax_concave(
    model: &Model<'_>,
    node: &mut Node,
    (g, products): (&mut IdVec<Position, f64>, &mut IdVec<Position, f64>),
    Deviation { kappa, prior }: Deviation,
) -> Relaxation {
    let weight = -kappa;
    let kernels = model.kernels;
    let n = node.blocks.n_items();
    g.refill(n, 0.0);
    products.refill(n, 0.0);
    let largest = |values: &[f64]| values.iter().fold(f64::NEG_INFINITY, |a, &x| a.max(x));
    let items = node.blocks.items.as_slice();
    kernels.row_dots(&model.factor, items, &node.fixed, g.as_mut_slice());
    for b in node.blocks.ids() {
        for i in node.blocks.block(b) {
            let item = node.blocks.items[i];
            kernels.row_dots(&model.factor, items, model.vector(item), products.as_mut_slice());
            let mut q = 2.0 * g[i];
            for other in node.blocks.ids() {
                // Within its own block an item meets only itself.
                q += if other == b {
                    model.norm_sq[item]
                } else {
                    largest(&products[node.blocks.block(other)])
                };
            }
            g[i] = q;
        }
    }
    let fixed_sq = kernels.dot(&node.fixed, &node.fixed);
    let largest: f64 = node.blocks.spans.parts().map(|block| largest(&g[block])).sum();
    let rounding = f64::EPSILON
        * (model.stride() as f64 + model.trees.len() as f64 + 64.0)
        * model.norm_sum.powi(2).max(prior);
    let top = (fixed_sq + largest + rounding).clamp(0.0, prior);
    let low = (prior - top).max(0.0).sqrt();
    // sqrt(prior - q) >= low + slope (top - q) on [0, top].
    let slope = if top > 1e-12 * prior { (prior.sqrt() - low) / top } else { 0.0 };
    let mut magnitude = 0.0;
    for (g, &item) in g.iter_mut().zip(&node.blocks.items) {
        *g = model.cost[item] - weight * slope * *g;
        magnitude += g.abs();
    }
    point_weights(node, g);
    let margin = summation_margin(model, magnitude + node.mean.abs() + weight * prior.sqrt())
        + weight * slope * rounding;
    let secant = node.mean + weight * (low + slope * (top - fixed_sq)) - margin;
    Relaxation { base: secant, curvature: 0.0 }
}
