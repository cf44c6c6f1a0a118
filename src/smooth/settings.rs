//! Settings of the smooth process.

use serde::{Deserialize, Serialize};

use super::{Acquisition, SmoothError};

/// Which correlations the kernel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelKind {
    /// A part for each variable alone, and one of all variables together; the data say how much of each.
    #[default]
    AdditiveAndJoint,
    /// Of all variables together only: the usual process with one length scale a variable.
    Joint,
}

/// Which acquisition suggestions minimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcquisitionRule {
    /// The expected improvement after an even number of rows, the lower bound after an odd one.
    #[default]
    InTurns,
    /// Always the expected improvement ([`Acquisition::LogExpectedImprovement`]).
    ExpectedImprovement,
    /// Always the lower bound ([`Acquisition::LowerBound`]).
    LowerBound,
}

/// What is believed of a joint length scale before there are data, in units of the variable's range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthScalePrior {
    /// Log-normal, its mode growing with the root of the number of variables (Hvarfner, Hellsten & Nardi 2024).
    #[default]
    Dimension,
    /// Gamma with shape 3 and rate 6, whatever the number of variables: what BoTorch had as its default until 2024, and the paper's Matern processes with it.
    Gamma,
}

/// What the process makes of experiments that are still running. The trees always believe their own predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingRule {
    /// Their values are the predicted means (kriging believer; Ginsbourger, Le Riche & Carraro 2010).
    #[default]
    Believer,
    /// Their values are the best mean at a measured row (constant liar, optimistic).
    LiarBest,
    /// Their values are the mean of the measured ones (constant liar).
    LiarMean,
    /// Their values are the worst measured one (constant liar, pessimistic).
    LiarWorst,
    /// Their values are a draw from the joint posterior of measurements, another one for each suggestion (fantasies; Snoek, Larochelle & Adams 2012, with one draw).
    Draw,
    /// The process does not know of them, and the acquisition is multiplied by the probability that the point lies outside the ball around each of them in which,
    /// by a Lipschitz bound, no better value than the best can be (local penalisation; Gonzalez, Dai, Hennig & Lawrence 2016).
    Penalised,
}

/// Settings of [`SmoothProcess::fit`](super::SmoothProcess::fit), and of what suggestions minimise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SmoothSettings {
    /// Which correlations the kernel has. Default: additive and joint.
    pub kernel: KernelKind,
    /// What is believed of the joint length scales before there are data. Default: by the number of variables.
    pub length_scales: LengthScalePrior,
    /// Whether the kernel has a part of a hundred boosted trees with randomised thresholds, grown on the same data, whose share the data decide
    /// ([`KernelParameters`](super::KernelParameters)). On measured tables it did not pay for sure, on smooth functions it cost evaluations. Default: no.
    pub trees: bool,
    /// Most rows that decide the kernel's parameters, 2 to 1000: the better half of that number by target, and others at even steps in the
    /// order of the history. Default 120.
    pub parameter_rows: usize,
    /// Most rows the process is conditioned on, 2 to 5000: the better half of that number by target, and others by farthest-first
    /// traversal of the coordinates, so that no region loses its last row. Default 1000.
    pub condition_rows: usize,
    /// Which acquisition suggestions minimise. Default: in turns. A proven step of `mixed` always takes the expected improvement. The fit does not look at it.
    pub acquisition: AcquisitionRule,
    /// Weight of the deviation in the lower bound, in `[0, 1e6]`. Default 2. The fit does not look at it.
    pub kappa: f64,
    /// What is assumed of experiments that are still running. Default: their predicted means. The fit does not look at it.
    pub pending: PendingRule,
}

impl Default for SmoothSettings {
    fn default() -> Self {
        Self {
            kernel: KernelKind::default(),
            length_scales: LengthScalePrior::default(),
            trees: false,
            parameter_rows: 120,
            condition_rows: 1000,
            acquisition: AcquisitionRule::default(),
            kappa: 2.0,
            pending: PendingRule::default(),
        }
    }
}

impl SmoothSettings {
    /// The defaults with another kernel.
    pub fn with_kernel(kernel: KernelKind) -> Self {
        Self { kernel, ..Self::default() }
    }

    /// What the suggestion after `n_rows` rows, pending ones counted, minimises.
    pub fn acquisition_after(&self, n_rows: usize) -> Acquisition {
        match self.acquisition {
            AcquisitionRule::ExpectedImprovement => Acquisition::LogExpectedImprovement,
            AcquisitionRule::InTurns if n_rows.is_multiple_of(2) => Acquisition::LogExpectedImprovement,
            AcquisitionRule::InTurns | AcquisitionRule::LowerBound => {
                Acquisition::LowerBound { kappa: self.kappa }
            }
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`SmoothError::Setting`] names the first field outside its range.
    pub fn validate(&self) -> Result<(), SmoothError> {
        let refuse = |name, value: &dyn std::fmt::Display, expected| {
            Err(SmoothError::Setting { name, value: value.to_string(), expected })
        };
        if !(2..=1000).contains(&self.parameter_rows) {
            return refuse("parameter_rows", &self.parameter_rows, "a whole number from 2 to 1000");
        }
        if !(2..=5000).contains(&self.condition_rows) {
            return refuse("condition_rows", &self.condition_rows, "a whole number from 2 to 5000");
        }
        if !(0.0..=1e6).contains(&self.kappa) {
            return refuse("kappa", &self.kappa, "a number in [0, 1e6]");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Acquisition, AcquisitionRule, SmoothSettings};

    #[test]
    fn acquisitions_alternate_unless_one_is_asked_for() {
        let bound = Acquisition::LowerBound { kappa: 1.4 };
        let improvement = Acquisition::LogExpectedImprovement;
        for (acquisition, expected) in [
            (AcquisitionRule::InTurns, [improvement, bound, improvement]),
            (AcquisitionRule::ExpectedImprovement, [improvement; 3]),
            (AcquisitionRule::LowerBound, [bound; 3]),
        ] {
            let settings = SmoothSettings { acquisition, kappa: 1.4, ..SmoothSettings::default() };
            assert_eq!([6, 7, 8].map(|n| settings.acquisition_after(n)), expected);
        }
    }

    #[test]
    fn the_defaults_are_valid_and_each_field_is_checked_and_named() {
        SmoothSettings::default().validate().unwrap();
        for bad in [0, 1, 1001] {
            let settings = SmoothSettings { parameter_rows: bad, ..SmoothSettings::default() };
            assert!(settings.validate().unwrap_err().to_string().contains("parameter_rows"));
        }
        for bad in [0, 1, 5001] {
            let settings = SmoothSettings { condition_rows: bad, ..SmoothSettings::default() };
            assert!(settings.validate().unwrap_err().to_string().contains("condition_rows"));
        }
        for bad in [-0.1, 1e7, f64::NAN] {
            let settings = SmoothSettings { kappa: bad, ..SmoothSettings::default() };
            assert!(settings.validate().unwrap_err().to_string().contains("kappa"));
        }
    }
}
