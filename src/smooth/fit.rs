//! The kernel's parameters: the maximum of likelihood times prior.
//!
//! With the correlation matrix `R = r + (g + 1e-10) I` of `n` rows, the constant mean `m = 1'R^-1 y / 1'R^-1 1` and `q = (y - m)' R^-1 (y - m)`, a weak
//! prior at 1 makes the signal variance `(2 + q)/(n + 2)`, and what is minimised is
//!
//! ```text
//! (n + 2)/2 ln((2 + q)/(n + 2)) + ln|R|/2 + sum_i (ln l_i - mu_d)^2/6 + 2 sum_i (ln a_i - c)^2 + (c + 1)^2/2 + eta^2/4.5 + (ln g + 9)^2/18
//! ```
//!
//! over `ln l`, `ln a`, `eta` with `rho = 1/(1 + exp(-eta))`, and `ln g`. With trees there is a `zeta`, whose term is `(zeta + 1)^2/4.5`, the weights `1`, `exp(eta)`
//! and `exp(zeta)` of the joint, the additive and the trees' part over their sum are their shares, and the descent starts from the optimum without. The additive scales have a common centre `c`, which the data decide, too: `ln a_i` is normal
//! around `c` with deviation 1/2, `c` around -1 with deviation 1, and at the optimum `c = (4 sum_i ln a_i - 1)/(4 d + 1)`. So what one variable shows of its scale
//! counts for all of them, and ten variables do not have to be learnt one by one. `mu_d = sqrt 2 + ln(d)/2 - 3` is the mode of the log-normal prior of Hvarfner,
//! Hellsten & Nardi, *Vanilla Bayesian optimization performs great in high dimensions*, ICML 2024. With [`LengthScalePrior::Gamma`] the first sum is `sum_i (6 l_i - 2 ln l_i)`, the density of
//! `l_i` itself.

use faer::Mat;
use leafgp_solver::constraints::Limits;

use super::SmoothError;
use super::bfgs::{Descent, minimise};
use super::factor::{cholesky, dot, inverse_from_factor, solve};
use super::kernel::{Columns, JITTER, KernelParameters, matern};
use super::leaves::agreement;
use super::settings::{KernelKind, LengthScalePrior, SmoothSettings};

/// Interval of all parameters but the nugget.
const INTERVAL: (f64, f64) = (-3.912_023_005_428_146, 3.912_023_005_428_146);
/// Interval of `ln g`.
const NUGGET_INTERVAL: (f64, f64) = (-14.0, 0.0);
/// `1/deviation^2` of `ln a_i` around the common centre.
const ADDITIVE_PRECISION: f64 = 4.0;
/// Prior mean of `zeta`, and where its descent starts.
const TREE_CENTRE: f64 = -1.0;
/// Rate, and shape less 1, of [`LengthScalePrior::Gamma`].
const GAMMA_RATE: f64 = 6.0;
const GAMMA_POWER: f64 = 2.0;

/// The parameters of largest posterior density for targets `y`; the better of two starts. The same data give the same answer, unless the limits end the descents: then the best so far.
///
/// # Errors
/// [`SmoothError::Factor`] when no start has a correlation matrix that can be factorised.
pub(super) fn fit(
    columns: &Columns,
    y: &[f64],
    settings: &SmoothSettings,
    limits: &Limits,
) -> Result<KernelParameters, SmoothError> {
    let mut density = Density::new(columns, y, settings);
    let kind = settings.kernel;
    let (d, mu) = (density.d, density.centre());
    let start = |lengths: f64, additive: f64, eta: f64, nugget: f64| {
        let mut theta = vec![lengths; d];
        if kind == KernelKind::AdditiveAndJoint {
            theta.extend(std::iter::repeat_n(additive, d));
            theta.push(eta);
        }
        theta.push(nugget);
        theta
    };
    let starts = [start(mu, -1.0, 0.5, -9.0), start(mu + 1.5, 0.0, -0.5, -6.0)];
    let mut bounds = vec![INTERVAL; starts[0].len() - 1];
    bounds.push(NUGGET_INTERVAL);

    let mut best: Option<(f64, Vec<f64>)> = None;
    for theta in starts {
        if best.is_some() && limits.must_stop() {
            break;
        }
        let (theta, value) = minimise(&mut density, theta, &bounds, &|| limits.must_stop());
        if value.is_finite() && best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, theta));
        }
    }
    let (_, theta) = best.ok_or(SmoothError::Factor { rows: y.len() })?;
    if !columns.leaves.is_empty() && !limits.must_stop() {
        density.agreement = agreements(columns);
        let mut start = theta.clone();
        start.insert(theta.len() - 1, TREE_CENTRE);
        bounds.insert(0, INTERVAL);
        let (found, value) = minimise(&mut density, start, &bounds, &|| limits.must_stop());
        if value.is_finite() {
            return Ok(density.parameters(&found));
        }
        density.agreement = Vec::new();
    }
    Ok(density.parameters(&theta))
}

