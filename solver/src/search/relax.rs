//! The convex relaxation of a node and its safe tangent bound.
//!
//! With `u = sum v` over the active leaves the objective is `c'z - kappa sqrt(s2 - |u|^2)`. For any vector `u` and any `s > 0`, Cauchy-Schwarz on
//! `(u, s)` and `(u', sqrt(s2 - |u'|^2))`, both of length at most `sqrt(s2)` when scaled, gives for every allowed `u'`
//!
//! `-kappa sqrt(s2 - |u'|^2) >= kappa (u.u' - sqrt(s2 (|u|^2 + s^2))) / s`
//!
//! so that, with `a = kappa / s`, minimising `c_i + a v_i.u` in each block alone yields a lower bound. It needs no exact `u`: rounding of `u` can
//! only weaken the bound, and what is left, the rounding of the sums, is subtracted as a margin.

use super::model::{Deviation, Model};
use super::node::Node;

/// The bound of a relaxation and what branching needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaxation {
    /// Proved: no allowed point of the node is below.
    pub(crate) bound: f64,
    /// `bound - sum_b min_i g_i`: the part that the blocks do not change.
    pub(crate) base: f64,
    /// `kappa / s`: how strongly the relaxation bends.
    pub(crate) curvature: f64,
}

/// Buffers of [`relax`].
#[derive(Debug, Default)]
pub(crate) struct RelaxScratch {
    /// `c_i + a v_i.u` of each item of the node.
    pub(crate) g: Vec<f64>,
    /// Largest product with an alive item of each block, for a deviation that is minimised.
    products: Vec<f64>,
    /// `u` in single precision.
    coarse_u: Vec<f32>,
}

/// Largest number of sweeps of the relaxation.
const MAX_SWEEPS: usize = 30;

/// Bounds the node, moving its weights `z` towards the minimum of the relaxation: one sweep of block-coordinate pairwise Frank-Wolfe, more only
/// while the relaxed value is above the cutoff, since otherwise the relaxation cannot prune the node.
pub(crate) fn relax(
    model: &Model<'_>,
    node: &mut Node,
    scratch: &mut RelaxScratch,
    cutoff: f64,
) -> Relaxation {
    match model.deviation {
        Some(deviation) if deviation.kappa > 0.0 => relax_convex(model, node, scratch, cutoff, deviation),
        Some(deviation) => relax_concave(model, node, scratch, deviation),
        None => relax_linear(model, node, scratch),
    }
}

/// `sum_b min_i g_i` and the sum of magnitudes.
fn block_minima(node: &Node, g: &[f64]) -> (f64, f64) {
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for b in 0..node.n_blocks() {
        let min = g[node.block(b)].iter().fold(f64::INFINITY, |a, &x| a.min(x));
        sum += min;
        magnitude += min.abs();
    }
    (sum, magnitude)
}

/// Without a deviation term the cost of each block alone is the relaxation.
fn relax_linear(model: &Model<'_>, node: &mut Node, scratch: &mut RelaxScratch) -> Relaxation {
    scratch.g.clear();
    scratch.g.extend(node.items.iter().map(|&item| model.cost[item as usize]));
    point_weights(node, &scratch.g);
    let (minima, magnitude) = block_minima(node, &scratch.g);
    let margin = summation_margin(node.n_blocks(), magnitude + node.mean.abs() + model.constant.abs());
    Relaxation { bound: node.mean + minima - margin, base: node.mean - margin, curvature: 0.0 }
}

/// Puts all weight of a block on its cheapest item.
fn point_weights(node: &mut Node, g: &[f64]) {
    for b in 0..node.n_blocks() {
        let block = node.block(b);
        let mut best = block.start;
        for i in block.clone() {
            if g[i] < g[best] {
                best = i;
            }
        }
        node.z[block].fill(0.0);
        node.z[best] = 1.0;
    }
}

/// Rounding of a sum over trees (those already decided included) of terms with the given total magnitude.
fn summation_margin(n_blocks: usize, magnitude: f64) -> f64 {
    f64::EPSILON * (n_blocks as f64 + 64.0) * magnitude
}

