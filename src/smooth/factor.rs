//! Cholesky factors of correlation matrices.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::inverse::{inverse, inverse_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Auto, Mat, Par, Spec};

use super::SmoothError;

/// Replaces the lower triangle of a symmetric matrix `R` by its factor `L`, `R = L L'`. One thread, so the result does not depend on how
/// many there are.
///
/// # Errors
/// [`SmoothError::Factor`] when the matrix is not positive definite within rounding.
pub(super) fn cholesky(matrix: &mut Mat<f64>) -> Result<(), SmoothError> {
    let n = matrix.nrows();
    let parameters = Spec::new(<LltParams as Auto<f64>>::auto());
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, parameters));
    let stack = MemStack::new(&mut memory);
    let failed = SmoothError::Factor { rows: n };
    cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, parameters)
        .map_err(|_| failed.clone())?;
    // A NaN passes the test of pivots.
    if (0..n).all(|i| matrix[(i, i)] > 0.0) { Ok(()) } else { Err(failed) }
}

/// The lower triangle of `R^-1` from the factor `L` of `R`.
pub(super) fn inverse_from_factor(l: &Mat<f64>, out: &mut Mat<f64>) {
    let mut memory = MemBuffer::new(inverse_scratch::<f64>(l.nrows(), Par::Seq));
    inverse(out.as_mut(), l.as_ref(), Par::Seq, MemStack::new(&mut memory));
}

/// Solves `L L' x = b` in place.
pub(super) fn solve(l: &Mat<f64>, b: &mut [f64]) {
    let n = b.len();
    for j in 0..n {
        let column = l.col_as_slice(j);
        b[j] /= column[j];
        let at = b[j];
        for (b, l) in b[j + 1..].iter_mut().zip(&column[j + 1..]) {
            *b -= at * l;
        }
    }
    for j in (0..n).rev() {
        let column = l.col_as_slice(j);
        let sum: f64 = dot(&column[j + 1..], &b[j + 1..]);
        b[j] = (b[j] - sum) / column[j];
    }
}

/// The inner product, summed in eight strands: fast, and in a fixed order.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut strands = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..8 {
            strands[k] += a[k] * b[k];
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = strands;
    ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7)) + rest
}

/// `L^-1` of a correlation matrix `R = L L'`, packed row by row: half the memory of a full inverse, and both products run along rows.
#[derive(Clone, Debug)]
pub(super) struct InverseFactor {
    n: usize,
    rows: Vec<f64>,
}

impl InverseFactor {
    /// Factorises the symmetric matrix given by its lower triangle.
    ///
    /// # Errors
    /// As [`cholesky`].
    pub(super) fn new(mut matrix: Mat<f64>) -> Result<Self, SmoothError> {
        let n = matrix.nrows();
        cholesky(&mut matrix)?;
        let mut inverse = Mat::zeros(n, n);
        invert_lower_triangular(inverse.as_mut(), matrix.as_ref(), Par::Seq);
        let mut rows = vec![0.0; n * (n + 1) / 2];
        for j in 0..n {
            let column = inverse.col_as_slice(j);
            for i in j..n {
                rows[i * (i + 1) / 2 + j] = column[i];
            }
        }
        Ok(Self { n, rows })
    }

    fn row(&self, i: usize) -> &[f64] {
        let start = i * (i + 1) / 2;
        &self.rows[start..start + i + 1]
    }

    /// `L^-1 b`, whose squared length is `b' R^-1 b`.
    pub(super) fn half(&self, b: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..self.n).map(|i| dot(self.row(i), &b[..=i])));
    }

    /// `R^-1 b` from `half = L^-1 b`.
    pub(super) fn full(&self, half: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.n, 0.0);
        for i in 0..self.n {
            let at = half[i];
            for (out, l) in out.iter_mut().zip(self.row(i)) {
                *out += at * l;
            }
        }
    }

    /// `R^-1 b`.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (mut half, mut full) = (Vec::new(), Vec::new());
        self.half(b, &mut half);
        self.full(&half, &mut full);
        full
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::{InverseFactor, cholesky, dot, inverse_from_factor, solve};

    fn matrix(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| {
            (-((i as f64 - j as f64) / 3.0).powi(2)).exp() + f64::from(u8::from(i == j))
        })
    }

    #[test]
    fn solutions_satisfy_their_equations() {
        for n in [1, 2, 7, 40, 150] {
            let r = matrix(n);
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let factor = InverseFactor::new(r.clone()).unwrap();
            let x = factor.solve(&b);
            let mut l = r.clone();
            cholesky(&mut l).unwrap();
            let mut y = b.clone();
            solve(&l, &mut y);
            let mut inverse = Mat::zeros(n, n);
            inverse_from_factor(&l, &mut inverse);
            let mut half = Vec::new();
            factor.half(&b, &mut half);
            assert!((dot(&half, &half) - dot(&b, &x)).abs() < 1e-11);
            for i in 0..n {
                let product: f64 = (0..n).map(|j| r[(i, j)] * x[j]).sum();
                assert!((product - b[i]).abs() < 1e-12);
                assert!((x[i] - y[i]).abs() < 1e-12);
                let by_inverse: f64 = (0..n).map(|j| inverse[(i.max(j), i.min(j))] * b[j]).sum();
                assert!((by_inverse - x[i]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn an_indefinite_or_undefined_matrix_is_refused() {
        let indefinite = Mat::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 2.0 });
        assert!(InverseFactor::new(indefinite).is_err());
        assert!(InverseFactor::new(Mat::from_fn(3, 3, |_, _| f64::NAN)).is_err());
    }
}