/// The share of equal leaves of each pair of rows, in the order of [`Density`]'s distances.
fn agreements(columns: &Columns) -> Vec<f64> {
    let n = columns.n_rows;
    let pairs = (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j)));
    pairs.map(|(i, j)| agreement(columns.leaves_of(i), columns.leaves_of(j))).collect()
}

/// The negative logarithm of the posterior density as a function of the parameters; work space for its gradient.
pub(super) struct Density<'a> {
    y: &'a [f64],
    kind: KernelKind,
    length_scales: LengthScalePrior,
    d: usize,
    n: usize,
    /// `|delta|` of each pair of rows `j < i`, one vector a coordinate; pairs ordered by `j`, then `i`: the columns of a lower triangle.
    distances: Vec<Vec<f64>>,
    /// `delta^2` likewise.
    squares: Vec<Vec<f64>>,
    /// Of the last value: `(1 + s) exp(-s)` of the joint part, `m` of the joint part, mean of the additive `m`.
    joint_slope: Vec<f64>,
    joint: Vec<f64>,
    additive: Vec<f64>,
    /// Share of equal leaves; empty without trees.
    agreement: Vec<f64>,
    /// `s^2/3 (1 + s) exp(-s)` of the additive parts.
    additive_slope: Vec<Vec<f64>>,
    /// The factor at the last value.
    factor: Mat<f64>,
    inverse: Mat<f64>,
    alpha: Vec<f64>,
    q: f64,
}

