//! The surrogate: boosted trees, and the Gaussian process whose kernel they define.

use leafgp_solver::{Domain, constraints};
use rand::Rng;

use crate::gbdt::{self, GbdtModel};
use crate::gp::TreeGp;
use crate::instance::{ActiveIf, Instance};
use crate::problem::Problem;

use super::error::EngineError;
use super::random::{Purpose, stream};
use super::training::{TargetScale, TrainingSet};

/// A fitted surrogate.
#[derive(Clone, Debug)]
pub struct Surrogate {
    /// The variables' domains.
    pub domains: Vec<Domain>,
    /// The trees.
    pub trees: GbdtModel,
    /// The process on their leaves.
    pub process: TreeGp,
    /// Between standardised targets and the objective.
    pub scale: TargetScale,
}

/// A prediction in the objective's units and direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the latent function.
    pub std: f64,
}

impl Surrogate {
    /// Fits trees and process to a training set. `n_rows` numbers the random stream.
    ///
    /// # Errors
    /// What the trainer or the process refuse.
    pub fn fit(problem: &Problem, training: &TrainingSet, n_rows: usize) -> Result<Self, EngineError> {
        let domains = problem.domains();
        let seed = stream(problem.settings.seed, Purpose::Trees, n_rows).next_u64();
        let trees = gbdt::train(&training.x, &domains, &training.y, None, &problem.settings.trees, seed)?;
        let process = TreeGp::fit(&trees.forest, &training.x, &training.y, &problem.settings.gp)?;
        Ok(Self { domains, trees, process, scale: training.scale })
    }

    /// Takes each pending point at its predicted mean (kriging believer): the mean stays as it is everywhere, the deviation shrinks around it. Trees
    /// and hyperparameters stay those of the measured rows.
    ///
    /// # Errors
    /// What the process refuses.
    pub fn believe(&mut self, training: &TrainingSet) -> Result<(), EngineError> {
        if training.pending.is_empty() {
            return Ok(());
        }
        let mut x = training.x.clone();
        let mut y = training.y.clone();
        for point in &training.pending {
            x.push(point);
            y.push(self.process.posterior(point).mean);
        }
        let hyperparameters = self.process.hyperparameters();
        self.process = TreeGp::with_hyperparameters(&self.trees.forest, &x, &y, hyperparameters)?
            .predicting(self.process.variance_kind());
        Ok(())
    }

    /// True when some tree has a split: without one every point looks the same.
    pub fn has_splits(&self) -> bool {
        self.trees.forest.n_leaves() > self.trees.forest.n_trees()
    }

    /// The process's prediction at a point.
    pub fn predict(&self, x: &[f64]) -> Prediction {
        let posterior = self.process.posterior(x);
        Prediction {
            mean: self.scale.mean(posterior.mean),
            std: self.scale.deviation(posterior.variance.sqrt()),
        }
    }

    /// The acquisition problem of the next suggestion as a file for `leafgp solve`. Pending points are not part of it.
    pub fn instance(&self, problem: &Problem, training: &TrainingSet) -> Instance {
        let variables =
            problem.variables.iter().zip(&self.domains).map(|(v, domain)| constraints::Variable {
                name: v.name.clone(),
                domain: domain.clone(),
                level_names: v.levels().to_vec(),
            });
        let active_if = problem.variables.iter().map(|v| {
            let condition = v.active_if.clone()?;
            Some(ActiveIf { condition, inactive_value: v.inactive_value })
        });
        Instance {
            name: problem.name.clone(),
            kappa: problem.settings.kappa,
            hyperparameters: self.process.hyperparameters(),
            variance: self.process.variance_kind(),
            variables: variables.collect(),
            active_if: active_if.collect(),
            forest: self.trees.forest.clone(),
            x: training.x.clone(),
            y: training.y.clone(),
            define: problem.definitions.clone(),
            constraints: problem.expressions.clone(),
            sampled: None,
        }
    }
}
