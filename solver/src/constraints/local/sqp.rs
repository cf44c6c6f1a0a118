//! Sequential quadratic programming towards the centre: a feasible point becomes a local minimum of the distance.
//!
//! Powell (1978), A fast algorithm for nonlinearly constrained optimization calculations: damped BFGS, l1 merit function.

use super::gauss_newton::{linearise, measure, push_rows};
use super::{Local, Setting};
use crate::qp::Status;

const ITERATIONS: usize = 40;

/// Moves `x` (in variable order) towards a local minimum of `sum weights (x - centre)^2` over the constraints of its logical branch.
/// `centre` by column. The result is near-feasible only: the caller polishes and checks it.
pub(in crate::constraints) fn sqp(local: &mut Local, s: Setting<'_>, centre: &[f64], x: &mut [f64]) {
    let n = s.columns.variables.len();
    if n == 0 {
        return;
    }
    let mut hessian = vec![0.0; n * n];
    for j in 0..n {
        hessian[j * n + j] = 2.0 * s.weights[j];
    }
    let mut penalty = 0.0_f64;
    let mut atoms = std::mem::take(&mut local.atoms);
    let mut trial_atoms = std::mem::take(&mut local.trial_atoms);
    let mut merit_violation = measure(local, s, x, &mut atoms);
    for _ in 0..ITERATIONS {
        if s.limits.must_stop() {
            break;
        }
        let current: Vec<f64> = s.columns.variables.iter().map(|&v| x[v]).collect();
        let gradient: Vec<f64> = (0..n).map(|j| 2.0 * s.weights[j] * (current[j] - centre[j])).collect();
        let Some(newton) = solve(&hessian, &gradient, n) else { break };
        linearise(local, s, x, &atoms);
        let before = local.gradients.clone();
        let target: Vec<f64> = (0..n).map(|j| current[j] - newton[j]).collect();
        local.qp.reset(n);
        local.qp.set_box(s.lower, s.upper);
        local.qp.set_dense_metric(&hessian);
        local.qp.set_target(&target);
        push_rows(local, s, x, &atoms, 1e-10);
        if !matches!(local.qp.solve(), Ok(Status::Optimal)) || local.qp.n_rows() != atoms.len() {
            break;
        }
        let step: Vec<f64> = (0..n).map(|j| local.qp.x()[j] - current[j]).collect();
        let multipliers = local.qp.row_multipliers().to_vec();
        let length_sq: f64 = (0..n).map(|j| s.weights[j] * step[j] * step[j]).sum();
        if length_sq < 1e-18 {
            break;
        }
        // The merit measures violations by distance: the penalty is the multiplier times the gradient's norm.
        for (i, lambda) in multipliers.iter().enumerate() {
            let norm: f64 = (0..n).map(|j| before[i * n + j].powi(2) / s.weights[j]).sum();
            penalty = penalty.max(1.5 * lambda.abs() * norm.sqrt());
        }
        let distance =
            |y: &dyn Fn(usize) -> f64| (0..n).map(|j| s.weights[j] * (y(j) - centre[j]).powi(2)).sum::<f64>();
        let merit = distance(&|j| current[j]) + penalty * merit_violation;
        let slope: f64 = (0..n).map(|j| gradient[j] * step[j]).sum::<f64>() - penalty * merit_violation;
        let mut length = 1.0;
        let mut accepted = false;
        for _ in 0..12 {
            for (j, &v) in s.columns.variables.iter().enumerate() {
                x[v] = (current[j] + length * step[j]).clamp(s.lower[j], s.upper[j]);
            }
            let violation = measure(local, s, x, &mut trial_atoms);
            let value = distance(&|j| x[s.columns.variables[j]]) + penalty * violation;
            if trial_atoms.len() == atoms.len() && value <= merit + 1e-4 * length * slope.min(0.0) + 1e-15 {
                merit_violation = violation;
                accepted = true;
                break;
            }
            length *= 0.5;
        }
        if !accepted {
            for (j, &v) in s.columns.variables.iter().enumerate() {
                x[v] = current[j];
            }
            break;
        }
        std::mem::swap(&mut atoms, &mut trial_atoms);
        // Change of the Lagrangian's gradient along the step.
        linearise(local, s, x, &atoms);
        let moved: Vec<f64> = (0..n).map(|j| x[s.columns.variables[j]] - current[j]).collect();
        let mut change: Vec<f64> = (0..n).map(|j| 2.0 * s.weights[j] * moved[j]).collect();
        for (i, lambda) in multipliers.iter().enumerate() {
            if *lambda != 0.0 {
                for j in 0..n {
                    change[j] += lambda * (local.gradients[i * n + j] - before[i * n + j]);
                }
            }
        }
        damped_bfgs(&mut hessian, &moved, &mut change, n);
    }
    local.atoms = atoms;
    local.trial_atoms = trial_atoms;
}

/// Powell's update: `B` stays positive definite.
fn damped_bfgs(b: &mut [f64], s: &[f64], y: &mut [f64], n: usize) {
    let bs: Vec<f64> = (0..n).map(|i| (0..n).map(|j| b[i * n + j] * s[j]).sum()).collect();
    let sbs: f64 = (0..n).map(|i| s[i] * bs[i]).sum();
    let sy: f64 = (0..n).map(|i| s[i] * y[i]).sum();
    if !(sbs > 0.0 && sbs.is_finite() && sy.is_finite()) {
        return;
    }
    if sy < 0.2 * sbs {
        let theta = 0.8 * sbs / (sbs - sy);
        for i in 0..n {
            y[i] = theta * y[i] + (1.0 - theta) * bs[i];
        }
    }
    let sy: f64 = (0..n).map(|i| s[i] * y[i]).sum();
    if sy <= 0.0 {
        return;
    }
    for i in 0..n {
        for j in 0..n {
            b[i * n + j] += y[i] * y[j] / sy - bs[i] * bs[j] / sbs;
        }
    }
}

/// Solves a symmetric positive definite system by Cholesky factors.
fn solve(a: &[f64], right: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = a.to_vec();
    for j in 0..n {
        let mut pivot = l[j * n + j];
        for k in 0..j {
            pivot -= l[j * n + k] * l[j * n + k];
        }
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
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
    let mut x = right.to_vec();
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
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn cholesky_solves_a_small_system() {
        // [4 2; 2 3] x = [8, 7] has x = (1.25, 1.5).
        let x = solve(&[4.0, 2.0, 2.0, 3.0], &[8.0, 7.0], 2).unwrap();
        assert!((x[0] - 1.25).abs() < 1e-14 && (x[1] - 1.5).abs() < 1e-14);
        assert!(solve(&[1.0, 2.0, 2.0, 1.0], &[1.0, 1.0], 2).is_none());
    }
}
