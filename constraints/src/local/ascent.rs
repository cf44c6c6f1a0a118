//! Steps to vertices: a way out where Gauss-Newton is stuck at a stationary point of a reverse convex constraint.
//!
//! `sum(x^2) >= 9` over `sum(x) <= 20` holds where few variables are large, but from equal values its gradient says that all should grow
//! alike. The linearised violated rows are maximised over the others instead, as in successive linear programming, with slightly unequal
//! weights: the point is a vertex, and a convex function grows at least as much as its linearisation.

use super::gauss_newton::{gauss_newton, linearise, measure};
use super::memory::{Local, Setting};
use crate::qp::Status;

const ITERATIONS: usize = 10;
/// The first steps, which tell equal variables apart, need not pay at once.
const PATIENCE: usize = 2;
/// How far the target lies outside the box, in widths: the projection of a far target is a vertex.
const FAR: f64 = 30.0;
/// Spread of the weights that tell equal variables apart.
const SPREAD: f64 = 0.25;

/// Moves `x` (in variable order) until the comparisons of its present logical branch hold. Returns whether they do, to rounding.
pub(crate) fn ascend(local: &mut Local, s: Setting<'_>, x: &mut [f64]) -> bool {
    let n = s.columns.variables.len();
    if n < 2 {
        return false;
    }
    let mut atoms = std::mem::take(&mut local.atoms);
    let mut merit = measure(local, s, x, &mut atoms);
    let mut moved = false;
    for iteration in 0..ITERATIONS {
        if merit == 0.0 || s.limits.must_stop() {
            break;
        }
        linearise(local, s, x, &atoms);
        let mut descent = vec![0.0; n];
        local.qp.reset(n);
        local.qp.set_box(s.lower, s.upper);
        local.qp.set_diagonal_metric(s.weights);
        for (atom, gradient) in atoms.iter().zip(local.gradients.chunks_exact(n)) {
            if !atom.value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
                continue;
            }
            let norm = gradient.iter().zip(s.weights).map(|(g, w)| g * g / w).sum::<f64>().sqrt();
            if norm == 0.0 {
                continue;
            }
            if !atom.equality && atom.excess() > 0.0 {
                for j in 0..n {
                    descent[j] += gradient[j] / s.weights[j].sqrt() / norm;
                }
                continue;
            }
            let at: f64 = gradient.iter().zip(&s.columns.variables).map(|(g, &v)| g * x[v]).sum();
            if atom.equality {
                local.qp.push_eq(gradient, at - atom.value);
            } else {
                local.qp.push_le(gradient, at - atom.value);
            }
        }
        let largest = descent.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
        if largest == 0.0 {
            break;
        }
        local.target.clear();
        local.target.extend(s.columns.variables.iter().enumerate().map(|(j, &v)| {
            // Neighbours, which often belong together, get about the same.
            let weight = 1.0 + SPREAD * j as f64 / n as f64;
            x[v] - FAR * weight * descent[j] / largest * (s.upper[j] - s.lower[j])
        }));
        local.qp.set_target(&local.target);
        if !matches!(local.qp.solve(), Ok(Status::Optimal)) {
            break;
        }
        let before: Vec<f64> = s.columns.variables.iter().map(|&v| x[v]).collect();
        let vertex = local.qp.x().to_vec();
        let mut best = (f64::INFINITY, 0.0);
        let place = |length: f64, x: &mut [f64]| {
            for (j, &v) in s.columns.variables.iter().enumerate() {
                x[v] = (before[j] + length * (vertex[j] - before[j])).clamp(s.lower[j], s.upper[j]);
            }
        };
        for length in [1.0, 0.5] {
            place(length, x);
            let trial = measure(local, s, x, &mut atoms);
            if trial < best.0 {
                best = (trial, length);
            }
        }
        let pays = best.0 < merit || (iteration < PATIENCE && best.1 > 0.0);
        place(if pays { best.1 } else { 0.0 }, x);
        let trial = measure(local, s, x, &mut atoms);
        if !pays {
            break;
        }
        merit = trial;
        moved = true;
    }
    local.atoms = atoms;
    moved && gauss_newton(local, s, x)
}
