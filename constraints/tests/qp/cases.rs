//! Random programs of many kinds.

use leafgp_constraints::qp::Qp;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) a: Vec<f64>,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Row {
    pub(crate) fn scale(&mut self, factor: f64) {
        self.a.iter_mut().for_each(|a| *a *= factor);
        self.lower *= factor;
        self.upper *= factor;
    }
}

/// A program as plain data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) target: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// `[n, n]`, full.
    pub(crate) dense: Option<Vec<f64>>,
    pub(crate) rows: Vec<Row>,
}

/// What is special about a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows around a point of the box: feasible.
    Feasible,
    /// Right sides at random: often infeasible.
    Random,
    /// Small whole numbers, many rows through one point, duplicates, zero rows, dependent equalities.
    Degenerate,
    /// Rows with an intersection that is just empty.
    ThinlyInfeasible,
    /// Equalities and ranges.
    Equalities,
    /// No finite bounds on many variables.
    Unbounded,
    /// Rows multiplied by factors from 1e-6 to 1e6, weights from 1e-4 to 1e4.
    BadlyScaled,
    /// A dense metric of condition up to about 1e6, some variables fixed.
    Dense,
    /// The target far outside the box.
    FarTarget,
    /// Ranges of width 1e3 to 1e9.
    HugeBox,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Feasible,
        Self::Random,
        Self::Degenerate,
        Self::ThinlyInfeasible,
        Self::Equalities,
        Self::Unbounded,
        Self::BadlyScaled,
        Self::Dense,
        Self::FarTarget,
        Self::HugeBox,
    ];
}

fn uniform(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn whole(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| f64::from(rng.random_range(-2i32..=2))).collect()
}

fn product(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).map(|(a, x)| a * x).sum()
}

impl Case {
    /// A random case in `n` variables with `m` rows.
    pub(crate) fn random(kind: Kind, n: usize, m: usize, rng: &mut ChaCha8Rng) -> Self {
        let degenerate = kind == Kind::Degenerate;
        let mut case = Self {
            lower: vec![-1.0; n],
            upper: vec![1.0; n],
            target: if degenerate {
                whole(n, rng)
            } else {
                uniform(n, rng).iter().map(|c| 2.0 * c).collect()
            },
            weights: (0..n).map(|_| rng.random_range(0.2..4.0)).collect(),
            dense: None,
            rows: Vec::new(),
        };
        let mut point = if degenerate { whole(n, rng) } else { uniform(n, rng) };
        for j in 0..n {
            case.lower[j] = (-1.0f64).min(point[j]);
            case.upper[j] = 1.0f64.max(point[j]);
            if kind == Kind::Unbounded && rng.random::<f64>() < 0.8 {
                case.lower[j] = f64::NEG_INFINITY;
            }
            if kind == Kind::Unbounded && rng.random::<f64>() < 0.8 {
                case.upper[j] = f64::INFINITY;
            }
            let fixed = if matches!(kind, Kind::Dense | Kind::Degenerate) { 0.15 } else { 0.03 };
            if rng.random::<f64>() < fixed {
                (case.lower[j], case.upper[j]) = (point[j], point[j]);
            }
            if kind == Kind::BadlyScaled {
                case.weights[j] = 10f64.powf(rng.random_range(-4.0..4.0));
                let (scale, shift) = (10f64.powf(rng.random_range(-3.0..3.0)), rng.random_range(-10.0..10.0));
                for value in [&mut case.lower[j], &mut case.upper[j], &mut case.target[j], &mut point[j]] {
                    *value = scale * (*value + shift);
                }
            }
            if kind == Kind::HugeBox {
                case.lower[j] -= 10f64.powf(rng.random_range(3.0..9.0));
                case.upper[j] += 10f64.powf(rng.random_range(3.0..9.0));
            }
            if kind == Kind::FarTarget {
                case.target[j] *= 1e4;
            }
        }
        if degenerate && n > 0 && rng.random::<f64>() < 0.5 {
            case.weights.fill(1.0);
        }
        if kind == Kind::Dense || rng.random::<f64>() < 0.15 {
            case.dense = Some(dense_metric(n, rng));
        }
        for _ in 0..m {
            let row = case.random_row(kind, &point, rng);
            case.rows.push(row);
        }
        if (kind == Kind::ThinlyInfeasible || rng.random::<f64>() < 0.03) && m > 0 {
            case.close(rng);
        }
        case
    }

