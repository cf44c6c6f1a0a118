//! The settings of a problem, every one with a default.

use serde::{Deserialize, Serialize};

/// Placeholder until the trainer publishes its settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GbdtSettings {}

/// Placeholder until the process publishes its settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpSettings {}

/// A named set of defaults; single settings given beside it win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The paper's: 50 trees of depth 3, `min_data_in_bin` 3, zero mean, variance of the latent function.
    #[default]
    Paper,
}

/// All settings: defaults, then preset, then problem file, then command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// Seed of every random choice. Default 101.
    pub seed: u64,
    /// Weight of the standard deviation in the lower confidence bound `mu - kappa * sigma`; `kappa >= 0`. Default 1.96 (the paper's).
    pub kappa: f64,
    /// Where the defaults of the trees and the process come from.
    pub preset: Preset,
    /// The gradient-boosted trees.
    pub trees: GbdtSettings,
    /// The tree-kernel Gaussian process.
    pub gp: GpSettings,
    /// The branch-and-bound.
    pub solver: SolverSettings,
    /// The first design.
    pub design: DesignSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 101,
            kappa: 1.96,
            preset: Preset::default(),
            trees: GbdtSettings::default(),
            gp: GpSettings::default(),
            solver: SolverSettings::default(),
            design: DesignSettings::default(),
        }
    }
}

/// Limits of one acquisition problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SolverSettings {
    /// Wall-clock limit in seconds, `> 0`. Default 100 (the paper's).
    pub time_limit: f64,
    /// Relative gap at which a proof is complete, `>= 0`. Default 1e-4.
    pub gap: f64,
    /// Largest number of nodes; none by default.
    pub node_limit: Option<u64>,
    /// Threads; 0 = one for each core. The answer does not depend on it. Default 0.
    pub threads: usize,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self { time_limit: 100.0, gap: 1e-4, node_limit: None, threads: 0 }
    }
}

/// The space-filling design that starts an empty history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DesignSettings {
    /// Number of points before the model decides, `>= 1`. Default 5.
    pub initial: usize,
}

impl Default for DesignSettings {
    fn default() -> Self {
        Self { initial: 5 }
    }
}
