//! Adam (Kingma & Ba 2014) in place: no copies of weights, of which some architectures have hundreds of megabytes.

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, InplaceOp3, Layout, Result, Tensor, Var, bail};

use crate::convolution::values;

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

/// Weights and the moments of their gradients.
#[derive(Debug)]
pub(crate) struct Adam {
    weights: Vec<(Var, Tensor, Tensor)>,
    learning_rate: f64,
    steps: i32,
}

impl Adam {
    pub(crate) fn new(weights: Vec<Var>, learning_rate: f64) -> Result<Self> {
        let with_moments = |var: Var| Ok((var.clone(), var.zeros_like()?, var.zeros_like()?));
        let weights = weights.into_iter().map(with_moments).collect::<Result<_>>()?;
        Ok(Self { weights, learning_rate, steps: 0 })
    }

    /// One step down the gradients. A weight without a gradient had no part in the loss and stays.
    pub(crate) fn step(&mut self, grads: &GradStore) -> Result<()> {
        self.steps += 1;
        let update = Change::Weight {
            rate: (self.learning_rate / (1.0 - BETA1.powi(self.steps))) as f32,
            correction: (1.0 / (1.0 - BETA2.powi(self.steps))) as f32,
        };
        for (weight, mean, square) in &self.weights {
            let Some(grad) = grads.get(weight) else { continue };
            let grad = grad.contiguous()?;
            mean.inplace_op3(&grad, &grad, &Change::Mean)?;
            square.inplace_op3(&grad, &grad, &Change::Square)?;
            weight.inplace_op3(mean, square, &update)?;
        }
        Ok(())
    }
}

/// What becomes of each number `x`, knowing two others.
enum Change {
    /// `m += (1 - b1) (g - m)` with the gradient `g`.
    Mean,
    /// `v += (1 - b2) (g² - v)` with the gradient `g`.
    Square,
    /// `w -= rate m / (sqrt(correction v) + epsilon)` with the moments `m` and `v`.
    Weight { rate: f32, correction: f32 },
}

impl InplaceOp3 for Change {
    fn name(&self) -> &'static str {
        "adam"
    }

    fn cpu_fwd(
        &self,
        numbers: &mut CpuStorage,
        layout: &Layout,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<()> {
        let (CpuStorage::F32(numbers), Some((from, to))) = (numbers, layout.contiguous_offsets()) else {
            bail!("expected contiguous numbers of 32 bits")
        };
        let others = values(a, a_layout)?.iter().zip(values(b, b_layout)?);
        for (x, (&a, &b)) in numbers[from..to].iter_mut().zip(others) {
            match *self {
                Self::Mean => *x += (1.0 - BETA1 as f32) * (a - *x),
                Self::Square => *x += (1.0 - BETA2 as f32) * (a * a - *x),
                Self::Weight { rate, correction } => *x -= rate * a / ((correction * b).sqrt() + EPSILON),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Result, Tensor, Var};
    use candle_nn::{AdamW, Optimizer, ParamsAdamW};

    use super::Adam;

    #[test]
    fn steps_are_those_of_candle() -> Result<()> {
        let start = Tensor::new(&[1.0_f32, -2.0, 0.5, 0.0], &Device::Cpu)?;
        let scale = Tensor::new(&[1.0_f32, 0.1, 30.0, 2.0], &Device::Cpu)?;
        let (ours, theirs) = (Var::from_tensor(&start)?, Var::from_tensor(&start)?);
        let mut adam = Adam::new(vec![ours.clone()], 0.02)?;
        let params = ParamsAdamW { lr: 0.02, weight_decay: 0.0, ..ParamsAdamW::default() };
        let mut twin = AdamW::new(vec![theirs.clone()], params)?;
        for step in 0..50 {
            let loss =
                |x: &Var| (x.as_tensor() - 0.3)?.mul(&scale)?.powf(2.0 + f64::from(step % 2))?.sum_all();
            adam.step(&loss(&ours)?.backward()?)?;
            twin.step(&loss(&theirs)?.backward()?)?;
            let apart = (ours.as_tensor() - theirs.as_tensor())?.abs()?.max_all()?.to_scalar::<f32>()?;
            assert!(apart < 1e-5, "step {step}: {apart}");
        }
        assert!((ours.as_tensor() - &start)?.abs()?.max_all()?.to_scalar::<f32>()? > 0.1);
        Ok(())
    }
}