    /// Adds a row that contradicts a positive combination of the others and the box by a small margin.
    fn close(&mut self, rng: &mut ChaCha8Rng) {
        let n = self.lower.len();
        let (mut sum, mut right) = (vec![0.0; n], 0.0);
        for row in &self.rows {
            let weight = if rng.random::<f64>() < 0.5 { rng.random_range(0.1..1.0) } else { 0.0 };
            let (sign, side) = if row.upper.is_finite() { (1.0, row.upper) } else { (-1.0, -row.lower) };
            if side.is_infinite() {
                continue;
            }
            sum.iter_mut().zip(&row.a).for_each(|(s, a)| *s += weight * sign * a);
            right += weight * side;
        }
        if rng.random::<f64>() < 0.5 {
            // Some of the coefficients by bounds: s_j x_j <= max.
            for j in 0..n {
                if rng.random::<f64>() < 0.3 && (self.upper[j] - self.lower[j]).is_finite() {
                    let step = rng.random_range(-1.0..1.0f64);
                    sum[j] += step;
                    right += (step * self.lower[j]).max(step * self.upper[j]);
                }
            }
        }
        let margin = 10f64.powf(rng.random_range(-7.0..-1.0));
        self.rows.push(Row { a: sum, lower: right + margin, upper: f64::INFINITY });
    }

    fn random_row(&self, kind: Kind, point: &[f64], rng: &mut ChaCha8Rng) -> Row {
        let n = point.len();
        let (minus, plus) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut a = uniform(n, rng);
        if rng.random::<f64>() < 0.4 {
            a.iter_mut().for_each(|a| *a *= f64::from(u8::from(rng.random::<f64>() < 0.4)));
        }
        let inside = product(&a, point);
        let slack = if rng.random::<f64>() < 0.3 { 0.0 } else { rng.random_range(0.0..0.5) };
        match kind {
            Kind::Random => {
                let side = rng.random_range(-1.0..1.5) * (n as f64).sqrt() * 0.6;
                if rng.random::<f64>() < 0.8 {
                    Row { a, lower: minus, upper: side }
                } else {
                    Row { a, lower: side, upper: side + rng.random_range(0.0..0.2) }
                }
            }
            Kind::Degenerate => {
                if !self.rows.is_empty() && rng.random::<f64>() < 0.25 {
                    // A copy, a multiple, or the sum of two rows.
                    let mut row = self.rows[rng.random_range(0..self.rows.len())].clone();
                    if rng.random::<f64>() < 0.5 {
                        row.scale([1.0, 3.0, 0.1][rng.random_range(0..3)]);
                    } else {
                        let other = &self.rows[rng.random_range(0..self.rows.len())];
                        row.a.iter_mut().zip(&other.a).for_each(|(a, b)| *a += b);
                        row.lower += other.lower;
                        row.upper += other.upper;
                    }
                    return row;
                }
                let a = if rng.random::<f64>() < 0.1 { vec![0.0; n] } else { whole(n, rng) };
                let inside = product(&a, point) + f64::from(u8::from(rng.random::<f64>() < 0.1));
                match rng.random_range(0..4) {
                    0 => Row { a, lower: inside, upper: inside },
                    1 => Row { a, lower: inside, upper: plus },
                    2 => Row { a, lower: inside, upper: inside + 1.0 },
                    _ => Row { a, lower: minus, upper: inside },
                }
            }
            Kind::Equalities if rng.random::<f64>() < 0.4 => Row { a, lower: inside, upper: inside },
            Kind::Equalities => Row { a, lower: inside - slack, upper: inside + 0.5 * slack },
            Kind::BadlyScaled => {
                let mut row = Row { a, lower: minus, upper: inside + slack * inside.abs().min(1.0) };
                row.scale(10f64.powf(rng.random_range(-6.0..6.0)));
                row
            }
            Kind::ThinlyInfeasible
            | Kind::Feasible
            | Kind::Unbounded
            | Kind::Dense
            | Kind::FarTarget
            | Kind::HugeBox => {
                if rng.random::<f64>() < 0.7 {
                    Row { a, lower: minus, upper: inside + slack }
                } else {
                    Row { a, lower: inside - slack, upper: plus }
                }
            }
        }
    }

