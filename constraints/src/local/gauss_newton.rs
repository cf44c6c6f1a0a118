//! Gauss-Newton: repeated projection onto the linearised constraints.

use super::memory::{Local, Setting};
use super::point::Atom;
use crate::qp::Status;

/// Inequalities are aimed this far inside, relative to the size of their terms.
const INSIDE: f64 = 1e-9;
const ITERATIONS: usize = 15;

/// Moves `x` (in variable order) until the comparisons of its present logical branch hold. Returns whether they do, to rounding.
pub(crate) fn gauss_newton(local: &mut Local, s: Setting<'_>, x: &mut [f64]) -> bool {
    let n = s.columns.variables.len();
    let mut atoms = std::mem::take(&mut local.atoms);
    let mut merit = measure(local, s, x, &mut atoms);
    let mut converged = merit == 0.0;
    for iteration in 0..ITERATIONS {
        if converged || n == 0 || s.must_stop(iteration) {
            break;
        }
        linearise(local, s, x, &atoms);
        local.qp.reset(n);
        local.qp.set_box(s.lower, s.upper);
        local.qp.set_diagonal_metric(s.weights);
        local.target.clear();
        local.target.extend(s.columns.variables.iter().map(|&v| x[v]));
        local.qp.set_target(&local.target);
        push_rows(local, s, x, &atoms, INSIDE);
        let solved = matches!(local.qp.solve(), Ok(Status::Optimal));
        local.trial.clear();
        if solved {
            local.trial.extend_from_slice(local.qp.x());
        } else {
            kaczmarz(local, s, x, &atoms);
        }
        // A coordinate that need not move must not: zeros are exact. Small coordinates of a wide range may have to.
        let still = |j: usize, step: f64| {
            let (range, own) = (s.upper[j] - s.lower[j], local.target[j].abs());
            let noise = 1e-14 * range.max(own);
            step.abs() <= if own == 0.0 { noise } else { noise.min(1e-10 * own) }
        };
        let mut step = std::mem::take(&mut local.step);
        step.clear();
        step.extend((0..n).map(|j| local.trial[j] - local.target[j]));
        for (j, step) in step.iter_mut().enumerate() {
            if still(j, *step) {
                *step = 0.0;
            }
        }
        let start = std::mem::take(&mut local.target);
        let mut improved = false;
        let mut trial_atoms = std::mem::take(&mut local.trial_atoms);
        let mut length = 1.0;
        for _ in 0..8 {
            for (j, &v) in s.columns.variables.iter().enumerate() {
                x[v] = (start[j] + length * step[j]).clamp(s.lower[j], s.upper[j]);
            }
            let trial = measure(local, s, x, &mut trial_atoms);
            if trial < merit * (1.0 - 1e-3 * length) {
                merit = trial;
                std::mem::swap(&mut atoms, &mut trial_atoms);
                improved = true;
                break;
            }
            length *= 0.4;
        }
        local.trial_atoms = trial_atoms;
        if !improved {
            for (j, &v) in s.columns.variables.iter().enumerate() {
                x[v] = start[j];
            }
            measure(local, s, x, &mut atoms);
        }
        (local.step, local.target) = (step, start);
        if !improved {
            break;
        }
        converged = merit == 0.0;
    }
    local.atoms = atoms;
    merit <= 1e-9
}

