//! Sequential quadratic programming towards the centre: a feasible point becomes a local minimum of the distance.
//!
//! Powell (1978), A fast algorithm for nonlinearly constrained optimization calculations: damped BFGS, l1 merit function.

use super::gauss_newton::{linearise, measure, push_rows};
use super::memory::{Local, Scratch, Setting};
use super::point::Atom;
use crate::qp::Status;

const ITERATIONS: usize = 40;
/// A full step whose square is below this share of the squared distance is the last: convergence is superlinear, so that what is left is
/// far below any gap.
const SETTLED: f64 = 1e-8;

/// Moves `x` (in variable order) towards a local minimum of `sum weights (x - centre)^2` over the constraints of its logical branch.
/// `centre` by column. The result is near-feasible only: the caller polishes and checks it.
pub(crate) fn sqp(local: &mut Local, s: Setting<'_>, centre: &[f64], x: &mut [f64]) {
    if s.columns.variables.is_empty() {
        return;
    }
    let mut atoms = std::mem::take(&mut local.atoms);
    let mut trial_atoms = std::mem::take(&mut local.trial_atoms);
    let mut scratch = std::mem::take(&mut local.scratch);
    iterate(local, s, centre, x, [&mut atoms, &mut trial_atoms], &mut scratch);
    local.atoms = atoms;
    local.trial_atoms = trial_atoms;
    local.scratch = scratch;
}

fn iterate(
    local: &mut Local,
    s: Setting<'_>,
    centre: &[f64],
    x: &mut [f64],
    [atoms, trial_atoms]: [&mut Vec<Atom>; 2],
    scratch: &mut Scratch,
) {
    let variables = &s.columns.variables;
    let n = variables.len();
    let Scratch {
        hessian,
        factor,
        current,
        gradient,
        newton,
        target,
        step,
        multipliers,
        before,
        moved,
        change,
    } = scratch;
    hessian.clear();
    hessian.resize(n * n, 0.0);
    for j in 0..n {
        hessian[j * n + j] = 2.0 * s.weights[j];
    }
    let mut diagonal = true;
    let mut penalty = 0.0_f64;
    let mut merit_violation = measure(local, s, x, atoms);
    for iteration in 0..ITERATIONS {
        if s.must_stop(iteration) {
            break;
        }
        refill(current, variables.iter().map(|&v| x[v]));
        refill(gradient, (0..n).map(|j| 2.0 * s.weights[j] * (current[j] - centre[j])));
        linearise(local, s, x, atoms);
        before.clone_from(&local.gradients);
        local.qp.reset(n);
        local.qp.set_box(s.lower, s.upper);
        if diagonal {
            // Twice the weights, whose minimum is the centre.
            refill(change, s.weights.iter().map(|w| 2.0 * w));
            local.qp.set_diagonal_metric(change);
            local.qp.set_target(centre);
        } else {
            if !solve(hessian, gradient, n, factor, newton) {
                break;
            }
            refill(target, (0..n).map(|j| current[j] - newton[j]));
            local.qp.set_dense_metric(hessian);
            local.qp.set_target(target);
        }
        push_rows(local, s, x, atoms, 1e-10);
        if !matches!(local.qp.solve(), Ok(Status::Optimal)) || local.qp.n_rows() != atoms.len() {
            break;
        }
        refill(step, local.qp.x().iter().zip(&*current).map(|(new, old)| new - old));
        multipliers.clear();
        multipliers.extend_from_slice(local.qp.row_multipliers());
        let length_sq: f64 = (0..n).map(|j| s.weights[j] * step[j] * step[j]).sum();
        if length_sq < 1e-18 {
            break;
        }
        // The merit measures violations by distance: the penalty is the multiplier times the gradient's norm.
        for (i, lambda) in multipliers.iter().enumerate() {
            if *lambda != 0.0 {
                let norm: f64 = (0..n).map(|j| before[i * n + j].powi(2) / s.weights[j]).sum();
                penalty = penalty.max(1.5 * lambda.abs() * norm.sqrt());
            }
        }
        let distance =
            |y: &dyn Fn(usize) -> f64| (0..n).map(|j| s.weights[j] * (y(j) - centre[j]).powi(2)).sum::<f64>();
        let own = distance(&|j| current[j]);
        let merit = own + penalty * merit_violation;
        let slope: f64 = (0..n).map(|j| gradient[j] * step[j]).sum::<f64>() - penalty * merit_violation;
        let mut length = 1.0;
        let mut accepted = false;
        for _ in 0..12 {
            for (j, &v) in variables.iter().enumerate() {
                x[v] = (current[j] + length * step[j]).clamp(s.lower[j], s.upper[j]);
            }
            let violation = measure(local, s, x, trial_atoms);
            let value = distance(&|j| x[variables[j]]) + penalty * violation;
            if trial_atoms.len() == atoms.len() && value <= merit + 1e-4 * length * slope.min(0.0) + 1e-15 {
                merit_violation = violation;
                accepted = true;
                break;
            }
            length *= 0.5;
        }
        if !accepted {
            for (j, &v) in variables.iter().enumerate() {
                x[v] = current[j];
            }
            break;
        }
        std::mem::swap(atoms, trial_atoms);
        if length == 1.0 && length_sq <= SETTLED * own {
            break;
        }
        // Change of the Lagrangian's gradient along the step.
        linearise(local, s, x, atoms);
        refill(moved, (0..n).map(|j| x[variables[j]] - current[j]));
        refill(change, (0..n).map(|j| 2.0 * s.weights[j] * moved[j]));
        for (i, lambda) in multipliers.iter().enumerate() {
            if *lambda != 0.0 {
                for j in 0..n {
                    change[j] += lambda * (local.gradients[i * n + j] - before[i * n + j]);
                }
            }
        }
        diagonal &= !damped_bfgs(hessian, moved, change, newton, n);
    }
}

