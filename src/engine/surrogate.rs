//! The surrogate: boosted trees, and the Gaussian process whose kernel they define.

use leafgp_solver::constraints::Limits;

use crate::Table;
use crate::acquisition::{AcquisitionProblem, AgreementLimit, Evaluation};
use crate::gbdt::GbdtModel;
use crate::gp::{TreeGp, VarianceKind};
use crate::history::Row;
use crate::instance::{ActiveIf, Instance};
use crate::problem::{Problem, ValueError, Variable};

use super::error::EngineError;
use super::fitted_trees::{FittedTrees, stopped};
use super::training::{TargetScale, TrainingSet};

/// A surrogate fitted to the experiments of a problem, ready to predict and to state the acquisition problem of the next one.
///
/// ```
/// use leafgp::engine::Optimizer;
/// use leafgp::problem::{Problem, Variable};
///
/// let problem = Problem::builder("line").variable(Variable::continuous("x", 0.0, 10.0)).build()?;
/// let mut optimizer = Optimizer::new(problem);
/// for k in 0..20 {
///     let x = f64::from(k) / 2.0;
///     optimizer.tell(&[x], 3.0 * x)?;
/// }
/// let model = optimizer.surrogate()?;
/// let (low, high) = (model.predict(&[2.0])?, model.predict(&[8.0])?);
/// assert!(low.mean < high.mean && low.std > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Surrogate {
    problem: Problem,
    training: TrainingSet,
    fitted: FittedTrees,
    /// Conditioned on the pending points, too; `None` without any.
    believing: Option<TreeGp>,
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
    /// The surrogate of the experiments. Trees and hyperparameters are those of the measured rows, and failed rows stand at the worst measured value; pending rows are
    /// believed at their predicted means (kriging believer): the mean stays as it is everywhere, the deviation shrinks around them.
    ///
    /// # Errors
    /// [`EngineError::NoMeasuredRow`]; rows of another problem; what the trainer and the process refuse.
    pub fn of(problem: &Problem, rows: &[Row]) -> Result<Self, EngineError> {
        Self::fit(problem, TrainingSet::new(problem, rows)?, &Limits::default())
    }

    /// [`Surrogate::of`] a training set. The random stream of the trees has the number of the rows that they learn from, so that pending rows change nothing about them.
    pub(super) fn fit(
        problem: &Problem,
        mut training: TrainingSet,
        limits: &Limits,
    ) -> Result<Self, EngineError> {
        let pending = std::mem::take(&mut training.pending);
        let fitted = FittedTrees::new(problem, &training, !pending.is_empty(), limits)?;
        Self::of_fitted(problem, training, fitted).with_pending(pending, limits)
    }

    /// Of trees and a process that were fitted before, to what was measured and failed.
    pub(super) fn of_fitted(problem: &Problem, training: TrainingSet, fitted: FittedTrees) -> Self {
        Self { problem: problem.clone(), training, fitted, believing: None }
    }

    /// The same trees and hyperparameters with other pending points.
    pub(super) fn with_pending(
        mut self,
        pending: Vec<Vec<f64>>,
        limits: &Limits,
    ) -> Result<Self, EngineError> {
        self.training.pending = pending;
        self.believing = if self.training.pending.is_empty() { None } else { Some(self.believe(limits)?) };
        Ok(self)
    }

    /// The process with each pending point at its predicted mean.
    fn believe(&self, limits: &Limits) -> Result<TreeGp, EngineError> {
        let TrainingSet { x, y, pending, .. } = &self.training;
        let pending = pending.iter().map(Vec::as_slice);
        let believing = self.fitted.process.believing_within(x, y, pending, limits);
        believing.map_err(|error| stopped(error, limits))
    }

    /// What must be said of the trees, if anything: the time limit ended their fit.
    pub(super) fn note(&self) -> Option<String> {
        self.fitted.is_cut.then(|| {
            let (n, all) = (self.trees().forest.n_trees(), self.problem.settings().trees.n_trees);
            format!("the time limit left time for {n} of {all} trees")
        })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What it learned from.
    pub fn training(&self) -> &TrainingSet {
        &self.training
    }

    /// The trees.
    pub fn trees(&self) -> &GbdtModel {
        &self.fitted.trees
    }

    /// The process on their leaves, pending points believed.
    pub fn process(&self) -> &TreeGp {
        self.believing.as_ref().unwrap_or(&self.fitted.process)
    }

    /// Between standardised targets and the objective.
    pub fn scale(&self) -> TargetScale {
        self.training.scale
    }

    /// Standard deviation of a measurement's noise that predictions do not hold yet, in the objective's units: 0 where the settings ask for the variance of observations.
    pub fn noise(&self) -> f64 {
        match self.fitted.process.variance_kind() {
            VarianceKind::Latent => {
                self.scale().deviation(self.fitted.process.hyperparameters().noise_variance.sqrt())
            }
            VarianceKind::Observed => 0.0,
        }
    }

    /// True when some tree has a split: without one every point looks the same.
    pub fn has_splits(&self) -> bool {
        self.fitted.trees.forest.n_leaves() > self.fitted.trees.forest.n_trees()
    }

    /// The prediction at a point in variable order; inactive variables take their inactive value.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level.
    pub fn predict(&self, x: &[f64]) -> Result<Prediction, ValueError> {
        let Evaluation { mean, deviation, .. } = self.evaluate(x)?;
        Ok(Prediction { mean: self.scale().mean(mean), std: self.scale().deviation(deviation) })
    }

    /// The prediction and the acquisition in standardised minimisation units.
    ///
    /// # Errors
    /// As [`Surrogate::predict`].
    pub fn evaluate(&self, x: &[f64]) -> Result<Evaluation, ValueError> {
        self.problem.check_point(x)?;
        let posterior = if self.problem.variables().iter().any(|v| v.active_if.is_some()) {
            let mut x = x.to_vec();
            self.problem.constraints().deactivate(&mut x);
            self.process().posterior(&x)
        } else {
            self.process().posterior(x)
        };
        let (mean, deviation) = (posterior.mean, posterior.deviation());
        Ok(Evaluation { mean, deviation, value: mean - self.problem.settings().kappa * deviation })
    }

    /// The problem whose optimum is the next experiment: the lower confidence bound over the domains and the constraints, outside the cells of pending and failed
    /// experiments, within the agreement limit of the settings.
    pub fn acquisition(&self) -> AcquisitionProblem {
        let settings = self.problem.settings();
        let statement =
            AcquisitionProblem::new(self.process(), self.problem.constraints().clone(), settings.kappa);
        let taken = self.training.pending.iter().chain(&self.training.failed);
        statement.excluding_cells_of(taken.map(Vec::as_slice)).with_agreement(self.agreement_limit())
    }

    /// How much a suggestion may agree with any known experiment, measured or pending, if the settings limit it.
    pub fn agreement_limit(&self) -> Option<AgreementLimit> {
        let known = self.training.x.rows().chain(self.training.pending.iter().map(Vec::as_slice));
        let ratio = self.problem.settings().max_agreement?;
        Some(AgreementLimit::new(&self.fitted.trees.forest, known, ratio))
    }

    /// The acquisition problem as a file for `leafgp solve`: the problem of [`Surrogate::acquisition`], with pending and failed points and the agreement limit.
    pub fn instance(&self) -> Instance {
        let problem = &self.problem;
        let variables = problem.variables().iter().map(Variable::in_expressions);
        let active_if = problem.variables().iter().map(|v| {
            let condition = v.active_if.clone()?;
            Some(ActiveIf { condition, inactive_value: v.inactive_value })
        });
        let table = |points: &[Vec<f64>]| {
            let mut table = Table::new(problem.variables().len());
            points.iter().for_each(|point| table.push(point));
            table
        };
        Instance {
            name: problem.name().to_owned(),
            kappa: problem.settings().kappa,
            hyperparameters: self.fitted.process.hyperparameters(),
            variance: self.fitted.process.variance_kind(),
            variables: variables.collect(),
            active_if: active_if.collect(),
            forest: self.fitted.trees.forest.clone(),
            x: self.training.x.clone(),
            y: self.training.y.clone(),
            define: problem.definitions().to_vec(),
            constraints: problem.expressions().to_vec(),
            pending: table(&self.training.pending),
            failed: table(&self.training.failed),
            max_agreement: problem.settings().max_agreement,
            sampled: None,
        }
    }
}