/// The atoms at `x`; returns the sum of their violations in units of distance (violation over gradient norm), 0 when all hold to
/// rounding.
pub(super) fn measure(local: &mut Local, s: Setting<'_>, x: &[f64], atoms: &mut Vec<Atom>) -> f64 {
    atoms.clear();
    for &r in s.roots {
        let root = &s.model.roots[r as usize];
        local.point.evaluate(s.model, root, x);
        local.point.atoms(s.model, r, &|_| true, atoms);
    }
    let mut total = 0.0;
    let n = s.columns.variables.len();
    let mut gradient = std::mem::take(&mut local.gradients);
    gradient.resize(n.max(gradient.len()), 0.0);
    for atom in atoms.iter() {
        let excess = atom.excess();
        if excess == 0.0 {
            continue;
        }
        let root = &s.model.roots[atom.root as usize];
        // Nodes of other roots may share values: evaluate again before differentiating.
        local.point.evaluate(s.model, root, x);
        local.point.gradient(s.model, root, atom.node, &s.columns.of_variable, &mut gradient[..n]);
        let mut norm = 0.0;
        let mut scale = 0.0;
        for (j, &v) in s.columns.variables.iter().enumerate() {
            norm += gradient[j] * gradient[j] / s.weights[j];
            scale += (gradient[j] * x[v]).abs();
        }
        let scale = scale.max(atom.size);
        // An equality is met within rounding, well inside 1e-9.
        if atom.equality && excess <= 1e-13 * scale {
            continue;
        }
        let norm = norm.sqrt();
        total += if norm > 0.0 && norm.is_finite() && excess.is_finite() {
            excess / norm
        } else {
            1e3 + excess.min(1e9)
        };
    }
    local.gradients = gradient;
    total
}

/// Gradients of all atoms at `x`.
pub(super) fn linearise(local: &mut Local, s: Setting<'_>, x: &[f64], atoms: &[Atom]) {
    let n = s.columns.variables.len();
    let mut gradients = std::mem::take(&mut local.gradients);
    gradients.clear();
    gradients.resize(atoms.len() * n, 0.0);
    let mut evaluated = None;
    for (atom, gradient) in atoms.iter().zip(gradients.chunks_exact_mut(n.max(1))) {
        let root = &s.model.roots[atom.root as usize];
        if evaluated != Some(atom.root) {
            local.point.evaluate(s.model, root, x);
            evaluated = Some(atom.root);
        }
        local.point.gradient(s.model, root, atom.node, &s.columns.of_variable, gradient);
    }
    local.gradients = gradients;
}

/// `value + gradient (x' - x) <= -margin`, or `= 0`, for each atom.
pub(super) fn push_rows(local: &mut Local, s: Setting<'_>, x: &[f64], atoms: &[Atom], inside: f64) {
    let n = s.columns.variables.len();
    for (atom, gradient) in atoms.iter().zip(local.gradients.chunks_exact(n.max(1))) {
        if !atom.value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            continue;
        }
        let mut at = 0.0;
        let mut scale = 0.0;
        for (j, &v) in s.columns.variables.iter().enumerate() {
            at += gradient[j] * x[v];
            scale += (gradient[j] * x[v]).abs();
        }
        if gradient.iter().all(|&g| g == 0.0) {
            continue;
        }
        let right = at - atom.value;
        if atom.equality {
            local.qp.push_eq(gradient, right);
        } else {
            // Never ask for more room than the box has: half of the row's range is enough.
            let range: f64 = (0..n).map(|j| gradient[j].abs() * (s.upper[j] - s.lower[j])).sum();
            let margin = (inside * scale.max(atom.value.abs())).min(1e-3 * range);
            local.qp.push_le(gradient, right - margin);
        }
    }
}

/// Cyclic projections onto the violated rows: a compromise when the linearised constraints contradict each other.
fn kaczmarz(local: &mut Local, s: Setting<'_>, x: &[f64], atoms: &[Atom]) {
    let n = s.columns.variables.len();
    let mut y = std::mem::take(&mut local.trial);
    y.clear();
    y.extend(s.columns.variables.iter().map(|&v| x[v]));
    for _ in 0..20 {
        for (atom, gradient) in atoms.iter().zip(local.gradients.chunks_exact(n.max(1))) {
            let mut value = atom.value;
            let mut norm = 0.0;
            for (j, &v) in s.columns.variables.iter().enumerate() {
                value += gradient[j] * (y[j] - x[v]);
                norm += gradient[j] * gradient[j] / s.weights[j];
            }
            let excess = if atom.equality { value } else { value.max(0.0) };
            if excess == 0.0 || !(norm > 0.0 && norm.is_finite() && excess.is_finite()) {
                continue;
            }
            for j in 0..n {
                y[j] = (y[j] - excess * gradient[j] / s.weights[j] / norm).clamp(s.lower[j], s.upper[j]);
            }
        }
    }
    local.trial = y;
}
