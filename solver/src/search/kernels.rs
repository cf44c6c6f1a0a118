//! The vector kernels of the hot loops, dispatched at run time to the widest instructions of the machine.

use pulp::{Arch, Simd, WithSimd};

use super::index::ItemId;
use super::item_rows::ItemRows;

/// Row lengths are padded with zeros to a multiple of this, so that no kernel has a tail.
pub(crate) const PAD: usize = 8;
/// The same for rows in single precision.
pub(crate) const COARSE_PAD: usize = 16;

/// The kernels, bound to the machine's instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    arch: Arch,
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (a, a_tail) = S::as_simd_f64s(self.a);
        let (b, b_tail) = S::as_simd_f64s(self.b);
        let mut even = simd.splat_f64s(0.0);
        let mut odd = even;
        let (a_pairs, a_last) = pulp::as_arrays::<2, _>(a);
        let (b_pairs, b_last) = pulp::as_arrays::<2, _>(b);
        for ([a0, a1], [b0, b1]) in a_pairs.iter().zip(b_pairs) {
            even = simd.mul_add_e_f64s(*a0, *b0, even);
            odd = simd.mul_add_e_f64s(*a1, *b1, odd);
        }
        for (a0, b0) in a_last.iter().zip(b_last) {
            even = simd.mul_add_e_f64s(*a0, *b0, even);
        }
        let mut sum = simd.reduce_sum_f64s(simd.add_f64s(even, odd));
        for (x, y) in a_tail.iter().zip(b_tail) {
            sum += x * y;
        }
        sum
    }
}

struct RowDots<'a> {
    matrix: &'a ItemRows<f64>,
    items: &'a [ItemId],
    vector: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for RowDots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { matrix, items, vector, out } = self;
        let (u, _) = S::as_simd_f64s(&vector[..matrix.stride]);
        let row = |item: ItemId| S::as_simd_f64s(matrix.row(item)).0;
        let (quads, rest) = pulp::as_arrays::<4, _>(items);
        let (out_quads, out_rest) = pulp::as_arrays_mut::<4, _>(out);
        for ([i0, i1, i2, i3], out) in quads.iter().zip(out_quads) {
            let (r0, r1, r2, r3) = (row(*i0), row(*i1), row(*i2), row(*i3));
            let mut s0 = simd.splat_f64s(0.0);
            let (mut s1, mut s2, mut s3) = (s0, s0, s0);
            for ((((x, a0), a1), a2), a3) in u.iter().zip(r0).zip(r1).zip(r2).zip(r3) {
                s0 = simd.mul_add_e_f64s(*a0, *x, s0);
                s1 = simd.mul_add_e_f64s(*a1, *x, s1);
                s2 = simd.mul_add_e_f64s(*a2, *x, s2);
                s3 = simd.mul_add_e_f64s(*a3, *x, s3);
            }
            *out = [
                simd.reduce_sum_f64s(s0),
                simd.reduce_sum_f64s(s1),
                simd.reduce_sum_f64s(s2),
                simd.reduce_sum_f64s(s3),
            ];
        }
        for (i, out) in rest.iter().zip(out_rest) {
            let mut s0 = simd.splat_f64s(0.0);
            for (x, a0) in u.iter().zip(row(*i)) {
                s0 = simd.mul_add_e_f64s(*a0, *x, s0);
            }
            *out = simd.reduce_sum_f64s(s0);
        }
    }
}

struct CoarseRowDots<'a> {
    matrix: &'a ItemRows<f32>,
    items: &'a [ItemId],
    vector: &'a [f32],
    out: &'a mut [f64],
}

impl WithSimd for CoarseRowDots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { matrix, items, vector, out } = self;
        let (u, _) = S::as_simd_f32s(&vector[..matrix.stride]);
        let row = |item: ItemId| S::as_simd_f32s(matrix.row(item)).0;
        let (pairs, rest) = pulp::as_arrays::<2, _>(items);
        let (out_pairs, out_rest) = pulp::as_arrays_mut::<2, _>(out);
        for ([i0, i1], out) in pairs.iter().zip(out_pairs) {
            let (r0, r1) = (row(*i0), row(*i1));
            let mut s0 = simd.splat_f32s(0.0);
            let mut s1 = s0;
            for ((x, a0), a1) in u.iter().zip(r0).zip(r1) {
                s0 = simd.mul_add_e_f32s(*a0, *x, s0);
                s1 = simd.mul_add_e_f32s(*a1, *x, s1);
            }
            *out = [f64::from(simd.reduce_sum_f32s(s0)), f64::from(simd.reduce_sum_f32s(s1))];
        }
        for (i, out) in rest.iter().zip(out_rest) {
            let mut s0 = simd.splat_f32s(0.0);
            for (x, a0) in u.iter().zip(row(*i)) {
                s0 = simd.mul_add_e_f32s(*a0, *x, s0);
            }
            *out = f64::from(simd.reduce_sum_f32s(s0));
        }
    }
}

