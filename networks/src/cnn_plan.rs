//! The convolutional network that a point of the CIFAR-NAS space describes.

use crate::{Activation, Error, Point};

/// Side of the square images.
pub(crate) const SIDE: i64 = 32;

/// A convolution: a quadratic filter, the same stride and padding in both directions, then perhaps the maximum of 2 x 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convolution {
    /// Output channels.
    pub channels: usize,
    /// Side of the filter.
    pub filter: usize,
    /// Stride.
    pub stride: usize,
    /// Rings of zeros around the image.
    pub padding: usize,
    /// What follows.
    pub activation: Activation,
    /// Whether max-pooling of 2 x 2 follows.
    pub pool: bool,
    /// Side of what comes out, after pooling; at least 1.
    pub side: usize,
}

/// An architecture of the CIFAR-NAS space and how it is trained; layers that are switched off are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct CnnPlan {
    /// Images of a training step.
    pub batch: usize,
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// Up to three convolutions in order.
    pub convolutions: Vec<Convolution>,
    /// Up to two dense layers before the one with ten outputs: nodes, and what follows.
    pub dense: Vec<(usize, Activation)>,
}

impl CnnPlan {
    /// The network of a point. What a point says of layers that are switched off does not count.
    ///
    /// # Errors
    /// [`Error::Rule`] with the name of the rule in `examples/cifar-nas.toml` that the point breaks (the first one in the order of the layers), [`Error::Point`].
    pub fn new(point: &Point) -> Result<Self, Error> {
        let batch = 1 << point.whole("log2_batch", 2, 4)?;
        let learning_rate = 10.0_f64.powf(point.real("log10_lr", -5.0, -1.0)?);
        let mut convolutions: Vec<Convolution> = Vec::new();
        let mut side = SIDE;
        for k in 1..=3 {
            if !point.switch(&format!("conv{k}"))? {
                continue;
            }
            if convolutions.len() + 1 != k {
                return Err(Error::rule("convolutions in order", format!("{k} without {}", k - 1)));
            }
            let whole = |name: &str, low, high| point.whole(&format!("{name}{k}"), low, high);
            let (filter, stride, padding) =
                (whole("filter", 2, 5)?, whole("stride", 1, 3)?, whole("pad", 0, 3)?);
            let pool = point.switch(&format!("pool{k}"))?;
            let reach = side - filter + 2 * padding;
            let size = format!("({side} - {filter} + 2*{padding}) / {stride} + 1");
            if reach % stride != 0 {
                return Err(Error::rule(format!("w{k} is whole"), format!("{size} is not whole")));
            }
            let width = reach / stride + 1;
            if width < 0 {
                return Err(Error::rule("sizes are natural numbers", format!("{size} is below 0")));
            }
            side = if pool { width / 2 } else { width };
            if side < 1 {
                return Err(Error::rule("something is left of the image", format!("{size} = {width}")));
            }
            convolutions.push(Convolution {
                channels: 1 << whole("log2_channels", 2, 4)?,
                filter: filter as usize,
                stride: stride as usize,
                padding: padding as usize,
                activation: point.activation(&format!("conv_act{k}"))?,
                pool,
                side: side as usize,
            });
        }
        let mut dense = Vec::new();
        for k in 1..=2 {
            if !point.switch(&format!("fc{k}"))? {
                continue;
            }
            if dense.len() + 1 != k {
                return Err(Error::rule("dense layers in order", "the second without the first"));
            }
            let nodes = 1 << point.whole(&format!("log2_nodes{k}"), 2, 7)?;
            dense.push((nodes, point.activation(&format!("fc_act{k}"))?));
        }
        if convolutions.is_empty() && dense.is_empty() {
            return Err(Error::rule("at least one layer", "all five are switched off"));
        }
        Ok(Self { batch, learning_rate, convolutions, dense })
    }
}
