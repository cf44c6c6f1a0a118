//! The process: fitted, conditioned, asked.

use faer::Mat;
use leafgp_solver::constraints::Limits;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::coordinates::Coordinates;
use super::factor::{InverseFactor, dot};
use super::kernel::{Columns, Correlations, JITTER, KernelParameters};
use super::leaves::Leaves;
use super::settings::SmoothSettings;
use super::{SmoothError, fit, subset};
use crate::Table;

/// The variance is at least this share of the signal variance: at a measured row rounding alone is left of it.
const LEAST_VARIANCE: f64 = 1e-14;
/// Largest magnitude of a target: squares must stay finite.
const LARGEST_TARGET: f64 = 1e100;
/// Largest nugget tried when a factorisation fails.
const LARGEST_NUGGET: f64 = 1e3;

/// Mean and variance at a point, in the units of the standardised targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// Expected value.
    pub mean: f64,
    /// Variance of the function itself, without the noise of a measurement; above 0.
    pub variance: f64,
}

impl Posterior {
    /// Square root of the variance.
    pub fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }
}

/// A Gaussian process with constant mean and a kernel of Matern parts and, where the settings have one, a part of trees ([`KernelParameters`]), conditioned on data.
///
/// With the correlations `k` of a point with the rows, `R = r + (g + 1e-10) I`, `alpha = R^-1 (y - m)` and `e = 1 - 1'R^-1 k`,
///
/// ```text
/// mu = m + k'alpha ,    sigma^2 = s2 (1 - k'R^-1 k + e^2 / 1'R^-1 1)
/// ```
///
/// where `m` is the mean by generalised least squares, whose uncertainty is the last term, and `s2 = (2 + q)/(n + 2)` with
/// `q = (y - m)'R^-1 (y - m)`.
#[derive(Clone, Debug)]
pub struct SmoothProcess {
    coordinates: Coordinates,
    parameters: KernelParameters,
    columns: Columns,
    /// The trees, where they have a share.
    leaves: Option<Leaves>,
    targets: Vec<f64>,
    /// The rows from here on are believed, not measured.
    n_measured: usize,
    factor: InverseFactor,
    alpha: Vec<f64>,
    /// `R^-1 1`.
    ones: Vec<f64>,
    ones_sum: f64,
    mean: f64,
    signal_variance: f64,
    best: f64,
}

impl SmoothProcess {
    /// Fits the parameters to data and conditions on them. `x` holds points in variable order, inactive variables at their inactive value, rows
    /// outside the box allowed; `y` the standardised targets, to be minimised. Of many rows some are used
    /// ([`SmoothSettings::parameter_rows`], [`SmoothSettings::condition_rows`]).
    ///
    /// # Errors
    /// Settings out of range, no row, lengths that do not match, values that are not finite; a correlation matrix that defies factorisation.
    pub fn fit(
        coordinates: &Coordinates,
        x: &Table,
        y: &[f64],
        settings: &SmoothSettings,
    ) -> Result<Self, SmoothError> {
        Self::fit_within(coordinates, x, y, settings, &Limits::default())
    }

    /// As [`SmoothProcess::fit`], within limits of time: the best parameters found by then; their nodes mean nothing here.
    ///
    /// # Errors
    /// As [`SmoothProcess::fit`].
    pub fn fit_within(
        coordinates: &Coordinates,
        x: &Table,
        y: &[f64],
        settings: &SmoothSettings,
        limits: &Limits,
    ) -> Result<Self, SmoothError> {
        settings.validate()?;
        check(coordinates, x, y)?;
        let mut all = Columns::new(coordinates, x.rows());
        let mut leaves = settings.trees.then(|| Leaves::grow(coordinates, x, y)).flatten();
        if let Some(leaves) = &leaves {
            all.leaves = x.rows().flat_map(|x| leaves.of(x)).collect();
        }
        let rows = subset::for_parameters(y, settings.parameter_rows);
        let targets: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
        let parameters = fit::fit(&all.select(&rows), &targets, settings, limits)?;
        if parameters.tree_share == 0.0 {
            leaves = None;
            all.leaves.clear();
        }
        let rows = subset::for_conditioning(&all, y, settings.condition_rows);
        let targets: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
        Self::condition(coordinates.clone(), parameters, all.select(&rows), leaves, targets, None)
    }

