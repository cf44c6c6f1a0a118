//! Quasi-Newton descent in a box, for few parameters and costly values.

/// A function to be minimised.
pub(super) trait Descent {
    /// Its value, infinite where it is not defined.
    fn value(&mut self, theta: &[f64]) -> f64;
    /// Its gradient at the point whose value was asked last.
    fn gradient(&mut self, theta: &[f64]) -> Vec<f64>;
}

const ITERATIONS: usize = 30;
/// An iteration that gains less ends the descent.
const LEAST_GAIN: f64 = 1e-3;
/// No parameter moves further in one step: parameters are logarithms.
const LONGEST: f64 = 2.0;
const BACKTRACKS: usize = 8;
const SHRINK: f64 = 0.35;
const ARMIJO: f64 = 1e-4;
/// The first inverse Hessian, as a multiple of the unit matrix.
const FIRST: f64 = 0.3;

/// Minimises from `theta` until `must_stop`, asked before each iteration; every point stays within `bounds`. Returns the best point and its value.
pub(super) fn minimise(
    function: &mut impl Descent,
    mut theta: Vec<f64>,
    bounds: &[(f64, f64)],
    must_stop: &dyn Fn() -> bool,
) -> (Vec<f64>, f64) {
    let n = theta.len();
    let clamp = |i: usize, t: f64| t.clamp(bounds[i].0, bounds[i].1);
    for i in 0..n {
        theta[i] = clamp(i, theta[i]);
    }
    let mut value = function.value(&theta);
    if !value.is_finite() {
        return (theta, value);
    }
    let mut gradient = function.gradient(&theta);
    let mut inverse_hessian = vec![0.0; n * n];
    for i in 0..n {
        inverse_hessian[i * n + i] = FIRST;
    }
    let mut is_first = true;
    for _ in 0..ITERATIONS {
        if must_stop() {
            break;
        }
        let pressed = |i: usize, by: f64| {
            (theta[i] <= bounds[i].0 && by < 0.0) || (theta[i] >= bounds[i].1 && by > 0.0)
        };
        let free: Vec<bool> = (0..n).map(|i| !pressed(i, -gradient[i])).collect();
        let masked = |i: usize| if free[i] { gradient[i] } else { 0.0 };
        let mut direction: Vec<f64> = (0..n)
            .map(|i| {
                if free[i] {
                    -(0..n).map(|j| inverse_hessian[i * n + j] * masked(j)).sum::<f64>()
                } else {
                    0.0
                }
            })
            .collect();
        let longest = direction.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        if longest > LONGEST {
            direction.iter_mut().for_each(|d| *d *= LONGEST / longest);
        }
        let mut length = 1.0;
        let mut accepted = None;
        for _ in 0..=BACKTRACKS {
            let trial: Vec<f64> = (0..n).map(|i| clamp(i, theta[i] + length * direction[i])).collect();
            let slope: f64 = (0..n).map(|i| gradient[i] * (trial[i] - theta[i])).sum();
            if slope >= 0.0 {
                break;
            }
            let trial_value = function.value(&trial);
            if trial_value <= value + ARMIJO * slope {
                accepted = Some((trial, trial_value));
                break;
            }
            length *= SHRINK;
        }
        let Some((trial, trial_value)) = accepted else { break };
        let trial_gradient = function.gradient(&trial);
        let s: Vec<f64> = trial.iter().zip(&theta).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = trial_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let sy: f64 = s.iter().zip(&y).map(|(s, y)| s * y).sum();
        if sy > 1e-10 {
            if is_first {
                let yy: f64 = y.iter().map(|y| y * y).sum();
                for i in 0..n {
                    inverse_hessian[i * n + i] = sy / yy;
                }
            }
            update(&mut inverse_hessian, &s, &y, sy);
        }
        is_first = false;
        let gain = value - trial_value;
        (theta, value, gradient) = (trial, trial_value, trial_gradient);
        if gain < LEAST_GAIN {
            break;
        }
    }
    (theta, value)
}

/// `H <- (I - s y'/s'y) H (I - y s'/s'y) + s s'/s'y`.
fn update(h: &mut [f64], s: &[f64], y: &[f64], sy: f64) {
    let n = s.len();
    let hy: Vec<f64> = (0..n).map(|i| (0..n).map(|j| h[i * n + j] * y[j]).sum()).collect();
    let yhy: f64 = y.iter().zip(&hy).map(|(y, hy)| y * hy).sum();
    for i in 0..n {
        for j in 0..n {
            h[i * n + j] += (1.0 + yhy / sy) * s[i] * s[j] / sy - (hy[i] * s[j] + s[i] * hy[j]) / sy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Descent, minimise};

    struct Valley;

    impl Descent for Valley {
        fn value(&mut self, t: &[f64]) -> f64 {
            50.0 * (t[0] - 1.0).powi(2) + (t[1] + 2.0 * t[0]).powi(2) + t[2].powi(2)
        }
        fn gradient(&mut self, t: &[f64]) -> Vec<f64> {
            let b = 2.0 * (t[1] + 2.0 * t[0]);
            vec![100.0 * (t[0] - 1.0) + 2.0 * b, b, 2.0 * t[2]]
        }
    }

    #[test]
    fn the_minimum_inside_is_found_and_a_bound_holds() {
        let wide = [(-10.0, 10.0); 3];
        let (theta, value) = minimise(&mut Valley, vec![5.0, 5.0, 3.0], &wide, &|| false);
        assert!(value < 1e-3, "{theta:?} {value}");
        let (theta, _) =
            minimise(&mut Valley, vec![5.0, 5.0, 3.0], &[(-10.0, 10.0), (-1.0, 10.0), (1.0, 10.0)], &|| {
                false
            });
        // At t1 = -1 the best t0 solves 100 (t0 - 1) + 4 (2 t0 - 1) = 0.
        assert!((theta[0] - 104.0 / 108.0).abs() < 1e-2 && theta[1] == -1.0 && theta[2] == 1.0, "{theta:?}");
    }
}