impl<'a> Density<'a> {
    pub(super) fn new(columns: &Columns, y: &'a [f64], settings: &SmoothSettings) -> Self {
        let kind = settings.kernel;
        let (d, n) = (columns.values.len(), columns.n_rows);
        let distances = (0..d).map(|c| {
            let column = &columns.values[c];
            let pairs = (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j)));
            pairs.map(|(i, j)| columns.distance(c, column[i], column[j])).collect()
        });
        let distances: Vec<Vec<f64>> = distances.collect();
        let squares = distances.iter().map(|of| of.iter().map(|delta| delta * delta).collect()).collect();
        let n_pairs = n * n.saturating_sub(1) / 2;
        let additive = if kind == KernelKind::AdditiveAndJoint { n_pairs } else { 0 };
        Self {
            y,
            kind,
            length_scales: settings.length_scales,
            d,
            n,
            distances,
            squares,
            joint_slope: vec![0.0; n_pairs],
            joint: vec![0.0; n_pairs],
            additive: vec![0.0; additive],
            agreement: Vec::new(),
            additive_slope: vec![vec![0.0; additive]; d],
            factor: Mat::zeros(n, n),
            inverse: Mat::zeros(n, n),
            alpha: Vec::new(),
            q: 0.0,
        }
    }

    /// `mu_d`.
    fn centre(&self) -> f64 {
        std::f64::consts::SQRT_2 + 0.5 * (self.d.max(1) as f64).ln() - 3.0
    }

    fn is_additive(&self) -> bool {
        self.kind == KernelKind::AdditiveAndJoint
    }

    fn has_trees(&self) -> bool {
        !self.agreement.is_empty()
    }

    /// The parameters that `theta` stands for.
    pub(super) fn parameters(&self, theta: &[f64]) -> KernelParameters {
        let exp = |ln: &[f64]| ln.iter().map(|v| v.exp()).collect::<Vec<f64>>();
        let (d, nugget) = (self.d, theta[theta.len() - 1].exp());
        let length_scales = exp(&theta[..d]);
        let additive_length_scales = if self.is_additive() { exp(&theta[d..2 * d]) } else { vec![1.0; d] };
        // Weights over that of the joint part.
        let trees = if self.has_trees() { theta[theta.len() - 2].exp() } else { 0.0 };
        let additive_share =
            if self.is_additive() { 1.0 / (1.0 + (1.0 + trees) * (-theta[2 * d]).exp()) } else { 0.0 };
        let tree_share = (1.0 - additive_share) * trees / (1.0 + trees);
        KernelParameters { length_scales, additive_length_scales, additive_share, tree_share, nugget }
    }

    /// The prior's part and, if asked, its slopes added to `gradient`.
    fn prior(&self, theta: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        let (d, mu) = (self.d, self.centre());
        let common = if self.is_additive() { common_centre(&theta[d..2 * d]) } else { -1.0 };
        let term = |i: usize| match i {
            _ if i == theta.len() - 1 => (theta[i] + 9.0, 18.0),
            _ if self.has_trees() && i == theta.len() - 2 => (theta[i] - TREE_CENTRE, 4.5),
            _ if i < d => (theta[i] - mu, 6.0),
            _ if i < 2 * d => (theta[i] - common, 2.0 / ADDITIVE_PRECISION),
            _ => (theta[i], 4.5),
        };
        let is_gamma = |i: usize| i < d && self.length_scales == LengthScalePrior::Gamma;
        // The common centre stands at its optimum: it drops out of the slopes.
        if let Some(gradient) = gradient {
            for (i, slot) in gradient.iter_mut().enumerate() {
                let (z, width) = term(i);
                *slot +=
                    if is_gamma(i) { GAMMA_RATE * theta[i].exp() - GAMMA_POWER } else { 2.0 * z / width };
            }
        }
        let cost = |i: usize| {
            let (z, width) = term(i);
            if is_gamma(i) { GAMMA_RATE * theta[i].exp() - GAMMA_POWER * theta[i] } else { z.powi(2) / width }
        };
        let own: f64 = (0..theta.len()).map(cost).sum();
        own + 0.5 * (common + 1.0).powi(2)
    }

    fn correlate(&mut self, parameters: &KernelParameters) {
        let n_pairs = self.joint.len();
        let root5 = 5f64.sqrt();
        self.joint.fill(0.0);
        for (squares, length) in self.squares.iter().zip(&parameters.length_scales) {
            let inverse = length.powi(-2);
            for (sum, square) in self.joint.iter_mut().zip(squares) {
                *sum += square * inverse;
            }
        }
        for (value, slope) in self.joint.iter_mut().zip(&mut self.joint_slope) {
            let (m, h) = matern((5.0 * *value).sqrt());
            (*value, *slope) = (m, h);
        }
        let (rho, tau) = (parameters.additive_share, parameters.tree_share);
        if self.is_additive() {
            let share = 1.0 / self.d.max(1) as f64;
            self.additive.fill(0.0);
            for c in 0..self.d {
                let scale = root5 / parameters.additive_length_scales[c];
                let slopes = &mut self.additive_slope[c];
                for ((sum, slope), delta) in self.additive.iter_mut().zip(slopes).zip(&self.distances[c]) {
                    let s = (scale * delta).min(700.0);
                    let (m, h) = matern(s);
                    *sum += share * m;
                    *slope = s * s * (1.0 / 3.0) * h;
                }
            }
        }
        let mut p = 0;
        for j in 0..self.n {
            let column = self.factor.col_as_slice_mut(j);
            column[j] = 1.0 + parameters.nugget + JITTER;
            for value in &mut column[j + 1..] {
                *value = (1.0 - rho - tau) * self.joint[p];
                if rho > 0.0 {
                    *value += rho * self.additive[p];
                }
                if tau > 0.0 {
                    *value += tau * self.agreement[p];
                }
                p += 1;
            }
        }
        debug_assert_eq!(p, n_pairs);
    }
}

