//! Layers with weights, at PyTorch's default first values.

use candle_core::{D, Device, Result, Tensor, Var};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::convolution::{Geometry, convolve, transposed};

/// Slope of the leaky ReLU below 0 (PyTorch's default).
const LEAKY_SLOPE: f64 = 0.01;
/// First slope of the PReLU below 0 (PyTorch's default).
const PRELU_SLOPE: f32 = 0.25;

/// What follows a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `max(x, 0) + a min(x, 0)` with a slope `a` that is learnt, one for the layer.
    Prelu,
    /// `max(x, 0) + 0.01 min(x, 0)`.
    LeakyRelu,
}

impl Activation {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "relu" => Some(Self::Relu),
            "prelu" => Some(Self::Prelu),
            "leaky_relu" => Some(Self::LeakyRelu),
            _ => None,
        }
    }
}

/// Makes weights and keeps them, in the order in which they were made.
#[derive(Debug)]
pub(crate) struct Weights {
    rng: ChaCha8Rng,
    all: Vec<Var>,
}

impl Weights {
    pub(crate) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, all: Vec::new() }
    }

    pub(crate) fn into_all(self) -> Vec<Var> {
        self.all
    }

    /// Uniform in `±1/sqrt(fan_in)`: what PyTorch's convolutions and dense layers begin with, weights and biases.
    fn uniform(&mut self, shape: &[usize], fan_in: usize) -> Result<Var> {
        let bound = 1.0 / (fan_in.max(1) as f32).sqrt();
        let values: Vec<f32> =
            (0..shape.iter().product()).map(|_| self.rng.random_range(-bound..=bound)).collect();
        self.keep(Tensor::from_vec(values, shape, &Device::Cpu)?)
    }

    fn keep(&mut self, tensor: Tensor) -> Result<Var> {
        let var = Var::from_tensor(&tensor)?;
        self.all.push(var.clone());
        Ok(var)
    }
}

/// An activation function and its slope, where it is learnt.
#[derive(Debug)]
struct Bend {
    activation: Option<Activation>,
    slope: Option<Var>,
}

impl Bend {
    fn new(activation: Option<Activation>, weights: &mut Weights) -> Result<Self> {
        let slope = match activation {
            Some(Activation::Prelu) => Some(weights.keep(Tensor::new(&[PRELU_SLOPE], &Device::Cpu)?)?),
            _ => None,
        };
        Ok(Self { activation, slope })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let below = || -> Result<Tensor> { x - x.relu()? };
        match (self.activation, &self.slope) {
            (None, _) => Ok(x.clone()),
            (Some(Activation::Relu), _) => x.relu(),
            (Some(Activation::Prelu), Some(slope)) => x.relu()? + below()?.broadcast_mul(slope),
            (Some(Activation::Prelu | Activation::LeakyRelu), _) => x.relu()? + (below()? * LEAKY_SLOPE),
        }
    }
}

/// A dense layer.
#[derive(Debug)]
pub(crate) struct Dense {
    /// `[nodes, inputs]`; `None` without inputs, when only the bias is left.
    weight: Option<Var>,
    bias: Option<Var>,
    bend: Bend,
}

impl Dense {
    pub(crate) fn new(
        inputs: usize,
        nodes: usize,
        activation: Option<Activation>,
        weights: &mut Weights,
    ) -> Result<Self> {
        // Tensors without elements are nothing to be learnt.
        let weight = if inputs * nodes > 0 { Some(weights.uniform(&[nodes, inputs], inputs)?) } else { None };
        let bias = if nodes > 0 { Some(weights.uniform(&[nodes], inputs)?) } else { None };
        Ok(Self { weight, bias, bend: Bend::new(activation, weights)? })
    }

    /// `[n, inputs]` to `[n, nodes]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let n = x.dim(0)?;
        let Some(bias) = &self.bias else { return Tensor::zeros((n, 0), x.dtype(), x.device()) };
        let y = match &self.weight {
            Some(weight) => x.matmul(&weight.t()?)?.broadcast_add(bias)?,
            None => bias.broadcast_as((n, bias.dim(D::Minus1)?))?.contiguous()?,
        };
        self.bend.forward(&y)
    }
}

/// A convolution or a transposed one.
#[derive(Debug)]
pub(crate) struct Filter {
    /// `[maps, channels, filter, filter]`, both ways.
    weight: Var,
    bias: Var,
    geometry: Geometry,
    is_transposed: bool,
    bend: Bend,
    pool: bool,
}