/// `(|p - m|^2, u.(p - m))` in single precision.
struct CoarseDifferenceProducts<'a> {
    plus: &'a [f32],
    minus: &'a [f32],
    vector: &'a [f32],
}

impl WithSimd for CoarseDifferenceProducts<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let (plus, _) = S::as_simd_f32s(self.plus);
        let (minus, _) = S::as_simd_f32s(self.minus);
        let (vector, _) = S::as_simd_f32s(self.vector);
        let mut norm = simd.splat_f32s(0.0);
        let mut along = norm;
        for ((p, m), u) in plus.iter().zip(minus).zip(vector) {
            let d = simd.sub_f32s(*p, *m);
            norm = simd.mul_add_e_f32s(d, d, norm);
            along = simd.mul_add_e_f32s(d, *u, along);
        }
        (f64::from(simd.reduce_sum_f32s(norm)), f64::from(simd.reduce_sum_f32s(along)))
    }
}

struct AddScaled<'a> {
    target: &'a mut [f64],
    factor: f64,
    row: &'a [f64],
}

impl WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (target, target_tail) = S::as_mut_simd_f64s(self.target);
        let (row, row_tail) = S::as_simd_f64s(self.row);
        let factor = simd.splat_f64s(self.factor);
        for (t, r) in target.iter_mut().zip(row) {
            *t = simd.mul_add_e_f64s(factor, *r, *t);
        }
        for (t, r) in target_tail.iter_mut().zip(row_tail) {
            *t += self.factor * r;
        }
    }
}

struct AddDifference<'a> {
    target: &'a mut [f64],
    factor: f64,
    plus: &'a [f64],
    minus: &'a [f64],
}

impl WithSimd for AddDifference<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (target, target_tail) = S::as_mut_simd_f64s(self.target);
        let (plus, plus_tail) = S::as_simd_f64s(self.plus);
        let (minus, minus_tail) = S::as_simd_f64s(self.minus);
        let factor = simd.splat_f64s(self.factor);
        for ((t, p), m) in target.iter_mut().zip(plus).zip(minus) {
            *t = simd.mul_add_e_f64s(factor, simd.sub_f64s(*p, *m), *t);
        }
        for ((t, p), m) in target_tail.iter_mut().zip(plus_tail).zip(minus_tail) {
            *t += self.factor * (p - m);
        }
    }
}

/// Smallest number of a slice without NaN; infinity for none.
#[inline(always)]
pub(crate) fn smallest(values: &[f64]) -> f64 {
    const LANES: usize = 4;
    let mut best = [f64::INFINITY; LANES];
    let (chunks, rest) = pulp::as_arrays::<LANES, _>(values);
    for chunk in chunks {
        for k in 0..LANES {
            best[k] = if chunk[k] < best[k] { chunk[k] } else { best[k] };
        }
    }
    for (k, &value) in rest.iter().enumerate() {
        best[k] = if value < best[k] { value } else { best[k] };
    }
    let (a, b) = (best[0].min(best[2]), best[1].min(best[3]));
    a.min(b)
}

/// Largest number of a slice without NaN; minus infinity for none.
#[inline(always)]
pub(crate) fn largest(values: &[f64]) -> f64 {
    const LANES: usize = 4;
    let mut best = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = pulp::as_arrays::<LANES, _>(values);
    for chunk in chunks {
        for k in 0..LANES {
            best[k] = if chunk[k] > best[k] { chunk[k] } else { best[k] };
        }
    }
    for (k, &value) in rest.iter().enumerate() {
        best[k] = if value > best[k] { value } else { best[k] };
    }
    let (a, b) = (best[0].max(best[2]), best[1].max(best[3]));
    a.max(b)
}

/// Largest size of the numbers of a slice; 0 for none.
#[inline(always)]
pub(crate) fn largest_size(values: &[f64]) -> f64 {
    const LANES: usize = 4;
    let mut best = [0.0; LANES];
    let (chunks, rest) = pulp::as_arrays::<LANES, _>(values);
    for chunk in chunks {
        for k in 0..LANES {
            best[k] = if chunk[k].abs() > best[k] { chunk[k].abs() } else { best[k] };
        }
    }
    largest(&best).max(rest.iter().fold(0.0, |a, x| a.max(x.abs())))
}

impl Kernels {
    /// Runs a function, all of whose callees are inlined, compiled for the widest instructions of the machine.
    #[inline(always)]
    pub(crate) fn dispatch<R>(self, function: impl FnOnce() -> R) -> R {
        self.arch.dispatch(function)
    }

    /// The best kernels for this machine.
    pub(crate) fn new() -> Self {
        Self { arch: Arch::new() }
    }

    /// `a.b`.
    pub(crate) fn dot(self, a: &[f64], b: &[f64]) -> f64 {
        debug_assert_eq!(a.len(), b.len());
        self.arch.dispatch(Dot { a, b })
    }

