//! Surfaces to be minimised, and quadratic models of them.

use super::acquisition::Acquisition;
use super::process::Evaluator;

/// A function of coordinates to be minimised.
pub(super) trait Surface {
    /// Its value.
    fn value(&mut self, u: &[f64]) -> f64;
    /// Its value; its slopes in each coordinate, `[n_coordinates]`, 0 for a category.
    fn value_and_slopes(&mut self, u: &[f64], slopes: &mut [f64]) -> f64;
    /// Over what distance it changes, by coordinate.
    fn scales(&self) -> Vec<f64>;
}

impl<S: Surface> Surface for &mut S {
    fn value(&mut self, u: &[f64]) -> f64 {
        (**self).value(u)
    }

    fn value_and_slopes(&mut self, u: &[f64], slopes: &mut [f64]) -> f64 {
        (**self).value_and_slopes(u, slopes)
    }

    fn scales(&self) -> Vec<f64> {
        (**self).scales()
    }
}

/// An acquisition of a process.
#[derive(Debug)]
pub(super) struct AcquisitionSurface<'a> {
    evaluator: Evaluator<'a>,
    acquisition: Acquisition,
    by_mean: Vec<f64>,
    by_variance: Vec<f64>,
}

impl<'a> AcquisitionSurface<'a> {
    pub(super) fn new(evaluator: Evaluator<'a>, acquisition: Acquisition) -> Self {
        let d = evaluator.process().coordinates().n_coordinates();
        Self { evaluator, acquisition, by_mean: vec![0.0; d], by_variance: vec![0.0; d] }
    }
}

impl Surface for AcquisitionSurface<'_> {
    fn value(&mut self, u: &[f64]) -> f64 {
        let posterior = self.evaluator.posterior(u);
        self.acquisition.value(posterior, self.evaluator.process().best())
    }

    fn value_and_slopes(&mut self, u: &[f64], slopes: &mut [f64]) -> f64 {
        let posterior = self.evaluator.posterior(u);
        let at = self.acquisition.slopes(posterior, self.evaluator.process().best());
        self.evaluator.slopes(u, &mut self.by_mean, &mut self.by_variance);
        let by_variance = at.by_deviation / (2.0 * posterior.deviation());
        for (j, slope) in slopes.iter_mut().enumerate() {
            *slope = at.by_mean * self.by_mean[j] + by_variance * self.by_variance[j];
        }
        at.value
    }

    fn scales(&self) -> Vec<f64> {
        self.evaluator.process().parameters().length_scales.clone()
    }
}

/// A positive definite model of a surface's second derivatives over some coordinates, learnt from differences of gradients (BFGS).
#[derive(Clone, Debug)]
pub(super) struct Hessian {
    n: usize,
    /// `[n, n]`.
    matrix: Vec<f64>,
    updates: usize,
}

impl Hessian {
    /// A multiple of `diag(weights)` such that the first step moves a coordinate by `first` at most.
    pub(super) fn new(weights: &[f64], gradient: &[f64], first: f64) -> Self {
        let n = weights.len();
        let longest = gradient.iter().zip(weights).fold(0.0f64, |m, (g, w)| m.max(g.abs() / w));
        let scale = if longest > 0.0 && longest.is_finite() { longest / first } else { 1.0 };
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            matrix[i * n + i] = scale * weights[i];
        }
        Self { n, matrix, updates: 0 }
    }

    pub(super) fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// True until the first difference was learnt.
    pub(super) fn is_new(&self) -> bool {
        self.updates == 0
    }

    /// `-H^-1 gradient`, shortened so that no coordinate moves by more than `longest`.
    pub(super) fn step(&self, gradient: &[f64], longest: f64) -> Vec<f64> {
        let n = self.n;
        let mut a = self.matrix.clone();
        let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
        // Elimination without pivoting: the matrix is positive definite.
        for k in 0..n {
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                step[i] -= factor * step[k];
            }
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * step[j]).sum();
            step[k] = (step[k] - sum) / a[k * n + k];
        }
        let most = step.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        if !most.is_finite() {
            return vec![0.0; n];
        }
        if most > longest {
            step.iter_mut().for_each(|s| *s *= longest / most);
        }
        step
    }

    /// Learns that the gradient changed by `y` over the step `s`. Where the surface bends down, steps get longer instead.
    pub(super) fn update(&mut self, s: &[f64], y: &[f64]) {
        let n = self.n;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let hs: Vec<f64> = (0..n).map(|i| dot(&self.matrix[i * n..(i + 1) * n], s)).collect();
        let (shs, sy) = (dot(s, &hs), dot(s, y));
        if !(shs > 0.0 && shs.is_finite() && sy.is_finite()) {
            return;
        }
        self.updates += 1;
        if sy <= 1e-6 * shs {
            self.matrix.iter_mut().for_each(|h| *h *= 0.5);
            return;
        }
        // The first difference tells the size of the whole model.
        let scale = if self.updates == 1 { sy / shs } else { 1.0 };
        for i in 0..n {
            for j in 0..n {
                let h = &mut self.matrix[i * n + j];
                *h = scale * (*h - hs[i] * hs[j] / shs) + y[i] * y[j] / sy;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slopes_equal_finite_differences, coordinates, table};
    use super::{AcquisitionSurface, Hessian};
    use crate::smooth::process::Evaluator;
    use crate::smooth::{Acquisition, SmoothProcess, SmoothSettings};

    #[test]
    fn slopes_of_the_acquisition_equal_finite_differences() {
        let (x, y) = table(21, 25);
        let process = SmoothProcess::fit(&coordinates(), &x, &y, &SmoothSettings::default()).unwrap();
        for acquisition in [Acquisition::LogExpectedImprovement, Acquisition::LowerBound { kappa: 2.0 }] {
            let mut surface = AcquisitionSurface::new(Evaluator::new(&process), acquisition);
            assert_slopes_equal_finite_differences(&mut surface, &process, &acquisition);
        }
    }

    #[test]
    fn a_quadratic_is_learnt_and_solved() {
        // f = 1/2 u'Au with A = [[3, 1], [1, 2]].
        let gradient = |u: &[f64]| vec![3.0 * u[0] + u[1], u[0] + 2.0 * u[1]];
        let mut u = vec![0.7, -0.4];
        let mut hessian = Hessian::new(&[1.0, 1.0], &gradient(&u), 0.1);
        let first = hessian.step(&gradient(&u), 0.5);
        assert!((first[0].abs().max(first[1].abs()) - 0.1).abs() < 1e-12);
        for _ in 0..8 {
            let g = gradient(&u);
            let s = hessian.step(&g, 0.5);
            let next: Vec<f64> = u.iter().zip(&s).map(|(u, s)| u + s).collect();
            let y: Vec<f64> = gradient(&next).iter().zip(&g).map(|(a, b)| a - b).collect();
            hessian.update(&s, &y);
            u = next;
        }
        assert!(u[0].abs() < 1e-6 && u[1].abs() < 1e-6, "{u:?}");
    }
}
