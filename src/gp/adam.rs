//! The Adam optimiser (Kingma & Ba 2015) and the logit coordinates of an open interval.

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Adam's state for `N` parameters: minimises, with bias correction and the usual constants (0.9, 0.999, 1e-8).
#[derive(Clone, Debug)]
pub(super) struct Adam<const N: usize> {
    learning_rate: f64,
    steps: i32,
    first: [f64; N],
    second: [f64; N],
}

impl<const N: usize> Adam<N> {
    /// A fresh state.
    pub(super) fn new(learning_rate: f64) -> Self {
        Self { learning_rate, steps: 0, first: [0.0; N], second: [0.0; N] }
    }

    /// Moves the parameters one step against the gradient.
    pub(super) fn step(&mut self, parameters: &mut [f64; N], gradient: &[f64; N]) {
        self.steps += 1;
        let step = self.learning_rate / (1.0 - BETA_1.powi(self.steps));
        let scale = (1.0 - BETA_2.powi(self.steps)).sqrt();
        for i in 0..N {
            let g = gradient[i];
            self.first[i] += (1.0 - BETA_1) * (g - self.first[i]);
            self.second[i] = BETA_2 * self.second[i] + (1.0 - BETA_2) * g * g;
            parameters[i] -= step * self.first[i] / (self.second[i].sqrt() / scale + EPSILON);
        }
    }
}

/// The open interval `(lower, upper)` in logit coordinates: `value = lower + (upper - lower) / (1 + exp(-raw))`; 0 is the midpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logit {
    lower: f64,
    upper: f64,
}

impl Logit {
    /// Coordinates of `(lower, upper)`.
    pub(super) fn new([lower, upper]: [f64; 2]) -> Self {
        Self { lower, upper }
    }

    /// The value at a coordinate and its derivative.
    pub(super) fn value(&self, raw: f64) -> (f64, f64) {
        let share = 1.0 / (1.0 + (-raw).exp());
        let width = self.upper - self.lower;
        (self.lower + width * share, width * share * (1.0 - share))
    }
}

#[cfg(test)]
mod tests {
    use super::{Adam, Logit};

    #[test]
    fn the_first_steps_equal_those_worked_by_hand() {
        // Step 1: both bias corrections cancel, so the move is lr * g / (|g| + eps).
        let mut adam = Adam::<2>::new(0.1);
        let mut at = [1.0, -2.0];
        adam.step(&mut at, &[4.0, -0.5]);
        assert!((at[0] - (1.0 - 0.1 * 4.0 / (4.0 + 1e-8))).abs() < 1e-15);
        assert!((at[1] - (-2.0 + 0.1 * 0.5 / (0.5 + 1e-8))).abs() < 1e-15);
        // Step 2 with g = 0: m = 0.9 * 0.1 * 4, v = 0.999 * 0.001 * 16.
        let before = at[0];
        adam.step(&mut at, &[0.0, 0.0]);
        let m = 0.9 * 0.4 / (1.0 - 0.81);
        let v: f64 = 0.999 * 0.016 / (1.0 - 0.999f64.powi(2));
        assert!((before - at[0] - 0.1 * m / (v.sqrt() + 1e-8)).abs() < 1e-14);
    }

    #[test]
    fn logit_coordinates_start_at_the_midpoint_and_differentiate() {
        let logit = Logit::new([0.05, 20.0]);
        assert_eq!(logit.value(0.0).0, 10.025);
        for raw in [-7.0, -1.3, 0.0, 2.5, 30.0] {
            let h = 1e-6;
            let slope = (logit.value(raw + h).0 - logit.value(raw - h).0) / (2.0 * h);
            assert!((slope - logit.value(raw).1).abs() < 1e-7, "{raw}");
        }
        assert_eq!(logit.value(-1e4).0, 0.05);
        assert_eq!(logit.value(1e4).0, 20.0);
    }
}
