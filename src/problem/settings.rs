//! The settings of a problem, every one with a default.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::ProblemError;
use crate::gbdt::{GbdtError, GbdtSettings};
use crate::gp::{GpError, GpSettings};
use crate::smooth::{SmoothError, SmoothSettings};

/// How the next experiment is found: a method, and a named set of defaults for it; single settings given beside it win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The paper's method: the centre of the proven optimal cell of 50 trees of depth 3, `min_data_in_bin` 3, zero mean, variance of the latent function. A
    /// point may be suggested again.
    Paper,
    /// Every suggestion lies in the proven optimal cell of a coarse forest, 4 trees of depth 2; the smooth process chooses the point in it.
    Proven,
    /// Every suggestion is the optimum that local searches find of the smooth process's acquisition over the whole feasible set.
    Smooth,
    /// As `Smooth`, but from 20 experiments on each fourth suggestion lies in the proven optimal cell of 50 trees of depth 3.
    Mixed,
}

impl Preset {
    /// The preset of a problem that names none.
    pub const DEFAULT: Self = Self::Mixed;

    /// The words of the problem file.
    pub const WORDS: [(&'static str, Self); 4] =
        [("paper", Self::Paper), ("proven", Self::Proven), ("smooth", Self::Smooth), ("mixed", Self::Mixed)];
}

impl Default for Preset {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Trees of [`Preset::Proven`], and their depth: a cell must be large for the smooth process to have a choice.
const COARSE_TREES: usize = 4;
const COARSE_DEPTH: i32 = 2;

/// Which point of the optimal cell is measured where the trees alone decide ([`Preset::Paper`]). To them all points of a cell are equal; to the experiment they are
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointChoice {
    /// The centre (Eq. 9, 10), projected onto the constraints (Eq. 11).
    #[default]
    Centre,
    /// A random point, uniform on the variables' scales and projected like the centre.
    Random,
    /// The centre of a cell without measurements; in one that holds some, the farthest from them of a few random points and the centre: a cell
    /// that is suggested again is never measured twice at the same point, unless it has no other.
    Away,
}

/// All settings: defaults, then preset, then problem file, then command line.
///
/// ```
/// use leafgp::problem::{Problem, Settings, Variable};
///
/// let mut settings = Settings::default();
/// settings.seed = 7;
/// settings.trees.n_trees = 100;
/// let problem = Problem::builder("parabola").variable(Variable::continuous("x", -1.0, 2.0)).settings(settings).build()?;
/// assert_eq!((problem.settings().kappa, problem.settings().seed), (1.96, 7));
/// # Ok::<(), leafgp::problem::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// Seed of every random choice. Default 101.
    pub seed: u64,
    /// Weight of the standard deviation in the trees' lower confidence bound `mu - kappa * sigma`; `kappa >= 0`. Default 1.96 (the paper's). The smooth process
    /// has its own, `smooth.kappa`.
    pub kappa: f64,
    /// The method, and where the defaults of the other settings come from. Default [`Preset::DEFAULT`]. Set it by [`Settings::with_preset`] or
    /// [`Settings::use_preset`], which bring the defaults along.
    pub preset: Preset,
    /// Whether a point may be suggested again that has been measured. Default false, with the paper's preset true.
    pub repeats: bool,
    /// Which point of the optimal cell is suggested where the trees alone decide. Default `centre` (the paper's). With another preset than
    /// `paper` it counts only where the smooth process finds no new point; a problem that sets it there is warned about.
    pub point: PointChoice,
    /// Largest share of trees in which a suggestion may end in the same leaf as any one experiment known so far, `(0, 1]`: a limit on the kernel's correlation with the
    /// data (Eq. 12), proved like everything else. Small values force exploration. No limit by default; with one every suggestion comes from a proven cell, whatever
    /// the preset.
    pub max_agreement: Option<f64>,
    /// Whether each second suggestion after the first design has a level that no experiment had, while there is such a level. The smooth process is drawn to what was never
    /// tried; the trees alone, in the presets `paper` and `proven`, are not. Default false.
    pub untried_levels: bool,
    /// How far a measured row may be from an equality and still keep it, relative to the largest of its terms, `[0, 0.1]`. Suggestions keep equalities to 1e-9.
    /// Default 1e-3: what weighing in a plant gives.
    pub equality_tolerance: f64,
    /// The gradient-boosted trees.
    pub trees: GbdtSettings,
    /// The tree-kernel Gaussian process.
    pub gp: GpSettings,
    /// The smooth process.
    pub smooth: SmoothSettings,
    /// The branch-and-bound.
    pub solver: SolverSettings,
    /// The first design.
    pub design: DesignSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self::with_preset(Preset::DEFAULT)
    }
}

impl Settings {
    /// The defaults of a preset.
    ///
    /// ```
    /// use leafgp::problem::{Preset, Settings};
    ///
    /// assert_eq!(Settings::with_preset(Preset::Paper).trees.n_trees, 50);
    /// assert_eq!(Settings::with_preset(Preset::Proven).trees.n_trees, 4);
    /// ```
    pub fn with_preset(preset: Preset) -> Self {
        let mut trees = GbdtSettings::default();
        if preset == Preset::Proven {
            (trees.n_trees, trees.max_depth) = (COARSE_TREES, COARSE_DEPTH);
        }
        Self {
            seed: 101,
            kappa: 1.96,
            preset,
            repeats: preset == Preset::Paper,
            point: PointChoice::default(),
            max_agreement: None,
            untried_levels: false,
            equality_tolerance: 1e-3,
            trees,
            gp: GpSettings::default(),
            smooth: SmoothSettings::default(),
            solver: SolverSettings::default(),
            design: DesignSettings::default(),
        }
    }

