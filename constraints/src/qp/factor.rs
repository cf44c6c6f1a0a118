//! QR factorisation of the active normals, updated as constraints come and go.

use super::vector::{add_multiple, dot, rotate};

/// `N = Q₁ R` for the active normals `N` (`[n, q]`), with `Q = [Q₁ Q₂]` orthogonal.
///
/// Adding a normal reflects `Q₂` (one Householder reflection, which reuses the step direction); dropping one restores the
/// triangle by Givens rotations. Both cost `O(n²)`.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    n: usize,
    q: usize,
    /// Columns of `Q`, each contiguous: `[n, n]`.
    basis: Vec<f64>,
    /// Columns of `R`, column `j` being `triangle[j * n..=j * n + j]`.
    triangle: Vec<f64>,
    /// Work vector of the reflection.
    mirror: Vec<f64>,
    /// Additions and drops since the basis was the identity; rounding errors grow with it.
    updates: usize,
}

impl Factor {
    /// No active normals in dimension `n`; the basis is the identity.
    pub(super) fn reset(&mut self, n: usize) {
        self.n = n;
        self.q = 0;
        self.updates = 0;
        self.basis.clear();
        self.basis.resize(n * n, 0.0);
        for k in 0..n {
            self.basis[k * n + k] = 1.0;
        }
        self.triangle.clear();
        self.triangle.resize(n * n, 0.0);
        self.mirror.clear();
        self.mirror.resize(n, 0.0);
    }

    /// See [`Factor::updates`].
    pub(super) fn updates(&self) -> usize {
        self.updates
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.basis[k * self.n..(k + 1) * self.n]
    }

    /// `coordinates = Qᵀ vector`.
    pub(super) fn coordinates(&self, vector: &[f64], coordinates: &mut [f64]) {
        for (k, coordinate) in coordinates.iter_mut().enumerate() {
            *coordinate = dot(self.column(k), vector);
        }
    }

    /// `coordinates = factor * Qᵀ e_position`, for a normal along one axis.
    pub(super) fn axis_coordinates(&self, position: usize, factor: f64, coordinates: &mut [f64]) {
        for (coordinate, column) in coordinates.iter_mut().zip(self.basis.chunks_exact(self.n)) {
            *coordinate = factor * column[position];
        }
    }

    /// `direction = Q₂ Q₂ᵀ vector`, the part of a vector orthogonal to the active normals, from its coordinates; returns its
    /// squared norm.
    pub(super) fn null_part(&self, coordinates: &[f64], direction: &mut [f64]) -> f64 {
        direction.fill(0.0);
        for k in self.q..self.n {
            if coordinates[k] != 0.0 {
                add_multiple(coordinates[k], self.column(k), direction);
            }
        }
        dot(&coordinates[self.q..], &coordinates[self.q..])
    }

    /// `vector += Q₁ coefficients`.
    pub(super) fn add_range_part(&self, coefficients: &[f64], vector: &mut [f64]) {
        for k in 0..self.q {
            add_multiple(coefficients[k], self.column(k), vector);
        }
    }

    /// Solves `R s = right` in place (first `q` elements).
    pub(super) fn solve(&self, right: &mut [f64]) {
        for j in (0..self.q).rev() {
            let column = &self.triangle[j * self.n..=j * self.n + j];
            let value = right[j] / column[j];
            right[j] = value;
            add_multiple(-value, &column[..j], &mut right[..j]);
        }
    }

    /// Solves `Rᵀ s = right` in place (first `q` elements).
    pub(super) fn solve_transposed(&self, right: &mut [f64]) {
        for j in 0..self.q {
            let column = &self.triangle[j * self.n..=j * self.n + j];
            right[j] = (right[j] - dot(&column[..j], &right[..j])) / column[j];
        }
    }

    /// Appends a normal given by its coordinates and its null part, whose squared norm must be positive.
    ///
    /// The reflection sends the null part to a multiple of the first column of `Q₂`. Its vector is
    /// `Q₂ (d₂ + α e₁) = null_part + α q`, so that `Q₂` need not be multiplied a second time.
    pub(super) fn add(&mut self, coordinates: &[f64], null_part: &[f64], norm_sq: f64) {
        let (n, q) = (self.n, self.q);
        let norm = norm_sq.sqrt();
        let first = coordinates[q];
        let alpha = if first >= 0.0 { norm } else { -norm };
        self.mirror.copy_from_slice(null_part);
        add_multiple(alpha, &self.basis[q * n..(q + 1) * n], &mut self.mirror);
        let beta = 1.0 / (norm * (norm + first.abs()));
        for k in q..n {
            let component = if k == q { first + alpha } else { coordinates[k] };
            if component != 0.0 {
                add_multiple(-beta * component, &self.mirror, &mut self.basis[k * n..(k + 1) * n]);
            }
        }
        self.triangle[q * n..q * n + q].copy_from_slice(&coordinates[..q]);
        self.triangle[q * n + q] = -alpha;
        self.q += 1;
        self.updates += 1;
    }