fn refill(vector: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    vector.clear();
    vector.extend(values);
}

/// Powell's update: `B` stays positive definite. Returns whether `B` changed; `bs` is work space.
fn damped_bfgs(b: &mut [f64], s: &[f64], y: &mut [f64], bs: &mut Vec<f64>, n: usize) -> bool {
    refill(bs, (0..n).map(|i| (0..n).map(|j| b[i * n + j] * s[j]).sum()));
    let sbs: f64 = (0..n).map(|i| s[i] * bs[i]).sum();
    let sy: f64 = (0..n).map(|i| s[i] * y[i]).sum();
    if !(sbs > 0.0 && sbs.is_finite() && sy.is_finite()) {
        return false;
    }
    if sy < 0.2 * sbs {
        let theta = 0.8 * sbs / (sbs - sy);
        for i in 0..n {
            y[i] = theta * y[i] + (1.0 - theta) * bs[i];
        }
    }
    let sy: f64 = (0..n).map(|i| s[i] * y[i]).sum();
    if sy <= 0.0 {
        return false;
    }
    for i in 0..n {
        for j in 0..n {
            b[i * n + j] += y[i] * y[j] / sy - bs[i] * bs[j] / sbs;
        }
    }
    true
}

/// Solves a symmetric positive definite system by Cholesky factors; false when it is none.
fn solve(a: &[f64], right: &[f64], n: usize, l: &mut Vec<f64>, x: &mut Vec<f64>) -> bool {
    refill(l, a.iter().copied());
    for j in 0..n {
        let mut pivot = l[j * n + j];
        for k in 0..j {
            pivot -= l[j * n + k] * l[j * n + k];
        }
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let pivot = pivot.sqrt();
        l[j * n + j] = pivot;
        for i in j + 1..n {
            let mut sum = l[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = sum / pivot;
        }
    }
    refill(x, right.iter().copied());
    for i in 0..n {
        for k in 0..i {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn cholesky_solves_a_small_system() {
        let (mut l, mut x) = (Vec::new(), Vec::new());
        // [4 2; 2 3] x = [8, 7] has x = (1.25, 1.5).
        assert!(solve(&[4.0, 2.0, 2.0, 3.0], &[8.0, 7.0], 2, &mut l, &mut x));
        assert!((x[0] - 1.25).abs() < 1e-14 && (x[1] - 1.5).abs() < 1e-14);
        assert!(!solve(&[1.0, 2.0, 2.0, 1.0], &[1.0, 1.0], 2, &mut l, &mut x));
    }
}