impl Descent for Density<'_> {
    fn value(&mut self, theta: &[f64]) -> f64 {
        let parameters = self.parameters(theta);
        self.correlate(&parameters);
        if cholesky(&mut self.factor).is_err() {
            return f64::INFINITY;
        }
        let n = self.n as f64;
        let half_log_determinant: f64 = (0..self.n).map(|i| self.factor[(i, i)].ln()).sum();
        let mut ones = vec![1.0; self.n];
        solve(&self.factor, &mut ones);
        let mut weighted = self.y.to_vec();
        solve(&self.factor, &mut weighted);
        let mean = weighted.iter().sum::<f64>() / ones.iter().sum::<f64>();
        self.alpha.clear();
        self.alpha.extend(weighted.iter().zip(&ones).map(|(w, o)| w - mean * o));
        self.q = self.y.iter().zip(&self.alpha).map(|(y, a)| (y - mean) * a).sum::<f64>().max(0.0);
        let fit = 0.5 * (n + 2.0) * ((2.0 + self.q) / (n + 2.0)).ln();
        fit + half_log_determinant + self.prior(theta, None)
    }

    fn gradient(&mut self, theta: &[f64]) -> Vec<f64> {
        let parameters = self.parameters(theta);
        inverse_from_factor(&self.factor, &mut self.inverse);
        let (d, n) = (self.d, self.n);
        let c = (n as f64 + 2.0) / (2.0 + self.q);
        let (rho, tau) = (parameters.additive_share, parameters.tree_share);
        let mut gradient = vec![0.0; theta.len()];
        let trace: f64 = (0..n).map(|i| self.inverse[(i, i)]).sum();
        gradient[theta.len() - 1] = 0.5 * parameters.nugget * (trace - c * dot(&self.alpha, &self.alpha));

        // A pair stands for two entries of the symmetric matrix: the half in front is gone.
        // What more of a part is worth, less of the joint one.
        let (mut additive, mut trees) = (0.0, 0.0);
        let mut first = 0;
        let mut weight = Vec::with_capacity(n);
        let mut joint = Vec::with_capacity(n);
        for j in 0..n.saturating_sub(1) {
            let pairs = first..first + n - 1 - j;
            let column = &self.inverse.col_as_slice(j)[j + 1..];
            let at = c * self.alpha[j];
            weight.clear();
            weight.extend(column.iter().zip(&self.alpha[j + 1..]).map(|(r, a)| r - at * a));
            joint.clear();
            joint.extend(weight.iter().zip(&self.joint_slope[pairs.clone()]).map(|(w, h)| w * h));
            for i in 0..d {
                gradient[i] += dot(&joint, &self.squares[i][pairs.clone()]);
            }
            if self.is_additive() {
                for i in 0..d {
                    gradient[d + i] += dot(&weight, &self.additive_slope[i][pairs.clone()]);
                }
                let (own, all) = (&self.additive[pairs.clone()], &self.joint[pairs.clone()]);
                additive += dot(&weight, own) - dot(&weight, all);
            }
            if self.has_trees() {
                let (own, all) = (&self.agreement[pairs.clone()], &self.joint[pairs.clone()]);
                trees += dot(&weight, own) - dot(&weight, all);
            }
            first = pairs.end;
        }
        for i in 0..d {
            gradient[i] *= (1.0 - rho - tau) * 5.0 / 3.0 * parameters.length_scales[i].powi(-2);
            if self.is_additive() {
                gradient[d + i] *= rho / d as f64;
            }
        }
        // The shares are weights over their sum: more of one part is less of all.
        if self.is_additive() {
            gradient[2 * d] = additive * (rho * (1.0 - rho)) - rho * tau * trees;
        }
        if self.has_trees() {
            gradient[theta.len() - 2] = tau * ((1.0 - tau) * trees - rho * additive);
        }
        self.prior(theta, Some(&mut gradient));
        gradient
    }
}