    /// `measured`: the process of the measured rows alone, when the others are believed.
    fn condition(
        coordinates: Coordinates,
        mut parameters: KernelParameters,
        columns: Columns,
        leaves: Option<Leaves>,
        targets: Vec<f64>,
        measured: Option<&Self>,
    ) -> Result<Self, SmoothError> {
        let n = columns.n_rows;
        let mut matrix = correlation_matrix(&columns, &parameters);
        let factor = loop {
            for i in 0..n {
                matrix[(i, i)] = 1.0 + parameters.nugget + JITTER;
            }
            match InverseFactor::new(matrix.clone()) {
                Ok(factor) => break factor,
                Err(_) if parameters.nugget < LARGEST_NUGGET => parameters.nugget *= 10.0,
                Err(error) => return Err(error),
            }
        };
        let ones = factor.solve(&vec![1.0; n]);
        let ones_sum: f64 = ones.iter().sum();
        let mean = dot(&ones, &targets) / ones_sum;
        let centred: Vec<f64> = targets.iter().map(|y| y - mean).collect();
        let alpha = factor.solve(&centred);
        // A prediction believed adds nothing to q: what is known of the variance comes from the measured rows.
        let signal_variance = measured.map_or_else(
            || (2.0 + dot(&centred, &alpha).max(0.0)) / (n as f64 + 2.0),
            |process| process.signal_variance,
        );
        let mut process = Self {
            coordinates,
            parameters,
            columns,
            leaves,
            targets,
            n_measured: measured.map_or(n, |process| process.n_measured),
            factor,
            alpha,
            ones,
            ones_sum,
            mean,
            signal_variance,
            best: f64::INFINITY,
        };
        process.best = (0..process.n_measured).map(|i| process.row_mean(i)).fold(f64::INFINITY, f64::min);
        Ok(process)
    }

    /// The process that takes its own prediction at `points` (in variable order) for measured: the means stay, the deviations shrink. Parameters and signal
    /// variance are those of the measured rows.
    ///
    /// # Errors
    /// A coordinate that is not finite, a point of the wrong length; a correlation matrix that defies factorisation.
    pub fn believe(&self, points: &[Vec<f64>]) -> Result<Self, SmoothError> {
        self.check_points(points)?;
        let values: Vec<f64> = points.iter().map(|x| self.posterior(x).mean).collect();
        self.assume(points, &values)
    }

    /// The process that takes the standardised `values` at `points` (in variable order) for measured; the best value to improve on
    /// stays that of a measured row. Parameters and signal variance are those of the measured rows.
    ///
    /// # Errors
    /// As [`SmoothProcess::believe`].
    ///
    /// # Panics
    /// If there are not as many values as points.
    pub fn assume(&self, points: &[Vec<f64>], values: &[f64]) -> Result<Self, SmoothError> {
        assert_eq!(points.len(), values.len());
        self.check_points(points)?;
        if points.is_empty() {
            return Ok(self.clone());
        }
        let mut columns = self.columns.clone();
        let mut targets = self.targets.clone();
        for (x, value) in points.iter().zip(values) {
            targets.push(*value);
            for (column, u) in columns.values.iter_mut().zip(self.coordinates.of(x)) {
                column.push(u);
            }
            columns.n_rows += 1;
            if let Some(leaves) = &self.leaves {
                columns.leaves.extend(leaves.of(x));
            }
        }
        let (coordinates, parameters) = (self.coordinates.clone(), self.parameters.clone());
        Self::condition(coordinates, parameters, columns, self.leaves.clone(), targets, Some(self))
    }

    /// [`SmoothProcess::assume`] with a draw from the joint posterior of measurements at the points, their noise included.
    ///
    /// # Errors
    /// As [`SmoothProcess::believe`].
    pub fn draw(&self, points: &[Vec<f64>], rng: &mut impl Rng) -> Result<Self, SmoothError> {
        // One after the other: each draw is conditioned on the ones before it.
        points.iter().try_fold(self.clone(), |process, x| {
            process.check_points(std::slice::from_ref(x))?;
            let at = process.posterior(x);
            let normal: f64 = StandardNormal.sample(rng);
            let noise = process.parameters.nugget * process.signal_variance;
            process.assume(std::slice::from_ref(x), &[at.mean + (at.variance + noise).sqrt() * normal])
        })
    }

    fn check_points(&self, points: &[Vec<f64>]) -> Result<(), SmoothError> {
        points.iter().enumerate().try_for_each(|(row, x)| check_point(&self.coordinates, row, x))
    }

    /// Mean and variance at a point in variable order.
    pub fn posterior(&self, x: &[f64]) -> Posterior {
        Evaluator::new(self).posterior(&self.coordinates.of(x))
    }

    /// The measured targets that the process is conditioned on, `[n_measured]`.
    pub(crate) fn measured_targets(&self) -> &[f64] {
        &self.targets[..self.n_measured]
    }

    /// The coordinates of its rows, column by column.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The parameters, fitted or given; the nugget is larger where a factorisation asked for it.
    pub fn parameters(&self) -> &KernelParameters {
        &self.parameters
    }

    /// The variables as coordinates.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// The constant mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The signal variance `s2`.
    pub fn signal_variance(&self) -> f64 {
        self.signal_variance
    }

    /// Number of rows the process is conditioned on, believed ones included.
    pub fn n_rows(&self) -> usize {
        self.columns.n_rows
    }

