//! What both networks' trainings share: arguments, random streams, order of the images, the loop over steps.

use candle_core::{Tensor, Var};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use crate::optimizer::Adam;
use crate::{Error, Images};

/// How long and with what chance.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// Times that each image is seen; at least 1.
    pub epochs: usize,
    /// Decides first weights, order of the images and drawn codes.
    pub seed: u64,
}

/// What random numbers are for: each has a stream of its own, so that two architectures of one seed see the images in the same order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Weights,
    Order,
    Codes,
    TestCodes,
}

impl Training {
    pub(crate) fn stream(&self, purpose: Purpose) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(purpose as u64);
        rng
    }

    /// Steps of Adam down the loss of batches of images; what is left of an epoch is a smaller batch. Calls `progress` after each step with the number of the
    /// step, the number of all steps and the loss.
    pub(crate) fn run(
        &self,
        images: &Images,
        batch: usize,
        weights: Vec<Var>,
        learning_rate: f64,
        mut loss: impl FnMut(&Tensor, &[u32]) -> candle_core::Result<Tensor>,
        progress: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<(), Error> {
        if self.epochs == 0 {
            return Err(Error::Argument("at least one epoch is needed".into()));
        }
        let mut rng = self.stream(Purpose::Order);
        let mut adam = Adam::new(weights, learning_rate)?;
        let mut order: Vec<usize> = (0..images.len()).collect();
        let steps = self.epochs * images.len().div_ceil(batch);
        let mut step = 0;
        for _ in 0..self.epochs {
            order.shuffle(&mut rng);
            for chosen in order.chunks(batch) {
                let (inputs, labels) = images.batch(chosen)?;
                let loss = loss(&inputs, &labels)?;
                let value = f64::from(loss.to_scalar::<f32>()?);
                if !value.is_finite() {
                    return Err(Error::Diverged(value));
                }
                adam.step(&loss.backward()?)?;
                step += 1;
                progress(step, steps, value);
            }
        }
        Ok(())
    }
}

/// Batches of the test, in order: as many images as go through at a time.
pub(crate) fn test_batches(images: &Images) -> Vec<Vec<usize>> {
    const AT_A_TIME: usize = 128;
    (0..images.len()).collect::<Vec<_>>().chunks(AT_A_TIME).map(<[usize]>::to_vec).collect()
}