/// The most likely common centre of additive scales `ln a`.
fn common_centre(scales: &[f64]) -> f64 {
    (ADDITIVE_PRECISION * scales.iter().sum::<f64>() - 1.0) / (ADDITIVE_PRECISION * scales.len() as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use leafgp_solver::constraints::Limits;

    use super::super::testing::sample;
    use super::{ADDITIVE_PRECISION, Density, agreements, common_centre, fit};
    use crate::smooth::bfgs::Descent;
    use crate::smooth::settings::{KernelKind, LengthScalePrior, SmoothSettings};

    fn all_settings() -> impl Iterator<Item = SmoothSettings> {
        [KernelKind::AdditiveAndJoint, KernelKind::Joint].into_iter().flat_map(|kernel| {
            [LengthScalePrior::Dimension, LengthScalePrior::Gamma].map(|length_scales| SmoothSettings {
                kernel,
                length_scales,
                ..SmoothSettings::default()
            })
        })
    }

    fn thetas(n: usize) -> [Vec<f64>; 3] {
        let vary = |base: f64, step: f64| {
            let mut theta: Vec<f64> = (0..n).map(|i| base + step * (i as f64 * 1.7).sin()).collect();
            theta[n - 1] -= 4.0;
            theta
        };
        [vary(-0.5, 0.3), vary(0.4, 1.0), vary(-1.5, 0.8)]
    }

    #[test]
    fn the_gradient_equals_finite_differences() {
        for (settings, trees) in
            all_settings().flat_map(|settings| [(settings.clone(), false), (settings, true)])
        {
            let (kind, (mut columns, y)) = (settings.kernel, sample(3, 18));
            let d = columns.values.len();
            let n = if kind == KernelKind::Joint { d + 1 } else { 2 * d + 2 } + usize::from(trees);
            let mut density = Density::new(&columns, &y, &settings);
            if trees {
                // Leaves of three trees, as good as any.
                columns.leaves = (0..18 * 3).map(|k| (k * k % 7 % 4) as u8).collect();
                density.agreement = agreements(&columns);
            }
            for theta in thetas(n) {
                density.value(&theta);
                let gradient = density.gradient(&theta);
                for i in 0..n {
                    let mut moved = |by: f64| {
                        let mut theta = theta.clone();
                        theta[i] += by;
                        density.value(&theta)
                    };
                    let h = 1e-4;
                    let difference =
                        (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
                    let error = (gradient[i] - difference).abs() / difference.abs().max(1.0);
                    assert!(error < 1e-7, "{settings:?} {trees} {i}: {} {difference}", gradient[i]);
                }
            }
        }
    }

    /// The density is `l^2 exp(-6 l)`.
    #[test]
    fn the_gamma_prior_has_its_mode_at_a_third() {
        let (columns, y) = sample(3, 18);
        let settings = SmoothSettings { length_scales: LengthScalePrior::Gamma, ..SmoothSettings::default() };
        let density = Density::new(&columns, &y, &settings);
        let n = 2 * columns.values.len() + 2;
        let cost = |length: f64| {
            let mut theta = vec![-1.0; n];
            theta[0] = length.ln();
            density.prior(&theta, None)
        };
        let at_mode = cost(1.0 / 3.0);
        for length in [0.3, 0.33, 0.34, 0.4] {
            assert!(cost(length) > at_mode);
        }
        let expected = -(0.5f64.powi(2) * (-3.0f64).exp() / ((1.0f64 / 9.0) * (-2.0f64).exp())).ln();
        assert!((cost(0.5) - at_mode - expected).abs() < 1e-12);
    }

    #[test]
    fn the_common_centre_is_the_most_likely_one() {
        for scales in [&[][..], &[0.7], &[-2.0, 0.3, 1.1, -0.4]] {
            let cost = |c: f64| {
                0.5 * (c + 1.0).powi(2)
                    + scales.iter().map(|a| 0.5 * ADDITIVE_PRECISION * (a - c).powi(2)).sum::<f64>()
            };
            let c = common_centre(scales);
            assert!(cost(c) <= cost(c + 1e-3) && cost(c) <= cost(c - 1e-3), "{scales:?} {c}");
        }
    }

    #[test]
    fn the_fit_is_a_stationary_point_or_at_a_bound_and_better_than_its_starts() {
        for settings in all_settings() {
            let (kind, (columns, y)) = (settings.kernel, sample(8, 40));
            let fitted = fit(&columns, &y, &settings, &Limits::default()).unwrap();
            let mut density = Density::new(&columns, &y, &settings);
            let d = columns.values.len();
            let mut theta: Vec<f64> = fitted.length_scales.iter().map(|l| l.ln()).collect();
            if kind == KernelKind::AdditiveAndJoint {
                theta.extend(fitted.additive_length_scales.iter().map(|a| a.ln()));
                theta.push((fitted.additive_share / (1.0 - fitted.additive_share)).ln());
            } else {
                assert_eq!(fitted.additive_share, 0.0);
            }
            theta.push(fitted.nugget.ln());
            let value = density.value(&theta);
            let mu = density.centre();
            let mut start = theta.clone();
            start[..d].fill(mu);
            *start.last_mut().unwrap() = -9.0;
            assert!(value <= density.value(&start));
            density.value(&theta);
            let gradient = density.gradient(&theta);
            for (t, g) in theta.iter().zip(&gradient) {
                assert!(g.abs() < 0.3 || *t < -3.9 || *t > 3.9, "{theta:?} {gradient:?}");
            }
        }
    }
}
