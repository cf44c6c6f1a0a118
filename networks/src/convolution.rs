//! Convolutions and their transposes with exact gradients, image by image.
//!
//! With a filter `W` the convolution is a linear map from images to maps, `maps = W * image`, the transposed convolution is its adjoint, and the gradient by the filter is
//! the third of the family. Each is the others' derivative, so three loops over unfolded images (im2col) and matrix products on one thread are all there is. candle
//! has convolutions too, but pads the gradients' images in other ways and sums on several threads; it is the tests' twin.

use std::ops::Range;

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The sizes of a convolution of quadratic images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// Side of the filter.
    pub(crate) filter: usize,
    /// Stride.
    pub(crate) stride: usize,
    /// Rings of zeros around the image.
    pub(crate) padding: usize,
    /// Side of the image, without padding.
    pub(crate) image: usize,
    /// Side of the maps.
    pub(crate) map: usize,
}

/// `[n, channels, image, image]` by a filter `[maps, channels, filter, filter]` to `[n, maps, map, map]`.
pub(crate) fn convolve(images: &Tensor, filter: &Tensor, geometry: Geometry) -> Result<Tensor> {
    apply(images, filter, geometry, Kind::Convolve)
}

/// The adjoint: `[n, maps, map, map]` by the same filter to `[n, channels, image, image]`.
pub(crate) fn transposed(maps: &Tensor, filter: &Tensor, geometry: Geometry) -> Result<Tensor> {
    apply(maps, filter, geometry, Kind::Transposed)
}

fn apply(a: &Tensor, b: &Tensor, geometry: Geometry, kind: Kind) -> Result<Tensor> {
    a.contiguous()?.apply_op2(&b.contiguous()?, Op { geometry, kind })
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// (images, filter) to maps.
    Convolve,
    /// (maps, filter) to images.
    Transposed,
    /// (images, maps) to filter.
    Filter,
}

#[derive(Debug)]
struct Op {
    geometry: Geometry,
    kind: Kind,
}

impl Op {
    /// Channels and number of maps, from the shapes of the two arguments.
    fn channels(&self, a: &Shape, b: &Shape) -> Result<(usize, usize, usize)> {
        let Geometry { filter, image, map, .. } = self.geometry;
        let ((n, a1, a2, a3), (b0, b1, b2, b3)) = (a.dims4()?, b.dims4()?);
        let (channels, maps, fits) = match self.kind {
            Kind::Convolve => {
                (b1, b0, a1 == b1 && (a2, a3) == (image, image) && (b2, b3) == (filter, filter))
            }
            Kind::Transposed => (b1, b0, a1 == b0 && (a2, a3) == (map, map) && (b2, b3) == (filter, filter)),
            Kind::Filter => (a1, b1, n == b0 && (a2, a3) == (image, image) && (b2, b3) == (map, map)),
        };
        if !fits {
            bail!("shapes {a:?} and {b:?} do not fit {self:?}");
        }
        Ok((n, channels, maps))
    }
}