    /// Exchanges what presets decide (kappa, repeats, point, trees, both processes) for the defaults of another one.
    pub fn use_preset(&mut self, preset: Preset) {
        let Self { kappa, repeats, point, trees, gp, smooth, .. } = Self::with_preset(preset);
        *self = Self { kappa, preset, repeats, point, trees, gp, smooth, ..self.clone() };
    }

    /// What differs from the default but decides nothing with this preset, one sentence each.
    pub(super) fn without_effect(&self) -> Vec<String> {
        let words = Preset::WORDS;
        let preset = words.iter().find(|(_, preset)| *preset == self.preset).map_or("", |(word, _)| *word);
        let mut sentences = Vec::new();
        let mut tell = |name: &str, why: &str| {
            sentences.push(format!("settings.{name} has no effect with preset = {preset:?}: {why}"));
        };
        if self.preset == Preset::Paper {
            for name in differing(&self.smooth, &SmoothSettings::default()) {
                tell(&format!("smooth.{name}"), "the trees decide alone, without a smooth process");
            }
        } else if self.point != PointChoice::default() {
            tell("point", "the smooth process chooses the point; with preset = \"paper\" the trees do");
        }
        sentences
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the first field outside its range.
    pub fn validate(&self) -> Result<(), ProblemError> {
        check("kappa", self.kappa, self.kappa >= 0.0 && self.kappa <= 1e6, "a number in [0, 1e6]")?;
        if let Some(ratio) = self.max_agreement {
            check("max_agreement", ratio, ratio > 0.0 && ratio <= 1.0, "a number in (0, 1]")?;
        }
        let tolerance = self.equality_tolerance;
        check("equality_tolerance", tolerance, (0.0..=0.1).contains(&tolerance), "a number in [0, 0.1]")?;
        let solver = &self.solver;
        let limit = solver.time_limit;
        check("solver.time_limit", limit, limit > 0.0 && limit <= 1e9, "seconds, above 0 and at most 1e9")?;
        check("solver.gap", solver.gap, (0.0..=1.0).contains(&solver.gap), "a number in [0, 1]")?;
        if let Some(nodes) = solver.node_limit {
            check("solver.node_limit", nodes, nodes >= 1, "a whole number of at least 1")?;
        }
        check(
            "solver.threads",
            solver.threads,
            solver.threads <= 1024,
            "a whole number up to 1024, 0 = one for each core",
        )?;
        self.trees.validate().map_err(|e| match e {
            GbdtError::Setting { name, value, expected } => {
                out_of_range(&format!("trees.{name}"), value, expected)
            }
            other => ProblemError::new("trees", other.to_string(), ""),
        })?;
        self.gp.validate().map_err(|e| match e {
            GpError::Setting { name, value, expected } => {
                out_of_range(&format!("gp.{name}"), value, expected)
            }
            other => ProblemError::new("gp", other.to_string(), ""),
        })?;
        self.smooth.validate().map_err(|e| match e {
            SmoothError::Setting { name, value, expected } => {
                out_of_range(&format!("smooth.{name}"), value, expected)
            }
            other => ProblemError::new("smooth", other.to_string(), ""),
        })?;
        let initial = self.design.initial;
        check("design.initial", initial, (1..=100_000).contains(&initial), "a whole number in 1..=100000")
    }
}

/// Names of the fields in which two tables of settings differ.
fn differing<T: Serialize>(a: &T, b: &T) -> Vec<String> {
    let fields = |table: &T| match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let b = fields(b);
    fields(a).into_iter().filter(|(name, value)| b.get(name) != Some(value)).map(|(name, _)| name).collect()
}

fn check(field: &str, value: impl Display, holds: bool, expected: &str) -> Result<(), ProblemError> {
    if holds { Ok(()) } else { Err(out_of_range(field, value, expected)) }
}

fn out_of_range(field: &str, value: impl Display, expected: &str) -> ProblemError {
    ProblemError::new(field, format!("{value} is out of range"), expected)
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

impl SolverSettings {
    /// The number of threads meant: 0 is one for each core.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
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