    pub(crate) fn to_qp(&self) -> Qp {
        let mut qp = Qp::new(self.lower.len());
        self.fill(&mut qp);
        qp
    }

    pub(crate) fn fill(&self, qp: &mut Qp) {
        qp.reset(self.lower.len());
        qp.set_box(&self.lower, &self.upper);
        qp.set_target(&self.target);
        match &self.dense {
            Some(metric) => qp.set_dense_metric(metric),
            None => qp.set_diagonal_metric(&self.weights),
        }
        for row in &self.rows {
            qp.push_row(&row.a, row.lower, row.upper);
        }
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.lower.iter().chain(&self.upper).all(|side| side.is_finite())
    }

    /// Widest range.
    pub(crate) fn widest(&self) -> f64 {
        self.lower.iter().zip(&self.upper).fold(0.0, |widest: f64, (l, u)| widest.max(u - l))
    }

    /// Changes something here and in the program; returns what.
    pub(crate) fn edit(&mut self, qp: &mut Qp, rng: &mut ChaCha8Rng) -> &'static str {
        let n = self.lower.len();
        let j = rng.random_range(0..n);
        match rng.random_range(0..9) {
            0 | 1 => {
                // A cut that the present point violates.
                let a = uniform(n, rng);
                let upper = product(&a, qp.x()) - rng.random_range(0.0..0.2);
                qp.push_le(&a, upper);
                self.rows.push(Row { a, lower: f64::NEG_INFINITY, upper });
                "cut"
            }
            2 => {
                self.target.iter_mut().for_each(|c| *c += rng.random_range(-0.1..0.1));
                qp.set_target(&self.target);
                "target"
            }
            3 => {
                let (lower, upper) = (self.lower[j], self.upper[j]);
                if (upper - lower).is_finite() {
                    self.lower[j] = lower + 0.3 * (upper - lower);
                    self.upper[j] = upper - 0.3 * (upper - lower);
                    qp.set_box(&self.lower, &self.upper);
                }
                "range shrunk"
            }
            4 => {
                self.lower[j] -= 0.5;
                self.upper[j] += 0.5;
                qp.set_range(j, self.lower[j], self.upper[j]);
                "range widened"
            }
            5 => {
                let value = qp.x()[j].clamp(self.lower[j], self.upper[j]);
                (self.lower[j], self.upper[j]) = (value, value);
                qp.set_range(j, value, value);
                "variable fixed"
            }
            6 if !self.rows.is_empty() => {
                let row = rng.random_range(0..self.rows.len());
                self.rows[row].lower -= 0.1;
                self.rows[row].upper += 0.1;
                qp.set_row_sides(row, self.rows[row].lower, self.rows[row].upper);
                "sides"
            }
            7 if !self.rows.is_empty() => {
                let row = rng.random_range(0..self.rows.len());
                self.rows[row].a.iter_mut().for_each(|a| *a += rng.random_range(-0.01..0.01));
                qp.replace_row(row, &self.rows[row].a, self.rows[row].lower, self.rows[row].upper);
                "row replaced"
            }
            8 if self.rows.len() > 2 => {
                self.rows.truncate(self.rows.len() - 2);
                qp.truncate_rows(self.rows.len());
                "truncated"
            }
            _ => {
                if let Some(metric) = &mut self.dense {
                    for k in 0..n {
                        metric[k * n + k] *= 1.1;
                    }
                    qp.set_dense_metric(metric);
                } else {
                    self.weights[j] *= 1.5;
                    qp.set_diagonal_metric(&self.weights);
                }
                "metric"
            }
        }
    }
}

/// A random symmetric positive definite matrix.
fn dense_metric(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let root: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let ridge = 10f64.powf(rng.random_range(-5.0..0.0));
    let mut metric = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            metric[i * n + j] = (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum();
        }
        metric[i * n + i] += ridge;
    }
    metric
}