impl Filter {
    pub(crate) fn convolution(
        channels: usize,
        maps: usize,
        geometry: Geometry,
        activation: Activation,
        pool: bool,
        weights: &mut Weights,
    ) -> Result<Self> {
        let (size, fan_in) = (geometry.filter, channels * geometry.filter * geometry.filter);
        let weight = weights.uniform(&[maps, channels, size, size], fan_in)?;
        let bias = weights.uniform(&[maps], fan_in)?;
        let bend = Bend::new(Some(activation), weights)?;
        Ok(Self { weight, bias, geometry, is_transposed: false, bend, pool })
    }

    /// From `maps` input channels to `channels` output channels. PyTorch takes the outputs for its fan-in here.
    pub(crate) fn transposed(
        maps: usize,
        channels: usize,
        geometry: Geometry,
        activation: Option<Activation>,
        weights: &mut Weights,
    ) -> Result<Self> {
        let (size, fan_in) = (geometry.filter, channels * geometry.filter * geometry.filter);
        let weight = weights.uniform(&[maps, channels, size, size], fan_in)?;
        let bias = weights.uniform(&[channels], fan_in)?;
        let bend = Bend::new(activation, weights)?;
        Ok(Self { weight, bias, geometry, is_transposed: true, bend, pool: false })
    }

    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let apply = if self.is_transposed { transposed } else { convolve };
        let y = apply(x, &self.weight, self.geometry)?;
        let y = y.broadcast_add(&self.bias.reshape((1, (), 1, 1))?)?;
        let y = self.bend.forward(&y)?;
        if self.pool { max_pool(&y) } else { Ok(y) }
    }
}

/// The maximum of each 2 x 2 pixels; a last row and column without a partner are dropped. Equal ones share the gradient.
fn max_pool(x: &Tensor) -> Result<Tensor> {
    let (n, channels, height, width) = x.dims4()?;
    let (rows, columns) = (height / 2, width / 2);
    let whole = x.narrow(2, 0, 2 * rows)?.narrow(3, 0, 2 * columns)?.contiguous()?;
    let pairs = whole.reshape((n * channels, rows, 2, columns, 2))?;
    let rows_of = |k| -> Result<Tensor> { pairs.narrow(2, k, 1)?.squeeze(2) };
    let of_rows = rows_of(0)?.maximum(&rows_of(1)?)?;
    let of_columns = |k| -> Result<Tensor> { of_rows.narrow(3, k, 1)?.squeeze(3) };
    of_columns(0)?.maximum(&of_columns(1)?)?.reshape((n, channels, rows, columns))
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Result, Tensor, Var};
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::{Activation, Dense, Weights, max_pool};

    #[test]
    fn pooling_takes_the_maximum_and_gives_the_gradient_to_it() -> Result<()> {
        let image: Vec<f32> = vec![1.0, 5.0, 9.0, 2.0, 3.0, 9.0, 9.0, 9.0, 9.0];
        let image = Var::from_tensor(&Tensor::from_vec(image, (1, 1, 3, 3), &Device::Cpu)?)?;
        let pooled = max_pool(&image)?;
        assert_eq!(pooled.flatten_all()?.to_vec1::<f32>()?, [5.0]);
        let grads = pooled.sqr()?.sum_all()?.backward()?;
        let grad = grads.get(&image).expect("it has one").flatten_all()?.to_vec1::<f32>()?;
        assert_eq!(grad, [0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        Ok(())
    }

    #[test]
    fn activations_bend_at_zero() -> Result<()> {
        for (activation, expected) in
            [(Activation::Relu, 0.0), (Activation::Prelu, -0.5), (Activation::LeakyRelu, -0.02)]
        {
            let mut weights = Weights::new(ChaCha8Rng::seed_from_u64(1));
            let dense = Dense::new(0, 2, Some(activation), &mut weights)?;
            let all = weights.into_all();
            all[0].set(&Tensor::new(&[-2.0_f32, 3.0], &Device::Cpu)?)?;
            let out = dense.forward(&Tensor::zeros((1, 0), candle_core::DType::F32, &Device::Cpu)?)?;
            assert_eq!(out.to_vec2::<f32>()?, [[expected, 3.0]]);
        }
        Ok(())
    }
}