    /// The smallest posterior mean at a measured row.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// Posterior mean at a row: from `R alpha = y - m` without another product.
    fn row_mean(&self, i: usize) -> f64 {
        self.targets[i] - (self.parameters.nugget + JITTER) * self.alpha[i]
    }
}

/// Lower triangle of the rows' correlations; the diagonal is left 0.
fn correlation_matrix(columns: &Columns, parameters: &KernelParameters) -> Mat<f64> {
    let n = columns.n_rows;
    let mut matrix = Mat::zeros(n, n);
    let mut correlations = Correlations::default();
    let mut u = vec![0.0; columns.values.len()];
    for j in 0..n.saturating_sub(1) {
        for (u, column) in u.iter_mut().zip(&columns.values) {
            *u = column[j];
        }
        correlations.compute(columns, parameters, &u, columns.leaves_of(j), j + 1);
        matrix.col_as_slice_mut(j)[j + 1..].copy_from_slice(&correlations.values);
    }
    matrix
}

fn check(coordinates: &Coordinates, x: &Table, y: &[f64]) -> Result<(), SmoothError> {
    let expected = coordinates.n_variables();
    if x.n_cols() != expected {
        return Err(SmoothError::Columns { columns: x.n_cols(), expected });
    }
    if x.n_rows() != y.len() {
        return Err(SmoothError::Length { rows: x.n_rows(), targets: y.len() });
    }
    if y.is_empty() {
        return Err(SmoothError::NoRows);
    }
    for (row, x) in x.rows().enumerate() {
        check_point(coordinates, row, x)?;
    }
    // A NaN is not within.
    match y.iter().position(|y| y.is_nan() || y.abs() > LARGEST_TARGET) {
        Some(row) => Err(SmoothError::Target { row, value: y[row] }),
        None => Ok(()),
    }
}

fn check_point(coordinates: &Coordinates, row: usize, x: &[f64]) -> Result<(), SmoothError> {
    let expected = coordinates.n_variables();
    if x.len() != expected {
        return Err(SmoothError::Columns { columns: x.len(), expected });
    }
    match x.iter().position(|v| !v.is_finite()) {
        Some(column) => Err(SmoothError::Point { row, column, value: x[column] }),
        None => Ok(()),
    }
}

/// Asks a process many times with the same work memory. Points are coordinates.
#[derive(Clone, Debug)]
pub(super) struct Evaluator<'a> {
    process: &'a SmoothProcess,
    correlations: Correlations,
    /// `L^-1 k`, then `R^-1 k`.
    half: Vec<f64>,
    full: Vec<f64>,
    /// `1 - 1'R^-1 k`.
    excess: f64,
    /// Whether the variance stands at its least value, where it has no slope.
    clamped: bool,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(process: &'a SmoothProcess) -> Self {
        let correlations = Correlations::default();
        Self { process, correlations, half: Vec::new(), full: Vec::new(), excess: 0.0, clamped: false }
    }

    pub(super) fn process(&self) -> &'a SmoothProcess {
        self.process
    }

    pub(super) fn posterior(&mut self, u: &[f64]) -> Posterior {
        let p = self.process;
        let leaves = p.leaves.as_ref().map_or(Vec::new(), |leaves| leaves.of(&p.coordinates.point(u)));
        self.correlations.compute(&p.columns, &p.parameters, u, &leaves, 0);
        let k = &self.correlations.values;
        p.factor.half(k, &mut self.half);
        self.excess = 1.0 - dot(&p.ones, k);
        let share = 1.0 - dot(&self.half, &self.half) + self.excess * self.excess / p.ones_sum;
        self.clamped = share <= LEAST_VARIANCE;
        let variance = p.signal_variance * share.max(LEAST_VARIANCE);
        Posterior { mean: p.mean + dot(&p.alpha, k), variance }
    }

    /// Slopes of mean and variance in each coordinate at the point of the last [`Evaluator::posterior`]; 0 for a category.
    pub(super) fn slopes(&mut self, u: &[f64], mean: &mut [f64], variance: &mut [f64]) {
        let p = self.process;
        p.factor.full(&self.half, &mut self.full);
        // s2 d(1 - k'R^-1 k + e^2/S) = -2 s2 (R^-1 k + e/S R^-1 1)' dk.
        let by_mean = self.excess / p.ones_sum;
        for (w, one) in self.full.iter_mut().zip(&p.ones) {
            *w += by_mean * one;
        }
        let factor = if self.clamped { 0.0 } else { -2.0 * p.signal_variance };
        for j in 0..u.len() {
            let slope = |weight: &[f64]| self.correlations.slope(&p.columns, &p.parameters, u, j, weight);
            mean[j] = slope(&p.alpha);
            variance[j] = factor * slope(&self.full);
        }
    }
}

#[cfg(test)]
mod tests;
