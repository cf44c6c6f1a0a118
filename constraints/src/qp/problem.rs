//! The data of a quadratic program and what can be evaluated on them without solving.

use super::status::QpError;
use super::vector::dot;

/// The matrix `W`.
#[derive(Clone, Debug)]
pub(super) enum Metric {
    /// Its diagonal, `[n]`.
    Diagonal(Vec<f64>),
    /// All of it, `[n, n]`; the lower triangle counts.
    Dense(Vec<f64>),
}

/// A quadratic program as the caller stated it, see the [module](super).
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// Number of variables.
    pub(super) n: usize,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) target: Vec<f64>,
    pub(super) metric: Metric,
    /// `[n_rows, n]`.
    rows: Vec<f64>,
    pub(super) row_lower: Vec<f64>,
    pub(super) row_upper: Vec<f64>,
    /// Rows whose coefficients were replaced since the last solve.
    pub(super) replaced: Vec<bool>,
    /// The metric was changed since the last solve.
    pub(super) metric_changed: bool,
}

impl Problem {
    pub(super) fn new(n: usize) -> Self {
        let mut problem = Self {
            n,
            lower: Vec::new(),
            upper: Vec::new(),
            target: Vec::new(),
            metric: Metric::Diagonal(Vec::new()),
            rows: Vec::new(),
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            replaced: Vec::new(),
            metric_changed: true,
        };
        problem.reset(n);
        problem
    }

    pub(super) fn reset(&mut self, n: usize) {
        self.n = n;
        let refill = |vector: &mut Vec<f64>, value| {
            vector.clear();
            vector.resize(n, value);
        };
        refill(&mut self.lower, f64::NEG_INFINITY);
        refill(&mut self.upper, f64::INFINITY);
        refill(&mut self.target, 0.0);
        refill(self.diagonal_mut(), 1.0);
        self.truncate_rows(0);
        self.metric_changed = true;
    }

    pub(super) fn n_rows(&self) -> usize {
        self.row_lower.len()
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.n..(row + 1) * self.n]
    }

    pub(super) fn set_diagonal(&mut self, weights: &[f64]) {
        assert_eq!(weights.len(), self.n, "one weight for each variable");
        if !matches!(&self.metric, Metric::Diagonal(old) if old == weights) {
            let diagonal = self.diagonal_mut();
            diagonal.clear();
            diagonal.extend_from_slice(weights);
            self.metric_changed = true;
        }
    }

    pub(super) fn set_dense(&mut self, metric: &[f64]) {
        assert_eq!(metric.len(), self.n * self.n, "the metric is [n, n]");
        if let Metric::Dense(old) = &mut self.metric {
            old.clear();
            old.extend_from_slice(metric);
        } else {
            self.metric = Metric::Dense(metric.to_vec());
        }
        self.metric_changed = true;
    }

    pub(super) fn push_row(&mut self, coefficients: &[f64], lower: f64, upper: f64) -> usize {
        assert_eq!(coefficients.len(), self.n, "one coefficient for each variable");
        self.rows.extend_from_slice(coefficients);
        self.row_lower.push(lower);
        self.row_upper.push(upper);
        self.replaced.push(true);
        self.n_rows() - 1
    }

    pub(super) fn replace_row(&mut self, row: usize, coefficients: &[f64]) {
        assert_eq!(coefficients.len(), self.n, "one coefficient for each variable");
        self.rows[row * self.n..(row + 1) * self.n].copy_from_slice(coefficients);
        self.replaced[row] = true;
    }

    pub(super) fn truncate_rows(&mut self, n_rows: usize) {
        self.rows.truncate(n_rows * self.n);
        self.row_lower.truncate(n_rows);
        self.row_upper.truncate(n_rows);
        self.replaced.truncate(n_rows);
    }

    /// Whether every datum is a number and infinite only where a side may be absent.
    pub(super) fn check(&self) -> Result<(), QpError> {
        let finite = |what, values: &[f64], width: usize| match values.iter().position(|v| !v.is_finite()) {
            Some(at) => Err(QpError::NotFinite { what, index: at / width, value: values[at] }),
            None => Ok(()),
        };
        finite("target", &self.target, 1)?;
        finite("row", &self.rows, self.n)?;
        match &self.metric {
            Metric::Diagonal(weights) => {
                finite("metric", weights, 1)?;
                if let Some(variable) = weights.iter().position(|w| *w <= 0.0) {
                    return Err(QpError::NotPositiveDefinite { variable, pivot: weights[variable] });
                }
            }
            Metric::Dense(matrix) => finite("metric", matrix, self.n)?,
        }
        let sides = |what, lower: &[f64], upper: &[f64]| {
            for (index, (&lower, &upper)) in lower.iter().zip(upper).enumerate() {
                if lower.is_nan() || lower == f64::INFINITY {
                    return Err(QpError::NotFinite { what, index, value: lower });
                }
                if upper.is_nan() || upper == f64::NEG_INFINITY {
                    return Err(QpError::NotFinite { what, index, value: upper });
                }
            }
            Ok(())
        };
        sides("range of variable", &self.lower, &self.upper)?;
        sides("side of row", &self.row_lower, &self.row_upper)
    }

    /// Whether the box or the range of a row is empty.
    pub(super) fn has_crossed_sides(&self) -> bool {
        let crossed = |lower: &[f64], upper: &[f64]| lower.iter().zip(upper).any(|(l, u)| l > u);
        crossed(&self.lower, &self.upper) || crossed(&self.row_lower, &self.row_upper)
    }

    /// `W_ij`.
    pub(super) fn metric_at(&self, i: usize, j: usize) -> f64 {
        match &self.metric {
            Metric::Diagonal(weights) if i == j => weights[i],
            Metric::Diagonal(_) => 0.0,
            Metric::Dense(matrix) => matrix[i.max(j) * self.n + i.min(j)],
        }
    }

    /// `gradient = W (x − c)`; returns `½ (x − c)ᵀ W (x − c)`. `offset` is work space for `x − c`.
    pub(super) fn gradient(&self, x: &[f64], gradient: &mut Vec<f64>, offset: &mut Vec<f64>) -> f64 {
        offset.clear();
        offset.extend(x.iter().zip(&self.target).map(|(x, c)| x - c));
        gradient.clear();
        match &self.metric {
            Metric::Diagonal(weights) => gradient.extend(weights.iter().zip(&*offset).map(|(w, o)| w * o)),
            Metric::Dense(matrix) => {
                gradient.resize(self.n, 0.0);
                for i in 0..self.n {
                    let line = &matrix[i * self.n..=i * self.n + i];
                    gradient[i] += dot(line, &offset[..=i]);
                    super::vector::add_multiple(offset[i], &line[..i], &mut gradient[..i]);
                }
            }
        }
        0.5 * dot(gradient, offset)
    }

    /// The vector that holds the diagonal, made so when the metric is dense.
    fn diagonal_mut(&mut self) -> &mut Vec<f64> {
        if matches!(self.metric, Metric::Dense(_)) {
            self.metric = Metric::Diagonal(Vec::new());
        }
        match &mut self.metric {
            Metric::Diagonal(weights) => weights,
            Metric::Dense(_) => unreachable!("made diagonal above"),
        }
    }
}