fn relax_convex(
    model: &Model<'_>,
    node: &mut Node,
    scratch: &mut RelaxScratch,
    cutoff: f64,
    deviation: Deviation,
) -> Relaxation {
    scratch.g.clear();
    scratch.g.resize(node.items.len(), 0.0);
    let mut sweeps = 0;
    loop {
        // The weights come from the parent, for a larger box: a sweep before the first bound nearly always pays.
        sweep(model, node, scratch, deviation);
        let Tangent { relaxation, s } = tangent(model, node, &mut scratch.g, deviation);
        let costs = node.items.iter().zip(&node.z);
        let linear: f64 = costs.map(|(&item, &z)| z * model.cost[item as usize]).sum();
        let value = node.mean + linear - deviation.kappa * s;
        let bound = relaxation.bound;
        sweeps += 1;
        let converged = value - bound < 1e-7 * value.abs().max(1e-3);
        if bound >= cutoff || value < cutoff || converged || sweeps == MAX_SWEEPS {
            return relaxation;
        }
    }
}

/// A tangent bound and its deviation.
struct Tangent {
    relaxation: Relaxation,
    s: f64,
}

/// The tangent bound at the node's `u`; the costs of the items go to `g`.
fn tangent(model: &Model<'_>, node: &Node, g: &mut [f64], Deviation { kappa, prior }: Deviation) -> Tangent {
    let kernels = model.kernels;
    let norm_sq = kernels.dot(&node.u, &node.u);
    let s = (prior - norm_sq).max(0.0).sqrt().max(1e-7 * prior.sqrt());
    let a = kappa / s;
    kernels.row_dots(&model.factor, model.stride, &node.items, &node.u, g);
    for (g, &item) in g.iter_mut().zip(&node.items) {
        *g = model.cost[item as usize] + a * *g;
    }
    let along = a * kernels.dot(&node.u, &node.fixed);
    let length = kappa * (prior * (norm_sq + s * s)).sqrt() / s;
    let (minima, magnitude) = block_minima(node, g);
    // Dot products of length `dim` with |u|, |v|; then the sum over trees.
    let dots =
        f64::EPSILON * (model.stride as f64 + 8.0) * a * norm_sq.sqrt() * (model.norm_sum + norm_sq.sqrt());
    let total = magnitude + node.mean.abs() + model.constant.abs() + along.abs() + length;
    let margin = 2.0 * dots + summation_margin(model.trees.len(), total);
    let base = node.mean + along - length - margin;
    Tangent { relaxation: Relaxation { bound: base + minima, base, curvature: a }, s }
}

/// Rounds the node's `u` to f32, as a certificate stores it, and bounds the node by the tangent there.
pub(crate) fn relax_on_record(
    model: &Model<'_>,
    node: &mut Node,
    scratch: &mut RelaxScratch,
    relaxation: Relaxation,
) -> Relaxation {
    match model.deviation {
        Some(deviation) if deviation.kappa > 0.0 => {
            for u in &mut node.u {
                *u = f64::from(*u as f32);
            }
            tangent(model, node, &mut scratch.g, deviation).relaxation
        }
        _ => relaxation,
    }
}