impl CustomOp2 for Op {
    fn name(&self) -> &'static str {
        "convolution"
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (n, channels, maps) = self.channels(a_layout.shape(), b_layout.shape())?;
        let (a, b) = (values(a, a_layout)?, values(b, b_layout)?);
        let Geometry { filter, image, map, .. } = self.geometry;
        let (taps, places) = (channels * filter * filter, map * map);
        let (image_size, map_size) = (channels * image * image, maps * places);
        let mut unfolded = vec![0.0; taps * places];
        let (data, shape) = match self.kind {
            Kind::Convolve => {
                let mut out = vec![0.0; n * map_size];
                for (image, maps_of_it) in a.chunks_exact(image_size).zip(out.chunks_exact_mut(map_size)) {
                    self.geometry.unfold(image, channels, &mut unfolded);
                    let into = MatMut::from_row_major_slice_mut(maps_of_it, maps, places);
                    product(into, Accum::Replace, matrix(b, maps, taps), matrix(&unfolded, taps, places));
                }
                (out, Shape::from((n, maps, map, map)))
            }
            Kind::Transposed => {
                let mut out = vec![0.0; n * image_size];
                for (maps_of_it, image) in a.chunks_exact(map_size).zip(out.chunks_exact_mut(image_size)) {
                    let into = MatMut::from_row_major_slice_mut(&mut unfolded, taps, places);
                    let filter = matrix(b, maps, taps).transpose();
                    product(into, Accum::Replace, filter, matrix(maps_of_it, maps, places));
                    self.geometry.fold(&unfolded, channels, image);
                }
                (out, Shape::from((n, channels, image, image)))
            }
            Kind::Filter => {
                let mut out = vec![0.0; maps * taps];
                for (image, maps_of_it) in a.chunks_exact(image_size).zip(b.chunks_exact(map_size)) {
                    self.geometry.unfold(image, channels, &mut unfolded);
                    let into = MatMut::from_row_major_slice_mut(&mut out, maps, taps);
                    let unfolded = matrix(&unfolded, taps, places).transpose();
                    product(into, Accum::Add, matrix(maps_of_it, maps, places), unfolded);
                }
                (out, Shape::from((maps, channels, filter, filter)))
            }
        };
        Ok((CpuStorage::F32(data), shape))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        _out: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (adjoint, by_b) = match self.kind {
            Kind::Convolve => (Kind::Transposed, apply(a, grad, self.geometry, Kind::Filter)?),
            Kind::Transposed => (Kind::Convolve, apply(grad, a, self.geometry, Kind::Filter)?),
            Kind::Filter => bail!("second derivatives of a convolution are not here"),
        };
        // Nobody asks for the gradient by the pixels of the data.
        let by_a = if a.track_op() { Some(apply(grad, b, self.geometry, adjoint)?) } else { None };
        Ok((by_a, Some(by_b)))
    }
}

impl Geometry {
    /// For each tap of the filter (channel, row, column) what it sees at each place of a map, zero outside the image: `[channels * filter * filter, map * map]`.
    fn unfold(&self, image: &[f32], channels: usize, unfolded: &mut [f32]) {
        unfolded.fill(0.0);
        let stride = self.stride;
        self.visit(channels, |places, pixel| {
            let (places, pixels) = (&mut unfolded[places], &image[pixel..]);
            if stride == 1 {
                places.copy_from_slice(&pixels[..places.len()]);
            } else {
                for (place, pixel) in places.iter_mut().zip(pixels.iter().step_by(stride)) {
                    *place = *pixel;
                }
            }
        });
    }

    /// The adjoint of `unfold`: each value is added to the pixel that it was seen at.
    fn fold(&self, unfolded: &[f32], channels: usize, image: &mut [f32]) {
        let stride = self.stride;
        self.visit(channels, |places, pixel| {
            let (places, pixels) = (&unfolded[places], &mut image[pixel..]);
            // The compiler makes one instruction of many additions where it knows the stride.
            if stride == 1 {
                for (pixel, place) in pixels.iter_mut().zip(places) {
                    *pixel += place;
                }
            } else {
                for (pixel, place) in pixels.iter_mut().step_by(stride).zip(places) {
                    *pixel += place;
                }
            }
        });
    }

    /// Calls with the places of the unfolded image, row by row, that see pixels, and the pixel that the first of them sees; each further place sees the one a stride on.
    fn visit(&self, channels: usize, mut see: impl FnMut(Range<usize>, usize)) {
        let Self { filter, stride, padding, image, map } = *self;
        for channel in 0..channels {
            for row in 0..filter {
                for column in 0..filter {
                    let tap = (channel * filter + row) * filter + column;
                    let first = padding.saturating_sub(column).div_ceil(stride);
                    let end = (image + padding).saturating_sub(column).div_ceil(stride).min(map);
                    if first >= end {
                        continue;
                    }
                    for y in 0..map {
                        let Some(pixel_row) = (y * stride + row).checked_sub(padding).filter(|&r| r < image)
                        else {
                            continue;
                        };
                        let (place, pixel) = ((tap * map + y) * map, (channel * image + pixel_row) * image);
                        see(place + first..place + end, pixel + first * stride + column - padding);
                    }
                }
            }
        }
    }
}

