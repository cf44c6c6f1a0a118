//! The convolutional network of CIFAR-NAS: cross-entropy of ten classes, share of test images that are recognised.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::loss::cross_entropy;

use crate::cnn_plan::SIDE;
use crate::convolution::Geometry;
use crate::layers::{Dense, Filter, Weights};
use crate::training::{Purpose, test_batches};
use crate::{CnnPlan, Data, Error, Training};

const CHANNELS: usize = 3;
const CLASSES: usize = 10;

/// A network with weights.
#[derive(Debug)]
struct Cnn {
    filters: Vec<Filter>,
    dense: Vec<Dense>,
}

impl Cnn {
    fn new(plan: &CnnPlan, weights: &mut Weights) -> Result<Self> {
        let (mut channels, mut image) = (CHANNELS, SIDE as usize);
        let mut filters = Vec::new();
        for layer in &plan.convolutions {
            let map = (image + 2 * layer.padding - layer.filter) / layer.stride + 1;
            let geometry =
                Geometry { filter: layer.filter, stride: layer.stride, padding: layer.padding, image, map };
            let (maps, activation, pool) = (layer.channels, layer.activation, layer.pool);
            filters.push(Filter::convolution(channels, maps, geometry, activation, pool, weights)?);
            (channels, image) = (maps, layer.side);
        }
        let mut inputs = channels * image * image;
        let mut dense = Vec::new();
        for &(nodes, activation) in &plan.dense {
            dense.push(Dense::new(inputs, nodes, Some(activation), weights)?);
            inputs = nodes;
        }
        dense.push(Dense::new(inputs, CLASSES, None, weights)?);
        Ok(Self { filters, dense })
    }

    /// `[n, 3, 32, 32]` to the logits of the classes, `[n, 10]`.
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let maps = self.filters.iter().try_fold(images.clone(), |x, layer| layer.forward(&x))?;
        self.dense.iter().try_fold(maps.flatten_from(1)?, |x, layer| layer.forward(&x))
    }
}

/// Trains the network and returns the share of test images whose class it tells, in [0, 1]. Smaller grey images get black edges and three equal channels. `progress` sees
/// each step: its number, the number of all and the loss.
///
/// # Errors
/// [`Error::Diverged`], and [`Error::Argument`] for images that do not fit or no epochs.
pub fn evaluate(
    plan: &CnnPlan,
    data: &Data,
    training: &Training,
    progress: &mut dyn FnMut(usize, usize, f64),
) -> std::result::Result<f64, Error> {
    let fit = |images: &crate::Images| images.fitted(SIDE as usize, CHANNELS);
    let (train, test) = (fit(&data.train)?, fit(&data.test)?);
    let mut weights = Weights::new(training.stream(Purpose::Weights));
    let network = Cnn::new(plan, &mut weights)?;
    let loss = |images: &Tensor, labels: &[u32]| {
        let labels = Tensor::new(labels, &Device::Cpu)?;
        cross_entropy(&network.forward(images)?, &labels)
    };
    training.run(&train, plan.batch, weights.into_all(), plan.learning_rate, loss, progress)?;
    let mut right = 0;
    for chosen in test_batches(&test) {
        let (images, labels) = test.batch(&chosen)?;
        let guesses = network.forward(&images)?.argmax(D::Minus1)?.to_vec1::<u32>()?;
        right += guesses.iter().zip(&labels).filter(|(guess, label)| guess == label).count();
    }
    Ok(right as f64 / test.len() as f64)
}