/// One pass over the blocks: in each, weight moves from its costliest item in use to its cheapest, by the exact minimum along that direction.
/// Directions are found in single precision: whatever they are, the bound holds.
fn sweep(
    model: &Model<'_>,
    node: &mut Node,
    scratch: &mut RelaxScratch,
    Deviation { kappa, prior }: Deviation,
) {
    let kernels = model.kernels;
    let RelaxScratch { g, coarse_u, .. } = scratch;
    let deviation_floor = 1e-7 * prior.sqrt();
    let mut norm_sq = kernels.dot(&node.u, &node.u);
    coarse_u.clear();
    coarse_u.resize(model.coarse_stride, 0.0);
    coarse_u.iter_mut().zip(&node.u).for_each(|(c, &u)| *c = u as f32);
    for b in 0..node.n_blocks() {
        let block = node.block(b);
        let s = (prior - norm_sq).max(0.0).sqrt().max(deviation_floor);
        let a = kappa / s;
        let items = &node.items[block.clone()];
        kernels.coarse_row_dots(&model.coarse, model.coarse_stride, items, coarse_u, &mut g[block.clone()]);
        for (g, &item) in g[block.clone()].iter_mut().zip(items) {
            *g = model.cost[item as usize] + a * *g;
        }
        let (mut best, mut worst) = (block.start, usize::MAX);
        for i in block {
            if g[i] < g[best] {
                best = i;
            }
            if node.z[i] > 0.0 && (worst == usize::MAX || g[i] > g[worst]) {
                worst = i;
            }
        }
        if worst == usize::MAX || best == worst || g[worst] <= g[best] {
            continue;
        }
        let (to, from) = (node.items[best], node.items[worst]);
        let (length_sq, along) =
            kernels.coarse_difference_products(model.coarse_vector(to), model.coarse_vector(from), coarse_u);
        let cost = model.cost[to as usize] - model.cost[from as usize];
        let available = node.z[worst];
        let step = if length_sq > 1e-10 * prior {
            let rest = (prior - norm_sq + along * along / length_sq).max(0.0);
            let w = -cost * (rest / (kappa * kappa + cost * cost / length_sq)).sqrt();
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
/// `q_i = 2 uf.v_i + sum_b' max_j v_i.v_j`, and the concave square root lies above its secant on `[0, top]`.
fn relax_concave(
    model: &Model<'_>,
    node: &mut Node,
    scratch: &mut RelaxScratch,
    Deviation { kappa, prior }: Deviation,
) -> Relaxation {
    let weight = -kappa;
    let kernels = model.kernels;
    let n = node.items.len();
    let RelaxScratch { g, products, .. } = scratch;
    g.clear();
    g.resize(n, 0.0);
    products.clear();
    products.resize(n, 0.0);
    kernels.row_dots(&model.factor, model.stride, &node.items, &node.fixed, g);
    for b in 0..node.n_blocks() {
        for i in node.block(b) {
            kernels.row_dots(&model.factor, model.stride, &node.items, model.vector(node.items[i]), products);
            let mut q = 2.0 * g[i];
            for other in 0..node.n_blocks() {
                // Within its own block an item meets only itself.
                q += if other == b {
                    model.norm_sq[node.items[i] as usize]
                } else {
                    products[node.block(other)].iter().fold(f64::NEG_INFINITY, |a, &x| a.max(x))
                };
            }
            g[i] = q;
        }
    }
    let fixed_sq = kernels.dot(&node.fixed, &node.fixed);
    let largest: f64 =
        (0..node.n_blocks()).map(|b| g[node.block(b)].iter().fold(f64::NEG_INFINITY, |a, &x| a.max(x))).sum();
    let rounding = f64::EPSILON
        * (model.stride as f64 + model.trees.len() as f64 + 64.0)
        * model.norm_sum.powi(2).max(prior);
    let top = (fixed_sq + largest + rounding).clamp(0.0, prior);
    let low = (prior - top).max(0.0).sqrt();
    // sqrt(prior - q) >= low + slope (top - q) on [0, top].
    let slope = if top > 1e-12 * prior { (prior.sqrt() - low) / top } else { 0.0 };
    let mut magnitude = 0.0;
    for (g, &item) in g.iter_mut().zip(&node.items) {
        *g = model.cost[item as usize] - weight * slope * *g;
        magnitude += g.abs();
    }
    point_weights(node, g);
    let (minima, _) = block_minima(node, g);
    let total = magnitude + node.mean.abs() + model.constant.abs() + weight * prior.sqrt();
    let margin = summation_margin(model.trees.len(), total) + weight * slope * rounding;
    let secant = node.mean + weight * (low + slope * (top - fixed_sq)) - margin;
    // The deviation is never below `low`, whatever the secant says.
    Relaxation { bound: secant + minima, base: secant, curvature: 0.0 }
}