    /// `out[k] = matrix[items[k]] . vector`; rows of a multiple of [`PAD`].
    pub(crate) fn row_dots(self, matrix: &ItemRows<f64>, items: &[ItemId], vector: &[f64], out: &mut [f64]) {
        debug_assert!(matrix.stride.is_multiple_of(PAD) && items.len() == out.len());
        self.arch.dispatch(RowDots { matrix, items, vector, out });
    }

    /// [`Kernels::row_dots`] in single precision; rows of a multiple of [`COARSE_PAD`].
    pub(crate) fn coarse_row_dots(
        self,
        matrix: &ItemRows<f32>,
        items: &[ItemId],
        vector: &[f32],
        out: &mut [f64],
    ) {
        debug_assert!(matrix.stride.is_multiple_of(COARSE_PAD) && items.len() == out.len());
        self.arch.dispatch(CoarseRowDots { matrix, items, vector, out });
    }

    /// `(|plus - minus|^2, vector.(plus - minus))` in single precision; lengths are a multiple of [`COARSE_PAD`].
    pub(crate) fn coarse_difference_products(
        self,
        plus: &[f32],
        minus: &[f32],
        vector: &[f32],
    ) -> (f64, f64) {
        debug_assert!(plus.len().is_multiple_of(COARSE_PAD));
        self.arch.dispatch(CoarseDifferenceProducts { plus, minus, vector })
    }

    /// `target += factor * row`.
    pub(crate) fn add_scaled(self, target: &mut [f64], factor: f64, row: &[f64]) {
        debug_assert_eq!(target.len(), row.len());
        self.arch.dispatch(AddScaled { target, factor, row });
    }

    /// `target += factor * (plus - minus)`.
    pub(crate) fn add_difference(self, target: &mut [f64], factor: f64, plus: &[f64], minus: &[f64]) {
        self.arch.dispatch(AddDifference { target, factor, plus, minus });
    }
}

#[cfg(test)]
mod tests {
    use super::Kernels;
    use crate::search::index::{Id, ItemId};
    use crate::search::item_rows::ItemRows;

    #[test]
    fn extremes_of_slices_of_any_length() {
        let values: Vec<f64> = (0..23).map(|i| f64::from((i * 7) % 23) - 9.0).collect();
        for n in 0..23 {
            let plain = values[..n].iter().copied();
            assert_eq!(super::smallest(&values[..n]), plain.clone().fold(f64::INFINITY, f64::min));
            assert_eq!(super::largest(&values[..n]), plain.fold(f64::NEG_INFINITY, f64::max));
        }
    }

    #[test]
    fn kernels_agree_with_plain_loops() {
        let kernels = Kernels::new();
        let stride = 24;
        let values: Vec<f64> = (0..7 * stride).map(|i| ((i * 37) % 101) as f64 * 0.01 - 0.4).collect();
        let matrix = ItemRows { values, stride };
        let vector: Vec<f64> = (0..stride).map(|i| ((i * 13) % 17) as f64 * 0.1 - 0.7).collect();
        let row = |r: usize| matrix.row(ItemId::new(r));
        let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let items = [6, 0, 3, 3, 5, 1, 2].map(ItemId::new);
        let mut out = vec![0.0; items.len()];
        kernels.row_dots(&matrix, &items, &vector, &mut out);
        for (&item, &dot) in items.iter().zip(&out) {
            approx::assert_abs_diff_eq!(dot, plain(matrix.row(item), &vector), epsilon = 1e-13);
        }
        approx::assert_abs_diff_eq!(
            kernels.dot(&vector[..19], &row(2)[..19]),
            plain(&vector[..19], &row(2)[..19]),
            epsilon = 1e-13
        );
        let coarse_stride = 32;
        let pad = |row: &[f64]| {
            let mut coarse: Vec<f32> = row.iter().map(|&x| x as f32).collect();
            coarse.resize(coarse_stride, 0.0);
            coarse
        };
        let coarse = ItemRows { values: matrix.rows().flat_map(pad).collect(), stride: coarse_stride };
        let coarse_row = |r: usize| coarse.row(ItemId::new(r));
        kernels.coarse_row_dots(&coarse, &items, &pad(&vector), &mut out);
        for (&item, &dot) in items.iter().zip(&out) {
            approx::assert_abs_diff_eq!(dot, plain(matrix.row(item), &vector), epsilon = 1e-5);
        }
        let difference: Vec<f64> = row(4).iter().zip(row(5)).map(|(p, m)| p - m).collect();
        let (norm, along) = kernels.coarse_difference_products(coarse_row(4), coarse_row(5), &pad(&vector));
        approx::assert_abs_diff_eq!(norm, plain(&difference, &difference), epsilon = 1e-5);
        approx::assert_abs_diff_eq!(along, plain(&difference, &vector), epsilon = 1e-5);
        let mut sum = vector.clone();
        kernels.add_scaled(&mut sum, -2.0, row(1));
        kernels.add_difference(&mut sum, 0.5, row(4), row(5));
        for k in 0..stride {
            approx::assert_abs_diff_eq!(
                sum[k],
                vector[k] - 2.0 * row(1)[k] + 0.5 * difference[k],
                epsilon = 1e-13
            );
        }
    }
}
