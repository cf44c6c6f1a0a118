//! Slow twins, written from the definitions.

use leafgp_constraints::qp::{Qp, Side, Status};

use super::cases::{Case, Row};

fn product(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).map(|(a, x)| a * x).sum()
}

impl Case {
    fn metric(&self, i: usize, j: usize) -> f64 {
        match &self.dense {
            Some(metric) => metric[i * self.lower.len() + j],
            None if i == j => self.weights[i],
            None => 0.0,
        }
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        (0..n).map(|i| (0..n).map(|j| self.metric(i, j) * (x[j] - self.target[j])).sum()).collect()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.gradient(x).iter().zip(x).zip(&self.target).map(|((g, x), c)| 0.5 * g * (x - c)).sum()
    }

    /// What rounding errors of a row's test are relative to: its terms at the point and at the target, its side, and the
    /// way from the target (all coordinates share its rounding errors).
    fn row_scale(&self, row: &Row, side: f64, x: &[f64]) -> f64 {
        let terms: f64 =
            row.a.iter().zip(x).zip(&self.target).map(|((a, x), c)| (a * x).abs() + (a * c).abs()).sum();
        let norm: f64 = (0..x.len()).map(|j| row.a[j] * row.a[j] / self.metric(j, j)).sum();
        terms + side.abs() + (norm * self.value(x)).sqrt()
    }

    /// Largest violation of a row, relative to its scale.
    fn violation(&self, x: &[f64]) -> f64 {
        let mut worst: f64 = 0.0;
        for row in &self.rows {
            let activity = product(&row.a, x);
            for (excess, side) in [(activity - row.upper, row.upper), (row.lower - activity, row.lower)] {
                if excess > 0.0 {
                    worst = worst.max(excess / self.row_scale(row, side, x));
                }
            }
        }
        worst
    }
}

/// Checks everything a status claims.
pub(crate) fn check(case: &Case, qp: &Qp, status: Status, label: &str) {
    match status {
        Status::Optimal => check_optimal(case, qp, label),
        Status::Infeasible { proved } => check_infeasible(case, qp, proved, label),
        _ => panic!("{label}: {status:?}"),
    }
}

/// Karush-Kuhn-Tucker conditions.
fn check_optimal(case: &Case, qp: &Qp, label: &str) {
    let (x, row_multipliers, bound_multipliers) = (qp.x(), qp.row_multipliers(), qp.bound_multipliers());
    assert!(case.violation(x) < 1e-8, "{label}: violated by {}", case.violation(x));
    assert!(qp.violation() <= 1e-9, "{label}: reports {}", qp.violation());
    let value = case.value(x);
    assert!((qp.value() - value).abs() <= 1e-9 * (1.0 + value), "{label}: value {} {value}", qp.value());
    let gradient = case.gradient(x);
    for j in 0..x.len() {
        assert!(x[j] >= case.lower[j] && x[j] <= case.upper[j], "{label}: x{j} outside");
        let terms = || case.rows.iter().zip(row_multipliers).map(|(row, m)| row.a[j] * m);
        let rest = gradient[j] + terms().sum::<f64>() + bound_multipliers[j];
        // The parts of the gradient cancel for a dense metric, so their sizes are the scale.
        let size: f64 =
            (0..x.len()).map(|k| (case.metric(j, k) * (x[k] - case.target[k])).abs()).sum::<f64>()
                + terms().map(f64::abs).sum::<f64>()
                + bound_multipliers[j].abs();
        let whole: f64 = case.metric(j, j).sqrt() * value.sqrt();
        assert!(rest.abs() <= 1e-8 * (size + whole), "{label}: stationarity of x{j}: {rest} of {size}");
        let (lower, upper, m) = (case.lower[j], case.upper[j], bound_multipliers[j]);
        if lower < upper {
            assert!(m <= 0.0 || x[j] == upper, "{label}: multiplier {m} of an inactive bound");
            assert!(m >= 0.0 || x[j] == lower, "{label}: multiplier {m} of an inactive bound");
        }
    }
    for (i, row) in case.rows.iter().enumerate() {
        let m = row_multipliers[i];
        if row.lower == row.upper || m == 0.0 {
            continue;
        }
        let side = if m > 0.0 { row.upper } else { row.lower };
        let off = (product(&row.a, x) - side).abs();
        assert!(
            off <= 1e-8 * case.row_scale(row, side, x),
            "{label}: multiplier {m} of inactive row {i}, off by {off}"
        );
        assert_eq!(qp.active_row(i), Some(if m > 0.0 { Side::Upper } else { Side::Lower }), "{label}");
    }
}

/// How much the optimal value falls when every row and bound is relaxed by the scale of its rounding errors.
pub(crate) fn price_of_violations(case: &Case, qp: &Qp) -> f64 {
    let x = qp.x();
    let rows = case.rows.iter().zip(qp.row_multipliers()).filter(|(_, m)| **m != 0.0);
    let rows =
        rows.map(|(row, m)| m.abs() * case.row_scale(row, if *m > 0.0 { row.upper } else { row.lower }, x));
    let bounds = x.iter().zip(&case.target).zip(qp.bound_multipliers());
    rows.sum::<f64>() + bounds.map(|((x, c), m)| m.abs() * (x.abs() + c.abs())).sum::<f64>()
}

