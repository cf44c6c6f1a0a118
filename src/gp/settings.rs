//! How the kernel's hyperparameters are fitted.

use serde::{Deserialize, Serialize};

use super::GpError;
use super::likelihood::LEAST_NOISE;

/// Settings of [`TreeGp::fit`](super::TreeGp::fit). The defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GpSettings {
    /// Number of Adam steps, 0 to 100,000; 0 keeps the starting point. Default 200.
    pub epochs: usize,
    /// Adam's learning rate in logit coordinates, in (0, 10]. Default 0.1.
    pub learning_rate: f64,
    /// Open interval `[lower, upper]` of the signal variance, `0 < lower < upper`. Default [0.05, 20].
    pub signal_interval: [f64; 2],
    /// Open interval `[lower, upper]` of the noise variance, `0 < lower < upper`, the lower end at least 1e-12 of the largest signal variance. Default [5e-4, 0.2].
    pub noise_interval: [f64; 2],
    /// The prior mean. Default `zero`, as in the paper's formulas.
    pub mean: MeanKind,
    /// Whose variance the acquisition and the predictions use. Default `latent`.
    pub variance: VarianceKind,
}

/// The prior mean of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeanKind {
    /// Zero: the targets are standardised.
    #[default]
    Zero,
    /// A constant, trained with the variances, started at zero.
    Constant,
}

/// Whose variance is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VarianceKind {
    /// Of the function itself: 0 at a point measured often enough.
    #[default]
    Latent,
    /// Of a further measurement: the latent variance plus the noise variance.
    Observed,
}

impl Default for GpSettings {
    fn default() -> Self {
        Self {
            epochs: 200,
            learning_rate: 0.1,
            signal_interval: [0.05, 20.0],
            noise_interval: [5e-4, 0.2],
            mean: MeanKind::default(),
            variance: VarianceKind::default(),
        }
    }
}

impl GpSettings {
    /// Checks every range.
    ///
    /// # Errors
    /// [`GpError::Setting`] names the first field outside its range, its value and what is expected.
    pub fn validate(&self) -> Result<(), GpError> {
        let refuse = |name: &'static str, value: String, expected: &'static str| {
            Err(GpError::Setting { name, value, expected })
        };
        if self.epochs > 100_000 {
            return refuse("epochs", self.epochs.to_string(), "a whole number from 0 to 100000");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= 10.0) {
            return refuse("learning_rate", self.learning_rate.to_string(), "a number above 0, at most 10");
        }
        let intervals = [("signal_interval", self.signal_interval), ("noise_interval", self.noise_interval)];
        for (name, [lower, upper]) in intervals {
            if !(lower > 0.0 && lower < upper && upper.is_finite()) {
                return refuse(name, format!("[{lower}, {upper}]"), "[lower, upper] with 0 < lower < upper");
            }
        }
        if self.noise_interval[0] < LEAST_NOISE * self.signal_interval[1] {
            let [lower, upper] = self.noise_interval;
            let expected = "a lower end of at least 1e-12 of signal_interval's upper end";
            return refuse("noise_interval", format!("[{lower}, {upper}]"), expected);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{GpSettings, MeanKind, VarianceKind};

    #[test]
    fn the_defaults_are_the_papers_and_valid() {
        let settings = GpSettings::default();
        settings.validate().unwrap();
        assert_eq!((settings.epochs, settings.learning_rate), (200, 0.1));
        assert_eq!((settings.signal_interval, settings.noise_interval), ([0.05, 20.0], [5e-4, 0.2]));
        assert_eq!((settings.mean, settings.variance), (MeanKind::Zero, VarianceKind::Latent));
    }

    #[test]
    fn each_field_is_checked_and_named() {
        type Spoil = fn(&mut GpSettings);
        let bad: [(&str, Spoil); 8] = [
            ("epochs", |s| s.epochs = 100_001),
            ("learning_rate", |s| s.learning_rate = 0.0),
            ("learning_rate", |s| s.learning_rate = f64::NAN),
            ("signal_interval", |s| s.signal_interval = [0.0, 1.0]),
            ("signal_interval", |s| s.signal_interval = [1.0, f64::INFINITY]),
            ("noise_interval", |s| s.noise_interval = [0.2, 0.2]),
            ("noise_interval", |s| s.noise_interval = [f64::NAN, 0.2]),
            ("noise_interval", |s| s.noise_interval = [1.9e-11, 0.2]),
        ];
        for (name, spoil) in bad {
            let mut settings = GpSettings::default();
            spoil(&mut settings);
            let message = settings.validate().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn unknown_keys_are_refused_and_missing_ones_default() {
        let settings: GpSettings = serde_json::from_str(r#"{"mean": "constant", "epochs": 50}"#).unwrap();
        assert_eq!((settings.mean, settings.epochs, settings.learning_rate), (MeanKind::Constant, 50, 0.1));
        let error = serde_json::from_str::<GpSettings>(r#"{"epoch": 50}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `epoch`"), "{error}");
    }
}