fn matrix(values: &[f32], rows: usize, columns: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, rows, columns)
}

fn product(into: MatMut<'_, f32>, accum: Accum, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    matmul(into, accum, left, right, 1.0, Par::Seq);
}

/// The numbers of a contiguous tensor.
pub(crate) fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("expected contiguous numbers of 32 bits"),
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Result, Tensor, Var};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::{Geometry, convolve, transposed};

    fn random(shape: (usize, usize, usize, usize), seed: u64) -> Tensor {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = shape.0 * shape.1 * shape.2 * shape.3;
        let values: Vec<f32> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn difference(a: &Tensor, b: &Tensor) -> f32 {
        assert_eq!(a.dims(), b.dims());
        (a - b).unwrap().abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap()
    }

    /// All strides, paddings and filters of the two spaces, and output paddings (the image's side says them).
    fn cases() -> Vec<Geometry> {
        let mut cases = Vec::new();
        for filter in 2..=5 {
            for stride in 1..=3 {
                for padding in 0..=3 {
                    for image in [5, 8] {
                        if image + 2 * padding >= filter {
                            let map = (image + 2 * padding - filter) / stride + 1;
                            cases.push(Geometry { filter, stride, padding, image, map });
                        }
                    }
                }
            }
        }
        cases
    }

    #[test]
    fn convolutions_and_their_transposes_are_those_of_candle() -> Result<()> {
        for geometry in cases() {
            let Geometry { filter, stride, padding, image, map } = geometry;
            let (images, maps) = (random((2, 3, image, image), 1), random((2, 4, map, map), 2));
            let weights = random((4, 3, filter, filter), 3);
            let twin = images.conv2d(&weights, padding, stride, 1, 1)?;
            assert!(difference(&convolve(&images, &weights, geometry)?, &twin) < 1e-5, "{geometry:?}");
            let bare = stride * (map - 1) + filter;
            let Some(output_padding) = (image + 2 * padding).checked_sub(bare) else { continue };
            let twin = maps.conv_transpose2d(&weights, padding, output_padding, stride, 1)?;
            assert!(difference(&transposed(&maps, &weights, geometry)?, &twin) < 1e-5, "{geometry:?}");
        }
        Ok(())
    }

    #[test]
    fn gradients_are_quotients_of_differences() -> Result<()> {
        // The maps are linear in each argument and the loss is quadratic, so that central differences are exact but for rounding.
        for geometry in cases() {
            let Geometry { filter, image, map, .. } = geometry;
            let weights = Var::from_tensor(&random((4, 3, filter, filter), 3))?;
            for is_transposed in [false, true] {
                let input =
                    if is_transposed { random((2, 4, map, map), 2) } else { random((2, 3, image, image), 1) };
                let input = Var::from_tensor(&input)?;
                let loss = |input: &Tensor, weights: &Tensor| -> Result<Tensor> {
                    let f = if is_transposed { transposed } else { convolve };
                    f(input, weights, geometry)?.sqr()?.mean_all()
                };
                let grads = loss(&input, &weights)?.backward()?;
                for (k, of) in [&input, &weights].into_iter().enumerate() {
                    let shape = of.dims4()?;
                    let along = random(shape, 7);
                    let grad = grads.get(of).expect("it has a gradient");
                    let slope = (grad * &along)?.sum_all()?.to_scalar::<f32>()?;
                    let step = 0.05;
                    let at = |sign: f64| -> Result<f32> {
                        let moved = (of.as_tensor() + (&along * (sign * step))?)?;
                        let value = if k == 0 { loss(&moved, &weights)? } else { loss(&input, &moved)? };
                        value.to_scalar::<f32>()
                    };
                    let quotient = (at(1.0)? - at(-1.0)?) / (2.0 * step as f32);
                    assert!(
                        (slope - quotient).abs() < 1e-3 * (1.0 + slope.abs()),
                        "{geometry:?}: {slope} {quotient}"
                    );
                }
            }
        }
        Ok(())
    }
}
