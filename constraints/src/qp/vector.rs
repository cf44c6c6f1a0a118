//! Inner loops on slices, written so that they compile to vector instructions with a fixed order of sums.

/// `a · b`; slices of equal length.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, a_rest) = a.as_chunks::<4>();
    let (b_chunks, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (x, y) in a_rest.iter().zip(b_rest) {
        sum += x * y;
    }
    sum
}

/// `y += factor * x`; slices of equal length.
#[inline]
pub(super) fn add_multiple(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// Rotates two vectors: `(a, b) <- (cosine a + sine b, cosine b - sine a)`.
#[inline]
pub(super) fn rotate(cosine: f64, sine: f64, a: &mut [f64], b: &mut [f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}

/// Euclidean norm of the products `a_j * scale_j`, safe against overflow and underflow of the squares.
pub(super) fn scaled_norm(a: &[f64], scale: &[f64]) -> f64 {
    let products = || a.iter().zip(scale).map(|(a, s)| a * s);
    let square: f64 = products().map(|p| p * p).sum();
    if square > 1e-250 && square < 1e250 {
        return square.sqrt();
    }
    let largest = products().fold(0.0, |largest: f64, p| largest.max(p.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    products().map(|p| (p / largest) * (p / largest)).sum::<f64>().sqrt() * largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_and_add_cover_chunks_and_rest() {
        let a: Vec<f64> = (1..=11).map(f64::from).collect();
        assert_eq!(dot(&a, &a), 506.0);
        let mut y = vec![1.0; 11];
        add_multiple(2.0, &a, &mut y);
        assert_eq!(y[10], 23.0);
        assert_eq!(dot(&[], &[]), 0.0);
    }

    #[test]
    fn norm_survives_squares_out_of_range() {
        assert_eq!(scaled_norm(&[3.0, 4.0], &[1.0, 1.0]), 5.0);
        assert!((scaled_norm(&[3e-200, 4e-200], &[1.0, 1.0]) / 5e-200 - 1.0).abs() < 1e-15);
        assert!((scaled_norm(&[3e200, 4e200], &[1.0, 1.0]) / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(scaled_norm(&[0.0], &[1.0]), 0.0);
    }
}