    /// Drops the normal at `position`; `coordinates` of a vector follow the change of basis.
    pub(super) fn drop(&mut self, position: usize, coordinates: &mut [f64]) {
        let (n, q) = (self.n, self.q);
        for j in position + 1..q {
            self.triangle.copy_within(j * n..=j * n + j, (j - 1) * n);
        }
        for i in position..q - 1 {
            let (a, b) = (self.triangle[i * n + i], self.triangle[i * n + i + 1]);
            if b == 0.0 {
                continue;
            }
            let length = a.hypot(b);
            let (cosine, sine) = (a / length, b / length);
            self.triangle[i * n + i] = length;
            for j in i + 1..q - 1 {
                let (upper, lower) = (self.triangle[j * n + i], self.triangle[j * n + i + 1]);
                self.triangle[j * n + i] = cosine * upper + sine * lower;
                self.triangle[j * n + i + 1] = cosine * lower - sine * upper;
            }
            let (left, right) = self.basis.split_at_mut((i + 1) * n);
            rotate(cosine, sine, &mut left[i * n..], &mut right[..n]);
            let (left, right) = coordinates.split_at_mut(i + 1);
            rotate(cosine, sine, &mut left[i..], &mut right[..1]);
        }
        self.q -= 1;
        self.updates += 1;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;

    /// Largest error of `QᵀQ = I` and of `Q₁R = N`.
    fn error(factor: &Factor, normals: &[Vec<f64>]) -> f64 {
        let n = factor.n;
        let mut worst: f64 = 0.0;
        for i in 0..n {
            for j in 0..n {
                let product = dot(factor.column(i), factor.column(j));
                worst = worst.max((product - f64::from(u8::from(i == j))).abs());
            }
        }
        for (j, normal) in normals.iter().enumerate() {
            let mut rebuilt = vec![0.0; n];
            for i in 0..=j {
                add_multiple(factor.triangle[j * n + i], factor.column(i), &mut rebuilt);
            }
            worst = rebuilt.iter().zip(normal).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
        }
        worst
    }

    #[test]
    fn updates_keep_the_factorisation() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let n = 12;
        let mut factor = Factor::default();
        factor.reset(n);
        let mut normals: Vec<Vec<f64>> = Vec::new();
        let (mut coordinates, mut direction) = (vec![0.0; n], vec![0.0; n]);
        for step in 0..2000 {
            if normals.len() < n && (normals.is_empty() || rng.random::<f64>() < 0.55) {
                let mut normal: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
                if step % 3 == 0 {
                    let axis = step % n;
                    normal.fill(0.0);
                    normal[axis] = -1.0;
                    factor.axis_coordinates(axis, -1.0, &mut coordinates);
                } else {
                    factor.coordinates(&normal, &mut coordinates);
                }
                let norm_sq = factor.null_part(&coordinates, &mut direction);
                if norm_sq > 1e-6 {
                    factor.add(&coordinates, &direction, norm_sq);
                    normals.push(normal);
                }
            } else if !normals.is_empty() {
                let position = rng.random_range(0..normals.len());
                normals.remove(position);
                // The coordinates of a vector must follow: compare with fresh ones.
                let vector: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
                factor.coordinates(&vector, &mut coordinates);
                factor.drop(position, &mut coordinates);
                let mut fresh = vec![0.0; n];
                factor.coordinates(&vector, &mut fresh);
                assert!(fresh.iter().zip(&coordinates).all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
        assert!(factor.q == normals.len() && factor.updates() > 1500);
        assert!(error(&factor, &normals) < 1e-12, "{}", error(&factor, &normals));
    }

    #[test]
    fn triangular_solves_invert_the_normals() {
        // N = columns (3, 4, 0) and (0, 0, 2): N s = (3, 4, 4) gives s = (1, 2); Nᵀ y = (25, 6) with y in the range of N
        // gives y = (3, 4, 3).
        let mut factor = Factor::default();
        factor.reset(3);
        let (mut d, mut z) = (vec![0.0; 3], vec![0.0; 3]);
        for normal in [[3.0, 4.0, 0.0], [0.0, 0.0, 2.0]] {
            factor.coordinates(&normal, &mut d);
            let norm_sq = factor.null_part(&d, &mut z);
            factor.add(&d, &z, norm_sq);
        }
        factor.coordinates(&[3.0, 4.0, 4.0], &mut d);
        factor.solve(&mut d[..2]);
        assert!((d[0] - 1.0).abs() < 1e-14 && (d[1] - 2.0).abs() < 1e-14);
        let mut f = [25.0, 6.0];
        factor.solve_transposed(&mut f);
        let mut y = vec![0.0; 3];
        factor.add_range_part(&f, &mut y);
        assert!((y[0] - 3.0).abs() < 1e-14 && (y[1] - 4.0).abs() < 1e-14 && (y[2] - 3.0).abs() < 1e-14);
    }
}