/// The aggregated row contradicts the box.
fn check_infeasible(case: &Case, qp: &Qp, proved: bool, label: &str) {
    let multipliers = qp.row_multipliers();
    assert_eq!(proved, qp.infeasibility_gap(multipliers) > 0.0, "{label}");
    assert!(
        proved || !case.is_bounded() || case.widest() > 1e2,
        "{label}: infeasible without proof, gap {}",
        qp.infeasibility_gap(multipliers)
    );
    let mut right = 0.0;
    let mut least = 0.0;
    for (row, m) in case.rows.iter().zip(multipliers) {
        if *m != 0.0 {
            right += m * if *m > 0.0 { row.upper } else { row.lower };
        }
    }
    for j in 0..case.lower.len() {
        let terms = || case.rows.iter().zip(multipliers).map(|(row, m)| row.a[j] * m);
        let (g, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
        let bound = if g > 0.0 { case.lower[j] } else { case.upper[j] };
        if proved && bound.is_finite() || g.abs() > 1e-11 * size {
            least += g * bound;
        } else if bound.is_infinite() {
            assert!(g.abs() <= 1e-11 * size, "{label}: x{j} is unbounded and has {g} of {size}");
        }
    }
    assert!(least > right, "{label}: {least} <= {right}");
}

/// Solves `matrix x = right` (`[n, n]`) by elimination with complete pivoting; `None` when singular.
fn eliminate(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    let mut order: Vec<usize> = (0..n).collect();
    let largest = matrix.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
    for k in 0..n {
        let (mut p, mut q) = (k, k);
        for i in k..n {
            for j in k..n {
                if matrix[i * n + j].abs() > matrix[p * n + q].abs() {
                    (p, q) = (i, j);
                }
            }
        }
        if matrix[p * n + q].abs() <= 1e-11 * largest {
            return None;
        }
        for j in 0..n {
            matrix.swap(k * n + j, p * n + j);
        }
        right.swap(k, p);
        for i in 0..n {
            matrix.swap(i * n + k, i * n + q);
        }
        order.swap(k, q);
        for i in k + 1..n {
            let factor = matrix[i * n + k] / matrix[k * n + k];
            for j in k..n {
                matrix[i * n + j] -= factor * matrix[k * n + j];
            }
            right[i] -= factor * right[k];
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| matrix[k * n + j] * x[order[j]]).sum();
        x[order[k]] = (right[k] - sum) / matrix[k * n + k];
    }
    Some(x)
}

/// Least value over all choices of at most `n` sides held as equalities; `None` when none gives a point feasible to within
/// the relative tolerance.
///
/// Bounds fix their variable; for each choice of fixed variables and active rows the rest is a linear system.
pub(crate) fn enumerate(case: &Case, tolerance: f64) -> Option<f64> {
    let n = case.lower.len();
    let mut best: Option<f64> = None;
    // Each variable: free, at its lower or at its upper bound. Each row: off, lower, upper.
    let mut state = vec![0usize; n + case.rows.len()];
    loop {
        if let Some(x) = stationary_point(case, &state) {
            let inside = |j: usize| {
                let slack = tolerance * (x[j].abs() + case.target[j].abs());
                x[j] >= case.lower[j] - slack && x[j] <= case.upper[j] + slack
            };
            if (0..n).all(inside) && case.violation(&x) < tolerance {
                let value = case.value(&x);
                best = Some(best.map_or(value, |best| best.min(value)));
            }
        }
        let Some(digit) = state.iter().position(|digit| *digit < 2) else { return best };
        state[digit] += 1;
        state[..digit].fill(0);
    }
}

fn stationary_point(case: &Case, state: &[usize]) -> Option<Vec<f64>> {
    let n = case.lower.len();
    let mut x = vec![0.0; n];
    let free: Vec<usize> = (0..n).filter(|&j| state[j] == 0).collect();
    for j in (0..n).filter(|&j| state[j] != 0) {
        x[j] = if state[j] == 1 { case.lower[j] } else { case.upper[j] };
        if x[j].is_infinite() {
            return None;
        }
    }
    let mut active = Vec::new();
    for (row, &digit) in case.rows.iter().zip(&state[n..]) {
        if digit != 0 {
            let side = if digit == 1 { row.lower } else { row.upper };
            // Rows at unit scale, so that the test for singularity means something.
            let norm = free.iter().map(|&j| row.a[j] * row.a[j] / case.metric(j, j)).sum::<f64>().sqrt();
            if side.is_infinite() || norm == 0.0 {
                return None;
            }
            active.push((row, side, norm));
        }
    }
    let (f, size) = (free.len(), free.len() + active.len());
    if active.len() > f {
        return None;
    }
    let root = |j: usize| case.metric(j, j).sqrt();
    let (mut matrix, mut right) = (vec![0.0; size * size], vec![0.0; size]);
    for (p, &i) in free.iter().enumerate() {
        for (q, &j) in free.iter().enumerate() {
            matrix[p * size + q] = case.metric(i, j) / (root(i) * root(j));
        }
        for j in 0..n {
            let fixed = if state[j] == 0 { 0.0 } else { x[j] };
            right[p] += case.metric(i, j) / root(i) * (case.target[j] - fixed);
        }
    }
    for (k, (row, side, norm)) in active.iter().enumerate() {
        for (q, &j) in free.iter().enumerate() {
            let entry = row.a[j] / root(j) / norm;
            matrix[(f + k) * size + q] = entry;
            matrix[q * size + f + k] = entry;
        }
        let fixed: f64 = (0..n).filter(|&j| state[j] != 0).map(|j| row.a[j] * x[j]).sum();
        right[f + k] = (side - fixed) / norm;
    }
    let solution = eliminate(matrix, right)?;
    for (q, &j) in free.iter().enumerate() {
        x[j] = solution[q] / root(j);
    }
    Some(x)
}

/// Least sum of violations of rows (at unit scale) within the box, by a dense tableau simplex with Bland's rule.
pub(crate) fn phase_one(case: &Case) -> f64 {
    // Columns: x = shift + sign * variable, variable >= 0; unbounded variables are split.
    let n = case.lower.len();
    let mut columns: Vec<(usize, f64)> = Vec::new();
    let mut shift = vec![0.0; n];
    let mut equations: Vec<(Vec<f64>, f64, f64)> = Vec::new();
    let mut box_rows = Vec::new();
    for j in 0..n {
        let (lower, upper) = (case.lower[j], case.upper[j]);
        if lower.is_finite() {
            shift[j] = lower;
            if upper.is_finite() {
                box_rows.push((columns.len(), upper - lower));
            }
            columns.push((j, 1.0));
        } else if upper.is_finite() {
            shift[j] = upper;
            columns.push((j, -1.0));
        } else {
            columns.push((j, 1.0));
            columns.push((j, -1.0));
        }
    }
    for &(column, width) in &box_rows {
        let mut a = vec![0.0; columns.len()];
        a[column] = 1.0 / width.max(1.0);
        equations.push((a, width / width.max(1.0), 1.0));
    }
    for row in &case.rows {
        let norm = product(&row.a, &row.a).sqrt();
        let norm = if norm > 0.0 { norm } else { 1.0 };
        let a: Vec<f64> = columns.iter().map(|&(j, sign)| sign * row.a[j] / norm).collect();
        let offset = product(&row.a, &shift);
        if row.upper.is_finite() {
            equations.push((a.clone(), (row.upper - offset) / norm, 1.0));
        }
        if row.lower.is_finite() {
            equations.push((a, (row.lower - offset) / norm, -1.0));
        }
    }
    // a v + slack = b or a v - slack = b, with an artificial variable where the slack cannot start the basis.
    let (m, v) = (equations.len(), columns.len());
    let width = v + 2 * m + 1;
    let mut tableau = vec![0.0; (m + 1) * width];
    let mut basis = vec![0; m];
    for (i, (a, b, slack)) in equations.iter().enumerate() {
        let sign = if *b < 0.0 { -1.0 } else { 1.0 };
        for (j, a) in a.iter().enumerate() {
            tableau[i * width + j] = sign * a;
        }
        tableau[i * width + v + i] = sign * slack;
        tableau[i * width + width - 1] = sign * b;
        if sign * slack > 0.0 {
            basis[i] = v + i;
        } else {
            tableau[i * width + v + m + i] = 1.0;
            basis[i] = v + m + i;
            for j in 0..width {
                if j < v + m || j == width - 1 {
                    tableau[m * width + j] -= tableau[i * width + j];
                }
            }
        }
    }
    for _ in 0..100_000 {
        let Some(enter) = (0..v + m).find(|&j| tableau[m * width + j] < -1e-10) else { break };
        let mut leave: Option<(usize, f64)> = None;
        for i in 0..m {
            let pivot = tableau[i * width + enter];
            if pivot > 1e-10 {
                let ratio = tableau[i * width + width - 1] / pivot;
                if leave.is_none_or(|(row, least)| ratio < least || (ratio == least && basis[i] < basis[row]))
                {
                    leave = Some((i, ratio));
                }
            }
        }
        let Some((row, _)) = leave else { break };
        let pivot = tableau[row * width + enter];
        for j in 0..width {
            tableau[row * width + j] /= pivot;
        }
        for i in (0..=m).filter(|&i| i != row) {
            let factor = tableau[i * width + enter];
            if factor != 0.0 {
                for j in 0..width {
                    tableau[i * width + j] -= factor * tableau[row * width + j];
                }
            }
        }
        basis[row] = enter;
    }
    (-tableau[m * width + width - 1]).max(0.0)
}
