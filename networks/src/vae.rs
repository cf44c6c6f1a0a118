//! The variational autoencoder of VAE-NAS (Kingma & Welling 2013): binary cross-entropy of the pixels plus the divergence of the codes from the normal distribution.

use candle_core::{Device, Result, Tensor};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::convolution::Geometry;
use crate::layers::{Dense, Filter, Weights};
use crate::training::{Purpose, test_batches};
use crate::vae_plan::{DECODER_SIDE, SIDE};
use crate::{Data, Error, Training, VaePlan};

/// Images of a training step, for all architectures.
const BATCH: usize = 128;

/// A network with weights.
#[derive(Debug)]
struct Vae {
    filters: Vec<Filter>,
    encoder: Vec<Dense>,
    mean: Dense,
    log_variance: Dense,
    decoder: Vec<Dense>,
    /// Channels that the transposed filters begin with.
    channels: usize,
    transposed: Vec<Filter>,
    latent: usize,
}

impl Vae {
    fn new(plan: &VaePlan, weights: &mut Weights) -> Result<Self> {
        let (mut channels, mut image) = (1, SIDE as usize);
        let mut filters = Vec::new();
        for layer in &plan.convolutions {
            let geometry = Geometry {
                filter: layer.filter,
                stride: layer.stride,
                padding: layer.padding,
                image,
                map: layer.side,
            };
            filters.push(Filter::convolution(
                channels,
                layer.channels,
                geometry,
                layer.activation,
                false,
                weights,
            )?);
            (channels, image) = (layer.channels, layer.side);
        }
        let mut inputs = channels * image * image;
        let mut encoder = Vec::new();
        for &(nodes, activation) in &plan.encoder {
            encoder.push(Dense::new(inputs, nodes, Some(activation), weights)?);
            inputs = nodes;
        }
        let mean = Dense::new(inputs, plan.latent, None, weights)?;
        let log_variance = Dense::new(inputs, plan.latent, None, weights)?;
        let mut inputs = plan.latent;
        let mut decoder = Vec::new();
        for (k, &(nodes, activation)) in plan.decoder.iter().enumerate() {
            // The sigmoid supersedes what follows the layer that makes the image.
            let is_last = plan.deconvolutions.is_empty() && k + 1 == plan.decoder.len();
            decoder.push(Dense::new(inputs, nodes, (!is_last).then_some(activation), weights)?);
            inputs = nodes;
        }
        let mut transposed = Vec::new();
        let mut side = DECODER_SIDE as usize;
        for (k, layer) in plan.deconvolutions.iter().enumerate() {
            let geometry = Geometry {
                filter: layer.filter,
                stride: layer.stride,
                padding: layer.padding,
                image: layer.side,
                map: side,
            };
            let outputs = plan.deconvolutions.get(k + 1).map_or(1, |next| next.channels);
            transposed.push(Filter::transposed(
                layer.channels,
                outputs,
                geometry,
                layer.activation,
                weights,
            )?);
            side = layer.side;
        }
        let channels = plan.deconvolutions.first().map_or(0, |layer| layer.channels);
        Ok(Self { filters, encoder, mean, log_variance, decoder, channels, transposed, latent: plan.latent })
    }

    /// Mean and logarithm of the variance of the images' codes, `[n, latent]` each.
    fn encode(&self, images: &Tensor) -> Result<(Tensor, Tensor)> {
        let maps = self.filters.iter().try_fold(images.clone(), |x, layer| layer.forward(&x))?;
        let x = self.encoder.iter().try_fold(maps.flatten_from(1)?, |x, layer| layer.forward(&x))?;
        Ok((self.mean.forward(&x)?, self.log_variance.forward(&x)?))
    }

    /// The logits of the pixels, `[n, 784]`.
    fn decode(&self, codes: &Tensor) -> Result<Tensor> {
        let x = self.decoder.iter().try_fold(codes.clone(), |x, layer| layer.forward(&x))?;
        if self.transposed.is_empty() {
            return Ok(x);
        }
        let side = DECODER_SIDE as usize;
        let maps = x.reshape((x.dim(0)?, self.channels, side, side))?;
        self.transposed.iter().try_fold(maps, |x, layer| layer.forward(&x))?.flatten_from(1)
    }

    /// The sum over the images of cross-entropy and divergence, each image coded by one draw.
    fn loss(&self, images: &Tensor, rng: &mut ChaCha8Rng) -> Result<Tensor> {
        let (mean, log_variance) = self.encode(images)?;
        let noise = normal(images.dim(0)? * self.latent, rng);
        let noise = Tensor::from_vec(noise, mean.shape(), &Device::Cpu)?;
        let codes = (&mean + ((&log_variance * 0.5)?.exp()? * noise)?)?;
        let logits = self.decode(&codes)?;
        let pixels = images.flatten_from(1)?;
        // -p ln s(z) - (1 - p) ln(1 - s(z)) = max(z, 0) - p z + ln(1 + e^-|z|), which never overflows.
        let entropy =
            (logits.relu()? - (&pixels * &logits)?)? + (logits.abs()?.neg()?.exp()? + 1.0)?.log()?;
        // KL(N(m, s²) || N(0, 1)) = -½ (1 + ln s² - m² - s²).
        let divergence = (((&log_variance + 1.0)? - mean.sqr()?)? - log_variance.exp()?)?;
        entropy?.sum_all()? - (divergence.sum_all()? * 0.5)?
    }
}

/// Standard normal numbers (Box & Muller 1958).
fn normal(n: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(n + 1);
    while numbers.len() < n {
        // In (0, 1], so that the logarithm is finite.
        let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
        let (radius, angle) = ((-2.0 * u.ln()).sqrt(), std::f64::consts::TAU * v);
        numbers.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
    }
    numbers.truncate(n);
    numbers
}

/// Trains the network in batches of 128 and returns its loss for the average test image, in nats. `progress` sees each step: its number, the number of all and the
/// loss for the average image.
///
/// # Errors
/// [`Error::Diverged`], and [`Error::Argument`] for images that are not 28 x 28 in grey or no epochs.
pub fn evaluate(
    plan: &VaePlan,
    data: &Data,
    training: &Training,
    progress: &mut dyn FnMut(usize, usize, f64),
) -> std::result::Result<f64, Error> {
    let fit = |images: &crate::Images| images.fitted(SIDE as usize, 1);
    let (train, test) = (fit(&data.train)?, fit(&data.test)?);
    let mut weights = Weights::new(training.stream(Purpose::Weights));
    let network = Vae::new(plan, &mut weights)?;
    let mut codes = training.stream(Purpose::Codes);
    let loss = |images: &Tensor, _: &[u32]| network.loss(images, &mut codes)? / images.dim(0)? as f64;
    training.run(&train, BATCH, weights.into_all(), plan.learning_rate, loss, progress)?;
    let mut codes = training.stream(Purpose::TestCodes);
    let mut sum = 0.0;
    for chosen in test_batches(&test) {
        let (images, _) = test.batch(&chosen)?;
        sum += f64::from(network.loss(&images, &mut codes)?.to_scalar::<f32>()?);
    }
    let mean = sum / test.len() as f64;
    if mean.is_finite() { Ok(mean) } else { Err(Error::Diverged(mean)) }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::normal;

    #[test]
    fn drawn_numbers_have_the_moments_of_the_normal_distribution() {
        let numbers = normal(100_001, &mut ChaCha8Rng::seed_from_u64(5));
        let moment = |k| numbers.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / numbers.len() as f64;
        for (k, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!((moment(k) - expected).abs() < 0.06, "moment {k}: {}", moment(k));
        }
    }
}
